"""View: what an agent may know: one public view that a whole tick shares, and each agent's own part.

Everything in them is a window of bounded size on what `state` keeps, so that neither grows with agents or days. How it
is put into words is `prompts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from agentsim.engine.wording import cut
from agentsim.games.society.amounts import Amount
from agentsim.games.society.assembly import Law, Proposal, Standing, VoteCast, newest
from agentsim.games.society.bargains import B, Between, Offer, Promise
from agentsim.games.society.config import Personality
from agentsim.games.society.forum import EVERYONE, Post
from agentsim.games.society.institutions import Membership, Office
from agentsim.games.society.measures import DaySum
from agentsim.games.society.memory import Chronicle, Latest, Recollection
from agentsim.games.society.names import signature
from agentsim.games.society.projects import Project
from agentsim.games.society.rules import Rules
from agentsim.games.society.state import Citizen, State
from agentsim.games.society.terms import RESOURCES, Resource, Structure
from agentsim.games.society.turn import Known
from agentsim.games.society.voting import voters

P = TypeVar("P", Law, Proposal)
MOST_PROJECTS = 20
MOST_NAMED = 20  # of the dormant, and of the dead
MOST_FOUNDED = 20  # offices, and groups
MOST_CANDIDATES = 5


@dataclass(frozen=True)
class World:
    """What all agents see as the tick begins; `tick` counts from 1. `totals` and `pool` are by resource.

    `proposals` are those that close first, `laws` the newest; `more_...` count the rest. `asleep` are the latest to
    fall dormant and what they lacked, `gone` the latest dead. `bonus` is what running projects add to work, and
    `slump` by how many percent shocks make it less. `offers` are the newest to any one. `outcomes`
    are those of votes, `events` the other latest public ones; `yesterday` is what the last whole day came to.
    `offices` and `groups` are the newest; `candidates` have the votes so far of the leading ones, by office; `voters`
    is how many can vote.
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
    offers: tuple[Offer, ...]
    more_offers: int
    voters: int
    offices: tuple[Office, ...] = ()
    candidates: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    groups: tuple[Membership, ...] = ()
    more_groups: int = 0
    outcomes: Latest = field(default_factory=Latest)
    events: Latest = field(default_factory=Latest)
    yesterday: DaySum | None = None


@dataclass(frozen=True, slots=True)
class Own:
    """An agent's own part. `proposals` and `laws` are its own beyond the public ones.

    In a network `posts` are those that it is shown, and `neighbours` the first of whom it has, besides so many more.
    `votes` are its own on open proposals that it is shown; `hours` are those that it has worked today. `note` is
    what it wrote for itself. `offers` are those that it made, or that were made to it alone; `promises` are those
    that it gave or was given. `ballots` are its candidates by office, `groups` those of which it is a member.
    """

    agent: int
    name: str
    personality: Personality
    stock: Mapping[Resource, Amount]
    hours: int
    memory: Recollection
    skills: Mapping[Resource, Amount] = field(default_factory=dict)
    offers: tuple[Offer, ...] = ()
    promises: tuple[Promise, ...] = ()
    note: str = ""
    proposals: tuple[Proposal, ...] = ()
    laws: tuple[Law, ...] = ()
    posts: tuple[Post, ...] = ()
    neighbours: tuple[int, ...] = ()
    more_neighbours: int = 0
    votes: Mapping[int, VoteCast] = field(default_factory=dict)
    ballots: Mapping[int, int] = field(default_factory=dict)
    groups: tuple[Membership, ...] = ()


