"""Bundles: several changes of one estate at once, all or nothing: sell, mortgage, unmortgage, build.

The order of the entries in one list does not matter: any legal order is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import DEEDS, GROUPS, HOTEL, SPACES
from agentsim.games.monopoly.estate import Estate, Kind
from agentsim.games.monopoly.question import Deeds, Part, Place, word
from agentsim.games.monopoly.state import View

Building: TypeAlias = Annotated[Literal["house", "hotel"], BeforeValidator(word)]
BUILDINGS = Field(default=(), json_schema_extra={"maxItems": 40})
_LONGEST = 200  # steps; no estate has room for more


def building(houses: int) -> Literal["house", "hotel"]:
    """Return the kind of building that brings a property to so many houses, 5 for a hotel."""
    return "hotel" if houses == HOTEL else "house"


class HouseOrHotel(Part):
    """One building to sell or build at a position: a house, or the hotel that replaces four houses.

    What stands there is sold, and what can stand there is built: a fifth house is the hotel, whatever it is called.
    """

    position: Place
    type: Building = "house"


class Funds(Part):
    """Sales and mortgages, which raise cash without another player."""

    sells: tuple[HouseOrHotel, ...] = BUILDINGS
    mortgages: Deeds = ()

    @property
    def bundle(self) -> Bundle:
        return Bundle(sells=self.sells, mortgages=self.mortgages)


class Bundle(Funds):
    """Changes of an estate by position, carried out in the order of these fields."""

    unmortgages: Deeds = ()
    builds: tuple[HouseOrHotel, ...] = BUILDINGS

    @property
    def empty(self) -> bool:
        return not (self.sells or self.mortgages or self.unmortgages or self.builds)


@dataclass(frozen=True, slots=True)
class Step:
    """One change: the dollars received or paid, and the houses on the property before and after, 5 for a hotel."""

    kind: Kind
    position: int
    amount: int
    before: int
    after: int

    @property
    def gain(self) -> int:
        """The dollars received, or minus the dollars paid."""
        return self.amount if self.kind in {"sell", "mortgage"} else -self.amount


def possible(estate: Estate, seat: int, cash: int) -> bool:
    """Return whether a seat could change anything of its estate now."""
    deeds = estate.held(seat)
    for position in deeds:
        if not estate.mortgaged[position]:
            return True  # it can be mortgaged, or a building of its group can be sold
    return any(SPACES[position].redemption <= cash for position in deeds)


def carry_out(estate: Estate, seat: int, cash: int, bundle: Bundle) -> list[Step]:
    """Change the estate, and return the steps in the order in which they happen.

    A deed that is listed twice is mortgaged or unmortgaged once. Raises `IllegalDecision` with a reason for the player;
    a part may then be done, so try a bundle on a copy first.
    """
    asked = len(bundle.sells) + len(bundle.mortgages) + len(bundle.unmortgages) + len(bundle.builds)
    if asked > _LONGEST:
        raise IllegalDecision(f"{asked} changes are more than any estate has room for.")
    steps = [*_sold(estate, seat, bundle.sells)]
    steps += [_step(estate, seat, "mortgage", _deed(position)) for position in dict.fromkeys(bundle.mortgages)]
    steps += [_step(estate, seat, "unmortgage", _deed(position)) for position in dict.fromkeys(bundle.unmortgages)]
    steps += _built(estate, seat, bundle.builds)
    for step in steps:
        cash += step.gain
        if cash < 0:
            raise IllegalDecision(f"There is not the cash for all of it: ${-cash} short.")
    return steps


def why_not(view: View, seat: int, bundle: Bundle) -> str:
    """Return why the bundle is illegal, or "" if it is legal."""
    try:
        if not bundle.empty:
            carry_out(view.estate(), seat, view.seats[seat].cash, bundle)
    except IllegalDecision as illegal:
        return str(illegal)
    return ""


def razing(estate: Estate, seat: int) -> list[HouseOrHotel]:
    """Return the entries that sell all buildings of the seat's first group with any, which is always legal."""
    positions = next(group for group in GROUPS.values() if estate.owner[group[0]] == seat and estate.built_up(group[0]))
    built = ((position, houses) for position in positions for houses in range(estate.houses[position], 0, -1))
    return [HouseOrHotel(position=position, type=building(houses)) for position, houses in built]


