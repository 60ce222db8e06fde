"""History: the models of a history file, `agentsim-history/3`, and how it is made from a log and its decisions.

The same log and decisions give the same bytes: a history depends on no clock, no file and no order of replies; such
values are passed in as `volatile`. `load` reads a history; `models.prices` knows what one call costs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from types import UnionType
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from agentsim.engine.codec import NewTexts, Texts, json_line
from agentsim.engine.event import EveryoneType, LoggedEvent
from agentsim.engine.game import Outcome
from agentsim.engine.reading import READER_VERSION
from agentsim.engine.steering import Aside
from agentsim.errors import first_objection
from agentsim.models.base import JOURNAL_ONLY_FIELDS, Attempt, LongText, OmitEmpty, Segments, ShortText
from agentsim.records.diagnostics import Diagnostic, diagnostics
from agentsim.records.interviews import LaterInterview
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.records.versions import HISTORY_FORMAT

Status = Literal["completed", "degraded", "interrupted", "stopped_provider", "stopped_budget", "failed"]
CONTROL = "control"
"""The arm whose branches change nothing."""
FINISHED: frozenset[str] = frozenset({"completed", "degraded"})
"""The statuses of a game that is over; a run with any other can be resumed, or has failed."""
_LINES = 32  # lines of a file that are handed on at once
_VOLATILE: Mapping[str, type | UnionType] = {"name": str, "started_at": str, "finished_at": str, "wall_s": int | float}
"""The types of the parts of `volatile` that are shown or summed, if they are present."""


class HistoryModel(BaseModel):
    """The base of most records: frozen; unknown keys are ignored, so that files of later versions load."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


class PlayerRecord(HistoryModel):
    """A seat; the ids of staff begin with `@`. Several models are joined by ` > `.

    `name` is set if the game calls the player differently.
    """

    id: str
    model: str
    temperature: float | None = None
    reasoning: Annotated[str | int | None, OmitEmpty] = None
    seed: Annotated[int | None, Field(exclude_if=lambda value: value is None)] = None
    logprobs: Annotated[bool, OmitEmpty] = False
    name: Annotated[str | None, OmitEmpty] = None

    @property
    def staff(self) -> bool:
        return self.id.startswith("@")


@dataclass(slots=True, kw_only=True)  # not frozen, which would take three times as long to make
class EventRecord:
    """An event of the game; `visibility` is `"all"` or the ids of the players who could see it.

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
    reasoning: LongText | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, seq: int, logged: LoggedEvent, decision: DecisionRecord | None = None) -> EventRecord:
        """Return event `seq` of the log, with the decision that led to it, if that is known."""
        event, to, _, by, index = logged
        last = decision.attempts[-1] if decision is not None and decision.attempts else None
        return cls(
            seq=seq,
            kind=event.kind,
            heading=event.heading,
            role=role_of(by),
            content=event.content,
            data=event.data(),
            visibility="all" if isinstance(to, EveryoneType) else list(to),
            prompt=None if last is None else tuple(text for message in last.messages for text in message.segments),
            reasoning=None if last is None else last.reasoning,
            metadata={} if index is None else {"decision": index},
        )

    def to_json(self, texts: NewTexts) -> dict[str, Any]:
        """Return the record as JSON values, its long texts put into `texts`."""
        return {
            "seq": self.seq,
            "kind": self.kind,
            "heading": self.heading,
            "role": self.role,
            "content": self.content,
            "data": self.data,
            "visibility": self.visibility,
            "prompt": None if self.prompt is None else texts(self.prompt),
            "reasoning": None if self.reasoning is None else texts([self.reasoning])[0],
            "metadata": self.metadata,
        }


@lru_cache(maxsize=1024)
def role_of(by: str | None) -> str:
    """Return an event's `role`: the player or the staff (`@role`) whose decision led to it, or the narrator."""
    if by is None:
        return "narrator"
    return by.removeprefix("@") if by.startswith("@") else f"player {by}"


class RoundRecord(HistoryModel):
    """A round and its events; round 0 is the setup."""

    index: int
    title: str
    events: list[EventRecord]


class WarningRecord(HistoryModel):
    """A diagnostic of a model's answers, the number of its occurrences, and the message of the first."""

    code: str
    model: str
    message: str
    count: int


