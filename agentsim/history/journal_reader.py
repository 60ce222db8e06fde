"""Reads a journal, which `journal` writes: its records, their chain, and no last line that was cut off."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from agentsim.engine.codec import Texts, adapter, parse_json
from agentsim.engine.decision import Reading
from agentsim.engine.steering import STEER, Steer
from agentsim.errors import JournalCorrupt, JournalError, ProviderStopped, first_objection
from agentsim.history.versions import JOURNAL_FORMAT, require_version
from agentsim.models.base import Attempt, Count, Word

TICK_DEADLINE = "tick_deadline"
"""The `fallback_reason` of a decision that was not made within `limits.tick_deadline_s`."""
Key: TypeAlias = tuple[int, int]
"""The wave and the place in it of a decision."""
Source = Literal["model", "bot", "human", "script", "fallback"]
_HEAD = ("format", "game", "rules_version", "reader", "seed", "name", "started_at", "versions", "scenario", "run")
_said = attrgetter("messages", "completion", "model")  # of an attempt, this stays when its reply is judged again
_HEX = 32  # 128 bits of SHA-256
_TAIL = re.compile(rb',"chain":"([0-9a-f]{32})"\}\n\Z')
_TAIL_BYTES = len(b',"chain":""}\n') + _HEX


class Chain:
    """The digests of one journal, each of a line and of the digest before it.

    They show what was changed by accident or in passing. They are no signature: the author of a change can make others.
    """

    def __init__(self) -> None:
        self._last = b""

    def sealed(self, line: bytes) -> bytes:
        """A JSON object as the journal's next line, with its digest as the last member."""
        self._last = _digest(self._last, line)
        return b'%b,"chain":"%b"}\n' % (line[:-1], self._last)

    def follow(self, raw: bytes) -> None:
        """Take in the next line as it was read; `ValueError` where it is not the one that was written."""
        found = _TAIL.search(raw, max(0, len(raw) - _TAIL_BYTES))
        self._last = _digest(self._last, raw[:-_TAIL_BYTES] + b"}")
        if found is None or found[1] != self._last:
            raise ValueError("was changed, or is not the line that was written here")


def _digest(before: bytes, line: bytes) -> bytes:
    return hashlib.sha256(before + line).hexdigest()[:_HEX].encode()


@dataclass(frozen=True, slots=True)
class Parse:
    """How the decision was found in the reply."""

    stage: Word
    candidates: Count
    repaired: Annotated[bool, Field(strict=True)]

    @classmethod
    def of(cls, reading: Reading[Any]) -> Parse:
        return cls(reading.stage, reading.candidates, reading.repaired)


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision with every attempt at it; (wave, place) is its key."""

    index: Count
    wave: Count
    place: Count
    player: Word
    kind: Word
    fingerprint: Word
    decision: dict[str, Any]
    source: Source
    fallback_reason: Word | None
    tries: tuple[Attempt, ...]
    parse: Parse | None


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a session; `history` is the digest of the history that it left."""

    status: Word
    at: Word
    wall_s: Annotated[float, Field(allow_inf_nan=False)]
    history: Word


@dataclass(frozen=True, slots=True)
class Kept:
    """An attempt that was recorded before its request was decided; a void one no longer counts."""

    player: str
    attempt: Attempt
    void: bool = False


@dataclass(frozen=True, slots=True)
class _Try:
    """A `try` line: an attempt, and the request that it belongs to."""

    wave: Count
    place: Count
    player: Word
    attempt: Annotated[Attempt, Field(validation_alias="try")]


