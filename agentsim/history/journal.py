"""Journal: the append-only file that makes a run survive its process.

A line counts when it ends in a newline; what stands behind the last one is a write that did not finish.
Rules, players and the final history's format do not belong here.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentsim.errors import AgentsimError, JournalCorrupt, JournalError, ProviderStopped
from agentsim.history.entry import Entry, count, entry_from_json, entry_to_json, try_from_json, try_to_json
from agentsim.history.texts import text_id
from agentsim.players.base import Try

__all__ = ["JOURNAL_FORMAT", "Journal", "is_running", "read_journal"]

JOURNAL_FORMAT = "agentsim-journal/1"
_HEAD = ("game", "rules_version", "seed", "name", "started_at", "versions", "scenario", "run")
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Kept:
    """An attempt that was put on disk before its request was decided; a void one counts no more."""

    player: str
    attempt: Try
    void: bool = False


class Contents:
    """What a journal holds: its head, its decisions and unfinished decisions' tries by (wave, place), its stops."""

    def __init__(self) -> None:
        self.head: Mapping[str, Any] = {}
        self.entries: dict[Key, Entry] = {}
        self.tries: dict[Key, list[Kept]] = {}
        self.stops: list[Mapping[str, Any]] = []
        self.structured: dict[str, str] = {}  # by model, the mode that `auto` chose for it
        self.replies: list[str] = []  # names of the files that replies came from, where nobody was called
        self.forgiven: set[Key] = set()  # decided before a provider stopped the run: its failures there are history
        self.texts: dict[str, str] = {}
        self.size = 0  # bytes of whole lines
        self.last_wave = 0  # the highest with a decision

    def put(self, entry: Entry) -> None:
        """A decision is on record."""
        self.entries[entry.wave, entry.place] = entry
        self.last_wave = max(self.last_wave, entry.wave)

    def open_tries(self, wave: int, place: int) -> list[Try]:
        """What counts of an undecided request's attempts when the run goes on."""
        return [kept.attempt for kept in self.tries.get((wave, place), ()) if not kept.void]

    def undecided(self) -> list[tuple[str, Try]]:
        """Every attempt at a request that is not decided yet, with its player, in the order of waves and places."""
        return [
            (kept.player, kept.attempt)
            for key, tries in sorted(self.tries.items())
            if key not in self.entries
            for kept in tries
        ]

    def calls(self, wave: int, place: int) -> list[Try]:
        """Every attempt that was made at a request, those that count no more included."""
        entry, kept = self.entries.get((wave, place)), self.tries.get((wave, place), ())
        return [*(entry.tries if entry else ()), *(each.attempt for each in kept if each.void or entry is None)]

    def void_calls(self) -> int:
        """How many attempts at decided requests count for no decision: those before a provider stopped the run."""
        return sum(kept.void for key in self.entries for kept in self.tries.get(key, ()))

    def _begin(self, line: Mapping[str, Any]) -> None:
        if line["format"] != JOURNAL_FORMAT:
            raise ValueError(f"format {str(line['format'])[:40]!r}, this version reads {JOURNAL_FORMAT}")
        for part in _HEAD:
            line[part]
        self.head = line

    def _stop(self, line: Mapping[str, Any]) -> None:
        self.stops.append({"status": str(line["status"]), "at": str(line["at"]), "wall_s": float(line["wall_s"])})
        if line["status"] == ProviderStopped.status:
            self._stopped_by_provider()

    def _stopped_by_provider(self) -> None:
        """A provider's bad hour uses up nobody's attempts: on resume an undecided request has all of them again."""
        self.forgiven.update(self.entries)
        for key, tries in self.tries.items():
            if key not in self.entries:
                self.tries[key] = [
                    Kept(kept.player, kept.attempt, void=kept.void or kept.attempt.completion is None) for kept in tries
                ]

    def take(self, line: Mapping[str, Any]) -> None:
        """One line's record; `KeyError`, `TypeError` or `ValueError` where it cannot be one."""
        match line["record"]:
            case "run" if not self.head:
                self._begin(line)
            case "text":
                if text_id(line["text"]) != line["id"]:
                    raise ValueError("a text does not have the content its id names")
                self.texts[line["id"]] = line["text"]
            case "try":
                key = (count(line["wave"]), count(line["place"]))
                attempt = try_from_json(line["try"], self.texts)
                self.tries.setdefault(key, []).append(Kept(str(line["player"]), attempt))
            case "decision":
                entry = entry_from_json(line, self.texts)
                if (entry.wave, entry.place) in self.entries:
                    raise ValueError(f"a second decision for wave {entry.wave}, place {entry.place}")
                self.put(entry)
            case "structured":
                self.structured[str(line["model"])] = str(line["mode"])
            case "replies":
                self.replies += [str(name) for name in line["files"] if name not in self.replies]
            case "stop":
                self._stop(line)
            case other:
                raise ValueError(f"unexpected record {str(other)[:40]!r}")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


