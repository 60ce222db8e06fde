"""Files of a run: their names, and writing a file so that it is complete or absent."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from agentsim.engine.codec import bytes_id
from agentsim.engine.letters import slugs
from agentsim.engine.wording import near
from agentsim.errors import AgentsimError, UsageError
from agentsim.patterns import Pattern
from agentsim.records.disk import NO_ROOM, lock_soon, write_problem

_NAME = Pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST, _LONGEST_COUNT = 100, len("_9999")
MANIFEST = "manifest.json"
"""The file that makes a folder of runs a batch; it is never a run's history."""
MOST_PLAIN = 32 * 2**20
"""Bytes of the largest history that is written as `NAME.json`; a larger one is `NAME.json.gz`."""
_TIGHTEST = 200
_BUFFER = 2**18  # bytes of a file that is made at once, such as a history
_GZIP = 31  # zlib's wbits for a gzip header and checksum
_SUFFIXES = (".json.gz", ".jsonl", ".json", ".html")
INTERVIEW = ".interview"
"""The suffix of the files of later interviews: `NAME.LABEL.interview`."""
CODES = ".codes"
"""The suffix of the codes that one coder gave a run: `NAME.CODEBOOK.CODER.codes`."""
_ABOUT = (".html", ".csv", ".jsonl", ".parquet", ".eval", ".people", INTERVIEW, CODES)
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


class NameTaken(UsageError):
    """A run of this name exists already."""


@dataclass(frozen=True)
class RunFiles:
    """The files of one run: journal, history and page in one directory."""

    directory: Path
    name: str

    @property
    def journal(self) -> Path:
        return self.directory / f"{self.name}.jsonl"

    @property
    def histories(self) -> tuple[Path, Path]:
        """Both paths that the history may have: `NAME.json` and `NAME.json.gz`."""
        return self.directory / f"{self.name}.json", self.directory / f"{self.name}.json.gz"

    @property
    def history(self) -> Path:
        """The path of `NAME.json.gz` if it exists, else of `NAME.json`."""
        plain, packed = self.histories
        return packed if packed.is_file() else plain

    @property
    def page(self) -> Path:
        return self.directory / f"{self.name}.html"

    @property
    def written(self) -> list[Path]:
        """All files about the run that exist: journal, history, pages, exported tables, codes, answers of people."""
        own = [self.journal, *self.histories, self.page]
        others = self.directory.glob(f"{self.name}.*")
        runs = {run_name(path.name) for path in others if path.suffix == ".jsonl" and not is_table(path)}
        found = []
        for path in sorted(self.directory.glob(f"{self.name}.*")):
            of_another = any(path.name.startswith(f"{run}.") for run in runs if run != self.name)
            if path.suffix == CODES:
                of_another = coded_run(path) != self.name
            if path in own or (path.name.endswith(_ABOUT) and path.is_file() and not of_another):
                found.append(path)
        return found

    def beside(self, suffix: str) -> list[Path]:
        """Return the files in the run's folder called `NAME.`, a label and this suffix, in the order of their names.

        A folder may hold thousands of runs, each of which looks: `Path.glob` takes four times as long.
        """
        before = f"{self.name}."
        try:
            names = os.listdir(self.directory)  # noqa: PTH208 - `iterdir` makes a path of every name
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = [name for name in names if name.endswith(suffix) and name.startswith(before)]
        return [self.directory / name for name in sorted(found) if len(name) > len(before + suffix)]

    @property
    def annotations(self) -> list[Path]:
        """The later interviews and the codes of the run that exist."""
        return [path for path in self.written if path.suffix in {INTERVIEW, CODES}]

    def seen_by(self, player: str, players: Sequence[str]) -> Path:
        """Return the path of the page with what one player could see; its name ends with the player's slug."""
        slug = slugs(players)[player]
        check_name(slug)
        return self.directory / f"{self.name}.{slug}.html"

    @classmethod
    def reserve(cls, directory: Path, stem: str, *, numbered: bool = True) -> tuple[RunFiles, int]:
        """Reserve a name that no run has, and return its files and the open handle of its new, empty journal.

        It is locked. If the name is taken, `_2`, `_3`, ... is added; with `numbered=False`, raises `NameTaken`. A
        suffix of a run's files is stripped. Raises `UsageError` if the directory cannot be written, and for the name of
        a batch's manifest, which would hide the run.
        """
        stem = run_name(stem)
        check_name(stem)
        if f"{stem}.json".casefold() == MANIFEST:
            raise UsageError(f"{stem!r} cannot be the name of a run: {MANIFEST} is a batch's plan")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for number in range(1, 10_000 if numbered else 2):
                files = cls(directory, stem if number == 1 else f"{stem}_{number}")
                if any(path.exists() for path in (*files.histories, files.page)):
                    continue
                if (handle := create_journal(files.journal)) is not None:
                    return files, handle
        except OSError as error:
            raise UsageError(f"{directory}: cannot write logs there: {write_problem(error, directory)}") from None
        if numbered:
            raise UsageError(f"{directory}: there are too many runs called {stem}")
        there = RunFiles(directory, stem)
        stopped = there.journal.is_file() and not is_table(there.journal) and not there.history.is_file()
        stopped = stopped and not is_running(there.journal)
        resume = f", or go on with it: `agentsim resume {stem}`" if stopped else ""
        raise NameTaken(f"{directory}: there is a run called {stem} already; give it another name{resume}")


