"""Monopoly: the game as the kernel sees it. What happens in one turn is `turn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentsim.engine.event import Event, Everyone, LogEntry, PlayerId
from agentsim.engine.game import Bot, GameConfig, Outcome
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.games.monopoly.bots import BOTS
from agentsim.games.monopoly.building import Built, Lifted, ManageEstate, Mortgaged, Sold
from agentsim.games.monopoly.buying import AuctionBid, AuctionClosed, AuctionOpened, BidMade, BuyOrAuction
from agentsim.games.monopoly.cards import DECKS, Deck
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.debts import Bankrupted, RaiseCash
from agentsim.games.monopoly.endings import GameBegan, GameEnded, Result
from agentsim.games.monopoly.jail import Freed, JailAction, Jailed, StayedInJail
from agentsim.games.monopoly.landing import CardDrawn
from agentsim.games.monopoly.match import CardMoved, DeedMoved, Match, Moved, Paid, Rolled
from agentsim.games.monopoly.panels import panels
from agentsim.games.monopoly.state import Seat, State
from agentsim.games.monopoly.summarizing import SUMMARIZER, Summarize, keeping_minutes, sum_up
from agentsim.games.monopoly.tables import tables
from agentsim.games.monopoly.talk import Narrated, Spoke, Summarized, Thought
from agentsim.games.monopoly.trading import (
    AnswerTrade,
    ProposeTrade,
    React,
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
    TradeRejected,
)
from agentsim.games.monopoly.turn import play_turn

MOST_PLAYERS = 8
REQUESTS: tuple[type[Request[Any]], ...] = (
    JailAction,
    ManageEstate,
    ProposeTrade,
    AnswerTrade,
    React,
    BuyOrAuction,
    AuctionBid,
    RaiseCash,
)
EVENTS: tuple[type[Event], ...] = (
    Rolled,
    Moved,
    CardDrawn,
    CardMoved,
    Jailed,
    Freed,
    StayedInJail,
    DeedMoved,
    AuctionOpened,
    BidMade,
    AuctionClosed,
    Built,
    Sold,
    Mortgaged,
    Lifted,
    Paid,
    Bankrupted,
    TradeProposed,
    TradeDiscarded,
    TradeAccepted,
    TradeRejected,
    GameBegan,
    Spoke,
    Thought,
    Narrated,
    Summarized,
    GameEnded,
)


class Monopoly:
    """Monopoly by the US rules of 2008 and later, with table talk and private thoughts."""

    name: ClassVar[str] = "monopoly"
    title: ClassVar[str] = "Monopoly"
    summary: ClassVar[str] = "two to eight players trade, build and ruin each other, aloud and in private"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = MonopolyConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = (*REQUESTS, Summarize)
    events: ClassVar[tuple[type[Event], ...]] = EVENTS
    bots: ClassVar[Mapping[str, Bot]] = {name: keeping_minutes(policy) for name, policy in BOTS.items()}
    staff: ClassVar[frozenset[str]] = frozenset({SUMMARIZER})

    def admit(self, config: MonopolyConfig, players: Sequence[PlayerId]) -> None:
        if not 2 <= len(players) <= MOST_PLAYERS:
            most = f"2 to {MOST_PLAYERS}"
            raise ScenarioError(f"Monopoly is for {most} players", key="players", valid=most)

    async def play(self, table: Table, config: MonopolyConfig) -> Outcome:
        seats = [Seat(player, table.names.get(player, player), config.start_cash) for player in table.players]
        decks = {
            name: Deck(table.chance.stream(f"deck/{name}").shuffled([card.id for card in cards]))
            for name, cards in DECKS.items()
        }
        state = State(seats, decks, start_cash=config.start_cash)
        match = Match(table, config, state)
        table.watch(state)
        table.tell(GameBegan({seat.id: seat.name for seat in seats}, config.start_cash, config.max_turns), to=Everyone)
        while not state.over and state.turn < config.max_turns:
            await _next_turn(match)
        standings = state.standings(match.fallen)
        by_id = {seat.id: seat for seat in seats}
        results = tuple(
            Result(place.player, by_id[place.player].name, place.rank, *map(int, place.score.values()))
            for place in standings
        )
        table.tell(GameEnded(state.turn, results), to=Everyone)
        reason = "one player is left" if state.over else _played(config.max_turns)
        return Outcome(reason, standings)

    def panels(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
        return panels(log)

    def tables(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return tables(log)


async def _next_turn(match: Match) -> None:
    state = match.state
    state.active = 0 if not state.turn else state.after(state.active)[0]
    state.turn += 1
    state.version += 1
    match.table.round(f"Turn {state.turn}: {match.name(state.active)}")
    while turns := match.talk(state.active).due(state.turn):
        await sum_up(match, *turns)
    await play_turn(match, state.active)


def _played(turns: int) -> str:
    return "one turn was played" if turns == 1 else f"{turns} turns were played"
