"""A new model against a reference pool in a simulated world of Plackett-Luce strengths with a known truth.

The pool's strengths and the new one's are drawn from the prior of `analysis.posterior`. The shipped code estimates,
chooses the tables, and decides when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentsim.analysis.intervals import Array
from agentsim.analysis.posterior import ChoiceSets, choice_sets
from agentsim.studies.placement import Placement, next_tables, placement
from benchmarks.inference_worlds import arrivals

MEMBERS = 8


@dataclass(frozen=True)
class Pool:
    """A pool of `MEMBERS` models that played so many games at random tables of `seats`.

    The new model plays at most `most` games, and has at most `entries` seats in each. `above` is its log strength
    relative to the pool's mean, or None to draw it as the pool's are. `luck` is the standard deviation of a random
    addition to its log strength in each block.
    """

    seats: int
    games: int
    most: int
    entries: int
    above: float | None = None
    luck: float = 0.0


@dataclass(frozen=True)
class Placed:
    """The true log strength, the placement at the end, and the first one that met the width, or None.

    `games` is the number of games at that point, `seats` counts the games of the new model by seat.
    """

    truth: float
    end: Placement
    first: Placement | None
    games: int
    seats: NDArray[np.int64]


def placed(generator: np.random.Generator, world: Pool, *, width: float, chains: int) -> Placed:
    """Simulate one placement in a new world."""
    logs = np.log(generator.standard_gamma(1.0, size=MEMBERS + 1))
    logs -= logs[:-1].mean()
    if world.above is not None:
        logs[-1] = world.above
    pool = [_played(generator, logs, generator.permutation(MEMBERS)[: world.seats]) for _ in range(world.games)]
    blocks, seed = world.most // world.seats, int(generator.integers(2**31))
    games: list[ChoiceSets] = []
    seats = np.zeros(world.seats, dtype=np.int64)

    def said() -> Placement:
        return placement(pool, games, MEMBERS + 1, block=world.seats, chains=chains, seed=seed)

    end, first, at = said(), None, 0
    while (played := len(games) // world.seats) < blocks:
        tables = next_tables(end.found, world.seats, most=world.entries, played=played, blocks=blocks)
        for table in tables:
            lucky = logs + np.append(np.zeros(MEMBERS), generator.normal(0.0, world.luck))
            for turn in range(world.seats):
                seated = np.roll(table, turn)
                seats += seated == MEMBERS
                games.append(_played(generator, lucky, seated))
        end = said()
        if first is None and end.strength.width < width:
            first, at = end, len(games)
    return Placed(float(logs[-1]), end, first, at, seats)


def _played(generator: np.random.Generator, logs: Array, table: NDArray[np.int64]) -> ChoiceSets:
    return choice_sets(list(arrivals(generator, logs[table])), list(table), len(logs))
