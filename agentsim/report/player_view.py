"""A history as one player saw it, without the other players' secrets.

It is built from an explicit list of fields, so that fields added to the record later are not included by default.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentsim.engine.game import Outcome, Standing
from agentsim.engine.letters import composed
from agentsim.engine.wording import few
from agentsim.errors import ScenarioError, UsageError
from agentsim.games import find
from agentsim.records.history import EventRecord, History, PlayerRecord, RoundRecord
from agentsim.records.journal import Totals

_NAMED = 20  # the most ids listed in an error


def as_seen_by(history: History, player: str) -> History:
    """Return the part of a history that `player` saw or did. Raises `UsageError` if no player has that name.

    Kept: the events this player heard, its own decisions with prompts, reasoning and usage, every player's id, the
    outcome's reason, ranks and winner, and the scores of a game whose scores are public. Removed: others' models,
    temperatures, personas, prompts, reasoning, decisions, other scores and usage, all staff, the game's configuration,
    and paths and limits of the run. `seq` and decision numbers stay, so that two pages of one game can be compared.
    """
    seated = history.seated
    player = seated_player(history, player)
    own = {decision.index for decision in history.decisions if decision.player == player}
    rounds = []
    for part in history.rounds:
        heard = [event for event in part.events if event.visibility == "all" or player in event.visibility]
        events = [_event(event, own=event.metadata.get("decision") in own) for event in heard]
        rounds.append(RoundRecord(index=part.index, title=part.title, events=events))
    decisions = [decision for decision in history.decisions if decision.index in own]
    return History(
        format=history.format,
        game=history.game,
        rules_version=history.rules_version,
        reader=history.reader,
        seed=history.seed,
        status=history.status,
        scenario=_scenario(history.scenario, player),
        players=[r if r.id == player else PlayerRecord(id=r.id, model="", name=r.name) for r in seated],
        rounds=rounds,
        decisions=decisions,
        outcome=history.outcome and _outcome(history.outcome, player, public=_public_scores(history.game)),
        usage=_usage(history.usage, player),
        volatile={k: v for k, v in history.volatile.items() if k in ("name", "started_at", "finished_at", "wall_s")}
        | {"versions": history.volatile.get("versions", {})},
    )


def seated_player(history: History, name: str) -> str:
    """Return the id of the player of that name, in NFC. Raises `UsageError` if there is none."""
    names = [record.id for record in history.seated]
    if composed(name) not in names:
        raise UsageError(f"no player of this game is called {name[:80]!r} (valid: {few(names, _NAMED)})")
    return composed(name)


def _event(event: EventRecord, *, own: bool) -> EventRecord:
    """Return the event, without prompt, reasoning and metadata if another player's decision led to it."""
    return event if own else replace(event, prompt=None, reasoning=None, metadata={})


def _scenario(scenario: dict[str, Any], player: str) -> dict[str, Any]:
    entries = scenario.get("players")
    own = [e for e in entries if isinstance(e, dict) and e.get("id") == player] if isinstance(entries, list) else []
    return {"game": scenario["game"], "players": own} if "game" in scenario else {"players": own}


def _public_scores(game: str) -> bool:
    """Return whether all players hear the scores of a game; False if the game is not installed."""
    try:
        return find(game).public_scores
    except ScenarioError:
        return False


def _outcome(outcome: Outcome, player: str, *, public: bool) -> Outcome:
    standings = (s if public or s.player == player else Standing(s.player, s.rank) for s in outcome.standings)
    return Outcome(outcome.reason, tuple(standings))


def _usage(usage: Totals, player: str) -> Totals:
    """Return the player's own totals; a bot or a person makes no calls."""
    own = (usage.by_player or {}).get(player, Totals.zero())
    return own.model_copy(update={"by_player": {player: own}})
