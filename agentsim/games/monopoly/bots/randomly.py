"""bot/random: any legal option, each kind about as likely as the others; for tests of invariants, not for play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.random_policy import random_decision
from agentsim.games.monopoly.auctions import AuctionBid, StakedBid
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.building import Bundle, Funds, HouseOrHotel, ManageEstate, able, building_kind
from agentsim.games.monopoly.buying import BuyOrAuction, RaiseFirst
from agentsim.games.monopoly.debts import Raise, RaiseCash
from agentsim.games.monopoly.jail import JailAction
from agentsim.games.monopoly.phase import DoEstate, DoNothing, DoTrade, PhaseAction
from agentsim.games.monopoly.question import MonopolyRequest, Reacted
from agentsim.games.monopoly.state import Estate, Kind, amount
from agentsim.games.monopoly.trade import AnswerTrade, Proposal, ProposeTrade, React, Side

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