def create_journal(path: Path) -> int | None:
    """Return the open handle of an empty journal that this process has locked, or None if the name is taken.

    A process that was killed before the first line leaves an empty journal, which is no run: it is taken over.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644))
    if path.is_symlink() or not path.is_file() or path.stat().st_size:
        return None
    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND)
    except FileNotFoundError:  # another process could not begin its run, and has deleted it
        return None
    if lock_soon(handle) and os.fstat(handle).st_nlink and not os.fstat(handle).st_size:
        return handle
    os.close(handle)
    return None


_STAMPED = Pattern(r"^gameplay_\d{8}_\d{6}_")


def default_stem(now: datetime, name: str | None) -> str:
    """Return `gameplay_YYYYMMDD_HHMMSS`, with the scenario's name behind it if there is one."""
    stem = now.strftime("gameplay_%Y%m%d_%H%M%S")
    return f"{stem}_{re.sub('[^A-Za-z0-9._-]+', '-', name)[:60]}" if name else stem


def run_name(file_name: str) -> str:
    """Return the name of the run that a file belongs to: the file's name without its suffix."""
    for suffix in _SUFFIXES:
        if file_name.endswith(suffix):
            return file_name.removesuffix(suffix)
    return file_name


def coded_run(path: Path) -> str:
    """Return the name of the run that a file of codes is about, which may have dots, unlike the parts after it."""
    return path.name.removesuffix(CODES).rsplit(".", 2)[0]


def check_name(name: str, longest: int = _LONGEST) -> None:
    """Raise `UsageError` unless this is a bare name that is safe as a file name on every system."""
    if not _NAME.fullmatch(name) or len(name) > longest or name.split(".", maxsplit=1)[0].casefold() in _RESERVED:
        raise UsageError(f"{name[:80]!r} is not the name of a run (valid: A-Z a-z 0-9 . _ -, no path)")


def find_run(directory: Path, name: str) -> RunFiles:
    """Return the files of the run with that bare name; a suffix `.json`, `.json.gz`, `.jsonl` or `.html` is stripped.

    Raises `UsageError` for a path, for a link that leads out of the directory, and if there is no such run.
    """
    name = run_name(name)
    check_name(name, _LONGEST + _LONGEST_COUNT)
    files = RunFiles(directory, name)
    there = [path for path in (files.journal, files.history) if path.is_file()]
    if not there or (there == [files.journal] and is_table(files.journal)):
        runs = [path.stem for path in directory.glob("*.jsonl") if _NAME.fullmatch(path.stem) and "." not in path.stem]
        called = sorted(run for run in runs if _STAMPED.sub("", run) == name)  # the time stamp may be left out
        hint = near(called[-1] if called else name, runs) or " (`agentsim runs` lists them)"
        where = directory if directory.is_dir() else f"{directory.absolute()} (no such folder)"
        raise UsageError(f"{where}: there is no run called {name!r}{hint}")
    for path in there:
        if not path.resolve().is_relative_to(directory.resolve()):
            raise UsageError(f"{path}: leads out of {directory}")
    return files


def table_file(directory: Path, stem: str, table: str, extension: str) -> Path:
    """Return the path of an exported table. Raises `UsageError` if a `.jsonl` there is not one.

    A run may be called `first.events`; its journal has the path of the table `events` of `first`.
    """
    path = directory / f"{stem}.{table}.{extension}"
    if path.with_suffix(".jsonl") == path and path.exists() and not is_table(path):
        raise UsageError(f"{path}: exists and is not an exported table; it may be the journal of a run")
    return path


def is_table(path: Path) -> bool:
    """Return whether a `.jsonl` is an exported table or a recording of replies, rather than a run's journal.

    A table's rows are complete lines and not records. A table without rows is recognized by its name: the part before
    the last dot is a run with a history, or the folder's own name.
    """
    try:
        with path.open("rb") as file:
            first = file.readline()
        row = json.loads(first) if first.endswith(b"\n") else None
    except (OSError, ValueError, RecursionError):
        return False
    if first:
        return isinstance(row, dict) and bool(row) and row.get("record", "recording") == "recording"
    stem = path.stem.rpartition(".")[0]
    return bool(stem) and (stem == path.parent.resolve().name or RunFiles(path.parent, stem).history.is_file())


