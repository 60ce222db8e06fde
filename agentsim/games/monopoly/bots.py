"""Bots of Monopoly: one for each personality, and one that takes any legal option.

A bot is a pure function of a request and a random stream; its memory is in the request. Worths are in dollars: a deed
is worth its mortgage, the rent it brings without buildings, and its share in what the monopoly would earn, which grows
with the part that is held. One bundle builds on, or sells from, one group at a time, so that the bank's stock of
buildings cannot make it illegal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.random_policy import random_decision
from agentsim.engine.wording import counted
from agentsim.games.monopoly.auctions import AuctionBid, Bid, StakedBid
from agentsim.games.monopoly.board import DEEDS, FINE, GROUPS, HOTEL, RAILROAD_RENTS, SPACES, UTILITY_TIMES, group_name
from agentsim.games.monopoly.building import (
    Bundle,
    Funds,
    HouseOrHotel,
    LiftedOnReceipt,
    LiftOnReceipt,
    Managed,
    ManageEstate,
    able,
    building_kind,
    why_not,
)
from agentsim.games.monopoly.buying import Bought, BuyOrAuction, Funded, RaiseFirst
from agentsim.games.monopoly.debts import Raise, RaiseCash, Raised, raising
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.landing_odds import THROWS, stops
from agentsim.games.monopoly.phase import DoEstate, DoNothing, DoTrade, PhaseAction, PhaseChoice
from agentsim.games.monopoly.question import MonopolyRequest, Reacted
from agentsim.games.monopoly.state import BANK, Estate, Holdings, Kind, Seat, View, amount, holdings
from agentsim.games.monopoly.trade import (
    Answered,
    AnswerTrade,
    Proposal,
    Proposed,
    ProposeTrade,
    React,
    Side,
    Terms,
    interest_on,
)
from agentsim.lazy import dataclass

# -- what deeds are worth to a seat, and trades that would complete a group


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


# -- what a bot could build next, and what it sells to pay a debt


@dataclass(frozen=True, slots=True)
class Site:
    """A group to build on: the properties in the order in which to build, with costs and gains.

    `spent` and `gained` are by number of buildings, from one: dollars, and rent expected in the next round of the
    table.
    """

    group: str
    positions: tuple[int, ...]
    types: tuple[Literal["house", "hotel"], ...]
    spent: tuple[int, ...]
    gained: tuple[float, ...]

    def builds(self, count: int) -> tuple[HouseOrHotel, ...]:
        """Return the first `count` buildings."""
        pairs = zip(self.positions[:count], self.types[:count], strict=True)
        return tuple(HouseOrHotel(position=position, type=kind) for position, kind in pairs)

    def affordable(self, budget: int) -> int:
        """Return how many buildings the budget pays for."""
        return bisect_right(self.spent, budget)


def sites(view: View, seat: int, *, most_houses: int = HOTEL) -> Iterator[Site]:
    """Yield the groups on which the seat may build now, up to `most_houses` on a property (5 is the hotel)."""
    for group in view.holdings.monopolies[seat]:
        positions = GROUPS[group]
        if not SPACES[positions[0]].house_cost or True in [view.mortgaged[position] for position in positions]:
            continue
        if min([view.houses[position] for position in positions]) >= most_houses:
            continue
        if site := _site(view, seat, group, most_houses):
            yield site


def _site(view: View, seat: int, group: str, most_houses: int) -> Site | None:
    positions = GROUPS[group]
    plan = _plan(group, tuple([view.houses[at] for at in positions]), view.bank_houses, view.bank_hotels, most_houses)
    if plan is None:
        return None
    coming = nearing(view, seat, positions)
    gained = accumulate(coming[position] * more for position, more in zip(plan.positions, plan.gained, strict=True))
    return Site(group, plan.positions, plan.types, plan.spent, tuple(gained))


@lru_cache(maxsize=1024)
def _plan(group: str, houses: tuple[int, ...], bank_houses: int, bank_hotels: int, most_houses: int) -> Site | None:
    """Return everything that can be built in one group now, or None for nothing.

    `gained` is by how much each building raises the rent of its property.
    """
    order = _in_order(group, houses, bank_houses, bank_hotels, most_houses)
    if not order:
        return None
    cost = SPACES[GROUPS[group][0]].house_cost
    rents = [(SPACES[position].rents, count) for position, count in order]
    return Site(
        group,
        tuple(position for position, _ in order),
        tuple(building_kind(count) for _, count in order),
        tuple(cost * count for count in range(1, len(order) + 1)),
        tuple(rent[count] - rent[count - 1] * (2 if count == 1 else 1) for rent, count in rents),
    )


def _in_order(
    group: str, houses: tuple[int, ...], bank_houses: int, bank_hotels: int, most_houses: int
) -> tuple[tuple[int, int], ...]:
    """Return (position, new number of houses) of all that can be built in turn: evenly, the most visited first."""
    now = dict(zip(GROUPS[group], houses, strict=True))
    found: list[tuple[int, int]] = []
    while True:
        position = min(now, key=lambda position: (now[position], -stops()[position]))
        count = now[position] + 1
        if count > most_houses or not (bank_hotels if count == HOTEL else bank_houses):
            return tuple(found)
        if count == HOTEL:
            bank_hotels, bank_houses = bank_hotels - 1, bank_houses + HOTEL - 1
        else:
            bank_houses -= 1
        now[position] = count
        found.append((position, count))


def nearing(view: View, seat: int, positions: tuple[int, ...]) -> Mapping[int, float]:
    """Return, by position, how many opponents are expected to stop there with their next throw."""
    found = dict.fromkeys(positions, 0.0)
    for number, other in enumerate(view.seats):
        if number != seat and not other.bankrupt:
            for position in positions:
                steps = (position - other.position) % len(SPACES)
                if steps < len(THROWS):
                    found[position] += THROWS[steps]
    return found


def to_unmortgage(view: View, seat: int, budget: int, *, monopolies_only: bool) -> tuple[int, ...]:
    """Return the deeds to unmortgage within the budget: monopolies first, then others unless `monopolies_only`."""
    if True not in view.mortgaged:
        return ()
    monopolies = view.holdings.monopolies[seat]
    deeds = [position for position, owner in enumerate(view.owner) if owner == seat and view.mortgaged[position]]
    first = [position for position in deeds if SPACES[position].group in monopolies]
    rest = [] if monopolies_only else [position for position in deeds if SPACES[position].group not in monopolies]
    found = []
    for position in (*first, *sorted(rest, key=_yield, reverse=True)):
        if SPACES[position].redemption <= budget:
            budget -= SPACES[position].redemption
            found.append(position)
    return tuple(found)


def pledged(view: View, seat: int, missing: int) -> tuple[tuple[int, ...], int]:
    """Return lone deeds to mortgage, the least visited first, and what they bring in dollars.

    They are as many as `missing` needs, or none if all of them are not enough.
    """
    if missing <= 0:
        return (), 0
    found: list[int] = []
    brought = 0
    for position in _lone(view.owner, view.mortgaged, seat):
        if brought >= missing:
            break
        found.append(position)
        brought += SPACES[position].mortgage
    return (tuple(found), brought) if brought >= missing else ((), 0)


@lru_cache(maxsize=16)
def _lone(owner: tuple[int, ...], mortgaged: tuple[bool, ...], seat: int) -> tuple[int, ...]:
    """Return a seat's clear deeds outside monopolies, the least visited first."""
    monopolies = holdings(owner, max(seat, *owner) + 1).monopolies[seat]
    lone = [
        position
        for position, holder in enumerate(owner)
        if holder == seat and not mortgaged[position] and SPACES[position].group not in monopolies
    ]
    return tuple(sorted(lone, key=stops().__getitem__))


