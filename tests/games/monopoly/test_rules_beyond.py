"""Rules in combination: what follows from several of them at once, and what the reference list leaves out.

Where a number stands, it is that of the list's rule which decides the case; "official" is the printed rules' own.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Everyone, Nobody
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.auctions import AuctionBid, AuctionOpened
from agentsim.games.monopoly.building import Built, Bundle, ManageEstate, Sold
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.debts import Bankrupted, Raise, RaiseCash
from agentsim.games.monopoly.jail import Freed, JailAction
from agentsim.games.monopoly.match import CardMoved, GameEnded, Moved, Paid, Rolled
from agentsim.games.monopoly.phase import DoTrade
from agentsim.games.monopoly.talk import Narrated, Spoke, Thought
from agentsim.games.monopoly.trade import NOBODY, Proposal, Proposed, ProposeTrade, TradeDiscarded, terms_of
from tests.amounts import each_row
from tests.games.monopoly.answers import (
    ACCEPT,
    BUY,
    CARD,
    DECLINE,
    MANAGE,
    NO_TRADE,
    NOTHING,
    PAY,
    REJECT,
    ROLL,
    bid,
    manage,
    proposal,
    propose,
    raises,
    side,
)
from tests.games.monopoly.asked import questions
from tests.games.monopoly.table import Game, refusal

TWENTY_FOUR = "31:4 32:4 34:4 26:4 27:4 29:4"
"""Houses that D has, out of 32."""
QUIET: dict[str, Decision] = {
    "buy_or_auction": DECLINE,
    "auction_bid": bid(0),
    "propose_trade": NO_TRADE,
    "manage_estate": NOTHING,
    "jail_action": ROLL,
}


def falls(game: Game) -> list[tuple[str, str | None]]:
    """Who went bankrupt to whom."""
    return [(fall.player, fall.creditor) for fall in game.events(Bankrupted)]


def path(game: Game) -> list[int]:
    """Where tokens came to."""
    return [move.to for move in game.events(Moved)]


def quiet(players: str, *dice: tuple[int, int], **config: Any) -> Simulation:
    """A whole game in which nobody does what can be left, with these throws first."""
    thrown = {"dice": [die for pair in dice for die in pair]}
    return simulate(GAME, {"max_turns": len(dice), **config}, players, QUIET, chance=thrown)


# -- movement, salary, doubles


def test_a_card_after_doubles_keeps_the_extra_roll() -> None:
    game = Game(A="@1", chance="C03", B="24").turn((3, 3), (2, 4))
    assert (path(game), game.gains) == ([7, 24, 30], {"A": -20, "B": 20})
    assert game["A"].jailed


def test_salary_twice_in_a_turn_of_doubles() -> None:
    game = Game(A="@38", chest="H01").turn((2, 2), (1, 2), A=[DECLINE])
    assert (path(game), game.gains) == ([2, 0, 3], {"A": 400})


def test_rent_out_of_the_salary_just_passed() -> None:
    assert Game(A="@35 $0", B="3:3 1:3").turn((3, 5)).gains == {"A": 20, "B": 180}


def test_the_roll_goes_on_after_another_players_bankruptcy() -> None:
    game = Game(B="$4", chest="H09").turn((1, 1), (3, 5))
    assert falls(game) == [("B", "A")]
    assert (path(game), game.gains) == ([2, 10], {"A": 24, "B": -4, "C": -10, "D": -10})


def test_an_inheritance_that_ruins_the_player_ends_its_doubles() -> None:
    game = Game(A="$0", B="$0 39m", chest="H09").turn((1, 1))
    assert falls(game) == [("B", "A"), ("A", None)]
    assert len(game.events(Rolled)) == 1
    assert game.requests(ManageEstate) == []


def test_the_game_ends_within_a_turn_of_doubles() -> None:
    game = Game("AB", B="$4", chest="H09").turn((1, 1))
    assert game.state.over
    assert len(game.events(Rolled)) == 1


def test_two_doubles_then_bankruptcy_leaves_no_jail() -> None:
    game = Game(A="@30 $90", B="39").turn((2, 2), (2, 2), A=[bid(0)])
    assert path(game) == [34, 38]
    assert falls(game) == [("A", None)]
    assert not game["A"].jailed


# -- turn order


def test_the_turn_passes_over_the_fallen() -> None:
    played = quiet("ABCD", (1, 3), (4, 6), (4, 6), (4, 6), (4, 6), start_cash=150)
    assert "".join(rolled.player for rolled in played.events(Rolled)) == "ABCDB", "A falls to the tax"
    (ended,) = played.events(GameEnded)
    assert [(result.player, result.rank) for result in ended.results][-1] == ("A", 4)


def test_the_game_ends_at_once_when_one_is_left() -> None:
    played = simulate(GAME, {"start_cash": 150}, "ABC", QUIET, chance={"dice": [1, 3, 1, 3, 6, 6]})
    assert "".join(rolled.player for rolled in played.events(Rolled)) == "AB", "C is never to roll"
    assert [(place.player, place.rank) for place in played.outcome.standings] == [("C", 1), ("B", 2), ("A", 3)]
    assert played.outcome.reason == "one player is left"


def test_the_last_in_order_falls_and_the_first_goes_on() -> None:
    played = quiet("ABC", (4, 6), (4, 6), (1, 3), (4, 6), start_cash=150)
    assert "".join(rolled.player for rolled in played.events(Rolled)) == "ABCA"


# -- jail


def test_doubles_after_a_card_out_of_jail_roll_again() -> None:
    """Official: who is free before the roll rolls as anybody does."""
    game = Game(A="jail chance").turn((5, 5), (2, 3), A=[CARD])
    assert (path(game), game.gains) == ([20, 25], {})


def test_the_card_is_played_on_the_third_turn_too() -> None:
    game = Game(A="jail:2 chest $10", config={"official_third_turn": True}).turn((4, 6), A=[CARD])
    assert game.requests(JailAction)[0].actions == ("use_card", "roll_doubles")
    assert (game.at(), game.gains, game.deck("chest")[-1]) == (20, {}, "H05")


def test_doubles_out_of_jail_onto_chance_and_past_go() -> None:
    game = Game(A="jail", B="5", chance="C14").turn((6, 6))
    assert (path(game), game.gains) == ([22, 5], {"A": 175, "B": 25})
    assert len(game.events(Rolled)) == 1


def test_the_third_failure_moves_onto_what_ruins() -> None:
    game = Game(A="jail:2 $60", B="13").turn((1, 2))
    assert [paid.why for paid in game.events(Paid)] == ["fine", "rent"]
    assert game.cash["A"] == 0
    poorer = Game(A="jail:2 $59", B="13").turn((1, 2))
    assert falls(poorer) == [("A", "B")]
    assert poorer.gains == {"A": -59, "B": 9}


def test_the_third_failure_may_lead_straight_back() -> None:
    game = Game(A="jail:2", chest="H06").turn((3, 4))
    assert (game.at(), game["A"].jailed, game["A"].failed, game.gains) == (10, True, 0, {"A": -50})
    assert [freed.how for freed in game.events(Freed)] == ["third roll"]


def test_the_fine_of_the_third_failure_may_be_raised_by_a_trade() -> None:
    sale = raises(proposal("C", side(3), side(cash=45)))
    game = Game(A="jail:2 $25 3").turn((4, 6), A=[sale], C=[ACCEPT])
    assert (game.cash["A"], game.at(), game.owner(3)) == (20, 20, "C")


def test_after_a_failed_roll_nothing_more_is_asked() -> None:
    game = Game(A="jail 3", B="5").turn((1, 2))
    assert [asked.when for asked in game.requests(ManageEstate)] == ["before"]
    assert [asked.when for asked in game.requests(ProposeTrade)] == ["before"]


def test_a_trade_from_jail_comes_before_the_jail_roll() -> None:
    game = Game(A="jail 3", B="5").turn((1, 2), A=[propose("B", side(3), side(5))], B=[ACCEPT])
    assert (game.deeds(), game["A"].jailed) == (["5"], True)


def test_the_estate_is_seen_to_twice_at_most_before_the_choice() -> None:
    steps: list[Decision] = [MANAGE, manage(mortgage=[1]), MANAGE, manage(mortgage=[3]), PAY]
    game = Game(A="jail $0 1 3").turn((4, 6), A=steps)
    assert [("manage" in asked.actions) for asked in game.requests(JailAction)] == [True, True, False]
    assert game.cash["A"] == 10


def test_jailed_by_three_doubles_the_count_starts_anew() -> None:
    game = Game(A="@4").turn((3, 3), (5, 5), (1, 1)).turn((1, 2)).turn((2, 1)).turn((4, 6))
    assert (game["A"].jailed, game.at(), game.gains) == (False, 20, {"A": -50})


# -- cards


def test_the_chair_raises_only_what_the_next_payee_is_owed() -> None:
    game = Game(A="$60 3 5", chance="C15").land(7, A=[raises(mortgage=[5])])
    (asked,) = game.requests(RaiseCash)
    assert (asked.you.cash, asked.owed, asked.creditor) == (10, 50, "C")
    assert game.gains == {"A": -50, "B": 50, "C": 50, "D": 50}


def test_the_chair_ruined_by_the_first_whom_the_inheritance_ruins() -> None:
    game = Game(A="$10 39m", B="$0", chance="C15").land(7, C=[bid(5)])
    assert falls(game) == [("A", "B"), ("B", None)]
    assert (game.deeds("C"), game.gains) == (["39"], {"A": -10, "C": -5}), "C and D are owed by nobody"


def test_a_birthday_with_two_who_cannot_pay() -> None:
    game = Game(B="$3 chest", D="$4 5m", chance="C09").land(7, player="C")
    game.state.decks["community_chest"] = Game(B="chest", chest="H09").state.decks["community_chest"]
    game.land(2)
    assert falls(game) == [("B", "A"), ("D", "A")]
    assert game.gains == {"A": 3 + 10 + 4 - 10, "B": -3, "C": -10, "D": -4}
    assert (game.deeds(), game["A"].cards, game["C"].cards) == (["5m"], ("community_chest",), ("chance",))


def test_a_birthday_may_end_the_game() -> None:
    game = Game("ABC", B="$3", C="$9 39m", chest="H09").land(2)
    assert game.state.over
    assert (game.gains["A"], game.deeds()) == (12, ["39m"]), "nobody is left to owe the interest to, or the bank to win"


def test_a_payer_sells_houses_for_a_birthday() -> None:
    game = Game(D="$0 16:1 18:1 19:1", chest="H09").land(2, D=[raises(sell=[18])])
    assert (game.cash["D"], game.deeds("D")) == (40, ["16:1", "18", "19:1"])


def test_back_three_to_a_birthday() -> None:
    game = Game(chance="C10", chest="H09").land(36)
    assert (game.at(), game.gains) == (33, {"A": 30, "B": -10, "C": -10, "D": -10})


def test_a_jailed_landlord_takes_the_double_railroad_rent() -> None:
    assert Game(B="jail 15 25m", chance="C06").land(7).gains == {"A": -100, "B": 100}


def test_nearest_utility_of_an_owner_whose_other_one_is_mortgaged() -> None:
    game = Game(B="12m 28", chance="C07").land(22, (1, 1), roll=(5, 4))
    assert (game.at(), game.gains) == (28, {"A": -20, "B": 20})


def test_own_utility_by_card_throws_no_dice() -> None:
    game = Game(A="12", chance="C07").land(7)
    assert (game.gains, game.events(Rolled)) == ({}, [])


def test_advance_without_the_price_goes_to_auction_at_once() -> None:
    game = Game(A="$100", chance="C03").land(7, A=[bid(40)], B=[bid(30)])
    assert game.requests(BuyOrAuction) == []
    assert (game.owner(24), game.gains) == ("A", {"A": -40})


def test_the_salary_of_a_card_may_pay_the_price() -> None:
    game = Game(A="$0", chance="C14").land(22, A=[BUY])
    assert (game.deeds(), game.cash["A"]) == (["5"], 0)


def test_advance_to_a_built_lot_takes_its_rent() -> None:
    assert Game(B="11:3 13:3 14:3", chance="C04").land(22).gains == {"A": 200 - 450, "B": 450}


def test_repairs_paid_by_breaking_down_hotels() -> None:
    game = Game(A="$0 1:H 3:H", chance="C12").land(7, A=[raises(sell=[-1, -3, *[1, 3] * 4])])
    assert (falls(game), game.cash["A"], game.deeds()) == ([], 2 * 5 * 25 - 2 * 100, ["1", "3"])


def test_repairs_that_ruin_send_the_buildings_back_and_auction_the_lots() -> None:
    game = Game(A="$10 1:4 3:4 39m", chest="H14").land(2, B=[bid(5), bid(6), bid(7)])  # 320 of 10 + 8 x 25 + 60
    assert (falls(game), game.stock) == ([("A", None)], (32, 12))
    assert (game.deeds("B"), game.gains) == (["1", "3", "39"], {"A": -10, "B": -18})
    assert [(sold.position, sold.amount) for sold in game.events(Sold)] == [(1, 0), (3, 0)], "no money for them"


def test_two_cards_of_a_deck_in_one_turn_lie_in_their_order() -> None:
    game = Game(A="@1", chance="C16 C13", chest="H08").turn((3, 3), (5, 5), (2, 3))
    assert (path(game), game.gains) == ([7, 17, 22], {"A": 150 + 20 - 15})
    assert game.deck("chance")[-2:] == ("C16", "C13")


def test_an_inherited_card_serves_its_heir_and_goes_back() -> None:
    game = Game(A="$0 chance", B="jail").owe("A", "B", 10).turn((4, 6), player="B", B=[CARD])
    assert [(moved.giver, moved.taker) for moved in game.events(CardMoved)] == [("A", "B"), ("B", None)]
    assert (game.deck("chance")[-1], len(game.deck("chance")), game.at("B")) == ("C09", 16, 20)


def test_a_traded_card_serves_its_buyer_and_goes_back() -> None:
    game = Game(A="chest", B="jail").trade("B", side(cards=1), side(cash=40)).turn((4, 6), player="B", B=[CARD])
    assert (game.gains, game.deck("chest")[-1]) == ({"A": 40, "B": -40}, "H05")


# -- debts and bankruptcy


def test_an_heir_completes_a_group() -> None:
    game = Game(A="$0 19", B="16 18").owe("A", "B", 500).land(16, player="C")
    assert (game.gains["C"], game.deeds("B")) == (-28, ["16", "18", "19"])


def test_an_heir_may_pay_the_interest_by_selling_houses() -> None:
    game = Game(A="$0 39m 37m", B="$0 1:1 3:1").owe("A", "B", 500, B=[raises(sell=[1]), raises(sell=[3])])
    assert game.cash["B"] == 12
    assert [asked.owed for asked in game.requests(RaiseCash)] == [18, 20]


def test_an_heir_may_pay_the_interest_with_clear_deeds_it_inherits() -> None:
    game = Game(A="$0 39m 3", B="$0").owe("A", "B", 500, B=[raises(mortgage=[3])])
    assert (game.cash["B"], game.deeds("B")) == (10, ["3m", "39m"])


def test_an_heir_may_sell_what_it_inherits() -> None:
    sale = raises(proposal("C", side(39), side(cash=60)))
    game = Game(A="$0 39m 3", B="$0").owe("A", "B", 500, B=[sale], C=[ACCEPT])
    assert game.gains == {"B": 60 - 20, "C": -60 - 20}, "either pays the bank its tenth"
    assert game.deeds("C") == ["39m"]


def test_the_estate_of_the_fallen_heir_is_auctioned_whole_and_clear() -> None:
    game = Game(A="$0 39m chance", B="$3 5m chest").owe("A", "B", 5000, C=[bid(1), bid(0), bid(2)], D=[bid(2)])
    assert falls(game) == [("A", "B"), ("B", None)]
    assert (game.owner(5), game.owner(39)) == ("D", "C")
    assert (game.deck("chance")[-1], game.deck("chest")[-1]) == ("C09", "H05")
    assert game.gains == {"B": -3, "C": -2, "D": -2}


def test_the_cash_of_one_auction_is_gone_in_the_next() -> None:
    game = Game(A="$0 1 3", B="$100").owe("A", "bank", 300, B=[bid(60), bid(40)])
    assert (game.deeds("B"), game.cash["B"]) == (["1", "3"], 0)
    assert "40" in refusal(game.requests(AuctionBid, "B")[-1], bid(41))


def test_all_deeds_of_the_fallen_are_offered_even_where_nobody_bids() -> None:
    game = Game(A="$0 1m 5m 39m").owe("A", "bank", 300)
    assert [opened.position for opened in game.events(AuctionOpened)] == [1, 5, 39]
    assert {game.owner(position) for position in (1, 5, 39)} == {"bank"}
    assert game.land(39, player="B", B=[BUY]).gains == {"B": -400}


def test_two_left_and_one_falls_to_the_bank_with_buildings() -> None:
    game = Game("AB", A="$0 1:1 3:1 5m chance").owe("A", "bank", 500)
    assert game.state.over
    assert (game.stock, game.asked, game.deeds("A"), game.deck("chance")[-1]) == ((32, 12), [], [], "C09")


def test_a_debtor_breaks_a_hotel_down_step_by_step() -> None:
    game = Game(A="$0 16:4 18:4 19:H").owe("A", "B", 150, A=[raises(sell=[-19, 19, 16])])
    assert (game.deeds(), game.cash["A"], game.stock) == (["16:3", "18:4", "19:3"], 0, (22, 12))


def test_a_debtor_short_of_houses_in_the_bank_sells_the_group_to_the_ground() -> None:
    game = Game(A="$0 16:4 18:4 19:H", D=TWENTY_FOUR, B="39")
    assert game.stock == (0, 11)
    everything = raises(sell=[*[16] * 4, *[18] * 4, -19, *[19] * 4])
    game.land(39, A=[everything])
    assert (game.cash["A"], game.deeds(), game.stock) == (650 - 50, ["16", "18", "19"], (8, 12))
    assert "four houses" in refusal(game.requests(RaiseCash)[0], raises(sell=[-19]))


@each_row(
    "hand, others",
    [
        ("$0 16:H 18:H 19:H 1 12", "31:4 32:4 34:4 26:4 27:4 29:4 21:2 23:3 24:3"),
        ("$0 16:4 18:4 19:H 5 6m", "31:4 32:4 34:4 26:4 27:4 29:4"),
        ("$0 37:1 39:2 16:H 18:H 19:4", ""),
        ("$5 1 3m 5 12 15m", ""),
    ],
)
@each_row("share", [0.05, 0.4, 0.7, 1.0])
def test_the_fallback_pays_whatever_can_be_paid(hand: str, others: str, share: float) -> None:
    game = Game(A=hand, D=others)
    most = game.cash["A"] + game.state.estate.liquidation_value(0)
    owed = max(game.cash["A"] + 1, int(most * share))
    asked = 0

    class Falling(Game):
        """The debtor's every answer is its fallback."""

        @staticmethod
        def _answer(request: Request[Any], script: Any) -> Decision:
            nonlocal asked
            asked += isinstance(request, RaiseCash)
            decision: Decision = request.fallback()
            return decision

    paid = Falling(A=hand, D=others).owe("A", "B", owed)
    assert falls(paid) == []
    assert paid.gains["B"] == owed
    assert asked <= 4


