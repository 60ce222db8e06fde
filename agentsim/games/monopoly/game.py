"""The game of Monopoly, from top to bottom: setup, turns and standings; then one turn, a landing, and a card.

A turn is jail, the phase before the roll, the roll, the landing and the phase after it; doubles begin again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agentsim.engine.event import Everyone, PlayerId
from agentsim.engine.game import Bot, Game, Outcome
from agentsim.engine.panel import Progress
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.games.monopoly import invariants, panels, replay
from agentsim.games.monopoly.auctions import AuctionBid, AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.board import (
    DECKS,
    RAILROAD_TIMES,
    SPACES,
    UTILITY_DICE_TIMES,
    Card,
    Deck,
    DeckName,
    Space,
    destination,
    ids,
)
from agentsim.games.monopoly.bots import BOTS
from agentsim.games.monopoly.building import (
    BuildingShort,
    Built,
    LiftOnReceipt,
    ManageEstate,
    Mortgaged,
    Sold,
    Unmortgaged,
    able,
)
from agentsim.games.monopoly.buying import BuyOrAuction, RaiseFirst, offer
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.debts import Bankrupted, Debt, RaiseCash, settle
from agentsim.games.monopoly.jail import (
    Freed,
    JailAction,
    Jailed,
    StayedInJail,
    choose_way_out,
    imprison,
    roll_for_freedom,
)
from agentsim.games.monopoly.match import (
    CardDrawn,
    CardMoved,
    DeedMoved,
    GameBegan,
    GameEnded,
    Match,
    Moved,
    Paid,
    Result,
    Rolled,
)
from agentsim.games.monopoly.phase import PhaseAction, act
from agentsim.games.monopoly.state import BANK, Seat, State
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

MOST_DOUBLES = 3


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
    public_scores = True
    facts = replay.FACTS
    overview = staticmethod(panels.overview)
    truths = staticmethod(replay.truths)
    tables = staticmethod(replay.tables)
    invariants = staticmethod(invariants.invariants)
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
        standings = state.standings(match.bankrupt_seats)
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


# -- a turn


async def play_turn(match: Match, number: int) -> None:
    match.proposals.clear()
    for doubles in range(MOST_DOUBLES):
        before = [_wealth(match, other) for other in range(len(match.state.seats))]
        again = await _roll(match, number, doubles)
        await _between(match, number, before)
        if not again:
            return


async def _roll(match: Match, number: int, doubles: int) -> bool:
    """Play one roll with the phases before and after it, and return whether another roll follows."""
    jailed, together = match.seat(number).jailed, match.config.questions == "together"
    if jailed and not together:
        await choose_way_out(match, number)
    await act(match, number, "jail" if jailed and together else "before")
    if jailed and together:
        await choose_way_out(match, number)
    if match.seat(number).jailed:
        if steps := await roll_for_freedom(match, number):
            await _walk(match, number, steps, again=False)
        return False
    dice = match.roll(number, "move")
    double = dice[0] == dice[1]
    if double and doubles == MOST_DOUBLES - 1:
        imprison(match, number, "third doubles")
        return False
    await _walk(match, number, sum(dice), again=double)
    return double and _goes_on(match, number)


async def _between(match: Match, number: int, before: Sequence[tuple[int, int]]) -> None:
    """Let a player just sent to jail act, and then the others: all, or those with new means to build."""
    state, when = match.state, match.config.between_turns
    if when == "never" or state.over:
        return
    seat = match.seat(number)
    if seat.jailed and not seat.failed:
        await act(match, number, "jailed")
    for other in state.after(number):
        if other != number and (when == "after_every_roll" or _can_newly_build(match, other, before[other])):
            await act(match, other, "between")


def _can_newly_build(match: Match, number: int, before: tuple[int, int]) -> bool:
    """Return whether a player has gained a deed, or the price of a building, and may build for what it gained."""
    cash, deeds = _wealth(match, number)
    gained = cash if deeds > before[1] else cash - before[0]
    return gained > 0 and any(SPACES[at].house_cost <= gained for at in able(match.state.estate, "build", number))


def _wealth(match: Match, number: int) -> tuple[int, int]:
    return match.seat(number).cash, match.state.estate.owner.count(number)


def _goes_on(match: Match, number: int) -> bool:
    seat = match.seat(number)
    return not (seat.bankrupt or seat.jailed or match.state.over)


async def _walk(match: Match, number: int, steps: int, *, again: bool) -> None:
    """Move, land, and play the phase after the roll, unless the turn has ended by then."""
    match.advance(number, (match.seat(number).position + steps) % len(SPACES), "dice")
    await land(match, number)
    if _goes_on(match, number):
        await act(match, number, "after", again=again)


# -- a landing


async def land(match: Match, number: int) -> None:
    """Resolve the space on which the player's token stands; this may end in jail or in bankruptcy."""
    space = SPACES[match.seat(number).position]
    match space.kind:
        case "street" | "railroad" | "utility":
            await _deed(match, number, space, lambda: match.state.estate.rent(space.position, _dice(match)))
        case "tax":
            await settle(match, [Debt(number, BANK, space.tax, "tax", space.position)])
        case "chance" | "community_chest":
            await _draw(match, number, space.kind)
        case "go_to_jail":
            imprison(match, number, "space")
        case "go" | "jail" | "free_parking":
            pass