class Contents:
    """What a journal holds: its head, its decisions and unfinished decisions' tries by (wave, place), its stops."""

    def __init__(self) -> None:
        self.head: Mapping[str, Any] = {}
        self.entries: dict[Key, Entry] = {}
        self.tries: dict[Key, list[Kept]] = {}
        self.stops: list[Stop] = []
        self.structured: dict[str, str] = {}  # by model, the mode that `auto` chose for it
        self.replies: list[str] = []  # names of the files that replies were played from
        self.filled: dict[str, str] = {}  # by player whose seat stayed empty, the bot that has it
        self.steered: dict[int, list[Steer]] = {}  # by wave, what an experimenter did before it
        self.forgiven: set[Key] = set()  # decided before a provider stopped the run: its failures there are history
        self.texts = Texts()
        self.chain = Chain()
        self.size = self.lines = 0  # bytes and number of whole lines
        self.last_wave = self.begun = 0  # the highest with a decision, and with a decision or a try
        self.last_stop = 0  # the number of its line

    @property
    def history(self) -> str | None:
        """The digest of the history that the last session left; None where none is named.

        A session whose last line did not reach the disk left a history that no line names.
        """
        return self.stops[-1].history if self.stops and self.last_stop == self.lines else None

    @property
    def wall_s(self) -> float:
        """Seconds of all sessions; one that was killed left no word of its own."""
        return float(sum(stop.wall_s for stop in self.stops))

    def put(self, entry: Entry) -> None:
        """A decision is on record."""
        self.entries[entry.wave, entry.place] = entry
        self.last_wave, self.begun = max(self.last_wave, entry.wave), max(self.begun, entry.wave)

    def keep(self, wave: int, place: int, tries: Iterable[Kept]) -> None:
        """Attempts at a decision that is not made yet are on record."""
        self.tries.setdefault((wave, place), []).extend(tries)
        self.begun = max(self.begun, wave)

    def check_steered(self, wave: int) -> None:
        """Raise `ValueError` where something is to be done before a wave that has begun: it would be in the past."""
        if wave <= self.begun:
            raise ValueError(f"wave {wave} is steered, and wave {self.begun} has begun before that")

    def open_tries(self, wave: int, place: int) -> list[Attempt]:
        """What counts of an undecided request's attempts when the run goes on."""
        return [kept.attempt for kept in self.tries.get((wave, place), ()) if not kept.void]

    def undecided(self) -> list[tuple[str, Attempt]]:
        """Every attempt at a request that is not decided yet, with its player, in the order of waves and places."""
        return [
            (kept.player, kept.attempt)
            for key, tries in sorted(self.tries.items())
            if key not in self.entries
            for kept in tries
        ]

    def calls(self, wave: int, place: int) -> list[Attempt]:
        """Every attempt that was made at a request, those that count no more included."""
        entry, kept = self.entries.get((wave, place)), self.tries.get((wave, place), ())
        return [*(entry.tries if entry else ()), *(each.attempt for each in kept if each.void or entry is None)]

    def void_calls(self) -> int:
        """How many attempts at decided requests count for no decision: those before a provider stopped the run."""
        return sum(kept.void for key in self.entries for kept in self.tries.get(key, ()))

    def _begin(self, line: Mapping[str, Any]) -> None:
        for part in _HEAD:
            line[part]
        if line["format"] != JOURNAL_FORMAT:
            raise ValueError(f"format {str(line['format'])[:40]!r}, this version reads {JOURNAL_FORMAT}")
        self.head = line

    def _decide(self, entry: Entry) -> None:
        if (entry.wave, entry.place) in self.entries:
            raise ValueError(f"a second decision for wave {entry.wave}, place {entry.place}")
        # A resumed run may need fewer of them than there were: a model may have no attempts left.
        before = self.open_tries(entry.wave, entry.place)
        if any(_said(one) != _said(other) for one, other in zip(before, entry.tries, strict=False)):
            raise ValueError(f"decision {entry.index} has other attempts than were recorded before it")
        self.put(entry)

    def _stop(self, stop: Stop) -> None:
        self.last_stop = self.lines
        self.stops.append(stop)
        if stop.status != ProviderStopped.status:
            return
        self.forgiven.update(self.entries)
        for key, tries in self.tries.items():
            if key not in self.entries:  # its failed calls are void: on resume it has all of its attempts again
                self.tries[key] = [replace(kept, void=kept.void or kept.attempt.completion is None) for kept in tries]

    def take(self, line: Mapping[str, Any]) -> None:
        """One line's record; `KeyError`, `TypeError` or `ValueError` where it cannot be one."""
        match line["record"]:
            case "run" if not self.head:
                self._begin(line)
            case "texts":
                for text in line["texts"]:
                    self.texts.add(text)
            case "try":
                tried = adapter(_Try).validate_python(line, context=self.texts)
                self.keep(tried.wave, tried.place, [Kept(tried.player, tried.attempt)])
            case "decision":
                self._decide(adapter(Entry).validate_python(line, context=self.texts))
            case "structured" | "filled" as what:
                key, value = ("model", "mode") if what == "structured" else ("player", "model")
                getattr(self, what)[str(line[key])] = str(line[value])
            case "replies":
                self.replies += [str(name) for name in line["files"] if name not in self.replies]
            case "steered":
                self.check_steered(wave := int(line["wave"]))
                self.steered.setdefault(wave, []).append(adapter(STEER).validate_python(line["does"], strict=False))
            case "stop":
                self._stop(adapter(Stop).validate_python(line))
            case other:
                raise ValueError(f"unexpected record {str(other)[:40]!r}")


def read_journal(path: Path, most_lines: int | None = None) -> Contents:
    """Read a journal, or its first lines alone; a torn last line is left out.

    Raises `OtherVersion` for a journal that another version of agentsim wrote, `JournalCorrupt` for a line that cannot
    be what was written, `JournalError` for a file without a whole first line.
    """
    contents = Contents()
    read_on(path, contents, most_lines)
    if not contents.head:
        raise JournalError(f"{path.name}: the run ended before its journal began; there is nothing to resume")
    return contents


def read_on(path: Path, contents: Contents, most_lines: int | None = None) -> None:
    """Take in the whole lines that a journal has beyond what was read of it; raises as `read_journal` does."""
    try:
        with path.open("rb") as file:
            file.seek(contents.size)
            for raw in islice(file, most_lines):
                if not raw.endswith(b"\n"):
                    break
                _take(path, contents, raw)
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror or error}") from None


def _take(path: Path, contents: Contents, raw: bytes) -> None:
    contents.lines += 1
    try:
        contents.chain.follow(raw)
        line = parse_json(raw)
        if not contents.head:
            require_version(path.name, line, written_as=JOURNAL_FORMAT)
        line.pop("chain", None)
        if not contents.head and line["record"] != "run":
            raise ValueError("the first record must describe the run")
        contents.take(line)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"missing {error}" if isinstance(error, KeyError) else str(error)[:200]
        if isinstance(error, UnicodeDecodeError):
            what = f"not UTF-8 at byte {error.start}"
        if isinstance(error, ValidationError):
            what = ": ".join(first_objection(error))[:200]
        raise JournalCorrupt(f"{path.name}: {what}", line=contents.lines) from None
    contents.size += len(raw)
