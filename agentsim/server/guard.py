"""Guard: access by keys (who may look, who may steer), and limits on how much of the server one client may use.

On loopback, everyone on this machine may look, as at the files themselves, but only the holder of the experimenter's
key may change anything or spend money. On other addresses, looking needs a key too. Seats have keys of their own: the
part of the server that issues them adds a function to `holders` which recognizes their requests.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakSet

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from agentsim.lazy import dataclass
from agentsim.server.address import is_loopback

Role: TypeAlias = Literal["experimenter", "watcher"]
MOST_BYTES: Final = 256 * 1024
"""The most bytes of a request's body."""
MOST_FIELDS: Final = 2_000
"""The most fields of a form."""
BODY_S: Final = 10.0
"""The most seconds that a request's body may take to arrive."""
PER_S, BURST = 10.0, 60.0
"""The rate (per second) and the burst of requests that change something, for each holder of a key, or for each remote
address without one."""
MOST_STREAMS, MOST_OF_ONE = 400, 100
"""The most open streams of all clients without a key together, and of one holder of a key."""
IDLE_S: Final = 15.0
"""The most seconds that a connection may be open without a whole request."""
MOST_FILES: Final = 65_536
BUSY: WeakSet[asyncio.BaseTransport] = WeakSet()
"""The connections whose request is being answered."""
IDLE: WeakKeyDictionary[asyncio.BaseTransport, float] = WeakKeyDictionary()
"""The loop time at which a connection was first seen idle since its last request."""
_MOST_BUCKETS = 1_000
_OPEN = ("/enter", "/static/")
_FORM = "application/x-www-form-urlencoded"


@dataclass
class Guard:
    """The keys of one server. `closed` means that other machines reach it, so that every request needs a key.

    `names` are the hosts that it answers to besides those of this machine. `origin` is the origin of its public URL, or
    "". If it is set, only forms from pages of that origin are accepted, whatever the proxy reports of a request.
    """

    closed: bool = False
    origin: str = ""
    names: frozenset[str] = frozenset()
    keys: dict[Role, str] = field(
        default_factory=lambda: {"experimenter": secrets.token_urlsafe(32), "watcher": secrets.token_urlsafe(32)}
    )
    holders: list[Callable[[web.Request], str | None]] = field(default_factory=list)
    """Functions that name the holder of a request's key of some other kind, such as a seat's, or return None."""
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _streams: Counter[str] = field(default_factory=Counter)

    def cookie(self, request: web.Request) -> str:
        """Return the name of the cookie, which differs between servers on different ports of one machine."""
        if self._secure:
            return f"__Host-agentsim-{urlsplit(self.origin).port or 443}"  # other hosts' pages cannot set it
        return f"agentsim-{urlsplit(self.origin or f'//{request.host}').port or 80}"

    @property
    def _secure(self) -> bool:
        return self.origin.startswith("https:")

    def role(self, request: web.Request) -> Role | None:
        """Return the role of the key in the request's cookie, or None."""
        return self.named(request.cookies.get(self.cookie(request), ""))

    def named(self, key: str) -> Role | None:
        """Return the role of a key, or None. Compares in constant time."""
        found: Role | None = None
        for role, known in self.keys.items():
            if hmac.compare_digest(known.encode(), key.encode("utf-8", "replace")):
                found = role
        return found

    def require(self, request: web.Request, role: Role = "experimenter") -> None:
        """Raise HTTP 403 unless the request has the key of this role, or the experimenter's."""
        if self.role(request) not in {role, "experimenter"}:
            raise web.HTTPForbidden(
                text=f"This is for the {role}: open the link with the {role}'s key, which the server has printed."
            )

    def holder(self, request: web.Request) -> str:
        """Return a name for the client: its role, its seat, or "at" and its address if it has no key."""
        if (role := self.role(request)) is not None:
            return role
        return next((name for find in self.holders if (name := find(request)) is not None), f"at {request.remote}")

    def spend(self, request: web.Request) -> None:
        """Count a request that changes something against its holder's token bucket.

        Raises HTTP 429 if the bucket is empty.
        """
        name, now = self.holder(request), asyncio.get_running_loop().time()
        left, at = self._buckets.pop(name, (BURST, now))
        left = min(BURST, left + (now - at) * PER_S)
        self._buckets[name] = max(0.0, left - 1), now
        while len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        if left < 1:
            raise web.HTTPTooManyRequests(text="Too many requests; wait a second.", headers={"Retry-After": "1"})

    @contextmanager
    def stream(self, request: web.Request) -> Iterator[None]:
        """Count an open stream within the block. Raises HTTP 503 if its holder has too many."""
        name = self.holder(request)
        name = "" if name.startswith("at ") else name
        if self._streams[name] >= (MOST_OF_ONE if name else MOST_STREAMS):
            raise web.HTTPServiceUnavailable(text="Too many pages stand open.", headers={"Retry-After": "5"})
        self._streams[name] += 1
        try:
            yield
        finally:
            self._streams[name] -= 1

    async def check(self, request: web.Request) -> None:
        """Check host, rate, origin, body and key of a request before any part of the site handles it.

        Raises an HTTP error if one of them is refused.
        """
        if (self.origin or not self.closed) and (name := _name(request)) not in self.names and not is_loopback(name):
            raise web.HTTPMisdirectedRequest(
                text=f"This server answers to {self.origin or 'the names of this machine'} alone."
            )
        if request.method not in {"GET", "HEAD"}:
            self.spend(request)
            self._check_same_site(request)
            await _check_body(request)
        if self.closed and not request.path.startswith(_OPEN) and self.holder(request).startswith("at "):
            raise web.HTTPForbidden(text="This needs a link with a key; the server has printed them.")

    def _check_same_site(self, request: web.Request) -> None:
        """Raise HTTP 403 if a page of another site sent the request."""
        origin, fetched = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
        own = self.origin or f"{request.scheme}://{request.host}"
        if fetched not in {None, "same-origin", "none"} or origin not in {None, own}:
            hint = "" if self.origin else " Behind a proxy, the server needs --public-url."
            raise web.HTTPForbidden(text=f"Another site's page sent this.{hint}")

    async def enter(self, request: web.Request) -> web.Response:
        """Move the key of a link into a cookie that scripts cannot read and that other sites' pages do not send.

        Raises HTTP 303 to the list of runs, or HTTP 403 if there is no such key.
        """
        key = request.query.get("key", "")
        if self.named(key) is None:
            self.spend(request)
            raise web.HTTPForbidden(text="There is no such key. Each start of the server makes new ones.")
        answer = web.HTTPSeeOther("/")
        answer.set_cookie(self.cookie(request), key, httponly=True, samesite="Strict", path="/", secure=self._secure)
        raise answer