def raised(request: RaiseCash) -> Raise:
    """Return how to pay a debt, cheapest first: deeds outside monopolies, then buildings of one group.

    The buildings are those of the group whose rents suffer least for the money. Deeds of monopolies come last, and only
    if there is no building to sell. It may raise less than is owed; the debtor is then asked again.
    """
    estate, seat, monopolies = request.view.estate(), request.seat, request.view.holdings.monopolies[request.seat]
    positions = able(estate, "sell", seat)
    deeds = [at for at in able(estate, "mortgage", seat) if not (positions and SPACES[at].group in monopolies)]
    deeds.sort(key=lambda position: (SPACES[position].group in monopolies, _yield(position)))

    def loss(position: int) -> float:
        rents, houses = SPACES[position].rents, estate.houses[position]
        return stops()[position] * (rents[houses] - rents[houses - 1])

    cheapest = min(positions, key=lambda position: loss(position) / SPACES[position].house_cost, default=None)
    group = () if cheapest is None else GROUPS[SPACES[cheapest].group]

    def next_street() -> int | None:
        return min((at for at in group if not why_not(estate, "sell", seat, at)), key=loss, default=None)

    return raising(estate, seat, request.owed - request.you.cash, deeds, next_street)


def _yield(position: int) -> float:
    """Estimate what a lone deed brings: rents go with prices."""
    return stops()[position] * SPACES[position].price


