"""Bundle: several changes of one estate in one go, all or nothing: sell, mortgage, lift, build.

Within one kind the order in which a player lists things does not matter: whatever order is legal is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import DEEDS, GROUPS, HOTEL, SPACES, STREETS
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.question import Deeds, Part, Place, word

Kind: TypeAlias = Literal["sell", "mortgage", "lift", "build"]
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


class Bundle(Part):
    """What a player does with its estate in one go, by positions; carried out in this order of the fields."""

    sells: tuple[Level, ...] = LEVELS
    mortgages: Deeds = ()
    unmortgages: Deeds = ()
    builds: tuple[Level, ...] = LEVELS

    @property
    def empty(self) -> bool:
        """Whether nothing is done."""
        return not (self.sells or self.mortgages or self.unmortgages or self.builds)


@dataclass(frozen=True, slots=True)
class Step:
    """One change: what it came to in dollars (received, or paid), and the lot's level before and after."""

    kind: Kind
    position: int
    amount: int
    before: int
    after: int


def possible(estate: Estate, seat: int, cash: int) -> bool:
    """Whether there is anything that the seat could do with its estate, alone and now."""
    deeds = estate.held(seat)
    for position in deeds:
        if not estate.mortgaged[position]:
            return True  # a clear deed can be mortgaged, or what stands in its group can be sold
    return any(SPACES[position].redemption <= cash for position in deeds)


def carry_out(estate: Estate, seat: int, cash: int, bundle: Bundle) -> list[Step]:
    """Change the estate; the steps, in the order in which they happen.

    Raises `IllegalDecision`, with a reason fit for a player, and may then have done a part: try it on a copy first.
    """
    asked = len(bundle.sells) + len(bundle.mortgages) + len(bundle.unmortgages) + len(bundle.builds)
    if asked > _LONGEST:
        raise IllegalDecision(f"{asked} changes are more than any estate has room for.")
    steps = [*_sold(estate, seat, bundle)]
    steps += [_pledged(estate, seat, "mortgage", position) for position in bundle.mortgages]
    steps += [_pledged(estate, seat, "lift", position) for position in bundle.unmortgages]
    steps += _built(estate, seat, bundle)
    for step in steps:
        cash += step.amount if step.kind in {"sell", "mortgage"} else -step.amount
        if cash < 0:
            raise IllegalDecision(f"There is not the cash for all of it: ${-cash} short.")
    return steps


def why_not(estate: Estate, seat: int, cash: int, bundle: Bundle) -> str:
    """Why not all of it can be done; "" where it can. The estate is changed: it is one to try things out on."""
    try:
        carry_out(estate, seat, cash, bundle)
    except IllegalDecision as illegal:
        return str(illegal)
    return ""


def razing(estate: Estate, seat: int) -> list[Level]:
    """The entries that sell the seat's first group with buildings to the ground, which is always legal."""
    lots = next(group for group in GROUPS.values() if estate.owner[group[0]] == seat and estate.built_up(group[0]))
    return [Level(position=lot, type=building(level)) for lot in lots for level in range(estate.level[lot], 0, -1)]


def _space(position: int) -> int:
    if position not in DEEDS:
        raise IllegalDecision(f"Position {position} is no property.")
    return position


def _pledged(estate: Estate, seat: int, kind: Literal["mortgage", "lift"], position: int) -> Step:
    space = SPACES[_space(position)]
    mortgaging = kind == "mortgage"
    problem = (estate.cannot_mortgage if mortgaging else estate.cannot_lift)(seat, position)
    if problem:
        raise IllegalDecision(f"{space.name} cannot be {'mortgaged' if mortgaging else 'lifted'}: {problem}.")
    estate.mortgaged[position] = mortgaging
    return Step(kind, position, space.mortgage if mortgaging else space.redemption, 0, 0)


