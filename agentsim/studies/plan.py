"""Plans: the number of blocks, games, calls and dollars that it takes to find an effect of a design, from a pilot.

An effect is found if Student's interval of 95% excludes 0. With the true standard deviation S of a block's contrast, N
blocks and an effect D this has the probability P(|T| > t), T noncentral with sqrt(N) D / S. The pilot's s is not S:
over pilots with f degrees of freedom, the expected power of N blocks is the probability that a noncentral t with f
degrees of freedom and noncentrality t is below sqrt(N) D / s, and N is chosen so that this is the promised power (S. A.
Julious and R. J. Owen, Sample size calculations for clinical studies allowing for uncertainty about the variance,
Pharmaceutical Statistics 5, 2006). f is that of the pilot's variance (`effects.freedom_of`).
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
"""The blocks of a pilot for which the promised power holds within 4 points, for any distribution of the measure."""
_MOST_BLOCKS = 10_000_000


@dataclass(frozen=True, slots=True)
class Needed:
    """The cost of finding one effect. `pilot` is the effect in the pilot, `power` that of the planned number of blocks.

    `blocks` and the fields after it are None if the pilot's blocks were all the same. `calls` and `cost_usd` are those
    of `games` games like the pilot's; `cost_usd` is also None if a price is unknown.
    """

    pilot: FactorEffect
    blocks: int | None = None
    games: int | None = None
    calls: int | None = None
    cost_usd: float | None = None
    power: float | None = None


@dataclass(frozen=True)
class Plan:
    """The number of blocks that each effect needs to be found at this `size`, by the variance in `pilot` blocks."""

    design: str
    size: float
    pilot: int
    cells: int
    planned: int | None
    needed: tuple[Needed, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `agentsim plan --json` prints."""
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
    """Return what a design needs, by a pilot of the same design in a folder.

    Raises `UsageError` if the folder is not such a pilot.
    """
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
    rows = len(found.seeds) / len(set(found.seeds))  # blocks of a paired batch share seeds
    calls = sum(each.calls for each in found.games) / len(found.games)
    costs = [each.cost_usd for each in found.games]
    cost = None if None in costs else sum(each or 0.0 for each in costs) / len(costs)
    times, needed = design.table.replicates, []
    measure = measure or found.usual
    planned = effects(asked, measures=(measure,), factor=factor, player=player)
    if not planned:
        raise UsageError(f"--measure {found.without(measure)}")
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
    """Return the expected power of so many blocks, given a pilot with these degrees of freedom."""
    if blocks < 2:
        return 0.0
    found: float = nctdtr(freedom, stdtrit(blocks - 1, UPPER), math.sqrt(blocks) * size / sd)
    return found


def blocks_needed(size: float, sd: float, freedom: float) -> int:
    """Return the fewest blocks with a power of 80%. `sd` is the pilot's, with these degrees of freedom.

    Raises `UsageError` if they are more than `_MOST_BLOCKS`.
    """
    found = fewest(lambda number: power_of(number, size, sd, freedom) >= POWER, FEWEST - 1, _MOST_BLOCKS)
    if found is None:
        raise UsageError(f"--effect {size:g}: needs more than {_MOST_BLOCKS:,} blocks")
    return found
