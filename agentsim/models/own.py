"""Models without a provider: an object that a Python program passes in, or a script of replies from a file.

A script is JSON: `{"A/vote": [...], "vote": [...], "*": [...]}`. The most specific key counts; the nth decision of that
player and kind gets the nth reply. A reply is a text; or a list of replies, one for each attempt, the last repeating;
or an object: `{"text"}` along with `"reasoning"`, `"finish_reason"` or `"usage"`, `{"error": "timeout"}`, or any other
value, which is sent as JSON. The game decides the meaning of a reply.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Protocol

from agentsim.engine.codec import parse_json
from agentsim.engine.wording import cleaned, counted
from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, ScenarioError, TransportFailed
from agentsim.models.base import Call, Completion, Sampling, Usage

_ERRORS: Mapping[str, Callable[[], ModelError]] = {
    "timeout": lambda: TransportFailed("the script says: no answer in time", code="timeout"),
    "rate_limited": lambda: RateLimited("the script says: too many requests", retry_after=0.0),
    "refused": lambda: RequestRefused("the script says: refused", code="refusal"),
    "rejected": lambda: ProviderRejected("the script says: rejected", code="bad_key"),
}
_ABOUT_THE_TEXT = {"reasoning", "finish_reason", "usage"}
_USAGE = {field.name for field in fields(Usage)}


class OwnModel(Protocol):
    """The interface of a model that a program passes in."""

    async def complete(self, call: Call, sampling: Sampling, /) -> Completion | str:
        """Return the reply to `call.messages`; may be canceled.

        Raise one of the four kinds of `agentsim.errors.ModelError` if the call failed: agentsim waits, retries and
        counts it. Any other exception is a mistake in the model and ends the run.
        """
        ...


class OwnModelAdapter:
    """A `Model` around an `OwnModel`, under the name that the scenario gives it."""

    def __init__(self, name: str, model: OwnModel) -> None:
        self.name = self.provider = name
        self.limiter = None
        self._model = model

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Make one attempt within `sampling.timeout_s`."""
        try:
            async with asyncio.timeout(sampling.timeout_s) as deadline:
                reply = await self._model.complete(call, sampling)
        except TimeoutError:
            if not deadline.expired():
                raise
            message = f"{self.name}: no complete answer within {sampling.timeout_s:g} s"
            raise TransportFailed(message, code="timeout") from None
        if isinstance(reply, str):
            return Completion(cleaned(reply))
        reasoning = None if reply.reasoning is None else cleaned(reply.reasoning)
        return replace(reply, text=cleaned(reply.text), reasoning=reasoning)

    async def aclose(self) -> None:
        """Do nothing: the program owns the object."""


class Scripted:
    """A `Model` that reads replies from a file. The same tag gives the same reply, so a resumed run skips none."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.provider, self.limiter = name, "script", None
        self._path, self._replies = path, _read(path)

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Return the reply for the call's tag. Raises `ProviderRejected` if the script has none."""
        player, kind, nth, attempt = call.tag.rsplit("/", 3)
        key = next((key for key in (f"{player}/{kind}", kind, "*") if key in self._replies), None)
        if key is None:
            raise self._missing(f"there is no reply for {player}/{kind}, number {nth}")
        replies = self._replies[key]
        if int(nth) > len(replies):
            raise self._missing(f"{key!r} has {counted(len(replies), 'reply')}, and number {nth} is asked for")
        reply = replies[int(nth) - 1]
        return _completion(reply[min(int(attempt), len(reply)) - 1] if isinstance(reply, list) and reply else reply)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

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
                if isinstance(attempt, dict) and (problem := _problem(attempt)):
                    raise ScenarioError(f"{path}: {key!r}, reply {number}: {problem}")
    return replies


def _problem(reply: dict[str, Any]) -> str | None:
    if set(reply) == {"error"} and reply["error"] not in list(_ERRORS):
        return f"there is no error {str(reply['error'])[:40]!r} (valid: {', '.join(_ERRORS)})"
    if not _is_answer(reply):
        return None
    for key in ("text", "reasoning", "finish_reason"):
        if not isinstance(reply.get(key, ""), str):
            return f"`{key}` must be a text"
    usage = reply.get("usage", {})
    if not isinstance(usage, dict) or not set(usage) <= _USAGE:
        return f"`usage` must be an object (valid: {', '.join(sorted(_USAGE))})"
    return None if all(type(value) in {int, float} for value in usage.values()) else "`usage` must hold numbers"


def _is_answer(reply: dict[str, Any]) -> bool:
    """Return whether an object is a provider's answer: `text` and at least one field that only a provider adds.

    `{"text": ...}` alone is a game's own decision.
    """
    return "text" in reply and bool(set(reply) & _ABOUT_THE_TEXT) and set(reply) <= {"text", *_ABOUT_THE_TEXT}


def _completion(reply: Any) -> Completion:
    if isinstance(reply, dict) and set(reply) == {"error"}:
        raise _ERRORS[reply["error"]]()
    if isinstance(reply, dict) and _is_answer(reply):
        return Completion(
            cleaned(reply["text"]),
            reasoning=cleaned(reply["reasoning"]) if "reasoning" in reply else None,
            finish_reason=reply.get("finish_reason", "stop"),
            usage=Usage(**reply.get("usage", {})),
        )
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return Completion(cleaned(text), finish_reason="stop")
