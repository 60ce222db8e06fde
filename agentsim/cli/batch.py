"""`agentsim batch`: many games of one scenario, in a folder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o

__all__ = ["batch"]


def batch(
    *,
    config: o.Config,
    games: Annotated[int, typer.Option("--games", help="How many games.", min=1, metavar="N")],
    jobs: o.Jobs = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", help="What the games' seeds are derived from, instead of the scenario's.", min=0, metavar="S"
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            help="Models that take the players' seats in turn, so that each has every seat equally often.",
            metavar="A,B,C",
        ),
    ] = None,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Let the players change places at the table as well.")
    ] = False,
    paired: Annotated[
        bool, typer.Option("--paired", help="Play the games that differ only in who sits where with one seed.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The batch's folder; else one in --logs-dir, named by the plan.", metavar="DIR"),
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    overrides: o.Overrides = None,
    game: o.Game = None,
    game_config: o.GameConfig = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Of all games together, instead of limits.max_cost_usd.", min=0, metavar="USD"),
    ] = None,
    abort_after: o.AbortAfter = 5,
    display: o.Display = o.DisplayMode.auto,
    as_json: o.AsJson = False,
    html: o.Html = False,
    executor: o.Executor = o.ExecutorKind.local,
    scheduler: o.Scheduler = None,
    env_file: o.EnvFile = None,
    allow_key: o.AllowKey = None,
    provider: o.Provider = None,
    allow_dir: o.AllowDir = None,
) -> None:
    """Play many games of a scenario, resumably.

    The same command goes on where it was killed, and repeats nothing; with more games it plays those that are new.

    DIR gets a manifest and each game's files as `agentsim run` leaves them; pages only with --html. Limits in calls and
    dollars hold for all games together. `agentsim report DIR` compares the players.
    """
    from agentsim.cli.batches import carry_on
    from agentsim.environment import environment
    from agentsim.prepare import prepare_batch

    directory, manifest = prepare_batch(
        config,
        games=games,
        cast=[name.strip() for name in models.split(",")] if models is not None else (),
        rotate=rotate,
        paired=paired,
        out=out,
        logs_dir=logs_dir,
        game_config=game_config,
        overrides=overrides or (),
        provider=provider,
        game=game,
        seed=seed,
        allow_dirs=allow_dir or (),
        max_cost_usd=max_cost,
    )
    carry_on(
        manifest,
        directory,
        env=environment(env_file, allow_key),
        jobs=jobs,
        abort_after=abort_after,
        display=display,
        as_json=as_json,
        html=html,
        executor=executor,
        scheduler=scheduler,
    )
