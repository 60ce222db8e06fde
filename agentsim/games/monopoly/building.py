"""Building and mortgaging: what may be changed of an estate, how a player changes it, and who gets the last buildings.

"May I build?" is answered here alone: one change by `why_not`, several at once by `change_estate`, in any order of
their entries, and a building of which the bank is short by `build_out` (S10).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Options, Subset
from agentsim.engine.options import FieldOverride, JsonObject, Several
from agentsim.engine.wording import Worded, counted
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.auctions import AuctionBid, AuctionLot, BidMade
from agentsim.games.monopoly.board import DEEDS, GROUPS, HOTEL, SPACES, STREETS, OnBoard, OnDeed, Space, group_name
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import Deeds, MonopolyRequest, Part, Position, Spoken, TradeRequest, word
from agentsim.games.monopoly.rules_text import deed, rent_line
from agentsim.games.monopoly.state import BANK, Estate, Kind, View, amount
from agentsim.lazy import dataclass

When: TypeAlias = Literal["before", "after", "jail", "jailed", "between"]
"""Before or after the player's roll, before it leaves jail, just sent there, or when another player's roll is done."""
DEEDS_IN_WORDS = "names or numbers, commas between; empty for none"
_OPEN: Mapping[Kind, str] = {
    "sell": "May be sold next (you get)",
    "mortgage": "May be mortgaged (you get)",
    "unmortgage": "Mortgages that may be lifted (you pay)",
    "build": "May be built on next (you pay; rent now, then)",
}
_BUILDINGS_IN_WORDS = "name or number, then house or hotel; commas between; empty for none"


# -- may I? one change at a time


def why_not(estate: Estate, kind: Kind, seat: int, position: int) -> str:
    """Return why a seat may not change a property like this, or "" if it may."""
    space = SPACES[position]
    if kind == "build":
        return _why_not_build(estate, seat, space)
    if estate.owner[position] != seat:
        return f"{space.name} is not yours"
    if kind == "sell":
        return _why_not_sell(estate, space)
    if estate.mortgaged[position] == (kind == "mortgage"):
        return f"{space.name} is {'mortgaged already' if kind == 'mortgage' else 'not mortgaged'}"
    built_up = kind == "mortgage" and estate.built_up(position)
    return f"sell the buildings of the {group_name(space.group)} group first" if built_up else ""


def _why_not_build(estate: Estate, seat: int, space: Space) -> str:
    if space.kind != "street":
        return f"{space.name} is no lot to build on"
    group, houses = GROUPS[space.group], estate.houses[space.position]
    if not estate.has_monopoly(seat, space.group):
        return f"{space.name} needs the whole {group_name(space.group)} group"
    if any(estate.mortgaged[position] for position in group):
        return f"a lot of the {group_name(space.group)} group is mortgaged"
    if houses == HOTEL:
        return f"{space.name} has its hotel"
    if houses > min(estate.houses[position] for position in group):
        return f"{space.name} has more than another lot of its group: building is even"
    if houses == HOTEL - 1:
        return "" if estate.bank_hotels else "the bank has no hotel left"
    return "" if estate.bank_houses else "the bank has no house left"


def _why_not_sell(estate: Estate, space: Space) -> str:
    houses = estate.houses[space.position]
    if not houses:
        return f"{space.name} has no building"
    if houses < max(estate.houses[position] for position in GROUPS[space.group]):
        return f"{space.name} has less than another lot of its group: selling is even"
    if houses == HOTEL and estate.bank_houses < HOTEL - 1:
        return f"the bank has not the four houses for the hotel on {space.name}: sell its whole group to the ground"
    return ""


def able(estate: Estate, kind: Kind, seat: int) -> list[int]:
    """Return the seat's properties that it may change like this, in board order."""
    return [position for position in estate.held(seat) if not why_not(estate, kind, seat, position)]


# -- several changes at once: sell, mortgage, unmortgage, build, all or nothing

Building: TypeAlias = Annotated[Literal["house", "hotel"], BeforeValidator(word)]
BUILDINGS = Field(default=(), json_schema_extra={"maxItems": 40})
_LONGEST = 200  # steps; no estate has room for more


def building_kind(houses: int) -> Literal["house", "hotel"]:
    """Return the kind of building that brings a property to so many houses, 5 for a hotel."""
    return "hotel" if houses == HOTEL else "house"


class HouseOrHotel(Part):
    """One building to sell or build at a position: a house, or the hotel that replaces four houses.

    What stands there is sold, and what can stand there is built: a fifth house is the hotel, whatever it is called.
    """

    position: Position
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


