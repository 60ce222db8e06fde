"""The game of Monopoly for the engine: setup, turns and standings. `turn` plays a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentsim.engine.event import Everyone, PlayerId
from agentsim.engine.game import Bot, Game, Outcome
from agentsim.engine.panel import Progress
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.games.monopoly import laws, panels, replay
from agentsim.games.monopoly.auctions import AuctionBid, AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.board import DECKS, Deck, ids
from agentsim.games.monopoly.bots import BOTS
from agentsim.games.monopoly.building import (
    BuildingShort,
    Built,
    LiftOnReceipt,
    ManageEstate,
    Mortgaged,
    Sold,
    Unmortgaged,
)
from agentsim.games.monopoly.buying import BuyOrAuction, RaiseFirst
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.debts import Bankrupted, RaiseCash
from agentsim.games.monopoly.jail import Freed, JailAction, Jailed, StayedInJail
from agentsim.games.monopoly.match import CardMoved, DeedMoved, Match, Moved, Paid, Rolled
from agentsim.games.monopoly.phase import PhaseAction
from agentsim.games.monopoly.state import Seat, State
from agentsim.games.monopoly.summarizing import SUMMARIZER, Summarize, keeping_minutes, take_minutes
from agentsim.games.monopoly.talk import Narrated, Spoke, Summarized, Thought
from agentsim.games.monopoly.trade import (
    AnswerTrade,
    ProposeTrade,
    React,
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
    TradeRejected,
)
from agentsim.games.monopoly.turn import CardDrawn, GameBegan, GameEnded, Result, play_turn

REQUESTS: tuple[type[Request[Any]], ...] = (
    *(JailAction, PhaseAction, ManageEstate, ProposeTrade, AnswerTrade, React, BuyOrAuction, AuctionBid, RaiseCash),
    *(RaiseFirst, LiftOnReceipt),
)


class Monopoly(Game):
    """Monopoly by the US rules of 2008 and later, with table talk and private thoughts."""

    name = "monopoly"
    title = "Monopoly"
    summary = "two to eight players trade, build and ruin each other, aloud and in private"
    rules_version = 2
    config = MonopolyConfig
    announcements = "restated"
    requests = (*REQUESTS, Summarize)
    events = (
        Rolled,
        Moved,
        Paid,
        DeedMoved,
        CardMoved,
        Bankrupted,
        Jailed,
        Freed,
        StayedInJail,
        CardDrawn,
        GameBegan,
        GameEnded,
        Built,
        Sold,
        Mortgaged,
        Unmortgaged,
        BidMade,
        AuctionOpened,
        AuctionClosed,
        BuildingShort,
        Spoke,
        Thought,
        Narrated,
        Summarized,
        TradeProposed,
        TradeAccepted,
        TradeRejected,
        TradeDiscarded,
    )
    bots: ClassVar[Mapping[str, Bot]] = {name: keeping_minutes(policy) for name, policy in BOTS.items()}
    typical = ("shark", "professor", "hustler", "turtle")
    staff = frozenset({SUMMARIZER})
    seats = (2, 8)
    course = staticmethod(panels.course)
    tables = staticmethod(replay.tables)
    laws = staticmethod(laws.laws)
    panels = staticmethod(panels.panels)

    def admit(self, config: MonopolyConfig, players: Sequence[PlayerId]) -> None:
        super().admit(config, players)
        for player in config.personalities:
            if player not in players:
                problem = f"there is no player {player[:80]!r}"
                raise ScenarioError(problem, key="game_config.personalities", valid=", ".join(players))

    async def play(self, table: Table, config: MonopolyConfig) -> Outcome:
        names = {player: table.names.get(player, player) for player in table.players}
        decks = {name: Deck(table.chance.stream(f"deck/{name}").shuffled(ids(name))) for name in DECKS}
        known = config.personalities
        seats = [
            Seat(player, name, config.start_cash, personality=known.get(player, "")) for player, name in names.items()
        ]
        state = State(seats, decks, start_cash=config.start_cash)
        match = Match(table, config, state)
        table.watch(state, lambda: _progress(state, config.max_turns))
        table.tell(GameBegan(names, config.start_cash, config.max_turns), to=Everyone)
        while not state.over and state.turn < config.max_turns:
            state.begin_turn()
            table.round(f"Turn {state.turn}: {match.name(state.active)}")
            await take_minutes(match)
            await play_turn(match, state.active)
        standings = state.standings(match.fallen)
        results = (
            Result(each.player, names[each.player], each.rank or 0, *map(int, each.score.values()))
            for each in standings
        )
        table.tell(GameEnded(state.turn, tuple(results)), to=Everyone)
        played = "one turn was" if config.max_turns == 1 else f"{config.max_turns} turns were"
        return Outcome("one player is left" if state.over else f"{played} played", standings)


def _progress(state: State, turns: int) -> Progress:
    seats = sorted(range(len(state.seats)), key=state.worth, reverse=True)
    rows = (
        (seat.id, "bankrupt" if seat.bankrupt else f"${seat.cash:,} and deeds for ${state.worth(n) - seat.cash:,}", n)
        for n, seat in ((n, state.seats[n]) for n in seats)
    )
    return Progress(
        "turn", state.turn, turns, tuple((who, words, not state.seats[n].bankrupt) for who, words, n in rows)
    )
