"""Interaction: a trade from its proposal to its answer. What may be traded is `trade`."""

from __future__ import annotations

from agentsim.games.monopoly import trade
from agentsim.games.monopoly.actions import Proposal, Side
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.events import (
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
    TradeRejected,
    TradeSide,
)
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.requests import AnswerTrade, React
from agentsim.games.monopoly.trade import Terms


async def deal(match: Match, proposer: int, proposal: Proposal) -> None:
    """Put a proposal before the table, have it answered, carry it out. One that cannot be is discarded."""
    state = match.state
    terms = trade.terms_of(state.seats, proposer, proposal)
    target, offer, request = terms.target, terms.offer, terms.request
    if wrong := trade.problem(state.estate, state.seats, terms):
        seat = match.seat(proposer)
        match.tell(TradeDiscarded(seat.id, seat.name, wrong), to=(seat.id,), by=proposer)
        return
    match.proposed += 1
    parties = (match.seat(proposer).id, match.seat(target).id, match.name(proposer), match.name(target))
    pitch = match.in_few_words(proposal.pitch)
    match.tell(TradeProposed(match.proposed, *parties, _side(offer), _side(request), pitch), by=proposer)
    answer = await match.ask(target, AnswerTrade, terms=terms, pitch=pitch)
    broken = trade.problem(state.estate, state.seats, terms)
    if answer.action == "reject" or broken:
        match.tell(TradeRejected(match.proposed, *parties), by=target)
        return
    match.tell(TradeAccepted(match.proposed, *parties), by=target)
    _carry_out(match, terms)
    await match.ask(proposer, React, terms=terms)


def _carry_out(match: Match, terms: Terms) -> None:
    state, proposer, target, offer, request = match.state, terms.proposer, terms.target, terms.offer, terms.request
    due = {
        target: [position for position in offer.properties if state.estate.mortgaged[position]],
        proposer: [position for position in request.properties if state.estate.mortgaged[position]],
    }
    cards = {
        giver: trade.handed_cards(match.seat(giver).cards, side.jail_cards)
        for giver, side in ((proposer, offer), (target, request))
    }
    for giver, taker, side in ((proposer, target, offer), (target, proposer, request)):
        match.pay(giver, taker, side.cash, "trade")
        for position in side.properties:
            match.give_deed(position, taker, "trade")
        for name in cards[giver]:
            match.hand_card(giver, taker, name)
    for taker, positions in due.items():
        for position in positions:
            match.pay(taker, BANK, SPACES[position].interest, "interest", position)


def _side(side: Side) -> TradeSide:
    return TradeSide(side.properties, side.cash, side.jail_cards)
