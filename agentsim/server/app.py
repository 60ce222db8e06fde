"""App: the routes of all parts in one application, the headers of every response, and the guard before all handlers.

It knows no game and no run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from aiohttp import web

from agentsim.report.page import Served
from agentsim.server import listing, runs, seats, static, steering
from agentsim.server.guard import BUSY, IDLE, MOST_BYTES
from agentsim.server.site import POLICY, STYLE, Site, page

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PARTS: Final[tuple[Callable[[Site], Iterable[web.RouteDef]], ...]] = (
    static.routes,
    listing.routes,
    runs.routes,
    seats.routes,
    steering.routes,
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # without it, a browser does not say which site's page sent a form
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def make_app(site: Site, parts: Sequence[Callable[[Site], Iterable[web.RouteDef]]] = PARTS) -> web.Application:
    """Build the application of a site: the routes of its parts, by default of all, behind one guard."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        transport = request.transport
        if transport is not None:
            BUSY.add(transport)
        try:
            await site.guard.check(request)
            return await handler(request)
        finally:
            if transport is not None:
                BUSY.discard(transport)
                IDLE.pop(transport, None)

    app = web.Application(client_max_size=MOST_BYTES, middlewares=[_errors, guarded])
    app.add_routes([web.get("/enter", site.guard.enter)])
    for routes in parts:
        app.add_routes(routes(site))
    app.on_response_prepare.append(_headers)
    app.on_shutdown.append(runs.closing(site))
    return app


async def _headers(_request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn an HTTP error into a page with one sentence."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        served = Served(STYLE, ())
        said = page("error.html.j2", {"served": served, "title": error.reason, "text": error.text}, status=error.status)
        for name in ("Allow", "Retry-After"):
            if name in error.headers:
                said.headers[name] = error.headers[name]
        return said
