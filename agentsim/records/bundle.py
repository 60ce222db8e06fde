"""Bundle: runs in one zip file, from which others can prove them; unpacking treats the file as untrusted.

The same runs make the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from agentsim.engine.codec import bytes_id, value_at
from agentsim.errors import JournalCorrupt, UsageError, first_objection
from agentsim.lazy import dataclass
from agentsim.records.disk import write_problem
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles, check_name, named_in_errors, read_history, written_beside
from agentsim.records.versions import require_version

FORMAT = "agentsim-bundle/1"
INDEX = "bundle.json"
MOST_BYTES = 4 * 2**30
_LONGEST_NAME = 255  # a file of codes has the names of its run, codebook and coder
_LONGEST_INDEX = 2**28
_PIECE = 2**20
_FREELY = 2**24  # bytes that a member may have at any compression ratio
_TIGHTEST = 200
_UNUSABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, AttributeError, RuntimeError)
"""The errors of reading a file that is not a bundle; `RecursionError` is for JSON that is nested too deep."""
_MOMENT = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """The result of unpacking: the runs, the other files such as codes, and the versions that played the runs."""

    runs: tuple[RunFiles, ...]
    others: tuple[Path, ...]
    versions: Mapping[str, Any]


def pack(runs: Sequence[RunFiles], path: Path, others: Sequence[Path] = ()) -> None:
    """Write a bundle of these runs, with later interviews and codes, readable scenarios and prompts, and other files.

    Raises `UsageError` if the file exists, if a run has no history or not the one that its journal names, or if two
    files have the same name.
    """
    index: dict[str, Any] = {"format": FORMAT, "runs": [files.name for files in runs], "versions": {}, "files": {}}
    readable: dict[str, bytes] = {}
    for files in runs:
        contents = read_journal(files.journal)
        head = contents.head
        if contents.history not in {None, _digest(files.history)}:
            raise UsageError(f"{files.history}: is not the one that its journal names; `agentsim replay` says more")
        readable |= _readable(files.name, head)
        index["versions"][files.name] = dict(head["versions"])
    sources = [path for files in runs for path in (files.journal, files.history, *files.annotations)] + list(others)
    names = [source.name for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{path}: two files would be called {twice[0]}")
    try:
        if path.exists():
            raise FileExistsError  # before hours of work; a file that appears meanwhile is not overwritten either
        with written_beside(path, new=True) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for source in sources:
                with source.open("rb") as plain, archive.open(_info(source.name), "w", force_zip64=True) as member:
                    index["files"][source.name] = _poured(plain, member)
            for name, content in readable.items():
                index["files"][name] = hashlib.sha256(content).hexdigest()
                archive.writestr(_info(name), content)
            archive.writestr(_info(INDEX), json.dumps(index, indent=1, sort_keys=True))
    except FileExistsError:
        raise UsageError(f"{path}: already exists") from None
    except OSError as error:
        failed = Path(error.filename or path)
        raise UsageError(f"{failed}: {write_problem(error, failed)}") from None


def _digest(history: Path) -> str | None:
    """Return the digest by which a journal names this history, or None if it cannot be read."""
    try:
        return bytes_id([read_history(history)])
    except (OSError, ValueError):
        return None


def _readable(name: str, head: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files that people read without our program: the scenario, and each player's prompt, by path."""
    scenario = head["scenario"]
    try:
        found = {f"{name}/scenario.json": json.dumps(scenario, ensure_ascii=False, indent=1).encode()}
        dict(head["versions"])
        for player in scenario["players"]:
            if player.get("prompt"):
                found[f"{name}/prompts/{player['id']}.txt"] = str(player["prompt"]).encode()
    except (KeyError, TypeError, ValueError, AttributeError):
        raise JournalCorrupt(f"{name}.jsonl: its scenario is not valid", line=1) from None
    return found


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


class _Index(BaseModel):
    """The contents of `bundle.json`."""

    model_config = ConfigDict(strict=True)

    format: Literal["agentsim-bundle/1"]
    runs: list[str]
    versions: dict[str, dict[str, Any]]
    files: dict[str, str]

    @field_validator("runs")
    @classmethod
    def _each_once(cls, runs: list[str]) -> list[str]:
        if not runs:
            raise ValueError("holds no run")
        if len(set(runs)) < len(runs):
            raise ValueError("names one twice")
        return runs


