"""What was played: decisions, calls, fallbacks and cost of each label, in games that rank players or do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agentsim.analysis.game_records import Entrant, GameRecord


@dataclass(frozen=True, slots=True)
class Played:
    """One label; `cost_usd` is the cost of a game, `asked` counts decisions that no bot made."""

    label: str
    games: int
    decisions: int
    calls: int
    reasks: int
    fallbacks: int
    cost_usd: float | None
    asked: int
    turned_away: int


def played(games: Sequence[GameRecord]) -> dict[str, Played]:
    """By label, in the order of the labels."""
    entries: dict[str, list[Entrant]] = {}
    there: Counter[str] = Counter()
    for game in games:
        there.update({entrant.label for entrant in game.entrants})
        for entrant in game.entrants:
            entries.setdefault(entrant.label, []).append(entrant)
    found = {}
    for label, own in sorted(entries.items()):
        costs = [entrant.cost_usd for entrant in own]
        found[label] = Played(
            label=label,
            games=there[label],
            decisions=sum(each.decisions for each in own),
            calls=sum(each.calls for each in own),
            reasks=sum(each.reasks for each in own),
            fallbacks=sum(each.fallbacks for each in own),
            cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs) / there[label],
            asked=sum(each.asked for each in own),
            turned_away=sum(each.turned_away for each in own),
        )
    return found
