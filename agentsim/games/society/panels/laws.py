"""Laws: when each was in force, and how the days before its beginning compare with those after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentsim.engine.event import Event
from agentsim.engine.panel import Cell, DataTable, Panel
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.ending import DayEnded
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.laws import LawEnacted, LawRepealed
from agentsim.games.society.terms import in_words

WINDOW = 5
"""Days before and after that are compared."""


def laws(events: Sequence[Event]) -> list[Panel]:
    """The timeline of laws, and their measured effects; nothing without laws."""
    enacted = [event for event in events if isinstance(event, LawEnacted)]
    if not enacted:
        return []
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed)}
    rows = tuple(
        (law.law, law.title, "; ".join(map(in_words, law.terms)) or "words alone", law.day, ended.get(law.law))
        for law in enacted
    )
    columns = ("law", "title", "what it does", "from day", "until day")
    return [DataTable("Laws", columns, rows), *_effects(enacted, events)]


def _effects(enacted: Sequence[LawEnacted], events: Sequence[Event]) -> list[Panel]:
    """A law acts from the day after the evening of its vote; one of the first day has no before."""
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    days = [event for event in events if isinstance(event, DayEnded)]
    measured = [law for law in enacted if 0 < law.day < len(days)]
    if began is None or not measured:
        return []
    measures: dict[str, Callable[[int], float]] = {
        "active": lambda place: float(days[place].active),
        "food made": lambda place: _made("food", place, days, began),
        "energy made": lambda place: _made("energy", place, days, began),
        "materials made": lambda place: _made("materials", place, days, began),
        "food in the pool": lambda place: days[place].totals["food"].pool / UNIT,
        "Gini": lambda place: days[place].gini,
    }
    rows: list[tuple[Cell, ...]] = []
    for law in measured:
        before = range(max(0, law.day - WINDOW), law.day)
        after = range(law.day, min(len(days), law.day + WINDOW))
        for name, measure in measures.items():
            was, became = _mean(measure, before), _mean(measure, after)
            rows.append((f"{law.law} {law.title}", name, round(was, 3), round(became, 3), round(became - was, 3)))
    note = (
        f"Means of up to {WINDOW} days before a law began to act and of as many after. What changed with a law need "
        "not be its doing, since other laws and the course of a game change too: compare games with and without it."
    )
    return [DataTable("Before and after each law", ("law", "measure", "before", "after", "change"), tuple(rows), note)]


def _mean(measure: Callable[[int], float], places: range) -> float:
    return sum(map(measure, places)) / len(places)


def _made(resource: str, place: int, days: Sequence[DayEnded], began: SocietyBegan) -> float:
    """What was made on the day at this place (its evening's total less that of the evening before)."""
    before = days[place - 1].totals if place else began.totals
    return (days[place].totals[resource].produced - before[resource].produced) / UNIT
