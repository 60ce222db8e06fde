"""Rules 136 to 152: debts and bankruptcy. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.auctions import AuctionBid, AuctionOpened, BidMade
from agentsim.games.monopoly.building import Mortgaged, Sold
from agentsim.games.monopoly.debts import Bankrupted, RaiseCash
from agentsim.games.monopoly.match import Paid
from agentsim.games.monopoly.trade import AnswerTrade
from tests.games.monopoly.answers import ACCEPT, REJECT, bid, proposal, raises, side
from tests.games.monopoly.table import Game, refusal

ORANGES = "16:1 18:1 19:1"


def falls(game: Game) -> list[tuple[str, str | None]]:
    """Who went bankrupt to whom."""
    return [(fall.player, fall.creditor) for fall in game.events(Bankrupted)]


def test_136_liquidate_first() -> None:
    game = Game(A=f"$100 {ORANGES}").owe("A", "B", 300, A=[raises(sell=[16, 18, 19], mortgage=[16])])
    assert (game.cash["A"], game.gains["B"], game.deeds()) == (40, 300, ["16m", "18", "19"])
    assert falls(game) == []


def test_money_may_be_raised_in_steps() -> None:
    steps = [raises(sell=[16]), raises(sell=[18]), raises(sell=[19]), raises(mortgage=[16])]
    game = Game(A=f"$100 {ORANGES}").owe("A", "B", 300, A=steps)
    assert (game.cash["A"], [asked.you.cash for asked in game.requests(RaiseCash)]) == (40, [100, 150, 200, 250])


def test_137_solvency_test() -> None:
    everything = raises(sell=[16, 18, 19], mortgage=[16, 18, 19])
    paid = Game(A=f"$100 {ORANGES}").owe("A", "B", 530, A=[everything])
    assert (paid.cash["A"], paid.gains["B"], falls(paid)) == (0, 530, [])
    broke = Game(A=f"$100 {ORANGES}").owe("A", "B", 531)
    assert falls(broke) == [("A", "B")]
    assert broke.requests(RaiseCash) == []


def test_hotels_count_five_houses_in_the_solvency_test() -> None:
    hand = "$0 37:H 39:H"  # 2 x 5 x 100 and 375
    assert falls(Game(A=hand).owe("A", "B", 1376)) == [("A", "B")]
    ways = raises(sell=[-37, -39, *[37, 39] * 4], mortgage=[37, 39])
    assert falls(Game(A=hand).owe("A", "B", 1375, A=[ways])) == []


def test_138_to_a_player_everything_goes() -> None:
    game = Game(A="$20 39m 3 chance", B="$500").owe("A", "B", 2000)
    assert game.cash == {"A": 0, "B": 500, "C": 1500, "D": 1500}
    assert (game.deeds("A"), game.deeds("B"), game["B"].cards) == ([], ["3", "39m"], ("chance",))
    assert [(paid.payer, paid.payee, paid.amount, paid.why) for paid in game.events(Paid)] == [
        ("A", "B", 20, "bankruptcy"),
        ("B", None, 20, "interest"),
    ]
    assert "C09" not in game.deck("chance")
    assert game["A"].bankrupt


def test_139_if_a_mortgaged_baltic_first() -> None:
    game = Game(A="$20 39m 3", B="$500").does(mortgage=[3]).owe("A", "B", 2000)
    assert (game.cash["B"], game.deeds("B")) == (527, ["3m", "39m"])


def test_140_buildings_are_sold_to_the_bank_and_the_cash_goes_to_the_creditor() -> None:
    game = Game(A="$0 37:2 39:2").owe("A", "B", 5000)
    assert (game.gains, game.deeds("B"), game.stock) == ({"B": 400}, ["37", "39"], (32, 12))
    assert [(sold.position, sold.amount) for sold in game.events(Sold)] == [(37, 200), (39, 200)]


def test_hotels_of_the_bankrupt_need_no_houses_in_the_bank() -> None:
    thirty = "31:4 32:4 34:4 26:4 27:4 29:4 21:2 23:2 24:2"
    game = Game(A="$0 16:H 18:H 19:H", D=thirty).owe("A", "B", 5000)
    assert (game.gains, game.stock) == ({"B": 750}, (2, 12))


def test_142_to_the_bank() -> None:
    game = Game(A="$50 6m 5").owe("A", "bank", 200, B=[bid(0), bid(30)])
    assert falls(game) == [("A", None)]
    assert [opened.position for opened in game.events(AuctionOpened)] == [5, 6], "in board order"
    assert {opened.bidders for opened in game.events(AuctionOpened)} == {("B", "C", "D")}
    assert (game.deeds("B"), game.owner(5)) == (["6"], "bank")
    assert game.gains == {"A": -50, "B": -30}


def test_the_bank_auctions_sealed_too() -> None:
    game = Game(A="$50 6m 5", config={"auction": "sealed"}).owe("A", "bank", 200, B=[bid(9)], C=[bid(10)], D=[bid(10)])
    assert (game.deeds("C"), game.owner(6)) == (["5"], "bank")


def test_cards_of_who_falls_to_the_bank_go_under_their_decks() -> None:
    game = Game(A="$50 chance chest").owe("A", "bank", 200)
    assert (game.deck("chance")[-1], game.deck("chest")[-1], game["A"].cards) == ("C09", "H05", ())


def test_a_card_returned_by_bankruptcy_lies_under_the_deck_above_the_card_that_ruined() -> None:
    game = Game(A="$5 chance", chance="C13").land(7)
    assert falls(game) == [("A", None)]
    assert game.deck("chance")[-2:] == ("C09", "C13"), "the card drawn goes back when it is resolved"


def test_143_buildings_to_the_bank_are_not_auctioned() -> None:
    game = Game(A=f"$0 {ORANGES}").owe("A", "bank", 5000)
    assert (game.gains, game.stock) == ({}, (32, 12))
    assert [sold.amount for sold in game.events(Sold)] == [0, 0, 0]
    assert game.events(Paid) == []
    assert [opened.position for opened in game.events(AuctionOpened)] == [16, 18, 19]


def test_145_retired_players_vanish_from_play() -> None:
    game = Game(C="out", chest="H09").land(2).auction(6)
    assert game.gains == {"A": 20, "B": -10, "D": -10}
    assert [asked.player for asked in game.requests(AuctionBid)] == ["B", "D", "A"]
    assert game.state.after(1) == [3, 0, 1]
    assert Game(C="out", chance="C15").land(7).gains == {"A": -100, "B": 50, "D": 50}
    assert len(Game(C="out", A="3").trade("C", side(3), side()).asked) == 0


@pytest.mark.parametrize("creditor", ["A", "bank"])
def test_146_last_one_left_wins_at_once(creditor: str) -> None:
    game = Game("AB", B="$0 5 6m").owe("B", creditor, 300)
    assert game.state.over
    assert game.events(AuctionOpened) == []
    assert game.asked == []
    assert game.state.standings([1])[0].player == "A"


def test_148_creditor_short_of_the_interest_raises_it() -> None:
    game = Game(A="$0 39m", B="$0 3").owe("A", "B", 2000, B=[raises(mortgage=[3])])
    assert (game.cash["B"], game.deeds("B")) == (10, ["3m", "39m"])
    (asked,) = game.requests(RaiseCash)
    assert (asked.player, asked.owed, asked.why) == ("B", 20, "interest")


def test_148_creditor_with_nothing_to_raise_it_with_falls_to_the_bank() -> None:
    game = Game(A="$0 39m", B="$0").owe("A", "B", 2000, C=[bid(100)])
    assert falls(game) == [("A", "B"), ("B", None)]
    assert (game.deeds("C"), game.gains) == (["39"], {"C": -100})


def test_interest_is_due_deed_by_deed() -> None:
    game = Game(A="$0 1m 39m", B="$0 3").owe("A", "B", 2000, B=[raises(mortgage=[3])])
    interest = [(paid.position, paid.amount) for paid in game.events(Paid) if paid.why == "interest"]
    assert interest == [(1, 3), (39, 20)]
    assert game.cash["B"] == 7


def test_a_chain_of_bankruptcies_ends_in_the_bank() -> None:
    game = Game(A="$0 39m 37m", B="$19 5m").owe("A", "B", 2000)
    assert falls(game) == [("A", "B"), ("B", None)]
    assert [opened.position for opened in game.events(AuctionOpened)] == [5, 37, 39]
    assert game.gains == {"B": -19}


def test_a_chain_may_end_the_game() -> None:
    game = Game("ABC", A="$0 39m", B="$0").owe("A", "B", 2000)
    assert game.state.over
    assert game.state.living == [2]
    assert game.events(AuctionOpened) == []


def test_the_last_creditor_owes_no_interest_any_more() -> None:
    game = Game("AB", A="$0 39m", B="$0").owe("A", "B", 2000)
    assert (game.state.living, game.requests(RaiseCash)) == ([1], [])


def test_149_a_debtor_may_sell_to_others_while_raising() -> None:
    sells = raises(proposal("C", side(5), side(cash=150)))
    game = Game(A="$100 5").owe("A", "B", 160, A=[sells], C=[ACCEPT])
    assert game.gains == {"A": -10, "B": 160, "C": -150}
    assert game.owner(5) == "C"


def test_a_rejected_sale_leaves_the_debt() -> None:
    ways = [raises(proposal("C", side(5), side(cash=150))), raises(mortgage=[5])]
    game = Game(A="$100 5").owe("A", "B", 160, A=ways, C=[REJECT])
    assert (game.cash["A"], game.deeds()) == (40, ["5m"])


def test_a_debtor_that_gives_its_means_away_falls() -> None:
    game = Game(A="$100 5").owe("A", "B", 160, A=[raises(proposal("C", side(5), side(cash=1)))], C=[ACCEPT])
    assert falls(game) == [("A", "B")]
    assert game.gains == {"A": -100, "B": 101, "C": -1}


def test_a_debtor_has_two_proposals_a_debt() -> None:
    offer = raises(proposal("C", side(5), side(cash=150)))
    game = Game(A="$100 5").owe("A", "B", 160, A=[offer, offer, raises(mortgage=[5])], C=[REJECT, REJECT])
    assert len(game.requests(AnswerTrade, "C")) == 2
    assert [asked.may_propose for asked in game.requests(RaiseCash)] == [True, True, False]
    assert "sell or mortgage" in refusal(game.requests(RaiseCash)[2], offer)


def test_a_debtor_must_do_something() -> None:
    game = Game(A="$0 5").owe("A", "B", 50, A=[raises(mortgage=[5])])
    assert "you owe" in refusal(game.requests(RaiseCash)[0], raises())


def test_selling_and_trading_in_one_answer() -> None:
    both = raises(proposal("C", side(5), side(cash=60)), mortgage=[15])
    game = Game(A="$0 5 15").owe("A", "B", 150, A=[both], C=[ACCEPT])
    assert (game.cash["A"], game.deeds(), game.deeds("C")) == (10, ["15m"], ["5"])
    assert len(game.events(Mortgaged)) == 1


def test_151_the_turn_passes_to_the_left_of_the_debtor() -> None:
    game = Game(A="@37 $0", D="39").turn((1, 1))
    assert falls(game) == [("A", "D")]
    assert game.state.after(game.state.active)[0] == 1


def test_152_bankruptcy_in_jail() -> None:
    game = Game(A="jail:2 $0").turn((1, 2))
    assert game["A"].bankrupt
    assert (game["A"].jailed, game["A"].failed) == (False, 0)
    assert game.events(BidMade) == []


def test_debts_in_a_turn_of_somebody_else() -> None:
    game = Game(C="$0 39m", D="$0 3", chest="H09").land(2, D=[raises(mortgage=[3])])
    assert falls(game) == [("C", "A")]
    assert game.gains == {"B": -10, "D": 20}, "A gets 10, pays 20 for Boardwalk, and gets 10"