def test_lots_freed_of_buildings_may_be_sold_to_others_in_the_same_answer() -> None:
    both = raises(proposal("C", side(16), side(cash=200)), sell=[16, 18, 19])
    game = Game(A="$0 16:1 18:1 19:1").owe("A", "B", 340, A=[both], C=[ACCEPT])
    assert (game.cash["A"], game.deeds(), game.deeds("C")) == (10, ["18", "19"], ["16"])


def test_a_debtor_cannot_trade_lots_whose_group_is_built_up() -> None:
    offer = raises(proposal("C", side(16), side(cash=200)))
    game = Game(A="$0 16 18:1 19:1").owe("A", "B", 40, A=[offer, raises(sell=[18])])
    (event,) = game.events(TradeDiscarded)
    assert "buildings" in event.problem


def test_a_debtor_may_trade_with_its_creditor() -> None:
    sale = raises(proposal("B", side(37), side(cash=300)))
    game = Game(A="$0 39 37").owe("A", "B", 300, A=[sale], B=[ACCEPT])
    assert (game.gains, game.deeds("B"), game.deeds()) == ({}, ["37"], ["39"])


def test_a_debtor_neither_lifts_nor_builds() -> None:
    assert set(Raise.model_fields) == {"sells", "mortgages", "trade"}


