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
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.special import nctdtr, stdtrit

from agentsim.analysis.arms import POWER, fewest
from agentsim.analysis.intervals import FEWEST, UPPER
from agentsim.engine.panel import DataTable, Frame
from agentsim.engine.wording import counted
from agentsim.errors import UsageError
from agentsim.lazy import dataclass
from agentsim.records.formats import Tables
from agentsim.report import paper
from agentsim.report.markup import money
from agentsim.studies.designs import Factorial
from agentsim.studies.effects import DesignGames, FactorEffect, effects

if TYPE_CHECKING:
    import pandas as pd

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


@dataclass(frozen=True, repr=False)
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

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each effect, as a DataFrame (extra `data`)."""
        rows = []
        for each in self.needed:
            effect = each.pilot
            cells = (effect.effect, effect.measure, effect.player, effect.sd)
            rows.append((*cells, each.blocks, each.games, each.calls, each.cost_usd, each.power))
        columns = ("effect", "measure", "player", "sd", "blocks", "games", "calls", "cost_usd", "power")
        return Tables({"plan": Frame(columns, tuple(rows))})["plan"]

    def __repr__(self) -> str:
        return f"<Plan for an effect of {self.size:g}: {counted(len(self.needed), 'effect')}, {self.design}>"

    def __str__(self) -> str:
        """Return the table that `agentsim plan` prints."""
        return paper.text(self.panel)

    def _repr_html_(self) -> str:
        return paper.html([self.panel])

    @property
    def panel(self) -> DataTable:
        """The table that `agentsim plan` prints."""
        rows = []
        for each in self.needed:
            of, cost = each.pilot, money(each.cost_usd) if each.calls else None
            power = None if each.power is None else f"{each.power:.0%}"
            sd = None if of.sd is None else f"{of.sd:.3f}"
            rows.append((of.effect, of.measure, of.player, sd, each.blocks, each.games, each.calls, cost, power))
        said = "none planned" if self.planned is None else f"{counted(self.planned, 'block')} planned"
        columns = ("effect", "measure", "player", "sd", "blocks", "games", "calls", "cost", f"power ({said})")
        note = (
            f"{self.design}; {counted(self.cells, 'game')} a block, with other seeds than the pilot's. sd is the "
            f"standard deviation of the effect between {counted(self.pilot, 'block')} of the pilot; its uncertainty is "
            "allowed for. An effect with sd 0 was the same in all of them."
        )
        if self.pilot < PILOT:
            note += f" A pilot of {PILOT} blocks is better: a small one may be far off."
        return DataTable(f"For an effect of {self.size:g} to be found with a power of 80%", columns, tuple(rows), note)


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
    measures = (measure,) if measure else design.table.measures or (found.usual,)
    for each in measures:
        found.check(each)
    planned = effects(asked, measures=measures, factor=factor, player=player)
    if not planned:
        raise UsageError(f"--measure {found.without(measures[0])}")
    for effect in planned:
        if not effect.sd or not effect.freedom:
            needed.append(Needed(effect))
            continue
        blocks = math.ceil(rows * blocks_needed(size, effect.sd, effect.freedom))
        games = blocks * len(design.cells)
        power = None if times is None else power_of(int(times / rows), size, effect.sd, effect.freedom)
        dollars = None if cost is None else cost * games
        needed.append(Needed(effect, blocks, games, round(calls * games), dollars, power))
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
