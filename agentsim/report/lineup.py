"""Lineup: what the players of each model did, beside each other. Ratings over many games are not made here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from agentsim.engine.panel import Cell, Table
from agentsim.history.record import History

__all__ = ["MOST_KINDS", "lineup"]

MOST_KINDS = 10
"""Columns of events; the rarer kinds are in the cards of the players."""


def lineup(history: History, deeds: Mapping[str, Counter[str]]) -> Table | None:
    """Events of each kind per player (`deeds`, by player), by model; None where that would compare nothing."""
    models: dict[str, list[str]] = defaultdict(list)
    for record in history.seated:
        if record.model:
            models[record.model].append(record.id)
    if len(models) < 2 or all(len(players) == 1 for players in models.values()):
        return None
    counts = {model: sum((deeds[player] for player in players), Counter[str]()) for model, players in models.items()}
    together = sum(counts.values(), Counter[str]())
    kinds = [kind for kind, _ in together.most_common(MOST_KINDS)]
    asked, fell = Counter[str](), Counter[str]()
    for decision in history.decisions:
        asked[decision.player] += decision.source != "bot"
        fell[decision.player] += decision.source == "fallback"
    placed = {standing.player: standing.rank for standing in history.outcome.standings} if history.outcome else {}
    rows: list[tuple[Cell, ...]] = []
    for model, players in models.items():
        made = sum(asked[player] for player in players)
        ranks = [placed[player] for player in players if player in placed]
        rows.append(
            (
                model,
                len(players),
                round(sum(ranks) / len(ranks), 2) if ranks else None,
                *(round(counts[model][kind] / len(players), 2) for kind in kinds),
                round(sum(fell[player] for player in players) / made, 3) if made else None,
            )
        )
    columns = ("model", "players", "mean rank", *(kind.replace("_", " ") for kind in kinds), "fallbacks")
    note = (
        "Events are per player; fallbacks are a share of decisions that no bot made. One game is an anecdote: to "
        "compare, play many."
    )
    return Table("By model", columns, tuple(rows), note)
