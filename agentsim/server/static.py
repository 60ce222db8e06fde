"""Static: the style sheets and scripts of the served pages, all from this server."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from agentsim.server.site import STYLE, Site, naming, own_file, style

_SCRIPTS = (("agentsim.report", "page.js"), ("agentsim.server", "serve.js"), ("agentsim.server", "seat.js"))


def routes(site: Site) -> Iterable[web.RouteDef]:
    """Return the routes of the style sheet and the three scripts."""

    async def styled(request: web.Request) -> web.Response:
        return _sent(request, style(site), "text/css")

    return [web.get(STYLE, styled), *(_script(package, name) for package, name in _SCRIPTS)]


def _script(package: str, name: str) -> web.RouteDef:
    async def scripted(request: web.Request) -> web.Response:
        return _sent(request, own_file(package, "templates", name), "text/javascript")

    return web.get(f"/static/{name}", scripted)


def _sent(request: web.Request, text: str, kind: str) -> web.Response:
    """Return the text as a response, which browsers may cache for good if the query is the digest of the text."""
    keep = {"Cache-Control": "max-age=31536000, immutable"} if request.query_string == naming(text) else None
    return web.Response(text=text, content_type=kind, headers=keep)
