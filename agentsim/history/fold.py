"""Fold: makes the history of a game from its log and its decisions, byte for byte the same each time, and adds up use.

It depends on no clock, no file and no order of replies. What does is given ready made, as `volatile`. What one call
costs is `models.prices`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from agentsim.engine.codec import adapter, json_line
from agentsim.engine.event import EveryoneType, LogEntry
from agentsim.engine.game import Outcome
from agentsim.engine.reading import READER_VERSION
from agentsim.engine.steering import Aside
from agentsim.engine.survey import SurveyPlace
from agentsim.history.journal import TICK_DEADLINE, Entry
from agentsim.history.record import (
    DecisionRecord,
    EventRecord,
    ForkRecord,
    History,
    OutcomeRecord,
    PlayerRecord,
    RoundRecord,
    StandingRecord,
    TotalsRecord,
    TryRecord,
    WarningRecord,
)
from agentsim.history.versions import HISTORY_FORMAT
from agentsim.models.base import Attempt, Usage
from agentsim.models.prices import CallTotals
from agentsim.players.model import Diagnostic, diagnostics


def fold(
    *,
    game: str,
    rules_version: int,
    seed: int,
    status: str,
    scenario: Mapping[str, Any],
    players: Sequence[Mapping[str, Any]],
    rounds: Sequence[str],
    log: Sequence[LogEntry],
    entries: Sequence[Entry],
    undecided: Sequence[tuple[str, Attempt]] = (),
    outcome: Outcome | None,
    volatile: Mapping[str, Any],
    fork: ForkRecord | None = None,
    surveyed: Mapping[int, SurveyPlace] = MappingProxyType({}),
    asides: Sequence[Aside] = (),
    first: int = 1,
) -> History:
    """The history of these events and decisions, whose records are right as they are made and not validated.

    `undecided` are attempts, by player, at requests that have no decision yet: they count in `usage`. `surveyed` are
    the decisions, by index, that answer surveys; those to `asides` are numbered after the
    scenario's interviews. `first` is the number of the first event.
    """
    texts: defaultdict[str, int] = defaultdict()  # the different texts, each known by its place
    texts.default_factory = texts.__len__  # a new text has the next one
    ordered = sorted(entries, key=attrgetter("wave", "place"))
    decisions = [decision_record(entry, texts, surveyed.get(entry.index)) for entry in ordered]
    events = events_by_round(log, len(rounds), first, {each.index: each for each in decisions})
    latencies = {
        str(entry.index): round(sum(attempt.latency_s for attempt in entry.tries), 4)
        for entry in ordered
        if entry.tries
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
        players=[PlayerRecord.model_construct(**player) for player in players],
        rounds=[
            RoundRecord.model_construct(index=index, title=title, events=told)
            for index, (title, told) in enumerate(zip(rounds, events, strict=True))
        ],
        decisions=decisions,
        outcome=None if outcome is None else _outcome(outcome),
        usage=totals(ordered, [str(player["id"]) for player in players], undecided),
        warnings=warnings_of(ordered, undecided, {str(player["id"]): str(player["model"]) for player in players}),
        texts=list(texts),
        volatile={**volatile, "latency_s": latencies},
    )


def history_bytes(history: History) -> Iterator[bytes]:
    """The file's bytes in pieces: JSON with one event, decision or text a line, so that two can be compared."""
    by_line: Mapping[str, Iterator[bytes]] = {
        "rounds": _round_lines(history.rounds),
        "decisions": _array_lines(map(_line, history.decisions)),
        "texts": _array_lines(map(json_line, history.texts)),
    }
    rest = history.model_dump(exclude={*by_line})
    before = b"{\n"
    for key in History.model_fields:
        if key in by_line or key in rest:
            yield b'%b"%b":' % (before, key.encode())
            yield from by_line[key] if key in by_line else [json_line(rest[key])]
            before = b",\n"
    yield b"\n}\n"


