"""Transport: requests to one address as HTTP, over connections that are kept open.

What an answer or an error means is `response_parsing` and `faults`; deadlines and retries do not belong here either.
This module is imported when the first request is near: aiohttp takes 0.15 s.
"""

from __future__ import annotations

import base64
import functools
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import aiohttp
from aiohttp.client_proto import ResponseHandler
from pydantic_core import to_json
from yarl import URL

from agentsim.errors import ScenarioError
from agentsim.models.address import http_parts, is_own_machine
from agentsim.models.connection_errors import NoAnswer, Unacceptable, system_words
from agentsim.models.descriptors import places
from agentsim.models.outgoing import Outgoing

if TYPE_CHECKING:
    import ssl

    from aiohttp.client_reqrep import ConnectionKey

__all__ = ["Answer", "Connector", "Intake", "Transport"]

_MOST = 8 * 1024 * 1024  # bytes of an answer; the longest completion of today's models is under 1 MB
_MOST_OF_AN_ERROR = 64 * 1024  # what stands behind that is not looked at
_LONGEST_LINE = 64 * 1024  # bytes of a header: some gateways send policies of more than aiohttp's 8 KiB


class Answer(NamedTuple):
    """A whole HTTP response, of an error's body only the beginning; the names of `headers` match in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """The connections to one base URL, as many as there are requests at a time; belongs to one event loop.

    Nothing is taken from the environment but the proxy: no netrc, no cookies, no redirects. A request is never sent
    twice: where a kept connection turns out to be closed by the server only after it was sent, that is `NoAnswer`.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
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
        if self._session is None:
            self._session = _session(self._tls)
        # Headers go with each request: those of a session aiohttp shows to the proxy of a tunnel too, key and all.
        ways: dict[str, Any] = {"proxy": self._proxy, "proxy_headers": self._to_proxy} if self._proxy else {}
        data = to_json(body)  # a scenario's part of it was validated as JSON
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
            url = self._urls[path] = URL(f"{self._base_url}{path}", encoded=True)
        return url

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


class Connector(aiohttp.TCPConnector):
    """Kept connections, of which one that has said anything unasked is never used again.

    aiohttp's own keeps such a connection, and what it said would be the answer to the next request.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        opened: type[ResponseHandler] = _Connection
        self._factory = functools.partial(opened, loop=self._loop)

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        assert isinstance(protocol, _Connection)
        protocol.idle = True


class _Connection(ResponseHandler):
    """One connection; `idle` between an answer and the next request."""

    idle = False

    def set_response_params(self, **params: Any) -> None:
        self.idle = False
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        if self.idle and data:  # nothing at all is said where reading goes on
            self.abort()  # not a word of it is read
            return
        super().data_received(data)
        if self.idle and self.should_close:  # an answer's end and more behind it
            self.abort()


class Intake:
    """Takes the chunks of one answer in their order; raises `Unacceptable` instead of holding more than 8 MiB.

    Errors are told by their status, so that of one only the beginning is kept, and nothing if it is compressed.
    """

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        encodings = headers.get("content-encoding")
        plain = encodings is None or {each.strip() for each in encodings.lower().split(",")} <= {"", "identity"}
        self._good = 200 <= status < 300
        if self._good and not plain:
            raise Unacceptable("compressed, though that was not asked for")
        if self._good and _declared(headers) > _MOST:
            raise _too_long()
        self._room = _MOST if self._good else _MOST_OF_AN_ERROR if plain else 0

    def taken(self, chunk: bytes) -> bytes:
        """What is kept of a chunk."""
        if self._good and len(chunk) > self._room:
            raise _too_long()
        kept = chunk[: self._room]
        self._room -= len(kept)
        return kept

    @property
    def full(self) -> bool:
        """Whether nothing that follows would be kept."""
        return not self._room and not self._good


def _declared(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


def _too_long() -> Unacceptable:
    return Unacceptable(f"longer than {_MOST // 2**20} MiB")


def _session(tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        request_class=Outgoing,
        # How many calls there may be at once is the rate limiter's business.
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
