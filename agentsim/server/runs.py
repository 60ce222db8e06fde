"""Runs: the page of a run, and the stream that keeps it up to date while the run is played."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from aiohttp import web

from agentsim.errors import AgentsimError
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.report.page import shown
from agentsim.runs.replay import is_over
from agentsim.server.changes import within
from agentsim.server.followed import Followed
from agentsim.server.site import Site
from agentsim.server.stream import PageAudience, Position, served_run

_BEAT_S = 15.0  # seconds between keep-alive comments, which reveal a lost connection


def routes(site: Site) -> Iterable[web.RouteDef]:
    """Return the routes of a run's page and stream, for runs of the folder and of its batches."""

    async def page(request: web.Request) -> web.Response:
        text = await run_page(site, site.run(request), audience_of(request), f"{request.path.rstrip('/')}/stream")
        return web.Response(text=text, content_type="text/html")

    async def stream(request: web.Request) -> web.StreamResponse:
        return await run_stream(site, site.run(request), audience_of(request), request)

    return [
        each
        for prefix in ("", "/batches/{batch}")
        for each in (web.get(f"{prefix}/runs/{{name}}", page), web.get(f"{prefix}/runs/{{name}}/stream", stream))
    ]


def audience_of(request: web.Request) -> PageAudience:
    """Return the audience of a page of the whole run, with the prompts if the query has `prompts`."""
    return PageAudience(prompts="prompts" in request.query)


def followed(site: Site, files: RunFiles) -> Followed:
    """Return the follower that all pages of the run share, or a new one if following failed."""
    if (found := site.followers.get(files.journal)) is None or found.trouble is not None:
        found = site.followers[files.journal] = Followed(files)
    return found


async def run_page(site: Site, files: RunFiles, audience: PageAudience, stream: str) -> str:
    """Return the page of a run for an audience, live or of the finished game. `stream` is the path of its stream.

    Raises HTTP 409 if the run cannot be shown.
    """
    try:
        if (is_over(files) and files.history.is_file()) or not files.journal.is_file():
            return await asyncio.to_thread(_finished, files, audience, stream.removesuffix("/stream"))
        query = "?prompts" if audience.prompts else ""
        return await followed(site, files).page(audience, stream + query)
    except AgentsimError as error:
        raise web.HTTPConflict(text=f"{files.name} cannot be shown: {error}") from None


def _finished(files: RunFiles, audience: PageAudience, address: str) -> str:
    history = load_history(files.history)
    served = served_run(address, audience)
    return shown(history, audience.options, name=files.name, served=served, files=files)


async def run_stream(site: Site, files: RunFiles, audience: PageAudience, request: web.Request) -> web.StreamResponse:
    """Stream the fragments of a run to a page of this audience, from the position that the request names.

    Answers 204 if the run has no journal. Raises HTTP 409 if the run cannot be shown.
    """
    if not files.journal.is_file():
        return web.Response(status=204)
    here = Position.read(request.headers.get("Last-Event-ID") or request.query.get("from", ""))
    run = followed(site, files)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
    try:
        with site.guard.stream(request):
            async with run.channel(audience) as channel:
                await response.prepare(request)
                with suppress(ConnectionResetError):
                    await response.write(b"retry: 500\n\n")
                    while True:
                        changed, over_now = channel.next_change, run.over
                        here, news = channel.message(here)
                        if news:
                            await response.write(news)
                        if over_now:
                            await response.write(b"event: end\ndata:\n\n")
                            break
                        if not await within(changed, _BEAT_S):
                            await response.write(b": here\n\n")
    except AgentsimError as error:
        raise web.HTTPConflict(text=f"{files.name} cannot be shown: {error}") from None
    return response


def closing(site: Site) -> Callable[[web.Application], Awaitable[None]]:
    """Return a shutdown handler that ends all streams."""

    async def close(_app: web.Application) -> None:
        await asyncio.gather(*(found.close() for found in site.followers.values()))

    return close
