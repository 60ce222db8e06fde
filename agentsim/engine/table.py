"""Table: the rules' only door. They ask, they tell, they draw; nothing else.

Who answers, when, and what it costs is the driver's business, which sees waves of requests come out and
sends decisions in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from itertools import chain, islice
from types import coroutine
from typing import Any, Protocol, TypeAlias, TypeVar

from agentsim.engine.chance import Chance
from agentsim.engine.decision import Decision
from agentsim.engine.event import Audience, Event, EveryoneType, LoggedEvent, PlayerId
from agentsim.engine.event_log import EventLog, Heard
from agentsim.engine.memory import M, Transcript, skipped_kinds
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
        self._log = EventLog()
        self._buffers: list[list[LoggedEvent]] = []
        """The events of the current step of `together`: a list for each part that is stepped, the outermost first."""
        self._memories: dict[tuple[PlayerId, Callable[[PlayerId], Any]], tuple[Any, Heard]] = {}

    @property
    def log(self) -> Sequence[LoggedEvent]:
        """Everything told so far, in order; what a step of `together` tells joins when all have stepped."""
        return self._log

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
        told: list[LoggedEvent] = []
        for part, decisions in waiting.items():
            self._buffers.append([])
            try:
                # a coroutine's first send must be None: there is no decision to give it yet
                requests = running[part].send(decisions)  # type: ignore[arg-type] # see the line above
                if not isinstance(requests, tuple):
                    raise RulesBroken("the rules awaited something that is not a request to the table")
                asked[part] = requests
            except StopIteration as stop:
                results[part] = stop.value
            finally:
                told.extend(self._buffers.pop())
        for entry in told:
            self._append(entry)
        return asked

    def tell(self, event: Event, *, to: Audience, by: PlayerId | None = None) -> None:
        """Something happened. The audience is always stated; `by` names the player whose decision did it."""
        if (confidants := event.confidants(self.players)) is not None:
            heard = self.players if isinstance(to, EveryoneType) else to
            if others := [player for player in heard if player not in confidants and not player.startswith("@")]:
                raise RulesBroken(f"{event.kind} is private, and is told to {', '.join(others)}")
        decision = self.latest.get(by) if by is not None else None
        self._append(LoggedEvent(event, to, len(self.rounds) - 1, by, decision))

    def _append(self, entry: LoggedEvent) -> None:
        (self._buffers[-1] if self._buffers else self._log).append(entry)

    def heard(self, player: PlayerId) -> Heard:
        """Return what this player has heard up to now."""
        return self._log.heard(player, chain.from_iterable(self._buffers))

    def concerning(self, player: PlayerId) -> Heard:
        """Return the part of it that the player did, heard with few others, or is concerned with (`Event.concerned`).

        It is found once for all players, so that it costs each what it shows, however much was told to all.
        """
        return self._log.concerning(player, self.players, chain.from_iterable(self._buffers))

    def memory(self, player: PlayerId, make: Callable[[PlayerId], M]) -> M:
        """Return `make(player)` after it has heard, in order, all that the player has heard, and nothing else.

        It is made once for a player and brought up to date at each call, which costs what is new. In `together` it is
        made for that call alone: what others tell there comes later, and may come between.
        """
        skips = skipped_kinds(make)
        if self._buffers:
            memory = make(player)
            for entry in self.heard(player):
                if type(entry.event) not in skips:
                    memory.hear(entry)
            return memory
        memory, before = self._memories.get((player, make)) or (make(player), Heard())
        self._memories[player, make] = memory, self._log.update(memory, player, skips, before)
        return memory

    def lines(self, player: PlayerId) -> tuple[str, ...]:
        """What this player has heard up to now, as lines of a prompt: when, the heading, and its words or fact."""
        return tuple(self.memory(player, self._transcript).lines)

    def _transcript(self, player: PlayerId) -> Transcript:
        return Transcript(self.rounds)

    def round(self, title: str) -> None:
        """Begin the next round; what was told before the first belongs to round 0, the set-up."""
        if self._buffers:
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
