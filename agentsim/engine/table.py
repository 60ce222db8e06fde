"""Table: the rules' only door. They ask, they tell, they draw; nothing else.

Who answers, when, and what it costs is the driver's business, which sees waves of requests come out and
sends decisions in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Coroutine, Generator, Iterable, Mapping, Sequence
from itertools import islice
from types import coroutine
from typing import Any, Protocol, TypeAlias, TypeVar

from agentsim.engine.chance import Chance
from agentsim.engine.decision import Decision
from agentsim.engine.event import Audience, Event, EveryoneType, LogEntry, Past, PlayerId
from agentsim.engine.memory import Entry, Heard, M, Memory, Transcript, Windows, anew, skipped
from agentsim.engine.panel import Progress
from agentsim.engine.request import Request
from agentsim.errors import RulesBroken

T = TypeVar("T")
D = TypeVar("D", bound=Decision)
Requests: TypeAlias = tuple[Request[Any], ...]
Play: TypeAlias = Coroutine[Requests, Sequence[Any], T]
"""What rules are to a driver: it gives out waves of requests and takes their decisions, in order."""


class Checked(Protocol):
    """A game's state that can name its own broken invariants."""

    def check(self) -> Sequence[str]:
        """One line for every invariant that does not hold; empty when all do."""
        ...


@coroutine
def _decisions(requests: Requests) -> Generator[Requests, Sequence[Any], Sequence[Any]]:
    """The one awaitable of the kernel; its `yield` is the only one in the program."""
    return (yield requests)


