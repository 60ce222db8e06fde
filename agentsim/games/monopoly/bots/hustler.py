"""bot/hustler: an offer every turn, every railroad and utility, a bid in every auction, houses as the mood takes it."""

from __future__ import annotations

from collections.abc import Iterator

from agentsim.engine.chance import Stream
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.bots import words
from agentsim.games.monopoly.bots.building import lifted, sites
from agentsim.games.monopoly.bots.character import AUCTION, BUY, IDLE, PASS, Character
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.buying import AuctionBid, Bought, BuyOrAuction
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.trade import Proposal, Side, interest_on
from agentsim.games.monopoly.trading import Answered, AnswerTrade, Proposed, ProposeTrade

LEAST, MOST = 200, 400
"""Dollars of reserve, by mood."""
HOARDED = frozenset({"railroad", "utility"})
CHEAP = frozenset({"brown", "light_blue"})
MOOD = 20
"""Turns of the table that a mood lasts."""
CARD = 40
"""Dollars for a card out of jail."""
TASTE = {"railroad": 1.8, "utility": 1.8}


class Hustler(Character):
    """Volume and charm; some of its trades are bad ones."""

    taste = TASTE
    least = LEAST
    talks = 0.3
    lines = words.HUSTLER

    def mood(self, view: View, rng: Stream) -> float:
        """From 0, miserly, to 1, reckless; the same for a while."""
        return rng.lasting(f"mood/{view.turn // MOOD}").random()

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        return MOST - int((MOST - LEAST) * self.mood(view, rng))

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        """Railroads and utilities always, anything else mostly, with the reserve kept."""
        space = SPACES[request.position]
        if request.you.cash - space.price < self.reserve(request.view, request.seat, rng):
            return AUCTION
        return BUY if space.group in HOARDED or rng.random() < 0.85 else AUCTION

    def limit(self, request: AuctionBid, rng: Stream) -> int:
        position = request.lot.position
        nearly = SPACES[position].price * 9 // 10
        return min(max(nearly, self.worth(request, position)), request.you.cash - LEAST)

    def propose(self, request: ProposeTrade, rng: Stream) -> Proposed:
        """Once a phase before the roll: an offer that makes a group whole, else any offer."""
        if request.made or request.when == "after":
            return PASS
        view, seat = request.view, request.seat
        budget = request.you.cash - self.reserve(view, seat, rng)
        if deal := self.deal(request, budget, margin=rng.integer(-100, 60)):
            return self.proposed(request, deal, rng)
        proposal = self._anything(request, max(0, budget), rng)
        return Proposed(action=proposal) if proposal else PASS

    def _anything(self, request: ProposeTrade, budget: int, rng: Stream) -> Proposal | None:
        """A deed for a deed or cash, a card out of jail, or the other way round: whatever there is to trade."""
        view, seat = request.view, request.seat
        others = [number for number in view.living if number != seat]
        start = rng.below(len(others))
        for target in (*others[start:], *others[:start]):
            trader = view.seats[target]
            for offer, wanted in self._packages(request, target, budget, rng):
                fees, due = (interest_on(view.mortgaged, side.properties) for side in (wanted, offer))
                if offer.cash + fees <= budget and wanted.cash + due <= trader.cash:
                    pitch = self.say("pitch", rng).format(name=trader.name)
                    return Proposal(
                        propose_trade=True, target_player=trader.id, offer=offer, request=wanted, pitch=pitch
                    )
        return None

    def _packages(self, request: ProposeTrade, target: int, budget: int, rng: Stream) -> Iterator[tuple[Side, Side]]:
        """(offer, request), the most wanted first."""
        view, estate, trader = request.view, request.view.estate(), request.view.seats[target]
        own, theirs = estate.tradeable(request.seat), estate.tradeable(target)
        if theirs:
            wanted = next((position for position in theirs if SPACES[position].group in HOARDED), rng.pick(theirs))
            space = SPACES[wanted]
            price = space.mortgage if view.mortgaged[wanted] else space.price * rng.integer(80, 125) // 100
            lone = [position for position in own if SPACES[position].group not in HOARDED]
            if lone and rng.random() < 0.5:
                given = rng.pick(lone)
                yield Side(properties=(given,), cash=max(0, price - SPACES[given].price)), Side(properties=(wanted,))
            yield Side(cash=min(price, max(1, budget))), Side(properties=(wanted,))
        if trader.cards:
            yield Side(cash=min(CARD, max(1, budget))), Side(jail_cards=1)
        if own and trader.cash:
            yield Side(properties=(rng.pick(own),)), Side(cash=max(1, min(trader.cash // 3, 300)))
        if request.you.cards and trader.cash:
            yield Side(jail_cards=1), Side(cash=min(trader.cash, CARD))

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        """What gains; and now and then what does not."""
        generous = -120 if rng.random() < 0.3 else 0
        action = "accept" if self.affords(request) and self.gain(request) >= generous else "reject"
        return Answered.model_validate({"action": action, "public_speech": self.heard(action, rng)})

    def manage(self, request: ManageEstate, rng: Stream) -> Managed:
        """Nothing, a few houses, or everything, as the mood is; cheap groups always go all the way."""
        view, seat = request.view, request.seat
        if request.you.cash <= LEAST:
            return IDLE
        mood = self.mood(view, rng)
        budget = request.you.cash - self.reserve(view, seat, rng)
        if budget <= 0:
            return IDLE
        if lifts := lifted(view, seat, budget, whole=request.you.cash < 2 * MOST):
            return self.built(lifts, (), rng)
        for site in sites(view, seat, houses=5 if mood > 0.4 else 3):
            count = site.affordable(budget)
            if count and (mood > 0.2 or site.group in CHEAP):
                return self.built((), site.builds(count), rng)
        return IDLE
