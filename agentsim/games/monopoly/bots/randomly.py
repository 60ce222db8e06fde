"""bot/random: any legal option, each kind about as likely as the others; for invariants, not for play."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.games.monopoly.actions import (
    Answered,
    Bid,
    Bought,
    Build,
    Bundle,
    JailChoice,
    Managed,
    Proposal,
    Proposed,
    Raise,
    Raised,
    Reacted,
    Sale,
    Side,
    StakedBid,
    building,
)
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.requests import (
    AnswerTrade,
    AuctionBid,
    BuyOrAuction,
    JailAction,
    ManageEstate,
    MonopolyRequest,
    ProposeTrade,
    RaiseCash,
    React,
)

__all__ = ["randomly"]


def randomly(request: Any, luck: Stream) -> Decision:
    """A legal decision, drawn."""
    match request:
        case BuyOrAuction():
            return Bought(action=luck.pick(("buy", "auction")))
        case AuctionBid():
            return _bid(request, luck)
        case ProposeTrade():
            return Proposed(action=_proposal(request, luck))
        case AnswerTrade():
            return Answered(action=luck.pick(("accept", "reject")))
        case React():
            return Reacted(public_speech=luck.pick(("", "Good.")))
        case JailAction():
            return JailChoice.model_validate({"action": luck.pick(request.actions)})
        case ManageEstate():
            return Managed(action=_bundle(request, luck))
        case RaiseCash():
            return _raised(request, luck)
        case _:
            raise AssertionError(f"no policy for {request.kind}")


def _bid(request: AuctionBid, luck: Stream) -> Bid:
    most = min(request.you.cash, max(request.lot.least, SPACES[request.lot.position].price * 3 // 2))
    bid = 0 if luck.random() < 0.4 else luck.integer(request.lot.least, max(request.lot.least, most))
    return Bid(action=StakedBid(bid=min(bid, request.you.cash)))


def _proposal(request: MonopolyRequest[Any], luck: Stream) -> Proposal:
    return Proposal() if luck.random() < 0.5 else _offer(request, luck)


def _offer(request: MonopolyRequest[Any], luck: Stream) -> Proposal:
    view, estate = request.view, request.view.estate()
    other = luck.pick([number for number in view.living if number != request.seat])
    return Proposal(
        propose_trade=True,
        target_player=view.seats[other].id,
        offer=_side(estate, request.seat, request.you.cash, len(request.you.cards), luck),
        request=_side(estate, other, view.seats[other].cash, len(view.seats[other].cards), luck),
        pitch="How about it?",
    )


def _side(estate: Estate, seat: int, cash: int, cards: int, luck: Stream) -> Side:
    deeds = luck.shuffled(estate.tradeable(seat))[: luck.below(3)]
    money = luck.integer(0, cash) // 2 if luck.random() < 0.5 else 0
    return Side(properties=tuple(deeds), cash=money, jail_cards=luck.integer(0, cards))


def _bundle(request: MonopolyRequest[Any], luck: Stream) -> Bundle:
    """A few steps of one kind, each of them legal after the one before."""
    estate, seat, cash = request.view.estate(), request.seat, request.you.cash
    kind = luck.pick(("nothing", "sell", "mortgage", "lift", "build", "build", "build"))
    steps = luck.integer(1, 4)
    sells: list[Sale] = []
    builds: list[Build] = []
    positions: list[int] = []
    for _ in range(steps):
        if kind == "sell" and (lots := estate.sellable(seat)):
            lot = luck.pick(lots)
            sells.append(Sale(position=lot, type=building(estate.level[lot])))
            cash += estate.sell(lot)
        elif kind == "build":
            lots = [lot for lot in estate.buildable(seat) if SPACES[lot].house_cost <= cash]
            if not lots:
                break
            lot = luck.pick(lots)
            builds.append(Build(position=lot, type=building(estate.level[lot] + 1)))
            cash -= estate.build(lot)
        elif kind == "mortgage" and (deeds := estate.mortgageable(seat)):
            positions.append(luck.pick(deeds))
            estate.mortgaged[positions[-1]] = True
        elif kind == "lift":
            deeds = [position for position in estate.liftable(seat) if SPACES[position].redemption <= cash]
            if not deeds:
                break
            positions.append(luck.pick(deeds))
            estate.mortgaged[positions[-1]] = False
            cash -= SPACES[positions[-1]].redemption
    return Bundle(
        sells=tuple(sells),
        builds=tuple(builds),
        mortgages=tuple(positions) if kind == "mortgage" else (),
        unmortgages=tuple(positions) if kind == "lift" else (),
    )


def _raised(request: RaiseCash, luck: Stream) -> Raised:
    """One way to money at a time, a trade included, or the fallback's, which always finds some."""
    if request.may_propose and luck.random() < 0.4:
        return Raised(action=Raise(trade=_offer(request, luck)))
    estate, seat = request.view.estate(), request.seat
    lots, deeds = estate.sellable(seat), estate.mortgageable(seat)
    if lots and (not deeds or luck.random() < 0.5):
        lot = luck.pick(lots)
        kind = building(estate.level[lot])
        return Raised(action=Raise(sells=(Sale(position=lot, type=kind),)))
    if deeds:
        return Raised(action=Raise(mortgages=(luck.pick(deeds),)))
    return Raised(action=request.fallback().action)