def dump_history(history: History) -> str:
    """The file's text."""
    return b"".join(history_bytes(history)).decode()


def _round_lines(rounds: Iterable[RoundRecord]) -> Iterator[bytes]:
    """The rounds in pieces, one event a line."""
    before = b"[\n"
    for part in rounds:
        yield b'%b{"index":%d,"title":%b,"events":' % (before, part.index, json_line(part.title))
        yield from _array_lines(map(_line, part.events))
        yield b"}"
        before = b",\n"
    yield _end(before)


def _array_lines(values: Iterable[bytes]) -> Iterator[bytes]:
    """A list, one value a line."""
    before = b"[\n"
    for value in values:
        yield before + value
        before = b",\n"
    yield _end(before)


def _end(before: bytes) -> bytes:
    return b"[]" if before == b"[\n" else b"\n]"


def _line(item: EventRecord | DecisionRecord) -> bytes:
    return json_line(adapter(type(item)).dump_python(item))


def _outcome(outcome: Outcome) -> OutcomeRecord:
    places = [
        StandingRecord.model_construct(player=each.player, rank=each.rank or None, score=dict(each.score))
        for each in outcome.standings
    ]
    return OutcomeRecord.model_construct(reason=outcome.reason, winner=outcome.winner, standings=places)


def event_record(seq: int, told: LogEntry, decision: DecisionRecord | None = None) -> EventRecord:
    """One event of the log as the history has it, with the decision that led to it, where that is known."""
    last = decision.tries[-1] if decision is not None and decision.tries else None
    return EventRecord(
        seq=seq,
        kind=told.event.kind,
        heading=told.event.heading,
        role=role_of(told.by),
        content=told.event.content,
        data=told.event.data(),
        visibility="all" if isinstance(told.to, EveryoneType) else list(told.to),
        prompt=None if last is None else [place for _, places in last.messages for place in places],
        reasoning=None if last is None else last.reasoning,
        metadata={} if told.decision is None else {"decision": told.decision},
    )


def role_of(by: str | None) -> str:
    """What an event's `role` calls the player, or `@role` of staff, whose decision led to it; None is the narrator."""
    if by is None:
        return "narrator"
    return by.removeprefix("@") if by.startswith("@") else f"player {by}"


def decision_record(entry: Entry, texts: Mapping[str, int], survey: SurveyPlace | None) -> DecisionRecord:
    """One decision as the history has it; `texts` are places by text."""
    answered = [attempt for attempt in entry.tries if attempt.completion is not None]
    used, by = (answered[-1].completion, answered[-1].model) if answered else (None, None)
    host = used.provider if used else None
    counted = entry.source != "human" and any(attempt.usage is not None for attempt in entry.tries)
    return DecisionRecord(
        index=entry.index,
        wave=entry.wave,
        player=entry.player,
        kind=entry.kind,
        decision=dict(entry.decision),
        source=entry.source,
        fallback_reason=entry.fallback_reason,
        tries=[_try(attempt, texts, host) for attempt in entry.tries],
        parse=entry.parse,
        model=(used.model or by) if used else None,
        provider=host,
        answered_by=by,
        usage=usage_of(entry) if counted else None,
        survey=survey,
    )


def _try(attempt: Attempt, texts: Mapping[str, int], host: str | None) -> TryRecord:
    completion, by = attempt.completion, attempt.host
    return TryRecord(
        messages=[(message.role, [texts[text] for text in message.segments]) for message in attempt.messages],
        reply=None if completion is None else [texts[completion.text]],
        reasoning=[texts[completion.reasoning]] if completion is not None and completion.reasoning else None,
        error=None if attempt.code is None else {"code": attempt.code, "message": attempt.error},
        finish_reason=None if completion is None else completion.finish_reason,
        model=attempt.model,
        provider=None if completion is not None and by == host else by,
        takeover=attempt.takeover,
        logprobs=None if completion is None or completion.logprobs is None else list(completion.logprobs),
    )


