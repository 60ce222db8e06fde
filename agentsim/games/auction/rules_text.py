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
    order = "in an order that is drawn anew for each game" if shuffled else "in this order"
    price = PRICING[terms.format].taken
    if terms.sealed:
        how = (
            "Each team makes one bid an item, unseen by the others. It counts if it is within the budget. The highest "
            f"bid, of equal ones the first in a random order, takes the item{price}."
        )
    else:
        how = (
            "All teams bid at the same time, in iterations. A bid counts if it is above the high bid so far and within "
            "the budget; of equal bids the first in a random order counts. After an iteration without a higher bid, or "
            f"after iteration {terms.max_iterations}, the high bid takes the item{price}. No bid can be taken back. "
            "BidsHistoryForCurrentItem holds the bids that counted, in order."
        )
    lines = (
        f"You lead one of {len(terms.teams)} teams in the Agent Auction Game; each begins with a budget of "
        f"{terms.budget}. The team with the most of the {terms.needed} different required components wins; of equals "
        "the one whose components have the higher total quality (of copies the best counts), then the one with more "
        "budget left.",
        how,
        "An item without a bid is lost to all.",
        f"Always answer with one JSON object and nothing else.{' An answer without one is a bid of 0.' * strict}",
        f"For sale one after another, {order}, all_items: ",
    )
    return joined("\n".join(lines), listed(terms.items))
