"""Rules 85 to 95: rent. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.match import Paid
from tests.amounts import each_row
from tests.games.monopoly.answers import raises
from tests.games.monopoly.table import Game


def rent(deeds: str, position: int, *, roll: tuple[int, int] = (1, 2)) -> int:
    """What A pays where B holds these."""
    game = Game(A="$5000", B=deeds).land(position, roll=roll)
    assert game.gains.get("B", 0) == -game.gains.get("A", 0)
    return game.gains.get("B", 0)


@pytest.mark.parametrize(("position", "due"), [(6, 12), (8, 12), (9, 16)])
def test_085_full_group_unimproved_doubles(position: int, due: int) -> None:
    assert rent("6 8 9", position) == due


@pytest.mark.parametrize(("position", "due"), [(6, 12), (9, 16), (8, 0)])
def test_086_full_group_with_one_lot_mortgaged(position: int, due: int) -> None:
    assert rent("6 8m 9", position) == due


@pytest.mark.parametrize(("position", "due"), [(16, 28), (18, 70), (19, 80)])
def test_a_bare_lot_of_a_group_built_up_elsewhere_pays_double(position: int, due: int) -> None:
    assert rent("16 18:1 19:1", position) == due


def test_088_two_of_three_is_not_a_group() -> None:
    assert rent("16 18", 16) == 14


@pytest.mark.parametrize(
    ("lots", "due"),
    [
        ("21:1 23:1 24:1", 100),
        ("21:2 23:2 24:2", 300),
        ("21:3 23:3 24:3", 750),
        ("21:4 23:4 24:4", 925),
        ("21:4 23:4 24:H", 1100),
    ],
)
def test_089_illinois_table(lots: str, due: int) -> None:
    assert rent(lots, 24) == due


@each_row("group", [group for group in GROUPS if group not in {"railroad", "utility"}])
@each_row("houses", range(6))
def test_every_street_takes_what_its_deed_says(group: str, houses: int) -> None:
    built = " ".join(f"{lot}:{'H' if houses == 5 else houses}" for lot in GROUPS[group])
    for lot in GROUPS[group]:
        assert rent(built, lot) == SPACES[lot].rents[houses] * (2 if houses == 0 else 1)


@pytest.mark.parametrize(("deeds", "due"), [("35", 25), ("5 35", 50), ("5 25 35", 100), ("5 15 25 35", 200)])
def test_091_railroads(deeds: str, due: int) -> None:
    assert rent(deeds, 35) == due


@pytest.mark.parametrize(("deeds", "due"), [("12", 28), ("12 28", 70), ("12 28m", 70), ("12m 28", 0)])
def test_092_utilities(deeds: str, due: int) -> None:
    assert rent(deeds, 12, roll=(3, 4)) == due


def test_railroads_of_two_players_count_apart() -> None:
    game = Game(B="5 15", C="25").land(5).land(25)
    assert game.gains == {"A": -75, "B": 50, "C": 25}


def test_094_utility_after_doubles_uses_the_latest_roll() -> None:
    game = Game(B="12").turn((2, 2), (3, 5))
    assert (game.at(), game.gains) == (12, {"A": -232, "B": 32})


def test_utility_out_of_jail_by_doubles_uses_that_roll() -> None:
    assert Game(A="jail", B="12").turn((1, 1)).gains == {"A": -8, "B": 8}


def test_095_exact_cash_is_enough() -> None:
    game = Game(A="$50", B="39").land(39)
    assert (game.cash["A"], game["A"].bankrupt) == (0, False)


def test_one_dollar_short_is_not_enough() -> None:
    game = Game(A="$49", B="39").land(39)
    assert game["A"].bankrupt
    assert game.gains == {"A": -49, "B": 49}


def test_rent_is_paid_in_one_payment() -> None:
    game = Game(A="$30 3", B="39").land(39, A=[raises(mortgage=[3])])
    (paid,) = game.events(Paid)
    assert (paid.payer, paid.payee, paid.amount, paid.why, paid.position) == ("A", "B", 50, "rent", 39)
    assert paid.cash == {"A": 10, "B": 1550}
