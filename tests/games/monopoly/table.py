"""A table to try Monopoly's rules at: a position in one line a player, scripted dice, cards and answers.

A player is written in parts: `@24` where the token stands, `$120` its cash, `jail` or `jail:2` (two rolls failed),
`out`, `chance` or `chest` for a card out of jail; a deed is `16`, mortgaged `16m`, with houses `16:3`, a hotel `16:H`.
The bank has what is left of it. A position that breaks an invariant is refused.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import pytest

from agentsim.engine.chance import Chance
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.auctions import Bid
from agentsim.games.monopoly.board import DECKS, HOTEL, HOTELS, HOUSES, JAIL, JAIL_CARDS, START_CASH, Deck, DeckName
from agentsim.games.monopoly.building import Funds, LiftedOnReceipt, Managed, ManageEstate, carry_out
from agentsim.games.monopoly.buying import Bought, Funded, auction
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.debts import Debt, RaiseCash, settle
from agentsim.games.monopoly.game import land, play_turn
from agentsim.games.monopoly.jail import JailChoice
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.phase import PhaseChoice
from agentsim.games.monopoly.question import Reacted
from agentsim.games.monopoly.state import BANK, Estate, Seat, State
from agentsim.games.monopoly.trade import Answered, Proposed, Side, deal
from tests.games.monopoly.answers import ACCEPT, DECLINE, DONE, NO_TRADE, NOTHING, REJECT, ROLL, bid, manage, proposal

E = TypeVar("E", bound=Event)
R = TypeVar("R", bound=Request[Any])
Dice: TypeAlias = tuple[int, int]
Script: TypeAlias = Mapping[str, Sequence[Decision]]

_PASSIVE: dict[type[Decision], Decision] = {
    Bought: DECLINE,
    Bid: bid(0),
    Proposed: NO_TRADE,
    Answered: REJECT,
    Reacted: Reacted(),
    JailChoice: ROLL,
    Managed: NOTHING,
    PhaseChoice: DONE,
    Funded: Funded(action=Funds()),
    LiftedOnReceipt: LiftedOnReceipt(action=()),
}
DECK_NAMES: dict[str, DeckName] = {"chance": "chance", "chest": "community_chest"}


SEPARATE: dict[str, Any] = {
    "questions": "separate",
    "raise_first": False,
    "between_turns": "never",
    "house_shortage": "seat_order",
    "lift_on_receipt": False,
}
"""The settings of a game with a question for each thing, and none between turns."""
SEPARATE_TOML = "".join(f"{name} = {json.dumps(value)}\n" for name, value in SEPARATE.items())
"""Their lines in a `[game_config]`."""


class Game:
    """A game from a given position; seats A, B, C, D unless others are named. What happened is asked of it.

    A question for each thing (`SEPARATE`) makes scripts short; what is asked beyond that says `together=True`.
    """

    def __init__(
        self,
        players: str = "ABCD",
        *,
        chance: str = "",
        chest: str = "",
        config: Any = None,
        together: Any = False,
        **hands: str,
    ) -> None:
        self.players = players
        state = State([Seat(player, player) for player in players], {})
        for number, player in enumerate(players):
            _deal_hand(state, number, hands.pop(player, ""))
        assert not hands, f"nobody sits at {', '.join(hands)}"
        for word, tops in (("chance", chance), ("chest", chest)):
            state.decks[DECK_NAMES[word]] = _stacked(state, DECK_NAMES[word], tops.split())
        state.issued = sum(seat.cash for seat in state.seats) - START_CASH * len(players)
        state.turn = 1
        assert not state.check(), f"no such position: {state.check()}"
        self.state = state
        self.asked: list[Request[Any]] = []
        self.table = Table(tuple(players), Chance(1))
        self.table.round("Turn 1")
        values = {**({} if together else SEPARATE), **(config or {})}
        self.match = Match(self.table, MonopolyConfig.model_validate(values), state)
        self._before = self.cash

    # -- what is done

    def turn(self, *dice: Dice, player: str = "A", **says: Sequence[Decision]) -> Game:
        """A whole turn, with exactly these throws."""
        number = self._seat(player)
        self.state.active = number
        return self._run(play_turn(self.match, number), dice, says)

    def land(
        self, position: int, *dice: Dice, player: str = "A", roll: Dice = (1, 2), **says: Sequence[Decision]
    ) -> Game:
        """The token is put there, moved by `roll`, and the space resolved; `dice` are thrown for rents."""
        self.state.roll = roll
        self.state.put(self._seat(player), position)
        return self._run(land(self.match, self._seat(player)), dice, says)

    def owe(self, debtor: str, creditor: str, amount: int, **says: Sequence[Decision]) -> Game:
        """A debt falls due; `bank` may be the creditor."""
        to_bank = creditor == "bank"
        debt = Debt(self._seat(debtor), BANK if to_bank else self._seat(creditor), amount, "tax" if to_bank else "rent")
        return self._run(settle(self.match, [debt]), (), says)

    def auction(self, position: int, *, opener: str = "A", **says: Sequence[Decision]) -> Game:
        """A deed is auctioned, the bidders asked from the left of the opener."""
        return self._run(auction(self.match, position, opener=self._seat(opener)), (), says)

    def trade(self, target: str, gives: Side, wants: Side, answer: Answered = ACCEPT, proposer: str = "A") -> Game:
        """A trade is proposed, and answered where it is one."""
        offered = deal(self.match, self._seat(proposer), proposal(target, gives, wants))
        return self._run(offered, (), {target: [answer]}, strict=False)

    def does(self, player: str = "A", /, **changes: Iterable[int]) -> Game:
        """The player sees to its estate, as `bundle`; `IllegalDecision` where it may not."""

        async def manages() -> None:
            number = self._seat(player)
            decision = await self.match.ask(number, ManageEstate, when="before")
            carry_out(self.match, number, decision.action)

        return self._run(manages(), (), {player: [manage(**changes)]})

    # -- what has come of it

    @property
    def cash(self) -> dict[str, int]:
        """Everybody's dollars."""
        return {seat.id: seat.cash for seat in self.state.seats}

    @property
    def gains(self) -> dict[str, int]:
        """Whose cash has changed since the position was set up, and by how much."""
        return {
            player: cash - self._before[player] for player, cash in self.cash.items() if cash != self._before[player]
        }

    def at(self, player: str = "A") -> int:
        """Where its token stands."""
        return self[player].position

    def owner(self, position: int) -> str:
        """Who holds a deed."""
        owner = self.state.estate.owner[position]
        return "bank" if owner == BANK else self.players[owner]

    def deeds(self, player: str = "A") -> list[str]:
        """Its deeds as they are written in a position."""
        estate = self.state.estate
        return [_written(estate, position) for position in estate.held(self._seat(player))]

    @property
    def stock(self) -> tuple[int, int]:
        """Houses and hotels in the bank."""
        return self.state.estate.bank_houses, self.state.estate.bank_hotels

    def deck(self, name: str) -> tuple[str, ...]:
        """A deck from its top."""
        return self.state.decks[DECK_NAMES[name]].order

    def events(self, kind: type[E]) -> list[E]:
        """Events of one class, in order."""
        return [told.event for told in self.table.log if isinstance(told.event, kind)]

    def requests(self, kind: type[R], player: str | None = None) -> list[R]:
        """What was asked, of one player or all."""
        return [asked for asked in self.asked if isinstance(asked, kind) and player in {None, asked.player}]

    def __getitem__(self, player: str) -> Seat:
        return self.state.seats[self._seat(player)]

    def _seat(self, player: str) -> int:
        return self.players.index(player)

    def _run(self, play: Coroutine[Any, Any, None], dice: Sequence[Dice], says: Script, *, strict: bool = True) -> Game:
        script = {player: list(decisions) for player, decisions in says.items()}
        self.table.chance = Chance(1, {"dice": [die for pair in dice for die in pair]})
        thrown = len(self._rolls())
        try:
            wave = play.send(None)
            while True:
                self._sound()
                decisions = [self._answer(request, script) for request in wave]
                for request, decision in zip(wave, decisions, strict=True):
                    request.check(decision)
                self.asked += wave
                wave = play.send(decisions)
        except StopIteration:
            pass
        finally:
            play.close()
        self._sound()
        assert len(self._rolls()) - thrown == len(dice), "every throw of the script, and no other"
        left = {player: decisions for player, decisions in script.items() if decisions}
        assert not left or not strict, f"answers never asked for: {left}"
        return self

    def _rolls(self) -> list[Any]:
        return [told for told in self.table.log if told.event.kind == "rolled"]

    def _sound(self) -> None:
        broken = self.state.check()
        assert not broken, broken

    @staticmethod
    def _answer(request: Request[Any], script: Mapping[str, list[Decision]]) -> Decision:
        """The player's first scripted answer of the kind; else the least that can be done."""
        given = script.get(request.player, [])
        for decision in given:
            if type(decision) is request.answer:
                given.remove(decision)
                return decision
        if isinstance(request, RaiseCash):
            raise AssertionError(f"{request.player} owes ${request.owed}: say how it is raised")
        return _PASSIVE[request.answer]


