"""The bot `random`: legal actions and some illegal ones, to test the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from agentsim.engine import Decision, Request, Stream
from agentsim.engine.random_policy import random_decision
from agentsim.games.society.actions import ACTIONS, possible
from agentsim.games.society.config import WorkType
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.terms import MOST_TERMS, RESOURCES, ProposalType, kinds
from agentsim.games.society.turn import Rejected

ODD = 0.15  # of the actions are random values of the options, most of them illegal
_WORDS = ("Good morning", "We should share", "Who has energy?", "I disagree", "Count me in", "Let us build")
_OFTEN = ("work", "work", "work", "vote", "vote", "create_proposal", "create_proposal", "trade")


def random(request: Request[Any], rng: Stream) -> Decision:
    """Return a random action: most are legal, some are illegal or unreadable."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    if rng.below(60) == 0:
        return Acted(action=Rejected(reason="Failed to parse action"))
    if rng.random() < ODD:
        return random_decision(request, rng)
    values = _aimed(request, rng)
    able = [name for name in (*_OFTEN, *possible(request.rules)) if None not in map(values.get, _fields(name))]
    name = rng.pick(able)
    if name == "direct_message":  # recipient 0, the pool, is for gifts only
        values["recipient_agent_id"] = max(1, values["recipient_agent_id"])
    return Acted.model_validate({"action": {"action": name, **{field: values[field] for field in _fields(name)}}})


def _fields(name: str) -> list[str]:
    return [field for field in ACTIONS[name].model_fields if field != "action"]


def _amount(rng: Stream) -> str:
    return f"{rng.integer(0, 3)}.{rng.integer(1, 99):02}"


def _aimed(request: Act, rng: Stream) -> dict[str, Any]:
    """Return a value for each field of an action, or None if there is nothing to refer to.

    Texts and amounts are short, ids are of shown items.
    """
    world, you, rules = request.world, request.you, request.rules

    def one_of(*shown: Sequence[Any]) -> int | None:
        ids = [each.id for part in shown for each in part]
        return rng.pick(ids) if ids else None

    said = f"{rng.pick(_WORDS)}, #{rng.integer(1, rules.agents)}."[: rules.post_chars]
    type_ = rng.pick(get_args(ProposalType))
    carried = kinds(type_)
    count = 1 if type_ == "infrastructure" else rng.integer(0, MOST_TERMS if carried else 0)
    return {
        **dict.fromkeys(("content", "reasoning"), said),
        "title": said[: min(20, rules.title_chars)],
        "description": said[: rules.description_chars],
        "display_name": said[: min(12, rules.name_chars)],
        "work_type": rng.pick(get_args(WorkType)),
        "hours": min(rng.pick((1, 2, 3, rules.hours_per_day)), rules.hours_per_day),
        "vote": rng.pick(("yes", "yes", "no", "abstain")),
        "proposal_id": one_of(world.proposals, you.proposals),
        "project_id": one_of(world.projects),
        "parent_message_id": one_of(request.world.posts),
        "recipient_agent_id": rng.integer(0, rules.agents),
        "resource_type": rng.pick(RESOURCES),
        "amount": _amount(rng),
        "proposal_type": type_,
        "terms": [_term(request, rng.pick(carried), rng) for _ in range(count)],
    }


def _term(request: Act, kind: str, rng: Stream) -> dict[str, Any]:
    """Return a random term that can be carried out; voting rules stay low enough for proposals to pass."""
    rules, laws = request.rules, [law.id for law in request.world.laws]
    named = [rng.integer(1, rules.agents + (rng.random() < ODD)) for _ in range(rng.integer(1, min(3, rules.agents)))]
    paid = {"resource": rng.pick(RESOURCES), "amount": _amount(rng)}
    fields: dict[str, dict[str, Any]] = {
        "tax": {"resource": rng.pick((*RESOURCES, "all")), "percent": rng.integer(1, 100)},
        "dividend": {**paid, "to": rng.pick(("all", "dormant"))},
        "allocation": {**paid, "agents": named},
        "work_minimum": {"hours": rng.integer(1, rules.hours_per_day)},
        "repeal": {"law": rng.pick(laws) if laws else 1},
        "voting_rule": {"threshold": rng.integer(50, 60), "quorum": rng.integer(0, min(2, rules.agents))},
        "build": {"what": rng.pick(("farm", "generator"))},
    }
    return {"kind": kind, **fields[kind]}