def can_change(estate: Estate, seat: int, cash: int) -> bool:
    """Return whether a seat could change anything of its estate now."""
    deeds = estate.held(seat)
    for position in deeds:
        if not estate.mortgaged[position]:
            return True  # it can be mortgaged, or a building of its group can be sold
    return any(SPACES[position].redemption <= cash for position in deeds)


def change_estate(estate: Estate, seat: int, cash: int, bundle: Bundle) -> list[Step]:
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


def why_not_all(view: View, seat: int, bundle: Bundle) -> str:
    """Return why the bundle is illegal, or "" if it is legal."""
    try:
        if not bundle.empty:
            change_estate(view.estate(), seat, view.seats[seat].cash, bundle)
    except IllegalDecision as illegal:
        return str(illegal)
    return ""


def razing(estate: Estate, seat: int) -> list[HouseOrHotel]:
    """Return the entries that sell all buildings of the seat's first group with any, which is always legal."""
    positions = next(group for group in GROUPS.values() if estate.owner[group[0]] == seat and estate.built_up(group[0]))
    built = ((position, houses) for position in positions for houses in range(estate.houses[position], 0, -1))
    return [HouseOrHotel(position=position, type=building_kind(houses)) for position, houses in built]


def _deed(position: int) -> int:
    if position not in DEEDS:
        raise IllegalDecision(f"Position {position} is no property.")
    return position


def _step(estate: Estate, seat: int, kind: Kind, position: int) -> Step:
    if problem := why_not(estate, kind, seat, position):
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
                position = min(left, key=lambda position: bool(why_not(estate, "sell", seat, position)))
            else:
                # if this one cannot be built on, none of the group can
                position = min(left, key=estate.houses.__getitem__)
            yield _step(estate, seat, kind, position)
            groups[group][position] -= 1


# -- what is told


def _houses_in_words(houses: int) -> str:
    return "a hotel" if houses == HOTEL else "no house" if not houses else counted(houses, "house")


class _BuildingsChanged(OnDeed, content="${amount}; now {after}. {name} has ${cash}.", base=True):
    """`before` and `after` are numbers of houses, 5 for a hotel; `houses` and `hotels` are the bank's stock."""

    before: int
    after: Annotated[int, Worded(_houses_in_words)]
    houses: int
    hotels: int
    cash: int


class Built(_BuildingsChanged, label="building", heading="{name} builds on {position}"):
    short = "{name} builds up to: {position} {after}"


class Sold(_BuildingsChanged, label="sale of buildings", heading="{name} sells buildings on {position}"):
    short = "{name} sells down to: {position} {after}"


class _Pledged(OnDeed, content="${amount}; {name} has ${cash}.", base=True):
    cash: int


class Mortgaged(_Pledged, label="mortgage", heading="{name} mortgages {position}"):
    short = "{name} mortgages: {position}"


class Unmortgaged(_Pledged, kind="mortgage_lifted", heading="{name} lifts the mortgage on {position}"):
    short = "{name} lifts mortgages: {position}"


# -- what is asked


Managed: TypeAlias = Spoken[Bundle]


class ManageEstate(TradeRequest[Managed]):
    """The question of managing an estate: sell, mortgage, unmortgage and build in one bundle, all or nothing."""

    null_objects: ClassVar[Mapping[str, Any]] = {"action": {}}
    particulars: ClassVar[tuple[str, ...]] = ("when",)

    when: When
    again: bool = False
    """Whether doubles give another roll after this."""

    def why_not(self, decision: Managed) -> str:
        return why_not_all(self.view, self.seat, decision.action)

    def question(self) -> tuple[str, ...]:
        return (
            f"You may manage your properties {moment(self.when, again=self.again)}; you have ${self.you.cash}.",
            *open_to(self.view, self.seat, "sell", "mortgage", "unmortgage", "build"),
            "Either all of the lists are carried out, in their order, or nothing is. An entry is one building; a lot's "
            "fifth building is a hotel. Empty lists do nothing.",
        )

    def on_board(self) -> Iterator[tuple[str, FieldOverride | None]]:
        return lists_that_matter(self.view.estate(), self.seat)


def moment(when: str, *, again: bool) -> str:
    """Describe when in a turn a question is asked; `again` says that doubles give another roll."""
    after = "after your roll; it was doubles, so you roll again" if again else "after your roll"
    jail = {"jail": "before you choose how to leave jail", "jailed": "now that you have been sent to jail"}
    return {"before": "before your roll", "after": after, "between": "before the next roll", **jail}[when]


