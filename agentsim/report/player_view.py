"""A history as one player saw it: the others' secrets are taken out of every part of the record.

It is built up from what may stay, so that a field added to the record later is not let through by default.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from agentsim.engine.letters import composed
from agentsim.engine.wording import few
from agentsim.errors import UsageError
from agentsim.history import record as records
from agentsim.history.record import History

_NAMED = 20  # ids listed in an error


def as_seen_by(history: History, player: str) -> History:
    """The part of a history that `player` saw or did; `UsageError` where no player of that name is seated.

    What stays: the events this player heard, its own decisions with prompts, reasoning and usage, every player's
    id, and the outcome's reason, ranks and winner. What goes: others' models, temperatures, personas, prompts,
    reasoning, decisions, scores and usage, all staff, the game's configuration, and paths and limits of the
    run. `seq` and decision numbers stay, so that two pages of one game can be read side by side.
    """
    seated = history.seated
    player = seated_player(history, player)
    own = {decision.index for decision in history.decisions if decision.player == player}
    kept = _Texts(history.texts)
    rounds = []
    for part in history.rounds:
        heard = [event for event in part.events if event.visibility == "all" or player in event.visibility]
        events = [_event(event, kept, own=event.metadata.get("decision") in own) for event in heard]
        rounds.append(records.RoundRecord(index=part.index, title=part.title, events=events))
    decisions = [_decision(decision, kept) for decision in history.decisions if decision.index in own]
    return History(
        format=history.format,
        game=history.game,
        rules_version=history.rules_version,
        reader=history.reader,
        seed=history.seed,
        status=history.status,
        scenario=_scenario(history.scenario, player),
        players=[r if r.id == player else records.PlayerRecord(id=r.id, model="", name=r.name) for r in seated],
        rounds=rounds,
        decisions=decisions,
        outcome=history.outcome and _outcome(history.outcome, player),
        usage=_usage(history.usage, player),
        texts=kept.texts,
        volatile={k: v for k, v in history.volatile.items() if k in ("name", "started_at", "finished_at", "wall_s")}
        | {"versions": history.volatile.get("versions", {})},
    )


def seated_player(history: History, name: str) -> str:
    """Return the player of that name, however its accents were typed. Raises `UsageError` if there is none."""
    names = [record.id for record in history.seated]
    if composed(name) not in names:
        raise UsageError(f"no player of this game is called {name[:80]!r} (valid: {few(names, _NAMED)})")
    return composed(name)


class _Texts:
    """The texts that stay, numbered anew in the order in which the record names them."""

    def __init__(self, texts: list[str]) -> None:
        self._all = texts
        self._places: defaultdict[int, int] = defaultdict(lambda: len(self._places))

    @property
    def texts(self) -> list[str]:
        return [self._all[index] for index in self._places]

    def moved(self, indices: list[int] | None) -> list[int] | None:
        return None if indices is None else [self._places[index] for index in indices]


def _event(event: records.EventRecord, kept: _Texts, *, own: bool) -> records.EventRecord:
    """The event; without prompt, reasoning and metadata where another player's decision led to it."""
    if not own:
        return replace(event, prompt=None, reasoning=None, metadata={})
    return replace(event, prompt=kept.moved(event.prompt), reasoning=kept.moved(event.reasoning))


def _decision(decision: records.HistoryDecision, kept: _Texts) -> records.HistoryDecision:
    attempts = [
        replace(
            attempt,
            messages=[(role, kept.moved(places) or []) for role, places in attempt.messages],
            reply=kept.moved(attempt.reply),
            reasoning=kept.moved(attempt.reasoning),
        )
        for attempt in decision.attempts
    ]
    return replace(decision, attempts=attempts)


def _scenario(scenario: dict[str, Any], player: str) -> dict[str, Any]:
    entries = scenario.get("players")
    own = [e for e in entries if isinstance(e, dict) and e.get("id") == player] if isinstance(entries, list) else []
    return {"game": scenario["game"], "players": own} if "game" in scenario else {"players": own}


def _outcome(outcome: records.OutcomeRecord, player: str) -> records.OutcomeRecord:
    standings = [
        s if s.player == player else records.StandingRecord(player=s.player, rank=s.rank, score={})
        for s in outcome.standings
    ]
    return records.OutcomeRecord(reason=outcome.reason, winner=outcome.winner, standings=standings)


def _usage(usage: records.TotalsRecord, player: str) -> records.TotalsRecord:
    own = (usage.by_player or {}).get(player)
    if own is None:  # a bot or a person makes no calls
        counts = "calls failed_calls reasks fallbacks prompt_tokens cached_tokens completion_tokens reasoning_tokens"
        own = records.TotalsRecord.model_validate({**dict.fromkeys(counts.split(), 0), "cost_usd": 0.0})
    return own.model_copy(update={"by_player": {player: own}})
