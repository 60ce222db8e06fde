"""Rules 1 to 19: movement, GO, plain spaces, doubles. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.auctions import AuctionOpened
from agentsim.games.monopoly.building import ManageEstate
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.jail import Jailed
from agentsim.games.monopoly.match import Moved, Paid, Rolled
from tests.games.monopoly.answers import BUY, DECLINE, bid
from tests.games.monopoly.table import Game


def test_001_salary_on_landing() -> None:
    game = Game(A="@35").turn((2, 3))
    assert (game.at(), game.gains) == (0, {"A": 200})
    (paid,) = game.events(Paid)
    assert (paid.payer, paid.payee, paid.why) == (None, "A", "salary")


def test_002_salary_on_passing() -> None:
    game = Game(A="@38").turn((1, 4), A=[DECLINE])
    assert (game.at(), game.gains) == (3, {"A": 200})
    (asked,) = game.requests(BuyOrAuction)
    assert asked.you.cash == 1700, "the salary is there before the decision"


def test_no_salary_short_of_go() -> None:
    assert Game(A="@31").turn((3, 5)).gains == {}


def test_004_two_salaries_via_chance() -> None:
    game = Game(A="@39", chance="C02").turn((2, 6))
    assert (game.at(), game.gains) == (0, {"A": 400})
    assert [(move.start, move.to, move.by) for move in game.events(Moved)] == [(39, 7, "dice"), (7, 0, "card")]


def test_005_salary_comes_before_the_space() -> None:
    game = Game(A="@36 $0").turn((2, 6))
    assert (game.at(), game.cash["A"], game["A"].bankrupt) == (4, 0, False)
    assert [paid.why for paid in game.events(Paid)] == ["salary", "tax"]


def test_income_tax_is_flat() -> None:
    assert Game(A="$1900 39 37").land(4).gains == {"A": -200}


def test_007_luxury_tax() -> None:
    game = Game(A="@31").turn((3, 4))
    assert (game.at(), game.gains) == (38, {"A": -100})


def test_008_free_parking_pays_nothing() -> None:
    game = Game(A="@13").land(4, player="B").land(38, player="C").turn((3, 4))
    assert (game.at(), game.gains) == (20, {"B": -200, "C": -100})


def test_just_visiting_costs_nothing() -> None:
    game = Game(A="@3").turn((3, 4))
    assert (game.at(), game["A"].jailed, game.gains) == (10, False, {})


def test_010_go_to_jail_space() -> None:
    game = Game(A="@23").turn((3, 4))
    assert (game.at(), game["A"].jailed, game["A"].failed, game.gains) == (10, True, 0, {})
    assert [jailed.why for jailed in game.events(Jailed)] == ["space"]


def test_011_own_property() -> None:
    game = Game(A="6").land(6)
    assert game.gains == {}
    assert game.asked == []


def test_anothers_mortgaged_property() -> None:
    game = Game(B="6m").land(6)
    assert game.gains == {}
    assert game.asked == []


# -- doubles


def test_doubles_roll_again() -> None:
    game = Game(A="@4").turn((3, 3), (4, 6))
    assert [rolled.dice for rolled in game.events(Rolled)] == [(3, 3), (4, 6)]
    assert game.at() == 20


def test_013_third_double_moves_nobody() -> None:
    game = Game(B="18").turn((3, 3), (1, 1), (5, 5), A=[DECLINE, DECLINE])
    assert (game.at(), game["A"].jailed, game.gains) == (10, True, {})
    assert [move.to for move in game.events(Moved)] == [6, 8]
    assert game.owner(6) == game.owner(8) == "bank"


def test_014_third_double_past_go_pays_no_salary() -> None:
    game = Game(A="@29", chest="H05").turn((1, 1), (1, 1), (5, 5))
    assert (game.at(), game["A"].jailed, game.gains) == (10, True, {})


def test_the_third_double_needs_three_in_one_turn() -> None:
    game = Game(A="@2").turn((4, 4), (5, 5), (3, 4)).turn((5, 5), (1, 2))
    assert (game.at(), game["A"].jailed) == (0, False)


def test_016_go_to_jail_after_doubles_ends_the_turn() -> None:
    game = Game(A="@20 1").turn((5, 5))
    assert (game.at(), game["A"].jailed) == (10, True)
    assert [asked.when for asked in game.requests(ManageEstate)] == ["before"], "nothing is done after the roll"


def test_017_jail_card_after_doubles_ends_the_turn() -> None:
    game = Game(chest="H06").turn((1, 1))
    assert (game.at(), game["A"].jailed, game.gains) == (10, True, {})


def test_bankruptcy_after_doubles_ends_the_turn() -> None:
    game = Game(A="@0 $30").turn((2, 2))
    assert game["A"].bankrupt
    assert game.gains == {"A": -30}


def test_019_auction_after_doubles_keeps_the_extra_roll() -> None:
    game = Game().turn((3, 3), (5, 4), A=[DECLINE], B=[bid(10)])
    assert game.owner(6) == "B"
    assert (game.at(), game.gains) == (15, {"B": -10})
    assert [opened.position for opened in game.events(AuctionOpened)] == [6, 15]


@pytest.mark.parametrize("player", "ABC")
def test_every_seat_moves_by_its_own_dice(player: str) -> None:
    game = Game(A="@1", B="@1", C="@1").turn((1, 2), player=player)
    assert {seat: game.at(seat) for seat in "ABC"} == {seat: 4 if seat == player else 1 for seat in "ABC"}


def test_a_purchase_after_doubles_keeps_the_extra_roll() -> None:
    game = Game().turn((3, 3), (1, 1), (1, 2), A=[BUY, BUY, BUY])
    assert game.deeds() == ["6", "8", "11"]
    assert game.gains == {"A": -340}
