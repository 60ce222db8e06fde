"""A scenario's TOML as a pydantic model, and as a JSON Schema for editors.

What one table alone cannot say (does this game have that bot?) is checked by `seats` and `load`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias

from pydantic import Field, JsonValue, field_validator

from agentsim.engine.game import Game, SeatsInFolder
from agentsim.models.profiles import ProviderSettings
from agentsim.models.tokens import Price
from agentsim.scenario.player_tables import ClosedTable, Defaults, ModelName, PlayerTable, StaffTable, is_provider
from agentsim.scenario.validation_error import dotted, validated

__all__ = ["Find", "Limits", "ScenarioTable", "found", "json_schema"]

Find: TypeAlias = Callable[[str], Game]
"""From a game's name to the game; `ScenarioError` for an unknown one."""

MAX_SEED = 2**63 - 1
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class Limits(ClosedTable):
    """`[limits]`: what stops a run. A limit that is None does not."""

    max_cost_usd: float | None = Field(default=None, ge=0, description="US dollars, checked before each call")
    max_calls: int | None = Field(default=None, ge=0, description="Calls to models, failed ones included")
    max_wall_s: float | None = Field(
        default=None, gt=0, description="Seconds of wall clock, all sessions together, checked before each call"
    )
    concurrency: int = Field(default=16, ge=1, le=10_000, description="Calls in flight at once to each provider")
    max_fallback_rate: float | None = Field(
        default=0.2,
        ge=0,
        le=1,
        description="The share of decisions, bots' left out, that may be fallbacks before the run is degraded: of the "
        "run, or of a player with ten or more; 1: never",
    )


class ScenarioTable(ClosedTable):
    """The whole file. `game` may come from the command line, so it is not required here."""

    game: str | None = Field(default=None, description="Which game")
    name: str | None = Field(default=None, pattern=NAME_PATTERN, description="Goes into the run's name")
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED, description="Drawn and recorded if absent")
    defaults: Defaults = Defaults()
    game_config: dict[str, JsonValue] = Field(default_factory=dict, description="The game's own table")
    limits: Limits = Limits()
    providers: dict[str, ProviderSettings] = Field(default_factory=dict, description="OpenAI-compatible endpoints")
    prices: dict[str, Price] = Field(default_factory=dict, description="US dollars per million tokens, by model name")
    staff: dict[str, StaffTable] = Field(
        default_factory=dict, description="Models for decisions that are not a player's"
    )
    players: tuple[PlayerTable, ...] = Field(default=(), description="Who plays, in seat order")

    @classmethod
    def model_validate(cls, obj: Any, **_: Any) -> Self:
        """What a TOML file of a scenario holds, as a mapping: lists stand for tuples; `ScenarioError` in one line."""
        return validated(cls, obj)

    @field_validator("providers")
    @classmethod
    def _callable(cls, providers: dict[str, ProviderSettings]) -> dict[str, ProviderSettings]:
        for name in providers:
            if not is_provider(name):
                raise ValueError(f"no model name can begin with {dotted([name])}/ and mean a provider")
        return providers

    @field_validator("prices")
    @classmethod
    def _of_models(cls, prices: dict[str, Price]) -> dict[str, Price]:
        for name in prices:
            try:
                ModelName.parse(name)
            except ValueError as error:
                raise ValueError(f"{dotted([name])} {error}") from None
        return prices


def found(name: str, find: Find | None) -> Game:
    """The game of that name: by `find`, or among those that are installed."""
    if find is None:
        from agentsim import games  # games are imported when one is used

        find = games.find
    return find(name)


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
