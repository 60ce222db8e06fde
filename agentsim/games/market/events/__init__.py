"""Events of the market: every order, trade, transfer and word, in numbers. Who hears them is not settled here."""

from __future__ import annotations

from agentsim.engine.event import Event
from agentsim.games.market.events.agents import Acted, Briefed, Endowed, Forfeited, Observed, Remembered
from agentsim.games.market.events.interviews import Answered, Asked, Paused, Resumed
from agentsim.games.market.events.meeting import Messaged, Moved, Reported
from agentsim.games.market.events.trading import Banked, Ordered, Traded, Transferred, Withdrawn
from agentsim.games.market.events.whole import MarketBegan, MarketEnded, OrderDrawn, PeriodBegan, PeriodEnded, Result

__all__ = [
    "EVENTS",
    "Acted",
    "Answered",
    "Asked",
    "Banked",
    "Briefed",
    "Endowed",
    "Forfeited",
    "MarketBegan",
    "MarketEnded",
    "Messaged",
    "Moved",
    "Observed",
    "OrderDrawn",
    "Ordered",
    "Paused",
    "PeriodBegan",
    "PeriodEnded",
    "Remembered",
    "Reported",
    "Result",
    "Resumed",
    "Traded",
    "Transferred",
    "Withdrawn",
]

EVENTS: tuple[type[Event], ...] = (
    MarketBegan,
    Endowed,
    Briefed,
    OrderDrawn,
    Observed,
    Acted,
    Forfeited,
    Remembered,
    Ordered,
    Withdrawn,
    Traded,
    Transferred,
    Messaged,
    Moved,
    Banked,
    Reported,
    PeriodBegan,
    PeriodEnded,
    MarketEnded,
    Paused,
    Asked,
    Answered,
    Resumed,
)
