"""The records of a history file, `agentsim-history/3`, as pydantic models: `fold` makes one, `load` reads one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from agentsim.engine.codec import Texts
from agentsim.engine.event import EveryoneType, LoggedEvent
from agentsim.engine.game import Outcome
from agentsim.errors import first_objection
from agentsim.history.journal import TICK_DEADLINE, DecisionRecord
from agentsim.models.base import Attempt, Segments, Text, Word

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
    """Something that happened; `visibility` is `"all"` or the ids of those who could see it.

    `prompt` and `reasoning` are those of the last attempt at the decision that led to it.
    """

    seq: int
    kind: str
    heading: str
    role: str
    content: str
    data: dict[str, Any]
    visibility: Literal["all"] | list[str]
    prompt: Segments | None
    reasoning: Text | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, seq: int, logged: LoggedEvent, decision: DecisionRecord | None = None) -> EventRecord:
        """Return event `seq` of the log, with the decision that led to it, if that is known."""
        last = decision.attempts[-1] if decision is not None and decision.attempts else None
        return cls(
            seq=seq,
            kind=logged.event.kind,
            heading=logged.event.heading,
            role=role_of(logged.by),
            content=logged.event.content,
            data=logged.event.data(),
            visibility="all" if isinstance(logged.to, EveryoneType) else list(logged.to),
            prompt=None if last is None else tuple(text for message in last.messages for text in message.segments),
            reasoning=None if last is None else last.reasoning,
            metadata={} if logged.decision is None else {"decision": logged.decision},
        )


def role_of(by: str | None) -> str:
    """Return an event's `role`: the player or the staff (`@role`) whose decision led to it, or the narrator."""
    if by is None:
        return "narrator"
    return by.removeprefix("@") if by.startswith("@") else f"player {by}"


class RoundRecord(Record):
    """A round and its events; round 0 is the set-up."""

    index: int
    title: str
    events: list[EventRecord]


class Totals(BaseModel):
    """What was called and used, in all or by one player.

    `known_usd` are the US dollars of the calls whose price is known. `cost_usd` is None if that of any call is not.
    `cacheable_tokens` are those of the prompts whose provider says how many it read from its cache.
    """

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, defer_build=True)

    calls: int = 0
    failed_calls: int = 0
    reasks: int = 0
    fallbacks: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = 0.0
    known_usd: float = 0.0
    unpriced_calls: int = 0
    cacheable_tokens: Annotated[int, _WhereSet] = 0
    repaired: Annotated[int, _WhereSet] = 0
    cut: Annotated[int, _WhereSet] = 0
    takeovers: Annotated[int, _WhereSet] = 0
    late: Annotated[int, _WhereSet] = 0
    by_player: Annotated[dict[str, Totals] | None, _WhereSet] = None

    @classmethod
    def of(
        cls,
        decisions: Iterable[DecisionRecord],
        players: Iterable[str],
        undecided: Iterable[tuple[str, Attempt]] = (),
    ) -> Totals:
        """Return the totals of decisions, and `by_player`: players and `@role` staff in the order given, each of them.

        `undecided` are attempts, by player, at requests that have no decision yet.
        """
        found, by_player = cls(), {player: cls() for player in players}
        for decision in decisions:
            found.add(decision)
            by_player[decision.player].add(decision)
        for player, attempt in undecided:
            found.add_call(attempt)
            by_player[player].add_call(attempt)
        found.by_player = by_player
        return found

    @property
    def cached_share(self) -> float | None:
        """The part of the prompt tokens that came from a provider's cache, 0 to 1, or None if no provider says.

        Prompts whose provider says nothing about a cache are left out: no word is not none.
        """
        return min(1.0, self.cached_tokens / self.cacheable_tokens) if self.cacheable_tokens else None

    def add(self, decision: DecisionRecord) -> None:
        """Count one decision and its calls; a person's costs none."""
        self.fallbacks += decision.source == "fallback"
        self.late += decision.fallback_reason == TICK_DEADLINE
        self.repaired += decision.parse is not None and decision.parse.repaired
        self.cut += decision.parse is not None and decision.parse.stage == "cut"
        if not decision.attempts:
            return
        bad = [attempt for attempt in decision.attempts if attempt.completion is not None and attempt.code is not None]
        last_was_bad = bool(bad) and decision.attempts[-1] is bad[-1]
        self.reasks += len(bad) - (decision.source == "fallback" and last_was_bad)
        if decision.source != "human":
            for attempt in decision.attempts:
                self.add_call(attempt)

    def add_call(self, attempt: Attempt) -> None:
        """Count one call, which may have failed."""
        self.calls += 1
        self.takeovers += attempt.takeover
        self.failed_calls += attempt.completion is None
        if (usage := attempt.usage) is None:
            return
        self.prompt_tokens += usage.prompt_tokens or 0
        self.cached_tokens += usage.cached_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.reasoning_tokens += usage.reasoning_tokens or 0
        self.cacheable_tokens += 0 if usage.cached_tokens is None else usage.prompt_tokens or 0
        self.known_usd = round(self.known_usd + (usage.cost_usd or 0.0), 10)
        self.unpriced_calls += usage.cost_usd is None
        self.cost_usd = None if self.unpriced_calls else self.known_usd


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
    decision, and those `beside` it, are the parent's. A history says what the parent's decisions used (`inherited`)
    and what the branch itself did (`paid`).
    """

    of: str
    at: int
    branch: int | None = None
    instead: dict[str, Any] | None = None
    changed: list[str] = []
    salts: list[tuple[int, str]] = []
    wave: int
    beside: list[int] = []
    arm: Annotated[str | None, _WhereSet] = None
    inherited: Annotated[Totals | None, _WhereSet] = None
    paid: Annotated[Totals | None, _WhereSet] = None

    def inherits(self, wave: int, index: int) -> bool:
        """Whether a decision is the parent's, which was paid for there."""
        return wave < self.wave or index in self.beside

    @property
    def change(self) -> str:
        """What is not the parent's, in words."""
        return ", ".join((*self.changed, *(() if self.instead is None else (json.dumps(self.instead),))))

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> Branch:
        """The branch of which this was kept; `ValueError` where it is none."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise ValueError(first_objection(error)) from None


class _TextsOfFile(Record):
    """The long texts of a history's file, to whose places its other records refer."""

    texts: list[Word]


