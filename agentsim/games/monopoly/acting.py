"""Acting: a player's own phase: it trades and sees to its estate, asked as long as it does something.

Either is one question, which a model answers with one of three kinds of action; or each has a question of its own. The
last houses and hotels, which several players could build, go to the highest bidder, one by one (S10). Who builds opens
with the printed price; those who could build too may bid more, and the winner builds for its bid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Options
from agentsim.engine.schema import Narrowed
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
    """`bidders` could build too; `price` is the printed one, with which the builder opens."""

    short = "{name} builds, {stock} {building} left: each goes to the highest bidder"
    name: str
    building: str
    stock: int
    price: int
    bidders: tuple[str, ...]


async def build_out(match: Match, number: int, changes: Bundle) -> None:
    """As `carry_out`; but a building goes to auction where there is not one left for each who could build one now."""
    estate = match.state.estate
    steps = bundle.carry_out(estate.copy(), number, match.seat(number).cash, changes) if changes.builds else []
    carry_out(match, number, changes.model_copy(update={"builds": ()}))
    told, out = set[str](), set[int]()
    for step in (step for step in steps if step.kind == "build"):
        if estate.why_not("build", number, step.position) or match.seat(number).cash < step.amount:
            continue  # what it counted on has gone to another player
        kind = building(step.after)
        rivals = [] if match.config.house_shortage == "seat_order" else _rivals(match, number, step)
        stock = estate.hotels if kind == "hotel" else estate.houses
        if len(rivals) < stock:
            build(match, number, step.position, step.amount)
            continue
        if kind not in told:
            told.add(kind)
            ids = tuple(match.seat(other).id for other in rivals)
            match.tell(BuildingShort(match.name(number), kind, stock, step.amount, ids), by=number)
        await _auctioned(match, number, step, [other for other in rivals if other not in out], out)


def _rivals(match: Match, builder: int, step: Step) -> list[int]:
    """From the builder's left, the others who could build one too, and have the cash to bid for it."""
    least, others = step.amount + match.config.auction_min_step, match.state.after(builder)[:-1]
    rich = [other for other in others if match.seat(other).cash >= least]
    return [other for other in rich if _lots(match.state.estate, other, building(step.after))]


def _lots(estate: Estate, number: int, kind: Building) -> list[int]:
    """Those on which a player may build this next."""
    return [lot for lot in estate.able("build", number) if building(estate.level[lot] + 1) == kind]


async def _auctioned(match: Match, builder: int, step: Step, bidders: Sequence[int], out: set[int]) -> None:
    """One building: the builder opens, the others may bid more; who withdraws is `out` of the rest as well."""
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
    """Where the bidder would build: where the builder wanted to, or where its rent would be highest."""
    lots, level = _lots(match.state.estate, number, building(step.after)), match.state.estate.level
    return step.position if own else max(lots, key=lambda lot: SPACES[lot].rents[level[lot] + 1])


# -- a phase

_BUNDLES = 4
"""How often in one phase a player may do something with its estate: all that is legal fits into the first."""


class _Doing(Part):
    do: str


class DoNothing(_Doing):
    """The phase is over."""

    do: Literal["nothing"] = "nothing"


class DoTrade(Offered, _Doing):
    """A trade is proposed; `end_phase` where that is all."""

    do: Literal["propose_trade"] = "propose_trade"
    end_phase: bool = False


class DoEstate(Bundle, _Doing):
    """Sales, mortgages, mortgages lifted, buildings; `end_phase` where that is all."""

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
    """An action with the kind that its fields are of, where it does not say; one that says nothing is none.

    Raises `ValueError` where it has parts of another kind too: half of what was meant is not done.
    """
    if not isinstance(given, Mapping):
        return given
    meant = {kind for kind, fields in _KINDS.items() if any(_says(given.get(name)) for name in fields - {"pitch"})}
    if given.get("do") in ("nothing", *_KINDS):  # a list is no key
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
    """Nothing, a trade, or something with the estate; `kinds` are those of the latter two that are open.

    `made` trades were proposed in this phase and `left` may be; `managed` is how often something was done with the
    estate; `again` where doubles roll again.
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
        if decision.action.do not in {"nothing", *self.kinds}:  # options are made where they are needed alone
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
                *open_to(self.view, self.seat, "sell", "mortgage", "lift", "build"),
            ]
        return tuple(lines)

    def on_board(self) -> Iterator[tuple[str, Narrowed | None]]:
        yield from self.trade_that_can_be("action", self.view.seats)
        yield from lists_that_matter(self.view.estate(), self.seat)


async def act(match: Match, number: int, when: When, *, again: bool = False) -> None:
    """Let the player trade and see to its estate, where there is something to choose."""
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
    """Let the player see to its estate alone; whether it did anything."""
    if not bundle.possible(match.state.estate, number, match.seat(number).cash):
        return False
    changes = (await match.ask(number, ManageEstate, when=when, again=again)).action
    if not changes.empty:
        await build_out(match, number, changes)
    return not changes.empty
