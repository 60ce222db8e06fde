"""Journal: the append-only file from which a run survives its process, with its records, hash chain, reader and writer.

Readers ignore a torn last line, which a killed process did not write to its end; a resumed run cuts it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from operator import add, attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentsim.engine.codec import NewTexts, Texts, adapter, json_fields, json_line, parse_json
from agentsim.engine.decision import Reading
from agentsim.engine.steering import STEER, Steer
from agentsim.engine.survey import SurveyPlace
from agentsim.errors import AgentsimError, JournalCorrupt, JournalError, ProviderStopped, first_objection
from agentsim.models.base import UNADJUSTED, Adjustments, Attempt, Count, OmitEmpty, OmitUnset, ShortText, Usage
from agentsim.records.causes import Cause, cause_of
from agentsim.records.disk import lock_soon, write_problem
from agentsim.records.versions import JOURNAL_FORMAT, require_version

WAVE_DEADLINE = "wave_deadline"
"""The `fallback_reason` of a decision that was not made within `limits.wave_deadline_s`."""
DecisionKey: TypeAlias = tuple[int, int]
"""The key of a decision: its wave and its place in the wave."""
Source = Literal["model", "bot", "human", "script", "fallback"]
_HEAD = ("format", "game", "rules_version", "reader", "seed", "name", "started_at", "versions", "scenario", "run")
_exchange = attrgetter("messages", "completion", "model")  # what stays when a reply is judged again
_HEX = 32  # 128 bits of SHA-256
_TAIL = re.compile(rb',"chain":"([0-9a-f]{32})"\}\n\Z')
_TAIL_BYTES = len(b',"chain":""}\n') + _HEX


class HashChain:
    """The digests of one journal's lines, each over a line and the digest before it.

    They reveal accidental and casual changes. They are not a signature: the author of a change can compute new ones.
    """

    def __init__(self) -> None:
        self._last = b""

    def sealed(self, line: bytes) -> bytes:
        """Return a JSON object as the journal's next line, with its digest as the last member."""
        self._last = _digest(self._last, line)
        return b'%b,"chain":"%b"}\n' % (line[:-1], self._last)

    def follow(self, raw: bytes) -> None:
        """Take in the next line as it was read. Raises `ValueError` if it is not the line that was written."""
        found = _TAIL.search(raw, max(0, len(raw) - _TAIL_BYTES))
        self._last = _digest(self._last, raw[:-_TAIL_BYTES] + b"}")
        if found is None or found[1] != self._last:
            raise ValueError("was changed, or is not the line that was written here")


def _digest(before: bytes, line: bytes) -> bytes:
    return hashlib.sha256(before + line).hexdigest()[:_HEX].encode()


@dataclass(frozen=True, slots=True)
class Parse:
    """The way in which the reader found the decision in the reply; `stage` is that of `engine.decision.Reading`."""

    stage: ShortText
    candidates: Count
    repaired: Annotated[bool, Field(strict=True)]

    @classmethod
    def of(cls, reading: Reading[Any]) -> Parse:
        return cls(reading.stage, reading.candidates, reading.repaired)


