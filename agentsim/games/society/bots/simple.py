"""Simple bots: one that does nothing and one that does anything, the impossible included."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.engine.request import Request
from agentsim.games.society.actions import (
    Acted,
    Contribute,
    CreateProposal,
    DirectMessage,
    ForumPost,
    ForumReply,
    Idle,
    SetName,
    Spoken,
    Trade,
    Vote,
    Work,
)
from agentsim.games.society.requests import Act

__all__ = ["idle", "random"]

_WORDS = ("Good morning", "We should share", "Who has energy?", "I disagree", "Count me in", "Let us build")
_TERMS: tuple[tuple[str, dict[str, Any] | None], ...] = (
    ("law", {"kind": "tax", "resource": "all", "percent": 10}),
    ("law", {"kind": "dividend", "resource": "food", "amount": 0.25, "to": "all"}),
    ("law", {"kind": "dividend", "resource": "energy", "amount": 1, "to": "dormant"}),
    ("law", {"kind": "work_minimum", "hours": 1}),
    ("rule", {"kind": "voting_rule", "threshold": 60, "quorum": 1}),
    ("rule", {"kind": "repeal", "law": 1}),
    ("allocation", {"kind": "allocation", "resource": "food", "amount": 2, "agents": [1, 2]}),
    ("infrastructure", {"kind": "build", "what": "farm"}),
    ("infrastructure", {"kind": "build", "what": "generator"}),
    ("law", None),
    ("other", None),
)


def idle(request: Request[Any], luck: Stream) -> Decision:
    """Does nothing, ever."""
    return Acted(action=Idle())


def random(request: Request[Any], luck: Stream) -> Decision:
    """Any action with any numbers, most of which hold and some of which do not."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    return Acted(action=_any(request, luck))


def _any(request: Act, luck: Stream) -> Spoken:
    world, agents, kind = request.world, request.rules.agents, luck.below(16)
    words = f"{luck.pick(_WORDS)}, #{luck.integer(1, agents)}."
    if kind < 5:
        return Work(work_type=luck.pick(("farm", "generate", "gather")), hours=_hours(request, luck))
    if kind < 8 and world.proposals:
        ids = [proposal.id for proposal in world.proposals]
        return Vote(proposal_id=luck.pick(ids), vote=luck.pick(("yes", "yes", "no", "abstain")), reasoning=words)
    if kind == 8 and world.posts:
        return ForumReply(parent_message_id=luck.pick([post.id for post in world.posts]), content=words)
    if kind == 9 and world.projects:
        return Contribute(project_id=luck.pick([project.id for project in world.projects]), amount=luck.integer(1, 5))
    match kind:
        case 10:
            return DirectMessage(recipient_agent_id=luck.integer(1, agents), content=words)
        case 11:
            amount = f"{luck.integer(0, 3)}.{luck.integer(1, 99):02}"
            resource = luck.pick(("food", "energy", "materials"))
            given = {"recipient_agent_id": luck.integer(0, agents), "resource_type": resource, "amount": amount}
            return Trade.model_validate(given)
        case 12:
            return SetName(display_name=words[:12])
        case 13:
            return Idle(reasoning=words)
        case 14 | 5 | 9:
            type_, term = luck.pick(_TERMS)
            said = {"title": words[:20], "description": words, "proposal_type": type_}
            return CreateProposal.model_validate({**said, "terms": None if term is None else [term]})
        case _:
            return ForumPost(content=words)


def _hours(request: Act, luck: Stream) -> int:
    return luck.integer(1, min(3, request.rules.hours_per_day))