# -- what all personalities share: a policy for each kind of request


Lines: TypeAlias = Mapping[str, tuple[str, ...]]
"""Speeches by occasion; in a pitch `{name}` is the other player, and `{group}` the group the proposer would complete.
"""
BUY, AUCTION = Bought(action="buy"), Bought(action="auction")
OUT = Bid(action=StakedBid(bid=0))
PASS = Proposed(action=Proposal())
IDLE = Managed(action=Bundle())
DONE = PhaseChoice(action=DoNothing())
_POLICIES: Mapping[type[Any], Callable[[Character, Any, Stream], Decision]] = {
    PhaseAction: lambda bot, request, rng: bot.act(request, rng),
    ProposeTrade: lambda bot, request, rng: bot.propose(request, rng),
    ManageEstate: lambda bot, request, rng: bot.grow(request, rng),
    AuctionBid: lambda bot, request, _: bot.bid(request),
    BuyOrAuction: lambda bot, request, rng: bot.buy(request, rng),
    AnswerTrade: lambda bot, request, rng: bot.answer(request, rng),
    JailAction: lambda bot, request, _: bot.jail(request),
    RaiseCash: lambda _, request, __: Raised(action=raised(request)),
    RaiseFirst: lambda *_: Funded(action=Funds()),
    LiftOnReceipt: lambda *_: LiftedOnReceipt(action=()),
    React: lambda bot, _, rng: Reacted(public_speech=bot.heard("done", rng)),
}
FINED, CARD, ROLL = (JailChoice.model_validate({"action": way}) for way in ("pay_fine", "use_card", "roll_doubles"))
_DANGEROUS = 200
"""The rent in dollars from which on jail is the better place to be."""


