"""bot/random: any action with any numbers, the impossible, the late and the unreadable too; to find broken rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.engine.request import Request
from agentsim.games.society.actions import Acted, Spoken
from agentsim.games.society.building import Contribute
from agentsim.games.society.giving import Trade
from agentsim.games.society.life import Idle
from agentsim.games.society.requests import Act
from agentsim.games.society.talk import DirectMessage, ForumPost, ForumReply, SetName
from agentsim.games.society.terms import MOST_TERMS, RESOURCES
from agentsim.games.society.turn import Rejected
from agentsim.games.society.voting import CreateProposal, Vote
from agentsim.games.society.work import Work

ODD = 0.1  # of the actions name something that need not be there
_WORDS = ("Good morning", "We should share", "Who has energy?", "I disagree", "Count me in", "Let us build")
_LAWFUL = ("tax", "dividend", "allocation", "work_minimum", "repeal", "voting_rule")
_FITTING = {"law": _LAWFUL, "rule": _LAWFUL, "allocation": ("allocation",), "infrastructure": ("build",), "other": ()}


def random(request: Request[Any], rng: Stream) -> Decision:
    """Any action, most of which hold and some of which do not."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    if rng.below(60) == 0:
        return Acted(action=Rejected(reason="Failed to parse action"))
    return Acted(action=_any(request, rng))


def _any(request: Act, rng: Stream) -> Spoken:
    world, rules, kind = request.world, request.rules, rng.below(18)
    said = f"{rng.pick(_WORDS)}, #{rng.integer(1, rules.agents)}."[: rules.post_chars]
    match kind:
        case 0 | 1 | 2 | 3:
            return Work(work_type=rng.pick(("farm", "generate", "gather")), hours=_hours(request, rng))
        case 4 | 5 | 6:
            chosen = _one_of([proposal.id for proposal in world.proposals], rng)
            return Vote(proposal_id=chosen, vote=rng.pick(("yes", "yes", "no", "abstain")), reasoning=said)
        case 7:
            return ForumReply(parent_message_id=_one_of([post.id for post in world.posts], rng), content=said)
        case 8:
            chosen = _one_of([project.id for project in world.projects], rng)
            return Contribute.model_validate({"project_id": chosen, "amount": _amount(rng)})
        case 9:
            return DirectMessage(recipient_agent_id=rng.integer(1, rules.agents), content=said)
        case 10 | 11:
            whom, resource = rng.integer(0, rules.agents), rng.pick(RESOURCES)
            given = {"recipient_agent_id": whom, "resource_type": resource, "amount": _amount(rng)}
            return Trade.model_validate(given)
        case 12:
            return SetName(display_name=said[: min(12, rules.name_chars)])
        case 13:
            return Idle(reasoning=said)
        case 14 | 15 | 16:
            return _proposal(request, said, rng)
        case _:
            return ForumPost(content=said)


def _one_of(ids: Sequence[int], rng: Stream) -> int:
    """One of those shown; else, and now and then, some number of about that size, gone or not yet there."""
    if ids and rng.random() >= ODD:
        return rng.pick(ids)
    return rng.integer(1, max(ids, default=1) + 1)


def _amount(rng: Stream) -> str:
    """Mostly a little; now and then far too much."""
    return f"{rng.integer(0, 3 if rng.random() >= ODD else 10_000)}.{rng.integer(1, 99):02}"


def _hours(request: Act, rng: Stream) -> int:
    most = request.rules.hours_per_day
    return rng.integer(1, most if rng.random() < 2 * ODD else min(3, most))


# -- proposals


def _proposal(request: Act, said: str, rng: Stream) -> CreateProposal:
    """Up to four terms, which now and then do not belong in a proposal of its type."""
    type_ = rng.pick(tuple(_FITTING))
    kinds = (*_LAWFUL, "build") if rng.random() < ODD else _FITTING[type_]
    count = 1 if type_ == "infrastructure" else rng.integer(0, MOST_TERMS)
    terms = [_term(request, rng.pick(kinds), rng) for _ in range(count)] if kinds else []
    rules = request.rules
    spelt = {
        "title": said[: min(20, rules.title_chars)],
        "description": said[: rules.description_chars],
        "proposal_type": type_,
        "terms": terms,
    }
    return CreateProposal.model_validate(spelt)


def _term(request: Act, kind: str, rng: Stream) -> dict[str, Any]:
    rules, laws = request.rules, [law.id for law in request.world.laws]
    term: dict[str, Any] = {"kind": kind}
    match kind:
        case "tax":
            return term | {"resource": rng.pick((*RESOURCES, "all")), "percent": rng.integer(1, 100)}
        case "dividend":
            whom = rng.pick(("all", "dormant"))
            return term | {"resource": rng.pick(RESOURCES), "amount": _amount(rng), "to": whom}
        case "allocation":
            named = rng.integer(1, min(3, rules.agents))
            agents = [rng.integer(1, rules.agents + (rng.random() < ODD)) for _ in range(named)]
            return term | {"resource": rng.pick(RESOURCES), "amount": _amount(rng), "agents": agents}
        case "work_minimum":
            return term | {"hours": rng.integer(1, min(24, rules.hours_per_day + (rng.random() < ODD)))}
        case "repeal":
            return term | {"law": _one_of(laws, rng)}
        case "voting_rule":
            if rng.random() < ODD:  # a rule by which hardly anything passes any more, or one that cannot be
                return term | {"threshold": rng.integer(50, 99), "quorum": rng.integer(0, rules.agents + 1)}
            return term | {"threshold": rng.integer(50, 60), "quorum": rng.integer(0, 2)}
        case _:
            return term | {"what": rng.pick(("farm", "generator"))}
