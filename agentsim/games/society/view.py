"""The views of agents: one public view shared by all agents of a tick, and each agent's own part.

Every list in a view has a limit, so that no view grows with the number of agents or days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from agentsim.engine.wording import cut
from agentsim.games.society.amounts import Amount
from agentsim.games.society.assembly import Law, Proposal, Standing, VoteCast, newest
from agentsim.games.society.config import SHOWN_CHARS, Personality
from agentsim.games.society.evening import Regrown
from agentsim.games.society.forum import Post
from agentsim.games.society.memory import Chronicle, Latest, Recollection
from agentsim.games.society.projects import Project
from agentsim.games.society.state import Citizen, State
from agentsim.games.society.terms import RESOURCES, Resource, Structure

P = TypeVar("P", Law, Proposal)
MOST_PROJECTS = 20
LAW_CHARS = 300  # of the description of a law in a prompt, since the seed has a brief list of laws
MOST_NAMED = 20  # of dormant agents, and of dead ones


@dataclass(frozen=True)
class World:
    """The public view as a tick begins; `tick` counts from 1. Amounts are in hundredths.

    - `latest_dormant` maps the latest dormant agents to the resources that they lacked.
    - `totals` are the sums of agents and pool, `pool` the stocks of the pool, by resource.
    - `proposals` and `laws` are the newest, `projects` the oldest that need materials; `more_...` count the rest.
    - `bonus` is the effect of running projects on work, in hundredths; `shock_percent` that of shocks, in percent.
    - `outcomes` are the latest results of votes and repeals, `events` the other latest public events.
    - `regrown` is the last growth of the commons, or None.
    """

    day: int
    tick: int
    active: int
    dormant: int
    dead: int
    latest_dormant: Mapping[int, tuple[Resource, ...]]
    latest_dead: tuple[int, ...]
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
    shock_percent: Mapping[Resource, int]
    outcomes: Latest = field(default_factory=Latest)
    events: Latest = field(default_factory=Latest)
    regrown: Regrown | None = None


@dataclass(frozen=True, slots=True)
class Own:
    """The part of a view that is one agent's own.

    `hours` are its hours of work today. `proposals` and `laws` are its own that the public view does not show; `votes`
    are its votes on the proposals that either shows.
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
    """Return the public view of this moment."""
    config, assembly, projects = state.config, state.assembly, state.projects
    proposals = newest(assembly.open, config.shown_proposals)
    laws = newest(assembly.laws, config.shown_laws)
    return World(
        day=state.day,
        tick=state.tick,
        **state.counts,
        latest_dormant=newest(state.dormant, MOST_NAMED),
        latest_dead=tuple(state.dead[-MOST_NAMED:]),
        totals={resource: state.total(resource) for resource in RESOURCES},
        pool=dict(state.pool),
        posts=tuple(state.forum.newest),
        proposals=tuple(_proposal(state, proposal) for proposal in proposals.values()),
        more_proposals=len(assembly.open) - len(proposals),
        laws=tuple(_cut(law, LAW_CHARS) for law in laws.values()),
        more_laws=len(assembly.laws) - len(laws),
        standing=assembly.standing,
        projects=tuple(replace(each) for each in islice(projects.building.values(), MOST_PROJECTS)),
        more_projects=max(0, len(projects.building) - MOST_PROJECTS),
        running=dict(projects.running),
        paused=len(projects.built) - sum(projects.running.values()),
        bonus=state.bonus(),
        shock_percent=dict(state.shock_percent),
        outcomes=chronicle.outcomes,
        events=chronicle.events,
        regrown=chronicle.regrown,
    )


def own(state: State, citizen: Citizen, world: World, memory: Recollection) -> Own:
    """Return the agent's own part of the view; `world` is the public one."""
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
        laws=tuple(_cut(assembly.laws[number], LAW_CHARS) for number in decreed),
        votes={number: assembly.open[number].votes[me] for number in shown if me in assembly.open[number].votes},
    )


def _more(mine: Sequence[int], shown: Sequence[Proposal | Law], most: int) -> Sequence[int]:
    """Return the newest `most` of an agent's ids that are not among `shown`."""
    if not mine:
        return ()
    known = {each.id for each in shown}
    return [number for number in mine if number not in known][-most:]


def _cut(record: P, chars: int) -> P:
    """Return a copy with the description cut, or the record itself if it is short, so that views share it."""
    shown = cut(record.description, chars)
    return record if shown == record.description else replace(record, description=shown)


def _proposal(state: State, of: Proposal) -> Proposal:
    """Return a copy of a proposal with its present counts, and without the names of voters."""
    called = replace(of, name=state.citizen(of.author).name, counts=dict(of.counts), votes={})
    return _cut(called, SHOWN_CHARS)
