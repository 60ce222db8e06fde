"""Offers: trades that would make a group whole, with the cash that makes them acceptable. Who makes them is its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.bots.worth import Taste, change
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.state import Holdings, View, holdings
from agentsim.games.monopoly.trade import Proposal, Side, interest_on


@dataclass(frozen=True, slots=True)
class Deal:
    """A trade worth proposing: what it gains the proposer, all counted, and the group that it makes whole."""

    gain: float
    group: str
    target: int
    gives: tuple[int, ...]
    takes: tuple[int, ...]
    cash: int
    """From the proposer to the target; below zero the other way."""

    def proposal(self, view: View, pitch: str) -> Proposal:
        """As it is put before the table."""
        return Proposal(
            propose_trade=True,
            target_player=view.seats[self.target].id,
            offer=Side(properties=self.gives, cash=max(0, self.cash)),
            request=Side(properties=self.takes, cash=max(0, -self.cash)),
            pitch=pitch,
        )


class Wanted(NamedTuple):
    """A group, who holds the rest of it, the rest, and what could be given for that.

    The last is nothing but cash, what makes a group of the target's whole, or a lone deed.
    """

    group: str
    target: int
    rest: tuple[int, ...]
    givable: tuple[tuple[int, ...], ...]


def best_deal(view: View, seat: int, taste: Taste, budget: int, margins: tuple[float, ...]) -> Deal | None:
    """The deal that gains the seat most, of those which it can pay and which leave every target its margin.

    `margins` are dollars by seat: how much the target must gain beyond the harm that the deal does it.
    """
    opponents = len(view.living) - 1
    best: Deal | None = None
    for group, target, takes, givable in wanted(view.owner, len(view.seats), seat):
        for gives in givable:
            mine = change(view, seat, takes, gives, opponents=opponents, taste=taste)
            theirs = change(view, target, gives, takes, opponents=opponents, taste={})
            fees = interest_on(view.mortgaged, takes)
            # What the target asks: theirs + cash - (mine - cash) / opponents >= margin
            needed = (margins[target] + max(0.0, mine) / opponents - theirs) / (1 + 1 / opponents)
            cash = max(int(needed) + 1, -view.seats[target].cash + interest_on(view.mortgaged, gives))
            if cash + fees > budget:
                continue
            gain = mine - cash - fees - max(0.0, theirs + cash) / opponents
            if gain > 0 and (best is None or gain > best.gain):
                best = Deal(gain, group, target, gives, takes, cash)
    return best


@lru_cache(maxsize=256)
def wanted(owner: tuple[int, ...], seats: int, seat: int) -> tuple[Wanted, ...]:
    """Every group that one other player alone keeps from being whole."""
    held = holdings(owner, seats)
    mine = held.counts[seat]
    found = []
    for group, lots in GROUPS.items():
        if 0 < mine[group] < len(lots):
            others = {owner[lot] for lot in lots if owner[lot] != seat}
            if len(others) == 1 and BANK not in others:
                target = others.pop()
                rest = tuple(lot for lot in lots if owner[lot] != seat)
                found.append(Wanted(group, target, rest, tuple(_givable(owner, held, seat, target, group))))
    return tuple(found)


def _givable(owner: tuple[int, ...], held: Holdings, seat: int, target: int, goal: str) -> Iterator[tuple[int, ...]]:
    yield ()
    lone: list[int] = []
    for group, lots in GROUPS.items():
        mine = held.counts[seat][group]
        if group == goal or not mine or mine == len(lots):
            continue
        if mine + held.counts[target][group] == len(lots):
            yield tuple(lot for lot in lots if owner[lot] == seat)
        elif mine == 1:
            lone += [lot for lot in lots if owner[lot] == seat]
    if lone:
        yield (max(lone, key=lambda lot: SPACES[lot].price),)
        if len(lone) > 1:
            yield (min(lone, key=lambda lot: SPACES[lot].price),)
