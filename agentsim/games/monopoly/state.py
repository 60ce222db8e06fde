"""The state of a game: the estate, the seats, decks and cash; and `View`, what all players see of it.

Players are seats 0, 1, 2 ..., and the bank is -1. All of it but the decks is public; players' thoughts are in `talk`.
There is one view for each version of the state, which all its requests share. `building` says what may be changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from agentsim.engine.codec import computed_once
from agentsim.engine.game import Standing, ranked
from agentsim.games.monopoly import board
from agentsim.games.monopoly.board import (
    DEEDS,
    GROUPS,
    HOTEL,
    HOTELS,
    HOUSES,
    JAIL,
    JAIL_CARDS,
    SPACES,
    START_CASH,
    STREETS,
    Deck,
    DeckName,
    ids,
)
from agentsim.lazy import dataclass

# -- the estate: who owns what, and what stands on it

Kind: TypeAlias = Literal["sell", "mortgage", "unmortgage", "build"]
"""A change of one property: sell a building, mortgage, unmortgage, or add a building."""
BANK = -1
"""The owner of unowned property; players are seats 0, 1, 2 ..."""
_NO_DEEDS = tuple(position for position in range(len(SPACES)) if position not in DEEDS)


def amount(kind: Kind, position: int) -> int:
    """Return the dollars that a change brings or costs."""
    space = SPACES[position]
    amounts = {"sell": space.house_cost // 2, "mortgage": space.mortgage, "unmortgage": space.redemption}
    return amounts.get(kind, space.house_cost)


def deed_value(position: int, *, mortgaged: bool) -> int:
    """Return the value of a deed in dollars, without buildings: its list price, or half of it if mortgaged (S19)."""
    return SPACES[position].mortgage if mortgaged else SPACES[position].price


@dataclass(slots=True)
class Estate:
    """All properties by position, and the bank's stock of buildings.

    `owner` is a seat or `BANK`, `houses` is 0 to 4, or 5 for a hotel.
    """

    owner: list[int] = field(default_factory=lambda: [BANK] * len(SPACES))
    houses: list[int] = field(default_factory=lambda: [0] * len(SPACES))
    mortgaged: list[bool] = field(default_factory=lambda: [False] * len(SPACES))
    bank_houses: int = HOUSES
    bank_hotels: int = HOTELS

    def copy(self) -> Estate:
        return Estate(list(self.owner), list(self.houses), list(self.mortgaged), self.bank_houses, self.bank_hotels)

    # -- looking

    def held(self, seat: int) -> list[int]:
        """Return the positions of a seat's deeds, in board order."""
        owner = self.owner
        return [position for position in DEEDS if owner[position] == seat]

    def has_monopoly(self, seat: int, group: str) -> bool:
        for position in GROUPS[group]:  # noqa: SIM110 - asked all the time, and `all` takes twice as long
            if self.owner[position] != seat:
                return False
        return True

    def built_up(self, position: int) -> bool:
        """Return whether any property of the same group has a building."""
        for other in GROUPS[SPACES[position].group]:  # noqa: SIM110 - asked all the time, and `any` takes twice as long
            if self.houses[other]:
                return True
        return False

    def tradeable(self, seat: int) -> list[int]:
        """Return the deeds that a seat may trade: those of groups without buildings."""
        return [position for position in self.held(seat) if not self.built_up(position)]

    def rent(self, position: int, dice: int) -> int:
        """Return the rent in dollars, or 0 if the property is unowned or mortgaged.

        `dice` is the total, for utilities. A property without buildings pays double in a monopoly, even while others of
        the group are mortgaged or built on (S7); mortgaged railroads and utilities count for the rent of the others.
        """
        owner, space = self.owner[position], SPACES[position]
        if owner == BANK or self.mortgaged[position]:
            return 0
        if space.kind == "street":
            houses = self.houses[position]
            doubled = houses == 0 and self.has_monopoly(owner, space.group)
            return space.rents[houses] * (2 if doubled else 1)
        held = sum(self.owner[other] == owner for other in GROUPS[space.group])
        return board.RAILROAD_RENTS[held - 1] if space.kind == "railroad" else board.UTILITY_TIMES[held - 1] * dice

    def highest_rent(self, seat: int) -> int:
        """Return the most that a seat could owe another player for one landing now."""
        return max((self.rent(position, 12) for position in DEEDS if self.owner[position] != seat), default=0)

    def buildings(self, seat: int) -> tuple[int, int]:
        """Return the number of a seat's houses, and of its hotels."""
        counts = [self.houses[position] for position in STREETS if self.owner[position] == seat]
        return sum(houses for houses in counts if houses < HOTEL), counts.count(HOTEL)

    def liquidation_value(self, seat: int) -> int:
        """Return what selling all buildings and mortgaging all properties would raise, in dollars."""
        held = [(SPACES[position], position) for position in self.held(seat)]
        buildings = sum([self.houses[at] * space.house_cost // 2 for space, at in held])
        return buildings + sum([space.mortgage for space, at in held if not self.mortgaged[at]])

    def worth(self, seat: int) -> int:
        """Return the worth of a seat's property in dollars, without cash (S19).

        Deeds count at list price, mortgaged ones at half of it, and buildings at cost.
        """
        return sum(
            deed_value(position, mortgaged=self.mortgaged[position])
            + self.houses[position] * SPACES[position].house_cost
            for position in self.held(seat)
        )

    # -- changes, which do not check whether they are legal

    def change(self, kind: Kind, position: int) -> int:
        """Make one change, and return the dollars that it brings or costs."""
        if kind in {"mortgage", "unmortgage"}:
            self.mortgaged[position] = kind == "mortgage"
        else:
            self._stand(position, self.houses[position] + (1 if kind == "build" else -1))
        return amount(kind, position)

    def raze(self, position: int) -> int:
        """Sell all buildings of a property to the bank, without breaking down a hotel; return what they bring."""
        houses = self.houses[position]
        self._stand(position, 0)
        return houses * SPACES[position].house_cost // 2

    def _stand(self, position: int, houses: int) -> None:
        before = self.houses[position]
        self.bank_houses += before % HOTEL - houses % HOTEL  # a hotel is no house
        self.bank_hotels += (before == HOTEL) - (houses == HOTEL)
        self.houses[position] = houses

    def check(self) -> Iterator[str]:
        counts = [self.houses[position] for position in STREETS]
        if sum([houses for houses in counts if houses < HOTEL]) + self.bank_houses != HOUSES or self.bank_houses < 0:
            yield "houses on lots and in the bank make up 32"
        if counts.count(HOTEL) + self.bank_hotels != HOTELS or self.bank_hotels < 0:
            yield "hotels on lots and in the bank make up 12"
        if any(self.houses):
            yield from self._check_groups()
        pledged = [owner for owner, mortgaged in zip(self.owner, self.mortgaged, strict=True) if mortgaged]
        if BANK in pledged:
            yield "what the bank holds is clear"
        if [owner for owner in [self.owner[position] for position in _NO_DEEDS] if owner != BANK]:
            yield "only deeds are held"
        if sum(counts) != sum(self.houses) or min(counts) < 0 or max(counts) > HOTEL:
            yield "four houses or a hotel at most, and on streets alone"

    def _check_groups(self) -> Iterator[str]:
        for group, positions in GROUPS.items():
            built: Sequence[int] = [self.houses[position] for position in positions]
            if not any(built):
                continue
            if max(built) - min(built) > 1:
                yield f"{group}: buildings are even"
            if len({self.owner[position] for position in positions}) > 1 or self.owner[positions[0]] == BANK:
                yield f"{group}: buildings stand in whole groups"
            if any(self.mortgaged[position] for position in positions):
                yield f"{group}: buildings stand in clear groups"


# -- seats, decks and cash


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

    def standings(self, bankrupt_seats: Sequence[int]) -> tuple[Standing, ...]:
        """Rank survivors by net worth, with ties, and then the `bankrupt_seats`, the last to fall first."""
        entries = []
        for number, seat in enumerate(self.seats):
            key = (-1, bankrupt_seats.index(number)) if seat.bankrupt else (0, self.worth(number))
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

    @computed_once
    def mark(self) -> str:
        """A text that hardly two moments of a game share: turn, and by seat position, cash and number of deeds."""
        deeds = zip(self.seats, self.holdings.deeds, strict=True)
        standing = ",".join([f"{seat.position}:{seat.cash}:{count}" for seat, count in deeds])
        return f"{self.turn}/{standing}"

    @computed_once
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
