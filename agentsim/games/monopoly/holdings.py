"""Holdings: who holds how much of which group. What that is worth to a seat is `bots.worth`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from agentsim.games.monopoly.board import GROUPS
from agentsim.games.monopoly.estate import BANK


@dataclass(frozen=True, slots=True)
class Holdings:
    """By seat: the number of deeds in each group, the number of them all, and the groups that are whole."""

    counts: tuple[Mapping[str, int], ...]
    deeds: tuple[int, ...]
    whole: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=256)
def holdings(owner: tuple[int, ...], seats: int) -> Holdings:
    """Of the deeds as they lie; `View.holdings` is this without a look-up."""
    counts = [dict.fromkeys(GROUPS, 0) for _ in range(seats)]
    for group, lots in GROUPS.items():
        for lot in lots:
            if owner[lot] != BANK:
                counts[owner[lot]][group] += 1
    deeds = tuple(sum(held.values()) for held in counts)
    whole = tuple(tuple(group for group, lots in GROUPS.items() if held[group] == len(lots)) for held in counts)
    return Holdings(tuple(counts), deeds, whole)
