"""View: what an agent may know: one public view that a whole tick shares, and each agent's own part.

Everything in them is a window of bounded size on what `state` keeps, so that neither grows with agents or days. How it
is put into words is `prompts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from agentsim.engine.wording import cut
from agentsim.games.society.amounts import Amount
from agentsim.games.society.assembly import Law, Proposal, Standing, VoteCast, newest
from agentsim.games.society.config import Personality
from agentsim.games.society.forum import Post
from agentsim.games.society.measures import DaySum
from agentsim.games.society.memory import Chronicle, Latest, Recollection
from agentsim.games.society.projects import Project
from agentsim.games.society.state import Citizen, State
from agentsim.games.society.terms import RESOURCES, Resource, Structure

P = TypeVar("P", Law, Proposal)
MOST_PROJECTS = 20
MOST_NAMED = 20  # of the dormant, and of the dead


@dataclass(frozen=True)
class World:
    """What all agents see as the tick begins; `tick` counts from 1. `totals` and `pool` are by resource.

    `proposals` are those that close first, `laws` the newest; `more_...` count the rest. `asleep` are the latest to
    fall dormant and what they lacked, `gone` the latest dead. `bonus` is what running projects add to work, and
    `slump` by how many percent shocks make it less. `outcomes` are those of votes, `events` the other latest public
    ones; `yesterday` is what the last whole day came to.
    """

    day: int
    tick: int
    active: int
    dormant: int
    dead: int
    asleep: Mapping[int, tuple[Resource, ...]]
    gone: tuple[int, ...]
    totals: Mapping[Resource, Amount]
    pool: Mapping[str, Amount]
    posts: tuple[Post, ...]
    proposals: tuple[Proposal, ...]
    more_proposals: int
    laws: tuple[Law, ...]
    more_laws: int
    standing: Standing
    projects: tuple[Project, ...]
    more_projects: int
    running: Mapping[Structure, int]
    paused: int
    bonus: Mapping[Structure, Amount]
    slump: Mapping[Resource, int]
    outcomes: Latest = field(default_factory=Latest)
    events: Latest = field(default_factory=Latest)
    yesterday: DaySum | None = None


@dataclass(frozen=True, slots=True)
class Own:
    """An agent's own part. `proposals` and `laws` are its own beyond the public ones.

    `votes` are its own on open proposals that it is shown; `hours` are those that it has worked today. `note` is
    what it wrote for itself.
    """

    agent: int
    name: str
    personality: Personality
    stock: Mapping[Resource, Amount]
    hours: int
    memory: Recollection
    skills: Mapping[Resource, Amount] = field(default_factory=dict)
    note: str = ""
    proposals: tuple[Proposal, ...] = ()
    laws: tuple[Law, ...] = ()
    votes: Mapping[int, VoteCast] = field(default_factory=dict)


def world(state: State, chronicle: Chronicle) -> World:
    """The public view as it is now."""
    config, assembly, projects = state.config, state.assembly, state.projects
    proposals = dict(islice(assembly.open.items(), config.shown_proposals))
    laws = newest(assembly.laws, config.shown_laws)
    return World(
        day=state.day,
        tick=state.tick,
        **state.counts,
        asleep=newest(state.asleep, MOST_NAMED),
        gone=tuple(state.gone[-MOST_NAMED:]),
        totals={resource: state.total(resource) for resource in RESOURCES},
        pool=dict(state.pool),
        posts=state.forum.shown(),
        proposals=tuple(_proposal(state, proposal) for proposal in proposals.values()),
        more_proposals=len(assembly.open) - len(proposals),
        laws=tuple(_cut(law, "description", config.shown_chars) for law in laws.values()),
        more_laws=len(assembly.laws) - len(laws),
        standing=assembly.standing,
        projects=tuple(replace(each) for each in islice(projects.building.values(), MOST_PROJECTS)),
        more_projects=max(0, len(projects.building) - MOST_PROJECTS),
        running=dict(projects.running),
        paused=len(projects.built) - sum(projects.running.values()),
        bonus=state.bonus(),
        slump=dict(state.slump),
        outcomes=chronicle.outcomes,
        events=chronicle.events,
        yesterday=state.yesterday,
    )


def own(state: State, citizen: Citizen, world: World, memory: Recollection) -> Own:
    """An agent's own part."""
    me, assembly, config = citizen.number, state.assembly, state.config
    more = _more(assembly.by_author.get(me, ()), world.proposals, config.shown_proposals)
    decreed = _more(assembly.laws_by.get(me, ()), world.laws, config.shown_laws)
    shown = (*(each.id for each in world.proposals), *more) if citizen.votes else ()
    return Own(
        agent=me,
        name=citizen.name,
        personality=citizen.personality,
        stock=dict(citizen.stock),
        hours=citizen.worked,
        memory=memory,
        skills=citizen.skills,
        note=citizen.note,
        proposals=tuple(_proposal(state, assembly.open[number]) for number in more),
        laws=tuple(_cut(assembly.laws[number], "description", config.shown_chars) for number in decreed),
        votes={number: assembly.open[number].votes[me] for number in shown if me in assembly.open[number].votes},
    )


def _more(mine: Sequence[int], shown: Sequence[Proposal | Law], most: int) -> Sequence[int]:
    """An agent's own, as far as all are not shown them already."""
    if not mine:
        return ()
    known = {each.id for each in shown}
    return [number for number in mine if number not in known][-most:]


def _cut(record: P, name: str, chars: int) -> P:
    """The record with its words cut; itself where they are short, so that all views share it."""
    whole = getattr(record, name)
    shown: dict[str, Any] = {name: cut(whole, chars)}
    return record if shown[name] == whole else replace(record, **shown)


def _proposal(state: State, of: Proposal) -> Proposal:
    """A proposal with its votes as they are now, and no word of who cast them."""
    called = replace(of, name=state.citizen(of.author).name, counts=dict(of.counts), votes={})
    return _cut(called, "description", state.config.shown_chars)
