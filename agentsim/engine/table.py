"""Table: the rules' only interface. They ask, they tell, they draw; nothing else.

The driver (`engine.play.GamePlay`) gets waves of requests and sends decisions back; who answers, when, and at which
cost is not the rules' business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Generator, Iterable, Mapping, Sequence
from itertools import chain, islice
from types import coroutine
from typing import Any, Protocol, TypeAlias, TypeVar

from agentsim.engine.chance import Chance
from agentsim.engine.decision import Decision
from agentsim.engine.event import (
    Audience,
    Event,
    EventLog,
    EveryoneType,
    Heard,
    LoggedEvent,
    M,
    PlayerId,
    skipped_kinds,
)
from agentsim.engine.memory import Transcript
from agentsim.engine.panel import Progress
from agentsim.engine.request import Request
from agentsim.errors import RulesBroken

T = TypeVar("T")
D = TypeVar("D", bound=Decision)
Requests: TypeAlias = tuple[Request[Any], ...]
RulesCoroutine: TypeAlias = Coroutine[Requests, Sequence[Any], T]
"""The rules as a driver sees them: a coroutine that yields waves of requests and takes their decisions, in order."""


class Checked(Protocol):
    """A game's state that can report its broken invariants."""

    def check(self) -> Sequence[str]:
        """Return one line for every invariant that does not hold."""
        ...


@coroutine
def _decisions(requests: Requests) -> Generator[Requests, Sequence[Any], Sequence[Any]]:
    """Yield a wave to the driver: the only awaitable of the kernel."""
    return (yield requests)


