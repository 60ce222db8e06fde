"""The records of a history file, `agentsim-history/3`, as pydantic models: `fold` makes one, `load` reads one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_serializer, model_validator

from agentsim.engine.survey import SurveyPlace
from agentsim.errors import first_objection
from agentsim.history.causes import Cause, cause_of
from agentsim.history.journal import Parse, Source
from agentsim.models.base import Usage

Status = Literal["completed", "degraded", "interrupted", "stopped_provider", "stopped_budget", "failed"]
CONTROL = "control"
"""The arm of branches that change nothing."""
FINISHED: frozenset[str] = frozenset({"completed", "degraded"})
"""The states of a game that is over; every other can be resumed, or has failed."""
_VOLATILE: Mapping[str, type | UnionType] = {"name": str, "started_at": str, "finished_at": str, "wall_s": int | float}
"""The types of those parts of `volatile` that are shown or counted, if they are present."""
_WhereSet = Field(exclude_if=lambda value: not value)


class Record(BaseModel):
    """Base of most records: frozen; unknown keys are ignored, so that the file of a later version loads."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


class PlayerRecord(Record):
    """A seat; staff are listed too, with an id that begins with `@`. Several models are joined by ` > `.

    `name` is there where the game calls the player otherwise.
    """

    id: str
    model: str
    temperature: float | None = None
    reasoning: Annotated[str | int | None, _WhereSet] = None
    seed: Annotated[int | None, Field(exclude_if=lambda value: value is None)] = None
    logprobs: Annotated[bool, _WhereSet] = False
    name: Annotated[str | None, _WhereSet] = None

    @property
    def staff(self) -> bool:
        return self.id.startswith("@")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """Something that happened; `visibility` is `"all"` or the ids of those who could see it."""

    seq: int
    kind: str
    heading: str
    role: str
    content: str
    data: dict[str, Any]
    visibility: Literal["all"] | list[str]
    prompt: list[int] | None
    reasoning: list[int] | None
    metadata: dict[str, Any]


