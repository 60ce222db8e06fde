"""Logs written by hand and games played by bots, for what is shown and exported. No assertions belong here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from agentsim.engine.event import Audience, Event, Everyone, LoggedEvent, PlayerId
from agentsim.engine.simulate import simulate
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.match import DeedMoved, GameBegan, Moved, Paid, Rolled, Why
from agentsim.games.monopoly.trade import Side, TradeAccepted, TradeProposed, TradeRejected

NAMES = {"A": "Ann", "B": "Bill", "C": "Chidi"}
BEGAN = GameBegan(NAMES, 1500, 100)


@cache
def played(turns: int = 120, bot: str = "random", players: str = "ABCD", seed: int = 1) -> tuple[LoggedEvent, ...]:
    """The log of a game that bots played."""
    return simulate(GAME, {"max_turns": turns}, list(players), bot=bot, seed=seed).log


def heard_by(log: Sequence[LoggedEvent], player: PlayerId) -> list[LoggedEvent]:
    """The part of a log that one player heard, with the decisions of its own alone, as a page for it has it."""
    return [
        told if told.by == player else LoggedEvent(told.event, told.to, told.round, told.by)
        for told in log
        if told.heard_by(player)
    ]


def log_of(*turns: Sequence[Event | tuple[Event, int] | tuple[Event, int, Audience]]) -> list[LoggedEvent]:
    """A log that begins a game of three; an event may come with its decision, and with its audience."""
    told = [LoggedEvent(BEGAN, Everyone, 0)]
    for number, events in enumerate(turns, start=1):
        for entry in events:
            event, decision, to = entry if isinstance(entry, tuple) and len(entry) == 3 else (*_pair(entry), Everyone)
            told.append(LoggedEvent(event, to, number, None, decision))
    return told


def _pair(entry: Event | tuple[Event, int] | tuple[Event, int, Audience]) -> tuple[Event, int | None]:
    return (entry[0], entry[1]) if isinstance(entry, tuple) else (entry, None)


def rolls(player: str, first: int, second: int, to: int, start: int = 0) -> tuple[Event, Event]:
    """A roll and its move."""
    name = NAMES[player]
    return Rolled(player, name, (first, second), "move"), Moved(player, name, start, to, "dice")


def pays(payer: str | None, payee: str | None, amount: int, why: Why, position: int | None = None, **cash: int) -> Paid:
    """A payment; `cash` is what those involved have afterwards."""
    return Paid(payer, payee, amount, why, position, cash, {player: NAMES[player] for player in cash})


def buys(player: str, position: int, price: int, left: int) -> tuple[Event, Event]:
    """A purchase at the printed price."""
    paid = pays(player, None, price, "purchase", position, **{player: left})
    return paid, DeedMoved(position, None, player, False, "purchase", NAMES[player])


def offers(
    number: int, proposer: str, target: str, *sides: Side, pitch: str = "", mortgaged: tuple[int, ...] = ()
) -> Event:
    """A proposal put before the table: what the proposer gives, and what it gets."""
    offer, request = sides
    return TradeProposed(number, proposer, target, NAMES[proposer], NAMES[target], offer, request, pitch, mortgaged)


def answers(number: int, proposer: str, target: str, *, yes: bool) -> Event:
    """Its answer."""
    kind = TradeAccepted if yes else TradeRejected
    return kind(number, proposer, target, NAMES[proposer], NAMES[target])


def side(*properties: int, cash: int = 0, cards: int = 0) -> Side:
    """What one side gives."""
    return Side(properties=properties, cash=cash, jail_cards=cards)
