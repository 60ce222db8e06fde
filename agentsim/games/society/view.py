"""What agents know: a public view shared by all agents of a tick, each agent's own part, and its memory.

An agent remembers events that it caused, heard with few others, or is concerned with (`Table.concerning`), in four
parts: deeds, messages, decisions, and events that befell it. The chronicle of the latest public events is shared by all
agents. Every list in a view has a limit, so that no view grows with the number of agents or days.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic_core import CoreSchema, core_schema

from agentsim.engine import Event, LoggedEvent
from agentsim.engine.codec import adapter, json_fields
from agentsim.engine.event import Heard
from agentsim.engine.memory import Lines
from agentsim.engine.wording import cut
from agentsim.games.society import building, evening, shocks, talk, turn, voting, work
from agentsim.games.society.amounts import Amount
from agentsim.games.society.assembly import RESOURCES, Ballot, Law, Proposal, Resource, RulesInForce, Structure, newest
from agentsim.games.society.config import SHOWN_CHARS, Personality, SocietyConfig
from agentsim.games.society.state import Citizen, Post, Project, State
from agentsim.lazy import dataclass

# -- memory


ALL = "@all"
"""The listener that hears public events only."""

Part: TypeAlias = Literal["deeds", "messages", "decisions", "met"]


_PARTS: Mapping[Part, tuple[type[Event], ...]] = {
    "deeds": (work.Worked, talk.Posted, work.Traded, building.Contributed, talk.Renamed, evening.Idled),
    "messages": (talk.MessageSent,),
    "decisions": (voting.Proposed, voting.Voted, voting.Reasoned, voting.ProposalResolved),
    "met": (
        *(voting.AllocationPaid, voting.DividendPaid, voting.WorkMinimumBroken, shocks.LostToShock),
        *(turn.InvalidAction, evening.FellDormant, evening.AgentWoke),
    ),
}
_PART = {kind: part for part, kinds in _PARTS.items() for kind in kinds}
"""The part of memory of each class of event; the deeds of other agents are in `met` instead."""
_TOLD_TO_ALL = (voting.DividendPaid, voting.WorkMinimumBroken)
"""Events that the chronicle shows in full, and an agent's memory in brief."""
_OUTCOMES = (voting.ProposalResolved, voting.LawRepealed)
_OF_ALL = {
    *(*_OUTCOMES, *_TOLD_TO_ALL, voting.AllocationPaid, shocks.ShockStruck),
    *(building.ProjectBegan, building.ProjectBuilt, building.UpkeepPaid, building.Contributed, work.Traded),
}


@dataclass(frozen=True)
class Told:
    """One event as an agent remembers it.

    `own` says that the agent caused it, `new` that the agent heard it after it was last asked. `other` is the number of
    the other agent, or 0; `about` is the id of the post, or 0 if the event is no post. `line` is the text.
    """

    part: Part
    kind: str
    own: bool
    new: bool
    other: int
    about: int
    line: str


@dataclass(frozen=True)
class Said:
    """The memory of an agent in words; `older` is the number of events that are left out."""

    older: int
    told: tuple[Told, ...]


