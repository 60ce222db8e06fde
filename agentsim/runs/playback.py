"""Playback: the replies of recordings and journals in place of models. No model is called, no key is needed.

It reads journals of runs, and the journals of calls that `recorder` writes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field, ValidationError

from agentsim.engine.codec import adapter, parse_json
from agentsim.engine.wording import counted
from agentsim.errors import JournalError, ProviderStopped, UsageError, first_objection
from agentsim.lazy import dataclass
from agentsim.models.base import Attempt, Call, Completion, Model, Sampling, ShortText
from agentsim.records.journal import read_journal
from agentsim.records.versions import JOURNAL_FORMAT, require_version
from agentsim.runs.game_in_progress import restored_scenario
from agentsim.runs.recorder import Recorder, ReplySource, Sent, digest

_MAX_SEED = 2**63  # no scenario has a seed above that; drawn seeds are smaller
_Tag: TypeAlias = Annotated[ShortText, Field(pattern=r"^[^/].*/[^/]+/[0-9]+/[0-9]+$")]


@dataclass(frozen=True, slots=True)
class _Line:
    """One call in a journal of calls."""

    record: Literal["call"]
    model: ShortText
    call: _Tag
    sent: Sent
    attempt: Attempt


class _Answer(NamedTuple):
    """A recorded attempt; without `sent`, the request is known only by the messages of the attempt."""

    attempt: Attempt
    sent: Sent | None = None


_Answers: TypeAlias = dict[tuple[str, str], _Answer]


class Playback(ReplySource):
    """The replies of some files, by model and tag of the call; a later file replaces replies of an earlier one."""

    live = False

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the files and ignore torn last lines.

        Raises `UsageError` that names the line that is not a recorded reply.
        """
        self.played = tuple(path.name for path in paths)
        self._answers: _Answers = {}
        for path in paths:
            seed, found = _read(path)
            self._answers |= found
            self.seed = seed if self.seed is None else self.seed
        self._where = ", ".join(self.played)
        self._models = {tag: model for model, tag in self._answers}
        self._unasked = set(self._answers)

    def model(self, name: str, provider: str, opened: Callable[[], Model], settings: Mapping[str, Any]) -> Model:
        return _Played(name, provider, self, settings)

    def finished(self) -> str | None:
        """Return a line about recorded replies that were not asked for, or None."""
        if not self._unasked:
            return None
        _, tag = next(key for key in self._answers if key in self._unasked)
        count = len(self._unasked)
        those = counted(count, "recorded reply was", "recorded replies were", ",")
        return f"{self._where}: {those} not asked for{', the first' if count > 1 else ''}: {_words(tag)}"

    def attempt(self, model: str, call: Call, sent: Sent) -> Attempt:
        """Return the recorded attempt of a call.

        Raises `ProviderStopped` if there is none or if the request differs; after a `ModelError`, a backup model or a
        fallback would play on, and make it another game.
        """
        answer = self._answers.get((model, call.tag))
        problem = "has no recorded reply"
        if answer is not None:
            if (difference := _difference(answer, sent)) is None:
                self._unasked.discard((model, call.tag))
                return answer.attempt
            problem = f"is not what was recorded: {difference}"
        elif call.tag in self._models:
            problem = f"was recorded from {self._models[call.tag][:200]}, not from {model}"
        raise ProviderStopped(f"{self._where}: {_words(call.tag)}, {problem}")


def reply_source_of(record: Path | None, replies: Sequence[Path] | None) -> ReplySource:
    """Return the reply source for `--record` or `--replay-replies`.

    Raises `UsageError` for both, or for unusable files.
    """
    if record is not None and replies:
        raise UsageError("--record and --replay-replies exclude each other: the replies are recorded already")
    if record is not None:
        return Recorder(record)
    return Playback(replies) if replies else ReplySource()


