"""Board: the forty spaces of the US classic (September 2008 and later) as data. Who owns what is `estate`.

Positions count from 0 (GO) in the direction of play; all amounts are whole dollars.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, TypeAlias

from agentsim.engine.event import Event
from agentsim.engine.template import Worded

Kind: TypeAlias = Literal[
    "go", "street", "railroad", "utility", "tax", "chance", "community_chest", "jail", "free_parking", "go_to_jail"
]
GO = 0
JAIL = 10
SALARY = 200
START_CASH = 1500
FINE = 50
HOUSES, HOTELS = 32, 12
HOTEL = 5
"""The level of a lot with a hotel; 1 to 4 are its houses."""
RAILROAD_RENTS = (25, 50, 100, 200)
"""By how many railroads the owner holds."""
UTILITY_TIMES = (4, 10)
"""How many times the dice, by how many utilities the owner holds."""


@dataclass(frozen=True)
class Space:
    """One space; `rents` are those of a street bare, with one to four houses, and with a hotel."""

    position: int
    kind: Kind
    name: str
    group: str = ""
    price: int = 0
    rents: tuple[int, ...] = ()
    house_cost: int = 0
    tax: int = 0

    @cached_property
    def mortgage(self) -> int:
        """What the bank lends on the deed: half its price."""
        return self.price // 2

    @cached_property
    def interest(self) -> int:
        """A tenth of the mortgage, rounded up to a whole dollar."""
        return -(-self.mortgage // 10)

    @cached_property
    def redemption(self) -> int:
        """What lifting the mortgage costs."""
        return self.mortgage + self.interest


SPACES: tuple[Space, ...] = (
    Space(0, "go", "GO"),
    Space(1, "street", "Mediterranean Avenue", "brown", 60, (2, 10, 30, 90, 160, 250), 50),
    Space(2, "community_chest", "Community Chest"),
    Space(3, "street", "Baltic Avenue", "brown", 60, (4, 20, 60, 180, 320, 450), 50),
    Space(4, "tax", "Income Tax", tax=200),
    Space(5, "railroad", "Reading Railroad", "railroad", 200),
    Space(6, "street", "Oriental Avenue", "light_blue", 100, (6, 30, 90, 270, 400, 550), 50),
    Space(7, "chance", "Chance"),
    Space(8, "street", "Vermont Avenue", "light_blue", 100, (6, 30, 90, 270, 400, 550), 50),
    Space(9, "street", "Connecticut Avenue", "light_blue", 120, (8, 40, 100, 300, 450, 600), 50),
    Space(10, "jail", "Jail / Just Visiting"),
    Space(11, "street", "St. Charles Place", "pink", 140, (10, 50, 150, 450, 625, 750), 100),
    Space(12, "utility", "Electric Company", "utility", 150),
    Space(13, "street", "States Avenue", "pink", 140, (10, 50, 150, 450, 625, 750), 100),
    Space(14, "street", "Virginia Avenue", "pink", 160, (12, 60, 180, 500, 700, 900), 100),
    Space(15, "railroad", "Pennsylvania Railroad", "railroad", 200),
    Space(16, "street", "St. James Place", "orange", 180, (14, 70, 200, 550, 750, 950), 100),
    Space(17, "community_chest", "Community Chest"),
    Space(18, "street", "Tennessee Avenue", "orange", 180, (14, 70, 200, 550, 750, 950), 100),
    Space(19, "street", "New York Avenue", "orange", 200, (16, 80, 220, 600, 800, 1000), 100),
    Space(20, "free_parking", "Free Parking"),
    Space(21, "street", "Kentucky Avenue", "red", 220, (18, 90, 250, 700, 875, 1050), 150),
    Space(22, "chance", "Chance"),
    Space(23, "street", "Indiana Avenue", "red", 220, (18, 90, 250, 700, 875, 1050), 150),
    Space(24, "street", "Illinois Avenue", "red", 240, (20, 100, 300, 750, 925, 1100), 150),
    Space(25, "railroad", "B. & O. Railroad", "railroad", 200),
    Space(26, "street", "Atlantic Avenue", "yellow", 260, (22, 110, 330, 800, 975, 1150), 150),
    Space(27, "street", "Ventnor Avenue", "yellow", 260, (22, 110, 330, 800, 975, 1150), 150),
    Space(28, "utility", "Water Works", "utility", 150),
    Space(29, "street", "Marvin Gardens", "yellow", 280, (24, 120, 360, 850, 1025, 1200), 150),
    Space(30, "go_to_jail", "Go To Jail"),
    Space(31, "street", "Pacific Avenue", "green", 300, (26, 130, 390, 900, 1100, 1275), 200),
    Space(32, "street", "North Carolina Avenue", "green", 300, (26, 130, 390, 900, 1100, 1275), 200),
    Space(33, "community_chest", "Community Chest"),
    Space(34, "street", "Pennsylvania Avenue", "green", 320, (28, 150, 450, 1000, 1200, 1400), 200),
    Space(35, "railroad", "Short Line", "railroad", 200),
    Space(36, "chance", "Chance"),
    Space(37, "street", "Park Place", "dark_blue", 350, (35, 175, 500, 1100, 1300, 1500), 200),
    Space(38, "tax", "Luxury Tax", tax=100),
    Space(39, "street", "Boardwalk", "dark_blue", 400, (50, 200, 600, 1400, 1700, 2000), 200),
)

DEEDS: tuple[int, ...] = tuple(space.position for space in SPACES if space.price)
"""Positions of everything that can be owned, in board order."""
STREETS: tuple[int, ...] = tuple(space.position for space in SPACES if space.kind == "street")
GROUPS: dict[str, tuple[int, ...]] = {
    group: tuple(space.position for space in SPACES if space.group == group)
    for group in dict.fromkeys(space.group for space in SPACES if space.group)
}
"""Positions of each group, in board order; railroads and utilities are groups too."""


def group_name(group: str) -> str:
    """What a group is called."""
    return group.replace("_", " ")


def name_of(position: int) -> str:
    """What the space is called."""
    return SPACES[position].name


Position: TypeAlias = Annotated[int, Worded(name_of)]
"""A space by its number, 0 (GO) to 39; templates call it by its name."""


class OnBoard(Event, in_prompt=False):
    """Base of the events of tokens, property and money: prompts show the board that comes of them, not each move."""


class OfPlayer(OnBoard):
    """Base of those that are of one player alone."""

    player: str
    name: str
