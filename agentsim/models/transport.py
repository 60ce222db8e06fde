"""Transport: requests to one address as HTTP, over connections that are kept open.

Which headers are sent is `headers`; what an answer or an error means is `response_parsing` and `faults`. Deadlines and
retries do not belong here either.
"""

from __future__ import annotations

import asyncio
import base64
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic_core import to_json

from agentsim.errors import ScenarioError
from agentsim.models.address import http_parts, is_own_machine
from agentsim.models.connection_errors import system_words
from agentsim.models.descriptors import places
from agentsim.models.intake import Intake

if TYPE_CHECKING:
    import ssl

    import aiohttp
    from yarl import URL

__all__ = ["Answer", "NoAnswer", "Transport"]

_LONGEST_LINE = 64 * 1024  # bytes of a header: some gateways send policies of more than aiohttp's 8 KiB


class Answer(NamedTuple):
    """A whole HTTP response, of an error's body only the beginning; the names of `headers` match in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """No connection, or one that ended before the answer did; the cause says why."""


class Transport:
    """The connections to one base URL, as many as there are requests at a time; belongs to one event loop.

    Nothing is taken from the environment but the proxy: no netrc, no cookies, no redirects. A request is never sent
    twice: where a kept connection turns out to be closed by the server only after it was sent, that is `NoAnswer`.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
        import aiohttp  # noqa: F401 - 0.15 s, which are better spent here than in the first request

        self._base_url = base_url
        self._proxy, credentials = _proxy_for(base_url)
        secure = base_url.startswith("https://")
        # Through a tunnel they go to the proxy alone; else the proxy takes them off the request.
        self._to_proxy = credentials if secure else {}
        self._headers = {**headers, **({} if secure else credentials)}
        self._tls = _tls() if secure or (self._proxy or "").startswith("https://") else None
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}

    async def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """One request and its whole answer, whatever its status.

        Raises `NoAnswer`, and `Unacceptable` for one that is not taken in; a request that is cancelled takes its
        connection with it.
        """
        import aiohttp

        if self._session is None:
            self._session = _session(self._tls)
        # Headers go with each request: those of a session aiohttp shows to the proxy of a tunnel too, key and all.
        ways: dict[str, Any] = {"proxy": self._proxy, "proxy_headers": self._to_proxy} if self._proxy else {}
        # Of what a scenario puts in, nothing is without a word in JSON: it was looked at then.
        data = to_json(body)
        try:
            async with self._session.post(
                self._url(path), data=data, headers=self._headers, allow_redirects=False, **ways
            ) as response:
                intake = Intake(response.status, response.headers)
                chunks = []
                while chunk := await response.content.readany():
                    chunks.append(intake.taken(chunk))
                    if intake.full:
                        response.close()  # the rest would only be read to be thrown away
                        break
                return Answer(response.status, response.headers, b"".join(chunks))
        except (aiohttp.ClientError, OSError, ValueError) as error:  # the last for an address that looked like one
            raise NoAnswer from error

    def _url(self, path: str) -> URL:
        """The address as aiohttp wants it, made once; `ValueError` for one that only looked like an address."""
        url = self._urls.get(path)
        if url is None:
            from yarl import URL

            url = self._urls[path] = URL(f"{self._base_url}{path}", encoded=True)
        return url

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        session, self._session = self._session, None
        if session is not None:
            from agentsim.models.outgoing import tasks_as_ever

            tasks_as_ever(asyncio.get_running_loop())
            await session.close()


def _session(tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    import aiohttp

    from agentsim.models.connector import Connector
    from agentsim.models.outgoing import Outgoing, without_tasks_for_what_is_over

    without_tasks_for_what_is_over(asyncio.get_running_loop())
    return aiohttp.ClientSession(
        request_class=Outgoing,
        # How many calls there may be at once is the throttle's business.
        connector=Connector(
            limit=0,
            force_close=places().tight,
            ssl=tls if tls is not None else True,
            resolver=aiohttp.ThreadedResolver(),
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),  # the deadline is the caller's, and holds for everything
        auto_decompress=False,
        max_line_size=_LONGEST_LINE,
        max_field_size=_LONGEST_LINE,
    )


def _tls() -> ssl.SSLContext:
    """The trust store of the system, as the SDK finds it; `ScenarioError` where it cannot be read."""
    import httpx2  # the SDK's HTTP library

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise ScenarioError(
            f"the certificates to trust cannot be read ({system_words(error)})",
            valid="SSL_CERT_FILE and SSL_CERT_DIR unset, or where certificates are",
        ) from None


def _proxy_for(base_url: str) -> tuple[str | None, dict[str, str]]:
    """The proxy that the environment (or the system) names for this address, and its header; none for our own machine.

    Raises `ScenarioError` for one that speaks no HTTP, without repeating its address: that may hold a password.
    """
    parts = urlsplit(base_url)
    if is_own_machine(base_url) or urllib.request.proxy_bypass(parts.netloc):
        return None, {}
    named = urllib.request.getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    if not proxy:
        return None, {}
    at = http_parts(proxy if "://" in proxy else f"http://{proxy}")
    if at is None:
        raise ScenarioError(
            f"the proxy of the environment for {parts.scheme}:// addresses is not an HTTP proxy",
            valid=f"http://host:port; or NO_PROXY={parts.hostname} where no proxy is needed",
        )
    address = f"{at.scheme}://{at.netloc.rpartition('@')[2]}"
    if at.username is None:
        return address, {}
    words = f"{unquote(at.username)}:{unquote(at.password or '')}".encode()
    return address, {"Proxy-Authorization": f"Basic {base64.b64encode(words).decode()}"}
