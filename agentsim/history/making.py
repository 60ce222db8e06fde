"""Making: one record of a history from what was told and decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.event import EveryoneType, LogEntry
from agentsim.engine.survey import SurveyPlace
from agentsim.history.journal_reader import Entry
from agentsim.history.record import DecisionRecord, EventRecord, TryRecord
from agentsim.models.base import Attempt, Usage


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
    counted = entry.source != "human" and any(attempt.usage is not None for attempt in entry.tries)
    return DecisionRecord(
        index=entry.index,
        wave=entry.wave,
        player=entry.player,
        kind=entry.kind,
        decision=dict(entry.decision),
        source=entry.source,
        fallback_reason=entry.fallback_reason,
        tries=[_try(attempt, texts) for attempt in entry.tries],
        parse=entry.parse,
        model=(used.model or by) if used else None,
        provider=used.provider if used else None,
        answered_by=by,
        usage=usage_of(entry) if counted else None,
        survey=survey,
    )


def _try(attempt: Attempt, texts: Mapping[str, int]) -> TryRecord:
    completion = attempt.completion
    return TryRecord(
        messages=[(message.role, [texts[text] for text in message.segments]) for message in attempt.messages],
        reply=None if completion is None else [texts[completion.text]],
        reasoning=[texts[completion.reasoning]] if completion is not None and completion.reasoning else None,
        error=None if attempt.code is None else {"code": attempt.code, "message": attempt.error},
        finish_reason=None if completion is None else completion.finish_reason,
        model=attempt.model,
        takeover=attempt.takeover,
    )


def usage_of(entry: Entry) -> Usage:
    """The tokens and dollars of all calls of one decision; the cost is None where any call's is."""
    calls = [attempt.usage for attempt in entry.tries if attempt.usage is not None]

    def added(name: str) -> int | None:
        known = [count for call in calls if (count := getattr(call, name)) is not None]
        return sum(known) if known else None

    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    tokens = {name: added(name) for name in ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")}
    return Usage(**tokens, cost_usd=round(sum(costs), 10) if len(costs) == len(calls) else None)


def events_by_round(
    log: Sequence[LogEntry], rounds: int, first: int, decided: Mapping[int, DecisionRecord]
) -> list[list[EventRecord]]:
    """The events of each round; `decided` are the decisions by index, `first` is the number of the first event."""
    made: list[list[EventRecord]] = [[] for _ in range(rounds)]
    for seq, told in enumerate(log, start=first):
        made[told.round].append(event_record(seq, told, decided.get(told.decision or 0)))
    return made
