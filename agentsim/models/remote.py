"""RemoteModel: what calls to every provider have in common: their deadline and their structured mode.

What is sent and how an answer is read belong to the client of each protocol; trying again belongs to `attempts`.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from agentsim.errors import LocalShortage, ProviderRejected
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.connection_errors import Unacceptable
from agentsim.models.deadline import Deadline
from agentsim.models.endpoint import Endpoint
from agentsim.models.extra import extra_problem
from agentsim.models.faults import UNSUPPORTED_FORMAT, Faults
from agentsim.models.keys import REDACTED, redact_reply
from agentsim.models.profiles import Profile, Structured
from agentsim.models.rate_limiter import RateLimiter, Slot

__all__ = ["RemoteModel"]

_SHORTAGE_S = (0.05, 0.1, 0.2, 0.4, *[1.0] * 60)  # waits for a connection that this machine has not
_DOWNWARDS: tuple[Structured, ...] = ("json_schema", "json_object", "prompt")


class RemoteModel(ABC):
    """A `Model`; `name` is the scenario's, whose first segment is the provider and the rest the model's id."""

    def __init__(self, name: str, profile: Profile, endpoint: Endpoint) -> None:
        self._name, self._profile, self._endpoint = name, profile, endpoint
        self._model = name.partition("/")[2]
        self._faults = Faults(profile, self._model, (endpoint.key,) if endpoint.key else ())
        self._probe = _ModeProbe(endpoint)

    @property
    def name(self) -> str:
        return self._name

    @property
    def provider(self) -> str:
        return self._profile.provider

    @property
    def limiter(self) -> RateLimiter:
        probing = self._profile.structured == "auto" and self._probe.chosen is None
        return self._probe if probing else self._endpoint.limiter

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """One attempt; the deadline runs from dispatch and holds for the whole answer, however it trickles.

        With `auto`, a refused structured mode is no attempt: the model has read nothing, and the next mode is tried.
        """
        if self._profile.structured != "auto" or call.schema is None:
            return await self._attempt(self._profile, call, sampling)

        async def attempt(mode: Structured) -> Completion:
            return await self._attempt(replace(self._profile, structured=mode), call, sampling)

        return await self._probe.completion(attempt)

    async def _attempt(self, profile: Profile, call: Call, sampling: Sampling) -> Completion:
        if problem := extra_problem(sampling.extra):
            raise ProviderRejected(f"{self._name}: {problem}", code="bad_request")
        request = self._prepared(profile, call, sampling)
        try:
            completion = await self._exchanged(request, sampling.timeout_s)
        except TimeoutError:
            raise self._faults.timeout(sampling.timeout_s) from None
        except Unacceptable as refused:
            raise self._faults.bad_envelope(str(refused)) from None
        return self._discreet(completion, call)

    def _discreet(self, completion: Completion, call: Call) -> Completion:
        """The completion without its text where a reader would put a key together that stands in it in pieces."""
        said = call.read(completion.text) if call.read is not None and self._faults.secrets else ""
        if redact_reply(said, self._faults.secrets) == said:
            return completion
        return replace(completion, text=REDACTED, unusable="The reply spells out a key, and is not kept.")

    async def _exchanged(self, request: Any, timeout_s: float) -> Completion:
        """The answer to one request; where this machine has no connection for it, that is waited for.

        Nothing has been sent then, and the provider has no part in it. Raises `LocalShortage` after a minute.
        """
        for wait_s in _SHORTAGE_S:
            try:
                async with Deadline(timeout_s):
                    return await self._exchange(request)
            except LocalShortage:
                await asyncio.sleep(wait_s)
        async with Deadline(timeout_s):
            return await self._exchange(request)

    @abstractmethod
    def _prepared(self, profile: Profile, call: Call, sampling: Sampling) -> Any:
        """The request, ready to be sent, in the profile's structured mode; what it costs is not the provider's time.

        Raises `ProviderRejected` for what this protocol cannot send.
        """

    @abstractmethod
    async def _exchange(self, request: Any) -> Completion:
        """Send it, once, and read the answer; raises `ModelError`, and `Unacceptable` for one that is not taken in.

        `LocalShortage` says that it was not sent.
        """

    async def aclose(self) -> None:
        """Close the connections, which other models of the same address and key share."""
        await self._endpoint.aclose()


class _ModeProbe(RateLimiter):
    """Steps down from `json_schema` to the first structured mode that is not refused for itself.

    Until that is known it admits one call at a time to the host's limiter, so that each mode is refused once and the
    order of replies chooses nothing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__()
        self.chosen: Structured | None = None
        self._left = list(_DOWNWARDS)
        self._endpoint = endpoint
        self._turn = asyncio.Lock()

    async def completion(self, attempt: Callable[[Structured], Awaitable[Completion]]) -> Completion:
        """What the attempt brings in the chosen mode; it says which mode that is."""
        while self.chosen is None:
            try:
                completion = await attempt(self._left[0])
            except ProviderRejected as error:
                if error.code != UNSUPPORTED_FORMAT or len(self._left) == 1:
                    raise
                del self._left[0]
                await self._endpoint.limiter.again()
            else:
                self.chosen = self._left[0]
                return replace(completion, structured=self.chosen)
        return replace(await attempt(self.chosen), structured=self.chosen)

    async def acquire(self, tokens: int = 0) -> Slot:
        host = self._endpoint.limiter
        await self._turn.acquire()
        if self.chosen is not None:  # found while this call waited
            self._turn.release()
            return await host.acquire(tokens)
        try:
            slot = await host.acquire(tokens)
        except BaseException:
            self._turn.release()
            raise
        slot.limiter = self
        return slot

    def release(self, slot: Slot, error: BaseException | None = None) -> None:
        self._endpoint.limiter.release(slot, error)
        self._turn.release()

    def count(self, slot: Slot, tokens: int) -> None:
        self._endpoint.limiter.count(slot, tokens)
