"""Everything legal can be said: what a phase asks in one question; each thing is said, and done.

Where the printed rules say more, `rules = "official"` sets theirs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.errors import UnreadableReply
from agentsim.games.monopoly.auctions import AuctionBid, BidMade
from agentsim.games.monopoly.building import (
    BuildingShort,
    Built,
    LiftOnReceipt,
    ManageEstate,
    Mortgaged,
    Sold,
    Unmortgaged,
)
from agentsim.games.monopoly.buying import BuyOrAuction, RaiseFirst
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.debts import RaiseCash
from agentsim.games.monopoly.jail import Freed, JailAction
from agentsim.games.monopoly.match import Paid
from agentsim.games.monopoly.phase import PhaseAction
from agentsim.games.monopoly.trade import AnswerTrade, ProposeTrade, TradeAccepted
from tests.amounts import each_row
from tests.games.monopoly.answers import (
    ACCEPT,
    BUY,
    CARD,
    DONE,
    PAY,
    REJECT,
    bid,
    does,
    funds,
    offers,
    raises,
    side,
    unmortgages,
)
from tests.games.monopoly.table import Game, refusal

THIRTY_ONE = "31:4 32:4 34:4 26:4 27:4 29:4 21:3 23:2 24:2"
"""Houses that D has, out of 32."""


def phases(game: Game, player: str = "A") -> list[tuple[str, int, int]]:
    """When the player was asked what it does, with the trades and the changes of its estate before that."""
    return [(asked.when, asked.made, asked.managed) for asked in game.requests(PhaseAction, player)]


# -- one question a phase


def test_a_phase_is_one_question_where_nothing_is_done() -> None:
    game = Game(A="3", B="6", together=True).turn((4, 6))
    assert phases(game) == [("before", 0, 0), ("after", 0, 0)]
    assert not game.requests(ProposeTrade)
    assert not game.requests(ManageEstate)


def test_it_is_asked_again_as_long_as_something_is_done() -> None:
    game = Game(A="3 5", B="6", together=True)
    game.turn(
        (4, 6), A=[offers("B", side(3), side(6)), does(mortgage=[5]), does(unmortgage=[5]), DONE, DONE], B=[REJECT]
    )
    assert phases(game) == [("before", 0, 0), ("before", 1, 0), ("before", 1, 1), ("before", 1, 2), ("after", 0, 0)]
    assert game.gains == {"A": 100 - 110}


def test_end_phase_says_that_this_was_all() -> None:
    game = Game(A="3 5", B="6", together=True).turn((4, 6), A=[does(mortgage=[5], end=True)])
    assert phases(game) == [("before", 0, 0), ("after", 0, 0)]


def test_a_change_of_nothing_ends_the_phase() -> None:
    assert phases(Game(A="3", together=True).turn((4, 6), A=[does(), does()])) == [
        ("before", 0, 0),
        ("after", 0, 0),
    ]


def test_kinds_that_are_not_open_are_neither_shown_nor_taken() -> None:
    (before, _) = Game(A="16m $5", B="6 $5", together=True).turn((4, 6), player="A").requests(PhaseAction, "A")
    assert before.kinds == ("propose_trade",)
    assert "manage_estate" not in before.form()
    assert "action.do must be one of: nothing, propose_trade" in refusal(before, does(unmortgage=[16]))
    offer = offers("B", side(16), side(cash=1))
    (*_, last) = (
        Game(A="16m $5", B="6 $50", together=True).turn((4, 6), A=[offer] * 4, B=[REJECT] * 4).requests(PhaseAction)
    )
    assert (last.made, last.left) == (1, 1), "two a phase, and then nothing is left to ask"


@each_row(
    "action, does",
    [
        ("nothing", "nothing"),
        (None, "nothing"),
        ("pass", "nothing"),
        ({}, "nothing"),
        ({"propose_trade": False}, "nothing"),
        ({"do": "Manage estate", "builds": [{"position": 16}]}, "manage_estate"),
        ({"builds": [{"position": 16, "type": "house"}]}, "manage_estate"),
        ({"manage_estate": {"mortgages": [16]}}, "manage_estate"),
        ({"propose_trade": True, "target_player": "B", "offer": {"properties": [16]}}, "propose_trade"),
        ({"do": "propose_trade", "target_player": "B", "request": {"cash": 5}}, "propose_trade"),
        ({"target_player": "B", "builds": [{"position": 16}]}, None),
        ({"sing": True}, None),
        ({"do": "sing"}, None),
        ({"do": [1, {}]}, None),
    ],
)
def test_an_action_is_known_by_its_fields_and_what_is_unclear_is_not_read(action: Any, does: str | None) -> None:
    (asked, *_) = Game(A="16 18 19", B="6", together=True).turn((4, 6)).requests(PhaseAction)
    reply = json.dumps({"private_thought": "Hm.", "action": action, "public_speech": "Well."})
    if does is None:
        with pytest.raises(UnreadableReply):
            asked.parse(reply)
    else:
        assert asked.parse(reply).decision.action.do == does


def test_what_cannot_be_built_is_refused_and_a_trade_that_cannot_be_is_warned_of() -> None:
    (asked, *_) = Game(A="16 18 19", B="6", together=True).turn((4, 6)).requests(PhaseAction)
    assert "cannot be built on" in refusal(asked, does(build=[6]))
    assert "does not belong" in asked.warning(offers("B", side(6), side(cash=1)))
    assert not asked.warning(does(build=[16]))


def test_houses_are_sold_and_the_group_is_traded_in_one_phase() -> None:
    game = Game(A="6:1 8:1 9:1", B="11", together=True)
    swap = offers("B", side(6, 8, 9), side(11))
    game.turn((4, 6), A=[does(sell=[6, 8, 9]), swap], B=[ACCEPT])
    assert (game.deeds("A"), game.deeds("B")) == (["11"], ["6", "8", "9"])
    assert game.gains["A"] == 75


# -- jail


def test_a_card_is_bought_and_frees_in_the_same_turn() -> None:
    game = Game(A="jail", B="chance", together=True)
    game.turn((1, 2), A=[offers("B", side(cash=30), side(cards=1)), CARD], B=[ACCEPT])
    assert [freed.how for freed in game.events(Freed)] == ["card"]
    assert (phases(game)[0], game.gains) == (("jail", 0, 0), {"A": -30, "B": 30})


def test_31_the_fine_is_raised_in_the_phase_before() -> None:
    game = Game(A="jail $40 3", together=True).turn((1, 2), A=[does(mortgage=[3]), PAY])
    (way,) = game.requests(JailAction)
    assert "manage" not in way.actions, "what the phase before has been for"
    assert game.cash["A"] == 20


def test_who_is_sent_to_jail_acts_there_before_the_turn_is_over() -> None:
    game = Game(A="@20 16 18 19", B="6", together=True)
    game.turn((4, 6), A=[DONE, does(build=[16, 18, 19])], B=[])
    assert game["A"].jailed
    assert phases(game)[:2] == [("before", 0, 0), ("jailed", 0, 0)]
    assert len(game.events(Built)) == 3


def test_a_third_double_leaves_a_chance_too_and_a_failed_roll_none() -> None:
    game = Game(A="5", together=True).turn((5, 5), (5, 5), (1, 1), A=[DONE] * 5)
    assert [when for when, *_ in phases(game)] == ["before", "after", "before", "after", "before", "jailed"]
    assert [when for when, *_ in phases(Game(A="jail 5", together=True).turn((1, 2)))] == ["jail"]


# -- money before it is needed


def test_a_mortgage_pays_for_what_one_stands_on() -> None:
    game = Game(A="@1 $60 5", together=True).turn((2, 3), A=[DONE, funds(mortgage=[5]), BUY])
    (asked,) = game.requests(RaiseFirst)
    assert (asked.position, asked.needed, asked.bid) == (6, 100, False)
    assert (game.deeds(), game.cash["A"]) == (["5m", "6"], 60)


def test_who_raises_nothing_is_not_asked_to_buy_and_the_deed_is_auctioned() -> None:
    game = Game(A="@1 $60 5", together=True).turn((2, 3), A=[DONE, bid(0)])
    assert len(game.requests(RaiseFirst)) == len(game.requests(AuctionBid, "A")) == 1
    assert not game.requests(BuyOrAuction)


def test_who_could_not_raise_enough_is_not_asked_to_raise_it() -> None:
    assert not Game(A="@34 $60 5", together=True).turn((1, 2)).requests(RaiseFirst)


@pytest.mark.parametrize("form", ["open", "sealed"])
def test_houses_and_mortgages_pay_for_a_bid(form: str) -> None:
    config = {"auction": form, "auction_min_step": 10}
    game = Game(B="$5 1:1 3:1 15", together=True, config=config).auction(
        6, B=[funds(sell=[1, 3], mortgage=[15]), bid(150)]
    )
    assert (game.deeds("B"), game.cash["B"]) == (["1", "3", "6", "15m"], 5)
    assert len(game.events(Sold)) == 2


def test_who_is_outbid_may_raise_money_for_the_next_bid() -> None:
    game = Game(B="$5 15", together=True).auction(6, B=[bid(5), funds(mortgage=[15]), bid(60)], C=[bid(50)])
    assert [asked.needed for asked in game.requests(RaiseFirst)] == [51]
    assert [(made.player, made.amount) for made in game.events(BidMade) if made.amount] == [
        ("B", 5),
        ("C", 50),
        ("B", 60),
    ]
    assert (game.owner(6), game.cash["B"]) == ("B", 45)


# -- between turns


def test_who_was_paid_the_price_of_a_house_may_build_before_the_next_roll() -> None:
    game = Game(A="@1", B="6:2 8:2 9:2 $0", together=True).turn((1, 4), B=[does(build=[6])])
    assert phases(game, "B") == [("between", 0, 0), ("between", 0, 1)]
    assert (game.deeds("B"), game.cash["B"]) == (["6:3", "8:2", "9:2"], 90 - 50)
    assert not phases(Game(A="@1", B="6:1 8:1 9:1 $500", together=True).turn((1, 4)), "B"), "$30 pay for no house"


@pytest.mark.parametrize(("when", "asked"), [("never", []), ("when_it_matters", []), ("after_every_roll", ["B", "C"])])
def test_all_others_act_between_turns_only_where_the_setting_says_so(when: str, asked: list[str]) -> None:
    game = Game(A="@1", B="5", C="15", D="out", together=True, config={"between_turns": when}).turn((4, 5))
    assert [request.player for request in game.requests(PhaseAction) if request.when == "between"] == asked


def test_between_turns_buildings_are_sold_and_deeds_mortgaged() -> None:
    game = Game(B="6:1 8:1 9:1 5", together=True, config={"between_turns": "after_every_roll"})
    game.turn((4, 6), B=[does(sell=[6, 8, 9]), does(mortgage=[5, 6])])
    assert phases(game, "B") == [("between", 0, 0), ("between", 0, 1), ("between", 0, 2)]
    assert (game.deeds("B"), game.gains["B"]) == (["5m", "6m", "8", "9"], 75 + 100 + 50)


def test_trades_between_turns_have_their_own_count() -> None:
    offer = offers("C", side(5), side(cash=1))
    game = Game(B="5", together=True, config={"between_turns": "after_every_roll", "proposals_per_phase": 1})
    game.turn((4, 6), A=[offers("B", side(cash=1), side(5))] * 2, B=[REJECT, REJECT, offer], C=[ACCEPT])
    assert game.owner(5) == "C"
    assert len(game.events(TradeAccepted)) == 1


# -- the last houses (S10)


def test_110_two_want_the_last_house_and_the_higher_bid_builds_it() -> None:
    game = Game(A="16 18 19", B="6 8 9", D=f"{THIRTY_ONE} $0", together=True)
    game.turn((4, 6), A=[does(build=[16]), bid(0)], B=[bid(120)])
    (short,) = game.events(BuildingShort)
    assert (short.stock, short.price, short.bidders) == (1, 100, ("B",))
    assert [(built.player, built.position, built.amount) for built in game.events(Built)] == [("B", 9, 120)]
    assert (game.gains, game.stock[0]) == ({"B": -120}, 0)


def test_who_asked_first_has_it_at_the_printed_price_where_the_other_does_not_bid() -> None:
    game = Game(A="16 18 19", B="6 8 9", D=f"{THIRTY_ONE} $0", together=True).turn(
        (4, 6), A=[does(build=[16])], B=[bid(0)]
    )
    assert [asked.player for asked in game.requests(AuctionBid)] == ["B"]
    assert game.gains == {"A": -100}


def test_the_one_who_asked_first_may_bid_on() -> None:
    game = Game(A="16 18 19", B="6 8 9", D=f"{THIRTY_ONE} $0", together=True)
    game.turn((4, 6), A=[does(build=[16]), bid(130)], B=[bid(101), bid(0)])
    assert (game.deeds("A"), game.gains) == (["16:1", "18", "19"], {"A": -130})


def test_only_those_of_which_there_is_not_one_for_each_are_auctioned() -> None:
    two = THIRTY_ONE.replace("24:2", "24:1").replace("21:3", "21:2").replace("23:2", "23:2")
    game = Game(A="16 18 19", B="6 8 9", D=f"{two} $0", together=True)
    assert game.stock[0] == 3
    game.turn((4, 6), A=[does(build=[16, 18, 19]), bid(0)], B=[bid(101)])
    assert [(built.player, built.amount) for built in game.events(Built)] == [("A", 100), ("A", 100), ("B", 101)]


def test_who_is_too_poor_for_one_building_is_asked_again_for_the_next() -> None:
    two = THIRTY_ONE.replace("21:3", "21:2")
    game = Game(A="16 18 19", B="6 8 9 $120", C="11 13 14", D=f"{two} $0", together=True)
    assert game.stock[0] == 2
    game.turn((4, 6), A=[does(build=[16, 18]), bid(0), bid(0)], B=[bid(110), bid(101)], C=[bid(150), bid(0)])
    assert [(built.player, built.amount) for built in game.events(Built)] == [("C", 150), ("B", 101)]
    assert [asked.player for asked in game.requests(AuctionBid)] == ["B", "C", "A", "B", "C", "A"]


def test_who_withdraws_from_one_building_is_not_asked_for_the_next() -> None:
    two = THIRTY_ONE.replace("21:3", "21:2")
    game = Game(A="16 18 19", B="6 8 9", C="11 13 14", D=f"{two} $0", together=True)
    game.turn((4, 6), A=[does(build=[16, 18]), bid(0)], B=[bid(0)], C=[bid(150), bid(0)])
    assert [asked.player for asked in game.requests(AuctionBid)] == ["B", "C", "A", "C"]


def test_by_seat_order_and_where_no_other_could_build_nothing_is_auctioned() -> None:
    first: dict[str, Any] = {"together": True, "config": {"house_shortage": "seat_order"}}
    for others in ({"B": "6 8 9", **first}, {"B": "6 8 9 $100", "together": True}, {"B": "6 8 9m", "together": True}):
        game = Game(A="16 18 19", D=f"{THIRTY_ONE} $0", **others).turn((4, 6), A=[does(build=[16])])
        assert not game.events(BuildingShort)
        assert game.gains == {"A": -100}


# -- a mortgage is lifted on receipt


def test_125_a_mortgaged_deed_is_lifted_at_once() -> None:
    game = Game(B="39m", together=True).turn((4, 6), A=[offers("B", side(), side(39)), unmortgages(39)], B=[ACCEPT])
    assert (game.gains, game.deeds()) == ({"A": -220}, ["39"])
    assert len(game.events(Unmortgaged)) == 1


def test_124_what_is_not_lifted_costs_its_interest() -> None:
    game = Game(A="$500", B="37m 39m", together=True)
    game.turn((4, 6), A=[offers("B", side(), side(37, 39)), unmortgages(37)], B=[ACCEPT])
    assert (game.gains, game.deeds()) == ({"A": -193 - 20}, ["37", "39m"])
    (asked,) = game.requests(LiftOnReceipt)
    assert refusal(asked, unmortgages(37, 37)).startswith("action must be")


def test_nothing_is_lifted_beyond_the_cash_and_who_has_it_for_none_is_not_asked() -> None:
    game = Game(A="$230", B="37m 39m", together=True)
    game.turn((4, 6), A=[offers("B", side(), side(37, 39))], B=[ACCEPT])
    (asked,) = game.requests(LiftOnReceipt)
    assert refusal(asked, unmortgages(37, 39)) == "That and the interest on the others come to $413."
    game = Game(A="$100", B="39m", together=True).turn((4, 6), A=[offers("B", side(), side(39))], B=[ACCEPT])
    assert (game.requests(LiftOnReceipt), game.gains) == ([], {"A": -20})


def test_the_heir_of_a_bankrupt_lifts_at_once_too() -> None:
    game = Game(A="$20 39m 3m", together=True).owe("A", "B", 2000, B=[unmortgages(39)])
    assert (game.gains["B"], game.deeds("B")) == (20 - 220 - 3, ["3m", "39"])
    assert [(paid.why, paid.amount) for paid in game.events(Paid)][-1] == ("interest", 3)


# -- settings


def test_official_sets_every_key_that_is_not_given() -> None:
    official = MonopolyConfig.from_toml({"rules": "official", "proposals_per_phase": 3})
    assert (official.between_turns, official.official_third_turn) == ("after_every_roll", True)
    assert (official.house_shortage, official.lift_on_receipt, official.raise_first) == ("auction", True, True)
    assert MonopolyConfig.from_toml({"rules": "official", "official_third_turn": False}).official_third_turn is False
    usual = MonopolyConfig()
    assert (usual.official_third_turn, usual.between_turns) == (False, "when_it_matters")


# -- the words of questions


def test_a_debt_says_what_it_is_for_and_what_everything_comes_to() -> None:
    game = Game(A="$10 5 6:1 8:1 9:1 @20", B="24", together=True)
    game.turn((1, 3), A=[DONE, raises(mortgage=[5])])
    (asked,) = game.requests(RaiseCash)
    text = "\n".join(asked.question())
    assert "You owe B $20 (rent, 24 Illinois Avenue) and have $10: $10 short." in text
    assert (
        "All your buildings would sell for $75; after that you could also mortgage (you get): 6 Oriental Avenue $50"
        in text
    )
    assert "Selling and mortgaging everything would leave you with $345." in text
    assert [event.position for event in game.events(Mortgaged)] == [5]


def test_a_debt_says_what_is_due_after_it() -> None:
    (chair,) = Game(A="$60 3 5", chance="C15", together=True).land(7, A=[raises(mortgage=[5])]).requests(RaiseCash)
    assert "Selling and mortgaging everything would leave you with $140. After that you owe $50 more." in "\n".join(
        chair.question()
    )
    (rent,) = Game(A="$10 5", together=True).owe("A", "B", 20, A=[raises(mortgage=[5])]).requests(RaiseCash)
    assert "After that" not in "\n".join(rent.question())


def test_who_bids_for_the_last_house_reads_the_rents_that_visitors_owe() -> None:
    game = Game(A="16 18 19", B="6 8 9", D=f"{THIRTY_ONE} $0", together=True).turn(
        (4, 6), A=[does(build=[16])], B=[bid(0)]
    )
    (asked,) = game.requests(AuctionBid)
    assert "on 9 Connecticut Avenue (rent 16, then 40), is auctioned." in asked.question()[0]


def test_a_trade_is_answered_with_its_groups_and_interest() -> None:
    game = Game(A="37m 6", B="39 5 15", together=True)
    game.turn((4, 6), A=[offers("B", side(37, cash=10), side(5))], B=[REJECT])
    (asked,) = game.requests(AnswerTrade)
    text = "\n".join(asked.question())
    assert "Interest at once, on mortgaged deeds received: you pay $18." in text
    assert "Of the 2 dark blue deeds: A 1, then 0; you 1, then 2." in text
    assert "The trade completes your dark blue group." in text


def test_building_says_rents_now_and_then() -> None:
    (asked, *_) = Game(A="16 18 19", B="39", together=True).turn((4, 6)).requests(PhaseAction, "A")
    assert "16 St. James Place $100 (28, 70)" in "\n".join(asked.question())
