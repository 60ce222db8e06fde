"""`agentsim fork`: the same past, another future."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o

__all__ = ["fork"]


def fork(
    *,
    name: o.RunName,
    at: Annotated[int, typer.Option("--at", help="The decision that is made anew, by its number.", min=1, metavar="N")],
    instead: Annotated[
        str | None,
        typer.Option("--instead", help="What is decided there, as a model would reply.", metavar="JSON"),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Such as players.2.model=bot/random, counted from 0; repeatable.", metavar="KEY=VALUE"
        ),
    ] = None,
    branches: Annotated[
        int | None,
        typer.Option(
            "--branches",
            help="So many, numbered on from those that are there; each has its own luck after N.",
            min=1,
            metavar="K",
        ),
    ] = None,
    paired: Annotated[bool, typer.Option("--paired", help="Let all branches have the parent's luck.")] = False,
    max_cost: o.MaxCost = None,
    max_calls: o.MaxCalls = None,
    max_wall: o.MaxWall = None,
    new_name: Annotated[str | None, typer.Option("--name", help="Instead of NAME_atN.", metavar="NEW")] = None,
    logs_dir: o.LogsDir = Path("logs"),
    display: o.Display = o.DisplayMode.auto,
    as_json: o.AsJson = False,
    no_html: o.NoHtml = False,
    env_file: o.EnvFile = None,
    allow_key: o.AllowKey = None,
) -> None:
    """Play a run again from one of its decisions on.

    What was decided before N, and beside it in the same wave, stays and is not paid for again. A branch is a run of
    its own, beside its parent: `agentsim resume` goes on with it, `agentsim report` compares the two. Limits hold
    for what each branch calls itself.
    """
    from agentsim.cli.display import shown
    from agentsim.cli.finish import finish
    from agentsim.environment import environment
    from agentsim.history.files import check_name, find_run
    from agentsim.report.page import PageOptions
    from agentsim.runner.fork import parent_of
    from agentsim.runner.session import go_on

    if new_name is not None:
        check_name(new_name)
    env = environment(env_file, allow_key)
    parent = parent_of(find_run(logs_dir, name), at)
    stem = new_name or f"{parent.files.name}_at{at}"
    worst = 0
    for _ in range(branches or 1):
        files = parent.branch(
            env=env,
            instead=instead,
            changes=overrides or (),
            of_several=branches is not None,
            paired=paired,
            stem=stem,
            limits={"max_cost_usd": max_cost, "max_calls": max_calls, "max_wall_s": max_wall},
        )
        with shown(display) as watcher:
            result = go_on(files, env=env, watcher=watcher)
        assert result is not None, "a branch has no end yet"
        try:
            finish(result, page=None if no_html else PageOptions(), as_json=as_json)
        except typer.Exit as ended:
            worst = worst or ended.exit_code
            if ended.exit_code >= 128:
                break
    if worst:
        raise typer.Exit(worst)
