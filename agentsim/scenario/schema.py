"""ScenarioTable: the scenario's TOML as pydantic models, one level above the players' tables.

What one table alone cannot say (does this game have that bot?) is checked by `seats` and `load`.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, JsonValue, field_validator

from agentsim.models.prices import Price
from agentsim.models.profiles import ProviderSettings
from agentsim.scenario.model_name import ModelName, is_provider
from agentsim.scenario.players import Defaults, PlayerTable, StaffTable, Table
from agentsim.scenario.validation_error import validated
from agentsim.scenario.wording import dotted

__all__ = ["Limits", "ScenarioTable"]

MAX_SEED = 2**63 - 1
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class Limits(Table):
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


class ScenarioTable(Table):
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
