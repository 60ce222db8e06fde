"""The effects of a design as a table and plots, which a terminal and a page show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from agentsim.analysis.effects import DesignEffects, FactorEffect
from agentsim.engine.panel import DataTable, Estimate, Estimates, Panel
from agentsim.engine.wording import counted

_DEED = (" (done)", " (received)")


def design_panels(found: DesignEffects | None) -> list[Panel]:
    """A table of each effect, and a plot of each of its measures; a deed stands in the table alone."""
    if found is None:
        return []
    shown: list[Panel] = []
    for factors, group in groupby(found.effects, key=lambda each: each.factors):
        name, own = " x ".join(factors), list(group)
        shown.append(_table(name, own, _intervals(found) if shown else _note(found)))
        plotted = dict.fromkeys(each.measure for each in own if not each.measure.endswith(_DEED))
        shown += [_plot(name, measure, [each for each in own if each.measure == measure], found) for measure in plotted]
    return shown


def _table(name: str, own: Sequence[FactorEffect], note: str) -> DataTable:
    levels = {each.effect for each in own}
    columns = ("measure", "player", "blocks", "effect", "all together")
    rows = []
    for each in own:
        ends = (
            _ends(f"{round(each.mean, 3) + 0.0:+.3f}", each.low, each.high),
            _ends("", each.low_adj, each.high_adj) or None,
        )
        row = (each.measure, each.player, each.blocks, *ends)
        rows.append(row if len(levels) == 1 else (each.effect, *row))
    title = own[0].effect if len(levels) == 1 else name
    return DataTable(f"Effect of {title}", columns if len(levels) == 1 else ("", *columns), tuple(rows), note)


def _plot(name: str, measure: str, own: Sequence[FactorEffect], found: DesignEffects) -> Estimates:
    several = len({each.effect for each in own}) > 1
    rows = tuple(
        Estimate(f"{each.player}, {each.effect}" if several else each.player, each.mean, each.low, each.high)
        for each in own
    )
    effect = name if several else own[0].effect
    return Estimates(f"{measure}: {effect}", rows, f"effect on {measure}", _intervals(found))


def _ends(mean: str, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return mean
    return f"{mean} ({low:+.3f} to {high:+.3f})".strip()


def _intervals(found: DesignEffects) -> str:
    if found.anytime:
        return (
            "Intervals of 95% that hold at all times together (a confidence sequence), since the batch was to end at a "
            "width; they are wider than Student's."
        )
    return "Intervals of 95% of the mean of the blocks (Student's)."


def _note(found: DesignEffects) -> str:
    beside = "Bonferroni's" if found.anytime else "the greatest |t|"
    note = (
        f"Planned; {found.design}. The games of a block have one seed and one seating, one for each cell; an effect is "
        f"a difference within blocks, averaged over them; below 0 a rank is better. {_intervals(found)} Beside them "
        f"those that hold for all effects of the design together ({beside}). An effect without an interval has too few "
        "blocks, or is the same in all of them."
    )
    if found.incomplete:
        note += f" Left out: {counted(found.incomplete, 'block')} without all games."
    return note