def read_journal(path: Path) -> Contents:
    """Read a journal; a torn last line is left out.

    Raises `JournalCorrupt` for any other line that cannot be what was written, `JournalError` for a file
    without a whole first line.
    """
    contents = Contents()
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if not raw.endswith(b"\n"):
                    break
                try:
                    line = json.loads(raw, parse_float=_finite, parse_constant=_finite)
                    if not contents.head and line["record"] != "run":
                        raise ValueError("the first record must describe the run")
                    contents.take(line)
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                    what = f"missing {error}" if isinstance(error, KeyError) else str(error)[:200]
                    raise JournalCorrupt(f"{path.name}: {what}", line=number) from None
                contents.size += len(raw)
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not contents.head:
        raise JournalError(f"{path.name}: the run ended before its journal began; there is nothing to resume")
    return contents


class Journal:
    """A journal open for appending, locked against a second writer.

    `contents` is what it holds, whoever wrote it.
    """

    def __init__(self, path: Path, handle: int, contents: Contents) -> None:
        self.path = path
        self.contents = contents
        self._handle = handle
        self._known = set(contents.texts)
        self._pending: list[dict[str, Any]] = []
        self._due = False  # something was written that must be on the disk soon
        self._failure: str | None = None  # of the first write that failed; nothing may stand behind it

    @classmethod
    def create(cls, path: Path, handle: int, head: Mapping[str, Any]) -> Journal:
        """Begin a journal in a file that has just been created (see `RunFiles.reserve`)."""
        journal = cls(path, handle, Contents())
        try:
            journal._lock()
            journal.contents.head = {"record": "run", "format": JOURNAL_FORMAT, **head}
            journal._write([journal.contents.head], sync=True)
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def reopen(cls, path: Path) -> Journal:
        """Open a journal to go on with it: a torn tail is cut off first."""
        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise JournalError(f"{path}: cannot be opened: {error.strerror or error}") from None
        journal = cls(path, handle, Contents())
        try:
            journal._lock()
            contents = read_journal(path)
            os.ftruncate(handle, contents.size)
        except BaseException:
            journal.close()
            raise
        journal.contents = contents
        journal._known = set(contents.texts)
        return journal

    def decided(self, entry: Entry, *, sync: bool) -> None:
        """Append a decision; with `sync` the next `sync()` has it on the disk, along with what came before it."""
        self._write([entry_to_json(entry, self._store)], sync=False)
        self._due = self._due or sync
        self.contents.put(entry)

    def sync(self) -> None:
        """Have on the disk what is to be there; decisions that came together share one sync."""
        if self._due:
            self._write([], sync=True)

    def tried(self, wave: int, place: int, player: str, tries: Sequence[Try]) -> None:
        """Append attempts at a decision that is not made yet: what was paid for is not paid for again."""
        line = {"record": "try", "wave": wave, "place": place, "player": player}
        self._write([{**line, "try": try_to_json(attempt, self._store)} for attempt in tries], sync=True)
        kept = self.contents.tries.setdefault((wave, place), [])
        kept += [Kept(player, attempt) for attempt in tries]

    def chose(self, model: str, mode: str) -> None:
        """Append which structured mode `auto` has chosen for a model: a resumed run goes on in it."""
        self._write([{"record": "structured", "model": model, "mode": mode}], sync=True)
        self.contents.structured[model] = mode

    def plays(self, files: Sequence[str]) -> None:
        """Append which files replies come from from now on, where that is not known."""
        if new := [name for name in dict.fromkeys(files) if name not in self.contents.replies]:
            self._write([{"record": "replies", "files": new}], sync=True)
            self.contents.replies += new

    def stopped(self, status: str, at: str, wall_s: float) -> None:
        """Append that this process is done with the run."""
        self._write([{"record": "stop", "status": status, "at": at, "wall_s": round(wall_s, 3)}], sync=True)

    def close(self) -> None:
        """Close the file and give the lock back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _store(self, text: str) -> str:
        name = text_id(text)
        if name not in self._known:
            self._known.add(name)
            self._pending.append({"record": "text", "id": name, "text": text})
        return name

    def _write(self, lines: Sequence[Mapping[str, Any]], *, sync: bool) -> None:
        texts, self._pending = self._pending, []
        rows = (
            json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for line in (*texts, *lines)
        )
        data = memoryview("".join(f"{row}\n" for row in rows).encode())
        try:
            if self._failure is None:
                while data:
                    data = data[os.write(self._handle, data) :]
                if sync:
                    os.fsync(self._handle)
                    self._due = False
        except OSError as error:
            self._failure = error.strerror or str(error)
        if self._failure is not None:
            raise AgentsimError(f"{self.path}: cannot write the journal: {self._failure}; `agentsim resume` goes on")

    def _lock(self) -> None:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        self.close()
        raise JournalError(f"{self.path.name}: another process is playing this run")


def is_running(path: Path) -> bool:
    """Whether some process holds the journal's lock now."""
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
