"""`agentsim logs`: write the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o

__all__ = ["logs"]


def logs(
    *,
    filename: Annotated[
        str, typer.Option("--filename", help="The run's name: a bare name inside the logs folder.", metavar="NAME")
    ],
    logs_dir: o.LogsDir = Path("logs"),
    include_prompts: o.IncludePrompts = False,
    include_reasoning: o.IncludeReasoning = False,
    include_usage: o.IncludeUsage = False,
    as_seen_by: Annotated[
        str | None, typer.Option("--as-seen-by", help="Only what this player could see.", metavar="PLAYER")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write NAME.html beside NAME.json."""
    from agentsim.cli.pages import check_history, write_page
    from agentsim.history.files import find_run
    from agentsim.report.page import PageOptions

    files = find_run(logs_dir, filename)
    check_history(files, "the page shows")
    page = write_page(files, PageOptions(include_prompts, include_reasoning, include_usage, as_seen_by))
    typer.echo(str(page))
    if open_page:
        typer.launch(str(page))
