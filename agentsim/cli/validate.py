"""`agentsim validate`: check a scenario without playing it."""

from __future__ import annotations

import typer

from agentsim.cli import options as o

__all__ = ["validate"]


def validate(
    *,
    config: o.Config,
    overrides: o.Overrides = None,
    game: o.Game = None,
    env_file: o.EnvFile = None,
    provider: o.Provider = None,
    allow_dir: o.AllowDir = None,
) -> None:
    """Check a scenario without playing it.

    What is checked is all that can be known before the first call: the file, the players, keys and extras.
    """
    from agentsim.cli.environment import environment
    from agentsim.games import find
    from agentsim.runner.seats import seated
    from agentsim.scenario.load import load

    scenario = load(config, overrides=overrides or (), provider=provider, game=game, allow_dirs=allow_dir or ())
    seated(scenario, find(scenario.game), environment(env_file))
    typer.echo(f"{config}: {scenario.game}, {len(scenario.players)} players, can be played")
    for plan in (*scenario.players, *scenario.staff.values()):
        typer.echo(f"  {plan.id}: {plan.model}")
