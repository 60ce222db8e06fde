"""Replay: a game worked out again from its events alone, up to any moment, and as it stood after every turn.

Only public events are needed, so a log that one player heard gives the same. What is made of it to look at is in
`panels`, and for export in `tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from agentsim.engine.event import Event, LogEntry, PlayerId
from agentsim.games.monopoly.board import JAIL
from agentsim.games.monopoly.building import Built, Lifted, Mortgaged, Sold
from agentsim.games.monopoly.cards import CARDS
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.endings import GameBegan
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.jail import Freed, Jailed
from agentsim.games.monopoly.landing import CardDrawn
from agentsim.games.monopoly.match import CardMoved, DeedMoved, Moved, Paid


@dataclass
class Replay:
    """The game as far as it was told; players stand in it by id, in the order of play, and in the estate by number."""

    names: dict[PlayerId, str]
    cash: dict[PlayerId, int]
    positions: dict[PlayerId, int]
    jailed: set[PlayerId] = field(default_factory=set)
    bankrupt: set[PlayerId] = field(default_factory=set)
    cards: dict[PlayerId, int] = field(default_factory=dict)
    estate: Estate = field(default_factory=Estate)

    @classmethod
    def begin(cls, event: GameBegan) -> Replay:
        """The set-up."""
        ids = list(event.names)
        zeros = dict.fromkeys(ids, 0)
        return cls(dict(event.names), dict.fromkeys(ids, event.cash), zeros, cards=dict(zeros))

    def seat(self, player: PlayerId | None) -> int:
        """The number by which the estate knows a player; None is the bank."""
        return BANK if player is None else list(self.names).index(player)

    def worth(self, player: PlayerId) -> int:
        """Net worth in dollars, as the end of the game counts it; 0 once bankrupt."""
        return 0 if player in self.bankrupt else self.cash[player] + self.estate.worth(self.seat(player))

    def apply(self, event: Event) -> None:
        """Let it happen; what moves nothing on the board is passed over."""
        match event:
            case Paid():
                self.cash.update(event.cash)
            case Moved():
                self.positions[event.player] = event.to
            case Jailed():
                self.positions[event.player] = JAIL
                self.jailed.add(event.player)
            case Freed():
                self.jailed.discard(event.player)
            case CardDrawn():
                self.cards[event.player] += CARDS[event.card].effect == "jail_card"
            case CardMoved():
                self.cards[event.giver] -= 1
                if event.taker is not None:
                    self.cards[event.taker] += 1
            case Bankrupted():
                self.bankrupt.add(event.player)
                self.jailed.discard(event.player)
            case _:
                self._property(event)

    def _property(self, event: Event) -> None:
        match event:
            case DeedMoved():
                self.estate.owner[event.position] = self.seat(event.taker)
                self.estate.mortgaged[event.position] = event.mortgaged
            case Built() | Sold():
                self.estate.level[event.position] = event.after
                self.cash[event.player] = event.cash
            case Mortgaged() | Lifted():
                self.estate.mortgaged[event.position] = isinstance(event, Mortgaged)
                self.cash[event.player] = event.cash
            case _:
                pass


@dataclass(frozen=True)
class Snapshot:
    """The game after a turn (0 is the set-up): whose turn it was, what happened in it, and how all stood then."""

    turn: int
    active: PlayerId | None
    events: tuple[Event, ...]
    cash: dict[PlayerId, int]
    worth: dict[PlayerId, int]
    positions: dict[PlayerId, int]
    jailed: frozenset[PlayerId]
    bankrupt: frozenset[PlayerId]
    cards: dict[PlayerId, int]
    estate: Estate


def began(log: Sequence[LogEntry]) -> GameBegan | None:
    """The event of the beginning, where it is in the log."""
    return next((told.event for told in log if isinstance(told.event, GameBegan)), None)


def snapshots(log: Sequence[LogEntry]) -> list[Snapshot]:
    """One for the set-up and one for every turn that was begun, in order; none before the game has begun."""
    start = began(log)
    return list(_turns(log, Replay.begin(start))) if start else []


def _turns(log: Sequence[LogEntry], game: Replay) -> Iterator[Snapshot]:
    order, active = list(game.names), None
    for turn, told in groupby(log, key=lambda told: told.round):
        events = tuple(entry.event for entry in told)
        if turn:
            active = _next(order, active, game.bankrupt)
        for event in events:
            game.apply(event)
        yield Snapshot(
            turn=turn,
            active=active,
            events=events,
            cash=dict(game.cash),
            worth={player: game.worth(player) for player in order},
            positions=dict(game.positions),
            jailed=frozenset(game.jailed),
            bankrupt=frozenset(game.bankrupt),
            cards=dict(game.cards),
            estate=game.estate.copy(),
        )


def _next(order: Sequence[PlayerId], active: PlayerId | None, bankrupt: set[PlayerId]) -> PlayerId:
    """Whose turn it is: the first seat's, then that of the next who is still in the game."""
    if active is None:
        return order[0]
    start = order.index(active)
    after = [*order[start + 1 :], *order[: start + 1]]
    return next((player for player in after if player not in bankrupt), active)