def test_a_debtor_mortgages_what_its_sales_have_cleared() -> None:
    game = Game(A="$0 37:1 39:1").owe("A", "B", 575, A=[raises(sell=[37, 39], mortgage=[37, 39])])
    assert (game.cash["A"], game.deeds()) == (0, ["37m", "39m"])


def test_a_jailed_payer_raises_and_stays() -> None:
    game = Game(B="jail:1 $0 3", chest="H09").land(2, B=[raises(mortgage=[3])])
    assert (game["B"].jailed, game["B"].failed, game.cash["B"]) == (True, 1, 20)


def test_a_jailed_payer_falls_out_of_jail_and_game() -> None:
    game = Game(B="jail:1 $0", chest="H09").land(2)
    assert (game["B"].jailed, game["B"].bankrupt, game.gains["A"]) == (False, True, 20)


@pytest.mark.parametrize("players", ["AB", "ABC", "ABCDEFGH"])
def test_everybody_left_bids_for_what_the_fallen_held(players: str) -> None:
    game = Game(players, A="$0 5") if len(players) > 2 else Game("ABC", A="$0 5", C="out")
    game.owe("A", "bank", 200)
    opened = game.events(AuctionOpened)
    assert [auction.bidders for auction in opened] == ([tuple(players[1:])] if len(players) > 2 else [])


