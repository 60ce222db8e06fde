"""Nim: players take turns at taking coins from a heap; the player that takes the last coin wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from agentsim.engine import (
    Bot,
    Choice,
    Decision,
    Event,
    Everyone,
    Game,
    GameConfig,
    LoggedEvent,
    Number,
    Options,
    Outcome,
    PlayerId,
    Prompt,
    Request,
    Stream,
    Table,
    Text,
    WholeNumber,
    ranked,
)
from agentsim.engine.panel import Frame, Panel
from agentsim.errors import ScenarioError

RULES = (
    "Players take turns at taking 1 to 3 coins from a heap. The player who takes the last coin wins.",
    "Always answer with one JSON object and nothing else.",
)


class NimConfig(GameConfig):
    coins: int = Field(default=10, ge=1, le=100)


class Taken(Event, heading="{player} takes {coins}, {left} left", words="remark"):
    player: PlayerId
    coins: int
    left: int
    remark: str


class Move(Decision):
    coins: WholeNumber
    hand: str
    remark: str


class Take(Request[Move]):
    """How many coins do you take?"""

    left: int

    def options(self) -> Options:
        return {"coins": Number(1, min(3, self.left)), "hand": Choice(("left", "right")), "remark": Text(80)}

    def prompt(self) -> Prompt:
        question = 'Answer: {"coins": <number>, "hand": "<left or right>", "remark": "<words>"}'
        return Prompt(rules=RULES, history=(), state=(self.standing(),), question=(question,))

    def standing(self) -> str:
        return f"{self.left} coins are left."

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"left": self.left}

    def fallback(self) -> Move:
        return Move(coins=1, hand="left", remark="")


def randomly(request: Request[Any], rng: Stream) -> Decision:
    assert isinstance(request, Take)
    return Move(coins=rng.pick(range(1, min(3, request.left) + 1)), hand="left", remark="")


class Nim(Game):
    name: ClassVar[str] = "nim"
    title: ClassVar[str] = "Nim"
    summary: ClassVar[str] = "Whoever takes the last coin wins."
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = NimConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = (Take,)
    events: ClassVar[tuple[type[Event], ...]] = (Taken,)
    bots: ClassVar[Mapping[str, Bot]] = {"random": randomly}
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: NimConfig, players: Sequence[PlayerId]) -> None:
        if len(players) < 2:
            raise ScenarioError("needs two players or more", key="players")

    async def play(self, table: Table, config: NimConfig) -> Outcome:
        left, turn = config.coins, 0
        table.round("The game")
        while True:
            player = table.players[turn % len(table.players)]
            move = await table.ask(Take(player=player, left=left))
            left -= move.coins
            table.tell(Taken(player, move.coins, left, move.remark), to=Everyone, by=player)
            if left == 0:
                break
            turn += 1
        won = {each: int(each == player) for each in table.players}
        return Outcome("last_coin", ranked([(each, won[each], {"won": won[each]}) for each in table.players]))

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        return []

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return {}


GAME: Game = Nim()
