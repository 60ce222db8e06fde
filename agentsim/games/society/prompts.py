"""The text of prompts, made from the rules and an agent's view.

The system message has the rules, which are constant and equal for all agents, and the values of a personality. Then
come the public state of the tick and the agent's own state. So all prompts share the rules as a prefix, and those of
one tick and one personality the public state too.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from agentsim.engine import Prompt, joined, quoted
from agentsim.engine.prompt import TOKEN_BYTES, Listed, PromptSegment, fitted, size
from agentsim.engine.wording import counted
from agentsim.games.society.amounts import shown
from agentsim.games.society.assembly import Law, Proposal
from agentsim.games.society.config import once
from agentsim.games.society.memory import Part as Remembered
from agentsim.games.society.memory import Told
from agentsim.games.society.projects import Project
from agentsim.games.society.rules import Rules
from agentsim.games.society.rules_text import rules_lines, values_of
from agentsim.games.society.terms import plain
from agentsim.games.society.view import Own, World

_NO_LIMIT = 10**9
_SHARED = 0.52
"""The part of the room beside the rules that the public state may fill."""


def composed(player: str, rules: Rules, world: World, you: Own, possible: Container[str]) -> Prompt:
    """Return the prompt of one turn, in about as many tokens as the rules allow, beside posts and open proposals.

    `possible` are the names of the actions that exist.
    """
    turn = f"Day {world.day}, turn {world.tick} of {rules.actions_per_day}."
    question = f"{turn} What does agent #{you.agent} do? Answer with one JSON object and nothing else."
    unchanging = once(rules, "_lines", lambda: tuple(filter(None, rules_lines(rules, possible))))
    room = (rules.prompt_tokens or _NO_LIMIT) * TOKEN_BYTES - once(rules, "_size", lambda: size("\n".join(unchanging)))
    talk = once(world, "_talk", lambda: tuple(_talk(world)))
    public = once(world, "_lines", lambda: tuple(fitted([*_world(rules, world)], int(_SHARED * room))))
    values = tuple(filter(None, (values_of(rules, you.personality),)))
    room -= once(world, "_size", lambda: size("\n".join(public))) + size("".join(values)) + size(question) + 4
    own = fitted(["", f"You are agent #{you.agent} (seat {player}).", *_own(rules, you, room)], room)
    return Prompt((*unchanging, *values), history=(), state=(*talk, *public, *own), question=(question,))


# -- the public state


def _talk(world: World) -> Iterator[str]:
    """Yield the posts and the open proposals, all of them, since the limit of a prompt does not count them."""
    yield from Listed("Newest posts of the forum", posts := [post.line for post in world.posts], 0).shown(len(posts))
    proposals = [*map(_proposal, world.proposals)]
    yield from Listed("Open proposals", proposals, 0, world.more_proposals).shown(len(proposals))


def _world(rules: Rules, world: World) -> Iterator[PromptSegment]:
    """Yield the rest of the public state, which is the same for every agent in one tick."""
    yield Listed("Laws in force", [*map(_law, world.laws)], 3, world.more_laws)
    rule, least = world.standing, world.standing.needed(world.active)
    taxes = ", ".join(f"{percent}% of {resource}" for resource, percent in rule.taxes.items()) or "none"
    minimum = f"{rule.work_minimum} h a day" if rule.work_minimum else "none"
    voting = f"if at least {counted(least, 'agent votes', 'agents vote')}" if least else "however few vote"
    yield (
        f"Taxes on work: {taxes}. Work minimum: {minimum}. A proposal passes with more than {rule.threshold}% yes "
        f"among yes and no, {voting}."
    )
    yield Listed("Projects that need materials", [*map(_project, world.projects)], 4, world.more_projects, "more")
    farm, generator = world.running["farm"], world.running["generator"]
    yield (
        f"Running: {counted(farm, 'farm')} (+{world.bonus['farm']}% farm work), {counted(generator, 'generator')} "
        f"(+{world.bonus['generator']}% generate work); {world.paused} paused."
    )
    if rules.commons_capacity:
        yield f"The commons hold {shown(world.pool['commons'])} of {shown(rules.commons_capacity)} food."
    if (grown := world.regrown) is not None:
        yield (
            f"On day {grown.day} work drew {shown(grown.harvest)} food from the commons, which then grew by "
            f"{shown(grown.regrown)} to {shown(grown.stock)}."
        )
    for resource, percent in world.shock_percent.items():
        yield f"Today work makes {percent}% less {resource}."
    yield Listed("Results of proposals", world.outcomes.lines, 2, world.outcomes.older)
    yield Listed("Other public events", world.events.lines, 2, world.events.older)
    held = "; ".join(
        f"{resource} {shown(total)} in all, {shown(world.pool[resource])} of it in the common pool"
        for resource, total in world.totals.items()
    )
    yield (
        f"The society on day {world.day}: {world.active} active, {world.dormant} dormant, {world.dead} dead of "
        f"{rules.agents}; {held}; land in the pool {shown(world.pool['land'])}."
    )
    if world.latest_dormant:
        dormant = ", ".join(f"#{agent} (lacked {' and '.join(lacks)})" for agent, lacks in world.latest_dormant.items())
        yield f"Dormant: {dormant}{_others(world.dormant - len(world.latest_dormant))}."
    if world.latest_dead:
        dead = ", ".join(f"#{agent}" for agent in world.latest_dead)
        yield f"Dead: {dead}{_others(world.dead - len(world.latest_dead))}."


def _others(count: int) -> str:
    return f" and {count} longer ago" if count else ""


def _called(agent: int, name: str) -> dict[str, Any]:
    return {"from": f"#{agent}", **({"name": name} if name else {})}


def _law(law: Law) -> str:
    by = {"by": f"#{law.author}"} if law.author else {}
    words = {"description": law.description} if law.description else {}
    return quoted(law=law.id, title=law.title, since_day=law.day, **by, **words, terms=plain(law.standing))


def _proposal(proposal: Proposal) -> str:
    return quoted(
        proposal=proposal.id,
        type=proposal.type,
        **_called(proposal.author, proposal.name),
        title=proposal.title,
        description=proposal.description,
        terms=plain(proposal.terms),
        votes=proposal.counts,
        closes=f"evening of day {proposal.closes}",
    )


def _project(project: Project) -> str:
    given = f"{shown(project.given)} of {shown(project.cost)}"
    return quoted(project=project.id, builds=project.what, materials=given)


# -- the agent's own state


_PAST: Mapping[Remembered, tuple[str, int]] = {
    "deeds": ("Your earlier actions", 3),
    "messages": ("Your messages", 4),
    "decisions": ("Your proposals and votes, and their results", 3),
    "met": ("Earlier events that affected you", 2),
}
"""The title of each part of an agent's memory, and its worth when lists are shortened."""


