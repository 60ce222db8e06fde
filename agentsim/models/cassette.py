"""Cassette: a file of model replies, by the calls that they answered. Recording and playing it is `tape`.

Lines of JSON, the format first, then one for each call: the model, what the call was for (its tag), digests of what
was sent, and the completion or error that came back. Prompts, addresses, headers and keys are not in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentsim.errors import ProviderStopped, UsageError
from agentsim.models.base import Call, Sampling
from agentsim.models.recorded import Line, line_in
from agentsim.models.strict import finite

__all__ = ["CASSETTE_FORMAT", "Cassette", "sent"]

CASSETTE_FORMAT = "agentsim-cassette/1"
_MAX_SEED = 2**63  # no scenario's is above that; a run without one draws less


class Cassette:
    """Recorded replies; of two to one call the later counts, so that the files of a resumed run follow each other.

    `seed` is that of the game they were recorded in, where a file says it.
    """

    def __init__(self, where: str, lines: Mapping[tuple[str, str], Line], seed: int | None = None) -> None:
        self._where, self._lines, self.seed = where, lines, seed
        self._models = {tag: model for model, tag in lines}
        self._unasked = dict.fromkeys(lines)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Cassette:
        """The replies in some files; a torn last line is left out.

        Raises `UsageError` for any other line that is no recorded reply.
        """
        lines: dict[tuple[str, str], Line] = {}
        seed: int | None = None
        for path in paths:
            its, found = _read(path)
            lines |= found
            seed = its if seed is None else seed
        return cls(", ".join(path.name for path in paths), lines, seed)

    def line(self, model: str, call: Call, sampling: Sampling, settings: Mapping[str, Any]) -> Line:
        """The recorded line of a call; `ProviderStopped` where there is none, or of another prompt.

        Not an error of this call alone, after which a spare model or a fallback might play on: what was recorded is
        another game from here on.
        """
        key = (model, call.tag)
        line = self._lines.get(key)
        if line is not None:
            difference = _difference(line.sent.model_dump(by_alias=True), sent(call, sampling, settings))
            problem = f"is not what was recorded: {difference}" if difference else None
        elif call.tag in self._models:
            problem = f"was recorded from {self._models[call.tag][:200]}, not from {model}"
        else:
            problem = "has no recorded reply"
        if line is None or problem:
            raise ProviderStopped(f"{self._where}: {_words(call.tag)}, {problem}")
        self._unasked.pop(key, None)
        return line

    def unasked(self) -> str | None:
        """What to say of recorded replies that nobody asked for; None where there are none."""
        if not self._unasked:
            return None
        _, tag = next(iter(self._unasked))
        count = len(self._unasked)
        those = "1 recorded reply was" if count == 1 else f"{count:,} recorded replies were"
        return f"{self._where}: {those} not asked for{', the first' if count > 1 else ''}: {_words(tag)}"


def _words(tag: str) -> str:
    player, kind, nth, attempt = tag.rsplit("/", 3)
    return f"{kind} of {player}, number {nth}, attempt {attempt}"


def sent(call: Call, sampling: Sampling, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Digests by which a call is known again, part by part, so that it can be said which part has changed.

    `settings` are what the scenario says of how its provider is asked.
    """
    return {
        "messages": [_digest(message) for message in call.messages],
        "schema": _digest([call.schema_name, call.schema]),
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "extra": _digest(sampling.extra),
        "provider": {name: _digest(value) for name, value in settings.items()},
    }


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _difference(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> str | None:
    then, now = recorded["messages"], asked["messages"]
    for number, (before, after) in enumerate(zip(then, now, strict=False), 1):
        if before != after:
            return f"message {number} of {len(now)} has changed"
    if len(then) != len(now):
        return f"there are {len(now)} messages, and {len(then)} were recorded"
    words = {"schema": "the schema of the answer", "extra": "client_kwargs"}
    for key in ("schema", "temperature", "max_tokens", "extra"):
        if recorded[key] != asked[key]:
            return f"{words.get(key, key)} has changed"
    before, after = recorded["provider"], asked["provider"]
    if before is not None:  # it is not in the first recordings
        for key in (*after, *before):
            if before.get(key) != after.get(key):
                return f"{key} of the provider has changed"
    return None


def _read(path: Path) -> tuple[int | None, dict[tuple[str, str], Line]]:
    try:
        rows = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    seed: int | None = None
    found: dict[tuple[str, str], Line] = {}
    for number, row in enumerate(rows, start=1):
        if not row.endswith(b"\n"):
            break  # a write that did not finish
        try:
            value = json.loads(row, parse_constant=finite, parse_float=finite)
            if number == 1:
                seed = _head(value)
                continue
            line = line_in(value)
            if (line.model, line.call) in found:
                raise ValueError(f"a second reply of {line.model[:200]} to {line.call[:200]}")
            found[line.model, line.call] = line
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}: line {number}: is no recorded reply: {str(error)[:200]}") from None
    if not rows:
        raise UsageError(f"{path}: is empty, and no cassette")
    return seed, found


def _head(line: Any) -> int | None:
    """The seed in a first line, if it has one."""
    if not isinstance(line, Mapping) or "format" not in line:
        raise ValueError("missing 'format'")
    if line["format"] != CASSETTE_FORMAT:
        raise ValueError(f"format {str(line['format'])[:40]!r}, this version reads {CASSETTE_FORMAT}")
    seed = line.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _MAX_SEED):
        raise ValueError("`seed` is no seed")
    return seed
