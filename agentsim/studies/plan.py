"""Plans: how many blocks, games, calls and dollars it takes to find an effect of a design, by a pilot.

An effect is found if Student's interval of 95% leaves out 0. With the true standard deviation S of a block's contrast,
N blocks and an effect D this has the chance P(|T| > t), T noncentral with sqrt(N) D / S. The pilot's s is not S: over
pilots with f degrees of freedom, the chance that N blocks give is that of a noncentral t with f degrees of freedom and
noncentrality t to be below sqrt(N) D / s, and N is chosen so that this is the power promised (S. A. Julious and R. J.
Owen, Sample size calculations for clinical studies allowing for uncertainty about the variance, Pharmaceutical
Statistics 5, 2006). f is that of the pilot's variance as it spreads (`effects.freedom_of`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scipy.special import nctdtr, stdtrit

from agentsim.analysis.arms import POWER, fewest
from agentsim.analysis.intervals import FEWEST, UPPER
from agentsim.errors import UsageError
from agentsim.studies.designs import Factorial
from agentsim.studies.effects import DesignGames, FactorEffect, effects

PILOT = 20
"""Blocks of a pilot for which the promised power is kept within 4 points, whatever the measure's distribution."""
_MOST_BLOCKS = 10_000_000


@dataclass(frozen=True, slots=True)
class Needed:
    """What it takes to find one effect; `pilot` is the pilot's, `power` that of the blocks that are planned.

    `blocks` and what follows are None where the pilot's blocks were all the same. `cost_usd` and `calls` are those of
    `games` games that are like the pilot's; dollars are None where a price is unknown.
    """

    pilot: FactorEffect
    blocks: int | None = None
    games: int | None = None
    calls: int | None = None
    cost_usd: float | None = None
    power: float | None = None


@dataclass(frozen=True)
class Plan:
    """How many blocks each effect needs to be found in the `size` given; `pilot` blocks say how the games spread."""

    design: str
    size: float
    pilot: int
    cells: int
    planned: int | None
    needed: tuple[Needed, ...]

    def to_json(self) -> dict[str, Any]:
        """As `agentsim plan --json` prints it."""
        return asdict(self)


def plan(
    design: Factorial,
    pilot: Path,
    *,
    size: float,
    measure: str | None = None,
    factor: str | None = None,
    player: str | None = None,
) -> Plan:
    """What a design needs, by a pilot of the same design in a folder; `UsageError` where it is no such one."""
    if not (math.isfinite(size) and size > 0):
        raise UsageError(f"--effect: must be a number above 0, found {size}")
    found = DesignGames(pilot).blocks()
    if found is None:
        raise UsageError(f"{pilot}: holds no finished games of a design; `agentsim batch --design` plays a pilot")
    if (found.design.table.factors, found.design.cells) != (design.table.factors, design.cells):
        raise UsageError(f"{pilot}: is of another design: factors, levels and fraction must be the same")
    if found.complete < FEWEST:
        raise UsageError(f"{pilot}: has {found.complete} complete blocks: a pilot needs {FEWEST}, and better {PILOT}")
    asked = replace(found, design=design, record=found.record.model_copy(update={"table": design.table}))
    rows = len(found.seeds) / len(set(found.seeds))  # of a paired batch several blocks have one seed
    calls = sum(each.calls for each in found.games) / len(found.games)
    costs = [each.cost_usd for each in found.games]
    cost = None if None in costs else sum(each or 0.0 for each in costs) / len(costs)
    times, needed = design.table.replicates, []
    measure = measure or found.usual
    planned = effects(asked, measures=(measure,), factor=factor, player=player)
    if not planned:
        raise UsageError(f"{measure}: {found.without(measure)}")
    for each in planned:
        if not each.sd or not each.freedom:
            needed.append(Needed(each))
            continue
        blocks = math.ceil(rows * blocks_needed(size, each.sd, each.freedom))
        games = blocks * len(design.cells)
        power = None if times is None else power_of(int(times / rows), size, each.sd, each.freedom)
        dollars = None if cost is None else cost * games
        needed.append(Needed(each, blocks, games, round(calls * games), dollars, power))
    return Plan(design.in_words, size, found.complete, len(design.cells), times, tuple(needed))


def power_of(blocks: int, size: float, sd: float, freedom: float) -> float:
    """The chance that so many blocks find an effect, over what a pilot with these degrees of freedom leaves open."""
    if blocks < 2:
        return 0.0
    found: float = nctdtr(freedom, stdtrit(blocks - 1, UPPER), math.sqrt(blocks) * size / sd)
    return found


def blocks_needed(size: float, sd: float, freedom: float) -> int:
    """The fewest blocks with a power of 80%; `sd` is the pilot's, with these degrees of freedom."""
    found = fewest(lambda number: power_of(number, size, sd, freedom) >= POWER, FEWEST - 1, _MOST_BLOCKS)
    if found is None:
        raise UsageError(f"--effect {size:g}: needs more than {_MOST_BLOCKS:,} blocks")
    return found
