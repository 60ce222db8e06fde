"""Briefing: before the first round agents are told what is asked of them, and say whether they understand it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import BeforeValidator

from agentsim.engine import Choice, Decision, Event, Text
from agentsim.engine.wording import If, cut
from agentsim.games.market.state import SKIP
from agentsim.games.market.view import MarketRequest

if TYPE_CHECKING:
    from agentsim.games.market.turn import Turns

UNCLEAR = "unclear"


class Briefed(
    Event, heading=("{agent} ", If("understood", "is ready", "does not understand")), words="text", private=("agent",)
):
    """An agent's answer to the briefing."""

    agent: str
    understood: bool
    text: str


def _as_text(given: Any) -> Any:
    """Return working memory as text: what is no string becomes its JSON, so that it never spoils an action."""
    return given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)


Memo: TypeAlias = Annotated[str, BeforeValidator(_as_text)]


class BriefingAnswered(Decision):
    """The answer to a briefing: a skip if the agent understands, else in words what is unclear."""

    action: Annotated[str, Choice((SKIP, UNCLEAR))]
    working_memory: Annotated[Memo, lambda asked: Text(asked.menu.memory_chars)] = ""


class Brief(MarketRequest[BriefingAnswered], kind="briefing"):
    """The question whether an agent understands what is asked of it."""

    unshown: ClassVar[Mapping[str, str]] = {
        **MarketRequest.unshown,
        "now": "a briefing comes before there is anything to see",
    }

    def state(self) -> tuple[str, ...]:
        return ()

    def asks(self) -> tuple[str, ...]:
        return (
            "The simulation is about to begin. If you understand what is asked of you, answer skip, and write what you "
            "want to remember as working_memory. If not, answer unclear, and write there what you do not understand. "
            f"{self.answer_line}",
        )

    def in_words(self, words: str) -> BriefingAnswered:
        """Return a reply without an object as the words in which the agent does not understand."""
        return BriefingAnswered(action=UNCLEAR, working_memory=cut(words, self.menu.memory_chars))

    def fallback(self) -> BriefingAnswered:
        return BriefingAnswered(action=UNCLEAR)


async def brief(turns: Turns) -> None:
    """Brief all agents at once, and tell each its answer."""
    table, most = turns.table, turns.config.working_memory_chars
    asked = [turns.request(Brief, agent) for agent in turns.market.agents.values()]
    for request, given in zip(asked, await table.ask_all(asked), strict=True):
        agent, text = request.player, cut(given.working_memory, most)
        table.tell(Briefed(agent, given.action == SKIP, text), to=(agent,), by=agent)
