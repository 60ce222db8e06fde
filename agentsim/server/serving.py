"""Serving: the socket of the site, from its first answer to the signal that ends it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from agentsim.errors import UsageError
from agentsim.server.app import make_app
from agentsim.server.site import Site

HOST = "127.0.0.1"


async def serving(logs_dir: Path, port: int, said: Callable[[str], object]) -> None:
    """Serve a folder until SIGINT or SIGTERM; `said` is given the address once it answers.

    Raises `UsageError` where the port cannot be had.
    """
    site = Site(logs_dir)
    runner = web.AppRunner(make_app(site), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        bound = _bound(port)
        site.base_url = f"http://{HOST}:{bound.getsockname()[1]}"
        await web.SockSite(runner, bound).start()
        said(site.base_url)
        await _stopped()
    finally:
        await runner.cleanup()


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise UsageError(f"--port {port}: {error.strerror or error} (0 takes a free one)") from None
    return bound


async def _stopped() -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError):  # not the main thread
            loop.add_signal_handler(number, stop.set)
    await stop.wait()
