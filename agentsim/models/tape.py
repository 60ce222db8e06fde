"""Tape: what stands between a run and its models: it records every reply, or plays recorded ones instead of calling.

What a recording's file looks like and when a reply fits a call is `cassette`; how an error is dealt with is `attempts`.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from agentsim.errors import AgentsimError, ModelError, UsageError
from agentsim.models.base import Call, Completion, Model, Sampling, Wrapper
from agentsim.models.cassette import CASSETTE_FORMAT, Cassette, sent
from agentsim.models.recorded import error_to_json

__all__ = ["Playback", "Recorder", "Tape"]


class Tape(Protocol):
    """What stands between a run and its models: something that records them, or plays instead of them."""

    @property
    def live(self) -> bool:
        """Whether models are really called."""
        ...

    @property
    def played(self) -> list[str]:
        """The names of the files that replies come from."""
        ...

    @property
    def seed(self) -> int | None:
        """The seed of the game that the replies come from, where that is known."""
        ...

    def model(self, name: str, provider: str, opened: Callable[[], Model], settings: Mapping[str, Any]) -> Model:
        """The model that a seat gets; `opened` makes the real one, and may raise for want of a key.

        `settings` are what the scenario says of how its provider is asked.
        """
        ...

    def start(self, seed: int) -> None:
        """The run can be played, and is about to."""
        ...

    def abandon(self) -> None:
        """The run could not begin after all: nothing is left of `start`."""
        ...

    def finished(self) -> str | None:
        """The game has come to its end: what somebody should know of the files, in a line.

        Raises `AgentsimError` where a recording is not whole.
        """
        ...

    def close(self) -> None:
        """The run's session is over."""
        ...


class Recorder:
    """Writes every reply of a run to a new file, each at once: what a killed process leaves is a usable beginning.

    Where the file cannot be written any more, replies that are paid for still go to whoever asked, and no further call
    begins.
    """

    live = True
    seed = None

    def __init__(self, path: Path) -> None:
        """`UsageError` where the file cannot be a new one."""
        self.played: list[str] = []
        try:
            there, placed = path.exists() or path.is_symlink(), path.parent.is_dir()
        except OSError as error:
            raise self._unusable(path, error) from None
        if there:
            raise UsageError(f"{path}: is there already; replies are recorded into a new file")
        if not placed:
            raise UsageError(f"{path}: there is no directory {path.parent}")
        self._path = path
        self._handle = -1
        self._failure: str | None = None  # of the first write that failed; nothing may stand behind it

    @staticmethod
    def _unusable(path: Path, error: OSError) -> UsageError:
        return UsageError(f"{path}: cannot be written: {error.strerror}")

    def model(self, name: str, provider: str, opened: Callable[[], Model], settings: Mapping[str, Any]) -> Model:
        return _Recorded(opened(), self, settings)

    def start(self, seed: int) -> None:
        """Create the file; `UsageError` where that cannot be."""
        try:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._unusable(self._path, error) from None
        self.write({"format": CASSETTE_FORMAT, "seed": seed})
        if self._failure is not None:
            self.abandon()
            raise AgentsimError(f"{self._path}: cannot be written: {self._failure}")

    def abandon(self) -> None:
        """Delete the file: the same command may make it again."""
        self._path.unlink(missing_ok=True)
        self.close()

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line, in one piece; what goes wrong is for `check` to say."""
        row = json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = memoryview(f"{row}\n".encode())
        try:
            while data and self._failure is None:
                data = data[os.write(self._handle, data) :]
        except OSError as error:
            self._failure = error.strerror or str(error)

    def check(self) -> None:
        """Raise `AgentsimError` where a reply could not be written."""
        if self._failure is not None:
            raise AgentsimError(f"{self._path}: cannot write the replies: {self._failure}; what came is in the journal")

    def finished(self) -> None:
        """`AgentsimError` where the file is not whole."""
        self.check()

    def close(self) -> None:
        """The file is whole; may be called again."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


class _Recorded(Wrapper):
    """A model whose replies are written down."""

    def __init__(self, model: Model, recorder: Recorder, settings: Mapping[str, Any]) -> None:
        super().__init__(model)
        self._recorder, self._settings = recorder, settings

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """The model's own answer or error, once it is in the file, or could not be put there."""
        self._recorder.check()
        line = {"model": self.name, "call": call.tag, "sent": sent(call, sampling, self._settings)}

        try:
            completion = await self._model.complete(call, sampling)
        except ModelError as error:
            self._recorder.write({**line, "error": error_to_json(error)})
            raise
        self._recorder.write({**line, "reply": asdict(completion)})
        return completion


class Playback:
    """Plays the replies of cassettes; nothing is called, and no key is asked for."""

    live = False

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the files; `UsageError` says what in which line is no recorded reply."""
        self.cassette = Cassette.read(paths)
        self.played = [path.name for path in paths]

    @property
    def seed(self) -> int | None:
        return self.cassette.seed

    def model(self, name: str, provider: str, opened: Callable[[], Model], settings: Mapping[str, Any]) -> Model:
        return _Replayed(name, provider, self.cassette, settings)

    def start(self, seed: int) -> None:
        """Nothing is to be made ready."""

    def abandon(self) -> None:
        """Nothing was made."""

    def finished(self) -> str | None:
        """What to say of replies that were recorded and not asked for."""
        return self.cassette.unasked()

    def close(self) -> None:
        """Nothing is open."""


class _Replayed:
    """A model that has said everything already."""

    def __init__(self, name: str, provider: str, cassette: Cassette, settings: Mapping[str, Any]) -> None:
        self._name, self._provider, self._cassette, self._settings = name, provider, cassette, settings

    @property
    def name(self) -> str:
        return self._name

    @property
    def provider(self) -> str:
        return self._provider

    @property
    def limiter(self) -> None:
        return None

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """The recorded answer, or the recorded error raised again; `ProviderStopped` where nothing was recorded."""
        await asyncio.sleep(0)  # as a real call does, it lets others have their turn
        return self._cassette.line(self._name, call, sampling, self._settings).answer()

    async def aclose(self) -> None:
        """Nothing is open."""
