"""Transport: requests to one address as HTTP, over connections that are kept open.

What an answer or an error means is `chat_completions` and `faults`; deadlines and retries do not belong here either.
This module is imported when the first request is near: aiohttp takes 0.15 s.
"""

from __future__ import annotations

import base64
import errno
import functools
import os
import socket
import ssl
import sys
import types
import urllib.request
from collections.abc import Coroutine, Generator, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import aiohttp
from aiohttp.client_proto import ResponseHandler
from pydantic_core import to_json
from yarl import URL

from agentsim.errors import LocalShortage, ScenarioError
from agentsim.models.address import http_parts, is_own_machine
from agentsim.models.faults import NoAnswer, Unacceptable
from agentsim.models.rate_limiter import places, soft_limit

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey


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

    async def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """One request and its whole answer, whatever its status.

        Raises `NoAnswer`, `Unacceptable` for one that is not taken in, and `LocalShortage` where nothing was sent for
        want of a connection. A request that is cancelled takes its connection with it.
        """
        if self._session is None:
            self._session = _session(self._tls)
        # Headers go with each request: those of a session aiohttp shows to the proxy of a tunnel too, key and all.
        ways: dict[str, Any] = {"proxy": self._proxy, "proxy_headers": self._to_proxy} if self._proxy else {}
        try:
            url = URL(f"{self._base_url}{path}", encoded=True)
            async with self._session.post(
                url, data=to_json(body), headers=self._headers, allow_redirects=False, **ways
            ) as response:
                return Answer(response.status, response.headers, await _body(response))
        except (aiohttp.ClientError, OSError, ValueError) as error:  # the last for an address that only looked like one
            raise no_answer(error) from error

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


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """The body, of at most 8 MiB; errors are told by their status, so that of theirs the beginning is enough."""
    good = 200 <= response.status < 300
    encodings = response.headers.get("content-encoding", "").lower().split(",")
    plain = {each.strip() for each in encodings} <= {"", "identity"}
    if good and not plain:
        raise Unacceptable("compressed, though that was not asked for")
    room = _MOST + 1 if good else _MOST_OF_AN_ERROR if plain else 0
    body = bytearray()
    while len(body) < room and (chunk := await response.content.readany()):
        body += chunk
    if good and len(body) > _MOST:
        raise Unacceptable(f"longer than {_MOST // 2**20} MiB")
    if len(body) >= room:
        response.close()  # the rest would only be read to be thrown away
    return bytes(body[:room])


def _session(tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    # How many calls there may be at once is the rate limiter's business, and the deadline is the caller's.
    connector = Connector(limit=0, force_close=places().tight, ssl=tls or True, resolver=aiohttp.ThreadedResolver())
    return aiohttp.ClientSession(
        request_class=aiohttp.ClientRequest if sys.version_info >= (3, 12) else _EagerRequest,
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        max_line_size=_LONGEST_LINE,
        max_field_size=_LONGEST_LINE,
    )


class _EagerRequest(aiohttp.ClientRequest):
    """A request whose body is written at once, as aiohttp does it from Python 3.12 on.

    Before, it writes the body in a task behind all that are ready: of a hundred calls made together none would leave
    before the last is put together. What does not fit into the socket's buffer follows in that task.
    """

    def write_bytes(self, *place: Any, **more: Any) -> Coroutine[Any, Any, None]:
        writing = super().write_bytes(*place, **more)
        try:
            return _resumed(writing, writing.send(None))
        except StopIteration:
            return _written()


async def _written() -> None:
    """Nothing is left to write."""


@types.coroutine
def _resumed(writing: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """The rest of a coroutine that waits for this."""
    with suppress(StopIteration):
        while True:
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - it is handed to the coroutine, as an await would
                awaited = writing.throw(error)
            else:
                awaited = writing.send(None)


def _tls() -> ssl.SSLContext:
    """The trust store of the system, as the SDK finds it; `ScenarioError` where it cannot be read."""
    import httpx2  # the SDK's HTTP library

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise ScenarioError(
            f"the certificates to trust cannot be read ({_system_words(error)})",
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


# What the system has too little of, for this process or for all.
_SHORT = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


def no_answer(error: BaseException) -> NoAnswer:
    """What an exception of the HTTP layer says of a connection, in words that hold no header and no key.

    Raises `LocalShortage` where this machine has no connection to give: nothing was sent.
    """
    chain = list(_chain(error))
    system = [step for step in chain if isinstance(step, OSError) and not isinstance(step, TimeoutError)]
    cause = system[-1] if system else chain[-1]
    words = _system_words(cause)
    connecting = isinstance(cause, (ConnectionRefusedError, socket.gaierror, ssl.SSLError)) or any(
        isinstance(step, aiohttp.ClientConnectorError) for step in chain
    )
    if connecting and isinstance(cause, OSError) and cause.errno in _SHORT:
        raise LocalShortage(f"no connection can be opened here: {words} (ulimit -n is {soft_limit()})") from None
    if any(isinstance(step, (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)) for step in chain):
        return NoAnswer("proxy", words)
    return NoAnswer("connecting" if connecting else "broken", words)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came of, step by step to the innermost; of a group the first."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        group = isinstance(step, BaseExceptionGroup) and step.exceptions
        step = group[0] if group else step.__cause__ or step.__context__


def _system_words(error: BaseException) -> str:
    """The operating system's words for an error; str() of others may hold a header, and a header the key."""
    if isinstance(error, (socket.gaierror, ssl.SSLError)):
        return error.strerror or type(error).__name__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return f"HTTP {error.status}" if isinstance(error, aiohttp.ClientHttpProxyError) else type(error).__name__
