"""Static: the style sheets and scripts of the served pages, under addresses of this server alone."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from agentsim.report import markup
from agentsim.server.site import STYLE, Site, own_file, script

_SCRIPTS = (("agentsim.report", "page.js"), ("agentsim.server", "serve.js"), ("agentsim.server", "seat.js"))


def routes(site: Site) -> Iterable[web.RouteDef]:
    """The style sheet of the folder, followed by the server's own rules, and three scripts."""

    async def style(_request: web.Request) -> web.Response:
        text = markup.find_css(site.logs_dir) + own_file("agentsim.server", "templates", "serve.css")
        return web.Response(text=text, content_type="text/css")

    return [web.get(STYLE, style), *(_script(package, name) for package, name in _SCRIPTS)]


def _script(package: str, name: str) -> web.RouteDef:
    """A script, which a browser keeps where the address names its very text."""

    async def sent(request: web.Request) -> web.Response:
        keep = {"Cache-Control": "max-age=31536000, immutable"} if request.path_qs == script(package, name) else None
        return web.Response(text=own_file(package, "templates", name), content_type="text/javascript", headers=keep)

    return web.get(f"/static/{name}", sent)
