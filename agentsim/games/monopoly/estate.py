"""Estate: who holds which deed, what stands on it, what is mortgaged; and which changes of that are legal.

Money is counted here only as what a change costs or brings; whose cash it is belongs to `state`. Everything works the
same on the live estate and on a copy on which trades are tried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agentsim.games.monopoly.board import (
    DEEDS,
    GROUPS,
    HOTEL,
    HOTELS,
    HOUSES,
    RAILROAD_RENTS,
    SPACES,
    STREETS,
    UTILITY_TIMES,
    group_name,
)

BANK = -1
"""The holder of what is unowned; players are seats 0, 1, 2 ..."""
_NO_DEEDS = tuple(position for position in range(len(SPACES)) if position not in DEEDS)


@dataclass(slots=True)
class Estate:
    """By position `owner` (a seat or `BANK`), `level` (0 to 4 houses, 5 a hotel), `mortgaged`; and the bank's stock."""

    owner: list[int] = field(default_factory=lambda: [BANK] * len(SPACES))
    level: list[int] = field(default_factory=lambda: [0] * len(SPACES))
    mortgaged: list[bool] = field(default_factory=lambda: [False] * len(SPACES))
    houses: int = HOUSES
    hotels: int = HOTELS

    def copy(self) -> Estate:
        """One to try things out on."""
        return Estate(list(self.owner), list(self.level), list(self.mortgaged), self.houses, self.hotels)

    # -- looking

    def held(self, seat: int) -> list[int]:
        """The deeds of a seat, in board order."""
        owner = self.owner
        return [position for position in DEEDS if owner[position] == seat]

    def completes(self, seat: int, group: str) -> bool:
        """Whether the seat holds every deed of the group."""
        for position in GROUPS[group]:  # noqa: SIM110 - asked all the time, and `all` takes twice as long
            if self.owner[position] != seat:
                return False
        return True

    def built_up(self, position: int) -> bool:
        """Whether any lot of the deed's group has a building."""
        for lot in GROUPS[SPACES[position].group]:  # noqa: SIM110 - asked all the time, and `any` takes twice as long
            if self.level[lot]:
                return True
        return False

    def tradeable(self, seat: int) -> list[int]:
        """The deeds that the seat may give away: no building stands in their groups."""
        return [position for position in self.held(seat) if not self.built_up(position)]

    def rent(self, position: int, dice: int) -> int:
        """What a visitor owes the holder: 0 where it is unowned or mortgaged.

        A bare lot of a whole group pays double even while others of the group are mortgaged or built up (S7); a
        mortgaged railroad or utility counts as held for the others.
        """
        owner, space = self.owner[position], SPACES[position]
        if owner == BANK or self.mortgaged[position]:
            return 0
        if space.kind == "street":
            level = self.level[position]
            doubled = level == 0 and self.completes(owner, space.group)
            return space.rents[level] * (2 if doubled else 1)
        held = sum(self.owner[other] == owner for other in GROUPS[space.group])
        if space.kind == "railroad":
            return RAILROAD_RENTS[held - 1]
        return UTILITY_TIMES[held - 1] * dice

    def buildings(self, seat: int) -> tuple[int, int]:
        """(houses, hotels) of a seat."""
        levels = [self.level[lot] for lot in STREETS if self.owner[lot] == seat]
        return sum(level for level in levels if level < HOTEL), levels.count(HOTEL)

    def liquid(self, seat: int) -> int:
        """What the bank would give for it all: half the cost of the buildings, and the mortgages still to be had."""
        total = 0
        for position in self.held(seat):
            space = SPACES[position]
            total += self.level[position] * space.house_cost // 2
            total += 0 if self.mortgaged[position] else space.mortgage
        return total

    def worth(self, seat: int) -> int:
        """Deeds at list price, mortgaged ones at half of it, buildings at cost (S19); cash is not in it."""
        return sum(
            (SPACES[position].mortgage if self.mortgaged[position] else SPACES[position].price)
            + self.level[position] * SPACES[position].house_cost
            for position in self.held(seat)
        )

    # -- what is legal now, one step at a time; None is yes, a text says why not

    def cannot_build(self, seat: int, position: int) -> str | None:
        """One level more: the next house, or the hotel in place of four."""
        space = SPACES[position]
        if space.kind != "street":
            return f"{space.name} is no lot to build on"
        group = GROUPS[space.group]
        if not self.completes(seat, space.group):
            return f"{space.name} needs the whole {group_name(space.group)} group"
        if any(self.mortgaged[lot] for lot in group):
            return f"a lot of the {group_name(space.group)} group is mortgaged"
        level = self.level[position]
        if level == HOTEL:
            return f"{space.name} has its hotel"
        if level > min(self.level[lot] for lot in group):
            return f"{space.name} has more than another lot of its group: building is even"
        if level == HOTEL - 1:
            return None if self.hotels else "the bank has no hotel left"
        return None if self.houses else "the bank has no house left"

    def cannot_sell(self, seat: int, position: int) -> str | None:
        """One level less: a house, or a hotel that becomes four houses."""
        space = SPACES[position]
        if self.owner[position] != seat:
            return f"{space.name} is not yours"
        level = self.level[position]
        if not level:
            return f"{space.name} has no building"
        if level < max(self.level[lot] for lot in GROUPS[space.group]):
            return f"{space.name} has less than another lot of its group: selling is even"
        if level == HOTEL and self.houses < HOTEL - 1:
            return f"the bank has not the four houses for the hotel on {space.name}: sell its whole group to the ground"
        return None

    def cannot_mortgage(self, seat: int, position: int) -> str | None:
        space = SPACES[position]
        if self.owner[position] != seat:
            return f"{space.name} is not yours"
        if self.mortgaged[position]:
            return f"{space.name} is mortgaged already"
        if self.built_up(position):
            return f"sell the buildings of the {group_name(space.group)} group first"
        return None

    def cannot_lift(self, seat: int, position: int) -> str | None:
        space = SPACES[position]
        if self.owner[position] != seat:
            return f"{space.name} is not yours"
        return None if self.mortgaged[position] else f"{space.name} is not mortgaged"

    def buildable(self, seat: int) -> list[int]:
        """Lots on which the next level may be built."""
        return [lot for lot in STREETS if self.owner[lot] == seat and self.cannot_build(seat, lot) is None]

    def sellable(self, seat: int) -> list[int]:
        """Lots of which one level may be sold."""
        return [
            lot
            for lot in STREETS
            if self.level[lot] and self.owner[lot] == seat and self.cannot_sell(seat, lot) is None
        ]

    def mortgageable(self, seat: int) -> list[int]:
        """Deeds on which the bank lends."""
        return [position for position in self.held(seat) if self.cannot_mortgage(seat, position) is None]

    def liftable(self, seat: int) -> list[int]:
        """Deeds whose mortgage may be lifted."""
        return [position for position in self.held(seat) if self.mortgaged[position]]

    # -- changing; legality is the caller's

    def build(self, position: int) -> int:
        """One level more; what it costs."""
        self.level[position] += 1
        if self.level[position] == HOTEL:
            self.hotels -= 1
            self.houses += HOTEL - 1
        else:
            self.houses -= 1
        return SPACES[position].house_cost

    def sell(self, position: int) -> int:
        """One level less; what it brings."""
        if self.level[position] == HOTEL:
            self.hotels += 1
            self.houses -= HOTEL - 1
        else:
            self.houses += 1
        self.level[position] -= 1
        return SPACES[position].house_cost // 2

    def raze(self, lot: int) -> int:
        """Every building on the lot goes back to the bank at once, a hotel without breaking down; what it brings."""
        level = self.level[lot]
        if level == HOTEL:
            self.hotels += 1
        else:
            self.houses += level
        self.level[lot] = 0
        return level * SPACES[lot].house_cost // 2

    def check(self) -> Iterator[str]:
        """Every broken invariant, in words."""
        levels = [self.level[lot] for lot in STREETS]
        if sum([level for level in levels if level < HOTEL]) + self.houses != HOUSES or self.houses < 0:
            yield "houses on lots and in the bank make up 32"
        if levels.count(HOTEL) + self.hotels != HOTELS or self.hotels < 0:
            yield "hotels on lots and in the bank make up 12"
        if any(self.level):
            yield from self._check_groups()
        pledged = [owner for owner, mortgaged in zip(self.owner, self.mortgaged, strict=True) if mortgaged]
        if BANK in pledged:
            yield "what the bank holds is clear"
        if [owner for owner in [self.owner[position] for position in _NO_DEEDS] if owner != BANK]:
            yield "nobody holds what is no deed"
        if sum(levels) != sum(self.level) or min(levels) < 0 or max(levels) > HOTEL:
            yield "four houses or a hotel at most, and on streets alone"

    def _check_groups(self) -> Iterator[str]:
        for group, lots in GROUPS.items():
            built: Sequence[int] = [self.level[lot] for lot in lots]
            if not any(built):
                continue
            if max(built) - min(built) > 1:
                yield f"{group}: buildings are even"
            if len({self.owner[lot] for lot in lots}) > 1 or self.owner[lots[0]] == BANK:
                yield f"{group}: buildings stand in whole groups"
            if any(self.mortgaged[lot] for lot in lots):
                yield f"{group}: buildings stand in clear groups"
