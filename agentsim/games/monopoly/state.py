"""State: the whole game at one moment: seats, estate, decks, cash. Who is asked what is `turn`; words are `prompts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agentsim.engine.game import Standing, ranked
from agentsim.games.monopoly.board import JAIL, SPACES, START_CASH
from agentsim.games.monopoly.cards import DECKS, JAIL_CARDS, Deck, DeckName
from agentsim.games.monopoly.estate import BANK, Estate

_IDS = {name: sorted(card.id for card in cards) for name, cards in DECKS.items()}


@dataclass(slots=True)
class Seat:
    """One player; `failed` counts the rolls that have not opened the jail, `cards` are those out of jail."""

    id: str
    name: str
    cash: int = START_CASH
    position: int = 0
    jailed: bool = False
    failed: int = 0
    cards: list[DeckName] = field(default_factory=list)
    bankrupt: bool = False


@dataclass
class State:
    """Seats are numbered from 0 in the order of play; `turn` counts players' turns from 1.

    `version` changes with everything that players can see, so that a view of it is made once.
    """

    seats: list[Seat]
    decks: dict[DeckName, Deck]
    estate: Estate = field(default_factory=Estate)
    start_cash: int = START_CASH
    turn: int = 0
    active: int = 0
    roll: tuple[int, int] | None = None
    version: int = 0
    issued: int = 0  # what the bank has paid out, less what it has taken in
    _sound_estate: tuple[object, ...] | None = field(default=None, repr=False, compare=False)
    _sound_cards: tuple[object, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def living(self) -> list[int]:
        """Seats that are still in the game, in order."""
        return [number for number, seat in enumerate(self.seats) if not seat.bankrupt]

    @property
    def over(self) -> bool:
        """Whether at most one is left."""
        return [seat.bankrupt for seat in self.seats].count(False) <= 1

    def after(self, seat: int) -> list[int]:
        """The living seats, from the left of this one round to itself, where it lives."""
        count = len(self.seats)
        order = [(seat + step) % count for step in range(1, count + 1)]
        return [number for number in order if not self.seats[number].bankrupt]

    def move_cash(self, payer: int, payee: int, amount: int) -> None:
        """Cash changes hands; either may be the `BANK`."""
        assert amount >= 0, "cash moves one way"
        if payer == BANK:
            self.issued += amount
        else:
            self.seats[payer].cash -= amount
        if payee == BANK:
            self.issued -= amount
        else:
            self.seats[payee].cash += amount
        self.version += 1

    def give_deed(self, position: int, owner: int) -> None:
        """A deed changes hands as it is; what the bank gets is cleared."""
        self.estate.owner[position] = owner
        if owner == BANK:
            self.estate.mortgaged[position] = False
        self.version += 1

    def place(self, seat: int, position: int) -> None:
        """Put a token down."""
        self.seats[seat].position = position
        self.version += 1

    def lock_up(self, seat: int) -> None:
        """To jail, without passing anything."""
        player = self.seats[seat]
        player.position, player.jailed, player.failed = JAIL, True, 0
        self.version += 1

    def fail(self, seat: int) -> None:
        """One more roll that did not open the jail."""
        self.seats[seat].failed += 1
        self.version += 1

    def release(self, seat: int) -> None:
        """Free, where it stands."""
        player = self.seats[seat]
        player.jailed, player.failed = False, 0
        self.version += 1

    def take_card(self, seat: int, name: DeckName) -> None:
        """A card out of jail goes from a player to the bottom of its deck."""
        self.seats[seat].cards.remove(name)
        self.decks[name].put_back(JAIL_CARDS[name])
        self.version += 1

    def keep_card(self, seat: int, name: DeckName) -> None:
        """A card out of jail that was drawn stays with the player."""
        self.seats[seat].cards.append(name)
        self.version += 1

    def hand_card(self, giver: int, taker: int, name: DeckName) -> None:
        """A card out of jail goes from one player to another."""
        self.seats[giver].cards.remove(name)
        self.seats[taker].cards.append(name)
        self.version += 1

    def retire(self, seat: int) -> None:
        """Out of the game: no token on the board, no turn, no part in anything."""
        player = self.seats[seat]
        player.bankrupt, player.jailed, player.failed, player.position = True, False, 0, 0
        self.version += 1

    def worth(self, seat: int) -> int:
        """Net worth (S19); nothing, once bankrupt."""
        player = self.seats[seat]
        return 0 if player.bankrupt else player.cash + self.estate.worth(seat)

    def standings(self, fallen: Sequence[int]) -> tuple[Standing, ...]:
        """Survivors by net worth, equal worth sharing a rank; then the `fallen`, the last to fall first."""
        entries = []
        for number, seat in enumerate(self.seats):
            key = (-1, fallen.index(number)) if seat.bankrupt else (0, self.worth(number))
            score = {"net_worth": self.worth(number), "cash": seat.cash, "deeds": len(self.estate.held(number))}
            entries.append((seat.id, key, score))
        return ranked(entries)

    def check(self) -> Sequence[str]:
        """Every broken invariant, in words."""
        return [*self._check_seats(), *self._check_estate(), *self._check_cards()]

    def _check_seats(self) -> Iterator[str]:
        if sum([seat.cash for seat in self.seats]) != self.start_cash * len(self.seats) + self.issued:
            yield "cash changes by named payments alone"
        for seat in self.seats:
            if seat.cash < 0:
                yield f"{seat.name}: cash is not below zero"
            if seat.jailed:
                if seat.position != JAIL or not 0 <= seat.failed <= 2:
                    yield f"{seat.name}: whoever is in jail stands there and has failed at most twice"
            elif seat.failed:
                yield f"{seat.name}: rolls for freedom are counted in jail alone"
            if seat.bankrupt and (seat.cash or seat.cards or seat.jailed):
                yield f"{seat.name}: the bankrupt hold nothing"
            if not 0 <= seat.position < len(SPACES):
                yield f"{seat.name}: the token is on the board"

    def _check_estate(self) -> list[str]:
        """What concerns deeds and buildings: looked at only where it is not as it was when all was sound."""
        now = (self.estate, [seat.bankrupt for seat in self.seats])
        if now == self._sound_estate:
            return []
        broken = list(self.estate.check())
        if not {BANK, *self.living}.issuperset(self.estate.owner):
            broken.append("every deed is the bank's or a living player's")
        self._sound_estate = None if broken else (self.estate.copy(), now[1])
        return broken

    def _check_cards(self) -> list[str]:
        """What concerns cards, likewise."""
        now = ([deck.order for deck in self.decks.values()], [tuple(seat.cards) for seat in self.seats])
        if now == self._sound_cards:
            return []
        cards = [card for held in now[1] for card in held]
        broken = [
            f"every {name} card is in exactly one place"
            for name, order in zip(self.decks, now[0], strict=True)
            if sorted([*order, *[JAIL_CARDS[name]] * cards.count(name)]) != _IDS[name]
        ]
        self._sound_cards = None if broken else now
        return broken