async def swept(runner: web.AppRunner) -> None:
    """Abort connections that are idle for too long, forever, after raising the limit of open files."""
    raise_limit()
    clock = asyncio.get_running_loop().time
    while True:
        await asyncio.sleep(1.0)
        server, now = runner.server, clock()
        for connection in [] if server is None else server.connections:
            transport = connection.transport
            if transport is None:
                continue
            if transport in BUSY:
                IDLE.pop(transport, None)
            elif now - IDLE.setdefault(transport, now) > IDLE_S:
                transport.abort()


def raise_limit() -> None:
    """Raise the soft limit of open files, at most to `MOST_FILES`, since each open page needs one."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _name(request: web.Request) -> str:
    """Return the host name of the request's `Host` header, without its port, or ""."""
    try:
        return urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
    except ValueError:
        return ""


async def _check_body(request: web.Request) -> None:
    """Read the body, so that the handlers find it read.

    Raises an HTTP error unless it is a valid form that arrives in time.
    """
    if request.body_exists and request.content_type != _FORM:
        raise web.HTTPUnsupportedMediaType(text="Only forms are taken.")
    try:
        async with asyncio.timeout(BODY_S):
            body = await request.read()
        if body.count(b"&") >= MOST_FIELDS:
            raise web.HTTPRequestEntityTooLarge(MOST_FIELDS, text=f"A form has at most {MOST_FIELDS:,} fields.")
        if (request.charset or "utf-8").lower() != "utf-8":
            raise web.HTTPBadRequest(text="A form is in UTF-8.")
        await request.post()
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="The request did not come to its end.") from None
    except (ValueError, web.RequestPayloadError, HttpProcessingError):  # not text, or not of the declared encoding
        raise web.HTTPBadRequest(text="The form cannot be read.") from None
