"""`agentsim schema`: the JSON Schema of a scenario, for editors."""

from __future__ import annotations

import typer

__all__ = ["schema"]


def schema() -> None:
    """Print the JSON Schema of the scenario file."""
    import json

    from agentsim.scenario.json_schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
