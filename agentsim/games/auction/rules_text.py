"""Rules text: the rules and the list of items as every team reads them, made from the terms of the auction."""

from __future__ import annotations

from agentsim.engine.wording import Line, joined
from agentsim.games.auction.items import listed
from agentsim.games.auction.lots import AuctionBegan
from agentsim.games.auction.state import PRICING


def rules(terms: AuctionBegan, *, shuffled: bool, strict: bool) -> Line:
    """Return the rules and `all_items`, which are the same for every team in every call of one game.

    `shuffled` is true if the items are sold in a drawn order, and `strict` if an answer without a JSON object is a bid
    of 0.
    """
    order = "in an order drawn at random for each game" if shuffled else "in this order"
    price = PRICING[terms.format].taken
    if terms.sealed:
        how = (
            "Each team makes one sealed bid for each item. A bid counts if it is within the team's budget. The team "
            "with the highest bid (among equal bids, the first in a random order) gets the item"
            f"{price}."
        )
    else:
        how = (
            "In each iteration all teams bid at the same time. A bid counts if it is above the high bid so far and "
            "within the team's budget; bids are processed in a random order, so of equal bids only the first counts. "
            f"After an iteration without a higher bid, or after iteration {terms.max_iterations}, the team with the "
            f"high bid gets the item{price}. No bid can be withdrawn. BidsHistoryForCurrentItem lists the bids that "
            "counted, in order."
        )
    lines = (
        f"You lead one of {len(terms.teams)} teams in the Agent Auction Game; each begins with a budget of "
        f"{terms.budget}. The team with the most of the {terms.needed} different required components wins. Ties go to "
        "the team whose required components have the higher total quality (of several copies the best counts), then "
        "to the team with more budget left.",
        how,
        "An item without a bid that counts goes to no team.",
        f"Always answer with one JSON object and nothing else.{' An answer without one is a bid of 0.' * strict}",
        f"The items are sold one after another, {order}. all_items: ",
    )
    return joined("\n".join(lines), listed(terms.items))
