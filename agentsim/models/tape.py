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
from agentsim.models.base import Call, Completion, Model, Sampling
from agentsim.models.cassette import CASSETTE_FORMAT, Cassette, completion_in, error_in, error_to_json, sent

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

    def model(self, name: str, provider: str, opened: Callable[[], Model]) -> Model:
        """The model that a seat gets; `opened` makes the real one, and may raise for want of a key."""
        ...

    def start(self) -> None:
        """The run can be played, and is about to."""
        ...

    def close(self) -> None:
        """The run's session is over."""
        ...


class Recorder:
    """Writes every reply of a run to a new file, each at once: what a killed process leaves is a usable beginning."""

    live = True

    def __init__(self, path: Path) -> None:
        """`UsageError` where the file cannot be a new one."""
        self.played: list[str] = []
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path}: is there already; replies are recorded into a new file")
        if not path.parent.is_dir():
            raise UsageError(f"{path}: there is no directory {path.parent}")
        self._path = path
        self._handle = -1

    def model(self, name: str, provider: str, opened: Callable[[], Model]) -> Model:
        return _Recorded(opened(), self)

    def start(self) -> None:
        """Create the file; `UsageError` where that cannot be."""
        try:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be written: {error.strerror}") from None
        self.write({"format": CASSETTE_FORMAT})

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line, in one piece."""
        row = json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = memoryview(f"{row}\n".encode())
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError as error:
            raise AgentsimError(f"{self._path}: cannot write the replies: {error.strerror}") from None

    def close(self) -> None:
        """The file is whole; may be called again."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


class _Recorded:
    """A model whose replies are written down."""

    def __init__(self, model: Model, recorder: Recorder) -> None:
        self._model, self._recorder = model, recorder

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def provider(self) -> str:
        return self._model.provider

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """The model's own answer or error, once it is in the file."""
        line = {"model": self.name, "call": call.tag, "sent": sent(call, sampling)}
        try:
            completion = await self._model.complete(call, sampling)
        except ModelError as error:
            self._recorder.write({**line, "error": error_to_json(error)})
            raise
        self._recorder.write({**line, "reply": asdict(completion)})
        return completion

    async def aclose(self) -> None:
        await self._model.aclose()


class Playback:
    """Plays the replies of cassettes; nothing is called, and no key is asked for."""

    live = False

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the files; `UsageError` says what in which line is no recorded reply."""
        self.cassette = Cassette.read(paths)
        self.played = [path.name for path in paths]

    def model(self, name: str, provider: str, opened: Callable[[], Model]) -> Model:
        return _Replayed(name, provider, self.cassette)

    def start(self) -> None:
        """Nothing is to be made ready."""

    def close(self) -> None:
        """Nothing is open."""


class _Replayed:
    """A model that has said everything already."""

    def __init__(self, name: str, provider: str, cassette: Cassette) -> None:
        self._name, self._provider, self._cassette = name, provider, cassette

    @property
    def name(self) -> str:
        return self._name

    @property
    def provider(self) -> str:
        return self._provider

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """The recorded answer, or the recorded error raised again; `ProviderStopped` where nothing was recorded."""
        await asyncio.sleep(0)  # as a real call does, it lets others have their turn
        if call.begin is not None:
            call.begin()
        line = self._cassette.line(self._name, call, sampling)
        if "error" in line:
            raise error_in(line["error"])
        return completion_in(line["reply"])

    async def aclose(self) -> None:
        """Nothing is open."""
