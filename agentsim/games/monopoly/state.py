"""The state of a game: seats, estate, decks and cash; and `View`, what all players see of it.

All of it but the decks is public; the players' thoughts are in `talk`. There is one view for each version of the state,
which all its requests share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from agentsim.engine.game import Standing, ranked
from agentsim.games.monopoly.board import GROUPS, JAIL, JAIL_CARDS, SPACES, START_CASH, Deck, DeckName, ids
from agentsim.games.monopoly.estate import BANK, Estate


@dataclass(frozen=True, slots=True)
class Seat:
    """One player at one moment; `failed` counts rolls in jail, `cards` are Get Out of Jail Free cards by deck.

    `personality` is what all know of it, in a few words, or "".
    """

    id: str
    name: str
    cash: int = START_CASH
    position: int = 0
    jailed: bool = False
    failed: int = 0
    cards: tuple[DeckName, ...] = ()
    bankrupt: bool = False
    personality: str = ""


@dataclass
class State:
    """The state of one game; seats are numbered from 0 in the order of play, and `turn` counts players' turns from 1.

    `version` changes with everything that players can see, so that each view is made once.
    """

    seats: list[Seat]
    decks: dict[DeckName, Deck]
    estate: Estate = field(default_factory=Estate)
    start_cash: int = START_CASH
    turn: int = 0
    active: int = 0
    roll: tuple[int, int] | None = None
    roller: int = BANK
    version: int = 0
    issued: int = 0  # dollars that the bank has paid out, less those it has received
    _view: View | None = field(default=None, repr=False, compare=False)
    _seen: int = field(default=-1, repr=False, compare=False)
    _sound_estate: tuple[object, ...] | None = field(default=None, repr=False, compare=False)
    _sound_cards: tuple[object, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def living(self) -> list[int]:
        return [number for number, seat in enumerate(self.seats) if not seat.bankrupt]

    @property
    def over(self) -> bool:
        """Whether at most one player is left."""
        return [seat.bankrupt for seat in self.seats].count(False) <= 1

    def after(self, seat: int) -> list[int]:
        """Return the seats in the game, from the left of this one round to itself if it is still in."""
        count = len(self.seats)
        order = [(seat + step) % count for step in range(1, count + 1)]
        return [number for number in order if not self.seats[number].bankrupt]

    def begin_turn(self) -> None:
        """Begin the turn of the first seat, or of the next seat in the game."""
        self.active = self.after(self.active)[0] if self.turn else 0
        self.turn += 1
        self.version += 1

    def change(self, seat: int, **now: Any) -> None:
        """Set fields of a seat."""
        self.seats[seat] = replace(self.seats[seat], **now)
        self.version += 1

    def move_cash(self, payer: int, payee: int, amount: int) -> None:
        """Move cash; either side may be the `BANK`."""
        assert amount >= 0, "cash moves one way"
        for number, change in ((payer, -amount), (payee, amount)):
            if number == BANK:
                self.issued -= change
            else:
                self.change(number, cash=self.seats[number].cash + change)

    def give_deed(self, position: int, owner: int) -> None:
        """Move a deed as it is; the bank clears its mortgage."""
        self.estate.owner[position] = owner
        if owner == BANK:
            self.estate.mortgaged[position] = False
        self.version += 1

    def put(self, seat: int, position: int, *, jailed: bool = False, failed: int = 0, bankrupt: bool = False) -> None:
        """Put a token on a space without passing any, and set whether it is in jail or bankrupt."""
        self.change(seat, position=position, jailed=jailed, failed=failed, bankrupt=bankrupt)

    def give_card(self, name: DeckName, giver: int, taker: int) -> None:
        """Move a Get Out of Jail Free card; the `BANK` gives a drawn card, and puts one back under its deck."""
        if giver != BANK:
            left = list(self.seats[giver].cards)
            left.remove(name)
            self.change(giver, cards=tuple(left))
        if taker == BANK:
            self.decks[name].put_back(JAIL_CARDS[name])
        else:
            self.change(taker, cards=(*self.seats[taker].cards, name))

    def view(self) -> View:
        """Return what players see, made once for each version."""
        if self._view is None or self._seen != self.version:
            estate = self.estate
            deeds = (
                tuple(estate.owner),
                tuple(estate.houses),
                tuple(estate.mortgaged),
                estate.bank_houses,
                estate.bank_hotels,
            )
            self._view = View(self.turn, self.active, self.roll, tuple(self.seats), *deeds, roller=self.roller)
            self._seen = self.version
        return self._view

    def worth(self, seat: int) -> int:
        """Return the net worth in dollars (S19); 0 for a bankrupt player."""
        player = self.seats[seat]
        return 0 if player.bankrupt else player.cash + self.estate.worth(seat)

    def standings(self, fallen: Sequence[int]) -> tuple[Standing, ...]:
        """Rank survivors by net worth, with ties, and then the `fallen`, the last to fall first."""
        entries = []
        for number, seat in enumerate(self.seats):
            key = (-1, fallen.index(number)) if seat.bankrupt else (0, self.worth(number))
            score = {"net_worth": self.worth(number), "cash": seat.cash, "deeds": len(self.estate.held(number))}
            entries.append((seat.id, key, score))
        return ranked(entries)

    def check(self) -> Sequence[str]:
        return [*self._check_seats(), *self._check_estate(), *self._check_cards()]

    def _check_seats(self) -> Iterator[str]:
        if sum([seat.cash for seat in self.seats]) != self.start_cash * len(self.seats) + self.issued:
            yield "cash changes by named payments alone"
        for seat in self.seats:
            if seat.cash < 0:
                yield f"{seat.name}: cash is not below zero"
            if seat.jailed:
                if seat.position != JAIL or not 0 <= seat.failed <= 2:
                    yield f"{seat.name}: a player in jail stands there and has failed at most twice"
            elif seat.failed:
                yield f"{seat.name}: rolls for freedom are counted in jail alone"
            if seat.bankrupt and (seat.cash or seat.cards or seat.jailed):
                yield f"{seat.name}: the bankrupt hold nothing"
            if not 0 <= seat.position < len(SPACES):
                yield f"{seat.name}: the token is on the board"

    def _check_estate(self) -> list[str]:
        """Check deeds and buildings, unless they are as they were when all was sound."""
        now = (self.estate, [seat.bankrupt for seat in self.seats])
        if now == self._sound_estate:
            return []
        broken = list(self.estate.check())
        if not {BANK, *self.living}.issuperset(self.estate.owner):
            broken.append("every deed is the bank's or a living player's")
        self._sound_estate = None if broken else (self.estate.copy(), now[1])
        return broken

    def _check_cards(self) -> list[str]:
        """Check cards, unless they are as they were when all was sound."""
        now = ([deck.order for deck in self.decks.values()], [seat.cards for seat in self.seats])
        if now == self._sound_cards:
            return []
        cards = [card for held in now[1] for card in held]
        broken = [
            f"every {name} card is in exactly one place"
            for name, order in zip(self.decks, now[0], strict=True)
            if sorted([*order, *[JAIL_CARDS[name]] * cards.count(name)]) != ids(name)
        ]
        self._sound_cards = None if broken else now
        return broken


@dataclass(frozen=True, slots=True)
class Holdings:
    """By seat: the number of deeds in each group, the number of all deeds, and the monopolies."""

    counts: tuple[Mapping[str, int], ...]
    deeds: tuple[int, ...]
    monopolies: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=256)
def holdings(owner: tuple[int, ...], seats: int) -> Holdings:
    counts = [dict.fromkeys(GROUPS, 0) for _ in range(seats)]
    for group, positions in GROUPS.items():
        for position in positions:
            if owner[position] != BANK:
                counts[owner[position]][group] += 1
    deeds = tuple(sum(held.values()) for held in counts)
    monopolies = tuple(tuple(group for group in GROUPS if held[group] == len(GROUPS[group])) for held in counts)
    return Holdings(tuple(counts), deeds, monopolies)


@dataclass(frozen=True)  # without slots, for its cached properties
class View:
    """The game at one moment; seats are numbers into `seats`, -1 is the bank, the rest is by position (`Estate`).

    `roll` is the last roll that moved a token, and `roller` the seat that made it.
    """

    turn: int
    active: int
    roll: tuple[int, int] | None
    seats: tuple[Seat, ...]
    owner: tuple[int, ...]
    houses: tuple[int, ...]
    mortgaged: tuple[bool, ...]
    bank_houses: int
    bank_hotels: int
    roller: int = BANK

    @cached_property
    def mark(self) -> str:
        """A text that hardly two moments of a game share: turn, and by seat position, cash and number of deeds."""
        deeds = zip(self.seats, self.holdings.deeds, strict=True)
        standing = ",".join([f"{seat.position}:{seat.cash}:{count}" for seat, count in deeds])
        return f"{self.turn}/{standing}"

    @cached_property
    def holdings(self) -> Holdings:
        return holdings(self.owner, len(self.seats))

    def estate(self) -> Estate:
        """Return the estate as it is, as a copy to try things out on."""
        return Estate(list(self.owner), list(self.houses), list(self.mortgaged), self.bank_houses, self.bank_hotels)

    def seat(self, player: str) -> int:
        """Return the number of a player. Raises `KeyError` if there is none with that id."""
        for number, seat in enumerate(self.seats):
            if seat.id == player:
                return number
        raise KeyError(player)

    @property
    def living(self) -> tuple[int, ...]:
        return tuple([number for number, seat in enumerate(self.seats) if not seat.bankrupt])