def refusal(request: Request[Any], decision: Decision) -> str:
    """Why the decision is not allowed there; it must not be."""
    with pytest.raises(IllegalDecision) as refused:
        request.check(decision)
    return str(refused.value)


def _deal_hand(state: State, number: int, hand: str) -> None:
    estate = state.estate
    for part in hand.split():
        match part[0], part.partition(":"):
            case "@", _:
                state.change(number, position=int(part[1:]))
            case "$", _:
                state.change(number, cash=int(part[1:]))
            case _, ("jail", _, failed):
                state.put(number, JAIL, jailed=True, failed=int(failed or 0))
            case _, ("out", _, _):
                state.change(number, cash=0)
                state.put(number, 0, bankrupt=True)
            case _, ("chance" | "chest" as deck, _, _):
                state.change(number, cards=(*state.seats[number].cards, DECK_NAMES[deck]))
            case _, (place, _, houses):
                position = int(place.rstrip("m"))
                assert estate.owner[position] == BANK, f"two hold {position}"
                estate.owner[position] = number
                estate.mortgaged[position] = place.endswith("m")
                estate.houses[position] = HOTEL if houses == "H" else int(houses or 0)
    estate.bank_houses = HOUSES - sum(houses for houses in estate.houses if houses < HOTEL)
    estate.bank_hotels = HOTELS - estate.houses.count(HOTEL)


def _written(estate: Estate, position: int) -> str:
    houses = estate.houses[position]
    built = f":{'H' if houses == HOTEL else houses}" if houses else ""
    return f"{position}{'m' * estate.mortgaged[position]}{built}"


def _stacked(state: State, name: DeckName, tops: Sequence[str]) -> Deck:
    """These cards on top, the others in the order of their numbers, without one that somebody holds."""
    held = [JAIL_CARDS[name] for seat in state.seats if name in seat.cards]
    rest = [card.id for card in DECKS[name] if card.id not in {*tops, *held}]
    return Deck([*tops, *rest])
