"""bot/random: any action with any numbers, the impossible, the late and the unreadable too; to find broken rules."""

from __future__ import annotations

from collections.abc import Sequence
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
    Rejected,
    SetName,
    Spoken,
    Trade,
    Vote,
    Work,
)
from agentsim.games.society.requests import Act
from agentsim.games.society.terms import MOST_TERMS, RESOURCES

__all__ = ["random"]

ODD = 0.1  # of the actions name something that need not be there
_WORDS = ("Good morning", "We should share", "Who has energy?", "I disagree", "Count me in", "Let us build")
_LAWFUL = ("tax", "dividend", "allocation", "work_minimum", "repeal", "voting_rule")
_FITTING = {"law": _LAWFUL, "rule": _LAWFUL, "allocation": ("allocation",), "infrastructure": ("build",), "other": ()}


def random(request: Request[Any], luck: Stream) -> Decision:
    """Any action, most of which hold and some of which do not."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    if luck.below(60) == 0:
        return Acted(action=Rejected(reason="Failed to parse action"))
    return Acted(action=_any(request, luck))


def _any(request: Act, luck: Stream) -> Spoken:
    world, rules, kind = request.world, request.rules, luck.below(18)
    said = f"{luck.pick(_WORDS)}, #{luck.integer(1, rules.agents)}."[: rules.post_chars]
    match kind:
        case 0 | 1 | 2 | 3:
            return Work(work_type=luck.pick(("farm", "generate", "gather")), hours=_hours(request, luck))
        case 4 | 5 | 6:
            chosen = _one_of([proposal.id for proposal in world.proposals], luck)
            return Vote(proposal_id=chosen, vote=luck.pick(("yes", "yes", "no", "abstain")), reasoning=said)
        case 7:
            return ForumReply(parent_message_id=_one_of([post.id for post in world.posts], luck), content=said)
        case 8:
            chosen = _one_of([project.id for project in world.projects], luck)
            return Contribute.model_validate({"project_id": chosen, "amount": _amount(luck)})
        case 9:
            return DirectMessage(recipient_agent_id=luck.integer(1, rules.agents), content=said)
        case 10 | 11:
            whom, resource = luck.integer(0, rules.agents), luck.pick(RESOURCES)
            given = {"recipient_agent_id": whom, "resource_type": resource, "amount": _amount(luck)}
            return Trade.model_validate(given)
        case 12:
            return SetName(display_name=said[: min(12, rules.name_chars)])
        case 13:
            return Idle(reasoning=said)
        case 14 | 15 | 16:
            return _proposal(request, said, luck)
        case _:
            return ForumPost(content=said)


def _one_of(ids: Sequence[int], luck: Stream) -> int:
    """One of those shown; else, and now and then, some number of about that size, gone or not yet there."""
    if ids and luck.random() >= ODD:
        return luck.pick(ids)
    return luck.integer(1, max(ids, default=1) + 1)


def _amount(luck: Stream) -> str:
    """Mostly a little; now and then far too much."""
    return f"{luck.integer(0, 3 if luck.random() >= ODD else 10_000)}.{luck.integer(1, 99):02}"


def _hours(request: Act, luck: Stream) -> int:
    most = request.rules.hours_per_day
    return luck.integer(1, most if luck.random() < 2 * ODD else min(3, most))


# -- proposals


def _proposal(request: Act, said: str, luck: Stream) -> CreateProposal:
    """Up to four terms, which now and then do not belong in a proposal of its type."""
    type_ = luck.pick(tuple(_FITTING))
    kinds = (*_LAWFUL, "build") if luck.random() < ODD else _FITTING[type_]
    count = 1 if type_ == "infrastructure" else luck.integer(0, MOST_TERMS)
    terms = [_term(request, luck.pick(kinds), luck) for _ in range(count)] if kinds else []
    rules = request.rules
    spelt = {
        "title": said[: min(20, rules.title_chars)],
        "description": said[: rules.description_chars],
        "proposal_type": type_,
        "terms": terms,
    }
    return CreateProposal.model_validate(spelt)


def _term(request: Act, kind: str, luck: Stream) -> dict[str, Any]:
    rules, laws = request.rules, [law.id for law in request.world.laws]
    term: dict[str, Any] = {"kind": kind}
    match kind:
        case "tax":
            return term | {"resource": luck.pick((*RESOURCES, "all")), "percent": luck.integer(1, 100)}
        case "dividend":
            whom = luck.pick(("all", "dormant"))
            return term | {"resource": luck.pick(RESOURCES), "amount": _amount(luck), "to": whom}
        case "allocation":
            named = luck.integer(1, min(3, rules.agents))
            agents = [luck.integer(1, rules.agents + (luck.random() < ODD)) for _ in range(named)]
            return term | {"resource": luck.pick(RESOURCES), "amount": _amount(luck), "agents": agents}
        case "work_minimum":
            return term | {"hours": luck.integer(1, min(24, rules.hours_per_day + (luck.random() < ODD)))}
        case "repeal":
            return term | {"law": _one_of(laws, luck)}
        case "voting_rule":
            if luck.random() < ODD:  # a rule by which hardly anything passes any more, or one that cannot be
                return term | {"threshold": luck.integer(50, 99), "quorum": luck.integer(0, rules.agents + 1)}
            return term | {"threshold": luck.integer(50, 60), "quorum": luck.integer(0, 2)}
        case _:
            return term | {"what": luck.pick(("farm", "generator"))}