def _deed(position: int) -> int:
    if position not in DEEDS:
        raise IllegalDecision(f"Position {position} is no property.")
    return position


def _step(estate: Estate, seat: int, kind: Kind, position: int) -> Step:
    if problem := estate.why_not(kind, seat, position):
        done = {"sell": "sold", "mortgage": "mortgaged", "unmortgage": "lifted", "build": "built on"}[kind]
        raise IllegalDecision(f"{SPACES[position].name} cannot be {done}: {problem}.")
    before = estate.houses[position]
    return Step(kind, position, estate.change(kind, position), before, estate.houses[position])


def _sold(estate: Estate, seat: int, buildings: Sequence[HouseOrHotel]) -> Iterator[Step]:
    """Sell groups that are to be sold out at once (S11), then the other buildings one at a time."""
    wanted = Counter(_deed(each.position) for each in buildings)
    hotels = Counter(each.position for each in buildings if each.type == "hotel")
    for position, named in hotels.items():
        if named > (estate.houses[position] == HOTEL):
            second = "second " * (named > 1)
            raise IllegalDecision(f"{SPACES[position].name} cannot be sold: there is no {second}hotel.")
    for positions in GROUPS.values() if buildings else ():
        owned = any(wanted[at] for at in positions) and all(estate.owner[at] == seat for at in positions)
        if owned and all(wanted[at] == estate.houses[at] for at in positions):
            for position in positions:
                del wanted[position]
                if before := estate.houses[position]:
                    yield Step("sell", position, estate.raze(position), before, 0)
    yield from _evenly(estate, seat, "sell", wanted)


def _built(estate: Estate, seat: int, buildings: Sequence[HouseOrHotel]) -> Iterator[Step]:
    wanted = Counter(_deed(each.position) for each in buildings)
    hotels = Counter(each.position for each in buildings if each.type == "hotel")
    yield from _evenly(estate, seat, "build", wanted)
    for position, named in hotels.items():
        if named > (estate.houses[position] == HOTEL):
            raise IllegalDecision(f"{SPACES[position].name}: a hotel stands on four houses.")


def _evenly(estate: Estate, seat: int, kind: Literal["sell", "build"], wanted: Mapping[int, int]) -> Iterator[Step]:
    """Sell or build evenly, one at a time, in an order of groups for which the bank's houses suffice if any order does.

    To sell a hotel takes four houses from the bank; to build one gives four back. Groups that give at least what they
    take come first, the least taking first; then the others, the most giving first.
    """
    groups: dict[str, Counter[int]] = {}
    for position, count in wanted.items():
        if count:
            groups.setdefault(SPACES[position].group, Counter())[position] = count
    order = {}
    for group, left in groups.items():
        if kind == "sell":  # from the properties with most houses down
            hotels = sum(estate.houses[position] == HOTEL for position in left)
            takes, gives = (HOTEL - 1) * hotels, left.total() - hotels
        else:
            hotels = sum(estate.houses[position] + count >= HOTEL for position, count in left.items())
            takes, gives = left.total() - hotels, (HOTEL - 1) * hotels
        order[group] = (False, takes) if gives >= takes else (True, -gives)
    for group in sorted(order, key=order.__getitem__):
        while left := +groups[group]:
            if kind == "sell":
                position = min(left, key=lambda position: bool(estate.why_not("sell", seat, position)))
            else:
                # if this one cannot be built on, none of the group can
                position = min(left, key=estate.houses.__getitem__)
            yield _step(estate, seat, kind, position)
            groups[group][position] -= 1