def known(rules: Rules, world: World, you: Own) -> Known:
    """What an agent is shown, as far as it decides whether an action holds.

    A proposal that is not shown may be open; one that others make in this very turn is not known yet. Of a project one
    hundredth is missing, since others may bring the rest in the same turn. Names are refused by those who bear them.
    """
    shown = {each.id: each for each in (*world.proposals, *you.proposals)}
    latest = max((*shown, *you.votes), default=0) + world.more_proposals
    building = {each.id for each in world.projects}
    groups = {each.id: each for each in (*world.groups, *you.groups)}
    return Known(
        rules=rules,
        agent=you.agent,
        hours_left=rules.hours_per_day - you.hours,
        stock=you.stock,
        names={},
        dead=world.gone,
        posts=max((each.id for each in (*world.posts, *you.posts)), default=0),
        proposals=latest,
        open=range(latest + 1) if world.more_proposals else shown,
        missing=lambda project: int(project in building or world.more_projects > 0),
        day=world.day,
        offer={each.id: each for each in (*world.offers, *you.offers)}.get,
        open_offers=sum(each.by == you.agent for each in you.offers),
        unable=lambda offer: "",
        standing=world.standing,
        for_all=lambda number: number in shown and world.standing.for_all(shown[number]),
        offices={office.id: office for office in world.offices},
        groups=range(1, max(groups) + 1) if world.more_groups else groups,
        group_names={signature(each.name): each.id for each in groups.values()},
        mine=[each.id for each in you.groups],
        pool=world.pool,
    )


def world(state: State, chronicle: Chronicle) -> World:
    """The public view as it is now."""
    config, assembly, projects = state.config, state.assembly, state.projects
    proposals = dict(islice(assembly.open.items(), config.shown_proposals))
    laws = newest(assembly.laws, config.shown_laws)
    to_all = state.bargains.offers.by_agent[0]
    offices, groups = newest(assembly.offices, MOST_FOUNDED), newest(state.groups.all, MOST_FOUNDED)
    return World(
        day=state.day,
        tick=state.tick,
        **state.counts,
        asleep=newest(state.asleep, MOST_NAMED),
        gone=tuple(state.gone[-MOST_NAMED:]),
        totals={resource: state.total(resource) for resource in RESOURCES},
        pool=dict(state.pool),
        posts=() if state.forum.neighbours else state.forum.shown(EVERYONE, state.day),
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
        offers=_latest(state.bargains.offers, 0, config.shown_events),
        more_offers=max(0, len(to_all) - config.shown_events),
        voters=voters(state),
        offices=tuple(replace(each, ballots={}) for each in offices.values()),
        candidates={
            each.id: dict(Counter(each.ballots.values()).most_common(MOST_CANDIDATES)) for each in offices.values()
        },
        groups=tuple(each.shown() for each in groups.values()),
        more_groups=len(state.groups.all) - len(groups),
        outcomes=chronicle.outcomes,
        events=chronicle.events,
        yesterday=state.yesterday,
    )


def own(state: State, citizen: Citizen, world: World, memory: Recollection, posts: tuple[Post, ...] = ()) -> Own:
    """An agent's own part; `posts` are those that it is shown in a network."""
    me, assembly, config, bargains = citizen.number, state.assembly, state.config, state.bargains
    network = state.forum.neighbours.get(me, ())
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
        offers=_latest(bargains.offers, me, config.shown_events),
        promises=tuple(replace(each) for each in _latest(bargains.promises, me, config.shown_events)),
        note=citizen.note,
        proposals=tuple(_proposal(state, assembly.open[number]) for number in more),
        laws=tuple(_cut(assembly.laws[number], "description", config.shown_chars) for number in decreed),
        posts=posts,
        neighbours=tuple(network[:MOST_NAMED]),
        more_neighbours=max(0, len(network) - MOST_NAMED),
        votes={number: assembly.open[number].votes[me] for number in shown if me in assembly.open[number].votes},
        ballots={each.id: each.ballots[me] for each in assembly.offices.values() if me in each.ballots},
        groups=tuple(state.groups.all[number].shown() for number in state.groups.of.get(me, ())[-MOST_FOUNDED:]),
    )


def _latest(between: Between[B], agent: int, most: int) -> tuple[B, ...]:
    """An agent's newest offers or promises."""
    return tuple(between.by_agent[agent].values())[-most:] if agent in between.by_agent else ()


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