class RoundRecord(Record):
    """A round and its events; round 0 is the set-up."""

    index: int
    title: str
    events: list[EventRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class TryRecord:
    """One attempt: the messages as (role, segments of text), the reply as segments, or an error.

    `error` is `{"code", "message"}`; a reply that could not be used has both a reply and an error. Where the player has
    several models, `model` is the one that was called; `takeover` says that the next one took over from there.
    `provider` is the host that served it, if that is not the decision's; of a failed call, the one that its error
    names.
    """

    messages: list[tuple[str, list[int]]]
    reply: list[int] | None
    reasoning: list[int] | None = None
    error: dict[str, Any] | None
    finish_reason: str | None = None
    model: Annotated[str | None, _WhereSet] = None
    provider: Annotated[str | None, _WhereSet] = None
    takeover: bool = False
    logprobs: Annotated[list[tuple[str, float]] | None, _WhereSet] = None

    @model_serializer(mode="wrap")
    def _written(self, written: Any) -> dict[str, Any]:
        return {key: value for key, value in written(self).items() if self.model or key != "takeover"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """One decision with everything that led to it.

    `model` is what the reply says of itself; `answered_by`, where the player has several models, which of them it was.
    One with a `survey` answers an interview, off the record of the game.
    """

    index: int
    wave: int
    player: str
    kind: str
    decision: dict[str, Any]
    source: Source
    fallback_reason: str | None
    tries: list[TryRecord]
    parse: Parse | None
    model: str | None
    provider: str | None
    answered_by: Annotated[str | None, _WhereSet] = None
    usage: Usage | None
    survey: Annotated[SurveyPlace | None, _WhereSet] = None

    @property
    def cause(self) -> Cause | None:
        """The cause of a fallback, or None for a decision that was made."""
        return None if self.fallback_reason is None else cause_of(self.fallback_reason)


class StandingRecord(Record):
    """A place in the outcome; without a rank where the game ranks no player."""

    player: str
    rank: int | None
    score: dict[str, int | float]


class OutcomeRecord(Record):
    """Why the game ended and who stands where; `winner` is None where the first place is shared."""

    reason: str
    winner: str | None
    standings: list[StandingRecord]

    @property
    def ranked(self) -> bool:
        """Whether the game ranks its players."""
        return any(standing.rank is not None for standing in self.standings)


class TotalsRecord(Record):
    """What was called and used, in all or by one player; `cost_usd` is None where any price is unknown."""

    calls: int
    failed_calls: int
    reasks: int
    fallbacks: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    cost_usd: float | None
    unpriced_calls: int = 0
    repaired: Annotated[int, _WhereSet] = 0
    cut: Annotated[int, _WhereSet] = 0
    takeovers: Annotated[int, _WhereSet] = 0
    late: Annotated[int, _WhereSet] = 0
    by_player: Annotated[dict[str, TotalsRecord] | None, _WhereSet] = None


class WarningRecord(Record):
    """Something strange about a model's answers, how often it came, and the line that was said of the first."""

    code: str
    model: str
    message: str
    count: int


class Branch(Record):
    """A run that shares another's past: what journals and histories keep of that.

    `of` is the parent's name, `at` the decision that is made anew, or `instead`; `branch` tells several branches apart.
    `salts` are the waves, with a word each, after which chance goes its own way; a fork of a fork may have two.
    `changed` are the settings that are not the parent's, as `KEY=VALUE`; `arm` is what branches that make the same
    change are called, None where they have no name. Decisions of earlier waves than `wave`, which is that of the
    decision, and those `beside` it, are the parent's.
    """

    of: str
    at: int
    branch: int | None = None
    instead: dict[str, Any] | None = None
    changed: list[str] = []
    salts: list[tuple[int, str]] = []
    wave: int
    beside: list[int] = []
    arm: str | None = None

    def inherits(self, wave: int, index: int) -> bool:
        """Whether a decision is the parent's, which was paid for there."""
        return wave < self.wave or index in self.beside

    @property
    def change(self) -> str:
        """What is not the parent's, in words."""
        return ", ".join((*self.changed, *(() if self.instead is None else (json.dumps(self.instead),))))

    @model_serializer(mode="wrap")
    def _written(self, written: Any) -> dict[str, Any]:
        return {key: value for key, value in written(self).items() if self.arm or key != "arm"}

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> Branch:
        """The branch of which this was kept; `ValueError` where it is none."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise ValueError(first_objection(error)) from None


class ForkRecord(Branch):
    """A history's `fork`: what the parent's decisions used (`inherited`), and what the branch itself did (`paid`)."""

    inherited: Annotated[TotalsRecord | None, _WhereSet] = None
    paid: Annotated[TotalsRecord | None, _WhereSet] = None


class History(Record):
    """One game, whole.

    `usage` is that of the game; what of it the run itself made is `paid`, a branch's without its parent's.
    """

    format: Literal["agentsim-history/3"]
    game: str
    rules_version: int
    reader: int
    seed: int
    fork: Annotated[ForkRecord | None, _WhereSet] = None
    status: Status
    scenario: dict[str, Any]
    asides: Annotated[list[dict[str, Any]], _WhereSet] = []
    players: list[PlayerRecord]
    rounds: list[RoundRecord]
    decisions: list[DecisionRecord]
    outcome: OutcomeRecord | None
    usage: TotalsRecord
    warnings: Annotated[list[WarningRecord], _WhereSet] = []
    texts: list[str]
    volatile: dict[str, Any]

    @model_validator(mode="after")
    def _points_at_what_is_there(self) -> Self:
        """Checks that every name and number refers to exactly one thing that is there."""
        players = [player.id for player in self.players]
        decided: list[Any] = [each.index for each in self.decisions]
        ranked = [] if self.outcome is None else [each.player for each in self.outcome.standings]
        what_is = ("name each player", "number each decision", "rank each player")
        for what, names in zip(what_is, (players, decided, ranked), strict=True):
            if len(set(names)) < len(names):
                raise ValueError(f"does not {what} once")
        if strangers := {*ranked, *(each.player for each in self.decisions)} - set(players):
            raise ValueError(f"{min(strangers)[:80]!r} is not one of its players")
        if [part.index for part in self.rounds] != [*range(len(self.rounds))]:
            raise ValueError("does not number its rounds from 0 on")
        if any(places and not 0 <= min(places) <= max(places) < len(self.texts) for places in self._places()):
            raise ValueError("refers to a text that is not there")
        for key in self.volatile.keys() & _VOLATILE:
            if not isinstance(self.volatile[key], _VOLATILE[key]):
                raise ValueError(f"does not say its {key} in a {'number' if key == 'wall_s' else 'text'}")
        return self

    def _places(self) -> Iterator[list[int] | None]:
        """All lists of places in `texts`."""
        for part in self.rounds:
            for event in part.events:
                yield from (event.prompt, event.reasoning)
        for decision in self.decisions:
            for attempt in decision.tries:
                yield from (places for _, places in attempt.messages)
                yield from (attempt.reply, attempt.reasoning)

    @property
    def seated(self) -> list[PlayerRecord]:
        """The players without staff."""
        return [player for player in self.players if not player.staff]

    @property
    def paid(self) -> TotalsRecord:
        """What the run itself called and used."""
        return self.usage if self.fork is None or self.fork.paid is None else self.fork.paid

    @property
    def spent(self) -> tuple[int, float, int]:
        """Calls, US dollars of those whose price is known, and the number of the others; a parent's are among them."""
        own = sum(each.usage.cost_usd or 0.0 for each in self.decisions if each.usage is not None)
        return self.usage.calls, own if self.usage.cost_usd is None else self.usage.cost_usd, self.usage.unpriced_calls

    @property
    def names(self) -> dict[str, str]:
        """The names, by id, of players whom the game does not call by their id."""
        return {player.id: player.name for player in self.players if player.name}

    def inherits(self, decision: DecisionRecord) -> bool:
        """Whether a decision is that of the parent that this run is a branch of."""
        return self.fork is not None and self.fork.inherits(decision.wave, decision.index)
