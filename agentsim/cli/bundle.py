"""`agentsim bundle`: a run, or a folder of runs, as one file for somebody else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o

__all__ = ["bundle"]


def bundle(
    source: Annotated[
        str,
        typer.Argument(
            metavar="NAME|DIR", help="The run's name, as `agentsim runs` lists it; or a directory, for all runs in it."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The file; else NAME.zip beside the run.", metavar="FILE")
    ] = None,
    cassette: Annotated[
        list[Path] | None,
        typer.Option("--cassette", help="A file that --record wrote, to be put in too; repeatable.", metavar="FILE"),
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
) -> None:
    """Put a run into one file that proves it.

    It holds scenario, prompts, journal, history and versions; `agentsim replay FILE` executes it again anywhere,
    without keys or network. What was said in the game is in it, and no key.
    """
    from agentsim.cli.pages import require_source, unless_unusable
    from agentsim.errors import UsageError
    from agentsim.history.bundle import pack
    from agentsim.history.files import MANIFEST, RunFiles, find_run
    from agentsim.history.load import list_runs, require_history

    found = require_source(source, logs_dir)
    others = list(cassette or ())
    if isinstance(found, RunFiles):
        require_history(found)
        runs, beside = [found], found.directory / f"{found.name}.zip"
    else:
        runs = []
        for run in sorted(list_runs(found), key=lambda run: run.name):
            with unless_unusable(run.name):
                files = find_run(found, run.name)
                require_history(files)
                runs.append(files)
        if not runs:
            raise UsageError(f"{found}: holds no run with a history")
        beside = found / f"{found.resolve().name}.zip"
        others += [path for path in [found / MANIFEST] if path.is_file()]
    pack(runs, out or beside, others)
    typer.echo(str(out or beside))
