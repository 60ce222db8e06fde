"""Landings: where tokens rested after each roll, against where they rest in the long run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agentsim.engine.event import Told
from agentsim.engine.panel import Board, Cell, Panel, Scene, Table
from agentsim.games.monopoly.board import JAIL, SPACES
from agentsim.games.monopoly.events import Jailed, Moved, Rolled, StayedInJail
from agentsim.games.monopoly.landing_odds import IN_JAIL, long_run
from agentsim.games.monopoly.panels.spots import SIDE, tile

__all__ = ["panels", "rests"]


def rests(log: Sequence[Told]) -> Counter[int]:
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


def panels(log: Sequence[Told]) -> Iterator[Panel]:
    """Nothing before the first roll."""
    found = rests(log)
    if found:
        yield _map(found)
        yield _table(found)


def _map(found: Counter[int]) -> Board:
    total, odds = found.total(), long_run("leave")
    tiles = []
    for position in range(len(SPACES)):
        cells = (JAIL, IN_JAIL) if position == JAIL else (position,)
        seen = sum(found[cell] for cell in cells) / total
        expected = sum(odds[cell] for cell in cells)
        often = "long run" if expected else "never rested on"
        marks = (f"{seen:.1%}",)
        note = f"{often} {expected:.1%}" if expected else often
        tiles.append(tile(position, marks=marks, note=f"({expected:.1%})", heat=seen, says=note))
    rolls = f"{total:,} rolls"
    notes = (
        "The shade and the framed share: how often a token rested there after a roll.",
        "In brackets: how often it does in the long run, by an exact Markov chain of players who leave jail at once.",
        "The corner of the jail counts those in it and those just visiting.",
    )
    scene = Scene(f"Landings of {rolls}", tuple(tiles), notes=notes)
    return Board("Landings against the long run", SIDE, SIDE, (scene,), ring=True)


def _table(found: Counter[int]) -> Table:
    total = found.total()
    leave, stay = long_run("leave"), long_run("stay")
    rows: list[tuple[Cell, ...]] = []
    for cell in range(IN_JAIL + 1):
        name = "In jail" if cell == IN_JAIL else "Just Visiting" if cell == JAIL else SPACES[cell].name
        share = 100 * found[cell] / total
        rows.append((name, found[cell], *(round(value, 2) for value in (share, 100 * leave[cell], 100 * stay[cell]))))
    columns = ("space", "landings", "% here", "% in the long run, leaving jail", "% staying in jail")
    note = "After each roll and all that it brought about; nobody rests on Go To Jail."
    return Table("Landings by space", columns, tuple(rows), note)
