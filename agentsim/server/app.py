"""App: the routes of all parts in one application, the headers of every answer, and what is refused before any part.

Nothing here knows a game or a run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from aiohttp import web

from agentsim.report.page import Served
from agentsim.server import listing, runs, static
from agentsim.server.site import POLICY, SCRIPTS, STYLE, Site, page

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MOST_BYTES = 256 * 1024
"""Of one request's body."""
PARTS: Final[tuple[Callable[[Site], Iterable[web.RouteDef]], ...]] = (static.routes, listing.routes, runs.routes)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def make_app(site: Site) -> web.Application:
    """The application of a site: all parts' routes behind one guard."""
    app = web.Application(client_max_size=MOST_BYTES, middlewares=[_errors, _same_site])
    for routes in PARTS:
        app.add_routes(routes(site))
    app.on_response_prepare.append(_headers)
    app.on_shutdown.append(runs.closing(site))
    return app


async def _headers(_request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


@web.middleware
async def _same_site(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses what another site's page sends: only a page of this one may change anything."""
    if request.method not in {"GET", "HEAD"}:
        origin, fetched = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
        if fetched not in {None, "same-origin", "none"} or (
            origin is not None and origin != f"{request.scheme}://{request.host}"
        ):
            raise web.HTTPForbidden(text="Another site's page sent this.")
    return await handler(request)


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A page for each refusal, in one sentence."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        served = Served(STYLE, SCRIPTS[:0])
        said = page("error.html.j2", {"served": served, "title": error.reason, "text": error.text}, status=error.status)
        if "Allow" in error.headers:
            said.headers["Allow"] = error.headers["Allow"]
        return said
