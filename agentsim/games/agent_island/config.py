"""Config: the `[game_config]` table of Agent Island. Players and models are not configured here.

`project` reads the same settings from the files of the project that the game comes from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator

from agentsim.engine.event import NamedPlayer, PlayerId
from agentsim.engine.game import ByPlayer, GameConfig, ProjectTable
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError, first_objection
from agentsim.games.agent_island.project import LONGEST, GameTable

Phase: TypeAlias = Literal["pitches", "votes", "elimination", "sidebars", "quips", "summaries"]
Effect: TypeAlias = Literal["eliminate", "win", "poll", "none"]
"""The effect of a round's vote."""
Memory: TypeAlias = Literal["full", "summary"]
Characters: TypeAlias = Annotated[int, Field(ge=20, le=LONGEST)]
Messages: TypeAlias = Annotated[int, Field(ge=1, le=20)]
Exchanges: TypeAlias = Annotated[int, Field(ge=1, le=20)]
Partners: TypeAlias = Literal["free", "any"]


def _each_once(players: tuple[PlayerId, ...]) -> tuple[PlayerId, ...]:
    """Check that no player is named twice. Raises `ValueError` for the first who is."""
    if twice := next((player for player in players if players.count(player) > 1), None):
        raise ValueError(f"{json.dumps(twice)[:80]} is named twice")
    return players


Speakers: TypeAlias = (
    Literal["active", "all"] | Annotated[tuple[NamedPlayer, ...], Field(min_length=1), AfterValidator(_each_once)]
)

_KEYS = "game_config.round_overrides"


def _fitting(phases: tuple[Phase, ...] | None, info: ValidationInfo) -> tuple[Phase, ...] | None:
    """Check that the phases fit the vote of the same table. Raises `ValueError` if they do not."""
    if phases is None:
        return None
    vote, found = info.data.get("vote"), f"found {json.dumps(phases)[:200]}"
    if vote == "none" and "votes" in phases:
        raise ValueError(f'a round whose vote is "none" has no "votes" phase, {found}')
    if vote != "none" and phases.count("votes") != 1:
        raise ValueError(f'a round has exactly one "votes" phase, since one player leaves by it, {found}')
    if "elimination" in phases:
        late = "votes" in phases and phases.index("elimination") > phases.index("votes")
        if not late or phases.count("elimination") > 1 or vote not in {None, "eliminate"}:
            raise ValueError(f'"elimination" stands once, after the "votes" that eliminate, {found}')
    return phases


def _own(phases: tuple[Phase, ...] | None, info: ValidationInfo) -> tuple[Phase, ...] | None:
    """Check the phases of an override with a vote of its own; `AgentIslandConfig.settings` checks inherited votes."""
    return phases if info.data.get("vote") is None else _fitting(phases, info)


class RoundSettings(GameConfig):
    """How one round is played; lengths are in characters, and longer words are cut, visibly."""

    vote: Effect | None = None
    """An elimination, the jury's winner (last round only), a poll, or no vote; absent: "win" in the last round and
    "eliminate" before"""
    phases: tuple[Phase, ...] = ("pitches", "votes")
    """Phases in order; a vote takes effect at once, or at `elimination`"""
    pitch_chars: Characters = 1_200
    """Characters of a pitch"""
    explanation_chars: Characters = 600
    """Characters of the secret explanation of a vote"""
    vote_first: bool = False
    """True if a voter votes first and then explains"""
    message_chars: Characters = 600
    """Characters of a private message"""
    quip_chars: Characters = 200
    """Characters of a quip"""
    messages_per_exchange: Messages = 2
    """Messages of one private talk, of both players together"""
    exchanges: Exchanges = 1
    """Private talks of a player in one sidebars phase"""
    partners: Partners = "free"
    """A partner who is still free; or any, and every player in turn opens a talk"""
    may_decline: bool = True
    """Whether a partner may decline"""
    secret_pairs: bool = False
    """Whether only the two know who talks with whom"""
    quips_by: Speakers = "active"
    """Who quips: those still in the game, all, or the players named"""
    quips_in_turn: bool = False
    """Whether each hears the quips before its own"""

    _fits = field_validator("phases")(_fitting)


class RoundOverride(GameConfig):
    """Other settings for one round, counted from 1, or for the final one; the round inherits what is not set here."""

    round: Annotated[int, Field(ge=1)] | Literal["final"]
    vote: Effect | None = None
    phases: tuple[Phase, ...] | None = None
    pitch_chars: Characters | None = None
    explanation_chars: Characters | None = None
    vote_first: bool | None = None
    message_chars: Characters | None = None
    quip_chars: Characters | None = None
    messages_per_exchange: Messages | None = None
    exchanges: Exchanges | None = None
    partners: Partners | None = None
    may_decline: bool | None = None
    secret_pairs: bool | None = None
    quips_by: Speakers | None = None
    quips_in_turn: bool | None = None

    _fits = field_validator("phases")(_own)


