"""Civic: what citizens do with offices and groups, where a share of all has to vote before there can be any office.

In a world without such a quorum, as the default one, they leave them alone.
"""

from __future__ import annotations

from agentsim.engine import Stream
from agentsim.games.society.actions import Spoken
from agentsim.games.society.amounts import number
from agentsim.games.society.bots.politics import opinion
from agentsim.games.society.bots.words import POSTS, asks_for
from agentsim.games.society.config import Personality
from agentsim.games.society.groups import FoundGroup, JoinGroup, WriteToGroup
from agentsim.games.society.institutions import Office
from agentsim.games.society.offices import Elect, PayOut, Veto
from agentsim.games.society.requests import Act
from agentsim.games.society.rules import Rules
from agentsim.games.society.terms import Resource

DISLIKED = -2  # an opinion of a proposal for which a holder of a veto uses it
FOUNDS, JOINS, WRITES = 0.02, 0.1, 0.05  # chances in a turn that is free for it


def civic(rules: Rules) -> bool:
    """Whether citizens found offices and groups in this world."""
    return rules.institutions and rules.quorum_percent > 0


def in_office(request: Act, personality: Personality) -> Spoken | None:
    """What a holder of offices does with them: wakes and helps others from the pool, ends what it dislikes most."""
    for office in request.world.offices:
        if act := _paid(request, office) or _vetoed(request, personality, office):
            return act
    return None


def _paid(request: Act, office: Office) -> PayOut | None:
    """Help for those who asked for it, the latest first, then for those who fell dormant."""
    world, left = request.world, office.may_pay(request.you.agent)
    asked = [(post.author, resource) for post in reversed(world.posts) if (resource := asks_for(post.text))]
    lacking: list[tuple[int, Resource]] = [(agent, lacks[0]) for agent, lacks in reversed([*world.asleep.items()])]
    for agent, resource in (*asked, *lacking) if left else ():
        amount = min(left, request.rules.of("wake", resource), world.pool[resource])
        if agent != request.you.agent and amount:
            paid = {"recipient_agent_id": agent, "resource_type": resource, "amount": number(amount)}
            return PayOut.model_validate(paid)
    return None


def _vetoed(request: Act, personality: Personality, office: Office) -> Veto | None:
    if not office.may_veto(request.you.agent):
        return None
    worth = {each.id: opinion(request, personality, each.terms) for each in request.world.proposals}
    disliked = [
        each.id
        for each in request.world.proposals
        if worth[each.id] < DISLIKED and not request.world.standing.for_all(each)
    ]
    least = min(disliked, key=worth.__getitem__, default=0)
    return Veto(proposal_id=least, reasoning="It takes more than it gives.") if least else None


def elects(request: Act, rng: Stream) -> Elect | None:
    """A ballot for an office that has to be filled: for who leads, or for any agent; now and then for itself."""
    you, world = request.you, request.world
    if world.standing.voteless(you.agent, world.day):
        return None
    for office in world.offices:
        if office.id in you.ballots or (office.holder and office.until > world.day):
            continue
        leading = [*world.candidates[office.id]]
        any_one = rng.integer(1, request.rules.agents)
        chosen = you.agent if rng.random() < 0.1 else leading[0] if leading and rng.random() < 0.6 else any_one
        return Elect(office_id=office.id, candidate_agent_id=chosen) if chosen not in world.gone else None
    return None


def gathers(request: Act, personality: Personality, rng: Stream) -> Spoken | None:
    """Founds or joins the group of its values, and writes to it."""
    name = f"Friends of {personality}"[: request.rules.name_chars]
    there = next((each.id for each in request.world.groups if each.name == name), 0)
    luck = rng.random()
    if any(each.id == there for each in request.you.groups):
        said = rng.pick(POSTS[personality])[: request.rules.post_chars]
        return WriteToGroup(group_id=there, content=said) if request.rules.talk and luck < WRITES else None
    if there:
        return JoinGroup(group_id=there) if luck < JOINS else None
    hidden = request.world.more_groups > 0
    return FoundGroup(group_name=name) if luck < FOUNDS and personality != "neutral" and not hidden else None
