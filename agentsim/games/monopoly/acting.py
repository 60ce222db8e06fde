"""Actions in a player's phase: trades and changes of its estate, asked for until it does nothing.

With `questions = "together"` one question covers both, with "separate" each has its own. When the bank is short of
houses or hotels that several players could build, each goes to the highest bidder (S10): the builder opens with the
printed price, the others may bid more, and the winner builds for its bid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Options
from agentsim.engine.options import Narrowed
from agentsim.games.monopoly import bundle
from agentsim.games.monopoly.board import SPACES, OnBoard
from agentsim.games.monopoly.building import ManageEstate, When, build, carry_out, lists_that_matter, moment, open_to
from agentsim.games.monopoly.bundle import Building, Bundle, Step, building
from agentsim.games.monopoly.buying import AuctionBid, AuctionLot, BidMade
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import Part, Spoken
from agentsim.games.monopoly.trade import Offered, Proposing, deal, left, propose

# -- a shortage of buildings


class BuildingShort(
    OnBoard,
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
    steps = bundle.carry_out(estate.copy(), number, match.seat(number).cash, changes) if changes.builds else []
    carry_out(match, number, changes.model_copy(update={"builds": ()}))
    told, out = set[str](), set[int]()
    for step in (step for step in steps if step.kind == "build"):
        if estate.why_not("build", number, step.position) or match.seat(number).cash < step.amount:
            continue  # an auction before it took the building, or the cash for it
        kind = building(step.after)
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
    return [other for other in rich if _buildable(match.state.estate, other, building(step.after))]


def _buildable(estate: Estate, number: int, kind: Building) -> list[int]:
    """Return the positions on which a player may build this kind of building next."""
    return [position for position in estate.able("build", number) if building(estate.houses[position] + 1) == kind]


async def _auctioned(match: Match, builder: int, step: Step, bidders: Sequence[int], out: set[int]) -> None:
    """Auction one building: the builder opens, and the others may bid more.

    A bidder who withdraws is added to `out`, and takes no part in later auctions of the same bundle.
    """
    kind = building(step.after)
    leader, high, left = builder, step.amount, deque((*bidders, builder))
    while (number := left.popleft()) != leader:
        place, bid = _place(match, number, step, own=number == builder), 0
        least = high + match.config.auction_min_step
        if match.seat(number).cash >= least:
            names = (match.name(leader), least, tuple(map(match.name, left)))
            lot = AuctionLot(place, high, *names, sealed=False, building=kind)
            bid = (await match.ask(number, AuctionBid, lot=lot)).action.bid
            match.tell(BidMade(place, *match.who(number), bid), by=number)
        if bid:
            leader, high = number, bid
            left.append(number)
        elif number != builder:
            out.add(number)
    build(match, leader, _place(match, leader, step, own=leader == builder), high)


def _place(match: Match, number: int, step: Step, *, own: bool) -> int:
    """Return the position on which a bidder would build: the builder's choice, or else that with the highest rent."""
    positions, houses = _buildable(match.state.estate, number, building(step.after)), match.state.estate.houses
    return step.position if own else max(positions, key=lambda position: SPACES[position].rents[houses[position] + 1])


# -- a phase

_BUNDLES = 4
"""The most bundles of estate changes in one phase; the first can hold everything that is legal."""


class _Doing(Part):
    do: str


class DoNothing(_Doing):
    """An action that ends the phase."""

    do: Literal["nothing"] = "nothing"


class DoTrade(Offered, _Doing):
    """A proposed trade; `end_phase` ends the phase after it."""

    do: Literal["propose_trade"] = "propose_trade"
    end_phase: bool = False


class DoEstate(Bundle, _Doing):
    """Sales, mortgages, unmortgages and buildings; `end_phase` ends the phase after them."""

    do: Literal["manage_estate"] = "manage_estate"
    end_phase: bool = False


_KINDS: Mapping[str, frozenset[str]] = {
    "propose_trade": frozenset(Offered.model_fields),
    "manage_estate": frozenset(Bundle.model_fields),
}
_AROUND = frozenset({"do", *Spoken.model_fields})
_NOTHING = frozenset({"", "pass", "none", "no", "skip", "wait", "end_phase", "end phase", "end"})


def _says(value: Any) -> bool:
    return any(map(_says, value.values())) if isinstance(value, Mapping) else bool(value)