class Character:
    """One personality; amounts are in dollars."""

    taste: ClassVar[Taste] = {}
    least: ClassVar[int]
    """The cash below which none of its choices takes it."""
    most: ClassVar[int]
    """The most cash that it keeps when it spends by choice."""
    asks: ClassVar[int] = 0
    """The gain that it requires of a trade that it is offered, as a rule."""
    leaves: ClassVar[int] = 0
    """The gain that its trades must leave the other player, plus `sweetening` for each one that the other rejected."""
    sweetening: ClassVar[float] = 40.0
    silent: ClassVar[float] = 0.0
    """The probability that it proposes nothing when it may."""
    talks: ClassVar[float]
    """The probability that it says something on an occasion for words."""
    EAGER: ClassVar[int] = 2
    """The multiple of the printed price that it bids at most for one of the last buildings."""
    lines: ClassVar[Lines]
    thought: ClassVar[str] = ""
    """Its thought about an offer, if it answers it with a speech."""

    def __call__(self, request: Any, rng: Stream) -> Decision:
        return _POLICIES[type(request)](self, request, rng)

    # -- what each personality may change

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        """Return the cash to keep when it spends by choice: the highest rent that it could owe, within limits."""
        return max(self.least, min(self.most, self.worst(view, seat)))

    def floor(self, request: MonopolyRequest[Any], position: int) -> int:
        """Return the cash below which it does not buy this deed."""
        return self.least

    def value(self, request: AuctionBid, position: int) -> int:
        """Return the most that it bids for a deed, if it has the cash."""
        return self.worth(request, position)

    def stake(self, request: ProposeTrade | PhaseAction, rng: Stream) -> int:
        """Return the most cash that it offers in a trade."""
        return request.you.cash - self.least

    def manage(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        raise NotImplementedError

    # -- what all share

    def say(self, occasion: str, rng: Stream) -> str:
        return rng.pick(self.lines[occasion])

    def heard(self, occasion: str, rng: Stream) -> str:
        """Return what `say` does, or "" for silence."""
        return self.say(occasion, rng) if rng.random() < self.talks else ""

    def worst(self, view: View, seat: int) -> int:
        """Return the highest rent that a seat could owe now."""
        return worst_rent(view.owner, view.houses, view.mortgaged, seat)

    def worth(self, request: MonopolyRequest[Any], position: int) -> int:
        """Return the net present value of an unowned deed, in dollars."""
        view = request.view
        return int(npv(view, request.seat, position, len(view.living) - 1, self.taste))

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        """Buy at the printed price if enough cash is left."""
        kept = request.you.cash - SPACES[request.position].price
        return BUY if kept >= self.floor(request, request.position) else AUCTION

    def bid(self, request: AuctionBid) -> Bid:
        """Raise the highest bid by half of what is left to its limit; bid the limit itself if bids are sealed."""
        lot = request.lot
        value = self.EAGER * lot.price if lot.building else self.value(request, lot.position)
        limit = min(value, request.you.cash - self.floor(request, lot.position))
        if limit < lot.least:
            return OUT
        amount = limit if lot.sealed else max(lot.least, lot.high + (limit - lot.high + 1) // 2)
        return Bid(action=StakedBid(bid=amount))

    def act(self, request: PhaseAction, rng: Stream) -> PhaseChoice:
        """Propose a trade, except between turns, or else manage its estate."""
        if "propose_trade" in request.kinds and request.when != "between":
            offer = self.propose(request, rng)
            if offer.action.propose_trade:
                trade = DoTrade.model_construct(**vars(offer.action))
                return PhaseChoice.model_construct(**{**vars(offer), "action": trade})
        if "manage_estate" in request.kinds:
            managed = self.grow(request, rng)
            if not managed.action.empty:
                changes = DoEstate.model_construct(**vars(managed.action), end_phase=True)
                return PhaseChoice.model_construct(**{**vars(managed), "action": changes})
        return DONE

    def grow(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        """Manage its estate if there may be a deed to unmortgage or a group to build on."""
        view = request.view
        return self.manage(request, rng) if True in view.mortgaged or view.holdings.monopolies[request.seat] else IDLE

    def propose(self, request: ProposeTrade | PhaseAction, rng: Stream) -> Proposed:
        """Propose the best deal, or with the probability `silent` nothing."""
        if rng.random() < self.silent:
            return PASS
        deal = self.deal(request, self.stake(request, rng), self.leaves)
        return self.proposed(request, deal, rng) if deal else PASS

    def deal(self, request: ProposeTrade | PhaseAction, budget: int, leaves: float) -> Deal | None:
        view = request.view
        if not wanted(view.owner, len(view.seats), request.seat):
            return None
        rejected = {entry.name: entry.rejected for entry in request.memory.rejections}
        margins = tuple(leaves + self.sweetening * rejected.get(seat.name, 0) for seat in view.seats)
        return best_deal(view, request.seat, self.taste, budget, margins)

    def proposed(self, request: ProposeTrade | PhaseAction, deal: Deal, rng: Stream) -> Proposed:
        """Return a deal as a proposal, with a pitch and a thought."""
        other, group = request.view.seats[deal.target], group_name(deal.group)
        pitch = self.say("pitch", rng).format(name=other.name, group=group)
        offer = Side(properties=deal.gives, cash=max(0, deal.cash))
        wants = Side(properties=deal.takes, cash=max(0, -deal.cash))
        thought = f"The {group} group would be whole, and I ${deal.gain:.0f} better off."
        return Proposed(action=proposal(other, offer, wants, pitch), private_thought=thought)

    def gain(self, request: AnswerTrade) -> float:
        """Return what an offer gains in dollars; below zero if it costs."""
        return judged(request.view, request.terms, request.seat, self.taste)[0]

    def affords(self, request: AnswerTrade) -> bool:
        """Return whether a trade costs no cash, or leaves at least `least`."""
        terms = request.terms
        costs = terms.request.cash - terms.offer.cash + interest_on(request.view.mortgaged, terms.offer.properties)
        return costs <= 0 or request.you.cash - costs >= self.least

    def asked(self, rng: Stream) -> float:
        return self.asks

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        """Accept what gains enough, and costs no cash or leaves enough."""
        asked = self.asked(rng)
        gain = self.gain(request)
        action = "accept" if self.affords(request) and gain >= asked else "reject"
        speech = self.heard(action, rng)
        thought = self.thought.format(gain=gain) if speech else ""
        return Answered(action=action, public_speech=speech, private_thought=thought)

    def built(
        self,
        unmortgages: tuple[int, ...],
        builds: tuple[HouseOrHotel, ...],
        rng: Stream,
        mortgages: tuple[int, ...] = (),
    ) -> Managed:
        """Return the bundle, with words if it builds; `IDLE` if it neither builds nor unmortgages."""
        if not unmortgages and not builds:
            return IDLE
        speech = self.heard("build", rng) if builds else ""
        thought = (
            f"{counted(len(builds), 'level')} on {SPACES[builds[0].position].name} and its group." if speech else ""
        )
        action = Bundle(mortgages=mortgages, unmortgages=unmortgages, builds=builds)
        return Managed(action=action, public_speech=speech, private_thought=thought)

    def jail(self, request: JailAction) -> JailChoice:
        """Leave jail while there are deeds to buy or rents are low; else stay there, and collect rent."""
        view = request.view
        busy = any(view.owner[position] == BANK for position in DEEDS)
        if busy or self.worst(view, request.seat) < _DANGEROUS:
            if "use_card" in request.actions:
                return CARD
            if "pay_fine" in request.actions and request.you.cash >= 2 * FINE:
                return FINED
        return ROLL


# -- the Shark, the Professor, the Hustler and the Turtle


class Shark(Character):
    """A fast and hard player: it buys everything, trades for groups, and builds at once with hardly any cash left."""

    taste: ClassVar[Taste] = {"green": 1.25, "dark_blue": 1.25}
    least, most = 100, 200
    asks, leaves, sweetening = 200, -200, 20
    silent, talks = 0.75, 0.15
    FIRST = 9
    """The number of buildings for which it mortgages lone deeds: three houses on three properties."""
    lines: ClassVar[Lines] = {
        "build": ("Mind your step from now on.", "Bricks are cheap. Visiting them is not.", "More houses. Mine."),
        "pitch": (
            "{group}, to me, now. You will not see better terms.",
            "Sign, {name}. Next turn it costs you.",
            "I want the {group} group. You want my price. Done.",
        ),
        "accept": ("Mine, then.", "Good. Now watch."),
        "reject": ("You insult me.", "Come back with real money.", "No. I take, I do not give."),
        "done": ("Wise. For once.", "That was the easy part."),
    }

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        """Return a reserve that rises with the highest rent that it could owe."""
        return min(self.most, self.least + self.worst(view, seat) // 20)

    def stake(self, request: ProposeTrade | PhaseAction, rng: Stream) -> int:
        return request.you.cash - self.reserve(request.view, request.seat, rng)

    def value(self, request: AuctionBid, position: int) -> int:
        return max(SPACES[position].price, self.worth(request, position) * 5 // 4)

    def manage(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        """Spend all above the reserve on buildings; mortgage lone deeds for the first of them, all or nothing."""
        view, seat, flush = request.view, request.seat, request.you.cash >= 3 * self.most
        if not view.holdings.monopolies[seat] and not flush:
            return IDLE
        budget = request.you.cash - self.reserve(view, seat, rng)
        if unmortgages := to_unmortgage(view, seat, budget, monopolies_only=not flush):
            return self.built(unmortgages, (), rng)
        for site in sorted(sites(view, seat), key=lambda site: -site.gained[-1] / site.spent[-1]):
            first = site.spent[: self.FIRST][-1]
            deeds, brought = pledged(view, seat, first - budget)
            if count := site.affordable(budget + brought):
                return self.built((), site.builds(count), rng, mortgages=deeds)
        return IDLE


class Professor(Character):
    """A patient player of expected values and fair trades: it prefers orange and red, and bids what a deed is worth."""

    taste: ClassVar[Taste] = {"orange": 1.6, "red": 1.5, "yellow": 1.2, "dark_blue": 0.7}
    least, most = 400, 600
    silent, talks = 0.2, 0.2
    RETURN = 0.15
    """The rent that it expects in the coming round of the table per dollar of buildings before it builds."""
    thought = "Expected value: {gain:+.0f} dollars."
    lines: ClassVar[Lines] = {
        "build": (
            "The expected return has passed my threshold, so I invest.",
            "By my figures, these houses pay for themselves.",
            "A textbook moment to build, if you follow the probabilities.",
        ),
        "pitch": (
            "By my estimate, {name}, this leaves us both better off.",
            "The {group} group for me, fair compensation for you: please check the arithmetic.",
            "I have priced in what this costs you, {name}. Shall we?",
        ),
        "accept": ("The expected value is not negative. Agreed.", "The numbers hold. I accept."),
        "reject": ("The expected value is negative, I am afraid.", "Your figures omit what it would cost me."),
        "done": ("A sound transaction, statistically speaking.", "Thank you. Both sides gain, on average."),
    }

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        """Buy if the deed is worth its price and enough cash is left."""
        worth = self.worth(request, request.position)
        return super().buy(request, rng) if worth >= SPACES[request.position].price else AUCTION

    def manage(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        """Unmortgage monopolies, then build as much as returns enough, then unmortgage other deeds.

        It mortgages lone deeds for buildings if it has to.
        """
        view, seat = request.view, request.seat
        budget = request.you.cash - self.reserve(view, seat, rng)
        if budget > 0 and (unmortgages := to_unmortgage(view, seat, budget, monopolies_only=True)):
            return self.built(unmortgages, (), rng)
        for site in sorted(sites(view, seat), key=lambda site: -site.gained[-1] / site.spent[-1]):
            for count in range(len(site.positions), 0, -1):
                spent = site.spent[count - 1]
                if site.gained[count - 1] > self.RETURN * spent:
                    deeds, brought = pledged(view, seat, spent - budget)
                    if spent <= budget + brought:
                        return self.built((), site.builds(count), rng, mortgages=deeds)
        return self.built(to_unmortgage(view, seat, budget - self.least, monopolies_only=False), (), rng)


class Hustler(Character):
    """A loud and busy player: an offer every turn, some of them bad, a bid in every auction, buildings by mood."""

    taste: ClassVar[Taste] = {"railroad": 1.8, "utility": 1.8}
    least, most = 200, 400
    talks = 0.3
    HOARDED = frozenset({"railroad", "utility"})
    CHEAP = frozenset({"brown", "light_blue"})
    MOOD = 20
    """The number of turns that a mood lasts."""
    CARD = 40
    """Dollars that it pays or asks for a Get Out of Jail Free card."""
    lines: ClassVar[Lines] = {
        "build": ("Look at these beauties go up!", "Come and stay, first night is on you!", "All in! Well, nearly!"),
        "pitch": (
            "{name}, my friend, this is the deal of your LIFE!",
            "Only for you, {name}, and only today!",
            "I must be crazy to offer you this, {name}!",
            "Everybody wins, {name}, and you win most!",
        ),
        "accept": ("Deal! You will not regret it!", "Love it! Shake on it!"),
        "reject": ("Ha! Nice try, I taught you well!", "Almost! Sweeten it a little, friend!"),
        "done": ("What did I say? WIN-WIN!", "Pleasure, as always! Who is next?"),
    }

    def mood(self, view: View, rng: Stream) -> float:
        """Return its mood for some turns, from 0 (miserly) to 1 (reckless)."""
        return rng.per_game(f"mood/{view.turn // self.MOOD}").random()

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        return self.most - int((self.most - self.least) * self.mood(view, rng))

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        """Buy railroads and utilities always, and others with a probability of 0.85, if the reserve is kept."""
        space = SPACES[request.position]
        if request.you.cash - space.price < self.reserve(request.view, request.seat, rng):
            return AUCTION
        return BUY if space.group in self.HOARDED or rng.random() < 0.85 else AUCTION

    def value(self, request: AuctionBid, position: int) -> int:
        return max(SPACES[position].price * 9 // 10, self.worth(request, position))

    def propose(self, request: ProposeTrade | PhaseAction, rng: Stream) -> Proposed:
        """Propose once in a phase before the roll: a trade that completes a group, else any trade."""
        if request.made or request.when not in {"before", "jail"}:
            return PASS
        budget = request.you.cash - self.reserve(request.view, request.seat, rng)
        if deal := self.deal(request, budget, rng.integer(-100, 60)):
            return self.proposed(request, deal, rng)
        return self._anything(request, max(0, budget), rng)

    def _anything(self, request: ProposeTrade | PhaseAction, budget: int, rng: Stream) -> Proposed:
        """Propose a deed or a Get Out of Jail Free card for cash, or the reverse, or a deed for a deed."""
        view, seat = request.view, request.seat
        others = [number for number in view.living if number != seat]
        start = rng.below(len(others))
        for target in (*others[start:], *others[:start]):
            trader = view.seats[target]
            for offer, wanted in self._packages(request, target, budget, rng):
                fees, due = (interest_on(view.mortgaged, side.properties) for side in (wanted, offer))
                if offer.cash + fees <= budget and wanted.cash + due <= trader.cash:
                    pitch = self.say("pitch", rng).format(name=trader.name)
                    return Proposed(action=proposal(trader, offer, wanted, pitch))
        return PASS

    def _packages(
        self, request: ProposeTrade | PhaseAction, target: int, budget: int, rng: Stream
    ) -> Iterator[tuple[Side, Side]]:
        """Yield (offer, request) pairs, the most wanted first."""
        view, estate, trader = request.view, request.view.estate(), request.view.seats[target]
        own, theirs = estate.tradeable(request.seat), estate.tradeable(target)
        if theirs:
            wanted = next((at for at in theirs if SPACES[at].group in self.HOARDED), rng.pick(theirs))
            space = SPACES[wanted]
            price = space.mortgage if view.mortgaged[wanted] else space.price * rng.integer(80, 125) // 100
            lone = [position for position in own if SPACES[position].group not in self.HOARDED]
            if lone and rng.random() < 0.5:
                given = rng.pick(lone)
                yield Side(properties=(given,), cash=max(0, price - SPACES[given].price)), Side(properties=(wanted,))
            yield Side(cash=min(price, max(1, budget))), Side(properties=(wanted,))
        if trader.cards:
            yield Side(cash=min(self.CARD, max(1, budget))), Side(jail_cards=1)
        if own and trader.cash:
            yield Side(properties=(rng.pick(own),)), Side(cash=max(1, min(trader.cash // 3, 300)))
        if request.you.cards and trader.cash:
            yield Side(jail_cards=1), Side(cash=min(trader.cash, self.CARD))

    def asked(self, rng: Stream) -> float:
        """Return the gain that it asks for: none, or with a probability of 0.3 a loss of 120 dollars."""
        return -120 if rng.random() < 0.3 else 0

    def manage(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        """Unmortgage deeds; else build up to hotels, up to three houses, or in the worst mood only in cheap groups."""
        view, seat, cash = request.view, request.seat, request.you.cash
        budget = cash - self.reserve(view, seat, rng) if cash > self.least else 0
        if budget <= 0:
            return IDLE
        if unmortgages := to_unmortgage(view, seat, budget, monopolies_only=cash < 2 * self.most):
            return self.built(unmortgages, (), rng)
        mood = self.mood(view, rng)
        for site in sites(view, seat, most_houses=5 if mood > 0.4 else 3):
            count = site.affordable(budget)
            if count and (mood > 0.2 or site.group in self.CHEAP):
                return self.built((), site.builds(count), rng)
        return IDLE


class Turtle(Character):
    """A slow player: it keeps much cash, prefers cheap groups, and rejects nearly every trade."""

    taste: ClassVar[Taste] = {"brown": 1.5, "light_blue": 1.5}
    least, most = 800, 1200
    asks, leaves, sweetening = 250, -150, 0
    silent, talks = 0.96, 0.08
    CHEAP, FAIR = 120, 200
    """The list prices up to which a deed is cheap, or fair; dearer ones must leave it twice `most` in cash."""
    CUSHION = 3
    """It builds for at most one part in so many of its cash."""
    lines: ClassVar[Lines] = {
        "build": ("Slowly.", "One more wall."),
        "pitch": ("Take it or leave it.", "My only offer, {name}."),
        "accept": ("Fine.", "All right."),
        "reject": ("No.", "Pass.", "Too little.", "I have what I need."),
        "done": ("Good.",),
    }

    def floor(self, request: MonopolyRequest[Any], position: int) -> int:
        """Return `least` for cheap deeds and those that complete a group of its own, and more for others."""
        space = SPACES[position]
        held = request.view.holdings.counts[request.seat][space.group]
        if space.price <= self.CHEAP or held == len(GROUPS[space.group]) - 1:
            return self.least
        return self.most if space.price <= self.FAIR else 2 * self.most

    def value(self, request: AuctionBid, position: int) -> int:
        """Return three quarters of the price: it bids for bargains only."""
        return SPACES[position].price * 3 // 4

    def manage(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        """Unmortgage every deed first, then build for up to a third of the cash."""
        view, seat, cash = request.view, request.seat, request.you.cash
        if cash <= self.least:
            return IDLE
        if any(pledged and owner == seat for pledged, owner in zip(view.mortgaged, view.owner, strict=True)):
            return self.built(to_unmortgage(view, seat, cash - self.least, monopolies_only=False), (), rng)
        budget = min(cash // self.CUSHION, cash - self.least)
        for site in sites(view, seat):
            if count := site.affordable(budget):
                return self.built((), site.builds(count), rng)
        return IDLE

    def jail(self, request: JailAction) -> JailChoice:
        """Always roll for doubles: a player in jail pays no rent."""
        return ROLL


# -- any legal option, each kind about as likely as the others


_FIELDS: Mapping[Kind, str] = {"sell": "sells", "mortgage": "mortgages", "unmortgage": "unmortgages", "build": "builds"}


def _bid(request: AuctionBid, rng: Stream) -> StakedBid:
    most = min(request.you.cash, max(request.lot.least, SPACES[request.lot.position].price * 3 // 2))
    bid = 0 if rng.random() < 0.4 else rng.integer(request.lot.least, max(request.lot.least, most))
    return StakedBid(bid=min(bid, request.you.cash))


def _offer(request: MonopolyRequest[Any], rng: Stream) -> Proposal:
    view, estate = request.view, request.view.estate()
    other = rng.pick([number for number in view.living if number != request.seat])
    offer, wanted = (_side(request, estate, seat, rng) for seat in (request.seat, other))
    target = view.seats[other].id
    return Proposal(propose_trade=True, target_player=target, offer=offer, request=wanted, pitch="How about it?")


def _act(request: PhaseAction, rng: Stream) -> DoNothing | DoTrade | DoEstate:
    match rng.pick(("nothing", *request.kinds)):
        case "propose_trade":
            return DoTrade(**dict(_offer(request, rng)))
        case "manage_estate":
            return DoEstate(**dict(_bundle(request, rng)), end_phase=rng.random() < 0.5)
    return DoNothing()


def _side(request: MonopolyRequest[Any], estate: Estate, seat: int, rng: Stream) -> Side:
    giver = request.view.seats[seat]
    deeds = rng.shuffled(estate.tradeable(seat))[: rng.below(3)]
    money = rng.integer(0, giver.cash) // 2 if rng.random() < 0.5 else 0
    return Side(properties=tuple(deeds), cash=money, jail_cards=rng.integer(0, len(giver.cards)))


def _bundle(request: ManageEstate | PhaseAction, rng: Stream) -> Bundle:
    """Return a few changes of one kind, each of them legal after the one before."""
    estate, seat, cash = request.view.estate(), request.seat, request.you.cash
    kind: Kind | None = rng.pick((None, "sell", "mortgage", "unmortgage", "build", "build", "build"))
    steps, done = rng.integer(1, 4), list[Any]()
    if kind is None:
        return Bundle()
    for _ in range(steps):
        positions = [at for at in able(estate, kind, seat) if kind in {"sell", "mortgage"} or amount(kind, at) <= cash]
        if not positions:
            break
        position = rng.pick(positions)
        sold_or_built = HouseOrHotel(position=position, type=building_kind(estate.houses[position] + (kind == "build")))
        done.append(sold_or_built if kind in {"sell", "build"} else position)
        cash -= estate.change(kind, position)
    return Bundle.model_validate({_FIELDS[kind]: done})


def _raise(request: RaiseCash, rng: Stream) -> Raise:
    """Raise money in one way at a time, or by a trade; else as the fallback does, which always finds some."""
    if request.may_propose and rng.random() < 0.4:
        return Raise(trade=_offer(request, rng))
    funds = _funds(request, rng)
    return Raise(**dict(funds)) if funds.mortgages or funds.sells else request.fallback().action


def _funds(request: MonopolyRequest[Any], rng: Stream) -> Funds:
    """Sell one building or mortgage one deed, if either is possible."""
    estate, seat = request.view.estate(), request.seat
    positions, deeds = able(estate, "sell", seat), able(estate, "mortgage", seat)
    if positions and (not deeds or rng.random() < 0.5):
        position = rng.pick(positions)
        return Funds(sells=(HouseOrHotel(position=position, type=building_kind(estate.houses[position])),))
    return Funds(mortgages=(rng.pick(deeds),)) if deeds else Funds()


_ACTIONS: Mapping[type[Any], Callable[[Any, Stream], Any]] = {
    **dict.fromkeys(
        (BuyOrAuction, AnswerTrade, JailAction),
        lambda request, rng: rng.pick(request.schema()["properties"]["action"]["enum"]),
    ),
    AuctionBid: _bid,
    ProposeTrade: lambda request, rng: Proposal() if rng.random() < 0.5 else _offer(request, rng),
    PhaseAction: _act,
    RaiseFirst: lambda request, rng: _funds(request, rng) if rng.random() < 0.5 else Funds(),
    ManageEstate: _bundle,
    RaiseCash: _raise,
}


def randomly(request: Any, rng: Stream) -> Decision:
    if isinstance(request, React):
        return Reacted(public_speech=rng.pick(("", "Good.")))
    draw = _ACTIONS.get(type(request))
    return random_decision(request, rng) if draw is None else request.answer(action=draw(request, rng))


BOTS: Mapping[str, Bot] = {
    "random": randomly,
    "shark": Shark(),
    "professor": Professor(),
    "hustler": Hustler(),
    "turtle": Turtle(),
}
