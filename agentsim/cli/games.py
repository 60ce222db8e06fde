"""`agentsim games`: which games there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from agentsim.cli import options as o

if TYPE_CHECKING:
    from agentsim.engine.game import Game

__all__ = ["games", "usable_games"]


def usable_games() -> list[Game]:
    """All games but those whose plugin cannot be used: each of these is said to be left out."""
    from agentsim.cli.pages import left_out
    from agentsim.errors import ScenarioError
    from agentsim.games import find, names

    found = []
    for name in names():
        try:
            found.append(find(name))
        except ScenarioError as error:
            left_out(name, str(error))
    return found


def games(as_json: o.AsJson = False) -> None:
    """List the games with their bots."""
    import json

    from agentsim.cli.terminal_output import say

    found = usable_games()
    if as_json:
        rows = [
            {
                "name": game.name,
                "title": game.title,
                "summary": game.summary,
                "bots": sorted(game.bots),
                "staff": sorted(game.staff),
                "rules_version": game.rules_version,
            }
            for game in found
        ]
        typer.echo(json.dumps(rows))
        return
    for game in found:
        say(f"{game.name}: {game.summary}")
        say(f"  bots: {', '.join(f'bot/{bot}' for bot in sorted(game.bots))}")