# -- auctions


def test_a_bidder_without_the_least_step_is_not_asked() -> None:
    game = Game(B="$9", config={"auction_min_step": 10}).auction(6, C=[bid(10)])
    assert game.requests(AuctionBid, "B") == []
    assert game.owner(6) == "C"


def test_the_outbid_may_come_back_many_times() -> None:
    game = Game("ABC").auction(6, B=[bid(1), bid(3), bid(5)], C=[bid(2), bid(4)])
    assert (game.owner(6), game.gains) == ("B", {"B": -5})


def test_the_sealed_step_is_the_least_bid() -> None:
    game = Game(config={"auction": "sealed", "auction_min_step": 10}).land(6, A=[DECLINE, bid(10)])
    assert "10" in refusal(game.requests(AuctionBid)[0], bid(9))
    assert game.owner(6) == "A", "the decliner may bid"


def test_all_the_cash_may_be_bid_and_the_next_rent_ruins() -> None:
    game = Game(A="$120", B="39").land(6, A=[DECLINE, bid(120)]).owe("A", "B", 51)
    assert falls(game) == [("A", "B")]
    assert game.deeds("B") == ["6", "39"]


# -- building and mortgages


def test_a_hotel_needs_no_house_in_the_bank() -> None:
    game = Game(A="16:4 18:4 19:4", D="31:4 32:4 34:4 21:2 23:3 24:3")
    assert game.stock[0] == 0
    assert game.does(build=[-16]).stock == (4, 11)


