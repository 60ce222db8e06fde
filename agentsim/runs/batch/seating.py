"""Seating: the models, seats and seed of each game of a batch, and the balance of the design.

Models rotate by the rows of a Williams square (E. J. Williams, Experimental designs balanced for the estimation of
residual effects of treatments, 1949): as many rows as models make a Latin square, in which every model has every
position once, and over one block (two for an odd number of models) every model follows every other equally often.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations, pairwise

from agentsim.lazy import dataclass
from agentsim.models.base import Count, ShortText

_SEED_BITS = 31


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game: its name and seed, the scenario's players (`seats`) in the order of this table, and their `models`.

    Both are indexes from 0, by position; `models` is empty if each player keeps the scenario's model. `cell` is the
    index of a factorial design's cell.
    """

    name: ShortText
    seed: Count
    seats: tuple[Count, ...]
    models: tuple[Count, ...]
    cell: Count = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """The counts of the rarest and the most frequent of some combinations."""

    what: str
    least: int
    most: int

    @property
    def even(self) -> bool:
        return self.least == self.most


def derived_seed(seed: int, number: int) -> int:
    """Return the seed of a batch's game of that number, in [0, 2**31)."""
    digest = hashlib.sha256(f"agentsim-batch/{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SEED_BITS)


def williams(size: int, row: int, width: int | None = None, block: int = 0) -> tuple[int, ...]:
    """Return the first `width` columns of one row of the Williams square of that size.

    For odd sizes, every second block is mirrored. If the row is cut short, each `block` of `size` rows cuts another
    piece, so that other models meet; if it is longer than the square, it repeats.
    """
    width = size if width is None else width
    start = block if width < size else 0
    mirrored = -1 if size % 2 and block % 2 else 1
    zigzag = [(index + 1) // 2 if index % 2 else -(index // 2) for index in range(size)]  # 0, 1, -1, 2, -2, ...
    return tuple((mirrored * zigzag[(start + index) % size] + row) % size for index in range(width))


def rows(
    games: int, seats: int, models: int, *, seed: int, rotate: bool = False, paired: bool = False, cells: int = 1
) -> list[PlannedGame]:
    """Return the games of a batch, in the order in which they are played; without `models` each seat keeps its own.

    With `rotate` the seats change places as well: once a block if there are models, else with every game. With `paired`
    the games of one block, which differ only in the seating, have one seed. With several `cells`, each game is played
    in every cell, in an order drawn from its seed.
    """
    block = models or (seats if rotate else 1)
    plan = []
    for number in range(games):
        index, cell = divmod(number, cells)
        turn, row = divmod(index, block)
        order = tuple(range(seats))
        if rotate:
            order = williams(seats, *((turn % seats, None, turn // seats) if models else (row, None, turn)))
        cast = williams(models, row, seats, turn) if models else ()
        name = f"game_{number + 1:0{max(4, len(str(games)))}d}"
        drawn = derived_seed(seed, turn if paired else index)
        plan.append(PlannedGame(name, drawn, order, cast, sorted(range(cells), key=partial(derived_seed, drawn))[cell]))
    return plan


def balance(plan: Sequence[PlannedGame], seats: int, models: int) -> list[Spread]:
    """Return how evenly the batch spreads the dimensions that its design rotates."""
    spreads = []
    if models:
        in_seats = (pair for row in plan for pair in zip(row.seats, row.models, strict=True))
        spreads.append(_spread("each model in each seat", models * seats, in_seats))
        at_positions = (pair for row in plan for pair in enumerate(row.models))
        spreads.append(_spread("each model at each place in the order of the table", models * seats, at_positions))
        if models > 1 and seats > 1:
            neighbours = ((one, next_) for row in plan for one, next_ in pairwise(row.models) if one != next_)
            spreads.append(_spread("each model just after each other one", models * (models - 1), neighbours))
            meetings = (pair for row in plan for pair in combinations(sorted(set(row.models)), 2))
            spreads.append(_spread("each two models in one game", models * (models - 1) // 2, meetings))
    if any(row.seats != tuple(range(seats)) for row in plan):
        seats_of_players = (pair for row in plan for pair in enumerate(row.seats))
        spreads.append(
            _spread(
                "each player of the scenario at each place in the order of the table",
                seats * seats,
                seats_of_players,
            )
        )
    return spreads


def _spread(what: str, kinds: int, cases: Iterable[tuple[int, int]]) -> Spread:
    counts = Counter(cases)
    return Spread(what, 0 if len(counts) < kinds else min(counts.values()), max(counts.values(), default=0))
