"""divergence: where two histories of one game part, and what became of each. Showing it belongs to the command line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from agentsim.history.record import DecisionRecord, EventRecord, History

__all__ = ["Divergence", "Parted", "divergence"]


@dataclass(frozen=True, slots=True)
class Parted:
    """The first place where two lists of one kind differ, counted from 1; None on a side that has ended before."""

    place: int
    one: dict[str, Any] | None
    other: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first decision and the first event that differ (None: none does), and by player the ranks in both.

    `decisions_after` counts, for each, decisions from the first that differs on; a player's rank is None where the game
    has no outcome. `settings` are the seats whose model is not the same.
    """

    decision: Parted | None
    event: Parted | None
    decisions_after: tuple[int, int]
    ranks: dict[str, tuple[int | None, int | None]]
    settings: dict[str, tuple[str | None, str | None]]

    @property
    def same(self) -> bool:
        """Whether decisions, events and outcome are the same."""
        return self.decision is None and self.event is None and all(one == other for one, other in self.ranks.values())


def divergence(one: History, other: History) -> Divergence:
    """Compare two histories, decision by decision and event by event."""
    decision = _first([_decided(each) for each in one.decisions], [_decided(each) for each in other.decisions])
    event = _first([*map(_told, _events(one))], [*map(_told, _events(other))])
    before = len(one.decisions) if decision is None else decision.place - 1
    ranks, models = [_ranks(each) for each in (one, other)], [_models(each) for each in (one, other)]
    return Divergence(
        decision=decision,
        event=event,
        decisions_after=(max(0, len(one.decisions) - before), max(0, len(other.decisions) - before)),
        ranks={player: (ranks[0].get(player), ranks[1].get(player)) for player in {**models[0], **models[1]}},
        settings={
            player: (models[0].get(player), models[1].get(player))
            for player in {**models[0], **models[1]}
            if models[0].get(player) != models[1].get(player)
        },
    )


def _first(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> Parted | None:
    pairs = enumerate(zip_longest(one, other), start=1)
    return next((Parted(place, mine, theirs) for place, (mine, theirs) in pairs if mine != theirs), None)


def _decided(record: DecisionRecord) -> dict[str, Any]:
    return {"player": record.player, "kind": record.kind, "decision": record.decision}


def _events(history: History) -> list[tuple[str, EventRecord]]:
    return [(part.title, event) for part in history.rounds for event in part.events]


def _told(event: tuple[str, EventRecord]) -> dict[str, Any]:
    title, record = event
    shown = {"kind": record.kind, "heading": record.heading, "content": record.content, "data": record.data}
    return {"round": title, **shown, "visibility": record.visibility}


def _ranks(history: History) -> dict[str, int]:
    return {} if history.outcome is None else {each.player: each.rank for each in history.outcome.standings}


def _models(history: History) -> dict[str, str]:
    return {player.id: player.model for player in history.seated}