def test_houses_given_back_by_hotels_are_there_for_the_rest_of_the_bundle() -> None:
    """The bank has one house: Connecticut's fourth first, then the hotels, then Mediterranean and Baltic."""
    game = Game(A="1 3 6:4 8:4 9:3", D="31:4 32:4 34:4 21:2 23:3 24:3")
    assert game.stock == (1, 12)
    game.does(build=[1, 3, 9, -6])
    assert (game.deeds(), game.stock) == (["1:1", "3:1", "6:H", "8:4", "9:4"], (2, 11))
    assert [built.position for built in game.events(Built)][:2] == [9, 6]


def test_houses_of_one_group_break_down_the_hotels_of_another() -> None:
    """The bank has seven houses: Boardwalk's and Park Place's come back before Kentucky's hotel needs its four."""
    game = Game(A="21:H 23:H 24:4 37:H 39:4", D="31:4 32:3 34:3 26:1 27:2 29:1 16:1 18:1 19:1")
    assert game.stock[0] == 7
    game.does(sell=[-21, -37, *[37] * 3, *[39] * 3])
    assert game.deeds() == ["21:4", "23:H", "24:4", "37:1", "39:1"]


def test_selling_in_one_group_pays_for_building_in_another() -> None:
    game = Game(A="$0 37:1 39:1 1 3").does(sell=[37, 39], build=[1, 3, 1, 3])
    assert (game.cash["A"], game.deeds()) == (0, ["1:2", "3:2", "37", "39"])


