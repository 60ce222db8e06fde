"""`agentsim watch`: follow a running game from its journal."""

from __future__ import annotations

from pathlib import Path

import typer

from agentsim.cli import options as o

__all__ = ["watch"]


def watch(
    name: o.RunName,
    logs_dir: o.LogsDir = Path("logs"),
    display: o.Display = o.DisplayMode.auto,
) -> None:
    """Follow a running game in the terminal.

    It reads the journal and touches nothing; Ctrl-C ends the watching, not the game. Of a game that is over it shows
    everything that everybody could hear.
    """
    from agentsim.cli.display import shown
    from agentsim.history.files import find_run
    from agentsim.runner.follow import follow

    files = find_run(logs_dir, name)
    with shown(display) as watcher:
        status = follow(files, watcher)
    typer.echo(f"{files.name}: {status}")
