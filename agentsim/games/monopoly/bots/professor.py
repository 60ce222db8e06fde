"""bot/professor: orange and red first, houses where the next round returns enough, bids up to what a deed is worth."""

from __future__ import annotations

from agentsim.engine.chance import Stream
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.bots import words
from agentsim.games.monopoly.bots.building import lifted, pledged, sites
from agentsim.games.monopoly.bots.character import AUCTION, BUY, PASS, Character
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.buying import AuctionBid, Bought, BuyOrAuction
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.trading import Answered, AnswerTrade, Proposed, ProposeTrade

LEAST, MOST = 400, 600
"""Dollars of reserve: the highest rent that could be owed, within these."""
RETURN = 0.15
"""Of what is built, expected as more rent in the coming round of the table."""
TASTE = {"orange": 1.6, "red": 1.5, "yellow": 1.2, "dark_blue": 0.7}


class Professor(Character):
    """Expected values, fair trades, patience."""

    taste = TASTE
    least = LEAST
    talks = 0.2
    lines = words.PROFESSOR

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        return max(LEAST, min(MOST, self.worst(view, seat)))

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        """Where the deed is worth its price, and cash is left."""
        price = SPACES[request.position].price
        worth = self.worth(request, request.position)
        return BUY if worth >= price and request.you.cash - price >= LEAST else AUCTION

    def limit(self, request: AuctionBid, rng: Stream) -> int:
        return min(self.worth(request, request.lot.position), request.you.cash - LEAST)

    def propose(self, request: ProposeTrade, rng: Stream) -> Proposed:
        if rng.random() < 0.2:
            return PASS
        deal = self.deal(request, request.you.cash - LEAST, margin=0)
        return self.proposed(request, deal, rng) if deal else PASS

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        """Neutral or better."""
        gain = self.gain(request)
        action = "accept" if gain >= 0 and self.affords(request) else "reject"
        speech = self.heard(action, rng)
        thought = f"Expected value: {gain:+.0f} dollars." if speech else ""
        return Answered.model_validate({"action": action, "public_speech": speech, "private_thought": thought})

    def manage(self, request: ManageEstate, rng: Stream) -> Managed:
        """Whole groups clear first; then as much as returns enough,
        on what lone deeds bring if need be; other mortgages with money to spare."""
        view, seat = request.view, request.seat
        budget = request.you.cash - self.reserve(view, seat, rng)
        if budget > 0 and (lifts := lifted(view, seat, budget, whole=True)):
            return self.built(lifts, (), rng)
        for site in sorted(sites(view, seat), key=lambda site: -site.gained[-1] / site.spent[-1]):
            for count in range(len(site.lots), 0, -1):
                spent = site.spent[count - 1]
                if site.gained[count - 1] > RETURN * spent:
                    deeds, brought = pledged(view, seat, spent - budget) if spent > budget else ((), 0)
                    if spent <= budget + brought:
                        return self.built((), site.builds(count), rng, mortgages=deeds)
        return self.built(lifted(view, seat, budget - LEAST, whole=False), (), rng)