def test_a_mortgage_and_its_lifting_cost_the_interest() -> None:
    assert Game(A="39").does(mortgage=[39]).does(unmortgage=[39]).gains == {"A": -20}


def test_another_group_may_be_mortgaged_while_one_is_built_up() -> None:
    assert Game(A="16:1 18:1 19:1 21 23 24").does(mortgage=[23]).deeds() == ["16:1", "18:1", "19:1", "21", "23m", "24"]


def test_a_mortgage_may_be_lifted_in_jail() -> None:
    game = Game(A="jail 39m").turn((1, 2), A=[manage(unmortgage=[39])])
    assert (game["A"].jailed, game.deeds()) == (True, ["39"])


def test_a_bundle_that_sells_a_house_cannot_build_the_hotel_beside_it() -> None:
    with pytest.raises(IllegalDecision, match="even"):
        Game(A="1:4 3:4").does(sell=[1], build=[-3])


# -- trades


def test_lots_become_tradeable_once_the_groups_buildings_are_sold() -> None:
    steps: list[Decision] = [manage(sell=[16, 18, 19]), propose("B", side(16), side(cash=10))]
    game = Game(A="16:1 18:1 19:1 5").turn((4, 6), A=[NO_TRADE, *steps], B=[ACCEPT])
    assert (game.owner(16), game.gains) == ("B", {"A": 160, "B": -10})


def test_a_trade_changes_the_railroads_that_count() -> None:
    game = Game(A="5", B="15 25").trade("B", side(5), side(cash=1)).land(25, player="C").land(5, player="D")
    assert game.gains == {"A": 1, "B": 199, "C": -100, "D": -100}


def test_a_trade_that_breaks_a_group_halves_its_rent() -> None:
    assert Game(A="6 8 9").trade("B", side(9), side(cash=1)).land(6, player="C").gains["C"] == -6


