"""`agentsim games`: which games there are."""

from __future__ import annotations

import typer

from agentsim.cli import options as o

__all__ = ["games"]


def games(as_json: o.AsJson = False) -> None:
    """List the games with their bots."""
    import json

    from agentsim.cli.screen import say
    from agentsim.games import find, names

    found = [find(name) for name in names()]
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
