"""`agentsim serve`: serves the folder of runs as a local site, with live pages of runs that are being played."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import shared_options as o
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.runs.run import Run, RunResult
    from agentsim.runs.watcher import Watcher
    from agentsim.server.address import Address


def serve(
    logs_dir: o.LogsDir = Path("logs"),
    port: Annotated[int, o.option("--port", "The port; 0 takes a free one.", "PORT", min=0, max=65535)] = o.PORT,
    host: Annotated[
        str, o.option("--host", "The address to serve at; one that other machines reach demands keys.", "ADDRESS")
    ] = "127.0.0.1",
    public_url: o.PublicUrl = None,
) -> None:
    """Serve the runs of a folder to browsers on this machine.

    The address is the first line; links with keys are on stderr. Every run's page is live while the run is played, by
    whichever process. Ctrl-C ends the server; runs of other processes go on.
    """
    import asyncio

    from agentsim.cli.terminal_output import note
    from agentsim.server.address import Address
    from agentsim.server.serving import serving

    if logs_dir.exists() and not logs_dir.is_dir():
        raise UsageError(f"{logs_dir}: is not a directory")
    at = Address.asked(port, host, public_url)
    if not logs_dir.exists():
        note(f"{logs_dir.absolute()} does not exist yet; its runs are served once there are some")
    asyncio.run(serving(logs_dir, at, typer.echo, noted=note))


def play_and_serve(
    opened: Callable[[Watcher], Run],
    ended: Callable[[RunResult], None],
    *,
    logs_dir: Path,
    at: Address,
    display: o.DisplayMode,
    as_json: bool,
) -> None:
    """Play a run and serve its folder until Ctrl-C. Exit with the code that `ended` exits with.

    The address is the first line, on stderr if stdout holds JSON. `ended` prints the result when the run ends.
    """
    import asyncio

    from agentsim.cli.display import shown
    from agentsim.cli.terminal_output import note
    from agentsim.server.serving import playing

    code = 0
    with at.bound() as listening, ExitStack() as drawn:
        run = opened(drawn.enter_context(shown(display)))

        def show(result: RunResult) -> None:
            nonlocal code
            drawn.close()
            try:
                ended(result)
            except typer.Exit as left:
                code = left.exit_code

        said = note if as_json else typer.echo
        asyncio.run(playing(logs_dir, run, said, show, at=at, listening=listening, noted=note))
    raise typer.Exit(code)
