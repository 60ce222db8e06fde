"""Endpoint: one address with one key: the SDK's client, its connections, its spacing, its slots.

What is sent and what comes back do not belong here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentsim.models.profiles import Profile
from agentsim.models.spacing import Spacer

if TYPE_CHECKING:
    import httpx2
    import openai

__all__ = ["Endpoint", "Endpoints"]

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class Endpoint:
    """Shared by all models behind one address and key; belongs to one event loop.

    `slots` is how many requests the server works on at once, where more would only wait there.
    """

    def __init__(
        self, base_url: str, key: str | None, *, slots: int | None = None, spacer: Spacer | None = None
    ) -> None:
        self.base_url, self.key = base_url, key
        self.spacer = spacer or Spacer()
        self._slots = asyncio.Semaphore(slots) if slots else None
        self._client: openai.AsyncOpenAI | None = None

    @asynccontextmanager
    async def admission(self) -> AsyncIterator[None]:
        """A slot for the length of the block, which starts when the spacing allows."""
        async with self._slots or nullcontext():
            await self.spacer.turn()
            yield

    def open(self) -> None:
        """Make the SDK's client, unless there is one; the first one costs an import of half a second."""
        if self._client is None:
            self._client = _client(self.base_url, self.key)

    async def post(self, path: str, body: dict[str, Any]) -> httpx2.Response:
        """One request and its whole answer, as the SDK sends it: without retries, deadline or redirects.

        Raises what the SDK raises for a connection that fails and for any status that is no success.
        """
        import httpx2  # openai's own transport, and loaded by it
        import openai

        self.open()
        assert self._client is not None
        # The SDK refuses to send nothing unless it is told so with each request.
        headers: dict[str, Any] = {} if self.key else {"Authorization": openai.Omit()}
        # `create()` would walk every message against its types and build an object that promises types it does
        # not check; the raw response is what can be judged.
        return await self._client.post(path, body=body, options={"headers": headers}, cast_to=httpx2.Response)

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


class Endpoints:
    """The endpoints of one run, one for each address and key."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str | None], Endpoint] = {}

    def at(self, profile: Profile, key: str | None, *, slots: int | None = None) -> Endpoint:
        """The endpoint of a profile; of two spacings at one address the longer holds."""
        endpoint = self._open.get((profile.base_url, key))
        if endpoint is None:
            endpoint = self._open[profile.base_url, key] = Endpoint(profile.base_url, key, slots=slots)
        endpoint.spacer.spacing_s = max(endpoint.spacer.spacing_s, profile.spacing_s)
        return endpoint

    async def aclose(self) -> None:
        """Close them all."""
        for endpoint in self._open.values():
            await endpoint.aclose()


def _client(base_url: str, key: str | None) -> openai.AsyncOpenAI:
    import openai  # half a second, so only where a model is really called

    host = urlsplit(base_url).hostname or ""
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # the SDK takes OPENAI_API_KEY from the environment if it gets nothing
        max_retries=0,
        timeout=None,
        default_headers=_headers(host, key, openai.Omit()),
        http_client=openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            timeout=None,
            verify=not base_url.startswith(
                "http://"
            ),  # reading the trust store takes 40 ms; plain http has no use for it
            trust_env=host not in _LOOPBACK,  # a proxy of the environment cannot reach our own machine
        ),
    )


def _headers(host: str, key: str | None, omitted: Any) -> dict[str, Any]:
    """Headers that keep the environment's OpenAI account at OpenAI: the SDK sends it to any address."""
    headers: dict[str, Any] = {}
    if host != "api.openai.com" and not host.endswith(".api.openai.com"):
        for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
            if ":" in line:
                headers[line.partition(":")[0].strip()] = omitted
        headers |= {"OpenAI-Organization": omitted, "OpenAI-Project": omitted}
    if key:
        # Said outright, because a custom header of the environment would count more than `api_key`.
        headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        headers["Authorization"] = f"Bearer {key}"
    return headers