def usage_of(entry: Entry) -> Usage:
    """The tokens and dollars of all calls of one decision; the cost is None where any call's is."""
    calls = [attempt.usage for attempt in entry.tries if attempt.usage is not None]

    def added(name: str) -> int | None:
        known = [count for call in calls if (count := getattr(call, name)) is not None]
        return sum(known) if known else None

    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    names = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cache_write_tokens")
    tokens = {name: added(name) for name in names}
    return Usage(**tokens, cost_usd=round(sum(costs), 10) if len(costs) == len(calls) else None)


def events_by_round(
    log: Sequence[LogEntry], rounds: int, first: int, decided: Mapping[int, DecisionRecord]
) -> list[list[EventRecord]]:
    """The events of each round; `decided` are the decisions by index, `first` is the number of the first event."""
    made: list[list[EventRecord]] = [[] for _ in range(rounds)]
    for seq, told in enumerate(log, start=first):
        made[told.round].append(event_record(seq, told, decided.get(told.decision or 0)))
    return made


class Totals(CallTotals):
    """A running sum over decisions."""

    def __init__(self) -> None:
        super().__init__()
        self.reasks = self.fallbacks = self.repaired = self.cut = self.late = 0

    def add(self, entry: Entry) -> None:
        """Count one decision; a person's costs no calls."""
        self.fallbacks += entry.source == "fallback"
        self.late += entry.fallback_reason == TICK_DEADLINE
        self.repaired += entry.parse is not None and entry.parse.repaired
        self.cut += entry.parse is not None and entry.parse.stage == "cut"
        if not entry.tries:
            return
        bad = [attempt for attempt in entry.tries if attempt.completion is not None and attempt.code is not None]
        self.reasks += len(bad) - (entry.source == "fallback" and bool(bad) and entry.tries[-1] is bad[-1])
        if entry.source != "human":
            for attempt in entry.tries:
                self.add_call(attempt)

    def record(self, by_player: Mapping[str, Totals] | None = None) -> TotalsRecord:
        """As the history keeps it: the cost is None where the price of any call is unknown."""
        found = {name: getattr(self, name) for name in TotalsRecord.model_fields if name != "by_player"}
        found["cost_usd"] = None if self.unpriced_calls else round(self.cost_usd, 10)
        own = None if by_player is None else {player: part.record() for player, part in by_player.items()}
        return TotalsRecord.model_construct(**found, by_player=own)


def totals(
    entries: Sequence[Entry], players: Sequence[str], undecided: Sequence[tuple[str, Attempt]] = ()
) -> TotalsRecord:
    """The history's `usage`; players (and `@role` staff) in the order given, those without calls too.

    `undecided` are attempts at requests that have no decision yet.
    """
    everything = Totals()
    by_player = {player: Totals() for player in players}
    for entry in entries:
        everything.add(entry)
        by_player[entry.player].add(entry)
    for player, attempt in undecided:
        everything.add_call(attempt)
        by_player[player].add_call(attempt)
    return everything.record(by_player)


def warnings_of(
    entries: Iterable[Entry], undecided: Sequence[tuple[str, Attempt]], models: Mapping[str, str]
) -> list[WarningRecord]:
    """The history's `warnings`: each diagnostic of each model once, in order of appearance, and how often it came.

    `models` are those of the players, by id.
    """
    attempts = [(entry.player, attempt) for entry in entries for attempt in entry.tries]
    first: dict[tuple[str, str], Diagnostic] = {}
    counts: Counter[tuple[str, str]] = Counter()
    hosts: dict[str, str] = {}
    for player, attempt in (*attempts, *undecided):
        for diagnostic in diagnostics(attempt.model or models[player], attempt, hosts):
            key = (diagnostic.code, diagnostic.model)
            first.setdefault(key, diagnostic)
            counts[key] += 1
    return [WarningRecord(**asdict(diagnostic), count=counts[key]) for key, diagnostic in first.items()]