@dataclass(slots=True)  # not frozen, which would take three times as long to make: there is one for each decision
class DecisionRecord:
    """A decision with every attempt at it, in memory, in the journal and in the history; (wave, place) is its key.

    `fingerprint` is a digest of the request. A decision with a `survey` answers an interview, which is not part of the
    game. `round` is that in which it was asked, or None in older journals.
    """

    index: Count
    wave: Count
    place: Count
    player: ShortText
    kind: ShortText
    fingerprint: ShortText
    decision: dict[str, Any]
    source: Source
    fallback_reason: ShortText | None
    attempts: tuple[Attempt, ...]
    parse: Parse | None
    survey: Annotated[SurveyPlace | None, OmitUnset] = None
    round: Annotated[Count | None, OmitUnset] = None
    _line: Annotated[bytes | None, Field(exclude=True)] = field(default=None, init=False, repr=False, compare=False)

    def json_line(self, texts: NewTexts, exclude: Mapping[str, Any] | None = None) -> bytes:
        """Return the record as one line of JSON, its long texts put into `texts`; `exclude` are fields of attempts.

        A record without attempts, such as a bot's, is encoded once: it is the same in the journal and in the history,
        and no record is changed once it is made.
        """
        if self._line is not None:
            return self._line
        line = json_line(self._json_values(texts, exclude))
        if not self.attempts:
            self._line = line
        return line

    def _json_values(self, texts: NewTexts, exclude: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the values that pydantic would write, in a quarter of its time: only attempts need its help."""
        return {
            "index": self.index,
            "wave": self.wave,
            "place": self.place,
            "player": self.player,
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "decision": self.decision,
            "source": self.source,
            "fallback_reason": self.fallback_reason,
            "attempts": [
                adapter(Attempt).dump_python(attempt, context=texts, exclude=exclude) for attempt in self.attempts
            ],
            "parse": None if self.parse is None else json_fields(self.parse),
            **({} if self.survey is None else {"survey": json_fields(self.survey)}),
            **({} if self.round is None else {"round": self.round}),
        }

    @property
    def cause(self) -> Cause | None:
        """The cause of a fallback, or None for a decision that was made."""
        return None if self.fallback_reason is None else cause_of(self.fallback_reason)

    @property
    def answered(self) -> Attempt | None:
        """The last attempt that brought a reply, or None."""
        return next((attempt for attempt in reversed(self.attempts) if attempt.completion is not None), None)

    @property
    def model(self) -> str | None:
        """The model that its last reply names, or else the name of the model that was called, or None."""
        if (last := self.answered) is None or last.completion is None:
            return None
        return last.completion.model or last.model

    @property
    def host(self) -> str | None:
        """The host that its last reply names, or None."""
        return None if self.answered is None else self.answered.host

    @property
    def usage(self) -> Usage | None:
        """The tokens and dollars of all its attempts together, or None for a person or if no provider reports them."""
        used = [attempt.usage for attempt in self.attempts if attempt.usage is not None and self.source != "human"]
        return reduce(add, used) if used else None


class Totals(BaseModel):
    """Counts of calls, tokens and US dollars, in total or for one player.

    `known_usd` sums the calls with a known price. `cost_usd` is None if the price of any call is unknown.
    `cacheable_tokens` are those of the prompts whose provider reports how many tokens it read from its cache.
    """

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, defer_build=True)

    calls: int
    failed_calls: int
    reasks: int
    fallbacks: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    cost_usd: float | None
    known_usd: float
    unpriced_calls: int
    cacheable_tokens: Annotated[int, OmitEmpty] = 0
    repaired: Annotated[int, OmitEmpty] = 0
    cut: Annotated[int, OmitEmpty] = 0
    takeovers: Annotated[int, OmitEmpty] = 0
    late: Annotated[int, OmitEmpty] = 0
    by_player: Annotated[dict[str, Totals] | None, OmitEmpty] = None

    @classmethod
    def zero(cls) -> Totals:
        """Return totals of 0."""
        return cls(
            calls=0,
            failed_calls=0,
            reasks=0,
            fallbacks=0,
            prompt_tokens=0,
            cached_tokens=0,
            completion_tokens=0,
            reasoning_tokens=0,
            cost_usd=0.0,
            known_usd=0.0,
            unpriced_calls=0,
        )

    @classmethod
    def of(
        cls,
        decisions: Iterable[DecisionRecord],
        players: Iterable[str],
        undecided: Iterable[tuple[str, Attempt]] = (),
    ) -> Totals:
        """Return the totals of decisions, with `by_player`: all players and `@role` staff in the order given.

        `undecided` are attempts, by player, at requests that have no decision yet.
        """
        found, by_player = cls.zero(), {player: cls.zero() for player in players}
        for decision in decisions:
            if decision.source != "bot":  # which makes no calls
                found.add(decision)
                by_player[decision.player].add(decision)
        for player, attempt in undecided:
            found.add_call(attempt)
            by_player[player].add_call(attempt)
        found.by_player = by_player
        return found

    @property
    def cached_share(self) -> float | None:
        """The share of the prompt tokens that came from a provider's cache, 0 to 1, or None if no provider reports it.

        Prompts whose provider reports nothing about a cache are left out: an unknown count is not 0.
        """
        return min(1.0, self.cached_tokens / self.cacheable_tokens) if self.cacheable_tokens else None

    def add(self, decision: DecisionRecord) -> None:
        """Count one decision and its calls; a person's reply is not a call."""
        if decision.source == "bot":
            return
        self.fallbacks += decision.source == "fallback"
        self.late += decision.fallback_reason == WAVE_DEADLINE
        self.repaired += decision.parse is not None and decision.parse.repaired
        self.cut += decision.parse is not None and decision.parse.stage == "cut"
        if not decision.attempts:
            return
        bad = [attempt for attempt in decision.attempts if attempt.completion is not None and attempt.code is not None]
        last_was_bad = bool(bad) and decision.attempts[-1] is bad[-1]
        self.reasks += len(bad) - (decision.source == "fallback" and last_was_bad)
        if decision.source != "human":
            for attempt in decision.attempts:
                self.add_call(attempt)

    def add_call(self, attempt: Attempt) -> None:
        """Count one call, which may have failed."""
        self.calls += 1
        self.takeovers += attempt.takeover
        self.failed_calls += attempt.completion is None
        if (usage := attempt.usage) is None:
            return
        self.prompt_tokens += usage.prompt_tokens or 0
        self.cached_tokens += usage.cached_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.reasoning_tokens += usage.reasoning_tokens or 0
        self.cacheable_tokens += 0 if usage.cached_tokens is None else usage.prompt_tokens or 0
        self.known_usd = round(self.known_usd + (usage.cost_usd or 0.0), 10)
        self.unpriced_calls += usage.cost_usd is None
        self.cost_usd = None if self.unpriced_calls else self.known_usd


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a session; `history` is the digest of the history that it wrote."""

    status: ShortText
    at: ShortText
    wall_s: Annotated[float, Field(allow_inf_nan=False)]
    history: ShortText


@dataclass(frozen=True, slots=True)
class PendingAttempt:
    """An attempt that was recorded before its request was decided.

    A `void` one failed before a provider stopped the run. It was made and may be billed, but does not count for the
    decision: the resumed run has all its attempts again.
    """

    player: str
    attempt: Attempt
    void: bool = False


@dataclass(frozen=True, slots=True)
class _AttemptLine:
    """An `attempt` line: an attempt, and the request that it belongs to."""

    wave: Count
    place: Count
    player: ShortText
    attempt: Attempt


class JournalContents:
    """The contents of a journal: its head, its decisions and the attempts at open ones by (wave, place), its stops."""

    def __init__(self) -> None:
        self.head: Mapping[str, Any] = {}  # the first line, which describes the run
        self.decisions: dict[DecisionKey, DecisionRecord] = {}
        self.attempts: dict[DecisionKey, list[PendingAttempt]] = {}
        self.stops: list[Stop] = []
        self.negotiated: dict[str, Adjustments] = {}  # by model, the adjustments that its host accepts
        self.replies: list[str] = []  # names of the files that replies were played from
        self.filled: dict[str, str] = {}  # by player, the bot in the seat of a person who did not come
        self.steered: dict[int, list[Steer]] = {}  # by wave, the actions of an experimenter before it
        self.decided_before_stop: set[DecisionKey] = set()  # failures of these do not count after a resume
        self.texts = Texts()
        self.chain = HashChain()  # of the lines so far
        self.size = self.lines = 0  # of whole lines: bytes and number
        self.last_wave = self.last_begun_wave = 0  # highest wave with a decision; with a decision or an attempt
        self.last_stop = 0  # the number of its line

    @property
    def history(self) -> str | None:
        """The digest of the history that the last session wrote, or None.

        It is None if the last line is not a stop, because the session died and no line names its history.
        """
        return self.stops[-1].history if self.stops and self.last_stop == self.lines else None

    @property
    def wall_s(self) -> float:
        """Seconds of all sessions that recorded their end."""
        return float(sum(stop.wall_s for stop in self.stops))

    def add_decision(self, record: DecisionRecord) -> None:
        """Record a decision."""
        wave = record.wave
        self.decisions[wave, record.place] = record
        if wave > self.last_wave:
            self.last_wave, self.last_begun_wave = wave, max(self.last_begun_wave, wave)

    def add_attempts(self, wave: int, place: int, attempts: Iterable[PendingAttempt]) -> None:
        """Record attempts at a decision that is not made yet."""
        self.attempts.setdefault((wave, place), []).extend(attempts)
        self.last_begun_wave = max(self.last_begun_wave, wave)

    def check_steered(self, wave: int) -> None:
        """Raise `ValueError` if this wave, which is to be steered, has begun."""
        if wave <= self.last_begun_wave:
            raise ValueError(f"wave {wave} is steered, and wave {self.last_begun_wave} has begun before that")

    def open_attempts(self, wave: int, place: int) -> list[Attempt]:
        """Return the attempts at an undecided request that still count when the run goes on."""
        return [kept.attempt for kept in self.attempts.get((wave, place), ()) if not kept.void]

    def undecided(self) -> list[tuple[str, Attempt]]:
        """Return every attempt at an undecided request, with its player, in the order of waves and places."""
        return [
            (kept.player, kept.attempt)
            for key, attempts in sorted(self.attempts.items())
            if key not in self.decisions
            for kept in attempts
        ]

    def adjustments(self, models: Mapping[str, str]) -> dict[str, Adjustments]:
        """Return the adjustments of each model that has answered, by name; `models` are the players' first models."""
        made = [(record.player, record.attempts) for record in self.decisions.values()]
        made += [(kept.player, (kept.attempt,)) for each in self.attempts.values() for kept in each]
        answered = (
            attempt.model or models.get(player, "")
            for player, attempts in made
            for attempt in attempts
            if attempt.completion is not None
        )
        return {**dict.fromkeys(answered, UNADJUSTED), **self.negotiated}

    def calls(self, wave: int, place: int) -> list[Attempt]:
        """Return every attempt that was made at a request, including void ones."""
        record, kept = self.decisions.get((wave, place)), self.attempts.get((wave, place), ())
        return [*(record.attempts if record else ()), *(each.attempt for each in kept if each.void or record is None)]

    def void_calls(self) -> int:
        """Return the number of void attempts at decided requests: failures before a provider stopped the run."""
        return sum(kept.void for key in self.decisions for kept in self.attempts.get(key, ()))

    def _begin(self, line: Mapping[str, Any]) -> None:
        for part in _HEAD:
            line[part]
        if line["format"] != JOURNAL_FORMAT:
            raise ValueError(f"format {str(line['format'])[:40]!r}, this version reads {JOURNAL_FORMAT}")
        self.head = line

    def _decide(self, record: DecisionRecord) -> None:
        if (record.wave, record.place) in self.decisions:
            raise ValueError(f"a second decision for wave {record.wave}, place {record.place}")
        # A resumed run may use fewer of the recorded attempts: a model may have none left.
        before = self.open_attempts(record.wave, record.place)
        if any(_exchange(one) != _exchange(other) for one, other in zip(before, record.attempts, strict=False)):
            raise ValueError(f"decision {record.index} has other attempts than were recorded before it")
        self.add_decision(record)

    def _learn(self, what: str, line: Mapping[str, Any]) -> None:
        """Take in a line about a model, a seat or the files of replies."""
        if what == "negotiated":
            self.negotiated[str(line["model"])] = adapter(Adjustments).validate_python(
                line["adjustments"], strict=False
            )
        elif what == "filled":
            self.filled[str(line["player"])] = str(line["model"])
        else:
            self.replies += [str(name) for name in line["files"] if name not in self.replies]

    def _stop(self, stop: Stop) -> None:
        self.last_stop = self.lines
        self.stops.append(stop)
        if stop.status != ProviderStopped.status:
            return
        self.decided_before_stop.update(self.decisions)
        for key, attempts in self.attempts.items():
            if key not in self.decisions:  # failed calls are void (`PendingAttempt`)
                self.attempts[key] = [
                    replace(kept, void=kept.void or kept.attempt.completion is None) for kept in attempts
                ]

    def read_line(self, line: Mapping[str, Any]) -> None:
        """Take in the record of one line. Raises `KeyError`, `TypeError` or `ValueError` if it is not valid."""
        match line["record"]:
            case "run" if not self.head:
                self._begin(line)
            case "texts":
                for text in line["texts"]:
                    self.texts.add(text)
            case "attempt":
                tried = adapter(_AttemptLine).validate_python(line, context=self.texts)
                self.add_attempts(tried.wave, tried.place, [PendingAttempt(tried.player, tried.attempt)])
            case "decision":
                self._decide(adapter(DecisionRecord).validate_python(line, context=self.texts))
            case "negotiated" | "filled" | "replies" as what:
                self._learn(what, line)
            case "steered":
                self.check_steered(wave := int(line["wave"]))
                self.steered.setdefault(wave, []).append(adapter(STEER).validate_python(line["does"], strict=False))
            case "stop":
                self._stop(adapter(Stop).validate_python(line))
            case other:
                raise ValueError(f"unexpected record {str(other)[:40]!r}")


def read_journal(path: Path, most_lines: int | None = None) -> JournalContents:
    """Read a journal, or only its first `most_lines` lines; a torn last line is ignored.

    Raises `OtherVersion` if another version of agentsim wrote the journal, `JournalCorrupt` if a line is not the one
    that was written, `JournalError` if the file has no whole first line.
    """
    contents = JournalContents()
    read_new_lines(path, contents, most_lines)
    if not contents.head:
        raise JournalError(f"{path.name}: the run ended before its journal began; there is nothing to resume")
    return contents


def read_new_lines(path: Path, contents: JournalContents, most_lines: int | None = None) -> None:
    """Take in the whole lines after those that `contents` has. Raises like `read_journal`."""
    try:
        with path.open("rb") as file:
            file.seek(contents.size)
            for raw in islice(file, most_lines):
                if not raw.endswith(b"\n"):
                    break
                _take(path, contents, raw)
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror or error}") from None


