"""bundle: runs in one zip file, from which somebody else can prove them; and out of it again, distrusting it.

The same runs make the same bytes. What is in a run's files is their own business.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentsim.errors import UsageError
from agentsim.history.contents import read_journal
from agentsim.history.files import RunFiles, check_name

__all__ = ["Bundle", "pack", "unpack"]

FORMAT = "agentsim-bundle/1"
INDEX = "bundle.json"
MOST_BYTES = 4 * 2**30
_LONGEST_NAME = 105
_LONGEST_INDEX = 2**28
_UNUSABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
)
_MOMENT = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """What was unpacked: the runs, what else lay beside them, and the versions that played them."""

    runs: tuple[RunFiles, ...]
    others: tuple[Path, ...]
    versions: Mapping[str, Any]


def pack(runs: Sequence[RunFiles], path: Path, others: Sequence[Path] = ()) -> None:
    """Write the journals and histories of these runs, their scenarios and prompts to read, and other files as they are.

    Raises `UsageError` where a file of that name is there, or a run has no history.
    """
    index: dict[str, Any] = {"format": FORMAT, "runs": [files.name for files in runs], "versions": {}, "files": {}}
    readable: dict[str, bytes] = {}
    for files in runs:
        head = read_journal(files.journal).head
        index["versions"][files.name] = dict(head["versions"])
        readable |= _readable(files.name, head)
    sources = [path for files in runs for path in (files.journal, files.history)] + list(others)
    names = [source.name for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{path}: two files would be called {twice[0]}")
    try:
        with path.open("xb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in [*((source.name, source.read_bytes()) for source in sources), *readable.items()]:
                index["files"][name] = hashlib.sha256(content).hexdigest()
                archive.writestr(_info(name), content)
            archive.writestr(_info(INDEX), json.dumps(index, indent=1, sort_keys=True))
    except FileExistsError:
        raise UsageError(f"{path}: is there already") from None
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UsageError(f"{error.filename or path}: {error.strerror or error}") from None
        raise


def _readable(name: str, head: Mapping[str, Any]) -> dict[str, bytes]:
    """What a person wants to read without our program: the scenario, and each player's prompt."""
    scenario = head["scenario"]
    found = {f"{name}/scenario.json": json.dumps(scenario, ensure_ascii=False, indent=1).encode()}
    for player in scenario["players"]:
        if player.get("prompt"):
            found[f"{name}/prompts/{player['id']}.txt"] = str(player["prompt"]).encode()
    return found


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def unpack(path: Path, directory: Path) -> Bundle:
    """Put a bundle's runs into an empty folder; `UsageError` for a file that is none, or does not hold what it lists.

    Nothing is written but what the index lists under bare names, and not more than 4 GiB.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
                raise UsageError(f"{path}: is larger than {MOST_BYTES >> 30} GiB when unpacked")
            if archive.getinfo(INDEX).file_size > _LONGEST_INDEX:
                raise UsageError(f"{path}: {INDEX} is larger than {_LONGEST_INDEX >> 20} MiB")
            index = json.loads(_read(archive, INDEX))
            if index["format"] != FORMAT:
                raise UsageError(f"{path}: is not a bundle that this version reads ({str(index['format'])[:40]!r})")
            runs = tuple(RunFiles(directory, str(name)) for name in index["runs"])
            if not runs:
                raise UsageError(f"{path}: holds no run")
            listed = {str(name): digest for name, digest in index["files"].items() if "/" not in name}
            written = [_written(archive, path, directory, name, digest) for name, digest in listed.items()]
            wanted = {file for files in runs for file in (files.journal, files.history)}
            if missing := sorted(file.name for file in wanted - set(written)):
                raise UsageError(f"{path}: {missing[0]} is missing")
            others = tuple(file for file in written if file not in wanted)
            return Bundle(runs, others, dict(index["versions"]))
    except _UNUSABLE as error:
        raise UsageError(f"{path}: is not an agentsim bundle: {str(error)[:200]}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def _written(archive: zipfile.ZipFile, path: Path, directory: Path, name: str, digest: str) -> Path:
    """One listed file, unpacked; what stands in folders there is for people, and the journal says the same."""
    check_name(name, _LONGEST_NAME)
    content = _read(archive, name)
    if hashlib.sha256(content).hexdigest() != digest:
        raise UsageError(f"{path}: {name} is not what was bundled")
    (directory / name).write_bytes(content)
    return directory / name


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member, never more of it than its own header says."""
    info = archive.getinfo(name)
    with archive.open(info) as member:
        content = member.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise ValueError(f"{name} is not as long as it says")
    return content
