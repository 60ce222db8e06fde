"""Estates: the owner, houses and mortgage of every property, and the changes that are legal.

A change returns the dollars that it costs or brings, and moves no cash, which is in `state`. The live estate and the
copies on which trades are tried out work alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentsim.games.monopoly import board
from agentsim.games.monopoly.board import DEEDS, GROUPS, HOTEL, HOTELS, HOUSES, SPACES, STREETS

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
