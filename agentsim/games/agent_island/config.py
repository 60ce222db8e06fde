"""Config: the `[game_config]` table of Agent Island. Players and models are not configured here."""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from agentsim.engine.game import GameConfig
from agentsim.errors import ScenarioError

__all__ = ["AgentIslandConfig", "Phase", "RoundOverride", "RoundSettings"]

Phase: TypeAlias = Literal["pitches", "votes", "sidebars", "quips"]
Characters: TypeAlias = Annotated[int, Field(ge=20, le=20_000)]


def _with_one_vote(phases: tuple[Phase, ...] | None) -> tuple[Phase, ...] | None:
    if phases is not None and phases.count("votes") != 1:
        found = json.dumps(phases)
        raise ValueError(f'a round has exactly one "votes" phase, since one player leaves by it, found {found[:200]}')
    return phases


class RoundSettings(GameConfig):
    """How one round is played; lengths are in characters, and longer words are cut, visibly."""

    phases: tuple[Phase, ...] = ("pitches", "votes")
    pitch_chars: Characters = 1_200
    explanation_chars: Characters = 600
    message_chars: Characters = 600
    quip_chars: Characters = 200
    messages_per_exchange: Annotated[int, Field(ge=1, le=20)] = 2

    _one_vote = field_validator("phases")(_with_one_vote)


class RoundOverride(GameConfig):
    """Other settings for one round, counted from 1, or for the final one."""

    round: Annotated[int, Field(ge=1)] | Literal["final"]
    phases: tuple[Phase, ...] | None = None
    pitch_chars: Characters | None = None
    explanation_chars: Characters | None = None
    message_chars: Characters | None = None
    quip_chars: Characters | None = None
    messages_per_exchange: Annotated[int, Field(ge=1, le=20)] | None = None

    _one_vote = field_validator("phases")(_with_one_vote)


class AgentIslandConfig(RoundSettings):
    """The whole table.

    `rounds = "auto"` plays N-1 rounds with N players, the last between two; a smaller number sends more
    players into the final. `memory = "summary"` has each player replace a finished round by its own summary.
    """

    rounds: Annotated[int, Field(ge=2)] | Literal["auto"] = "auto"
    memory: Literal["full", "summary"] = "full"
    summary_chars: Characters = 800
    round_overrides: tuple[RoundOverride, ...] = ()

    @field_validator("round_overrides")
    @classmethod
    def _once_each(cls, overrides: tuple[RoundOverride, ...]) -> tuple[RoundOverride, ...]:
        named: set[int | str] = set()
        for override in overrides:
            if override.round in named:
                raise ValueError(f"round = {json.dumps(override.round)} is there twice; one table holds all of a round")
            named.add(override.round)
        return overrides

    def round_count(self, players: int) -> int:
        """How many rounds this many players have; `ScenarioError` where it cannot be so many."""
        if self.rounds == "auto":
            return players - 1
        if self.rounds > players - 1:
            raise ScenarioError(
                f"{players} players can play {players - 1} rounds at most, found {self.rounds}",
                key="game_config.rounds",
                valid=f'"auto" or 2 to {players - 1}',
            )
        return self.rounds

    def settings(self, index: int, rounds: int) -> RoundSettings:
        """The settings of round `index` of `rounds`; an override for "final" wins over one by number."""
        settings: RoundSettings = self
        for wanted in (index, "final" if index == rounds else None):
            for override in self.round_overrides:
                if override.round == wanted:
                    settings = self._merged(override, settings)
        return settings

    @staticmethod
    def _merged(override: RoundOverride, base: RoundSettings) -> RoundSettings:
        values = {name: getattr(base, name) for name in RoundSettings.model_fields}
        values |= override.model_dump(exclude={"round"}, exclude_none=True)
        return RoundSettings(**values)
