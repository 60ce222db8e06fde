"""Serving: the socket of the site, from its first answer to the signal that ends it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from agentsim.runs.run import Run, RunResult
from agentsim.server import hosting
from agentsim.server.address import Address, is_loopback
from agentsim.server.app import make_app
from agentsim.server.guard import Guard, swept
from agentsim.server.people import People
from agentsim.server.site import Site

Said = Callable[[str], object]
"""A function that is called with a line of text for the terminal, such as the address of the site."""


async def serving(logs_dir: Path, at: Address, said: Said, *, noted: Said) -> None:
    """Serve a folder until SIGINT or SIGTERM.

    `said` gets the address once the site answers, `noted` the links with keys. If the address is not on loopback, or
    there is a proxy, other machines are let in with a key. Raises `UsageError` if the socket cannot be bound.
    """
    with at.bound() as listening, signals() as received:
        site = Site(logs_dir, guard=_guard(at, listening))
        async with served(site, at, listening, said, noted):
            await received.get()


async def playing(
    logs_dir: Path,
    run: Run,
    said: Said,
    ended: Callable[[RunResult], object],
    *,
    at: Address,
    listening: socket.socket,
    noted: Said,
) -> None:
    """Play a run, unless it is over, and serve its folder until SIGINT or SIGTERM.

    `said` gets the address and then the links of people, `ended` the result as soon as the run ends. The first signal
    stops a game in progress so that it can be resumed; the second ends the process at once.
    """
    site = Site(logs_dir, guard=_guard(at, listening))
    with signals() as received:
        async with served(site, at, listening, said, noted):
            stopped = asyncio.create_task(received.get())
            if run.is_over:
                if (people := People.of_finished(run.files)) is not None:
                    hosting.seat(site, people)
                _say_links(site, people, said)
                ended(await run.play())
            else:
                hosted = hosting.host(site, run)
                _say_links(site, hosted.people, said)
                ended(await _ended(hosted, stopped))
            await stopped


def _say_links(site: Site, people: People | None, said: Said) -> None:
    for player, seat in people.seats.items() if people else ():
        said(f"{player}: {site.base_url}{seat.path}")


async def _ended(run: hosting.HostedRun, stopped: asyncio.Task[int]) -> RunResult:
    ended = asyncio.create_task(run.ended())
    await asyncio.wait([stopped, ended], return_when=asyncio.FIRST_COMPLETED)
    if not ended.done():
        await run.stop(stopped.result())
    return await ended


@asynccontextmanager
async def served(site: Site, at: Address, listening: socket.socket, said: Said, noted: Said) -> AsyncIterator[None]:
    """Run the site within the block, and stop all runs that this process plays at its end."""
    # Each write to a stream needs the GIL anew, and a rendering thread would hold it for the default of 5 ms.
    was = sys.getswitchinterval()
    sys.setswitchinterval(min(was, 0.0005))
    log = logging.getLogger(__name__)
    log.addFilter(_is_ours)
    runner = web.AppRunner(make_app(site), access_log=None, logger=log, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site.base_url = at.origin or at.local(listening)
        await web.SockSite(runner, listening).start()
        said(site.base_url)
        _say_keys(site, at, listening, noted)
        sweeping = asyncio.create_task(swept(runner))
        yield
        sweeping.cancel()
    finally:
        await hosting.stop_all(site)
        await runner.cleanup()
        sys.setswitchinterval(was)


def _is_ours(record: logging.LogRecord) -> bool:
    """Return whether a record is an error of the server. Bad requests are answered, and not logged."""
    return record.exc_info is None or not isinstance(record.exc_info[1], (HttpProcessingError, web.RequestPayloadError))


def _guard(at: Address, listening: socket.socket) -> Guard:
    """Return the guard of a site at this address, closed if other machines can reach it."""
    names = {at.host.lower(), *([urlsplit(at.origin).hostname or ""] if at.origin else [])}
    closed = bool(at.origin) or not is_loopback(listening.getsockname()[0])
    return Guard(closed=closed, origin=at.origin, names=frozenset(names))


def _say_keys(site: Site, at: Address, listening: socket.socket, noted: Said) -> None:
    keys, local = site.guard.keys, at.local(listening)
    if at.origin:
        noted(f"--public-url: the proxy at {at.origin} passes requests on to {local}")
    if site.guard.closed:
        encrypted = at.origin.startswith("https:")
        noted(
            f"{f'--public-url {at.origin}' if at.origin else f'--host {at.host}'}: other machines reach this server"
            f"{'' if encrypted else ', unencrypted'}; every page needs a link with a key, "
            f"which is not shown again. To watch: {site.base_url}/enter?key={keys['watcher']}"
        )
    noted(f"to steer: {site.base_url}/enter?key={keys['experimenter']}")


@contextmanager
def signals() -> Iterator[asyncio.Queue[int]]:
    """Yield a queue that receives the first SIGINT or SIGTERM. The second signal has its default effect."""
    loop, received = asyncio.get_running_loop(), asyncio.Queue[int]()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def noted(number: int) -> None:
        for each in numbers:
            loop.remove_signal_handler(each)
        received.put_nowait(number)

    for number in numbers:
        with suppress(NotImplementedError, RuntimeError):  # not in the main thread, or not supported
            loop.add_signal_handler(number, noted, number)
    try:
        yield received
    finally:
        for number in numbers:
            with suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(number)