def _own(rules: Rules, you: Own, room: int) -> Iterator[PromptSegment]:
    if you.name:
        yield joined("Your name: ", quoted(name=you.name))
    held = ", ".join(f"{shown(amount)} {resource}" for resource, amount in you.stock.items())
    hours = counted(rules.hours_per_day, "hour")
    yield f"You are active and hold {held}. You have worked {you.hours} of {hours} today."
    if you.skills:
        skills = ", ".join(f"{resource} {shown(skill)}" for resource, skill in you.skills.items())
        yield f"Your own skills: {skills}."
    if you.votes:
        yield f"Your votes so far: {', '.join(f'proposal {number} {vote}' for number, vote in you.votes.items())}."
    if you.proposals:
        yield Listed("Your own other proposals", [*map(_proposal, you.proposals)], 3)
    if you.laws:
        yield Listed("Your own older laws", [*map(_law, you.laws)], 1)
    if you.note:
        yield joined("Your note: ", quoted(note=you.note))
    if rules.memory_chars:
        yield from _past(you, min(rules.memory_chars, room // 2))
    news = [told.line for told in you.memory.news()]
    yield Listed("Events that affected you since your last turn", news, 8)


def _past(you: Own, room: int) -> Iterator[str]:
    """Yield the agent's own acts, and the events that it heard before its last turn, in about `room` bytes."""
    parts: dict[Remembered, list[Told]] = {part: [] for part in _PAST}
    for told in you.memory.told():
        if told.own or not told.new:
            parts[told.part].append(told)
    latest = {told.other: place for place, told in enumerate(parts["messages"])}
    parts["messages"].sort(key=lambda told: latest[told.other])  # as threads, the one with the latest message last
    lists = [
        Listed(_PAST[part][0], [each.line for each in told], _PAST[part][1]) for part, told in parts.items() if told
    ]
    yield from fitted(lists, room)
    if you.memory.older:
        yield f"{counted(you.memory.older, 'older event')} of your past: not shown."