class Table:
    """Where one game is played.

    `players` are the ids in the order of the scenario; `staff` the configured staff roles, without the `@`
    with which their requests are addressed. `names` are what players are called whose name is not
    their id: that of their prompt file, in any script and with spaces, where the game's config asks for it.
    """

    def __init__(
        self,
        players: Sequence[PlayerId],
        chance: Chance,
        staff: Iterable[str] = (),
        names: Mapping[PlayerId, str] | None = None,
    ) -> None:
        self.players: tuple[PlayerId, ...] = tuple(players)
        self.staff: frozenset[str] = frozenset(staff)
        self.names: Mapping[PlayerId, str] = dict(names or {})
        self.chance = chance
        self.rounds: list[str] = ["Set-up"]
        self.watched: Checked | None = None
        self.progress: Callable[[], Progress] | None = None
        self.latest: dict[PlayerId, int] = {}  # index of each player's latest decision, kept by the driver
        self._sinks = [Sink()]
        self._memories: dict[tuple[PlayerId, Callable[[PlayerId], Any]], _Remembered] = {}

    @property
    def log(self) -> Sequence[LogEntry]:
        """Everything told so far, in order; what a step of `together` tells joins when all have stepped."""
        return self._sinks[0].all

    async def ask(self, request: Request[D]) -> D:
        """One player decides."""
        (decision,) = await self.ask_all((request,))
        return decision

    async def ask_all(self, requests: Iterable[Request[D]]) -> list[D]:
        """Several players decide at the same moment, none seeing the others; decisions in request order.

        Every player at most once. No request at all is no wave: an empty list comes back at once.
        """
        wave = tuple(requests)
        self._admit(wave)
        return list(await _decisions(wave)) if wave else []

    async def together(self, plays: Iterable[Play[T]]) -> list[T]:
        """Sub-procedures advance in lock-step: every step is one wave of all their requests.

        Each hears at once what it tells itself; all others hear it when all have
        stepped. They share no mutable state, and no player is in two of them. If one fails, the others are
        closed and its error goes on.
        """
        running = list(plays)
        part_of: dict[PlayerId, int] = {}
        results: list[Any] = [None] * len(running)
        waiting: dict[int, Sequence[Any] | None] = dict.fromkeys(range(len(running)))
        try:
            while waiting:
                asked = self._step_all(running, waiting, results)
                wave = tuple(request for requests in asked.values() for request in requests)
                self._admit(wave)
                for part, requests in asked.items():
                    for request in requests:
                        if part_of.setdefault(request.player, part) != part:
                            raise RulesBroken(f"asked in two parts of together: {request.player}")
                decisions = iter(await _decisions(wave)) if wave else iter(())
                waiting = {part: list(islice(decisions, len(asked[part]))) for part in asked}
        finally:
            for play in running:
                play.close()
        return results

    def _step_all(
        self, running: list[Play[T]], waiting: dict[int, Sequence[Any] | None], results: list[Any]
    ) -> dict[int, Requests]:
        asked: dict[int, Requests] = {}
        told: list[LogEntry] = []
        for part, decisions in waiting.items():
            self._sinks.append(Sink(self._sinks[-1]))
            try:
                # a coroutine's first send must be None: there is no decision to give it yet
                requests = running[part].send(decisions)  # type: ignore[arg-type] # see the line above
                if not isinstance(requests, tuple):
                    raise RulesBroken("the rules awaited something that is not a request to the table")
                asked[part] = requests
            except StopIteration as stop:
                results[part] = stop.value
            finally:
                told.extend(self._sinks.pop().all)
        for event in told:
            self._sinks[-1].append(event)
        return asked

    def tell(self, event: Event, *, to: Audience, by: PlayerId | None = None) -> None:
        """Something happened. The audience is always stated; `by` names the player whose decision did it."""
        if (confidants := event.confidants(self.players)) is not None:
            heard = self.players if isinstance(to, EveryoneType) else to
            if others := [player for player in heard if player not in confidants and not player.startswith("@")]:
                raise RulesBroken(f"{event.kind} is private, and is told to {', '.join(others)}")
        decision = self.latest.get(by) if by is not None else None
        self._sinks[-1].append(LogEntry(event, to, len(self.rounds) - 1, by, decision))

    def heard(self, player: PlayerId) -> Heard:
        """What this player has heard up to now."""
        return self._heard(player)

    def concerning(self, player: PlayerId) -> Heard:
        """The part of it that the player did itself, heard with few others, or is concerned with (`Event.concerned`).

        It is found once for all players, so that it costs each what it shows, however much was told to all.
        """
        return self._heard(player, self.players)

    def _heard(self, player: PlayerId, of: Sequence[PlayerId] | None = None) -> Heard:
        first, *inner = self._sinks
        parts = first.windows(player, of)
        return Heard((*parts, *(window for sink in inner for window in sink.windows(player, of))) if inner else parts)

    def memory(self, player: PlayerId, make: Callable[[PlayerId], M]) -> M:
        """`make(player)` after it has heard, in order, all that the player has heard, and nothing else.

        It is made once for a player and brought up to date at each call, which costs what is new. In `together` it is
        made anew: what others tell there comes later, and may come between.
        """
        if len(self._sinks) > 1:
            return anew(player, make, self.heard(player))
        if (kept := self._memories.get((player, make))) is None:
            (sink,), skips = self._sinks, skipped(make)
            kept = _Remembered(make(player), skips, sink.public_without(skips), sink.private[player])
            self._memories[player, make] = kept
        memory: M = kept.up_to_date()
        return memory

    def lines(self, player: PlayerId) -> tuple[str, ...]:
        """What this player has heard up to now, as lines of a prompt: when, the heading, and its words or fact."""
        return tuple(self.memory(player, self._transcript).lines)

    def _transcript(self, player: PlayerId) -> Transcript:
        return Transcript(self.rounds)

    def round(self, title: str) -> None:
        """Begin the next round; what was told before the first belongs to round 0, the set-up."""
        if len(self._sinks) > 1:
            raise RulesBroken("a round cannot begin inside together")
        self.rounds.append(title)

    def watch(self, state: Checked, progress: Callable[[], Progress] | None = None) -> None:
        """Have this state's invariants checked after every wave; `progress` says at any moment how far the game is."""
        self.watched, self.progress = state, progress

    @staticmethod
    def _admit(wave: Requests) -> None:
        asked = Counter(request.player for request in wave) if len(wave) > 1 else {}
        if twice := sorted(player for player, times in asked.items() if times > 1):
            raise RulesBroken(f"asked twice in one wave: {', '.join(twice)}")