def _dice(match: Match) -> int:
    assert match.state.roll is not None, "a token has been moved by dice"
    return sum(match.state.roll)


async def _deed(match: Match, number: int, space: Space, rent: Callable[[], int]) -> None:
    """Offer or auction an unowned property, or collect the rent of another player's clear one."""
    owner = match.state.estate.owner[space.position]
    if owner == BANK:
        await offer(match, number, space)
    elif owner != number and not match.state.estate.mortgaged[space.position]:
        await settle(match, [Debt(number, owner, rent(), "rent", space.position)])


# -- a card


async def _draw(match: Match, number: int, deck: DeckName) -> None:
    card = match.state.decks[deck].draw()
    if card.effect == "jail_card":
        match.state.give_card(deck, BANK, number)
    match.tell(CardDrawn(*match.who(number), deck, card.id))
    await _follow(match, number, card)
    match.state.decks[deck].resolved()


async def _follow(match: Match, number: int, card: Card) -> None:
    to, estate = destination(card, match.seat(number).position), match.state.estate
    match card.effect:
        case "back" if to is not None:
            match.move(number, to, "card")
            await land(match, number)
        case "advance" | "nearest_railroad" | "nearest_utility" if to is not None:
            match.advance(number, to, "card")
            if card.effect == "nearest_railroad":
                await _deed(match, number, SPACES[to], lambda: RAILROAD_TIMES * estate.rent(to, 0))
            elif card.effect == "nearest_utility":
                # This roll sets the rent alone, and is made only if there is rent to pay (S6).
                await _deed(match, number, SPACES[to], lambda: UTILITY_DICE_TIMES * sum(match.roll(number, "rent")))
            else:
                await land(match, number)
        case "go_to_jail":
            imprison(match, number, "card")
        case "receive":
            match.pay(BANK, number, card.amount, "card")
        case "pay" | "repairs" | "receive_each" | "pay_each":
            await settle(match, _debts(match, number, card))
        case "jail_card":
            pass  # it is with the player already


def _debts(match: Match, number: int, card: Card) -> list[Debt]:
    """Return the debts of a card, fixed when it is drawn: selling buildings does not lower them."""
    others = [other for other in match.state.after(number) if other != number]
    match card.effect:
        case "receive_each":
            return [Debt(other, number, card.amount, "card") for other in others]
        case "pay_each":
            return [Debt(number, other, card.amount, "card") for other in others]
        case "repairs":
            houses, hotels = match.state.estate.buildings(number)
            due = houses * card.amount + hotels * card.per_hotel
            return [Debt(number, BANK, due, "card")] if due else []
    return [Debt(number, BANK, card.amount, "card")]
