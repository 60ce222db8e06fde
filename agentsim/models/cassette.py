"""Cassette: a file of model replies, by the calls that they answered. Recording and playing it is `tape`.

Lines of JSON, the format first, then one for each call: the model, what the call was for (its tag), digests of what
was sent, and the completion or error that came back. Prompts, addresses, headers and keys are not in it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentsim.errors import (
    ModelError,
    ModelRefused,
    ProviderRejected,
    ProviderStopped,
    RateLimited,
    TransportFailed,
    UsageError,
)
from agentsim.models.base import Call, Completion, Sampling, Usage

__all__ = ["CASSETTE_FORMAT", "Cassette", "completion_in", "error_in", "error_to_json", "sent"]

CASSETTE_FORMAT = "agentsim-cassette/1"
_ERRORS: Mapping[str, type[ModelError]] = {
    kind.__name__: kind for kind in (TransportFailed, RateLimited, ModelRefused, ProviderRejected)
}


class Cassette:
    """Recorded replies; of two to one call the later counts, so that the files of a resumed run follow each other."""

    def __init__(self, where: str, lines: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
        self._where, self._lines = where, lines
        self._models = {tag: model for model, tag in lines}

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Cassette:
        """The replies in some files; a torn last line is left out.

        Raises `UsageError` for any other line that is no recorded reply.
        """
        lines: dict[tuple[str, str], Mapping[str, Any]] = {}
        for path in paths:
            lines |= _read(path)
        return cls(", ".join(path.name for path in paths), lines)

    def line(self, model: str, call: Call, sampling: Sampling) -> Mapping[str, Any]:
        """The recorded line of a call; `ProviderStopped` where there is none, or of another prompt.

        Not an error of this call alone, after which a spare model or a fallback might play on: what was recorded is
        another game from here on.
        """
        player, kind, nth, attempt = call.tag.rsplit("/", 3)
        line = self._lines.get((model, call.tag))
        if line is not None:
            difference = _difference(line["sent"], sent(call, sampling))
            problem = f"is not what was recorded: {difference}" if difference else None
        elif call.tag in self._models:
            problem = f"was recorded from {self._models[call.tag][:200]}, not from {model}"
        else:
            problem = "has no recorded reply"
        if line is None or problem:
            what = f"{kind} of {player}, number {nth}, attempt {attempt}"
            raise ProviderStopped(f"{self._where}: {what}, {problem}")
        return line


def sent(call: Call, sampling: Sampling) -> dict[str, Any]:
    """Digests by which a call is known again, part by part, so that it can be said which part has changed."""
    return {
        "messages": [_digest(message) for message in call.messages],
        "schema": _digest([call.schema_name, call.schema]),
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "extra": _digest(sampling.extra),
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
    return None


def error_to_json(error: ModelError) -> dict[str, Any]:
    """An error as it is recorded."""
    out = {"kind": type(error).__name__, "message": str(error), "code": error.code, "status": error.status}
    return {**out, "retry_after": error.retry_after} if isinstance(error, RateLimited) else out


def error_in(line: Mapping[str, Any]) -> ModelError:
    """The error that was recorded so, to be raised again."""
    kind, message, status = _ERRORS[line["kind"]], str(line["message"]), line["status"]
    if kind is RateLimited:
        return RateLimited(message, retry_after=line["retry_after"], status=status)
    return kind(message, code=str(line["code"]), status=status)


def completion_in(reply: Mapping[str, Any]) -> Completion:
    """The completion that was recorded so."""
    return Completion(**{**reply, "usage": Usage(**reply["usage"])})


def _read(path: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    try:
        rows = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for number, row in enumerate(rows, start=1):
        if not row.endswith(b"\n"):
            break  # a write that did not finish
        try:
            line = json.loads(row, parse_constant=_finite, parse_float=_finite)
            if number == 1:
                _check_format(line)
            else:
                found[_checked(line)] = line
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            what = f"missing {error}" if isinstance(error, KeyError) else str(error)[:200]
            raise UsageError(f"{path}: line {number}: is no recorded reply: {what}") from None
    if not rows:
        raise UsageError(f"{path}: is empty, and no cassette")
    return found


def _check_format(line: Mapping[str, Any]) -> None:
    if line["format"] != CASSETTE_FORMAT:
        raise ValueError(f"format {str(line['format'])[:40]!r}, this version reads {CASSETTE_FORMAT}")


def _checked(line: Mapping[str, Any]) -> tuple[str, str]:
    """The model and the tag of a line in which everything is there that playing it takes."""
    _difference(line["sent"], line["sent"])
    error_in(line["error"]) if "error" in line else completion_in(line["reply"])
    if len(str(line["call"]).rsplit("/", 3)) != 4:
        raise ValueError("`call` is not player/kind/nth/attempt")
    return str(line["model"]), str(line["call"])


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value