class History(Record):
    """One game, whole.

    `usage` is that of the game; what of it the run itself made is `paid`, a branch's without its parent's.
    """

    format: Literal["agentsim-history/3"]
    game: str
    rules_version: int
    reader: int
    seed: int
    fork: Annotated[Branch | None, _WhereSet] = None
    status: Status
    scenario: dict[str, Any]
    asides: Annotated[list[dict[str, Any]], _WhereSet] = []
    players: list[PlayerRecord]
    rounds: list[RoundRecord]
    decisions: list[DecisionRecord]
    outcome: Outcome | None
    usage: Totals
    warnings: Annotated[list[WarningRecord], _WhereSet] = []
    volatile: dict[str, Any]

    @model_validator(mode="wrap")
    @classmethod
    def _with_texts(
        cls, document: Any, validate: ModelWrapValidatorHandler[Self], info: ValidationInfo[Texts | None]
    ) -> Self:
        """Put the `texts` of a file's JSON values where its records refer to them, by way of the context."""
        if not isinstance(document, Mapping) or "texts" not in document:
            return validate(document)
        if info.context is None:
            return cls.model_validate(document, context=Texts())
        info.context.in_order += _TextsOfFile.model_validate(document).texts
        return validate(document)

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
        for key in self.volatile.keys() & _VOLATILE:
            if not isinstance(self.volatile[key], _VOLATILE[key]):
                raise ValueError(f"does not say its {key} in a {'number' if key == 'wall_s' else 'text'}")
        return self

    @property
    def seated(self) -> list[PlayerRecord]:
        """The players without staff."""
        return [player for player in self.players if not player.staff]

    @property
    def paid(self) -> Totals:
        """What the run itself called and used."""
        return self.usage if self.fork is None or self.fork.paid is None else self.fork.paid

    @property
    def spent(self) -> tuple[int, float, int]:
        """Calls, US dollars of those whose price is known, and the number of the others; a parent's are among them."""
        return self.usage.calls, self.usage.known_usd, self.usage.unpriced_calls

    @property
    def names(self) -> dict[str, str]:
        """The names, by id, of players whom the game does not call by their id."""
        return {player.id: player.name for player in self.players if player.name}

    def inherits(self, decision: DecisionRecord) -> bool:
        """Whether a decision is that of the parent that this run is a branch of."""
        return self.fork is not None and self.fork.inherits(decision.wave, decision.index)


KEYS = tuple(name for field in History.model_fields for name in (("texts", field) if field == "volatile" else (field,)))
"""The keys of a history's file, in order: those of its records, and the texts that they name."""
