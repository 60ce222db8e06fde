"""The memory of one agent, and the chronicle of the latest public events.

An agent remembers events that it caused, heard with few others, or is concerned with (`Table.concerning`), in four
parts: deeds, messages, decisions, and events that befell it. The chronicle is shared by all agents.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic_core import CoreSchema, core_schema

from agentsim.engine import Event, LoggedEvent
from agentsim.engine.codec import adapter, values
from agentsim.engine.event import Heard
from agentsim.engine.memory import Lines
from agentsim.games.society import building, evening, laws, shocks, talk, turn, voting, work
from agentsim.games.society.config import SocietyConfig

ALL = "@all"
"""The listener that hears public events only."""

Part: TypeAlias = Literal["deeds", "messages", "decisions", "met"]


_PARTS: Mapping[Part, tuple[type[Event], ...]] = {
    "deeds": (work.Worked, talk.Posted, work.Traded, building.Contributed, talk.Renamed, evening.Idled),
    "messages": (talk.MessageSent,),
    "decisions": (voting.Proposed, voting.Voted, voting.Reasoned, voting.ProposalResolved),
    "met": (
        *(laws.AllocationPaid, laws.DividendPaid, laws.WorkMinimumBroken, shocks.LostToShock),
        *(turn.InvalidAction, evening.FellDormant, evening.AgentWoke),
    ),
}
_PART = {kind: part for part, kinds in _PARTS.items() for kind in kinds}
"""The part of memory of each class of event; the deeds of other agents are in `met` instead."""
_TOLD_TO_ALL = (laws.DividendPaid, laws.WorkMinimumBroken)
"""Events that the chronicle shows in full, and an agent's memory in brief."""
_OUTCOMES = (voting.ProposalResolved, laws.LawRepealed)
_OF_ALL = {
    *(*_OUTCOMES, *_TOLD_TO_ALL, laws.AllocationPaid, shocks.ShockStruck),
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
        written = core_schema.plain_serializer_function_ser_schema(lambda made: values(made.said()))
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
    """The latest public events without talk and votes, which prompts show elsewhere, and the names of all agents."""

    def __init__(self, config: SocietyConfig, rounds: Sequence[str]) -> None:
        self.wording = Wording(Lines(rounds, config.shown_chars), 2 * config.shown_events, {})
        self.outcomes = self.events = Latest()
        self._most = config.shown_events

    def hear(self, entry: LoggedEvent) -> None:
        """Add one event."""
        event, wording = entry.event, self.wording
        if type(event) in _OF_ALL:
            name = "outcomes" if isinstance(event, _OUTCOMES) else "events"
            setattr(self, name, getattr(self, name).with_line(wording.lines.of(entry), self._most))
        elif isinstance(event, talk.Renamed):
            self.wording = wording._replace(names={**wording.names, event.agent: event.name})
