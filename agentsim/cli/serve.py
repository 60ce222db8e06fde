"""`agentsim serve`: the folder of runs as a local site, with each run's page live while it is played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o
from agentsim.errors import UsageError


def serve(
    logs_dir: o.LogsDir = Path("logs"),
    port: Annotated[int, o.option("--port", "The port; 0 takes a free one.", "PORT", min=0, max=65535)] = 8800,
) -> None:
    """Serve the runs of a folder to browsers on this machine.

    The address is the first line. Every run's page is live while the run is played, by whichever process. Ctrl-C ends
    the server, and no run of another process.
    """
    import asyncio

    from agentsim.server.serving import serving

    if logs_dir.exists() and not logs_dir.is_dir():
        raise UsageError(f"{logs_dir}: is not a directory")
    asyncio.run(serving(logs_dir, port, typer.echo))