def _take(path: Path, contents: JournalContents, raw: bytes) -> None:
    contents.lines += 1
    try:
        contents.chain.follow(raw)
        line = parse_json(raw)
        if not contents.head:
            require_version(path.name, line, written_as=JOURNAL_FORMAT)
        line.pop("chain", None)
        if not contents.head and line["record"] != "run":
            raise ValueError("the first record must describe the run")
        contents.read_line(line)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"missing {error}" if isinstance(error, KeyError) else str(error)[:200]
        if isinstance(error, UnicodeDecodeError):
            what = f"not UTF-8 at byte {error.start}"
        if isinstance(error, ValidationError):
            what = ": ".join(first_objection(error))[:200]
        raise JournalCorrupt(f"{path.name}: {what}", line=contents.lines) from None
    contents.size += len(raw)


_DECIDED = "the history has what was decided"


class JournalFile:
    """A journal open for appending; after a failure no more is written. `size` is in bytes."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.size = os.fstat(handle).st_size
        self.failure: str | None = None  # the first failed write; nothing may be written after it
        self._remedy = "`agentsim resume` goes on"
        self._handle = handle

    @classmethod
    def existing(cls, path: Path) -> JournalFile:
        """Open an existing file. Raises `JournalError` if it cannot be opened."""
        try:
            return cls(path, os.open(path, os.O_RDWR | os.O_APPEND))
        except OSError as error:
            raise JournalError(f"{path}: cannot be opened: {error.strerror or error}") from None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle < 0

    def lock(self) -> None:
        """Lock the file against other writers. If there is one, close it and raise `JournalError`."""
        if lock_soon(self._handle):
            return
        self.close()
        raise JournalError(f"{self.path.name}: another process is playing this run")

    def cut(self, size: int) -> None:
        """Truncate the file to `size` bytes."""
        os.ftruncate(self._handle, size)
        self.size = size

    def append(self, data: bytes | bytearray, *, sync: bool = False) -> None:
        """Write all bytes, and with `sync` wait for the disk.

        Raises `AgentsimError` if this or an earlier write failed.
        """
        left = memoryview(data)
        try:
            while left and self.failure is None:
                taken = os.write(self._handle, left)
                left, self.size = left[taken:], self.size + taken
            if sync and self.failure is None:
                os.fsync(self._handle)
        except OSError as error:
            self.failure = write_problem(error, self.path, len(left) or len(data))
        if self.failure is not None:
            raise self._unwritable(self.failure, self._remedy)

    def check(self) -> None:
        """Raise `AgentsimError` if a write failed, or if another process changed, removed or replaced the file.

        A file that was removed or replaced is still written to, so that the run ends with all that it has paid for.
        """
        mine = os.fstat(self._handle)
        if self.failure is None and mine.st_size != self.size:
            self.failure, self._remedy = "another process has written to it", _DECIDED
        if self.failure is not None:
            raise self._unwritable(self.failure, self._remedy)
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), mine):
                return
        raise self._unwritable("it was removed or replaced while the run was played", _DECIDED)

    def _unwritable(self, why: str, remedy: str) -> AgentsimError:
        return AgentsimError(f"{self.path}: cannot write the journal: {why}; {remedy}")

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


MOST_UNWRITTEN = 64 * 1024
"""Bytes of bots' decisions that are buffered until the next write: they cost nothing to repeat."""


