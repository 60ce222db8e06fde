"""Endpoint: one address with one key: its connections and its rate limiter.

What is sent and what comes back do not belong here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agentsim.models.headers import headers_for
from agentsim.models.profiles import Profile
from agentsim.models.rate_limiter import RateLimiter, RateLimits, shared_limiter
from agentsim.models.transport import Answer, Transport

__all__ = ["Endpoint", "Endpoints"]


class Endpoint:
    """Shared by all models behind one address and key; belongs to one event loop.

    Without a `limiter` of its own it shares the event loop's for this host and key, under these `limits`.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        limits: RateLimits = RateLimits(),  # noqa: B008 - it is frozen
        limiter: RateLimiter | None = None,
    ) -> None:
        self.base_url, self.key, self.limits = base_url, key, limits
        self._limiter = limiter
        self._transport: Transport | None = None

    @property
    def limiter(self) -> RateLimiter:
        """The rate limiter of this host and key; made on first use, for the event loop that runs then."""
        if self._limiter is None:
            self._limiter = shared_limiter(urlsplit(self.base_url).netloc, self.key, self.limits)
        return self._limiter

    def note(self) -> str | None:
        """What holds calls back at this address, in words for a person; None where nothing does."""
        return None if self._limiter is None else self._limiter.note()

    def open(self) -> None:
        """Make ready to send, unless it is so already; the first time costs imports."""
        if self._transport is None:
            self._transport = Transport(self.base_url, headers_for(self.base_url, self.key))

    async def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """One request and its whole answer, whatever its status: see `Transport.post`."""
        self.open()
        assert self._transport is not None
        return await self._transport.post(path, body)

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()


class Endpoints:
    """The endpoints of one run, one for each address and key; each takes at most `concurrency` calls at once.

    `patience_s` is that of the player who has the least.
    """

    def __init__(self, concurrency: int | None = None, patience_s: float = math.inf) -> None:
        self._concurrency, self._patience_s = concurrency, patience_s
        self._open: dict[tuple[str, str | None], Endpoint] = {}
        self._names: dict[Endpoint, str] = {}

    def __len__(self) -> int:
        return len(self._open)

    def at(self, profile: Profile, key: str | None) -> Endpoint:
        """The endpoint of a profile; of two limits for one address the stricter holds."""
        endpoint = self._open.get((profile.base_url, key))
        if endpoint is None:
            endpoint = self._open[profile.base_url, key] = Endpoint(profile.base_url, key)
            self._names[endpoint] = profile.provider
        asked = (profile.spacing_s, profile.requests_per_minute, profile.tokens_per_minute)
        endpoint.limits = endpoint.limits.joined(RateLimits(self._concurrency, *asked, self._patience_s))
        return endpoint

    def notes(self) -> list[str]:
        """What holds calls back, for each provider where something does: `8 of 16 slots at openrouter`."""
        said = ((endpoint.note(), name) for endpoint, name in self._names.items())
        return [f"{note} at {name}" for note, name in said if note]

    async def aclose(self) -> None:
        """Close them all."""
        for endpoint in self._open.values():
            await endpoint.aclose()
