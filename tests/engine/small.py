"""Helpers of the kernel's tests: two requests, an event, and games that are one coroutine each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from agentsim.engine import Number, Options, Text
from agentsim.engine.chance import Chance, Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent, Past, PlayerId
from agentsim.engine.game import Bot, Game, GameConfig, Outcome, Standing
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt

T = TypeVar("T")
D = TypeVar("D", bound=Decision)


class Word(Decision):
    text: str


class Amount(Decision):
    amount: int


class Say(Request[Word]):
    """What do you say?"""

    hint: str = "Say something."

    def options(self) -> Options:
        return {"text": Text(100)}

    def prompt(self) -> Prompt:
        return Prompt(rules=(), history=(), state=(), question=(self.hint,))

    def fallback(self) -> Word:
        return Word(text="")


class Bid(Request[Amount]):
    """How much?"""

    most: int = 10

    def options(self) -> Options:
        return {"amount": Number(0, self.most)}

    def prompt(self) -> Prompt:
        return Prompt(rules=(), history=(), state=(f"At most {self.most}.",), question=("How much?",))

    def fallback(self) -> Amount:
        return Amount(amount=0)


class Terms(Request[D]):
    """A request for tests of reading: any value of the right type is legal."""

    def options(self) -> Options:
        return {}


class Spoke(Event, words="text"):
    player: str
    text: str


def policy(request: Request[Any], rng: Stream) -> Decision:
    """Say the player's name, or draw an amount."""
    return Amount(amount=rng.integer(0, request.most)) if isinstance(request, Bid) else Word(text=request.player)


class SmallGame(Game):
    """A game whose rules are one coroutine function; it ends in a draw between all players."""

    name: ClassVar[str] = "small"
    title: ClassVar[str] = "Small"
    summary: ClassVar[str] = "for tests"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = GameConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = (Say, Bid)
    events: ClassVar[tuple[type[Event], ...]] = (Spoke,)
    bots: ClassVar[Mapping[str, Bot]] = {"plain": policy}
    staff: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, rules: Callable[[Table], Awaitable[None]]) -> None:
        self._rules = rules

    def admit(self, config: Any, players: Sequence[PlayerId]) -> None:
        return None

    async def play(self, table: Table, config: Any) -> Outcome:
        await self._rules(table)
        return Outcome("played", tuple(Standing(player, 1) for player in table.players))

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        return []

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return {}


def a_table(players: Sequence[str] = ("A", "B", "C", "D")) -> Table:
    return Table(players, Chance(1))


def run(
    rules: Coroutine[Any, Any, T], answer: Callable[[Request[Any]], Decision] = lambda request: Word(text="ok")
) -> tuple[list[tuple[Request[Any], ...]], T]:
    """Drive a coroutine without a loop; return its waves and its result."""
    waves: list[tuple[Request[Any], ...]] = []
    decisions: Any = None
    while True:
        try:
            wave = rules.send(decisions)
        except StopIteration as stop:
            result: T = stop.value
            return waves, result
        waves.append(wave)
        decisions = [answer(request) for request in wave]


def asked(waves: Sequence[tuple[Request[Any], ...]]) -> list[str]:
    """Return the players of each wave: `["AB", "C"]`."""
    return ["".join(request.player for request in wave) for wave in waves]


def done(events: Sequence[Event]) -> list[tuple[str, str, str, int, float | None]]:
    """Return the interactions of these events, in order, each with the events before it as its past."""
    past = Past()
    found: list[tuple[str, str, str, int, float | None]] = []
    for event in events:
        found += [(each.who, each.whom, each.action, each.sign, each.amount) for each in event.interactions(past)]
        past.add(event)
    return found