def open_to(view: View, seat: int, *kinds: Kind) -> Iterator[str]:
    """Yield a line for each kind of change that is legal now, with the properties and amounts."""
    estate = view.estate()
    for kind in kinds:
        found = []
        for position in able(estate, kind, seat):
            space = SPACES[position]
            called = deed(estate, position) if kind in {"sell", "build"} else f"{position} {space.name}"
            rents = ""
            if kind == "build":
                rents = f" ({estate.rent(position, 0)}, {space.rents[estate.houses[position] + 1]})"
            found.append(f"{called} ${amount(kind, position)}{rents}")
        if found:
            yield f"{_OPEN[kind]}: {', '.join(found)}"


def lists_that_matter(estate: Estate, seat: int) -> Iterator[tuple[str, FieldOverride | None]]:
    """Yield the bundle's lists by path: what they may hold now or after the lists before them, or None for nothing.

    They depend on deeds and buildings alone, because a provider's prompt cache ends when a schema changes.
    """
    held, house = estate.held(seat), Choice(("house", "hotel"))
    streets = [at for at in held if at in STREETS and estate.has_monopoly(seat, SPACES[at].group)]
    built = [position for position in streets if estate.houses[position]]

    def listed(positions: Sequence[int], *, buildings: bool = False) -> FieldOverride:
        space, most = Choice(tuple(positions)), len(positions)
        if not buildings:
            return FieldOverride(DEEDS_IN_WORDS, for_models=Several(space, upto=most))
        item = JsonObject({"position": space, "type": house})
        return FieldOverride(_BUILDINGS_IN_WORDS, for_models=Several(item, upto=HOTEL * most))

    yield "action.sells", listed(built, buildings=True) if built else None
    yield "action.mortgages", listed(held) if any(not estate.mortgaged[position] for position in held) else None
    yield "action.unmortgages", listed(held) if any(estate.mortgaged[position] for position in held) else None
    yield "action.builds", listed(streets, buildings=True) if streets else None


# -- what happens


def carry_out(match: Match, number: int, changes: Bundle) -> None:
    """Carry out a bundle of estate changes and announce each. Raises `IllegalDecision` if it is illegal."""
    if not changes.empty:
        for step in change_estate(match.state.estate, number, match.seat(number).cash, changes):
            _book(match, number, step)


def build(match: Match, number: int, position: int, price: int) -> None:
    """Add one building for this price. The caller checks that it is legal."""
    before = match.state.estate.houses[position]
    match.state.estate.change("build", position)
    _book(match, number, Step("build", position, price, before, before + 1))


def _book(match: Match, number: int, step: Step) -> None:
    payer, payee = (BANK, number) if step.gain > 0 else (number, BANK)
    match.state.move_cash(payer, payee, step.amount)
    seat, estate, what = match.seat(number), match.state.estate, (step.position, *match.who(number), step.amount)
    if step.kind in {"mortgage", "unmortgage"}:
        match.tell((Mortgaged if step.kind == "mortgage" else Unmortgaged)(*what, seat.cash), by=number)
    else:
        counts = (step.before, step.after, estate.bank_houses, estate.bank_hotels)
        match.tell((Built if step.kind == "build" else Sold)(*what, *counts, seat.cash), by=number)


def clear_buildings(match: Match, number: int, *, paid: bool) -> None:
    """Return all buildings of a player to the bank, for half their cost if `paid`, else for nothing."""
    state = match.state
    for position in state.estate.held(number):
        if before := state.estate.houses[position]:
            brought = state.estate.raze(position)
            _book(match, number, Step("sell", position, brought if paid else 0, before, 0))


# -- a shortage of buildings


class BuildingShort(
    OnBoard,
    label="building shortage",
    heading="{name} builds while others could: the bank has {stock} {building} left",
    content="Each goes to the highest bidder, from ${price} up.",
):
    """A player builds while the bank has too few buildings for all who could build one.

    `price` is the printed price, with which the builder opens; `bidders` are the ids of the others who could build.
    """

    short = "{name} builds, {stock} {building} left: each goes to the highest bidder"
    name: str
    building: str
    stock: int
    price: int
    bidders: tuple[str, ...]


async def build_out(match: Match, number: int, changes: Bundle) -> None:
    """Carry out a bundle of estate changes, with an auction for each building that the bank is short of.

    The bank is short if the builder and the others who could build one now are more than its stock. Raises
    `IllegalDecision` if the bundle is illegal.
    """
    estate = match.state.estate
    steps = change_estate(estate.copy(), number, match.seat(number).cash, changes) if changes.builds else []
    carry_out(match, number, changes.model_copy(update={"builds": ()}))
    told, out = set[str](), set[int]()
    for step in (step for step in steps if step.kind == "build"):
        if why_not(estate, "build", number, step.position) or match.seat(number).cash < step.amount:
            continue  # an auction before it took the building, or the cash for it
        kind = building_kind(step.after)
        rivals = [] if match.config.house_shortage == "seat_order" else _rivals(match, number, step)
        stock = estate.bank_hotels if kind == "hotel" else estate.bank_houses
        if len(rivals) < stock:
            build(match, number, step.position, step.amount)
            continue
        if kind not in told:
            told.add(kind)
            ids = tuple(match.seat(other).id for other in rivals)
            match.tell(BuildingShort(match.name(number), kind, stock, step.amount, ids), by=number)
        await _auctioned(match, number, step, [other for other in rivals if other not in out], out)


