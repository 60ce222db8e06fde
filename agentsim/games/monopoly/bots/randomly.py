"""bot/random: any legal option, each kind about as likely as the others; for invariants, not for play."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.bundle import Build, Bundle, Sale, building
from agentsim.games.monopoly.buying import AuctionBid, Bid, Bought, BuyOrAuction, StakedBid
from agentsim.games.monopoly.debts import Raise, RaiseCash, Raised
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.question import MonopolyRequest, Reacted
from agentsim.games.monopoly.trade import Proposal, Side
from agentsim.games.monopoly.trading import Answered, AnswerTrade, Proposed, ProposeTrade, React


def randomly(request: Any, rng: Stream) -> Decision:
    """A legal decision, drawn."""
    match request:
        case BuyOrAuction():
            return Bought(action=rng.pick(("buy", "auction")))
        case AuctionBid():
            return _bid(request, rng)
        case ProposeTrade():
            return Proposed(action=_proposal(request, rng))
        case AnswerTrade():
            return Answered(action=rng.pick(("accept", "reject")))
        case React():
            return Reacted(public_speech=rng.pick(("", "Good.")))
        case JailAction():
            return JailChoice.model_validate({"action": rng.pick(request.actions)})
        case ManageEstate():
            return Managed(action=_bundle(request, rng))
        case RaiseCash():
            return _raised(request, rng)
        case _:
            raise AssertionError(f"no policy for {request.kind}")


def _bid(request: AuctionBid, rng: Stream) -> Bid:
    most = min(request.you.cash, max(request.lot.least, SPACES[request.lot.position].price * 3 // 2))
    bid = 0 if rng.random() < 0.4 else rng.integer(request.lot.least, max(request.lot.least, most))
    return Bid(action=StakedBid(bid=min(bid, request.you.cash)))


def _proposal(request: MonopolyRequest[Any], rng: Stream) -> Proposal:
    return Proposal() if rng.random() < 0.5 else _offer(request, rng)


def _offer(request: MonopolyRequest[Any], rng: Stream) -> Proposal:
    view, estate = request.view, request.view.estate()
    other = rng.pick([number for number in view.living if number != request.seat])
    return Proposal(
        propose_trade=True,
        target_player=view.seats[other].id,
        offer=_side(estate, request.seat, request.you.cash, len(request.you.cards), rng),
        request=_side(estate, other, view.seats[other].cash, len(view.seats[other].cards), rng),
        pitch="How about it?",
    )


def _side(estate: Estate, seat: int, cash: int, cards: int, rng: Stream) -> Side:
    deeds = rng.shuffled(estate.tradeable(seat))[: rng.below(3)]
    money = rng.integer(0, cash) // 2 if rng.random() < 0.5 else 0
    return Side(properties=tuple(deeds), cash=money, jail_cards=rng.integer(0, cards))


def _bundle(request: MonopolyRequest[Any], rng: Stream) -> Bundle:
    """A few steps of one kind, each of them legal after the one before."""
    estate, seat, cash = request.view.estate(), request.seat, request.you.cash
    kind = rng.pick(("nothing", "sell", "mortgage", "lift", "build", "build", "build"))
    steps = rng.integer(1, 4)
    sells: list[Sale] = []
    builds: list[Build] = []
    positions: list[int] = []
    for _ in range(steps):
        if kind == "sell" and (lots := estate.sellable(seat)):
            lot = rng.pick(lots)
            sells.append(Sale(position=lot, type=building(estate.level[lot])))
            cash += estate.sell(lot)
        elif kind == "build":
            lots = [lot for lot in estate.buildable(seat) if SPACES[lot].house_cost <= cash]
            if not lots:
                break
            lot = rng.pick(lots)
            builds.append(Build(position=lot, type=building(estate.level[lot] + 1)))
            cash -= estate.build(lot)
        elif kind == "mortgage" and (deeds := estate.mortgageable(seat)):
            positions.append(rng.pick(deeds))
            estate.mortgaged[positions[-1]] = True
        elif kind == "lift":
            deeds = [position for position in estate.liftable(seat) if SPACES[position].redemption <= cash]
            if not deeds:
                break
            positions.append(rng.pick(deeds))
            estate.mortgaged[positions[-1]] = False
            cash -= SPACES[positions[-1]].redemption
    return Bundle(
        sells=tuple(sells),
        builds=tuple(builds),
        mortgages=tuple(positions) if kind == "mortgage" else (),
        unmortgages=tuple(positions) if kind == "lift" else (),
    )


def _raised(request: RaiseCash, rng: Stream) -> Raised:
    """One way to money at a time, a trade included, or the fallback's, which always finds some."""
    if request.may_propose and rng.random() < 0.4:
        return Raised(action=Raise(trade=_offer(request, rng)))
    estate, seat = request.view.estate(), request.seat
    lots, deeds = estate.sellable(seat), estate.mortgageable(seat)
    if lots and (not deeds or rng.random() < 0.5):
        lot = rng.pick(lots)
        kind = building(estate.level[lot])
        return Raised(action=Raise(sells=(Sale(position=lot, type=kind),)))
    if deeds:
        return Raised(action=Raise(mortgages=(rng.pick(deeds),)))
    return Raised(action=request.fallback().action)
