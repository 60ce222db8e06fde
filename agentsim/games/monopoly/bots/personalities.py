"""Personalities: bot/shark, bot/professor, bot/hustler and bot/turtle. `character` has what they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from agentsim.engine.chance import Stream
from agentsim.games.monopoly.auctions import AuctionBid
from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.bots.building import pledged, sites, to_unmortgage
from agentsim.games.monopoly.bots.character import AUCTION, BUY, IDLE, PASS, ROLL, Character, Lines
from agentsim.games.monopoly.bots.worth import Taste, proposal
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.buying import Bought, BuyOrAuction
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.phase import PhaseAction
from agentsim.games.monopoly.question import MonopolyRequest
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.trade import Proposed, ProposeTrade, Side, interest_on


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
        return rng.lasting(f"mood/{view.turn // self.MOOD}").random()

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
