"""A ledger: the whole game recomputed from its events alone, and held against the board that players are shown.

It knows the board's data and nothing of the rules' code: what it is told and what they show must agree, to the dollar.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from agentsim.engine.event import LoggedEvent
from agentsim.games.monopoly.auctions import AuctionOpened, BidMade
from agentsim.games.monopoly.board import FINE, HOTELS, HOUSES, JAIL, JAIL_CARDS, SALARY, SPACES
from agentsim.games.monopoly.building import Built, Mortgaged, Sold, Unmortgaged
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.jail import Freed, Jailed, StayedInJail
from agentsim.games.monopoly.match import CardDrawn, CardMoved, DeedMoved, GameBegan, Moved, Paid, Rolled
from agentsim.games.monopoly.state import State, View


class Ledger:
    """What the events say."""

    def __init__(self, decks: Mapping[str, Sequence[str]]) -> None:
        self.decks = {name: deque(cards) for name, cards in decks.items()}
        self.players: list[str] = []
        self.cash: dict[str, int] = {}
        self.at: dict[str, int] = {}
        self.failed: dict[str, int] = {}  # of who is in jail
        self.cards: dict[str, list[str]] = {}
        self.out: list[str] = []
        self.owner: list[str | None] = [None] * len(SPACES)
        self.mortgaged = [False] * len(SPACES)
        self.houses = [0] * len(SPACES)
        self.bank_houses, self.bank_hotels = HOUSES, HOTELS
        self.rolls: list[Rolled] = []
        """Of the present turn, without those for rents."""
        self._open: tuple[str, str] | None = None  # the card being resolved, with its deck
        self._highest: tuple[str, int] | None = None  # the latest bid
        self._round = 0
        self._salary: str | None = None  # who has come past GO, until it is paid
        self._last: str | None = None  # whose turn the last one was

    def begin_at(self, state: State) -> None:
        """Take over a position, for a game that does not begin on GO."""
        ids = [seat.id for seat in state.seats]
        self.players = ids
        self.cash = {seat.id: seat.cash for seat in state.seats}
        self.at = {seat.id: seat.position for seat in state.seats}
        self.failed = {seat.id: seat.failed for seat in state.seats if seat.jailed}
        self.cards = {seat.id: [JAIL_CARDS[name] for name in seat.cards] for seat in state.seats}
        self.owner = [None if owner < 0 else ids[owner] for owner in state.estate.owner]
        self.mortgaged, self.houses = list(state.estate.mortgaged), list(state.estate.houses)
        self.bank_houses, self.bank_hotels = state.estate.bank_houses, state.estate.bank_hotels

    def hear(self, told: LoggedEvent) -> None:
        """The next event."""
        event = told.event
        if told.round != self._round:
            self._new_turn(told.round)
        if self._salary is not None:
            assert isinstance(event, Paid), "salary comes before anything else"
            assert (event.why, event.payer, event.payee, event.amount) == ("salary", None, self._salary, SALARY)
            self._salary = None
        handler = getattr(self, f"_{event.kind}", None)
        if handler is not None:
            handler(event)
        assert all(cash >= 0 for cash in self.cash.values())
        assert 0 <= self.bank_houses <= HOUSES
        assert 0 <= self.bank_hotels <= HOTELS

    def assert_is(self, view: View) -> None:
        """What players are shown is what the events come to."""
        ids = [seat.id for seat in view.seats]
        assert [self.cash[player] for player in ids] == [seat.cash for seat in view.seats]
        assert [None if owner < 0 else ids[owner] for owner in view.owner] == self.owner
        assert list(view.houses) == self.houses
        assert list(view.mortgaged) == self.mortgaged
        assert (view.bank_houses, view.bank_hotels) == (self.bank_houses, self.bank_hotels)
        for seat in view.seats:
            assert sorted(JAIL_CARDS[name] for name in seat.cards) == sorted(self.cards[seat.id])
            assert seat.bankrupt == (seat.id in self.out)
            assert seat.jailed == (seat.id in self.failed)
            if not seat.bankrupt:
                assert seat.position == self.at[seat.id]
                assert seat.failed == self.failed.get(seat.id, 0)

    def living(self) -> list[str]:
        return [player for player in self.players if player not in self.out]

    def _new_turn(self, number: int) -> None:
        self._last = self.rolls[0].player if self.rolls else None
        self._round, self.rolls = number, []
        self._resolve()

    def _resolve(self) -> None:
        if self._open is not None:
            deck, card = self._open
            self.decks[deck].append(card)
            self._open = None

    # -- by kind of event

    def _game_began(self, event: GameBegan) -> None:
        self.players = list(event.names)
        self.cash = dict.fromkeys(self.players, event.cash)
        self.at = dict.fromkeys(self.players, 0)
        self.cards = {player: [] for player in self.players}

    def _rolled(self, event: Rolled) -> None:
        assert all(1 <= die <= 6 for die in event.dice)
        if event.purpose == "rent":
            return
        self._resolve()
        if self.rolls:
            assert event.player == self.rolls[0].player
            last = self.rolls[-1]
            assert last.purpose == "move", "a roll out of jail is the only one"
            assert last.dice[0] == last.dice[1], "only doubles roll again"
            assert len(self.rolls) < 3
        elif self._last is not None:
            start = self.players.index(self._last)
            order = [*self.players[start + 1 :], *self.players[: start + 1]]
            assert event.player == next(player for player in order if player not in self.out)
        else:
            assert event.player == self.players[0]
        assert (event.purpose == "jail") == (event.player in self.failed)
        self.rolls.append(event)

    def _moved(self, event: Moved) -> None:
        assert self.at[event.player] == event.start
        assert event.player not in self.failed
        back = event.by == "card" and event.to == event.start - 3
        if event.by == "dice":
            assert (event.to - event.start) % len(SPACES) == sum(self.rolls[-1].dice)
        if event.to < event.start and not back:
            self._salary = event.player
        self.at[event.player] = event.to

    def _jailed(self, event: Jailed) -> None:
        self.at[event.player], self.failed[event.player] = JAIL, 0
        if event.why == "third doubles":
            assert [roll.dice[0] == roll.dice[1] for roll in self.rolls] == [True] * 3

    def _freed(self, event: Freed) -> None:
        failed = self.failed.pop(event.player)
        assert event.how != "third roll" or failed == 2

    def _stayed_in_jail(self, event: StayedInJail) -> None:
        self.failed[event.player] += 1
        assert self.failed[event.player] == event.failed <= 2

    def _card_drawn(self, event: CardDrawn) -> None:
        self._resolve_same(event.deck)
        assert self.decks[event.deck].popleft() == event.card
        if event.card in JAIL_CARDS.values():
            self.cards[event.player].append(event.card)
        else:
            self._open_cards(event.deck, event.card)

    def _resolve_same(self, deck: str) -> None:
        assert self._open is None or self._open[0] != deck, "a card leads to none of its own deck"

    def _open_cards(self, deck: str, card: str) -> None:
        if self._open is not None:  # back three onto Community Chest: no card out of jail comes back in between
            self._resolve()
        self._open = (deck, card)

    def _card_moved(self, event: CardMoved) -> None:
        self.cards[event.giver].remove(event.card)
        if event.taker is not None:
            self.cards[event.taker].append(event.card)
        else:
            self.decks["chance" if event.card == "C09" else "community_chest"].append(event.card)

    def _paid(self, event: Paid) -> None:
        assert event.amount > 0
        for player, sign in ((event.payer, -1), (event.payee, 1)):
            if player is not None:
                self.cash[player] += sign * event.amount
                assert self.cash[player] == event.cash[player]
        assert event.why != "fine" or (event.amount, event.payee) == (FINE, None)

    def _deed_moved(self, event: DeedMoved) -> None:
        assert self.owner[event.position] == event.giver != event.taker
        assert self.houses[event.position] == 0
        self.owner[event.position] = event.taker
        if event.taker is None:
            self.mortgaged[event.position] = False
        assert self.mortgaged[event.position] == event.mortgaged

    def _built(self, event: Built) -> None:
        assert event.amount == SPACES[event.position].house_cost or (event.player, event.amount) == self._highest
        assert event.after == event.before + 1
        self._buildings_changed(event, -event.amount)

    def _sold(self, event: Sold) -> None:
        half = (event.before - event.after) * SPACES[event.position].house_cost // 2
        assert event.amount == half or (event.amount == 0 and event.player in self.out)
        self._buildings_changed(event, event.amount)

    def _buildings_changed(self, event: Built | Sold, gain: int) -> None:
        place = event.position
        assert self.owner[place] == event.player
        assert self.houses[place] == event.before
        for houses, sign in ((event.before, 1), (event.after, -1)):
            self.bank_houses += sign * houses if houses < 5 else 0
            self.bank_hotels += sign * (houses == 5)
        self.houses[place] = event.after
        self.cash[event.player] += gain
        assert (self.cash[event.player], self.houses[place]) == (event.cash, event.after)

    def _mortgaged(self, event: Mortgaged) -> None:
        assert event.amount == SPACES[event.position].price // 2
        self._pledged(event, True, event.amount)

    def _mortgage_lifted(self, event: Unmortgaged) -> None:
        assert event.amount == SPACES[event.position].redemption
        self._pledged(event, False, -event.amount)

    def _pledged(self, event: Mortgaged | Unmortgaged, mortgaged: bool, gain: int) -> None:
        assert self.owner[event.position] == event.player
        assert self.mortgaged[event.position] != mortgaged
        self.mortgaged[event.position] = mortgaged
        self.cash[event.player] += gain
        assert self.cash[event.player] == event.cash

    def _bankrupted(self, event: Bankrupted) -> None:
        assert self.cash[event.player] == event.cash < event.owed
        self.failed.pop(event.player, None)
        self.out.append(event.player)

    def _bid(self, event: BidMade) -> None:
        if event.amount:
            self._highest = (event.player, event.amount)

    def _auction_opened(self, event: AuctionOpened) -> None:
        assert set(event.bidders) == set(self.living())

    def assert_over(self) -> None:
        """Who is out holds nothing, when all is done."""
        for player in self.out:
            assert self.cash[player] == 0
            assert self.cards[player] == []
            assert player not in self.owner
