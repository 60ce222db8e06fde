"""Static: the style sheets and scripts of the served pages, under addresses of this server alone."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from agentsim.server.site import STYLE, Site, naming, own_file, style

_SCRIPTS = (("agentsim.report", "page.js"), ("agentsim.server", "serve.js"), ("agentsim.server", "seat.js"))


def routes(site: Site) -> Iterable[web.RouteDef]:
    """The style sheet of the folder, and three scripts."""

    async def styled(request: web.Request) -> web.Response:
        return _sent(request, style(site), "text/css")

    return [web.get(STYLE, styled), *(_script(package, name) for package, name in _SCRIPTS)]


def _script(package: str, name: str) -> web.RouteDef:
    async def scripted(request: web.Request) -> web.Response:
        return _sent(request, own_file(package, "templates", name), "text/javascript")

    return web.get(f"/static/{name}", scripted)


def _sent(request: web.Request, text: str, kind: str) -> web.Response:
    """The text, which a browser keeps where the address names it."""
    keep = {"Cache-Control": "max-age=31536000, immutable"} if request.query_string == naming(text) else None
    return web.Response(text=text, content_type=kind, headers=keep)
