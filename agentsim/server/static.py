"""Static: the style sheets and scripts of the served pages, under addresses of this server alone."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from agentsim.report import markup
from agentsim.server.site import Site, own_file


def routes(site: Site) -> Iterable[web.RouteDef]:
    """The style sheet of the folder, followed by the server's own rules, and three scripts."""

    async def style(_request: web.Request) -> web.Response:
        text = markup.find_css(site.logs_dir) + own_file("agentsim.server", "templates", "serve.css")
        return web.Response(text=text, content_type="text/css")

    async def page_script(_request: web.Request) -> web.Response:
        return _script("agentsim.report", "page.js")

    async def seat_script(_request: web.Request) -> web.Response:
        return _script("agentsim.server", "seat.js")

    async def serve_script(_request: web.Request) -> web.Response:
        return _script("agentsim.server", "serve.js")

    return [
        web.get("/static/logs.css", style),
        web.get("/static/page.js", page_script),
        web.get("/static/serve.js", serve_script),
        web.get("/static/seat.js", seat_script),
    ]


def _script(package: str, name: str) -> web.Response:
    return web.Response(text=own_file(package, "templates", name), content_type="text/javascript")