class Journal:
    """A journal open for appending, locked against a second writer. `contents` is what it holds."""

    def __init__(self, file: JournalFile, contents: JournalContents) -> None:
        self.contents = contents
        self._file = file
        self._texts = NewTexts(contents.texts)
        self._unwritten = bytearray()
        self._due = False  # an added line must be on disk at the next `sync`

    @property
    def path(self) -> Path:
        return self._file.path

    @classmethod
    def create(cls, path: Path, handle: int, head: Mapping[str, Any]) -> Journal:
        """Begin a journal in an empty file (see `RunFiles.reserve`)."""
        journal = cls(JournalFile(path, handle), JournalContents())
        with journal.beginning():
            journal._file.lock()
            journal.contents.head = {"record": "run", "format": JOURNAL_FORMAT, **head}
            journal._put([journal.contents.head])
        return journal

    @contextlib.contextmanager
    def beginning(self) -> Iterator[None]:
        """Close and delete the file if the block fails, because there is nothing to resume yet."""
        try:
            yield
        except BaseException as error:
            self.path.unlink(missing_ok=True)
            self.close()
            if isinstance(error, AgentsimError) and self._file.failure is not None:
                raise AgentsimError(f"{self.path}: cannot be written: {self._file.failure}") from None
            raise

    @classmethod
    def reopen(cls, path: Path) -> Journal:
        """Open a journal to append to it, and cut off a torn last line."""
        file = JournalFile.existing(path)
        try:
            file.lock()
            contents = read_journal(path)
            file.cut(contents.size)
        except BaseException:
            file.close()
            raise
        return cls(file, contents)

    def append_decision(self, record: DecisionRecord, *, write_now: bool) -> None:
        """Append a decision. If not `write_now`, the line may stay in memory up to `MOST_UNWRITTEN` bytes.

        The next `sync()` syncs such a line, and all lines before it, to the disk.
        """
        line = record.json_line(self._texts)
        self._add_texts()
        self._add_line(b'{"record":"decision",' + line[1:])
        if write_now or len(self._unwritten) > MOST_UNWRITTEN:
            self._write()
        self._due = self._due or write_now
        self.contents.add_decision(record)

    def sync(self) -> None:
        """Sync due lines, and `check`; decisions that came together share one sync."""
        if self._file.closed:  # a timer may fire after one of several games in a loop has ended
            return
        if self._due:
            self._put([])
        self.check()

    def check(self) -> None:
        """Raise `AgentsimError` if the journal cannot be written, or was removed or replaced."""
        self._file.check()

    def append_attempts(self, wave: int, place: int, player: str, attempts: Sequence[Attempt]) -> None:
        """Append attempts at a decision that is not made yet, so that they are not paid for again.

        They are in the file at once; the next `sync()` makes them survive a power loss.
        """
        for attempt in attempts:
            found = adapter(Attempt).dump_python(attempt, context=self._texts)
            self._add_texts()
            self._add({"record": "attempt", "wave": wave, "place": place, "player": player, "attempt": found})
        self._write()
        self._due = True
        self.contents.add_attempts(wave, place, [PendingAttempt(player, attempt) for attempt in attempts])

    def append_adjustments(self, model: str, adjustments: Adjustments) -> None:
        """Append the adjustments that a model's host accepts, so that a resumed run does not negotiate again."""
        self._note(record="negotiated", model=model, adjustments=json_fields(adjustments))

    def append_filled_seat(self, player: str, model: str) -> None:
        """Append that a bot has the seat of a person who did not come."""
        self._note(record="filled", player=player, model=model)

    def append_reply_files(self, files: Sequence[str]) -> None:
        """Record the files that replies are played from, unless already recorded."""
        if new := [name for name in dict.fromkeys(files) if name not in self.contents.replies]:
            self._note(record="replies", files=new)

    def append_steering(self, wave: int, action: Steer) -> None:
        """Append an experimenter's action before a wave. Raises `ValueError` if the wave has begun."""
        self.contents.check_steered(wave)
        self._note(record="steered", wave=wave, does=action.model_dump(mode="json", exclude_defaults=True))

    def _note(self, **line: Any) -> None:
        """Write a line that is neither a decision nor an attempt, and take it into the contents."""
        self._put([line])
        self.contents.read_line(line)

    def append_stop(self, status: str, at: str, wall_s: float, history: str) -> None:
        """Append the end of the session, and `check`.

        `history` is the digest of the history that it writes.
        """
        self._put([{"record": "stop", **json_fields(Stop(status, at, round(wall_s, 3), history))}])
        self.check()

    def close(self) -> None:
        if not self._file.closed:
            with contextlib.suppress(AgentsimError):  # only bots' decisions may be lost
                self._write()
            self._file.close()

    def _add_texts(self) -> None:
        """Add the long texts that are new in the next record."""
        if self._texts.new:
            self._add({"record": "texts", "texts": self._texts.new})
            self._texts.new.clear()

    def _add(self, line: Mapping[str, Any]) -> None:
        self._add_line(json_line(line))

    def _add_line(self, line: bytes) -> None:
        self._unwritten += self.contents.chain.sealed(line)

    def _put(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Write and sync these lines, after all that were added before."""
        for line in lines:
            self._add(line)
        self._write(sync=True)

    def _write(self, *, sync: bool = False) -> None:
        data, self._unwritten = self._unwritten, bytearray()
        self._file.append(data, sync=sync)
        self._due = self._due and not sync
