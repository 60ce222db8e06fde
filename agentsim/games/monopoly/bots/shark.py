"""bot/shark: buys everything, trades for groups, builds at once, on hardly any cash."""

from __future__ import annotations

from agentsim.engine.chance import Stream
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.bots import words
from agentsim.games.monopoly.bots.building import lifted, pledged, sites
from agentsim.games.monopoly.bots.character import AUCTION, BUY, IDLE, PASS, Character
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.buying import AuctionBid, Bought, BuyOrAuction
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.trading import Answered, AnswerTrade, Proposed, ProposeTrade

LEAST, MOST = 100, 200
"""Dollars of reserve: the least for buying, more where high rents wait."""
FAVOUR = 200
"""Dollars that a trade must gain it, its own proposals too."""
FIRST = 9
"""Levels for which it mortgages what stands alone: three houses on three lots."""
TASTE = {"green": 1.25, "dark_blue": 1.25}


class Shark(Character):
    """Speed and pressure; every trade must favour it."""

    taste = TASTE
    least = LEAST
    talks = 0.15
    lines = words.SHARK

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        return min(MOST, LEAST + self.worst(view, seat) // 20)

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        return BUY if request.you.cash - SPACES[request.position].price >= LEAST else AUCTION

    def limit(self, request: AuctionBid, rng: Stream) -> int:
        position = request.lot.position
        wanted = max(SPACES[position].price, self.worth(request, position) * 5 // 4)
        return min(wanted, request.you.cash - LEAST)

    def propose(self, request: ProposeTrade, rng: Stream) -> Proposed:
        if rng.random() < 0.75:
            return PASS
        reserve = self.reserve(request.view, request.seat, rng)
        deal = self.deal(request, request.you.cash - reserve, margin=-FAVOUR, sweetening=20)
        return self.proposed(request, deal, rng) if deal else PASS

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        """What clearly favours it."""
        action = "accept" if self.affords(request) and self.gain(request) >= FAVOUR else "reject"
        return Answered.model_validate({"action": action, "public_speech": self.heard(action, rng)})

    def manage(self, request: ManageEstate, rng: Stream) -> Managed:
        """Everything above the reserve into houses; lone deeds are mortgaged for the first of them, all or nothing."""
        view, seat = request.view, request.seat
        whole = view.holdings.whole[seat]
        if not whole and request.you.cash < 3 * MOST:
            return IDLE
        budget = request.you.cash - self.reserve(view, seat, rng)
        if lifts := lifted(view, seat, budget, whole=request.you.cash < 3 * MOST):
            return self.built(lifts, (), rng)
        for site in sorted(sites(view, seat), key=lambda site: -site.gained[-1] / site.spent[-1]):
            first, brought = site.spent[:FIRST][-1], 0
            deeds: tuple[int, ...] = ()
            if first > budget:
                deeds, brought = pledged(view, seat, first - budget)
            if count := site.affordable(budget + brought):
                return self.built((), site.builds(count), rng, mortgages=deeds)
        return IDLE
