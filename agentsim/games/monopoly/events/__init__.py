"""Events of Monopoly: every dollar, deed, building and card that moves, in numbers. Who hears them is the rules'.

Players stand in them by id, spaces by position; `None` as a payer, payee, giver or taker is the bank.
"""

from __future__ import annotations

from agentsim.engine.event import Event
from agentsim.games.monopoly.events.money import Bankrupted, Paid, Why
from agentsim.games.monopoly.events.property import (
    AuctionClosed,
    AuctionOpened,
    BidMade,
    Built,
    DeedMoved,
    Lifted,
    Mortgaged,
    Sold,
)
from agentsim.games.monopoly.events.tokens import (
    CardDrawn,
    CardMoved,
    Freed,
    FreedBy,
    Jailed,
    JailedFor,
    Moved,
    MovedBy,
    Purpose,
    Rolled,
    StayedInJail,
)
from agentsim.games.monopoly.events.trades import TradeAccepted, TradeDiscarded, TradeProposed, TradeRejected, TradeSide
from agentsim.games.monopoly.events.words import GameBegan, GameEnded, Narrated, Result, Spoke, Summarized, Thought

__all__ = [
    "EVENTS",
    "AuctionClosed",
    "AuctionOpened",
    "Bankrupted",
    "BidMade",
    "Built",
    "CardDrawn",
    "CardMoved",
    "DeedMoved",
    "Freed",
    "FreedBy",
    "GameBegan",
    "GameEnded",
    "Jailed",
    "JailedFor",
    "Lifted",
    "Mortgaged",
    "Moved",
    "MovedBy",
    "Narrated",
    "Paid",
    "Purpose",
    "Result",
    "Rolled",
    "Sold",
    "Spoke",
    "StayedInJail",
    "Summarized",
    "Thought",
    "TradeAccepted",
    "TradeDiscarded",
    "TradeProposed",
    "TradeRejected",
    "TradeSide",
    "Why",
]

EVENTS: tuple[type[Event], ...] = (
    Rolled,
    Moved,
    CardDrawn,
    CardMoved,
    Jailed,
    Freed,
    StayedInJail,
    DeedMoved,
    AuctionOpened,
    BidMade,
    AuctionClosed,
    Built,
    Sold,
    Mortgaged,
    Lifted,
    Paid,
    Bankrupted,
    TradeProposed,
    TradeDiscarded,
    TradeAccepted,
    TradeRejected,
    GameBegan,
    Spoke,
    Thought,
    Narrated,
    Summarized,
    GameEnded,
)
