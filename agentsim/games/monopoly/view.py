"""View: the board as all players see it. All of it is public in Monopoly: only thoughts are not, and they are `talk`.

One view is made for each version of the state and shared by all requests that are made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat

from agentsim.games.monopoly.board import GROUPS
from agentsim.games.monopoly.cards import DeckName
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.state import Seat, State


@dataclass(frozen=True, slots=True)
class SeatView:
    """One player; `cards` are its cards out of jail, by deck."""

    id: str
    name: str
    cash: int
    position: int
    jailed: bool
    failed: int
    cards: tuple[DeckName, ...]
    bankrupt: bool


@dataclass(frozen=True, slots=True)
class Holdings:
    """By seat: the number of deeds in each group, the number of them all, and the groups that are whole."""

    counts: tuple[Mapping[str, int], ...]
    deeds: tuple[int, ...]
    whole: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=256)
def holdings(owner: tuple[int, ...], seats: int) -> Holdings:
    """Of the deeds as they lie; `View.holdings` is this without a look-up."""
    counts = [dict.fromkeys(GROUPS, 0) for _ in range(seats)]
    for group, lots in GROUPS.items():
        for lot in lots:
            if owner[lot] != BANK:
                counts[owner[lot]][group] += 1
    deeds = tuple(sum(held.values()) for held in counts)
    whole = tuple(tuple(group for group, lots in GROUPS.items() if held[group] == len(lots)) for held in counts)
    return Holdings(tuple(counts), deeds, whole)


@dataclass(frozen=True)  # without slots: what follows from it is kept with it
class View:
    """The game at one moment; seats are numbers into `seats`, -1 the bank; the rest is by position, as in `Estate`."""

    turn: int
    active: int
    roll: tuple[int, int] | None
    seats: tuple[SeatView, ...]
    owner: tuple[int, ...]
    level: tuple[int, ...]
    mortgaged: tuple[bool, ...]
    houses: int
    hotels: int

    @cached_property
    def mark(self) -> str:
        """Turn, places, cash and numbers of deeds by seat: hardly another moment of a game has the same."""
        deeds = zip(self.seats, self.holdings.deeds, strict=True)
        standing = ",".join([f"{seat.position}:{seat.cash}:{count}" for seat, count in deeds])
        return f"{self.turn}/{standing}"

    @cached_property
    def holdings(self) -> Holdings:
        """Who holds how much of which group."""
        return holdings(self.owner, len(self.seats))

    def estate(self) -> Estate:
        """The estate as it stands, to ask and to try things out on."""
        return Estate(list(self.owner), list(self.level), list(self.mortgaged), self.houses, self.hotels)

    def seat(self, player: str) -> int:
        """The number of a player; `KeyError` where there is none by that id."""
        for number, seat in enumerate(self.seats):
            if seat.id == player:
                return number
        raise KeyError(player)

    @property
    def living(self) -> tuple[int, ...]:
        """Seats still in the game."""
        return tuple([number for number, seat in enumerate(self.seats) if not seat.bankrupt])


def view(state: State, before: View | None = None) -> View:
    """The public part of the state; players who are as they were in the view `before` are taken from it."""
    estate = state.estate
    return View(
        turn=state.turn,
        active=state.active,
        roll=state.roll,
        seats=tuple(map(_seat_view, state.seats, before.seats if before else repeat(None))),
        owner=tuple(estate.owner),
        level=tuple(estate.level),
        mortgaged=tuple(estate.mortgaged),
        houses=estate.houses,
        hotels=estate.hotels,
    )


def _seat_view(seat: Seat, before: SeatView | None) -> SeatView:
    cards = tuple(seat.cards)
    if (
        before is not None
        and before.cash == seat.cash
        and before.position == seat.position
        and before.jailed == seat.jailed
        and before.failed == seat.failed
        and before.cards == cards
        and before.bankrupt == seat.bankrupt
    ):
        return before
    return SeatView(seat.id, seat.name, seat.cash, seat.position, seat.jailed, seat.failed, cards, seat.bankrupt)
