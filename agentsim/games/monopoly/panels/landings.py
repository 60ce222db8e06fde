"""Landings: where tokens rested after each roll, against where they rest in the long run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Board, Cell, DataTable, Panel, Scene
from agentsim.games.monopoly.board import JAIL, SPACES, name_of
from agentsim.games.monopoly.jail import Jailed, StayedInJail
from agentsim.games.monopoly.landing_odds import IN_JAIL, long_run
from agentsim.games.monopoly.match import Moved, Rolled
from agentsim.games.monopoly.panels.spots import SIDE, tile


def rests(log: Sequence[LogEntry]) -> Counter[int]:
    """How often a token rested on each space (or `IN_JAIL`) at the end of a roll that was to move it."""
    found: Counter[int] = Counter()
    place: int | None = None  # of the roll that is being resolved
    for event in (told.event for told in log):
        match event:
            case Rolled() if event.purpose != "rent":
                found.update([] if place is None else [place])
                place = None
            case Moved():
                place = event.to
            case Jailed() | StayedInJail():
                place = IN_JAIL
            case _:
                pass
    found.update([] if place is None else [place])
    return found


def panels(log: Sequence[LogEntry]) -> Iterator[Panel]:
    """Nothing before the first roll."""
    found = rests(log)
    if found:
        yield _map(found)
        yield _table(found)


def _map(found: Counter[int]) -> Board:
    total, odds = found.total(), long_run("leave")
    seen = [found[position] / total for position in range(len(SPACES))]
    expected = list(odds[: len(SPACES)])
    seen[JAIL] += found[IN_JAIL] / total
    expected[JAIL] += odds[IN_JAIL]
    tiles = tuple(
        tile(position, marks=(f"{here:.1%}",), note=f"({long:.1%})", heat=here, says="in brackets the long run")
        for position, (here, long) in enumerate(zip(seen, expected, strict=True))
    )
    by_excess = sorted(range(len(SPACES)), key=lambda position: seen[position] - expected[position])
    notes = (
        "Framed, and as shade: how often a token rested there after a roll.",
        "In brackets: how often it does in the long run, by an exact Markov chain of players who leave jail at once.",
        "The corner of the jail counts those in it and those just visiting.",
        f"Furthest above the long run: {_far(by_excess[:-4:-1], seen, expected)}.",
        f"Furthest below it: {_far(by_excess[:3], seen, expected)}.",
    )
    scene = Scene(f"{total:,} rolls", tiles, notes=notes)
    return Board("Landings against the long run", SIDE, SIDE, (scene,), ring=True)


def _far(positions: Sequence[int], seen: Sequence[float], expected: Sequence[float]) -> str:
    points = ((name_of(position), 100 * (seen[position] - expected[position])) for position in positions)
    return ", ".join(f"{name} ({excess:+.1f} points)".replace("-", "\u2212") for name, excess in points)


def _table(found: Counter[int]) -> DataTable:
    total = found.total()
    leave, stay = long_run("leave"), long_run("stay")
    rows: list[tuple[Cell, ...]] = []
    for cell in range(IN_JAIL + 1):
        name = "In jail" if cell == IN_JAIL else "Just Visiting" if cell == JAIL else SPACES[cell].name
        share = 100 * found[cell] / total
        rows.append((name, found[cell], *(round(value, 2) for value in (share, 100 * leave[cell], 100 * stay[cell]))))
    columns = ("space", "landings", "% here", "% in the long run, leaving jail", "% staying in jail")
    note = "After each roll and all that it brought about; nobody rests on Go To Jail."
    return DataTable("Landings by space", columns, tuple(rows), note)
