"""Worth: what deeds are worth to a seat, from how often they are visited, and trades that would complete a group.

Worths are in dollars. A deed is worth its mortgage, the rent it brings without buildings, and its share in what the
monopoly would earn, which grows with the part that is held. Each bot decides what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from agentsim.games.monopoly.board import DEEDS, GROUPS, RAILROAD_RENTS, SPACES, UTILITY_TIMES
from agentsim.games.monopoly.landing_odds import stops
from agentsim.games.monopoly.state import BANK, Estate, Holdings, Seat, View, holdings
from agentsim.games.monopoly.trade import Proposal, Side, Terms, interest_on

Taste = Mapping[str, float]
"""Factors by which a group is worth more, or less, to a seat; 1 if it is not named."""
HORIZON = 15
"""Rounds of the table over which rents are counted."""
HOUSES = 3
"""Houses on each property with which a monopoly is valued: with more of them rents grow slowly."""
JAIL_CARD = 30
DENIAL = 0.5
"""The worth of keeping a group from completion, as a share of what completion would gain its holder."""
_SEVEN = 7  # the mean of the dice
_SHARES = {4: (0.0, 0.06, 0.25, 0.56, 1.0), 3: (0.0, 0.12, 0.4, 1.0), 2: (0.0, 0.3, 1.0)}


@lru_cache(maxsize=256)
def worst_rent(owner: tuple[int, ...], houses: tuple[int, ...], mortgaged: tuple[bool, ...], seat: int) -> int:
    """Return the most that the seat could owe for one landing now."""
    return Estate(list(owner), list(houses), list(mortgaged)).highest_rent(seat)


@cache
def stakes(opponents: int) -> Mapping[str, tuple[float, ...]]:
    """Return, by group, what holding 0, 1, ... all of its deeds adds to their worth, against so many opponents."""
    rounds = HORIZON * opponents
    found = {}
    for group, positions in GROUPS.items():
        spaces = [SPACES[position] for position in positions]
        rents = sum(stops()[position] * _rent(position, monopoly=True) for position in positions)
        spent = sum(HOUSES * space.house_cost for space in spaces)
        gain = max(sum(space.price for space in spaces) / 2, rounds * rents - spent)
        found[group] = tuple(gain * share for share in _SHARES[len(positions)])
    return found


def _rent(position: int, *, monopoly: bool) -> int:
    """Return the rent of a deed in a monopoly, with its houses, or of the only deed held of its group."""
    space, held = SPACES[position], -1 if monopoly else 0
    if space.kind == "street":
        return space.rents[HOUSES if monopoly else 0]
    return RAILROAD_RENTS[held] if space.kind == "railroad" else UTILITY_TIMES[held] * _SEVEN


@cache
def _alone(opponents: int) -> Mapping[int, float]:
    """Return the worth of each deed on its own by position: its mortgage, and its rent without buildings."""
    rounds = HORIZON * opponents
    return {at: SPACES[at].mortgage + rounds * stops()[at] * _rent(at, monopoly=False) for at in DEEDS}


def npv(view: View, seat: int, position: int, opponents: int, taste: Taste) -> float:
    """Return the net present value of an unowned deed to a seat.

    It includes the worth of denying the deed to a holder of all the rest of its group.
    """
    group = SPACES[position].group
    counts, ladder = view.holdings.counts, stakes(opponents)[group]
    mine = counts[seat][group]
    value = _alone(opponents)[position] + taste.get(group, 1.0) * (ladder[mine + 1] - ladder[mine])
    for other, held in enumerate(counts):
        if other != seat and held[group] == len(GROUPS[group]) - 1:
            value += DENIAL * (ladder[-1] - ladder[-2])
    return value


def change(view: View, seat: int, gets: Iterable[int], gives: Iterable[int], *, opponents: int, taste: Taste) -> float:
    """Return by how much `gets` and `gives` change what a seat's deeds are worth."""
    moved: dict[str, int] = {}
    total, alone = 0.0, _alone(opponents)
    for sign, positions in ((1, gets), (-1, gives)):
        for position in positions:
            group = SPACES[position].group
            moved[group] = moved.get(group, 0) + sign
            value = alone[position]
            total += sign * (value - SPACES[position].redemption if view.mortgaged[position] else value)
    counts, ladders = view.holdings.counts[seat], stakes(opponents)
    for group, step in moved.items():
        if step:
            ladder, held = ladders[group], counts[group]
            total += taste.get(group, 1.0) * (ladder[held + step] - ladder[held])
    return total


