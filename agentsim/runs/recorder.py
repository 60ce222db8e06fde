"""Recorder: a file of every reply of a run's models, from which `playback` plays the game again.

The file is a journal of calls: a line for each, with digests of the request in place of its prompt.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from agentsim.engine.codec import json_fields, json_line
from agentsim.errors import AgentsimError, ModelError, UsageError
from agentsim.lazy import dataclass
from agentsim.models.base import Attempt, Call, Completion, Model, OmitUnset, Reasoning, Sampling, ShortText, Wrapper
from agentsim.records.disk import write_problem
from agentsim.records.versions import JOURNAL_FORMAT, package_versions


@dataclass(frozen=True, slots=True)
class Sent:
    """Digests of a request by part, so that a change can be named; `provider` has the scenario's provider settings."""

    messages: list[ShortText]
    schema: ShortText
    temperature: float | None
    max_tokens: int | None
    extra: ShortText
    provider: dict[ShortText, ShortText]
    reasoning: Annotated[Reasoning | None, OmitUnset] = None
    seed: Annotated[int | None, OmitUnset] = None
    logprobs: Annotated[bool, OmitUnset] = False

    @classmethod
    def of(cls, call: Call, sampling: Sampling, settings: Mapping[str, Any]) -> Sent:
        """Return the digests of a call."""
        return cls(
            messages=[digest(message) for message in call.messages],
            schema=digest([call.schema_name, call.schema]),
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            extra=digest(sampling.extra),
            provider={name: digest(value) for name, value in settings.items()},
            reasoning=sampling.reasoning,
            seed=sampling.seed,
            logprobs=sampling.logprobs,
        )


def digest(value: Any) -> str:
    """Return 16 hex digits of the SHA-256 of a JSON value."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class ReplySource:
    """The source of a run's replies: this one, its models themselves."""

    live = True
    """Whether models are really called."""
    played: tuple[str, ...] = ()
    """The names of the files that replies come from."""
    seed: int | None = None
    """The seed of the recorded game, or None: with another seed its replies would not fit."""

    def model(self, name: str, provider: str, opened: Callable[[], Model], settings: Mapping[str, Any]) -> Model:
        """Return the model of a seat. `opened` makes the real one; `settings` are the scenario's for its provider."""
        return opened()

    def start(self, seed: int) -> None:
        """Prepare for a game that is about to begin."""

    def abandon(self) -> None:
        """Undo `start`, because the game did not begin."""

    def finished(self) -> str | None:
        """Handle the end of the game; return a line for the user, or None."""

    def close(self) -> None:
        """Stop recording. May be called again."""


class Recorder(ReplySource):
    """The run's models, with a copy of every reply in a new file.

    Each reply is written at once, so a killed process leaves a usable beginning.

    After a failed write, replies that are paid for still reach the game, and no further call begins.
    """

    def __init__(self, path: Path) -> None:
        """Check the path. Raises `UsageError` if a file exists there or the folder does not."""
        self._path = path
        self._handle = -1
        self._failure: str | None = None  # the first failed write; nothing may be written after it
        try:
            there, placed = path.exists() or path.is_symlink(), path.parent.is_dir()
        except OSError as error:
            raise self._unusable(error) from None
        if there:
            raise UsageError(f"{path}: already exists; replies are recorded into a new file")
        if not placed:
            raise UsageError(f"{path}: there is no directory {path.parent}")

    def _unusable(self, error: OSError) -> UsageError:
        return UsageError(f"{self._path}: cannot be written: {write_problem(error, self._path)}")

    def model(self, name: str, provider: str, opened: Callable[[], Model], settings: Mapping[str, Any]) -> Model:
        return _RecordedModel(opened(), self, settings)

    def start(self, seed: int) -> None:
        """Create the file and write its head. Raises `UsageError` or `AgentsimError` if that fails."""
        try:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except OSError as error:
            raise self._unusable(error) from None
        self.write({"record": "recording", "format": JOURNAL_FORMAT, "seed": seed, "versions": package_versions()})
        if self._failure is not None:
            self.abandon()
            raise AgentsimError(f"{self._path}: cannot be written: {self._failure}")

    def abandon(self) -> None:
        self._path.unlink(missing_ok=True)
        self.close()

    def write(self, line: Mapping[str, Any]) -> None:
        """Append one line; `check` raises the error if that fails."""
        data = memoryview(json_line(line) + b"\n")
        try:
            while data and self._failure is None:
                data = data[os.write(self._handle, data) :]
        except OSError as error:
            self._failure = write_problem(error, self._path, len(data))

    def check(self) -> None:
        """Raise `AgentsimError` if a reply could not be written."""
        if self._failure is not None:
            raise AgentsimError(f"{self._path}: cannot write the replies: {self._failure}; what came is in the journal")

    def finished(self) -> None:
        """Raise `AgentsimError` if the file is not complete."""
        self.check()

    def close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


class _RecordedModel(Wrapper):
    """A model whose replies are recorded."""

    def __init__(self, model: Model, recorder: Recorder, settings: Mapping[str, Any]) -> None:
        super().__init__(model)
        self._recorder, self._settings = recorder, settings

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Record and return the model's answer, or record and raise its error."""
        self._recorder.check()
        try:
            completion = await self._model.complete(call, sampling)
        except ModelError as error:
            self._write(call, sampling, Attempt.failed((), error))
            raise
        self._write(call, sampling, Attempt((), completion=completion))
        return completion

    def _write(self, call: Call, sampling: Sampling, attempt: Attempt) -> None:
        sent = json_fields(Sent.of(call, sampling, self._settings))
        line = {"record": "call", "model": self.name, "call": call.tag, "sent": sent, "attempt": json_fields(attempt)}
        self._recorder.write(line)