def _sold(estate: Estate, seat: int, bundle: Bundle) -> Iterator[Step]:
    if not bundle.sells:
        return
    wanted = Counter(_space(sale.position) for sale in bundle.sells)
    hotels = Counter(sale.position for sale in bundle.sells if sale.type == "hotel")
    for lot, named in hotels.items():
        if named > (estate.level[lot] == HOTEL):
            raise IllegalDecision(f"{SPACES[lot].name} cannot be sold: there is no {'second ' * (named > 1)}hotel.")
    yield from _razed(estate, seat, wanted)
    groups = _by_group(wanted)
    stakes = {}
    for group, left in groups.items():  # from the highest lots down: a hotel takes four houses from the bank
        broken = sum(estate.level[lot] == HOTEL for lot in left)
        stakes[group] = ((HOTEL - 1) * broken, left.total() - broken)
    for group in _in_order(stakes):
        while left := +groups[group]:
            lot = max(left, key=lambda lot: estate.cannot_sell(seat, lot) is None)
            if problem := estate.cannot_sell(seat, lot):
                raise IllegalDecision(f"{SPACES[lot].name} cannot be sold: {problem}.")
            before = estate.level[lot]
            yield Step("sell", lot, estate.sell(lot), before, before - 1)
            groups[group][lot] -= 1


def _razed(estate: Estate, seat: int, wanted: Counter[int]) -> Iterator[Step]:
    """Whole groups to the ground, each in one step, and out of what is wanted (S11)."""
    for lots in GROUPS.values():
        whole = any(wanted[lot] for lot in lots) and all(estate.owner[lot] == seat for lot in lots)
        if whole and all(wanted[lot] == estate.level[lot] for lot in lots):
            for lot in lots:
                del wanted[lot]
                if before := estate.level[lot]:
                    yield Step("sell", lot, estate.raze(lot), before, 0)


def _built(estate: Estate, seat: int, bundle: Bundle) -> Iterator[Step]:
    if not bundle.builds:
        return
    hotels = Counter(build.position for build in bundle.builds if build.type == "hotel")
    got: Counter[int] = Counter()
    groups = _by_group(Counter(_space(build.position) for build in bundle.builds))
    stakes = {}
    for group, left in groups.items():  # from the lowest lots up: a hotel gives four houses back to the bank
        done = sum(estate.level[lot] + count >= HOTEL for lot, count in left.items())
        stakes[group] = (left.total() - done, (HOTEL - 1) * done)
    for group in _in_order(stakes):
        left = groups[group]
        while left:
            lot = min(left, key=estate.level.__getitem__)  # where it cannot be built on, none of the group can
            if problem := estate.cannot_build(seat, lot):
                raise IllegalDecision(f"{SPACES[lot].name} cannot be built on: {problem}.")
            before = estate.level[lot]
            yield Step("build", lot, estate.build(lot), before, before + 1)
            got[lot] += before + 1 == HOTEL
            left[lot] -= 1
            if not left[lot]:
                del left[lot]
    for lot in set(hotels) | {lot for lot in STREETS if got[lot]}:
        if hotels[lot] != got[lot]:
            what = "a hotel stands on four houses" if hotels[lot] else "the fifth building is a hotel: say so"
            raise IllegalDecision(f"{SPACES[lot].name}: {what}.")


def _by_group(wanted: Mapping[int, int]) -> dict[str, Counter[int]]:
    """How many levels of each lot, by group."""
    groups: dict[str, Counter[int]] = {}
    for lot, count in wanted.items():
        if count:
            groups.setdefault(SPACES[lot].group, Counter())[lot] = count
    return groups


def _in_order(stakes: Mapping[str, tuple[int, int]]) -> list[str]:
    """Groups in an order in which the bank's houses last, if they last in any.

    By group: how many houses are taken first, and given then. Those that give what they take come first, the least
    taking first; then the others, the most giving first.
    """

    def key(group: str) -> tuple[bool, int]:
        takes, gives = stakes[group]
        return (False, takes) if gives >= takes else (True, -gives)

    return sorted(stakes, key=key)
