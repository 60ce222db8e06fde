"""Interviews: a moderator pauses the market and asks agents questions, as the scenario says or of its own accord."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentsim.engine.memory import Latest
from agentsim.games.market.moderator import STAFF, InterviewAnswer, Moderator, Questioned
from agentsim.games.market.state import Agent
from agentsim.games.market.view import MarketRequest
from agentsim.games.market.world import TRADES, Trade

if TYPE_CHECKING:
    from agentsim.games.market.turn import Turns


class Interviewed(Questioned, MarketRequest[InterviewAnswer], kind="interview"):
    def state(self) -> tuple[str, ...]:
        return (*self.now.lines(), *self.so_far())

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"round": self.now.round}


def moderator(turns: Turns) -> Moderator:
    def about(agent: str, **fields: Any) -> Interviewed:
        return turns.request(Interviewed, turns.market.agents[agent], **fields)

    config = turns.config
    return Moderator(turns.table, about, "a simulation of a market", config.answer_chars, config.follow_ups)


async def boundary(turns: Turns, coming: Sequence[Agent]) -> None:
    """Let the moderator ask questions before these agents act."""
    kept, agents = turns.table.memory(STAFF, Latest).of(TRADES), [agent.id for agent in coming]
    deals = [f"{told.round}: {made.in_short}" for told in kept if isinstance(made := told.event, Trade)]
    news = ("The latest trades, with their rounds:", *deals) if deals else ("There is no trade yet.",)
    at = {"round": turns.market.world.round, "rounds": turns.config.most_rounds}
    await moderator(turns).boundary(tuple(turns.market.agents), agents, news=news, **at)
