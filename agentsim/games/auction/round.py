"""Round: one item from the first call to the hammer. The state it changes is `state`, its numbers are the config's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentsim.engine.event import Audience, Everyone
from agentsim.engine.table import Table
from agentsim.engine.wording import cut
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.events import BidMade, ItemLost, ItemOffered, ItemSold, Paid, Reasoned
from agentsim.games.auction.items import Item
from agentsim.games.auction.requests import Bid, BidCast
from agentsim.games.auction.state import Auction
from agentsim.games.auction.view import Terms, view


@dataclass(frozen=True)
class Round:
    """One round at one table."""

    table: Table
    auction: Auction
    config: AuctionConfig
    terms: Terms

    async def play(self, item: Item) -> None:
        """Offer the item, ask until no team raises, settle."""
        self.auction.offer(item)
        self.table.round(f"Item {self.auction.round}: {item.name}")
        self.table.tell(ItemOffered(self.auction.round, item), to=Everyone)
        raised = True
        while raised and self.auction.iteration < self.config.iterations:
            self.auction.ask_again()
            raised = self._take(await self._bids())
        self._settle(item)

    async def _bids(self) -> Mapping[str, BidCast]:
        """All teams at once, on the same state; the leader too, unless the config leaves it in peace."""
        asked = [team for team in self.auction.teams if self.config.ask_leader or team != self.auction.leader]
        requests = [
            Bid(
                player=team,
                terms=self.terms,
                state=view(self.auction, team),
                refused=self.auction.refused.get(team),
                reasoning_chars=self.config.reasoning_chars,
            )
            for team in asked
        ]
        return dict(zip(asked, await self.table.ask_all(requests), strict=True))

    def _take(self, bids: Mapping[str, BidCast]) -> bool:
        """Process the bids in a fresh random order, which is what "first come" means; whether one was valid."""
        auction, valid = self.auction, False
        auction.refused.clear()
        for team in self.table.chance.stream("order").shuffled(list(bids)):
            cast = bids[team]
            before = None if auction.pricing.sealed else auction.high_amount
            amount = cast.bid or 0
            reason = auction.judge(team, cast.bid)
            if reason:
                auction.refuse(team, amount, reason)
            else:
                auction.place(team, amount)
                valid = True
            name = auction.teams[team].name
            made = BidMade(auction.round, auction.iteration, team, name, amount, not reason, reason, before)
            # what does not count, and what is sealed, the others never learn
            hears: Audience = (team,) if reason or auction.pricing.sealed else Everyone
            self.table.tell(made, to=hears, by=team)
            if thought := cut(cast.reasoning, self.config.reasoning_chars):
                self.table.tell(Reasoned(auction.round, auction.iteration, team, name, thought), to=(team,), by=team)
        return valid

    def _settle(self, item: Item) -> None:
        auction = self.auction
        sale = auction.settle()
        if sale.winner is None:
            self.table.tell(ItemLost(auction.round, item), to=Everyone)
        else:
            name = auction.teams[sale.winner].name
            sold = ItemSold(auction.round, item, sale.winner, name, sale.payments[sale.winner])
            self.table.tell(sold, to=Everyone)
        for payer, amount in sale.payments.items():
            team = auction.teams[payer]
            self.table.tell(Paid(auction.round, payer, team.name, amount, team.budget), to=Everyone)