class Recollection:
    """The memory of an agent at one moment: the latest of the events that it heard, oldest first.

    It is put into words when it is first read, which bots seldom do. Its JSON, equality and hash are of the words.
    """

    __slots__ = ("_agent", "_heard", "_news", "_player", "_said", "_seen", "_wording")

    def __init__(self, player: str, agent: int, heard: Heard, seen: Heard, wording: Wording) -> None:
        """Take the events heard so far (`heard`) and those heard when the agent was last asked (`seen`)."""
        self._player, self._agent, self._heard, self._seen, self._wording = player, agent, heard, seen, wording
        self._said: Said | None = None
        self._news: list[LoggedEvent] | None = None

    @property
    def older(self) -> int:
        """The number of events that are too old to be remembered."""
        return self.said().older

    def told(self) -> tuple[Told, ...]:
        """Return all events in memory, oldest first."""
        return self.said().told

    def said(self) -> Said:
        """Return the memory in words, which is built once."""
        if self._said is None:
            kept = [*islice(filter(_is_kept, reversed(self._heard)), self._wording.most)][::-1]
            first = len(kept) - sum(map(_is_kept, self._heard.since(self._seen)))
            told = tuple(self._of(entry, index >= first) for index, entry in enumerate(kept))
            self._said = Said(max(0, len(self._heard) - self._wording.most), told)
        return self._said

    def news(self) -> list[Told]:
        """Return the events that the agent heard after it was last asked, without its own."""
        return [each for each in self.told() if each.new and not each.own]

    def touched(self, kind: type[Event]) -> Iterator[tuple[int, int]]:
        """Yield (other agent, post or 0) for each new event of this class that the agent did not cause."""
        if self._said is not None:
            yield from ((each.other, each.about) for each in self.news() if each.kind == kind.kind)
            return
        if self._news is None:
            self._news = self._heard.since(self._seen)
        for entry in self._news:
            if type(entry.event) is kind and entry.by != self._player:
                yield self._other(entry), _about(entry)

    def _of(self, entry: LoggedEvent, new: bool) -> Told:
        part, other, wording = _PART[type(entry.event)], self._other(entry), self._wording
        own = entry.by == self._player and part != "met"
        if part == "deeds" and not own:
            part = "met"
        named = {"named": wording.names[other]} if other in wording.names else {}
        post = _about(entry)
        brief = post in wording.posts or isinstance(entry.event, _TOLD_TO_ALL)
        return Told(part, entry.event.kind, own, new, other, post, wording.lines.of(entry, brief=brief, **named))

    def _other(self, entry: LoggedEvent) -> int:
        agent: int = getattr(entry.event, "agent", 0)
        return agent if agent != self._agent else getattr(entry.event, "recipient", 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recollection) and self.said() == other.said()

    def __hash__(self) -> int:
        return hash(self.said())

    @classmethod
    def _restored(cls, given: Any) -> Recollection:
        if isinstance(given, cls):
            return given
        made = cls.__new__(cls)
        made._said = adapter(Said).validate_python(given)
        return made

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda made: json_fields(made.said()))
        return core_schema.no_info_plain_validator_function(cls._restored, serialization=written)


def _is_kept(entry: LoggedEvent) -> bool:
    return type(entry.event) in _PART


def _about(entry: LoggedEvent) -> int:
    return entry.event.post if isinstance(entry.event, talk.Posted) else 0


class Wording(NamedTuple):
    """The way in which events are put into words in one turn.

    `most` is the largest number of events in memory, `names` are the names of agents. `posts` are the ids of posts that
    the same prompt shows in full, so memory shows them in brief.
    """

    lines: Lines
    most: int
    names: Mapping[int, str]
    posts: Container[int] = ()


@dataclass(frozen=True)
class Latest:
    """The lines of the latest events of some kind; `older` is the number of events before them."""

    lines: tuple[str, ...] = ()
    older: int = 0

    def with_line(self, line: str, most: int) -> Latest:
        """Return a copy with one more line, limited to the newest `most`."""
        return Latest((*self.lines, line)[-most:], self.older + (len(self.lines) == most))


class Chronicle:
    """The latest public events without talk and votes, which prompts show elsewhere, and the names of all agents.

    `regrown` is the last growth of the commons, or None.
    """

    def __init__(self, config: SocietyConfig, rounds: Sequence[str]) -> None:
        self.wording = Wording(Lines(rounds, SHOWN_CHARS), 2 * config.shown_events, {})
        self.outcomes = self.events = Latest()
        self.regrown: evening.Regrown | None = None
        self._most = config.shown_events

    def hear(self, entry: LoggedEvent) -> None:
        """Add one event."""
        event, wording = entry.event, self.wording
        if type(event) in _OF_ALL:
            name = "outcomes" if isinstance(event, _OUTCOMES) else "events"
            setattr(self, name, getattr(self, name).with_line(wording.lines.of(entry), self._most))
        elif isinstance(event, evening.Regrown):
            self.regrown = event
        elif isinstance(event, talk.Renamed):
            self.wording = wording._replace(names={**wording.names, event.agent: event.name})


# -- the view


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
    rules_in_force: RulesInForce
    projects: tuple[Project, ...]
    more_projects: int
    running: Mapping[Structure, int]
    paused: int
    bonus: Mapping[Structure, Amount]
    shock_percent: Mapping[Resource, int]
    outcomes: Latest = field(default_factory=Latest)
    events: Latest = field(default_factory=Latest)
    regrown: evening.Regrown | None = None


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
    votes: Mapping[int, Ballot] = field(default_factory=dict)


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
        rules_in_force=assembly.rules_in_force,
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
