"""bot/turtle: cash, cheap groups, and no to nearly everything."""

from __future__ import annotations

from agentsim.engine.chance import Stream
from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.bots import words
from agentsim.games.monopoly.bots.building import lifted, sites
from agentsim.games.monopoly.bots.character import AUCTION, BUY, IDLE, PASS, ROLL, Character
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.buying import AuctionBid, Bought, BuyOrAuction
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.trading import Answered, AnswerTrade, Proposed, ProposeTrade

LEAST, MOST = 800, 1200
"""Dollars of reserve: the least for cheap deeds and for its own groups, the most for anything else."""
CHEAP, FAIR = 120, 200
"""Dollars of list price up to which it buys at all: with little, and with much cash left."""
CUSHION = 3
"""How many times its cost must be in cash before a house is built."""
OVERWHELMING = 250
"""Dollars that a trade must gain it."""
TASTE = {"brown": 1.5, "light_blue": 1.5}


class Turtle(Character):
    """Endurance."""

    taste = TASTE
    least = LEAST
    talks = 0.08
    lines = words.TURTLE

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        return max(LEAST, min(MOST, self.worst(view, seat)))

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        price = SPACES[request.position].price
        kept = request.you.cash - price
        return BUY if kept >= self._floor(request.view, request.seat, request.position) else AUCTION

    def _floor(self, view: View, seat: int, position: int) -> int:
        """The cash below which it does not buy this."""
        space = SPACES[position]
        held = view.holdings.counts[seat][space.group]
        if space.price <= CHEAP or held == len(GROUPS[space.group]) - 1:
            return LEAST
        return MOST if space.price <= FAIR else 2 * MOST

    def limit(self, request: AuctionBid, rng: Stream) -> int:
        """Bargains only: three quarters of the price, with its cash kept."""
        position = request.lot.position
        bargain = SPACES[position].price * 3 // 4
        return min(bargain, request.you.cash - self._floor(request.view, request.seat, position))

    def propose(self, request: ProposeTrade, rng: Stream) -> Proposed:
        if rng.random() < 0.96:
            return PASS
        deal = self.deal(request, request.you.cash - LEAST, margin=-150, sweetening=0)
        return self.proposed(request, deal, rng) if deal else PASS

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        """No, unless it is overwhelming, and its cash is kept."""
        action = "accept" if self.affords(request) and self.gain(request) >= OVERWHELMING else "reject"
        return Answered.model_validate({"action": action, "public_speech": self.heard(action, rng)})

    def manage(self, request: ManageEstate, rng: Stream) -> Managed:
        """Every mortgage first; then as many houses as a third of the cash pays for."""
        view, seat, cash = request.view, request.seat, request.you.cash
        if cash <= LEAST:
            return IDLE
        if any(pledged and owner == seat for pledged, owner in zip(view.mortgaged, view.owner, strict=True)):
            return self.built(lifted(view, seat, cash - LEAST, whole=False), (), rng)
        budget = min(cash // CUSHION, cash - LEAST)
        for site in sites(view, seat):
            if count := site.affordable(budget):
                return self.built((), site.builds(count), rng)
        return IDLE

    def jail(self, request: JailAction) -> JailChoice:
        """Doubles, always: a prisoner pays no rent."""
        return ROLL
