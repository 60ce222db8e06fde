"""`agentsim schema`: the JSON Schema of a scenario, for editors."""

from __future__ import annotations

import typer

__all__ = ["schema"]


def schema() -> None:
    """Print the JSON Schema of the scenario file."""
    import json

    from agentsim.cli.games import usable_games
    from agentsim.scenario.json_schema import json_schema

    names = [game.name for game in usable_games()]
    typer.echo(json.dumps(json_schema(None, names), indent=2, ensure_ascii=False))
