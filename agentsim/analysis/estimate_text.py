"""Estimates as text: a value with its interval and number of games, and the clearest of many effects."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.analysis.intervals import FEWEST, Effect, Interval
from agentsim.engine.wording import counted

SMALL = 0.05
DIFFERS = "differs from zero"


def written(interval: Interval, form: str) -> str:
    """Return `0.4 (0.1 to 0.7)`, or the estimate alone without an interval."""
    return " ".join(filter(None, (f"{interval.value:{form}}", ends(interval, form))))


def ends(interval: Interval, form: str) -> str | None:
    """Return `(0.1 to 0.7)`, or None."""
    if interval.low is None or interval.high is None:
        return None
    return f"({interval.low:{form}} to {interval.high:{form}})"


def estimated(interval: Interval, form: str, games: int, more: str = "", of: str = "95% interval") -> str:
    """Return `0.40 (95% interval 0.10 to 0.70; 60 games)`, or why there is no interval."""
    if both := ends(interval, form):
        said = f"{of} {both[1:-1]}"
    else:
        said = (
            "no interval: games of too few seeds, or all alike" if games >= FEWEST else "too few games for an interval"
        )
        more = more or counted(games, "game")
    return f"{interval.value:{form}} ({'; '.join(filter(None, (said, more)))})"


def effect_cell(found: Effect, form: str, number: int, unit: str) -> str:
    """Return the estimate with its own interval, or why it has none: `+1.00, the same in all 6 pairs`."""
    if found.low is not None:
        return written(found.pointwise, form)
    return f"{found.mean + 0.0:{form}}, {_alike(number, unit) if number >= FEWEST else f'too few {unit}s'}"


def _alike(number: int, unit: str) -> str:
    return f"the same in all {counted(number, unit)}"


def _none_of(number: int) -> str:
    return "the one effect does not differ from zero" if number == 1 else f"none of {number} effects {DIFFERS}"


def clearest_effect(found: Sequence[tuple[str, Effect, int]], where: str, *, of: str, unit: str, more: str = "") -> str:
    """Say which of many effects is clearest, or that none was found, by the intervals that hold for all together.

    None of the rows was named beforehand, so the interval of one alone would be too narrow for the row that is chosen.
    `found` holds who did it, the effect and its number of pairs (or blocks); `of` is who did them all.
    """
    most, form = max((number for *_, number in found), default=0), "+.2f"
    many = f"{counted(most, unit)}{more}"
    if not found or most < FEWEST:
        return f"{where}, nothing can be said of {of}: {many}, too few for an interval." if found else ""
    known = [each for each in found if each[1].low_adj is not None]
    told = [each for each in known if each[1].simultaneous.excludes(0)]
    alike = [each for each in found if each[1].low is None and each[2] >= FEWEST and each[1].mean]
    if told:
        who, best, own = max(told, key=lambda each: abs(each[1].mean) / each[1].simultaneous.width)
        both = f"simultaneous 95% interval {best.low_adj:{form}} to {best.high_adj:{form}}; {counted(own, unit)}{more}"
        differ = f"{len(told)} of {counted(len(known), 'effect')} {'differs' if len(told) == 1 else 'differ'} from zero"
        return f"{where}, {who} changed {best.measure} of {best.player} by {best.mean:{form}} ({both}); {differ}."
    if alike:
        who, best, own = max(alike, key=lambda each: abs(each[1].mean))
        changed = f"{best.measure} of {best.player} by {best.mean:{form}}, {_alike(own, unit)}{more}"
        beside = f"; of those that vary, {_none_of(len(known))}" if known else ""
        return f"{where}, {who} changed {changed}{beside}."
    if known:
        none = f"{_none_of(len(known))} (simultaneous 95% intervals; {many})"
        return f"{where}, no effect of {of} was found: {none}."
    if any(each.mean or each.low is not None for _, each, _ in found):
        return f"{where}, no effect of {of} was found: {many} give no simultaneous intervals."
    return f"{where}, no effect of {of} was found: every measure is the same in all {many}."


def p_value(p: float) -> str:
    """Return `p = 0.012`, or `p < 0.001`."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