def write_whole(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file so that at any instant it is the old one, the new one, or absent; never a part.

    Only its owner can read a `private` file. Raises `AgentsimError` if it cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        with written_beside(path, private=private) as file:
            file.write(data)
    except OSError as error:
        raise AgentsimError(f"{path}: cannot be written: {write_problem(error, path, len(data))}") from None


def read_history(path: Path) -> bytes:
    """Return the JSON in a history file, decompressed if the file's name ends in `.gz`.

    Raises `OSError` if the file cannot be read, and `ValueError` if it is not exactly one gzip member, or if it holds
    more than `MOST_PLAIN` bytes at a ratio of 200 to 1 or more, which histories never reach.
    """
    raw = path.read_bytes()
    if path.suffix != ".gz":
        return raw
    unpacking = zlib.decompressobj(_GZIP)
    try:
        text = unpacking.decompress(raw, max(MOST_PLAIN, _TIGHTEST * len(raw)))
    except zlib.error as error:
        raise ValueError(f"it cannot be decompressed: {error}") from None
    if unpacking.unconsumed_tail:
        raise ValueError(f"it is packed {_TIGHTEST} to 1 and more, which no history is")
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("it cannot be decompressed: it is cut off, or something stands behind its end")
    return text


def write_history(files: RunFiles, pieces: Callable[[], Iterable[bytes]], named: Callable[[str], None]) -> None:
    """Write a run's history like `write_whole`, compressed if it is larger than `MOST_PLAIN`.

    `named` gets the digest of the JSON before the file has its name, even if the file cannot be written. An error of
    `named` is raised once the file exists. Raises `AgentsimError` if the file cannot be written.
    """
    failure: BaseException | None = None
    told = False
    path, other = files.histories
    try:
        source = iter(pieces())
        head = list(_upto(MOST_PLAIN, source))
        if large := sum(map(len, head)) > MOST_PLAIN:
            path, other = other, path
        with written_beside(path) as file:
            with _packed(file) if large else contextlib.nullcontext(file) as sink:
                digest = bytes_id(_through(chain(head, source), sink))
            file.flush()  # a full disk fails here, so that an error of the journal is told first
            told = True
            try:
                named(digest)
            except BaseException as error:  # noqa: BLE001 - it is raised when the file is there
                failure = error
        other.unlink(missing_ok=True)
    except OSError as error:
        if not told:
            named(bytes_id(pieces()))
        needed = 0 if path.suffix == ".gz" or error.errno not in NO_ROOM else sum(map(len, pieces()))
        why = f"{write_problem(error, path, needed)}; `agentsim resume` makes it from the journal"
        raise AgentsimError(f"{path}: cannot be written: {why}") from None
    if failure is not None:
        raise failure


def _upto(most: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield pieces until their total exceeds `most` bytes."""
    while most >= 0 and (piece := next(pieces, None)) is not None:
        most -= len(piece)
        yield piece


def _packed(file: BinaryIO) -> gzip.GzipFile:
    """Return a gzip writer without time stamp and file name, so that the same JSON makes the same bytes."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)


def _through(pieces: Iterable[bytes], file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """Write the pieces, and yield each when it is written."""
    for piece in pieces:
        file.write(piece)
        yield piece


@contextlib.contextmanager
def named_in_errors(path: Path) -> Iterator[None]:
    """Set this path on an `OSError` of the block that has none: a failed write does not know its file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextlib.contextmanager
def written_beside(path: Path, *, new: bool = False, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a file to write, which gets its name once the block ends and its bytes are synced; on errors it is removed.

    An `OSError` of the block gets the path if it has none. Only its owner can read a `private` file. Raises
    `FileExistsError` if the file must be `new` and the name is taken.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.", suffix=".tmp")
    except OSError as error:
        error.filename = str(path)  # not the temporary name
        raise
    temporary = Path(name)
    try:
        with named_in_errors(path), os.fdopen(handle, "wb", buffering=_BUFFER) as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o600 if private else 0o644)
            os.fsync(file.fileno())
        if new:
            _named_first(temporary, path)
        else:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _named_first(temporary: Path, path: Path) -> None:
    """Give the file its name. Raises `FileExistsError` if the name is taken."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # no links on this disk: an empty file reserves the name
        path.touch(exist_ok=False)
        temporary.replace(path)


def is_running(path: Path) -> bool:
    """Return whether a process holds the journal's lock."""
    import fcntl  # a shared lock, which `filelock` lacks: two concurrent checks must not see each other's

    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
