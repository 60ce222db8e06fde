"""json_schema: the scenario's TOML as a JSON Schema for editors. What an editor cannot check is left to `load`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentsim.engine.game import SeatsInFolder
from agentsim.scenario.scenario import Find, found
from agentsim.scenario.schema import ScenarioTable

__all__ = ["json_schema"]

_DEFS = "#/$defs/"


def json_schema(find: Find | None, names: Sequence[str]) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a scenario for these games; `game_config` follows the `game`."""
    schema = _without_null(ScenarioTable.model_json_schema())
    definitions = schema.setdefault("$defs", {})
    schema["properties"]["game"] = {"enum": list(names), "description": "Which game"}
    definitions["PlayerTable"]["anyOf"] = [{"required": [key]} for key in ("id", "player_id", "prompt_file")]
    conditions = []
    for name in names:
        game = found(name, find)
        own = _without_null(game.config.model_json_schema())
        inner = {f"{name}.{key}": value for key, value in own.pop("$defs", {}).items()}
        definitions |= {key: _renamed(value, name) for key, value in (inner | {f"{name}.game_config": own}).items()}
        then = {"properties": {"game_config": {"$ref": f"{_DEFS}{name}.game_config"}}}
        then |= _required(list(game.config.marked(SeatsInFolder)), bool(own.get("required")))
        conditions.append({"if": {"properties": {"game": {"const": name}}, "required": ["game"]}, "then": then})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "agentsim scenario"} | (
        {"allOf": conditions} if conditions else {}
    )


def _required(folders: Sequence[str], config: bool) -> dict[str, Any]:
    """What a scenario of a game cannot do without: players, by table or by folder, and perhaps its own table."""
    required = ["game_config"] if config else []
    if not folders:
        return {"required": ["players", *required]}
    named = ({"properties": {"game_config": {"required": [key]}}, "required": ["game_config"]} for key in folders)
    return {"anyOf": [{"required": ["players"]}, *named]} | ({"required": required} if required else {})


def _renamed(node: Any, game: str) -> Any:
    """The node with its references pointing at the game's own definitions."""
    if isinstance(node, list):
        return [_renamed(item, game) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(reference := node.get("$ref"), str):
        node = node | {"$ref": f"{_DEFS}{game}.{reference.removeprefix(_DEFS)}"}
    return {key: value if key == "$ref" else _renamed(value, game) for key, value in node.items()}


def _without_null(node: Any) -> Any:
    """The node without the branches and the defaults that TOML has no word for."""
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _without_null(value) for key, value in node.items() if value is not None}
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1 and len(node["anyOf"]) == 2:
        del node["anyOf"]
        return branches[0] | node
    return node | {"anyOf": branches} if branches else node