class AgentIslandConfig(RoundSettings):
    """The whole table."""

    project_table: ClassVar[type[ProjectTable] | None] = GameTable

    rounds: Annotated[int, Field(ge=1, le=20_000)] | Literal["auto"] = "auto"
    """Auto: N-1 rounds with N players, the last between two; fewer rounds send more players into the final"""
    memory: Memory = "full"
    """Whether players read all they heard, or their own summary of each finished round"""
    memory_of: Annotated[dict[NamedPlayer, Memory], ByPlayer("memory")] = Field(default_factory=dict)
    """The memory of single players, by id"""
    summaries: Literal["rounds", "phases"] = "rounds"
    """When summaries are written: after every round but the last, or where a round's phases name `summaries`"""
    summary_chars: Characters = 800
    """Characters of a summary"""
    rules: Annotated[str, Field(min_length=1)] | None = None
    """A text in place of the rules"""
    topic: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    """The topic of the players' debate, such as "Should cities ban cars?"; the rules name it"""
    round_overrides: tuple[RoundOverride, ...] = ()
    """Settings of single rounds, a table each"""

    @field_validator("round_overrides")
    @classmethod
    def _once_each(cls, overrides: tuple[RoundOverride, ...]) -> tuple[RoundOverride, ...]:
        named: set[int | str] = set()
        for override in overrides:
            if override.round in named:
                raise ValueError(f"round = {json.dumps(override.round)} is there twice; one table holds all of a round")
            named.add(override.round)
        return overrides

    @model_validator(mode="after")
    def _whole(self) -> AgentIslandConfig:
        if self.rounds == 1 and self.settings(1, 1).vote == "win":
            raise ValueError("the only round cannot be a final, since its jury would be empty")
        named = any("summaries" in (table.phases or ()) for table in self._tables())
        if named and self.summaries == "rounds":
            raise ValueError('phases name "summaries", which goes with summaries = "phases"')
        return self

    def schedule(self, players: int) -> tuple[RoundSettings, ...]:
        """Return the settings of every round for so many players. Raises `ScenarioError` if they make no valid game."""
        rounds = players - 1 if self.rounds == "auto" else self.rounds
        schedule = tuple(self.settings(index, rounds) for index in range(1, rounds + 1))
        leaving = sum(settings.vote == "eliminate" for settings in schedule)
        most = players - (2 if schedule[-1].vote == "win" else 1)
        if leaving > most:
            possible = rounds - (leaving - most)
            raise ScenarioError(
                f"{counted(players, 'player')} can play {counted(possible, 'round')} at most, found {rounds}",
                key="game_config.rounds",
                valid=f'"auto" or 2 to {possible}',
            )
        for index, settings in enumerate(schedule, start=1):
            if settings.vote == "win" and index < rounds:
                raise ScenarioError(
                    f'the vote of round {index} is "win", which ends the game: it can be that of the last round alone',
                    key=_KEYS,
                )
        if schedule[-1].vote == "win" and not leaving:
            raise ScenarioError("no round before the final eliminates a player, so its jury would be empty", key=_KEYS)
        return schedule

    def settings(self, index: int, rounds: int) -> RoundSettings:
        """Return the settings of round `index` of `rounds`, with its vote.

        An override for "final" wins over one by number.
        """
        values = self.model_dump(include=set(RoundSettings.model_fields))
        for wanted in (index, "final" if index == rounds else None):
            for override in self.round_overrides:
                if override.round == wanted:
                    values |= override.model_dump(exclude={"round"}, exclude_none=True)
        values["vote"] = values.get("vote") or ("win" if index == rounds else "eliminate")
        try:
            return RoundSettings(**values)
        except ValidationError as error:
            raise ScenarioError(f"round {index}: {first_objection(error)[1]}", key=_KEYS) from None

    def remembers(self, player: PlayerId) -> Memory:
        return self.memory_of.get(player, self.memory)

    def named(self) -> Iterator[tuple[str, PlayerId]]:
        """Yield the key of the setting, and the player, for every player whom a setting names."""
        yield from (("game_config.memory_of", player) for player in self.memory_of)
        for table in self._tables():
            if isinstance(table.quips_by, tuple):
                key = "game_config.quips_by" if table is self else _KEYS
                yield from ((key, player) for player in table.quips_by)

    def _tables(self) -> tuple[RoundSettings | RoundOverride, ...]:
        return (self, *self.round_overrides)