class Branch(HistoryModel):
    """The link of a run to the parent whose past it shares, as journals and histories keep it.

    `of` is the parent's name, `at` the index of the decision that is made anew, or replaced by `instead`; `branch` is
    the number among several branches. `salts` are pairs of a wave and a word that change chance after that wave; a
    fork of a fork may have two. `changed` are the settings that differ from the parent's, as `KEY=VALUE`; `arm` is the
    name of the branches with the same change, or None. `wave` is that of the decision. Decisions of earlier waves, and
    those `beside` it in the same wave, are the parent's. Histories add the usage of the parent's decisions
    (`inherited`) and of the branch's own (`paid`).
    """

    of: str
    at: int
    branch: int | None = None
    instead: dict[str, Any] | None = None
    changed: list[str] = []
    salts: list[tuple[int, str]] = []
    wave: int
    beside: list[int] = []
    arm: Annotated[str | None, OmitEmpty] = None
    inherited: Annotated[Totals | None, OmitEmpty] = None
    paid: Annotated[Totals | None, OmitEmpty] = None

    def inherits(self, wave: int, index: int) -> bool:
        """Return whether a decision is the parent's, which paid for it."""
        return wave < self.wave or index in self.beside

    @property
    def change(self) -> str:
        """The changes to the parent, in words."""
        return ", ".join((*self.changed, *(() if self.instead is None else (json.dumps(self.instead),))))

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> Branch:
        """Return the branch of a record. Raises `ValueError` if the record is not one."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise ValueError(first_objection(error)) from None


class _TextsOfFile(HistoryModel):
    """The long texts of a history's file, which its other records refer to by position."""

    texts: list[ShortText]


class History(HistoryModel):
    """One run, whole or as far as it went.

    `usage` is that of the game; `paid` is the part that the run itself made, a branch's without its parent's.
    """

    format: Literal["agentsim-history/3"]
    game: str
    rules_version: int
    reader: int
    seed: int
    fork: Annotated[Branch | None, OmitEmpty] = None
    status: Status
    scenario: dict[str, Any]
    asides: Annotated[list[dict[str, Any]], OmitEmpty] = []
    players: list[PlayerRecord]
    rounds: list[RoundRecord]
    decisions: list[DecisionRecord]
    outcome: Outcome | None
    usage: Totals
    warnings: Annotated[list[WarningRecord], OmitEmpty] = []
    volatile: dict[str, Any]

    @model_validator(mode="wrap")
    @classmethod
    def _with_texts(
        cls, document: Any, validate: ModelWrapValidatorHandler[Self], info: ValidationInfo[Texts | None]
    ) -> Self:
        """Validate a file's `texts` first, and put them into the context, so that its records can refer to them."""
        if not isinstance(document, Mapping) or "texts" not in document:
            return validate(document)
        if info.context is None:
            return cls.model_validate(document, context=Texts())
        info.context.in_order += _TextsOfFile.model_validate(document).texts
        return validate(document)

    @model_validator(mode="after")
    def _points_at_what_is_there(self) -> Self:
        """Check that every name and number refers to exactly one existing thing."""
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

    _later: Sequence[LaterInterview] = PrivateAttr(default=())

    @property
    def later(self) -> Sequence[LaterInterview]:
        """The interviews that were held after the run, which its file does not have."""
        return self._later

    def with_later(self, interviews: Sequence[LaterInterview]) -> Self:
        """Give the history these later interviews, and return it."""
        self._later = tuple(interviews)
        return self

    @property
    def seated(self) -> list[PlayerRecord]:
        """The players without staff."""
        return [player for player in self.players if not player.staff]

    @property
    def paid(self) -> Totals:
        """The usage of the run itself, without a parent's."""
        return self.usage if self.fork is None or self.fork.paid is None else self.fork.paid

    @property
    def spent(self) -> tuple[int, float, int]:
        """The calls, known US dollars and number of calls of unknown price, a parent's included."""
        return self.usage.calls, self.usage.known_usd, self.usage.unpriced_calls

    @property
    def names(self) -> dict[str, str]:
        """The names, by id, of players that the game does not call by their id."""
        return {player.id: player.name for player in self.players if player.name}

    def inherits(self, decision: DecisionRecord) -> bool:
        """Return whether a decision is that of the parent that this run is a branch of."""
        return self.fork is not None and self.fork.inherits(decision.wave, decision.index)


KEYS = tuple(name for field in History.model_fields for name in (("texts", field) if field == "volatile" else (field,)))
"""The keys of a history's file, in order: those of its records, with the texts that they refer to before the last."""


