"""What messages did, as tables that a terminal shows: the next deeds of the listeners, and the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentsim.analysis.arm_panels import cells
from agentsim.analysis.influence import ALL, Influence
from agentsim.engine.panel import DataTable
from agentsim.engine.wording import counted

_NOTE = (
    "What was said less {swap}, branch k less branch k with the same chance. Shares are of all branches, and 0 where a "
    f"listener does no such thing again; {ALL} is the mean of the listeners who did it in any branch. Intervals of 95% "
    "of the mean of the paired differences (Student's); beside them those that hold for all rows together, of "
    "{messages}. They are of this game from this decision on, not of other games."
)


def influence_panels(found: Sequence[Influence]) -> list[DataTable]:
    """Two tables of each message: what each listener did next, and the outcome."""
    return [panel for each in found for panel in _tables(each, counted(len(found), "message"))]


def _tables(found: Influence, messages: str) -> Iterator[DataTable]:
    message = found.message
    title = f"{message.of}: {message.kind} of {message.speaker} (decision {message.at}), said less {message.swap}"
    both = ("pairs", message.swap, "said", "effect", "all together")
    if found.identical:
        same = f"All that followed is the same in every one of {counted(found.pairs, 'pair')}: the message did nothing."
        yield DataTable(title, ("next", "listener", *both), (), same)
        return
    note = _NOTE.format(swap=message.swap, messages=messages)
    if found.unpaired:
        many = "1 branch" if found.unpaired == 1 else f"{found.unpaired} branches"
        note += f" Left out: {many} without a finished partner."
    shown = [[each for each in part if each.mean or each.sd] for part in (found.listeners, found.outcome)]
    if hidden := len(found.listeners) + len(found.outcome) - sum(map(len, shown)):
        note += f" Not shown: {counted(hidden, 'row')} without a difference in any pair; the JSON has them."
    yield DataTable(f"{title}: what listeners did next", ("next", "listener", *both), tuple(map(cells, shown[0])))
    yield DataTable(f"{title}: the outcome", ("measure", "player", *both), tuple(map(cells, shown[1])), note)