def test_a_second_trade_goes_by_what_the_first_has_left() -> None:
    offers = [propose("B", side(cash=1500), side(5)), propose("B", side(cash=1), side(15))]
    game = Game(A="", B="5 15").turn((4, 6), A=offers, B=[ACCEPT])
    (event,) = game.events(TradeDiscarded)
    assert "does not have" in event.problem
    assert game.deeds() == ["5"]


def test_interest_in_a_trade_may_come_from_the_cash_of_the_trade() -> None:
    refused = Game(A="$0 5", B="$20 39m").trade("B", side(5), side(39, cash=19))
    assert len(refused.events(TradeDiscarded)) == 1
    assert Game(A="$0 5", B="$20 39m").trade("B", side(5), side(39, cash=20)).gains == {"B": -20}


def test_a_trade_is_public_with_its_pitch_and_terms() -> None:
    game = Game(A="3", B="6").trade("B", side(3, cash=7), side(6), REJECT)
    _, offer, answer = game.match.memory(3).told
    assert offer.line == 'A offers B Baltic Avenue + $7 for Oriental Avenue: "A fair one."'
    assert answer.line == "B rejects it"


def test_134_what_is_left_of_the_turns_proposals_is_what_is_said() -> None:
    """Three are made by the second roll of a double: one is left of the turn's four, whatever the phase would allow."""
    offer = propose("B", side(3), side(cash=1))
    game = Game(A="3").turn((5, 5), (4, 6), A=[offer, offer, offer, NO_TRADE, offer], B=[REJECT] * 4)
    asked = game.requests(ProposeTrade)
    assert [(request.when, request.left) for request in asked] == [
        *[("before", 2), ("before", 1), ("after", 2), ("after", 1)],
        ("before", 1),
    ]


def test_a_player_whose_id_is_a_number_is_named_by_it() -> None:
    """The design's own example writes `"target_player": 1`."""
    (request, *_) = Game("0123", **{"2": "6", "1": "18"}).turn((4, 6), player="2").requests(ProposeTrade, "2")
    action = {
        "propose_trade": True,
        "target_player": 1,
        "offer": {"properties": [6], "cash": 50, "jail_cards": 0},
        "request": {"properties": [18], "cash": 0, "jail_cards": 0},
        "pitch": "The deal of the century!",
    }
    reply = json.dumps({"action": action, "public_speech": "Well?", "private_thought": "Hm."})
    read = request.parse(reply).decision
    assert read.action == proposal("1", side(6, cash=50), side(18)).model_copy(update={"pitch": action["pitch"]})
    assert Game("12", **{"1": "6", "2": "18"}).trade("3", side(18), side(6), proposer="2").asked == []
    game = Game("0123", **{"2": "6", "1": "18"})
    says: dict[str, list[Decision]] = {"2": [read], "1": [ACCEPT]}
    game.turn((4, 6), player="2", **says)
    assert (game.deeds("2"), game.deeds("1"), game.gains) == (["18"], ["6"], {"2": -50, "1": 50})


# -- words and fallbacks


@pytest.mark.parametrize("speech", ["x" * 50_000, "word " * 31, " ".join(["supercalifragilistic"] * 30)])
def test_a_speech_is_cut_with_a_mark_whatever_its_words(speech: str) -> None:
    game = Game(A="3").turn((4, 6), A=[Proposed(action=Proposal(), public_speech=speech)])
    (spoke,) = game.events(Spoke)
    assert spoke.text.endswith(" [cut]")
    assert len(spoke.text) <= 30 * 12 + len(" [cut]")
    assert game.match.memory(1).told[-1].said == spoke.text


def test_thirty_words_are_not_cut() -> None:
    game = Game(A="3").turn((4, 6), A=[Proposed(action=Proposal(), public_speech="word " * 30)])
    assert game.events(Spoke)[0].text == " ".join(["word"] * 30)


def falling_back(request: Request[Any], rng: Stream) -> Decision:
    """A player of whom no usable reply ever comes."""
    decision: Decision = request.fallback()
    return decision


@pytest.mark.parametrize("players", [2, 3, 5, 8])
@pytest.mark.parametrize("auction", ["open", "sealed"])
def test_a_game_of_nothing_but_fallbacks_is_played(players: int, auction: str) -> None:
    names = {letter: f"The {letter}" for letter in "ABCDEFGH"[:players]}
    played = simulate(
        GAME,
        {"max_turns": 120, "auction": auction, "start_cash": 400},
        list(names),
        bot=falling_back,
        names=names,
        seed=players,
    )
    assert not [*played.events(Spoke), *played.events(Thought)]
    told = {(line.event.text, line.to) for line in played.log if isinstance(line.event, Narrated)}
    note = "[Decision made by fallback system due to LLM error]"
    assert told == {(note, Nobody), *((f"{name} is thinking...", Everyone) for name in names.values())}