def build_history(
    *,
    game: str,
    rules_version: int,
    seed: int,
    status: str,
    scenario: Mapping[str, Any],
    players: Sequence[PlayerRecord],
    rounds: Sequence[str],
    log: Sequence[LoggedEvent],
    decisions: Sequence[DecisionRecord],
    undecided: Sequence[tuple[str, Attempt]] = (),
    outcome: Outcome | None,
    volatile: Mapping[str, Any],
    fork: Branch | None = None,
    asides: Sequence[Aside] = (),
    first: int = 1,
) -> History:
    """Build the history of these events and decisions, without validating its records.

    `undecided` are attempts, by player, at requests that have no decision yet: they count in `usage`. Surveys of
    `asides` are numbered after the scenario's interviews. `first` is the number of the first event.
    """
    ordered = sorted(decisions, key=attrgetter("wave", "place"))
    by_index = {each.index: each for each in ordered}
    events: list[list[EventRecord]] = [[] for _ in rounds]
    for seq, logged in enumerate(log, start=first):
        events[logged.round].append(EventRecord.of(seq, logged, by_index.get(logged.decision or 0)))
    latencies = {
        str(record.index): round(sum(attempt.latency_s for attempt in record.attempts), 4)
        for record in ordered
        if record.attempts
    }
    return History.model_construct(
        format=HISTORY_FORMAT,
        game=game,
        rules_version=rules_version,
        reader=READER_VERSION,
        seed=seed,
        fork=fork,
        status=status,
        scenario=dict(scenario),
        asides=[each.model_dump(mode="json", exclude_defaults=True) for each in asides],
        players=list(players),
        rounds=[
            RoundRecord.model_construct(index=index, title=title, events=told)
            for index, (title, told) in enumerate(zip(rounds, events, strict=True))
        ],
        decisions=ordered,
        outcome=outcome,
        usage=Totals.of(ordered, [player.id for player in players], undecided),
        warnings=warnings_of(ordered, undecided, {player.id: player.model for player in players}),
        volatile={**volatile, "latency_s": latencies},
    )


def history_bytes(history: History) -> Iterator[bytes]:
    """Yield the file's bytes: JSON with one event, decision or text per line, so that files can be compared.

    Long texts are stored once, in `texts`; records refer to them by position.
    """
    texts = NewTexts(Texts())
    by_line: Mapping[str, Iterator[bytes]] = {
        "rounds": _round_lines(history.rounds, texts),
        "decisions": _array_lines(each.json_line(texts, JOURNAL_ONLY_FIELDS) for each in history.decisions),
        "texts": _array_lines(map(json_line, texts.new)),
    }
    rest = history.model_dump(exclude={*by_line})
    before = b"{\n"
    for key in KEYS:
        if key in by_line or key in rest:
            yield b'%b"%b":' % (before, key.encode())
            yield from by_line[key] if key in by_line else [json_line(rest[key])]
            before = b",\n"
    yield b"\n}\n"


def dump_history(history: History) -> str:
    """Return the file's text."""
    return b"".join(history_bytes(history)).decode()


def _round_lines(rounds: Iterable[RoundRecord], texts: NewTexts) -> Iterator[bytes]:
    """Yield the rounds in pieces, one event per line."""
    before = b"[\n"
    for part in rounds:
        yield b'%b{"index":%d,"title":%b,"events":' % (before, part.index, json_line(part.title))
        yield from _array_lines(json_line(each.to_json(texts)) for each in part.events)
        yield b"}"
        before = b",\n"
    yield _end(before)


def _array_lines(values: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a JSON array, one value per line, in pieces of several lines."""
    before, left = b"[\n", iter(values)
    while piece := b",\n".join(islice(left, _LINES)):
        yield before + piece
        before = b",\n"
    yield _end(before)


def _end(before: bytes) -> bytes:
    return b"[]" if before == b"[\n" else b"\n]"


def warnings_of(
    records: Iterable[DecisionRecord], undecided: Sequence[tuple[str, Attempt]], models: Mapping[str, str]
) -> list[WarningRecord]:
    """Return the history's `warnings`: each diagnostic of each model once, in order of appearance, with its count.

    `models` are those of the players, by id.
    """
    attempts = [(record.player, attempt) for record in records for attempt in record.attempts]
    first: dict[tuple[str, str], Diagnostic] = {}
    counts: Counter[tuple[str, str]] = Counter()
    hosts: dict[str, str] = {}
    for player, attempt in (*attempts, *undecided):
        for diagnostic in diagnostics(attempt.model or models[player], attempt, hosts):
            key = (diagnostic.code, diagnostic.model)
            first.setdefault(key, diagnostic)
            counts[key] += 1
    return [WarningRecord(**asdict(diagnostic), count=counts[key]) for key, diagnostic in first.items()]
