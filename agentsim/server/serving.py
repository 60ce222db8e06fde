"""Serving: the socket of the site, from its first answer to the signal that ends it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from aiohttp import web

from agentsim.errors import UsageError
from agentsim.runner.session import RunResult, Session
from agentsim.server import hosting
from agentsim.server.app import make_app
from agentsim.server.site import Site

HOST = "127.0.0.1"
Said = Callable[[str], object]
"""Is given the address once the site answers."""


async def serving(logs_dir: Path, port: int, said: Said) -> None:
    """Serve a folder until SIGINT or SIGTERM. Raises `UsageError` where the port cannot be had."""
    with bound_to(port) as listening, _signals() as signals:
        async with served(Site(logs_dir), listening, said):
            await signals.get()


async def playing(
    logs_dir: Path,
    found: Session | RunResult | None,
    listening: socket.socket,
    said: Said,
    over: Callable[[RunResult | None], object],
) -> None:
    """Play a session, or take a run that is finished, and serve its folder until SIGINT or SIGTERM.

    `over` is given the result as soon as it is there, None of a run that was finished before. A signal stops a game
    that is still played, so that it can be resumed; the next one ends this process at once.
    """
    site = Site(logs_dir)
    with _signals() as signals:
        async with served(site, listening, said):
            stopped = asyncio.create_task(signals.get())
            over(await _played(site, found, stopped) if isinstance(found, Session) else found)
            await stopped


async def _played(site: Site, session: Session, stopped: asyncio.Task[int]) -> RunResult:
    run = hosting.host(site, session)
    ended = asyncio.create_task(run.ended())
    await asyncio.wait([stopped, ended], return_when=asyncio.FIRST_COMPLETED)
    if not ended.done():
        await run.stop(stopped.result())
    return await ended


@asynccontextmanager
async def served(site: Site, listening: socket.socket, said: Said) -> AsyncIterator[None]:
    """The site answers within the block; what is played here is stopped at its end."""
    runner = web.AppRunner(make_app(site), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site.base_url = f"http://{HOST}:{listening.getsockname()[1]}"
        await web.SockSite(runner, listening).start()
        said(site.base_url)
        yield
    finally:
        await hosting.stop_all(site)
        await runner.cleanup()


@contextmanager
def bound_to(port: int) -> Iterator[socket.socket]:
    """A socket on loopback with this port, 0 for a free one; `UsageError` where it cannot be had."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, port))
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror or error} (0 takes a free one)") from None
        yield bound


@contextmanager
def _signals() -> Iterator[asyncio.Queue[int]]:
    """The first SIGINT or SIGTERM within the block; the second does what it does to any process."""
    loop, received = asyncio.get_running_loop(), asyncio.Queue[int]()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def noted(number: int) -> None:
        for each in numbers:
            loop.remove_signal_handler(each)
        received.put_nowait(number)

    for number in numbers:
        with suppress(NotImplementedError, RuntimeError):  # not the main thread
            loop.add_signal_handler(number, noted, number)
    try:
        yield received
    finally:
        for number in numbers:
            with suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(number)
