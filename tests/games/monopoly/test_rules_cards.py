"""Rules 38 to 71: what the cards do, and the decks. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.debts import Bankrupted, RaiseCash
from agentsim.games.monopoly.jail import Jailed
from agentsim.games.monopoly.match import CardDrawn, Moved, Paid, Rolled
from tests.amounts import each_row
from tests.games.monopoly.answers import BUY, CARD, DECLINE, bid, raises
from tests.games.monopoly.table import Game

RAILROADS = "5 15 25 35"


def test_038_nearest_railroad_unowned() -> None:
    game = Game(chance="C05").land(7, A=[BUY])
    assert (game.at(), game.deeds(), game.gains) == (15, ["15"], {"A": -200})
    declined = Game(chance="C05").land(7, A=[DECLINE], D=[bid(1)])
    assert (declined.owner(15), declined.gains) == ("D", {"D": -1})


def test_own_railroad_by_card_costs_nothing() -> None:
    assert Game(A="15", chance="C05").land(7).gains == {}


@pytest.mark.parametrize(("deeds", "rent"), [("15", 50), ("5 15", 100), ("5 15 25", 200), (RAILROADS, 400)])
def test_040_nearest_railroad_doubles_by_the_number_held(deeds: str, rent: int) -> None:
    assert Game(B=deeds, chance="C06").land(7).gains == {"A": -rent, "B": rent}


def test_041_nearest_railroad_from_36_passes_go() -> None:
    game = Game(B=RAILROADS, chance="C05").land(36)
    assert (game.at(), game.gains) == (5, {"A": -200, "B": 400})


def test_nearest_railroad_mortgaged() -> None:
    game = Game(B="5 15m", chance="C05").land(7)
    assert (game.at(), game.gains) == (15, {})


def test_043_a_mortgaged_railroad_still_counts_for_the_others() -> None:
    assert Game(B="5m 15").land(15).gains == {"A": -50, "B": 50}


@each_row("card", ["C05", "C06"])
@each_row("start, to", [(7, 15), (22, 25), (36, 5)])
def test_044_two_copies_forward_only(card: str, start: int, to: int) -> None:
    assert Game(chance=card).land(start).at() == to


def test_045_nearest_utility_ten_times_a_fresh_roll() -> None:
    game = Game(B="12", chance="C07").land(7, (2, 6), roll=(3, 4))
    assert (game.at(), game.gains) == (12, {"A": -80, "B": 80})


def test_046_the_same_with_both() -> None:
    assert Game(B="12 28", chance="C07").land(7, (2, 6), roll=(3, 4)).gains == {"A": -80, "B": 80}


def test_047_the_rent_dice_are_not_a_move_and_not_doubles() -> None:
    game = Game(B="12", chance="C07").turn((3, 4), (4, 4))
    assert (game.at(), game.gains) == (12, {"A": -80, "B": 80})
    assert [rolled.purpose for rolled in game.events(Rolled)] == ["move", "rent"]


def test_doubles_of_the_move_still_count_after_a_rent_roll() -> None:
    game = Game(A="@1", B="12", chance="C07").turn((3, 3), (1, 2), (4, 3))
    assert [rolled.purpose for rolled in game.events(Rolled)] == ["move", "rent", "move"]
    assert game.at() == 19


@pytest.mark.parametrize(("start", "to", "salary"), [(7, 12, 0), (22, 28, 0), (36, 12, 200)])
def test_049_nearest_utility_unowned(start: int, to: int, salary: int) -> None:
    game = Game(chance="C07").land(start, A=[BUY])
    assert (game.at(), game.deeds(), game.gains) == (to, [str(to)], {"A": salary - 150})
    assert game.events(Rolled) == []


def test_050_nearest_utility_mortgaged() -> None:
    game = Game(B="12m", chance="C07").land(7)
    assert (game.gains, game.events(Rolled)) == ({}, [])


def test_back_three_to_income_tax() -> None:
    game = Game(chance="C10").land(7)
    assert (game.at(), game.gains) == (4, {"A": -200})


def test_052_back_three_to_new_york() -> None:
    game = Game(B="19", chance="C10").land(22)
    assert (game.at(), game.gains) == (19, {"A": -16, "B": 16})


@pytest.mark.parametrize(("top", "at", "gain"), [("H02", 33, 200), ("H01", 0, 200), ("H06", 10, 0)])
def test_053_back_three_to_community_chest_draws_again(top: str, at: int, gain: int) -> None:
    game = Game(chance="C10", chest=top).land(36)
    assert (game.at(), game.gains) == (at, {"A": gain} if gain else {})
    assert [drawn.card for drawn in game.events(CardDrawn)] == ["C10", top]


@pytest.mark.parametrize("start", [7, 22, 36])
def test_055_reading_railroad_always_passes_go_single_rent(start: int) -> None:
    game = Game(B="5", chance="C14").land(start)
    assert (game.at(), game.gains) == (5, {"A": 175, "B": 25})


@pytest.mark.parametrize(("start", "salary"), [(7, 0), (22, 200), (36, 200)])
def test_056_st_charles(start: int, salary: int) -> None:
    game = Game(chance="C04").land(start, A=[DECLINE])
    assert game.at() == 11
    assert game.requests(BuyOrAuction)[0].you.cash == 1500 + salary


@pytest.mark.parametrize(("start", "salary"), [(7, 0), (22, 0), (36, 200)])
def test_illinois(start: int, salary: int) -> None:
    game = Game(B="24", chance="C03").land(start)
    assert (game.at(), game.cash["A"]) == (24, 1480 + salary)


@pytest.mark.parametrize("start", [7, 22, 36])
def test_058_boardwalk(start: int) -> None:
    game = Game(A="$2100", B="37:H 39:H", chance="C01").land(start)
    assert (game.at(), game.cash["A"]) == (39, 100)


@pytest.mark.parametrize("start", [2, 17, 33])
def test_059_advance_to_go_pays_once(start: int) -> None:
    assert Game(chest="H01").land(start).gains == {"A": 200}


@each_row(
    "card, gain",
    [
        *(("C08", 50), ("C13", -15), ("C16", 150), ("H02", 200), ("H03", -50), ("H04", 50), ("H07", 100)),
        *(("H08", 20), ("H10", 100), ("H11", -100), ("H12", -50), ("H13", 25), ("H15", 10), ("H16", 100)),
    ],
)
def test_money_cards(card: str, gain: int) -> None:
    game = Game(chance=card).land(7) if card[0] == "C" else Game(chest=card).land(2)
    assert game.gains == {"A": gain}
    assert {paid.payer or paid.payee for paid in game.events(Paid)} == {"A"}, "the bank pays and is paid"


def test_the_chair_pays_every_player() -> None:
    game = Game(chance="C15").land(7)
    assert game.gains == {"A": -150, "B": 50, "C": 50, "D": 50}
    assert [paid.payee for paid in game.events(Paid)] == ["B", "C", "D"]


def test_061_chairman_short() -> None:
    game = Game(A="$120", chance="C15").land(7)
    assert game.cash == {"A": 0, "B": 1550, "C": 1550, "D": 1520}
    (fall,) = game.events(Bankrupted)
    assert (fall.player, fall.creditor) == ("A", "D")


def test_the_chair_pays_from_the_left() -> None:
    game = Game(C="$60", chance="C15").land(22, player="C")
    assert game.cash == {"A": 1510, "B": 1500, "C": 0, "D": 1550}


def test_062_birthday() -> None:
    assert Game(chest="H09").land(2).gains == {"A": 30, "B": -10, "C": -10, "D": -10}


def test_a_birthday_in_jail_is_paid_for_too() -> None:
    assert Game("AB", B="jail", chest="H09").land(2).gains == {"A": 10, "B": -10}


def test_064_birthday_payer_broke() -> None:
    game = Game(C="$4", chest="H09").land(2)
    assert game.cash == {"A": 1524, "B": 1490, "C": 0, "D": 1490}
    assert game["C"].bankrupt


def test_birthday_payer_raises() -> None:
    game = Game(C="$4 3", chest="H09").land(2, C=[raises(mortgage=[3])])
    assert (game.cash["A"], game.cash["C"], game.deeds("C")) == (1530, 24, ["3m"])


def test_birthday_brings_a_mortgaged_deed_whose_interest_is_due_before_the_next_payer() -> None:
    game = Game(A="$0", B="$0 39m", chest="H09").land(2)
    # B falls and leaves Boardwalk; A cannot pay its $20 and falls to the bank before C and D have paid
    assert [(fall.player, fall.creditor) for fall in game.events(Bankrupted)] == [("B", "A"), ("A", None)]
    assert game.gains == {}
    assert game.owner(39) == "bank"


def test_065_general_repairs() -> None:
    game = Game(A="16:3 18:3 19:3 37:H 39:H", chance="C12").land(7)
    assert game.gains == {"A": -425}


def test_street_repairs() -> None:
    assert Game(A="16:3 18:3 19:3 37:H 39:H", chest="H14").land(2).gains == {"A": -(9 * 40 + 2 * 115)}


def test_repairs_of_nothing_cost_nothing() -> None:
    game = Game(A="16 18", B="37:H 39:H", chance="C12").land(7)
    assert (game.gains, game.events(Paid)) == ({}, [])


def test_067_repairs_are_fixed_when_drawn() -> None:
    game = Game(A="$100 16:3 18:3 19:3", chance="C12").land(7, A=[raises(sell=[16, 18, 19])])
    assert game.requests(RaiseCash)[0].owed == 225
    assert (game.cash["A"], game.deeds()) == (25, ["16:2", "18:2", "19:2"])


def test_068_jail_card_leaves_the_deck() -> None:
    game = Game(chance="C09").land(7)
    assert game["A"].cards == ("chance",)
    assert len(game.deck("chance")) == 15
    deck = game.state.decks["chance"]
    others = [deck.draw().id for _ in range(15)]
    assert len({*others, "C09"}) == 16
    assert deck.draw().id == others[0]


def test_070_no_reshuffle() -> None:
    deck = Game().state.decks["chance"]
    drawn = []
    for _ in range(32):
        drawn.append(deck.draw().id)
        if drawn[-1] == "C09":  # used at once
            deck.put_back("C09")
    assert drawn[16:] == drawn[:16]
    assert len(set(drawn)) == 16


def test_071_card_drawn_returns_to_the_bottom() -> None:
    game = Game(chance="C08").land(7)
    assert (game.gains, game.deck("chance")[-1]) == ({"A": 50}, "C08")


@pytest.mark.parametrize(("deck", "space", "card"), [("chance", 22, "C11"), ("chest", 33, "H06")])
def test_go_to_jail_cards(deck: str, space: int, card: str) -> None:
    game = Game(**{deck: card}).land(space)
    assert (game.at(), game["A"].jailed, game.gains) == (10, True, {})
    assert [jailed.why for jailed in game.events(Jailed)] == ["card"]
    assert game.events(Moved) == [], "it passes nothing"


def test_both_cards_out_of_jail_may_be_held() -> None:
    game = Game(chance="C09", chest="H05").land(7).land(2)
    assert game["A"].cards == ("chance", "community_chest")


def test_a_card_out_of_jail_that_is_used_lies_below_the_cards_drawn_before() -> None:
    game = Game(A="jail chance", chance="C08").land(7, player="B").turn((1, 2), A=[CARD])
    assert game.deck("chance")[-2:] == ("C08", "C09")
