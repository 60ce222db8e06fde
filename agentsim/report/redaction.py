"""A history as one player saw it: the others' secrets are taken out of every part of the record.

It is built up from what may stay, so that a field added to the record later is not let through by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentsim.errors import UsageError
from agentsim.history.record import (
    DecisionRecord,
    EventRecord,
    History,
    OutcomeRecord,
    PlayerRecord,
    RoundRecord,
    StandingRecord,
    TotalsRecord,
)

__all__ = ["as_seen_by"]

_NAMED = 20  # ids listed in an error


def as_seen_by(history: History, player: str) -> History:
    """The part of a history that `player` saw or did; `UsageError` where no player of that name is seated.

    What stays: the events this player heard, its own decisions with prompts, reasoning and usage, every player's
    id, and the outcome's reason, ranks and winner. What goes: others' models, temperatures, personas, prompts,
    reasoning, decisions, scores and usage, all staff, the game's configuration, and paths and limits of the
    run. `seq` and decision numbers stay, so that two pages of one game can be read side by side.
    """
    seated = history.seated
    if player not in {record.id for record in seated}:
        raise UsageError(f"nobody called {player!r} plays in this game (valid: {_names(seated)})")
    decisions = [decision for decision in history.decisions if decision.player == player]
    own = {decision.index for decision in decisions}
    rounds = [
        RoundRecord(index=r.index, title=r.title, events=[_event(e, own) for e in r.events if _heard(e, player)])
        for r in history.rounds
    ]
    kept = sorted(set(_texts_used(rounds, decisions)))
    place = {old: new for new, old in enumerate(kept)}
    return History(
        format=history.format,
        game=history.game,
        rules_version=history.rules_version,
        seed=history.seed,
        status=history.status,
        scenario=_scenario(history.scenario, player),
        players=[r if r.id == player else PlayerRecord(id=r.id, model="", name=r.name) for r in seated],
        rounds=[_renumbered_round(r, place) for r in rounds],
        decisions=[_renumbered_decision(d, place) for d in decisions],
        outcome=history.outcome and _outcome(history.outcome, player),
        usage=_usage(history.usage, player),
        texts=[history.texts[index] for index in kept],
        volatile={k: v for k, v in history.volatile.items() if k in ("name", "started_at", "finished_at", "wall_s")}
        | {"versions": history.volatile.get("versions", {})},
    )


def _names(seated: list[PlayerRecord]) -> str:
    more = len(seated) - _NAMED
    return ", ".join(record.id for record in seated[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _heard(event: EventRecord, player: str) -> bool:
    return event.visibility == "all" or player in event.visibility


def _event(event: EventRecord, own: set[int]) -> EventRecord:
    """The event; without prompt, reasoning and metadata where another player's decision led to it."""
    if event.metadata.get("decision") in own:
        return event
    return event.model_copy(update={"prompt": None, "reasoning": None, "metadata": {}})


def _scenario(scenario: dict[str, Any], player: str) -> dict[str, Any]:
    entries = scenario.get("players")
    own = [e for e in entries if isinstance(e, dict) and e.get("id") == player] if isinstance(entries, list) else []
    return {"game": scenario["game"], "players": own} if "game" in scenario else {"players": own}


def _outcome(outcome: OutcomeRecord, player: str) -> OutcomeRecord:
    standings = [s if s.player == player else StandingRecord(player=s.player, rank=s.rank, score={})
                 for s in outcome.standings]  # fmt: skip
    return OutcomeRecord(reason=outcome.reason, winner=outcome.winner, standings=standings)


def _usage(usage: TotalsRecord, player: str) -> TotalsRecord:
    own = (usage.by_player or {}).get(player)
    if own is None:  # a bot or a person makes no calls
        own = TotalsRecord(calls=0, failed_calls=0, reasks=0, fallbacks=0, prompt_tokens=0, cached_tokens=0,
                           completion_tokens=0, reasoning_tokens=0, cost_usd=0.0)  # fmt: skip
    return own.model_copy(update={"by_player": {player: own}})


def _texts_used(rounds: Iterable[RoundRecord], decisions: Iterable[DecisionRecord]) -> Iterator[int]:
    for record in rounds:
        for event in record.events:
            yield from event.prompt or ()
            yield from event.reasoning or ()
    for decision in decisions:
        for attempt in decision.tries:
            for _, segments in attempt.messages:
                yield from segments
            yield from attempt.reply or ()
            yield from attempt.reasoning or ()


def _moved(indices: list[int] | None, place: dict[int, int]) -> list[int] | None:
    return None if indices is None else [place[index] for index in indices]


def _renumbered_round(record: RoundRecord, place: dict[int, int]) -> RoundRecord:
    """The round with `place` giving each text's new number."""
    events = [
        event.model_copy(update={what: _moved(getattr(event, what), place) for what in ("prompt", "reasoning")})
        for event in record.events
    ]
    return record.model_copy(update={"events": events})


def _renumbered_decision(decision: DecisionRecord, place: dict[int, int]) -> DecisionRecord:
    tries = [
        attempt.model_copy(update={
            "messages": [(role, _moved(segments, place)) for role, segments in attempt.messages],
            "reply": _moved(attempt.reply, place),
            "reasoning": _moved(attempt.reasoning, place),
        })
        for attempt in decision.tries
    ]  # fmt: skip
    return decision.model_copy(update={"tries": tries})
