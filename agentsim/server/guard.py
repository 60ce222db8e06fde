"""Guard: who may look and who may steer, by keys, and how much of this server one of them may have.

On loopback all who are on this machine may look, as at the files themselves, and only the holder of the experimenter's
key may change anything or spend money. Elsewhere looking needs a key too. Seats have keys of their own: a part that
gives them out says in `holders` whose a request is.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakSet

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from agentsim.server.address import is_loopback

Role: TypeAlias = Literal["experimenter", "watcher"]
MOST_BYTES: Final = 256 * 1024
"""Of one request's body."""
MOST_FIELDS: Final = 2_000
"""Of one form."""
BODY_S: Final = 10.0
"""So long may a request's body take."""
PER_S, BURST = 10.0, 60.0
"""Requests that change something, of one holder of a key, or of all without one at an address."""
MOST_STREAMS, MOST_OF_ONE = 400, 100
"""Open streams of all without a key of their own, and of one holder."""
IDLE_S: Final = 15.0
"""So long may a connection stand open without a whole request."""
MOST_FILES: Final = 65_536
BUSY: WeakSet[asyncio.BaseTransport] = WeakSet()
"""The connections whose request is being answered."""
IDLE: WeakKeyDictionary[asyncio.BaseTransport, float] = WeakKeyDictionary()
"""When others were first seen without one, since their last."""
_MOST_BUCKETS = 1_000
_OPEN = ("/enter", "/static/")
_FORM = "application/x-www-form-urlencoded"


@dataclass
class Guard:
    """The keys of one server. `closed` is one that is reached from other machines: there all needs a key.

    `names` are the hosts that it answers to beside those of this machine. `origin` is that of its public URL, where it
    has one: then only its own pages' forms come from there, whatever the proxy says of a request.
    """

    closed: bool = False
    origin: str = ""
    names: frozenset[str] = frozenset()
    keys: dict[Role, str] = field(
        default_factory=lambda: {"experimenter": secrets.token_urlsafe(32), "watcher": secrets.token_urlsafe(32)}
    )
    holders: list[Callable[[web.Request], str | None]] = field(default_factory=list)
    """Each names the holder of a valid key of its own kind that a request bears, such as a seat; None for no such."""
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _streams: Counter[str] = field(default_factory=Counter)

    def cookie(self, request: web.Request) -> str:
        """The cookie's name: servers at other ports of this machine have their own."""
        if self._secure:
            return f"__Host-agentsim-{urlsplit(self.origin).port or 443}"  # which no other host's page can set
        return f"agentsim-{urlsplit(self.origin or f'//{request.host}').port or 80}"

    @property
    def _secure(self) -> bool:
        return self.origin.startswith("https:")

    def role(self, request: web.Request) -> Role | None:
        """Whose key the request's cookie is."""
        return self.named(request.cookies.get(self.cookie(request), ""))

    def named(self, key: str) -> Role | None:
        """Whose key this is; every key is compared in a time that does not depend on where it differs."""
        found: Role | None = None
        for role, known in self.keys.items():
            if hmac.compare_digest(known.encode(), key.encode("utf-8", "replace")):
                found = role
        return found

    def require(self, request: web.Request, role: Role = "experimenter") -> None:
        """Raise 403 unless the request bears this key, or the experimenter's."""
        if self.role(request) not in {role, "experimenter"}:
            raise web.HTTPForbidden(
                text=f"This is for the {role}: open the link with the {role}'s key, which the server has printed."
            )

    def holder(self, request: web.Request) -> str:
        """Who asks: the holder of a key, or all without one at an address."""
        if (role := self.role(request)) is not None:
            return role
        return next((name for find in self.holders if (name := find(request)) is not None), f"at {request.remote}")

    def spend(self, request: web.Request) -> None:
        """Count a request that changes something; raise 429 where its holder has made too many."""
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
        """Counts an open stream within the block; raises 503 where its holder has too many."""
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
        """Raise what keeps a request out before any part of the site sees it."""
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
        """Refuse what another site's page sends: only a page of this one may change anything."""
        origin, fetched = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
        own = self.origin or f"{request.scheme}://{request.host}"
        if fetched not in {None, "same-origin", "none"} or origin not in {None, own}:
            hint = "" if self.origin else " Behind a proxy, the server needs --public-url."
            raise web.HTTPForbidden(text=f"Another site's page sent this.{hint}")

    async def enter(self, request: web.Request) -> web.Response:
        """Takes a key out of the address into a cookie that no script reads and no other site's page sends."""
        key = request.query.get("key", "")
        if self.named(key) is None:
            self.spend(request)
            raise web.HTTPForbidden(text="There is no such key. Each start of the server makes new ones.")
        answer = web.HTTPSeeOther("/")
        answer.set_cookie(self.cookie(request), key, httponly=True, samesite="Strict", path="/", secure=self._secure)
        raise answer


async def swept(runner: web.AppRunner) -> None:
    """Close connections that have sent no whole request for a while, and raise how many files may be open."""
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
    """Let this process have as many open files as it may: each open page is one."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _name(request: web.Request) -> str:
    """The host that a request is meant for, without its port."""
    try:
        return urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
    except ValueError:
        return ""


async def _check_body(request: web.Request) -> None:
    """Read the body, which is a form that can be read and comes in time; the parts find it read."""
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
    except (ValueError, web.RequestPayloadError, HttpProcessingError):  # bytes that are no text, or not what they claim
        raise web.HTTPBadRequest(text="The form cannot be read.") from None