def unpack(path: Path, directory: Path) -> Bundle:
    """Unpack a bundle's runs into a folder. Raises `UsageError` if the file is not a bundle or differs from its index.

    Only files that the index lists under bare names are written, at most 4 GiB. Files in the bundle's folders are for
    people, and must agree with the journals. Members that are not listed, duplicate names, members that are not plain
    files, and implausible compression ratios are refused. Existing files are never overwritten.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _harmless(archive, path)
            index = _index(archive, path)
            runs = tuple(RunFiles(directory, name) for name in index.runs)
            bare = {name: digest for name, digest in index.files.items() if "/" not in name}
            written = [_written(archive, path, directory, name, digest) for name, digest in bare.items()]
            wanted = {file for files in runs for file in (files.journal, files.history)}
            if missing := sorted(file.name for file in wanted - set(written)):
                raise UsageError(f"{path}: {missing[0]} is missing")
            heads = {files.name: read_journal(files.journal, most_lines=1).head for files in runs}
            _told(archive, path, index, heads)
            others = tuple(file for file in written if file not in wanted)
            return Bundle(runs, others, index.versions)
    except _UNUSABLE as error:
        raise UsageError(f"{path}: is not an agentsim bundle: {str(error)[:200]}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def _index(archive: zipfile.ZipFile, path: Path) -> _Index:
    """Return the index. Raises `UsageError` if it is not valid, or does not list all members."""
    if archive.getinfo(INDEX).file_size > _LONGEST_INDEX:
        raise UsageError(f"{path}: {INDEX} is larger than {_LONGEST_INDEX >> 20} MiB")
    try:
        with archive.open(INDEX) as member:
            found = json.load(member)
        versions = value_at(found, ("versions", value_at(found, ("runs", 0))))
        head = {"format": value_at(found, ("format",)), "versions": versions}
        require_version(str(path), head, written_as=FORMAT)
        index = _Index.model_validate(found)
    except ValidationError as error:
        where, why = first_objection(error)
        why = why.replace("Input should be", "must be")
        raise UsageError(f"{path}: is not an agentsim bundle: {where or INDEX}: {why}") from None
    listed = {INDEX, *index.files}
    for info in archive.infolist():
        if info.filename not in listed and not (info.is_dir() and not info.file_size):
            raise UsageError(f"{path}: {info.filename[:80]!r} is not listed in {INDEX}")
    return index


def _told(archive: zipfile.ZipFile, path: Path, index: _Index, heads: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `UsageError` unless the readable files and the versions agree with the journals."""
    if index.versions != {name: head["versions"] for name, head in heads.items()}:
        raise UsageError(f"{path}: the versions in {INDEX} are not those in the journals")
    readable = {name: text for run, head in heads.items() for name, text in _readable(run, head).items()}
    if missing := sorted(readable.keys() - index.files.keys()):
        raise UsageError(f"{path}: {missing[0]} is missing")
    for name, digest in index.files.items():
        if "/" in name and not (name in readable and _says(archive, name, digest, readable[name])):
            raise UsageError(f"{path}: {name[:80]} differs from the journal")


def _says(archive: zipfile.ZipFile, name: str, digest: str, content: bytes) -> bool:
    """Return whether a member, and its digest in the index, are those of this content."""
    if archive.getinfo(name).file_size != len(content) or hashlib.sha256(content).hexdigest() != digest:
        return False
    with archive.open(name) as member:
        return _poured(member, io.BytesIO()) == digest


def _written(archive: zipfile.ZipFile, path: Path, directory: Path, name: str, digest: str) -> Path:
    check_name(name, _LONGEST_NAME)
    target = directory / name
    try:
        # reads at most as much as the member's header states
        with archive.open(name) as member, named_in_errors(target), target.open("xb") as file:
            found = _poured(member, file)
        if found != digest:
            raise UsageError(f"{path}: {name} is not what was bundled")
    except FileExistsError:
        raise UsageError(f"{target}: already exists") from None
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def _poured(source: IO[bytes], sink: IO[bytes]) -> str:
    """Copy in pieces, and return the digest."""
    digest = hashlib.sha256()
    while piece := source.read(_PIECE):
        digest.update(piece)
        sink.write(piece)
    return digest.hexdigest()


def _harmless(archive: zipfile.ZipFile, path: Path) -> None:
    """Raise `UsageError` for members that our bundles never have, before any is unpacked."""
    members = archive.infolist()
    if sum(info.file_size for info in members) > MOST_BYTES:
        raise UsageError(f"{path}: is larger than {MOST_BYTES >> 30} GiB when unpacked")
    names: set[str] = set()
    for info in members:
        if info.filename in names:
            raise UsageError(f"{path}: holds {info.filename[:80]!r} twice")
        names.add(info.filename)
        mode = info.external_attr >> 16
        if not info.is_dir() and stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
            raise UsageError(f"{path}: {info.filename[:80]!r} is not a plain file")
        if info.file_size > _FREELY and info.file_size > _TIGHTEST * max(1, info.compress_size):
            raise UsageError(f"{path}: {info.filename[:80]!r} is packed {_TIGHTEST} to 1 and more, which no game is")
