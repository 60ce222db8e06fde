"""Memory: what an agent remembers of what it heard: its deeds, its messages, its part in decisions, what it met.

That is what it did, heard with few others, or is concerned with (`Table.concerning`). What came of the society for all
to hear is the `Chronicle`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic_core import CoreSchema, core_schema

from agentsim.engine import Event, LoggedEvent
from agentsim.engine.codec import adapter, values
from agentsim.engine.event_log import Heard
from agentsim.engine.memory import Lines
from agentsim.games.society import building, evening, laws, shocks, talk, turn, voting, work
from agentsim.games.society.config import SocietyConfig

ALL = "@all"
"""Who hears what all hear, and nothing else."""

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
"""Where an event stands; what another did is met."""
_TOLD_TO_ALL = (laws.DividendPaid, laws.WorkMinimumBroken)
"""What all are told in full, and the agent's own line names."""
_OUTCOMES = (voting.ProposalResolved, laws.LawRepealed)
_OF_ALL = {
    *(*_OUTCOMES, *_TOLD_TO_ALL, laws.AllocationPaid, shocks.ShockStruck),
    *(building.ProjectBegan, building.ProjectBuilt, building.UpkeepPaid, building.Contributed, work.Traded),
}


@dataclass(frozen=True)
class Told:
    """One event as an agent remembers it: `own` is what it did, `new` what it heard since it was last asked.

    `other` is the agent on the other side; what it is called stands in the `line`. `about` is the post that it is.
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
    """What an agent remembers, in words, after so many `older` events."""

    older: int
    told: tuple[Told, ...]


class Recollection:
    """What an agent remembers at one moment: a window on what it heard, oldest first.

    It is looked at and put into words when it is read, which bots seldom do. As JSON, and in comparisons, it is what it
    says.
    """

    __slots__ = ("_agent", "_heard", "_news", "_player", "_said", "_seen", "_wording")

    def __init__(self, player: str, agent: int, heard: Heard, seen: Heard, wording: Wording) -> None:
        """`seen` is what the agent had heard when it was last asked."""
        self._player, self._agent, self._heard, self._seen, self._wording = player, agent, heard, seen, wording
        self._said: Said | None = None
        self._news: list[LoggedEvent] | None = None

    @property
    def older(self) -> int:
        """How many events are too old to be remembered."""
        return self.said().older

    def told(self) -> tuple[Told, ...]:
        """All that is remembered."""
        return self.said().told

    def said(self) -> Said:
        """The same in words."""
        if self._said is None:
            kept = [*islice(filter(_is_kept, reversed(self._heard)), self._wording.most)][::-1]
            first = len(kept) - sum(map(_is_kept, self._heard.since(self._seen)))
            told = tuple(self._of(entry, index >= first) for index, entry in enumerate(kept))
            self._said = Said(max(0, len(self._heard) - self._wording.most), told)
        return self._said

    def news(self) -> list[Told]:
        """What was told since the agent was last asked, beside its own deeds."""
        return [each for each in self.told() if each.new and not each.own]

    def touched(self, kind: type[Event]) -> Iterator[tuple[int, int]]:
        """By whom events of this kind, which are news, touched the agent, and what they are about."""
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
    """How events are put into words in one turn: so many at `most`, with what all agents are called.

    `posts` are those that stand in the same prompt in full.
    """

    lines: Lines
    most: int
    names: Mapping[int, str]
    posts: Container[int] = ()


@dataclass(frozen=True)
class Latest:
    """Lines of the latest events of some kind, after so many older ones."""

    lines: tuple[str, ...] = ()
    older: int = 0

    def with_line(self, line: str, most: int) -> Latest:
        """The same with one more, of which the newest `most` are kept."""
        return Latest((*self.lines, line)[-most:], self.older + (len(self.lines) == most))


class Chronicle:
    """What the latest public events were, but for talk and votes, which stand in their own places; and all names."""

    def __init__(self, config: SocietyConfig, rounds: Sequence[str]) -> None:
        self.wording = Wording(Lines(rounds, config.shown_chars), 2 * config.shown_events, {})
        self.outcomes = self.events = Latest()
        self._most = config.shown_events

    def hear(self, entry: LoggedEvent) -> None:
        """Take in one event."""
        event, wording = entry.event, self.wording
        if type(event) in _OF_ALL:
            name = "outcomes" if isinstance(event, _OUTCOMES) else "events"
            setattr(self, name, getattr(self, name).with_line(wording.lines.of(entry), self._most))
        elif isinstance(event, talk.Renamed):
            self.wording = wording._replace(names={**wording.names, event.agent: event.name})