class _Played:
    """A model that gives recorded replies."""

    limiter = None

    def __init__(self, name: str, provider: str, playback: Playback, settings: Mapping[str, Any]) -> None:
        self.name, self.provider = name, provider
        self._playback, self._settings = playback, settings

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Return the recorded answer or raise the recorded error again. Raises `ProviderStopped` if there is none."""
        await asyncio.sleep(0)  # yields to other tasks, as a real call does
        return self._playback.attempt(self.name, call, Sent.of(call, sampling, self._settings)).answer()

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


def _words(tag: str) -> str:
    player, kind, nth, attempt = tag.rsplit("/", 3)
    return f"{kind} of {player}, number {nth}, attempt {attempt}"


def _difference(answer: _Answer, now: Sent) -> str | None:
    sent = answer.sent
    then = [digest((m.role, m.text)) for m in answer.attempt.messages] if sent is None else sent.messages
    for number, (before, after) in enumerate(zip(then, now.messages, strict=False), 1):
        if before != after:
            return f"message {number} of {len(now.messages)} has changed"
    if len(then) != len(now.messages):
        return f"there are {counted(len(now.messages), 'message')}, and {len(then)} were recorded"
    if sent is None:
        return None
    words = {"schema": "the schema of the answer", "extra": "client_kwargs"}
    for key in ("schema", "temperature", "max_tokens", "reasoning", "seed", "logprobs", "extra"):
        if getattr(sent, key) != getattr(now, key):
            return f"{words.get(key, key)} has changed"
    for key in (*now.provider, *sent.provider):
        if sent.provider.get(key) != now.provider.get(key):
            return f"{key} of the provider has changed"
    return None


def _read(path: Path) -> tuple[int | None, _Answers]:
    """Return the seed of a file's game, or None if the file has none, and its answers."""
    try:
        rows = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    if not rows:
        raise UsageError(f"{path}: is empty, not a recording")
    found: _Answers = {}
    head: Mapping[str, Any] = {}
    for number, row in enumerate(rows, start=1):
        if not row.endswith(b"\n"):
            break  # a torn write
        try:
            value = parse_json(row)
            if number == 1:
                require_version(str(path), value, written_as=JOURNAL_FORMAT)
                head = _head(value)
                if "game" in head:
                    return head["seed"], _of_run(path)
                continue
            line = adapter(_Line).validate_python(value, extra="forbid")
            if (line.model, line.call) in found:
                raise ValueError(f"a second reply of {line.model[:200]} to {line.call[:200]}")
            found[line.model, line.call] = _Answer(line.attempt, line.sent)
        except (ValueError, RecursionError) as error:
            why = str(error)
            if isinstance(error, ValidationError):
                why = ": ".join(filter(None, first_objection(error)))
            raise UsageError(f"{path}: line {number}: is not a recorded reply: {why[:200]}") from None
    return head.get("seed"), found


def _head(line: Any) -> Mapping[str, Any]:
    """Check and return a first line. Raises `ValueError` if it is not one."""
    if not isinstance(line, Mapping) or "format" not in line:
        raise ValueError("missing 'format'")
    if line["format"] != JOURNAL_FORMAT:
        raise ValueError(f"format {str(line['format'])[:40]!r}, this version reads {JOURNAL_FORMAT}")
    seed = line.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _MAX_SEED):
        raise ValueError("`seed` must be a whole number, 0 or more")
    return line


def _of_run(path: Path) -> _Answers:
    """Return the replies in the journal of a run, without those to requests that have no decision: they have no tag."""
    try:
        contents = read_journal(path)
        scenario, _ = restored_scenario(contents)
    except JournalError as error:
        raise UsageError(f"{path}: {error}") from None
    models = scenario.first_models
    counts: Counter[tuple[str, str]] = Counter()
    found: _Answers = {}
    for _, record in sorted(contents.decisions.items()):
        counts[record.player, record.kind] += 1
        if record.source != "human":
            tag = f"{record.player}/{record.kind}/{counts[record.player, record.kind]}"
            for number, attempt in enumerate(record.attempts, start=1):
                model, came = attempt.model or models[record.player], attempt.completion
                if came is not None:
                    adjustments = came.adjustments or contents.negotiated.get(model)
                    attempt = replace(attempt, completion=replace(came, adjustments=adjustments))  # noqa: PLW2901 - as it came
                found[model, f"{tag}/{number}"] = _Answer(attempt)
    return found
