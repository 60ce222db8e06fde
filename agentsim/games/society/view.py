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
from agentsim.games.society.commons import Post, Project
from agentsim.games.society.config import Personality, Rules
from agentsim.games.society.memory import Chronicle, Recollection
from agentsim.games.society.state import Citizen, DaySum, State
from agentsim.games.society.terms import RESOURCES, Resource, Structure
from agentsim.games.society.turn import Known

P = TypeVar("P", Post, Law, Proposal)
MOST_PROJECTS = 20
MOST_NAMED = 20  # of the dormant, and of the dead


@dataclass(frozen=True)
class World:
    """What all agents see as the tick begins; `tick` counts from 1. `totals` and `pool` are by resource.

    `proposals` are those that close first, `laws` the newest; `more_...` count the rest. `asleep` are the latest to
    fall dormant and what they lacked, `gone` the latest dead. `bonus` is what running projects add to work. `events`
    are lines of the latest public ones, after so many `older_events`; `yesterday` is what the last whole day came to.
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
    events: tuple[str, ...] = ()
    older_events: int = 0
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
    note: str = ""
    proposals: tuple[Proposal, ...] = ()
    laws: tuple[Law, ...] = ()
    votes: Mapping[int, VoteCast] = field(default_factory=dict)


def known(rules: Rules, world: World, you: Own) -> Known:
    """What an agent is shown, as far as it decides whether an action holds.

    A proposal that is not shown may be open; one that others make in this very turn is not known yet. Of a project one
    hundredth is missing, since others may bring the rest in the same turn. Names are refused by those who bear them.
    """
    proposals = [each.id for each in (*world.proposals, *you.proposals)]
    latest = max((*proposals, *you.votes), default=0) + world.more_proposals
    building = {each.id for each in world.projects}
    return Known(
        rules=rules,
        agent=you.agent,
        hours_left=rules.hours_per_day - you.hours,
        stock=you.stock,
        names={},
        dead=world.gone,
        posts=max((each.id for each in world.posts), default=0),
        proposals=latest,
        open=range(latest + 1) if world.more_proposals else proposals,
        missing=lambda project: int(project in building or world.more_projects > 0),
    )


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
        posts=tuple(_cut(post, "text", config.shown_chars) for post in state.forum.recent),
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
        events=chronicle.lines,
        older_events=chronicle.older,
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
