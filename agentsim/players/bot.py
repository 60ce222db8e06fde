"""BotPlayer: a game's scripted policy in a seat. It decides at once and needs no text, no prompt, no money."""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.chance import Stream
from agentsim.engine.game import Bot
from agentsim.engine.play import Ask
from agentsim.engine.reading import Decision

__all__ = ["BotPlayer"]


@dataclass(frozen=True)
class BotPlayer:
    """A policy; its decisions are checked like anybody's, but a bad one is our mistake."""

    policy: Bot

    def decide(self, ask: Ask, rng: Stream) -> Decision:
        """The policy's decision: a function of the request and of this one stream."""
        decision = self.policy(ask.request, rng)
        ask.request.check(decision)
        return decision
