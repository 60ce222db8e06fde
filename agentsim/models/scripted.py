"""Scripted: canned replies from a file, for tests. It is asked like a model and knows nothing but the call's tag.

The file is JSON: `{"A/vote": [...], "vote": [...], "*": [...]}`. The most specific key counts; the nth decision of
that player and kind gets the nth reply. A reply is a text; or a list of replies, one for each attempt, the last
repeating; or an object: `{"text"}` along with `"reasoning"`, `"finish_reason"` or `"usage"`, `{"error": "timeout"}`, or
any other value, which is sent as JSON. What a reply means to a game does not belong here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentsim.engine.codec import parse_json
from agentsim.engine.prompt import cleaned
from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited, ScenarioError, TransportFailed
from agentsim.models.base import Call, Completion, Sampling, Usage

__all__ = ["Scripted"]

_ERRORS = ("timeout", "rate_limited", "refused", "rejected")
_ABOUT_THE_TEXT = {"reasoning", "finish_reason", "usage"}
_USAGE = {field.name for field in fields(Usage)}


class Scripted:
    """A `Model` over a file; the same tag gives the same reply, so that resuming skips nothing."""

    def __init__(self, name: str, path: Path) -> None:
        self._name, self._path = name, path
        self._replies = _read(path)

    @property
    def name(self) -> str:
        return self._name

    @property
    def provider(self) -> str:
        return "script"

    @property
    def limiter(self) -> None:
        return None

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """The reply for the call's tag; `ProviderRejected` where the script has none."""
        player, kind, nth, attempt = call.tag.rsplit("/", 3)
        for key in (f"{player}/{kind}", kind, "*"):
            if key in self._replies:
                replies = self._replies[key]
                if int(nth) > len(replies):
                    raise self._missing(f"{key!r} has {len(replies)} replies, and number {nth} is asked for")
                return _completion(_of_attempt(replies[int(nth) - 1], int(attempt)))
        raise self._missing(f"there is no reply for {player}/{kind}, number {nth}")

    async def aclose(self) -> None:
        """Nothing is open."""

    def _missing(self, problem: str) -> ProviderRejected:
        return ProviderRejected(f"{self._path.name}: {problem}", code="script_ended")


def _read(path: Path) -> Mapping[str, list[Any]]:
    try:
        replies = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: is not a JSON file of replies: {str(error)[:200]}") from None
    if not isinstance(replies, dict) or not all(isinstance(value, list) for value in replies.values()):
        raise ScenarioError(f"{path}: must be a JSON object whose values are lists of replies")
    for key, listed in replies.items():
        for number, reply in enumerate(listed, 1):
            for attempt in reply if isinstance(reply, list) else [reply]:
                if problem := _problem(attempt):
                    raise ScenarioError(f"{path}: {key!r}, reply {number}: {problem}")
    return replies


def _problem(reply: Any) -> str | None:
    if not isinstance(reply, dict):
        return None
    if set(reply) == {"error"} and reply["error"] not in _ERRORS:
        return f"there is no error {str(reply['error'])[:40]!r} (valid: {', '.join(_ERRORS)})"
    if _is_answer(reply):
        for key in ("text", "reasoning", "finish_reason"):
            if not isinstance(reply.get(key, ""), str):
                return f"`{key}` must be a text"
        usage = reply.get("usage", {})
        if not isinstance(usage, dict) or not set(usage) <= _USAGE:
            return f"`usage` must be an object (valid: {', '.join(sorted(_USAGE))})"
        if not all(type(value) in {int, float} for value in usage.values()):
            return "`usage` must hold numbers"
    return None


def _is_answer(reply: dict[str, Any]) -> bool:
    """`{"text": ...}` alone is a game's own decision; along with what only a provider says, it is an answer."""
    return "text" in reply and bool(set(reply) & _ABOUT_THE_TEXT) and set(reply) <= {"text", *_ABOUT_THE_TEXT}


def _of_attempt(reply: Any, attempt: int) -> Any:
    return reply[min(attempt, len(reply)) - 1] if isinstance(reply, list) and reply else reply


def _completion(reply: Any) -> Completion:
    if isinstance(reply, str):
        return Completion(cleaned(reply), finish_reason="stop")
    if isinstance(reply, dict) and set(reply) == {"error"}:
        raise _error(reply["error"])
    if isinstance(reply, dict) and _is_answer(reply):
        return Completion(
            cleaned(reply["text"]),
            reasoning=cleaned(reply["reasoning"]) if "reasoning" in reply else None,
            finish_reason=reply.get("finish_reason", "stop"),
            usage=Usage(**reply.get("usage", {})),
        )
    return Completion(cleaned(json.dumps(reply, ensure_ascii=False)), finish_reason="stop")


def _error(name: str) -> ModelError:
    match name:
        case "timeout":
            return TransportFailed("the script says: no answer in time", code="timeout")
        case "rate_limited":
            return RateLimited("the script says: too many requests", retry_after=0.0)
        case "refused":
            return ModelRefused("the script says: refused", code="refusal")
        case _:
            return ProviderRejected("the script says: rejected", code="bad_request")
