"""Bundle: several changes of one estate in one go, all or nothing: sell, mortgage, lift, build.

Within one kind the order in which a player lists things does not matter: whatever order is legal is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import DEEDS, GROUPS, HOTEL, SPACES, STREETS
from agentsim.games.monopoly.estate import Estate, Kind
from agentsim.games.monopoly.question import Deeds, Part, Place, word
from agentsim.games.monopoly.state import View

Building: TypeAlias = Annotated[Literal["house", "hotel"], BeforeValidator(word)]
LEVELS = Field(default=(), json_schema_extra={"maxItems": 40})
_LONGEST = 200  # steps: more than any estate has


def building(level: int) -> Literal["house", "hotel"]:
    """What stands there as the last of so many levels, from 1."""
    return "hotel" if level == HOTEL else "house"


class Level(Part):
    """One level more, or less, on the lot at this position: a house, or the hotel, which stands for four houses."""

    position: Place
    type: Building = "house"


class Funds(Part):
    """What raises money without another player."""

    sells: tuple[Level, ...] = LEVELS
    mortgages: Deeds = ()

    @property
    def bundle(self) -> Bundle:
        return Bundle(sells=self.sells, mortgages=self.mortgages)


class Bundle(Funds):
    """What a player does with its estate in one go, by positions; carried out in this order of the fields."""

    unmortgages: Deeds = ()
    builds: tuple[Level, ...] = LEVELS

    @property
    def empty(self) -> bool:
        return not (self.sells or self.mortgages or self.unmortgages or self.builds)


@dataclass(frozen=True, slots=True)
class Step:
    """One change: what it came to in dollars (received, or paid), and the lot's level before and after."""

    kind: Kind
    position: int
    amount: int
    before: int
    after: int

    @property
    def gain(self) -> int:
        """Dollars received; below zero those paid."""
        return self.amount if self.kind in {"sell", "mortgage"} else -self.amount


def possible(estate: Estate, seat: int, cash: int) -> bool:
    """Whether there is anything that the seat could do with its estate, alone and now."""
    deeds = estate.held(seat)
    for position in deeds:
        if not estate.mortgaged[position]:
            return True  # a clear deed can be mortgaged, or what stands in its group can be sold
    return any(SPACES[position].redemption <= cash for position in deeds)


def carry_out(estate: Estate, seat: int, cash: int, bundle: Bundle) -> list[Step]:
    """Change the estate; the steps, in the order in which they happen.

    A deed that a list names twice is mortgaged, or lifted, once. Raises `IllegalDecision`, with a reason fit for a
    player, and may then have done a part: try it on a copy first.
    """
    asked = len(bundle.sells) + len(bundle.mortgages) + len(bundle.unmortgages) + len(bundle.builds)
    if asked > _LONGEST:
        raise IllegalDecision(f"{asked} changes are more than any estate has room for.")
    steps = [*_sold(estate, seat, bundle.sells)]
    steps += [_step(estate, seat, "mortgage", _deed(position)) for position in dict.fromkeys(bundle.mortgages)]
    steps += [_step(estate, seat, "lift", _deed(position)) for position in dict.fromkeys(bundle.unmortgages)]
    steps += _built(estate, seat, bundle.builds)
    for step in steps:
        cash += step.gain
        if cash < 0:
            raise IllegalDecision(f"There is not the cash for all of it: ${-cash} short.")
    return steps


def why_not(view: View, seat: int, bundle: Bundle) -> str:
    """Why not all of it can be done; "" where it can."""
    try:
        if not bundle.empty:
            carry_out(view.estate(), seat, view.seats[seat].cash, bundle)
    except IllegalDecision as illegal:
        return str(illegal)
    return ""


def razing(estate: Estate, seat: int) -> list[Level]:
    """The entries that sell the seat's first group with buildings to the ground, which is always legal."""
    lots = next(group for group in GROUPS.values() if estate.owner[group[0]] == seat and estate.built_up(group[0]))
    return [Level(position=lot, type=building(level)) for lot in lots for level in range(estate.level[lot], 0, -1)]


def _deed(position: int) -> int:
    if position not in DEEDS:
        raise IllegalDecision(f"Position {position} is no property.")
    return position


def _step(estate: Estate, seat: int, kind: Kind, position: int) -> Step:
    if problem := estate.why_not(kind, seat, position):
        done = {"sell": "sold", "mortgage": "mortgaged", "lift": "lifted", "build": "built on"}[kind]
        raise IllegalDecision(f"{SPACES[position].name} cannot be {done}: {problem}.")
    before = estate.level[position]
    return Step(kind, position, estate.change(kind, position), before, estate.level[position])


def _sold(estate: Estate, seat: int, levels: Sequence[Level]) -> Iterator[Step]:
    """Whole groups to the ground, each in one step (S11), then what is left, one level after another."""
    wanted = Counter(_deed(level.position) for level in levels)
    hotels = Counter(level.position for level in levels if level.type == "hotel")
    for lot, named in hotels.items():
        if named > (estate.level[lot] == HOTEL):
            raise IllegalDecision(f"{SPACES[lot].name} cannot be sold: there is no {'second ' * (named > 1)}hotel.")
    for lots in GROUPS.values() if levels else ():
        whole = any(wanted[lot] for lot in lots) and all(estate.owner[lot] == seat for lot in lots)
        if whole and all(wanted[lot] == estate.level[lot] for lot in lots):
            for lot in lots:
                del wanted[lot]
                if before := estate.level[lot]:
                    yield Step("sell", lot, estate.raze(lot), before, 0)
    yield from _levelled(estate, seat, "sell", wanted)


def _built(estate: Estate, seat: int, levels: Sequence[Level]) -> Iterator[Step]:
    wanted = Counter(_deed(level.position) for level in levels)
    hotels = Counter(level.position for level in levels if level.type == "hotel")
    yield from _levelled(estate, seat, "build", wanted)
    got = {lot for lot in STREETS if wanted[lot] and estate.level[lot] == HOTEL}
    for lot in set(hotels) | got:
        if hotels[lot] != (lot in got):
            what = "a hotel stands on four houses" if hotels[lot] else "the fifth building is a hotel: say so"
            raise IllegalDecision(f"{SPACES[lot].name}: {what}.")


def _levelled(estate: Estate, seat: int, kind: Literal["sell", "build"], wanted: Mapping[int, int]) -> Iterator[Step]:
    """One level after another, evenly, group by group in an order in which the bank's houses last, if they last in any.

    A hotel takes four houses from the bank where it is sold, and gives four back where it is built. Groups that give
    what they take come first, the least taking first; then the others, the most giving first.
    """
    groups: dict[str, Counter[int]] = {}
    for lot, count in wanted.items():
        if count:
            groups.setdefault(SPACES[lot].group, Counter())[lot] = count
    order = {}
    for group, left in groups.items():
        if kind == "sell":  # from the highest lots down
            hotels = sum(estate.level[lot] == HOTEL for lot in left)
            takes, gives = (HOTEL - 1) * hotels, left.total() - hotels
        else:
            hotels = sum(estate.level[lot] + count >= HOTEL for lot, count in left.items())
            takes, gives = left.total() - hotels, (HOTEL - 1) * hotels
        order[group] = (False, takes) if gives >= takes else (True, -gives)
    for group in sorted(order, key=order.__getitem__):
        while left := +groups[group]:
            if kind == "sell":
                lot = min(left, key=lambda lot: bool(estate.why_not("sell", seat, lot)))
            else:
                lot = min(left, key=estate.level.__getitem__)  # where it cannot be built on, none of the group can
            yield _step(estate, seat, kind, lot)
            groups[group][lot] -= 1
