"""The kernel, and what a game is written against.

In a game, `await` means: wait for a decision. Nothing else can be awaited; this package has no IO, no clock, no
event loop and no global chance, and a test checks that. Each name is imported on first use (PEP 562).
"""

from __future__ import annotations

from agentsim import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from agentsim.engine.chance import Stream
    from agentsim.engine.decision import Decision, WholeNumber
    from agentsim.engine.event import Event, Everyone, LoggedEvent, Nobody, PlayerId
    from agentsim.engine.game import Bot, Game, GameConfig, Lot, Outcome, Standing, ranked
    from agentsim.engine.options import Choice, Number, Order, Subset, Text
    from agentsim.engine.prompt import Prompt, joined, quoted
    from agentsim.engine.request import Request
    from agentsim.engine.schema import Each, Options, Variant
    from agentsim.engine.table import Table

__all__ = [
    "Bot",
    "Choice",
    "Decision",
    "Each",
    "Event",
    "Everyone",
    "Game",
    "GameConfig",
    "LoggedEvent",
    "Lot",
    "Nobody",
    "Number",
]
__all__ += ["Options", "Order", "Outcome", "PlayerId", "Prompt", "Request", "Standing", "Stream", "Subset"]
__all__ += ["Table", "Text", "Variant", "WholeNumber", "joined", "quoted", "ranked"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # hidden from type checkers, which would take it for every name
    __getattr__ = lazy_exports(
        __name__,
        {
            **dict.fromkeys(("Event", "Everyone", "LoggedEvent", "Nobody", "PlayerId"), "event"),
            **dict.fromkeys(("Bot", "Game", "GameConfig", "Lot", "Outcome", "Standing", "ranked"), "game"),
            **dict.fromkeys(("Prompt", "joined", "quoted"), "prompt"),
            **dict.fromkeys(("Choice", "Number", "Order", "Subset", "Text"), "options"),
            **dict.fromkeys(("Each", "Options", "Variant"), "schema"),
            "Decision": "decision",
            "Request": "request",
            "Stream": "chance",
            "Table": "table",
            "WholeNumber": "decision",
        },
    )
