"""The effects of arms as tables, which a terminal and a page show."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.analysis.arms import POWER, ArmEffects, Comparison, Effect
from agentsim.engine.panel import DataTable
from agentsim.engine.wording import counted


def arm_panels(found: Sequence[Comparison]) -> list[DataTable]:
    """A table of each arm of each fork."""
    return [_table(each, arm) for each in found for arm in each.arms]


def _table(found: Comparison, arm: ArmEffects) -> DataTable:
    changed = f" ({arm.changed})" if arm.changed not in {"", arm.arm} else ""
    title = f"{found.of} from decision {found.at} on: {arm.arm}{changed} less {found.control}"
    columns: tuple[str, ...] = ("measure", "player", "pairs", found.control, arm.arm, "effect", "all together")
    if found.effect is not None:
        columns += (f"branches for {found.effect:g}",)
    shown = () if arm.identical else arm.effects
    rows = [(*cells(each), *(() if found.effect is None else (each.needed,))) for each in shown]
    return DataTable(title, columns, tuple(rows), _note(found, arm))


def cells(each: Effect) -> tuple[str | int | None, ...]:
    """An effect as a row: measure, player, pairs, both means, the effect with its interval, and the wider one."""
    means = (f"{each.control_mean:.2f}", f"{each.arm_mean:.2f}")
    ends = (_ends(each, each.low, each.high), _ends(None, each.low_adj, each.high_adj))
    return (each.measure, each.player, each.pairs, *means, *ends)


def _ends(effect: Effect | None, low: float | None, high: float | None) -> str | None:
    mean = "" if effect is None else f"{effect.mean:+.2f} "
    if low is None or high is None:
        return mean.strip() or None
    return f"{mean}({low:+.2f} to {high:+.2f})"


def _note(found: Comparison, arm: ArmEffects) -> str:
    if arm.identical:
        same = f"{arm.arm} and {found.control} are identical in every one of {counted(arm.pairs, 'pair')}: the same "
        return f"{same}decisions, events and ranks. What the arm changes did nothing."
    note = (
        "Branch k less branch k of the control, which has the same chance; below 0 a rank is better. Intervals of 95% "
        "of the mean of the paired differences (Student's); beside them those that hold for all rows together (the "
        "greatest |t|). They are of this game from this decision on, not of other games."
    )
    if arm.unpaired:
        many = "1 branch" if arm.unpaired == 1 else f"{arm.unpaired} branches"
        note += f" Left out: {many} without a finished partner."
    if found.effect is not None:
        note += (
            f" The last column is how many branches an arm needs, and its control as many, for an effect of "
            f"{found.effect:g} to be found with a power of {POWER:.0%}, if the differences spread as they do here."
        )
    return note