def judged(view: View, terms: Terms, seat: int, taste: Taste) -> tuple[float, float]:
    """Return what a trade gains one of its sides, and what it gains the other by public knowledge, in dollars.

    The first is less the harm that the other's gain does: every opponent pays a share of what the other earns by it.
    """
    mine, theirs = (terms.offer, terms.request) if seat == terms.target else (terms.request, terms.offer)
    other = terms.proposer if seat == terms.target else terms.target
    opponents = len(view.living) - 1
    cash = mine.cash - theirs.cash + JAIL_CARD * (mine.jail_cards - theirs.jail_cards)
    gain = change(view, other, theirs.properties, mine.properties, opponents=opponents, taste={}) - cash
    own = change(view, seat, mine.properties, theirs.properties, opponents=opponents, taste=taste) + cash
    return own - max(0.0, gain) / opponents, gain


# -- trades that would complete a group, with the cash that makes them acceptable


@dataclass(frozen=True, slots=True)
class Deal:
    """A trade worth proposing: its net gain for the proposer, and the group that it completes."""

    gain: float
    group: str
    target: int
    gives: tuple[int, ...]
    takes: tuple[int, ...]
    cash: int
    """Dollars from the proposer to the target; below zero in the other direction."""


def proposal(target: Seat, offer: Side, request: Side, pitch: str) -> Proposal:
    return Proposal(propose_trade=True, target_player=target.id, offer=offer, request=request, pitch=pitch)


class Wanted(NamedTuple):
    """A group that a seat could complete by one trade: its other holder, the missing deeds, and what could be given.

    Each entry of `givable` is no deed (cash alone), deeds that complete a group of the target, or a lone deed.
    """

    group: str
    target: int
    rest: tuple[int, ...]
    givable: tuple[tuple[int, ...], ...]


def best_deal(view: View, seat: int, taste: Taste, budget: int, margins: tuple[float, ...]) -> Deal | None:
    """Return the deal that gains the seat most, of those which it can pay and which leave every target its margin.

    `margins` are dollars by seat: how much the target must gain beyond the harm that the deal does it.
    """
    opponents = len(view.living) - 1
    best: Deal | None = None
    for group, target, takes, givable in wanted(view.owner, len(view.seats), seat):
        for gives in givable:
            mine = change(view, seat, takes, gives, opponents=opponents, taste=taste)
            theirs = change(view, target, gives, takes, opponents=opponents, taste={})
            fees = interest_on(view.mortgaged, takes)
            # The target asks for theirs + cash - (mine - cash) / opponents >= margin
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
    """Return every group that one other player alone keeps a seat from completing."""
    held = holdings(owner, seats)
    mine = held.counts[seat]
    found = []
    for group, positions in GROUPS.items():
        if 0 < mine[group] < len(positions):
            others = {owner[position] for position in positions if owner[position] != seat}
            if len(others) == 1 and BANK not in others:
                target = others.pop()
                rest = tuple(position for position in positions if owner[position] != seat)
                found.append(Wanted(group, target, rest, tuple(_givable(owner, held, seat, target, group))))
    return tuple(found)


def _givable(owner: tuple[int, ...], held: Holdings, seat: int, target: int, goal: str) -> Iterator[tuple[int, ...]]:
    yield ()
    lone: list[int] = []
    for group, positions in GROUPS.items():
        mine = held.counts[seat][group]
        if group == goal or not mine or mine == len(positions):
            continue
        if mine + held.counts[target][group] == len(positions):
            yield tuple(position for position in positions if owner[position] == seat)
        elif mine == 1:
            lone += [position for position in positions if owner[position] == seat]
    if lone:
        yield (max(lone, key=lambda position: SPACES[position].price),)
        if len(lone) > 1:
            yield (min(lone, key=lambda position: SPACES[position].price),)