def _rivals(match: Match, builder: int, step: Step) -> list[int]:
    """Return the other players, from the builder's left, who could build one too and have the cash to bid."""
    least, others = step.amount + match.config.auction_min_step, match.state.after(builder)[:-1]
    rich = [other for other in others if match.seat(other).cash >= least]
    return [other for other in rich if _buildable(match.state.estate, other, building_kind(step.after))]


def _buildable(estate: Estate, number: int, kind: Building) -> list[int]:
    """Return the positions on which a player may build this kind of building next."""
    return [
        position for position in able(estate, "build", number) if building_kind(estate.houses[position] + 1) == kind
    ]


async def _auctioned(match: Match, builder: int, step: Step, bidders: Sequence[int], out: set[int]) -> None:
    """Auction one building: the builder opens, and the others may bid more.

    A bidder who withdraws is added to `out`, and takes no part in later auctions of the same bundle. One who is too
    poor for the next bid drops out of this auction alone.
    """
    kind = building_kind(step.after)
    leader, high, left = builder, step.amount, deque((*bidders, builder))
    while (number := left.popleft()) != leader:
        position, bid = _building_position(match, number, step, own=number == builder), 0
        least = high + match.config.auction_min_step
        if match.seat(number).cash >= least:
            names = (match.name(leader), least, tuple(map(match.name, left)))
            lot = AuctionLot(position, high, *names, sealed=False, building=kind)
            bid = (await match.ask(number, AuctionBid, lot=lot)).action.bid
            match.tell(BidMade(position, *match.who(number), bid), by=number)
            if not bid and number != builder:
                out.add(number)
        if bid:
            leader, high = number, bid
            left.append(number)
    build(match, leader, _building_position(match, leader, step, own=leader == builder), high)


def _building_position(match: Match, number: int, step: Step, *, own: bool) -> int:
    """Return the position on which a bidder would build: the builder's choice, or else that with the highest rent."""
    positions, houses = _buildable(match.state.estate, number, building_kind(step.after)), match.state.estate.houses
    return step.position if own else max(positions, key=lambda position: SPACES[position].rents[houses[position] + 1])


# -- on receipt of mortgaged deeds


LiftedOnReceipt: TypeAlias = Spoken[Deeds]


class LiftOnReceipt(MonopolyRequest[LiftedOnReceipt]):
    """The question which received deeds to unmortgage at once, with the interest paid once."""

    particulars: ClassVar[tuple[str, ...]] = ("received",)

    received: tuple[int, ...]

    def choices(self) -> Options:
        return {"action": Subset(self.received)}

    def why_not(self, decision: LiftedOnReceipt) -> str:
        due = cost(self.received, decision.action)
        return f"That and the interest on the others come to ${due}." if due > self.you.cash else ""

    def question(self) -> tuple[str, ...]:
        spaces = [SPACES[position] for position in self.received]
        return (
            f"You have received mortgaged deeds and have ${self.you.cash}. For each you now pay either the price of "
            "lifting the mortgage, or the interest, after which lifting it later still costs that price:",
            *(
                f"- {space.position} {space.name}: ${space.redemption} to lift, ${space.interest} interest. "
                f"{rent_line(space.position)}"
                for space in spaces
            ),
            "Which mortgages do you lift now? An empty list lifts none.",
        )

    def fallback(self) -> LiftedOnReceipt:
        return self.silent(action=())


def cost(received: Sequence[int], unmortgages: Sequence[int]) -> int:
    """Return the dollars due at once for received deeds: redemption if unmortgaged, else interest."""
    return sum(SPACES[at].redemption if at in unmortgages else SPACES[at].interest for at in received)


async def received(match: Match, number: int, mortgaged: Sequence[int]) -> Sequence[int]:
    """Let a player unmortgage received deeds if it has the cash for any; return the deeds that still owe interest."""
    cash = match.seat(number).cash
    if not match.config.lift_on_receipt or all(cost(mortgaged, [at]) > cash for at in mortgaged):
        return mortgaged
    unmortgages = (await match.ask(number, LiftOnReceipt, received=tuple(mortgaged))).action
    carry_out(match, number, Bundle(unmortgages=unmortgages))
    return [at for at in mortgaged if at not in unmortgages]
