"""Ten talkative agents of Society, as scripts: each meets its needs first, and then takes part in its own way.

They are independent of the game's bots: their talk, proposals and votes are defined here. Every text is some hundred
characters long, and different each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentsim.engine import Decision, Request, Stream
from agentsim.games.society.requests import Act, Acted

__all__ = ["PERSONAS", "Persona", "persona"]


@dataclass(frozen=True)
class Persona:
    """A persona stops working at `store` days of food and energy.

    The other numbers are weights of the kinds of free turns.
    """

    voice: str
    store: int
    posts: int
    messages: int
    votes: int
    proposals: int
    gifts: int
    terms: Mapping[str, Any] | None = None

    def act(self, request: Act, rng: Stream) -> dict[str, Any]:
        """Return its action, as a model would write it."""
        if (work := self._work(request)) is not None:
            return work
        parts = {"post": self.posts, "message": self.messages, "vote": self.votes}
        parts |= {"propose": self.proposals, "give": self.gifts}
        kind = rng.pick([name for name, part in parts.items() for _ in range(part)])
        others = [number for number in range(1, request.rules.agents + 1) if f"agent{number}" != request.player]
        match kind:
            case "vote" if request.world.proposals:
                on = rng.pick(request.world.proposals)
                vote = "yes" if rng.below(3) else "no"
                return {"action": "vote", "proposal_id": on.id, "vote": vote, "reasoning": self._words(rng, 1)}
            case "propose" if self.terms is not None and not self._proposed(request):
                title = f"{self._title} {rng.below(10_000)}"
                return {
                    "action": "create_proposal",
                    "title": title,
                    "description": self._words(rng, 3),
                    "proposal_type": "law",
                    "terms": [dict(self.terms)],
                }
            case "give" if request.you.stock["food"] > 600:
                gift = {"resource_type": "food", "amount": 1}
                return {"action": "trade", "recipient_agent_id": rng.pick(others), **gift}
            case "message" if request.rules.talk and others:
                content = self._words(rng, 2)
                return {"action": "direct_message", "recipient_agent_id": rng.pick(others), "content": content}
            case _ if not request.rules.talk:
                return {"action": "idle", "reasoning": self._words(rng, 1)}
            case _ if request.world.posts and rng.below(2):
                parent = rng.pick(request.world.posts).id
                return {"action": "forum_reply", "parent_message_id": parent, "content": self._words(rng, 3)}
            case _:
                return {"action": "forum_post", "content": self._words(rng, 4)}

    @property
    def _title(self) -> str:
        return self.voice.split()[0]

    def _proposed(self, request: Act) -> bool:
        """Return whether a law of the same persona is in force or open, since taxes add up."""
        named = [motion.title.split()[0] for motion in (*request.world.laws, *request.world.proposals)]
        return self._title in named

    def _work(self, request: Act) -> dict[str, Any] | None:
        rules, you = request.rules, request.you
        left = rules.hours_per_day - you.hours
        food, energy = (you.stock[name] / max(1, rules.of("daily", name)) for name in ("food", "energy"))
        if min(food, energy) >= self.store or left < 1:
            return None
        hours = left if min(food, energy) < 1 else min(left, 3)
        return {"action": "work", "work_type": "farm" if food < energy and energy > 1 else "generate", "hours": hours}

    def _words(self, rng: Stream, sentences: int) -> str:
        said = f"I ask this of agent #{rng.integer(1, 9)} above all, and I count {rng.below(1_000)} reasons for it."
        return " ".join([self.voice, *[said] * sentences])


def _tax(percent: int) -> dict[str, Any]:
    return {"kind": "tax", "resource": "all", "percent": percent}


TAX_5, TAX_2 = _tax(5), _tax(2)
DOLE = {"kind": "dividend", "resource": "food", "amount": 0.2, "to": "dormant"}
DUTY = {"kind": "work_minimum", "hours": 2}
PERSONAS = (
    Persona("Mayor as I would like to be, I want an order that holds.", 4, 4, 1, 3, 2, 0, TAX_5),
    Persona("Neighbours matter to me more than rules ever will.", 5, 2, 4, 2, 0, 3),
    Persona("Books have to balance, and I read them aloud to all.", 6, 5, 1, 3, 1, 0, TAX_2),
    Persona("Rebels like me vote against, and say why at length.", 3, 5, 2, 4, 0, 0),
    Persona("Bread first: those who sleep must be woken, or what are we.", 5, 3, 2, 2, 2, 4, DOLE),
    Persona("Trade is what I understand, and I write to many.", 6, 1, 6, 1, 0, 2),
    Persona("Work is a duty, and I have counted who does it.", 8, 3, 1, 3, 2, 0, DUTY),
    Persona("Dreams of a common hall keep me talking every day.", 3, 6, 1, 2, 0, 1),
    Persona("Caution is what I advise: let us change one thing at a time.", 7, 3, 2, 5, 0, 0),
    Persona("Gossip is how I learn what is going on, and I pass it on.", 4, 4, 5, 1, 0, 0),
)


def persona(request: Request[Any], rng: Stream) -> Decision:
    """Act as the persona of the agent's number, one of ten in turn."""
    assert isinstance(request, Act), f"no persona for {request.kind}"
    own = PERSONAS[(request.you.agent - 1) % len(PERSONAS)]
    return Acted.model_validate({"action": own.act(request, rng), **_note(request, rng)})


def _note(request: Act, rng: Stream) -> dict[str, Any]:
    if not request.rules.note_chars or rng.below(4):
        return {}
    return {"note": f"Day {request.world.day}: I hold to my way, for {rng.below(1_000)} reasons. " * 4}
