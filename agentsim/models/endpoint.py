"""Endpoint: one address with one key: its headers, its connections and its rate limiter.

What is sent and what comes back do not belong here.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from agentsim import __version__
from agentsim.errors import ScenarioError
from agentsim.models.profiles import Profile
from agentsim.models.rate_limiter import RateLimiter, RateLimits

if TYPE_CHECKING:
    from agentsim.models.transport import Answer, Transport

__all__ = ["JSON_HEADERS", "Endpoint", "Endpoints", "headers_for"]

JSON_HEADERS = {"Accept": "application/json", "Content-Type": "application/json", "Accept-Encoding": "identity"}
"""Sent with every request. Compressed answers are refused: 200 KB of gzip can hold 200 MB."""

_VARIABLES = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")


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
            from agentsim.models.transport import Transport

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


def headers_for(base_url: str, key: str | None) -> Mapping[str, str]:
    """The headers of every request to this address.

    `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS` are meant for OpenAI: there they are what the SDK
    makes of them, and nowhere else is anything of it sent. A key is said outright, whatever a custom header says.
    Raises `ScenarioError` for one of them that no header can hold; it names the variable and never its value.
    """
    headers = _of_the_sdk(base_url, key) if key and _is_openai(base_url) else {"User-Agent": f"agentsim/{__version__}"}
    ours = JSON_HEADERS | ({"Authorization": f"Bearer {key}"} if key else {})
    named = {name.lower() for name in ours}
    return {name: value for name, value in headers.items() if name.lower() not in named} | ours


def _is_openai(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def _of_the_sdk(base_url: str, key: str) -> dict[str, str]:
    import openai  # half a second, so only where it has something to say

    unused = openai.DefaultHttpxClient(verify=False, trust_env=False)  # the SDK's own would ask for the proxy too
    with openai.OpenAI(base_url=base_url, api_key=key, http_client=unused) as client:
        given = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
    for name, value in given.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            variable = _VARIABLES.get(name.lower(), "OPENAI_CUSTOM_HEADERS")
            raise ScenarioError(f"the environment variable {variable} has characters that no header has (a line break)")
    return given


_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str | None], RateLimiter]] = WeakKeyDictionary()


def shared_limiter(host: str, key: str | None, limits: RateLimits) -> RateLimiter:
    """The rate limiter of a host (`host:port`) and key in the running event loop, with these limits too."""
    limiters = _SHARED.setdefault(asyncio.get_running_loop(), {})
    limiter = limiters.get((host, key))
    if limiter is None:
        limiter = limiters[host, key] = RateLimiter(limits)
    else:
        limiter.agree(limits)
    return limiter