class Table:
    """The table at which one game is played.

    `players` are the ids in the order of the scenario; `staff` are the configured staff roles, without the `@` of their
    requests. `names` are the names of players that are not called by their id, but by their prompt file, in any script
    and with spaces, if the game's config asks for it.
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
        self.latest: dict[PlayerId, int] = {}  # index of each player's latest decision, set by the driver
        self.events: Collection[type[Event]] | None = None
        """The events that may be told, or None for any."""
        self.requests: Collection[type[Request[Any]]] | None = None
        """The requests that may be made, or None for any."""
        self._asked: set[type[Request[Any]]] = set()
        self._log = EventLog()
        self._buffers: list[list[LoggedEvent]] = []
        """The events of the current step of `together`: a list for each part that is stepped, the outermost first."""
        self._memories: dict[tuple[PlayerId, Callable[[PlayerId], Any]], tuple[Any, Heard]] = {}

    @property
    def log(self) -> Sequence[LoggedEvent]:
        """All events told so far, in order; those of a step of `together` are added when all parts have stepped."""
        return self._log

    async def ask(self, request: Request[D]) -> D:
        """Return one player's decision."""
        (decision,) = await self.ask_all((request,))
        return decision

    async def ask_all(self, requests: Iterable[Request[D]]) -> list[D]:
        """Return the decisions, in request order, of several players that decide at once without seeing the others.

        Each player may be asked once. Without requests there is no wave: an empty list is returned at once.
        """
        wave = tuple(requests)
        self._admit(wave)
        return list(await _decisions(wave)) if wave else []

    async def together(self, plays: Iterable[RulesCoroutine[T]]) -> list[T]:
        """Run sub-procedures in lockstep, and return their results: every step is one wave of all their requests.

        Each part hears its own events at once; the others hear them when all have stepped. Parts must not share mutable
        state, and no player may be in two of them. If one raises, the others are closed and the error propagates.
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
        self, running: list[RulesCoroutine[T]], waiting: dict[int, Sequence[Any] | None], results: list[Any]
    ) -> dict[int, Requests]:
        asked: dict[int, Requests] = {}
        told: list[LoggedEvent] = []
        for part, decisions in waiting.items():
            self._buffers.append([])
            try:
                # a coroutine's first send must be None: there is no decision yet
                requests = running[part].send(decisions)  # type: ignore[arg-type] # see the line above
                if not isinstance(requests, tuple):
                    raise RulesBroken("the rules awaited something that is not a request to the table")
                asked[part] = requests
            except StopIteration as stop:
                results[part] = stop.value
            finally:
                told.extend(self._buffers.pop())
        for logged in told:
            self._append(logged)
        return asked

    def tell(self, event: Event, *, to: Audience, by: PlayerId | None = None) -> None:
        """Tell an event to its audience; `by` names the player whose decision led to it.

        Raises `RulesBroken` if a private event is told to others than its `confidants`, or if the game does not declare
        the event.
        """
        if self.events is not None and type(event) not in self.events:
            raise RulesBroken(f"{type(event).__name__} is told, and is not in the game's `events`")
        if (confidants := event.confidants(self.players)) is not None:
            heard = self.players if isinstance(to, EveryoneType) else to
            if others := [player for player in heard if player not in confidants and not player.startswith("@")]:
                raise RulesBroken(f"{event.kind} is private, and is told to {', '.join(others)}")
        decision = self.latest.get(by) if by is not None else None
        self._append(LoggedEvent(event, to, len(self.rounds) - 1, by, decision))

    def _append(self, logged: LoggedEvent) -> None:
        (self._buffers[-1] if self._buffers else self._log).append(logged)

    def heard(self, player: PlayerId) -> Heard:
        """Return the events that this player has heard up to now."""
        return self._log.heard(player, chain.from_iterable(self._buffers))

    def concerning(self, player: PlayerId) -> Heard:
        """Return the events of `heard` that the player did, heard in private, or is concerned by (`Event.concerned`).

        They are found once for all players, so that the cost is that of the result, even after many public events.
        """
        return self._log.concerning(player, self.players, chain.from_iterable(self._buffers))

    def memory(self, player: PlayerId, make: Callable[[PlayerId], M], most: int | None = None) -> M:
        """Return `make(player)` after it has heard, in order, exactly the events that the player has heard.

        It is made once per player and updated at each call, at the cost of the new events. With `most`, it has heard
        those of the first `most` events of the log, and is made anew if it has heard more. In `together` it is made for
        that call alone: events that others tell there are inserted later.
        """
        skips = skipped_kinds(make)
        if self._buffers:
            assert most is None, "the events of a step are not in the log yet"
            memory, now, before = make(player), self.heard(player), Heard()
        else:
            now = self._log.heard_until(player, skips, most)
            memory, before = self._memories.get((player, make)) or (make(player), Heard())
            if len(before) > len(now):
                memory, before = make(player), Heard()
            self._memories[player, make] = memory, now
        for logged in now.since(before):
            if type(logged.event) not in skips:
                memory.hear(logged)
        return memory

    def lines(self, player: PlayerId) -> tuple[str, ...]:
        """Return the events that this player has heard as lines of a prompt: round, heading, and words or fact."""
        return tuple(self.memory(player, self._transcript).lines)

    def _transcript(self, player: PlayerId) -> Transcript:
        return Transcript(self.rounds)

    def round(self, title: str) -> None:
        """Begin the next round; events before the first belong to round 0, the setup."""
        if self._buffers:
            raise RulesBroken("a round cannot begin inside together")
        self.rounds.append(title)

    def watch(self, state: Checked, progress: Callable[[], Progress] | None = None) -> None:
        """Check this state's invariants after every wave; `progress` returns the game's progress at any moment."""
        self.watched, self.progress = state, progress

    def _admit(self, wave: Requests) -> None:
        asked = Counter(request.player for request in wave) if len(wave) > 1 else {}
        if twice := sorted(player for player, times in asked.items() if times > 1):
            raise RulesBroken(f"asked twice in one wave: {', '.join(twice)}")
        for request in wave:
            if (kind := type(request)) not in self._asked:
                if self.requests is not None and kind not in self.requests:
                    raise RulesBroken(f"{kind.__name__} is asked, and is not in the game's `requests`")
                request.fallback()  # at its first question, not only when a reply cannot be used
                self._asked.add(kind)