def test_the_fallbacks_bid_may_pass_the_printed_price_once() -> None:
    request = next(request for request in questions() if isinstance(request, AuctionBid))
    lot = replace(request.lot, high=95, least=96, position=6)
    assert replace(request, lot=lot).fallback().action.bid == 105, "ten more, past the printed 100"


# -- the end


def test_154_a_tie_at_the_cap_has_no_winner() -> None:
    played = quiet("ABC", (4, 6), (4, 6), (4, 6))
    assert {(place.player, place.rank) for place in played.outcome.standings} == {("A", 1), ("B", 1), ("C", 1)}


def test_the_cap_ranks_the_living_by_worth_and_the_fallen_behind() -> None:
    played = quiet("ABC", (1, 3), (2, 4), (4, 6), (4, 6), start_cash=150)
    assert [(place.player, place.rank) for place in played.outcome.standings] == [("B", 1), ("C", 1), ("A", 3)]


def test_the_last_turn_under_the_cap_is_played_out() -> None:
    played = quiet("AB", (5, 5), (5, 4), max_turns=1)
    assert [rolled.dice for rolled in played.events(Rolled)] == [(5, 5), (5, 4)]


# -- answers that say what they mean


@pytest.mark.parametrize(
    ("kind", "action", "read"),
    [
        (BuyOrAuction, "Buy", "buy"),
        (JailAction, "Roll doubles", "roll_doubles"),
        (ProposeTrade, {"propose_trade": False, "target_player": None, "offer": None, "request": None, "pitch": None},
         Proposal()),
        (RaiseCash, {"sells": [{"position": 23, "type": "House"}], "mortgages": None, "trade": None},
         Raise.model_validate({"sells": [{"position": 23, "type": "house"}]})),
        (ManageEstate, {"sells": [], "mortgages": [], "unmortgages": [], "builds": None}, Bundle()),
    ],
)  # fmt: skip
def test_what_is_null_is_left_out_and_case_says_nothing(kind: type[Any], action: Any, read: Any) -> None:
    request = next(request for request in questions() if isinstance(request, kind))
    reply = {"action": action, "public_speech": None, "private_thought": "Hm."}
    decision = request.parse(json.dumps(reply)).decision
    assert decision.action == read
    assert decision.public_speech == ""


def test_a_word_that_is_no_option_is_illegal_and_not_unreadable() -> None:
    request = next(request for request in questions() if isinstance(request, BuyOrAuction))
    with pytest.raises(IllegalDecision, match="'haggle' cannot be chosen"):
        request.parse('{"action": "haggle"}')


@pytest.mark.parametrize("said", [1, "1", "Bea", "bea ", "player 1"])
def test_a_target_is_named_by_its_seat_number_or_its_id(said: Any) -> None:
    game = Game("AB", A="1", B="3", together=True)
    seats = [game["A"], replace(game["B"], id="Bea", name="Bea")]
    read = DoTrade.model_validate({"target_player": said, "offer": {"properties": [1]}, "request": {"properties": [3]}})
    assert terms_of(seats, 0, read).target == 1
    assert (terms_of(seats, 0, DoTrade(target_player="2"))).target == NOBODY


def test_a_seat_number_in_a_reply_is_read_and_the_trade_made() -> None:
    game = Game("AB", A="1", B="3", together=True)
    request = game.match.request(0, ProposeTrade, when="before", made=0, left=2)
    action = {"propose_trade": True, "target_player": 1, "offer": {"properties": [1]}, "request": {"properties": [3]}}
    decision = request.parse(json.dumps({"action": action, "public_speech": "", "private_thought": ""})).decision
    request.check(decision)
    assert request.warning(decision) == ""
    assert "- B (player 1): 3 Baltic Avenue; up to $1500; 0 Get Out of Jail Free cards" in request.prompt().question


def test_where_an_id_is_a_number_the_id_goes_before_the_seat() -> None:
    seats = [replace(seat, id=name) for seat, name in zip(Game("ABC").state.seats, "210", strict=True)]
    assert terms_of(seats, 0, DoTrade(target_player="1")).target == 1
    assert terms_of(seats, 1, DoTrade(target_player="0")).target == 2


def test_a_target_is_found_in_any_case() -> None:
    seats = Game("AB", A="1", B="3").state.seats
    assert terms_of(seats, 0, proposal("b ", side(1), side(3))).target == 1
    assert terms_of(seats, 0, proposal("Bea", side(1), side(3))).target == NOBODY
