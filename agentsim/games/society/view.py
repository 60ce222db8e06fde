"""View: what an agent may know: one public view that a whole tick shares, and each agent's own part.

Everything in them is a window of bounded size on what `state` keeps, so that neither grows with agents or days. How it
is put into words is `prompts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from agentsim.engine.wording import cut
from agentsim.games.society.amounts import Amount
from agentsim.games.society.assembly import Law, Proposal, VoteCast
from agentsim.games.society.citizen import Citizen
from agentsim.games.society.config import Personality
from agentsim.games.society.forum import Post
from agentsim.games.society.memory import Memory, Notice
from agentsim.games.society.rules import Rules
from agentsim.games.society.state import State
from agentsim.games.society.terms import ProposalType, Resource, Structure, Terms

MOST_PROJECTS = 20
MOST_NAMED = 20  # of the dormant, and of the dead


@dataclass(frozen=True, slots=True)
class ProposalView:
    """An open proposal with the votes as the tick began."""

    id: int
    author: int
    name: str
    type: ProposalType
    title: str
    description: str
    terms: Terms
    closes: int
    yes: int
    no: int
    abstain: int


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project under construction."""

    id: int
    what: Structure
    given: Amount
    cost: Amount


@dataclass(frozen=True)
class World:
    """What all agents see as the tick begins; `tick` counts from 1. `totals` and `pool` are by resource.

    `proposals` and `laws` are the newest; `more_...` count the rest. `asleep` are the latest to fall dormant and what
    they lacked, `gone` the latest dead. `bonus` is what running projects add to work.
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
    proposals: tuple[ProposalView, ...]
    more_proposals: int
    laws: tuple[Law, ...]
    more_laws: int
    taxes: Mapping[Resource, int]
    threshold: int
    quorum: int
    work_minimum: int
    projects: tuple[ProjectView, ...]
    more_projects: int
    running: Mapping[Structure, int]
    paused: int
    bonus: Mapping[Structure, Amount]


@dataclass(frozen=True, slots=True)
class Own:
    """An agent's own part. `proposals` and `laws` are its own beyond the public ones.

    `votes` are its own on open proposals that it is shown; `hours` are those that it has worked today.
    """

    agent: int
    name: str
    personality: Personality
    food: Amount
    energy: Amount
    materials: Amount
    hours: int
    notices: tuple[Notice, ...]
    missed: int
    proposals: tuple[ProposalView, ...] = ()
    laws: tuple[Law, ...] = ()
    votes: Mapping[int, VoteCast] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown:
    """What an agent is shown, as far as it decides whether an action holds (`turn.Known`)."""

    rules: Rules
    world: World
    you: Own

    @property
    def agent(self) -> int:
        return self.you.agent

    @property
    def hours_left(self) -> int:
        return self.rules.hours_per_day - self.you.hours

    @property
    def names(self) -> Mapping[str, int]:
        """None: names are refused by those who bear them."""
        return {}

    @property
    def proposals(self) -> tuple[int, ...]:
        """The open ones that it is shown."""
        return tuple(each.id for each in (*self.world.proposals, *self.you.proposals))

    @property
    def latest_post(self) -> int:
        """The newest post, all before which there are; 0 where there is none."""
        return max((each.id for each in self.world.posts), default=0)

    def held(self, resource: Resource) -> int:
        you = self.you
        return {"food": you.food, "energy": you.energy, "materials": you.materials}[resource]

    def is_dead(self, agent: int) -> bool:
        return agent in self.world.gone

    def has_post(self, post: int) -> bool:
        return post <= self.latest_post

    def voting_on(self, proposal: int) -> Literal["open", "closed", "none"]:
        """An older one that is not shown may be open; one that others make in this very turn is not known yet."""
        if proposal > max((*self.proposals, *self.you.votes), default=0):
            return "none"
        return "open" if proposal in self.proposals or self.world.more_proposals else "closed"

    def missing(self, project: int) -> int:
        """A hundredth, where it needs any: others may bring the rest in the same turn."""
        shown = any(each.id == project for each in self.world.projects)
        return int(shown or self.world.more_projects > 0)


def world(state: State) -> World:
    """The public view as it is now."""
    config, assembly = state.config, state.assembly
    shown, laws = assembly.newest_open(config.shown_proposals), assembly.newest_laws(config.shown_laws)
    projects = list(state.projects.building.values())
    threshold, quorum = state.government.voting_rule()
    return World(
        day=state.day,
        tick=state.tick,
        active=state.counts["active"],
        dormant=state.counts["dormant"],
        dead=state.counts["dead"],
        asleep={number: state.asleep[number] for number in list(islice(reversed(state.asleep), MOST_NAMED))[::-1]},
        gone=tuple(state.gone[-MOST_NAMED:]),
        totals={"food": state.total("food"), "energy": state.total("energy"), "materials": state.total("materials")},
        pool=dict(state.pool),
        posts=tuple(_post(post, config.shown_chars) for post in state.forum.recent),
        proposals=tuple(_proposal(state, proposal) for proposal in shown),
        more_proposals=len(assembly.open) - len(shown),
        laws=tuple(_law(law, config.shown_chars) for law in laws),
        more_laws=len(assembly.laws) - len(laws),
        taxes=dict(state.government.taxes()),
        threshold=threshold,
        quorum=quorum,
        work_minimum=max(state.government.minimums.values(), default=0),
        projects=tuple(ProjectView(p.id, p.what, p.given, p.cost) for p in projects[:MOST_PROJECTS]),
        more_projects=max(0, len(projects) - MOST_PROJECTS),
        running=dict(state.projects.running),
        paused=len(state.projects.built) - sum(state.projects.running.values()),
        bonus=dict(state.bonus()),
    )


def own(state: State, citizen: Citizen, world: World, memory: Memory) -> Own:
    """An agent's own part."""
    stock, assembly, config = citizen.stock, state.assembly, state.config
    older = _older(assembly.by_author.get(citizen.number, ()), world.proposals, config.shown_proposals)
    decreed = _older(assembly.laws_by.get(citizen.number, ()), world.laws, config.shown_laws)
    votes = {}
    for number in (*(each.id for each in world.proposals), *older) if citizen.votes else ():
        if (vote := assembly.open[number].votes.get(citizen.number)) is not None:
            votes[number] = vote
    return Own(
        agent=citizen.number,
        name=citizen.name,
        personality=citizen.personality,
        food=stock["food"],
        energy=stock["energy"],
        materials=stock["materials"],
        hours=citizen.worked,
        notices=tuple(memory.notices),
        missed=memory.missed,
        proposals=tuple(_proposal(state, assembly.open[number]) for number in older),
        laws=tuple(_law(assembly.laws[number], config.shown_chars) for number in decreed),
        votes=votes,
    )


def _older(mine: Sequence[int], shown: Sequence[ProposalView | Law], most: int) -> Sequence[int]:
    """An agent's own, as far as all are not shown them already."""
    return [number for number in mine if shown and number < shown[0].id][-most:] if mine else ()


def _post(post: Post, chars: int) -> Post:
    text = cut(post.text, chars)
    return post if text == post.text else replace(post, text=text)


def _law(law: Law, chars: int) -> Law:
    description = cut(law.description, chars)
    return law if description == law.description else replace(law, description=description)


def _proposal(state: State, proposal: Proposal) -> ProposalView:
    return ProposalView(
        id=proposal.id,
        author=proposal.author,
        name=state.citizen(proposal.author).name,
        type=proposal.type,
        title=proposal.title,
        description=cut(proposal.description, state.config.shown_chars),
        terms=proposal.terms,
        closes=proposal.closes,
        yes=proposal.counts["yes"],
        no=proposal.counts["no"],
        abstain=proposal.counts["abstain"],
    )
