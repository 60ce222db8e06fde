"""Rules 20 to 37: jail. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.board import JAIL
from agentsim.games.monopoly.building import ManageEstate
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.debts import Bankrupted, RaiseCash
from agentsim.games.monopoly.jail import Freed, JailAction, StayedInJail
from agentsim.games.monopoly.match import Moved, Paid, Rolled
from tests.games.monopoly.answers import CARD, MANAGE, NOTHING, PAY, ROLL, bid, manage, raises
from tests.games.monopoly.table import Game, refusal


def offered(game: Game) -> tuple[str, ...]:
    """What could be chosen in jail first."""
    return game.requests(JailAction)[0].actions


def test_020_fine_before_rolling() -> None:
    game = Game(A="jail").turn((1, 2), A=[PAY])
    assert (game.at(), game["A"].jailed, game.gains) == (13, False, {"A": -50})
    assert [(paid.payee, paid.why) for paid in game.events(Paid)] == [(None, "fine")]


def test_who_paid_has_its_doubles() -> None:
    game = Game(A="jail").turn((5, 5), (4, 6), A=[PAY])
    assert [move.to for move in game.events(Moved)] == [20, 30]
    assert game["A"].jailed


def test_022_doubles_out_of_jail_move_without_another_roll() -> None:
    game = Game(A="jail").turn((3, 3), A=[ROLL])
    assert (game.at(), game["A"].jailed, game.gains) == (16, False, {})
    assert [freed.how for freed in game.events(Freed)] == ["doubles"]
    assert game.requests(BuyOrAuction)[0].you.cash == 1500


def test_after_doubles_out_of_jail_comes_what_comes_after_a_roll() -> None:
    game = Game(A="jail 1").turn((5, 5))
    assert [asked.when for asked in game.requests(ManageEstate)] == ["before", "after"]


def test_023_failed_roll() -> None:
    game = Game(A="jail").turn((1, 2))
    assert (game.at(), game["A"].jailed, game["A"].failed, game.gains) == (10, True, 1, {})
    assert [stayed.failed for stayed in game.events(StayedInJail)] == [1]


def test_second_failed_roll_still_stays() -> None:
    game = Game(A="jail:1").turn((1, 2))
    assert (game.at(), game["A"].failed, game.gains) == (10, 2, {})


def test_third_failed_roll_costs_the_fine_and_moves() -> None:
    game = Game(A="jail:2").turn((6, 4), A=[ROLL])
    assert (game.at(), game["A"].jailed, game["A"].failed, game.gains) == (20, False, 0, {"A": -50})
    assert [freed.how for freed in game.events(Freed)] == ["third roll"]


def test_025_third_roll_is_a_double() -> None:
    game = Game(A="jail:2").turn((5, 5))
    assert (game.at(), game["A"].jailed, game.gains) == (20, False, {})


def test_026_third_failure_with_too_little_cash_raises_money() -> None:
    game = Game(A="jail:2 $30 3").turn((1, 2), A=[raises(mortgage=[3])])
    assert (game.cash["A"], game.at(), game.deeds()) == (10, 13, ["3m"])
    (asked,) = game.requests(RaiseCash)
    assert (asked.owed, asked.why) == (50, "fine")


def test_third_failure_without_the_means_is_bankruptcy_to_the_bank() -> None:
    game = Game(A="jail:2 $19 3").turn((1, 2), B=[bid(7)])
    (fall,) = game.events(Bankrupted)
    assert (fall.player, fall.creditor, fall.owed) == ("A", None, 50)
    assert game.gains == {"A": -19, "B": -7}
    assert game.deeds("B") == ["3"]
    assert not game["A"].jailed


def test_028_card_out_of_jail() -> None:
    game = Game(A="jail chance").turn((1, 2), A=[CARD])
    assert (game.at(), game.gains, game["A"].cards) == (13, {}, ())
    assert game.deck("chance")[-1] == "C09"
    assert len(game.deck("chance")) == 16


def test_029_holding_a_card_forces_nothing() -> None:
    game = Game(A="jail chance").turn((1, 2), A=[ROLL])
    assert offered(game) == ("pay_fine", "use_card", "roll_doubles")
    assert game["A"].cards == ("chance",)
    assert len(game.deck("chance")) == 15


@pytest.mark.parametrize(
    ("official", "hand", "actions"),
    [
        (False, "jail:2", ("pay_fine", "roll_doubles")),
        (True, "jail:1", ("pay_fine", "roll_doubles")),
        (True, "jail:2 chest", ("use_card", "roll_doubles")),
    ],
)
def test_030_third_turn(official: bool, hand: str, actions: tuple[str, ...]) -> None:
    game = Game(A=hand, config={"official_third_turn": official}).turn((5, 5))
    assert offered(game) == actions


def test_030_third_turn_without_a_choice_is_not_asked() -> None:
    game = Game(A="jail:2", config={"official_third_turn": True}).turn((5, 5))
    assert game.requests(JailAction) == []


def test_031_voluntary_fine_needs_the_cash() -> None:
    game = Game(A="jail $40 3").turn((4, 6), A=[MANAGE, manage(mortgage=[3]), PAY])
    assert offered(game) == ("roll_doubles", "manage")
    assert "action" in refusal(game.requests(JailAction)[0], PAY)
    assert (game.cash["A"], game.at()) == (20, 20)


def test_managing_in_jail_for_nothing_comes_back_to_the_choice() -> None:
    game = Game(A="jail 3").turn((1, 2), A=[MANAGE, NOTHING, ROLL])
    assert [asked.actions[-1] for asked in game.requests(JailAction)] == ["manage", "roll_doubles"]


def test_032_rent_is_collected_in_jail() -> None:
    assert Game(B="jail 39").land(39).gains == {"A": -50, "B": 50}


def test_034_no_salary_on_the_way_to_jail() -> None:
    game = Game(chance="C11").land(22)
    assert (game.at(), game["A"].jailed, game.gains) == (10, True, {})


def test_035_straight_back_in() -> None:
    game = Game(A="jail:1", chance="C11").turn((6, 6))
    assert (game.at(), game["A"].jailed, game["A"].failed, game.gains) == (10, True, 0, {})


def test_037_third_doubles_roll_sends_back_who_paid() -> None:
    game = Game(A="jail").turn((2, 2), (2, 2), (2, 2), A=[PAY])
    assert (game.at(), game["A"].jailed, game["A"].failed, game.gains) == (10, True, 0, {"A": -50})
    assert [rolled.purpose for rolled in game.events(Rolled)] == ["move"] * 3


@pytest.mark.parametrize(("hand", "left"), [("jail chance chest", ("community_chest",)), ("jail chest", ())])
def test_of_two_cards_the_chance_card_is_played(hand: str, left: tuple[str, ...]) -> None:
    assert Game(A=hand).turn((1, 2), A=[CARD])["A"].cards == left


def test_a_card_serves_once() -> None:
    game = Game(A="jail chance").turn((1, 2), A=[CARD])
    game.state.put(0, JAIL, jailed=True)
    game.turn((1, 2), A=[ROLL])
    assert game.requests(JailAction)[-1].actions == ("pay_fine", "roll_doubles")


def test_the_jailed_bid_at_auctions() -> None:
    assert Game(B="jail").auction(6, B=[bid(5)]).deeds("B") == ["6"]