def told_apart(given: Any) -> Any:
    """Return an action with a missing `do` inferred from its fields; an action without content does nothing.

    Raises `ValueError` if `do` names one kind and there are fields of another: half of an action is never carried out.
    """
    if not isinstance(given, Mapping):
        return given
    meant = {kind for kind, fields in _KINDS.items() if any(_says(given.get(name)) for name in fields - {"pitch"})}
    if given.get("do") in ("nothing", *_KINDS):  # a tuple, since `do` may be a list
        if meant - {given["do"]}:
            raise ValueError(f"do is {given['do']}, and there are parts of {' and '.join(meant - {given['do']})}")
        return given
    found = [kind for kind, fields in _KINDS.items() if fields & given.keys()]
    if len(found) == 1 and given.get("propose_trade") is not False:
        return {**given, "do": found[0]}
    idle = given.keys() <= _AROUND and str(given.get("do") or "").strip().casefold() in _NOTHING
    return {"do": "nothing"} if idle or given.get("propose_trade") is False else given


class PhaseChoice(Spoken[Any]):
    action: Annotated[DoNothing | DoTrade | DoEstate, Field(discriminator="do"), BeforeValidator(told_apart)]


class PhaseAction(Proposing[PhaseChoice]):
    """The question of a phase: nothing, a trade, or changes of the estate; `kinds` are the last two as far as open.

    `made` counts the trades proposed in this phase, `left` those that are still allowed, and `managed` the bundles of
    estate changes. `again` says that doubles give another roll.
    """

    particulars: ClassVar[tuple[str, ...]] = ("when", "made", "managed")

    when: When
    kinds: tuple[str, ...]
    made: int
    left: int
    managed: int
    again: bool = False

    def choices(self) -> Options:
        return {"action.do": Choice(("nothing", *self.kinds)), **self.proposals("action")}

    def check(self, decision: PhaseChoice) -> None:
        if decision.action.do not in {"nothing", *self.kinds}:  # `legal` is built only if it is needed
            self.check_value("action.do", self.legal["action.do"], {"action.do": decision.action.do})
        super().check(decision)

    def why_not(self, decision: PhaseChoice) -> str:
        changes = decision.action
        return bundle.why_not(self.view, self.seat, changes) if isinstance(changes, DoEstate) else ""

    def warning(self, decision: PhaseChoice) -> str:
        offered = decision.action
        return self.objection_to(offered, self.view.estate(), self.view.seats) if isinstance(offered, DoTrade) else ""

    def question(self) -> tuple[str, ...]:
        when = moment(self.when, again=self.again)
        lines = [f"You may act {when}. You are asked again until you do nothing or set end_phase:"]
        if "propose_trade" in self.kinds:
            lines += [
                f"- propose_trade ({self.made} made, {self.left} left): cash, cards out of jail, deeds by position"
                f"{self.kept()}",
            ]
        if "manage_estate" in self.kinds:
            lines += [
                f"- manage_estate ({self.managed} of {_BUNDLES} times so far): all of its lists, in their order, or "
                "nothing; an entry is one building, a lot's fifth its hotel",
                *open_to(self.view, self.seat, "sell", "mortgage", "unmortgage", "build"),
            ]
        return tuple(lines)

    def on_board(self) -> Iterator[tuple[str, Narrowed | None]]:
        yield from self.trade_that_can_be("action", self.view.seats)
        yield from lists_that_matter(self.view.estate(), self.seat)


async def act(match: Match, number: int, when: When, *, again: bool = False) -> None:
    """Let a player trade and manage its estate until it does nothing or nothing is possible."""
    if match.config.questions == "separate":
        await propose(match, number, when, again=again)
        await manage(match, number, when, again=again)
        return
    made = managed = 0
    while True:
        more = left(match, number, made)
        can_manage = managed < _BUNDLES and bundle.possible(match.state.estate, number, match.seat(number).cash)
        kinds = (*["propose_trade"] * bool(more), *["manage_estate"] * can_manage)
        if not kinds:
            return
        so_far = {"made": made, "left": more, "managed": managed}
        chosen = (await match.ask(number, PhaseAction, when=when, kinds=kinds, again=again, **so_far)).action
        if isinstance(chosen, DoTrade):
            made += 1
            match.proposals[number] += 1
            await deal(match, number, chosen)
        elif isinstance(chosen, DoEstate) and not chosen.empty:
            managed += 1
            await build_out(match, number, chosen)
        else:
            return
        if chosen.end_phase:
            return


async def manage(match: Match, number: int, when: When, *, again: bool = False) -> bool:
    """Let a player manage its estate once, and return whether it changed anything."""
    if not bundle.possible(match.state.estate, number, match.seat(number).cash):
        return False
    changes = (await match.ask(number, ManageEstate, when=when, again=again)).action
    if not changes.empty:
        await build_out(match, number, changes)
    return not changes.empty