class _Remembered:
    """A memory, the parts of the log that its player hears, and how much of them it has heard."""

    def __init__(
        self,
        memory: Memory,
        skips: Container[type[Event]],
        public: Sequence[Entry],
        private: Sequence[Entry],
    ) -> None:
        self._memory, self._skips, self._public, self._private = memory, skips, public, private
        self._heard = 0, 0

    def up_to_date(self) -> Any:
        """The memory, after all that there is to hear; costs what is new."""
        (public, private), now = self._heard, (len(self._public), len(self._private))
        if now != self._heard:
            self._heard, news = now, self._public[public:]
            if now[1] > private:
                own = [entry for entry in self._private[private:] if type(entry[1].event) not in self._skips]
                news = sorted([*news, *own], key=lambda entry: entry[0])
            for _, entry in news:
                self._memory.hear(entry)
        return self._memory


class Sink:
    """A log, or the part of it that one sub-procedure of `together` has written and no one outside of it hears yet."""

    def __init__(self, outer: Sink | None = None) -> None:
        self.base: int = 0 if outer is None else outer.base + len(outer.all)
        self.all: list[LogEntry] = []
        self.public: list[Entry] = []
        self.private: defaultdict[PlayerId, list[Entry]] = defaultdict(list)
        """What each player hears, and not all do."""
        self._without: dict[Container[type[Event]], list[Entry]] = {}
        self._concerning: defaultdict[PlayerId, list[Entry]] = defaultdict(list)
        self._indexed = 0  # how many public events are in `_concerning` and in `_past`
        self._past: Past = Past(None if outer is None else outer._past)

    def append(self, told: LogEntry) -> None:
        entry = (self.base + len(self.all), told)
        self.all.append(told)
        if isinstance(told.to, EveryoneType):
            self.public.append(entry)
            for kinds, part in self._without.items():
                if type(told.event) not in kinds:
                    part.append(entry)
        else:
            for player in dict.fromkeys(told.to):
                self.private[player].append(entry)

    def public_without(self, kinds: Container[type[Event]]) -> Sequence[Entry]:
        """What all hear, without events of these kinds; kept, so that to ask again costs nothing."""
        if kinds == frozenset():
            return self.public
        if (part := self._without.get(kinds)) is None:
            part = self._without[kinds] = [entry for entry in self.public if type(entry[1].event) not in kinds]
        return part

    def concerning(self, player: PlayerId, players: Sequence[PlayerId]) -> Sequence[Entry]:
        """What all hear that concerns this player: found once for all players, and from then on as it is told."""
        for entry in self.public[self._indexed :] if self._indexed < len(self.public) else ():
            for each in concerned(entry[1], players, self._past):
                self._concerning[each].append(entry)
        self._indexed = len(self.public)
        return self._concerning[player]

    def windows(self, player: PlayerId, of: Sequence[PlayerId] | None = None) -> Windows:
        """What the player hears of this, public and private; with the players `of` the game, what concerns it alone."""
        public, private = self.public if of is None else self.concerning(player, of), self.private[player]
        return (public, len(public)), (private, len(private))


def concerned(told: LogEntry, players: Sequence[PlayerId], past: Past) -> Mapping[PlayerId, None]:
    """Who did a public event, and whom it concerns, in order; the next event's past has it in."""
    found: dict[PlayerId, None] = {} if told.by is None else {told.by: None}
    for each in told.event.concerned(past):
        if isinstance(each, str):
            found[each] = None
        elif 0 < each <= len(players):
            found[players[each - 1]] = None
    past.add(told.event)
    return found
