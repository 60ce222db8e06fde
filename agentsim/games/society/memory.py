"""Memory: what touched an agent, made of the events that it heard, and of nothing else."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentsim.engine import Event, LogEntry, Table
from agentsim.engine.wording import cut
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.evening import AgentWoke, FellDormant
from agentsim.games.society.laws import AllocationPaid, DividendPaid
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import ProposalResolved, Voted
from agentsim.games.society.work import Traded

_Doing: TypeAlias = Literal["message", "reply", "mention", "gift", "payment", "rejected", "dormant", "woke"]
NoticeKind: TypeAlias = Literal[_Doing, "proposal_passed", "proposal_failed"]
Shown: TypeAlias = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that touched an agent since its last turn.

    `by` is the agent whose doing it was, 0 for the common pool and for its own; `about` a post, proposal or law; `said`
    what the agent is shown of it.
    """

    kind: NoticeKind
    by: int = 0
    about: int = 0
    said: Shown = field(default_factory=dict)


@dataclass(slots=True)
class Memory:
    """What one agent remembers: the newest notices since its last turn, and how many older ones there were."""

    notices: deque[Notice]
    missed: int = 0

    def add(self, notice: Notice) -> None:
        """Take in what touches the agent; the oldest goes where there is no room."""
        self.missed += len(self.notices) == self.notices.maxlen
        self.notices.append(notice)

    def forget(self) -> None:
        """The agent has had its turn: what was new is new no more."""
        self.notices.clear()
        self.missed = 0


@dataclass
class Memories:
    """The memories of all agents, by number. Each event is heard once for all, so that a day is linear in agents.

    `_names`, `_authors` and `_voters` are what public events said of agents, posts and open proposals.
    """

    room: int
    chars: int
    _heard: int = 0
    _memories: dict[int, Memory] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _authors: dict[int, int] = field(default_factory=dict)
    _voters: dict[int, dict[int, None]] = field(default_factory=lambda: defaultdict(dict))

    def of(self, agent: int) -> Memory:
        """One agent's memory."""
        if agent not in self._memories:
            self._memories[agent] = Memory(deque(maxlen=self.room))
        return self._memories[agent]

    def catch_up(self, table: Table) -> None:
        """Hear what was told since this was last done."""
        new = table.log[self._heard :]
        self._heard += len(new)
        for entry in new:
            self.hear(entry)

    def hear(self, entry: LogEntry) -> None:
        """Take in one event: those whom it touches are among those who heard it."""
        if (touched := _TOUCHES.get(type(entry.event))) is not None:
            for agent, notice in touched(self, entry.event):
                self.of(agent).add(notice)

    def _by(self, kind: NoticeKind, agent: int, said: Shown, about: int = 0) -> Notice:
        """What another agent did, called as it was called then."""
        name = {"name": called} if (called := self._names.get(agent)) else {}
        return Notice(kind, agent, about, {"from": f"#{agent}", **name, **said})

    def _said(self, event: Event) -> Iterator[tuple[int, Notice]]:
        match event:
            case Posted():
                self._authors[event.post] = event.agent
                addressed = self._authors.get(event.parent or 0, event.agent)
                said: Shown = {"post": event.post, "text": cut(event.text, self.chars)}
                if addressed != event.agent:
                    yield addressed, self._by("reply", event.agent, said, event.post)
                for agent in event.mentions:
                    if agent != addressed:
                        yield agent, self._by("mention", event.agent, said, event.post)
            case MessageSent():
                yield event.recipient, self._by("message", event.agent, {"text": cut(event.text, self.chars)})
            case Renamed():
                self._names[event.agent] = event.name

    def _done(self, event: Event) -> Iterator[tuple[int, Notice]]:
        match event:
            case Traded() if event.recipient:
                given: Shown = {"resource": event.resource, "amount": event.amount / UNIT}
                yield event.recipient, self._by("gift", event.agent, given)
            case Voted():
                self._voters[event.proposal][event.agent] = None
            case ProposalResolved():
                kind: NoticeKind = "proposal_passed" if event.result == "passed" else "proposal_failed"
                said: Shown = {"proposal": event.proposal, "title": event.title}
                yield event.agent, Notice(kind, 0, event.proposal, said)
                news = self._by(kind, event.agent, said, event.proposal)
                for voter in self._voters.pop(event.proposal, ()):
                    if voter != event.agent:
                        yield voter, news

    def _befallen(self, event: Event) -> Iterator[tuple[int, Notice]]:
        match event:
            case AllocationPaid() | DividendPaid():
                about = event.proposal if isinstance(event, AllocationPaid) else event.law
                for agent, amount in event.paid.items():
                    yield agent, Notice("payment", 0, about, {"resource": event.resource, "amount": amount / UNIT})
            case InvalidAction():
                yield event.agent, Notice("rejected", said={"reason": cut(event.reason, self.chars)})
            case FellDormant():
                yield event.agent, Notice("dormant", said={"reason": f"you lacked {event.missing} for the day"})
            case AgentWoke():
                yield event.agent, Notice("woke", said={"reason": "you hold enough food and energy"})


_TOUCHES: Mapping[type[Event], Callable[[Memories, Event], Iterator[tuple[int, Notice]]]] = {
    **dict.fromkeys((Posted, MessageSent, Renamed), Memories._said),
    **dict.fromkeys((Traded, Voted, ProposalResolved), Memories._done),
    **dict.fromkeys((AllocationPaid, DividendPaid, InvalidAction, FellDormant, AgentWoke), Memories._befallen),
}
