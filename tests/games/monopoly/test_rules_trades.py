"""Rules 122 to 134: trades. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.debts import RaiseCash
from agentsim.games.monopoly.match import CardMoved, DeedMoved, Paid
from agentsim.games.monopoly.question import Reacted
from agentsim.games.monopoly.talk import Spoke
from agentsim.games.monopoly.trade import (
    Answered,
    AnswerTrade,
    ProposeTrade,
    React,
    Side,
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
    TradeRejected,
)
from tests.amounts import each_row
from tests.games.monopoly.answers import ACCEPT, NO_TRADE, REJECT, proposal, propose, raises, side
from tests.games.monopoly.table import Game


def discarded(game: Game) -> str:
    """Why the proposal was no proposal; it is put to nobody, and nothing changes."""
    (event,) = game.events(TradeDiscarded)
    assert game.gains == {}
    assert game.asked == []
    assert game.events(TradeProposed) == []
    return event.problem


def test_122_plain_swap() -> None:
    game = Game(A="3", B="6").trade("B", side(3, cash=100), side(6))
    assert (game.gains, game.deeds("A"), game.deeds("B")) == ({"A": -100, "B": 100}, ["6"], ["3"])
    (event,) = game.events(TradeProposed)
    assert (event.proposer, event.target, event.offer.properties, event.offer.cash) == ("A", "B", (3,), 100)
    assert len(game.events(TradeAccepted)) == len(game.requests(React, "A")) == 1
    assert [moved.why for moved in game.events(DeedMoved)] == ["trade", "trade"]


def test_a_rejected_trade_changes_nothing() -> None:
    game = Game(A="3", B="6").trade("B", side(3, cash=100), side(6), REJECT)
    assert (game.gains, game.deeds("A"), game.deeds("B")) == ({}, ["3"], ["6"])
    assert len(game.events(TradeRejected)) == 1
    assert game.requests(React) == []


@pytest.mark.parametrize(("answer", "spoken"), [("accept", ["answer_trade", "react"]), ("reject", ["answer_trade"])])
def test_after_an_acceptance_both_speak_and_after_a_rejection_the_other_does(answer: str, spoken: list[str]) -> None:
    offer, words = propose("B", side(3), side(6)), Answered(action=answer, public_speech="So be it.")
    thanks = [Reacted(public_speech="Thank you.")] * (answer == "accept")
    game = Game(A="3", B="6").turn((4, 6), A=[offer, *thanks], B=[words])
    assert [event.asked for event in game.events(Spoke)] == spoken


def test_cash_both_ways() -> None:
    assert Game(A="3").trade("B", side(3, cash=10), side(cash=60)).gains == {"A": 50, "B": -50}


def test_a_gift() -> None:
    assert Game(A="3").trade("B", side(3), side()).deeds("B") == ["3"]


def test_124_mortgaged_deed_held() -> None:
    game = Game(B="39m").trade("B", side(), side(39))
    assert (game.gains, game.deeds()) == ({"A": -20}, ["39m"])
    assert [(paid.payer, paid.payee, paid.why) for paid in game.events(Paid)] == [("A", None, "interest")]
    assert game.does(unmortgage=[39]).gains == {"A": -240}


def test_125_mortgaged_deed_lifted_at_once_is_not_offered_so_it_costs_20_then_220() -> None:
    game = Game(B="39m").trade("B", side(), side(39)).does(unmortgage=[39])
    assert (game.gains, game.deeds()) == ({"A": -240}, ["39"])


def test_the_target_pays_the_interest_on_what_it_receives() -> None:
    game = Game(A="39m 1m").trade("B", side(39, 1), side(cash=100))
    assert game.gains == {"A": 100, "B": -100 - 20 - 3}


def test_127_receiver_cannot_pay_the_interest() -> None:
    game = Game(A="$5", B="39m").trade("B", side(), side(39))
    assert "interest" in discarded(game)
    assert game.owner(39) == "B"


def test_128_cash_given_plus_interest_must_be_covered() -> None:
    assert Game(A="$15", B="1m").trade("B", side(cash=10), side(1)).cash["A"] == 2
    assert "interest" in discarded(Game(A="$15", B="1m").trade("B", side(cash=13), side(1)))
    assert Game(A="$15", B="1m").trade("B", side(cash=12), side(1)).cash["A"] == 0


def test_cash_received_may_pay_the_interest() -> None:
    assert Game(A="$0", B="39m").trade("B", side(), side(39, cash=20)).cash["A"] == 0


def test_130_trading_with_a_jailed_player_is_legal() -> None:
    assert Game(A="3", B="jail").trade("B", side(3), side(cash=60)).owner(3) == "B"
    assert Game(A="jail 3").trade("B", side(3), side(cash=60)).owner(3) == "B"


def test_131_no_loans_no_rent_promises() -> None:
    assert set(Side.model_fields) == {"properties", "cash", "jail_cards"}
    assert Side.model_validate({"cash": 5, "loan": 100, "free_rent": 3}) == side(cash=5)


@each_row(
    "target, gives, wants, why",
    [
        ("A", side(3), side(cash=1), "another player"),
        (
            "nobody",
            side(3),
            side(cash=1),
            "no player of that id or number: it may be B (1) or C (2) or D (3)",
        ),
        ("C", side(3), side(cash=1), "out of the game"),
        ("B", side(cash=-5), side(6), "from 0 up"),
        ("B", side(3), side(cash=-5), "from 0 up"),
        ("B", side(cards=-1), side(6), "from 0 up"),
        ("B", side(6), side(cash=5), "does not belong"),
        ("B", side(3), side(3), "does not belong"),
        ("B", side(24), side(cash=5), "does not belong"),
        ("B", side(), side(), "neither side"),
        ("B", side(cash=1501), side(6), "does not have"),
        ("B", side(3), side(cash=1501), "does not have"),
        ("B", side(cards=1), side(6), "Get Out of Jail Free cards"),
        ("B", side(3), side(cards=2), "Get Out of Jail Free cards"),
        ("B", side(3, 3), side(cash=5), "twice"),
        ("B", side(7), side(cash=5), "no property"),
        ("B", side(-1), side(cash=5), "no property"),
        ("B", side(40), side(cash=5), "no property"),
        ("B", side(3), side(16), "buildings"),
        ("B", side(3), side(18), "buildings"),
        ("B", side(37), side(6), "buildings"),
    ],
)
def test_133_refused_outright(target: str, gives: Side, wants: Side, why: str) -> None:
    game = Game(A="3 37:1 39:1", B="6 16:1 18 19 chance", C="out")
    assert why in discarded(game.trade(target, gives, wants))


def test_134_limit() -> None:
    offer = propose("B", side(3), side(cash=1))
    game = Game(A="3", B="6").turn((4, 6), A=[offer] * 4, B=[REJECT] * 4)
    asked = game.requests(ProposeTrade, "A")
    assert [(request.when, request.made) for request in asked] == [
        ("before", 0),
        ("before", 1),
        ("after", 0),
        ("after", 1),
    ]
    game.turn((4, 6), player="B", B=[propose("A", side(6), side(cash=1))] * 4, A=[REJECT] * 4)
    assert len(game.requests(ProposeTrade, "B")) == 4


def test_an_accepted_proposal_counts_too() -> None:
    offer = propose("B", side(cash=1), side(cards=0))
    game = Game(A="3", B="6").turn((4, 6), A=[offer, offer], B=[ACCEPT, ACCEPT])
    assert [request.made for request in game.requests(ProposeTrade) if request.when == "before"] == [0, 1]
    assert game.gains == {"A": -2, "B": 2}


def test_a_discarded_proposal_counts_too() -> None:
    offer = propose("A", side(3), side())
    game = Game(A="3").turn((4, 6), A=[offer] * 4)
    assert len(game.requests(ProposeTrade)) == len(game.events(TradeDiscarded)) == 4


def test_four_proposals_a_turn_whatever_the_doubles() -> None:
    offer = propose("B", side(3), side(cash=1))
    game = Game(A="3").turn((5, 5), (5, 5), (1, 2), A=[offer] * 4, B=[REJECT] * 4)
    assert len(game.requests(ProposeTrade)) == 4


def test_who_declines_to_propose_is_not_asked_again_in_the_phase() -> None:
    game = Game(A="3").turn((4, 6), A=[NO_TRADE, NO_TRADE])
    assert [request.when for request in game.requests(ProposeTrade)] == ["before", "after"]


def test_where_nobody_has_anything_but_cash_nobody_is_asked() -> None:
    assert Game().turn((4, 6)).requests(ProposeTrade) == []
    assert Game(A="16:1 18 19").turn((4, 6)).requests(ProposeTrade) == []
    assert len(Game(B="chance").turn((4, 6)).requests(ProposeTrade)) == 2


@pytest.mark.parametrize(("cards", "left", "gone"), [(1, ("community_chest",), ["C09"]), (2, (), ["C09", "H05"])])
def test_jail_cards_change_hands_chance_first(cards: int, left: tuple[str, ...], gone: list[str]) -> None:
    game = Game(A="chance chest").trade("B", side(cards=cards), side(cash=30))
    assert (game["A"].cards, len(game["B"].cards)) == (left, cards)
    assert [(moved.card, moved.taker) for moved in game.events(CardMoved)] == [(card, "B") for card in gone]
    assert len(game.deck("chance")) == 15


def test_jail_cards_cross_without_coming_back() -> None:
    game = Game(A="chance", B="chest").trade("B", side(cards=1), side(cards=1))
    assert (game["A"].cards, game["B"].cards) == (("community_chest",), ("chance",))


def test_mortgaged_deeds_cross() -> None:
    game = Game(A="1m", B="39m").trade("B", side(1), side(39))
    assert (game.gains, game.deeds("A"), game.deeds("B")) == ({"A": -20, "B": -3}, ["39m"], ["1m"])


def test_a_trade_that_completes_a_group_doubles_its_rent() -> None:
    game = Game(A="16 18", B="19").trade("B", side(cash=1), side(19)).land(16, player="C")
    assert game.gains["C"] == -28


def test_what_is_offered_is_put_to_the_one_it_is_offered_to() -> None:
    game = Game(A="3", B="6").trade("B", side(3), side(6))
    (asked,) = game.requests(AnswerTrade)
    assert (asked.player, asked.pitch, asked.terms.offer.properties) == ("B", "A fair one.", (3,))


def test_a_discarded_proposal_of_a_debtor_counts_too() -> None:
    nothing = raises(proposal("C", side(), side()))
    game = Game(A="$0 5 15").owe("A", "B", 100, A=[nothing, nothing, raises(mortgage=[5])])
    assert [event.proposer for event in game.events(TradeDiscarded)] == ["A", "A"]
    assert [asked.may_propose for asked in game.requests(RaiseCash)] == [True, True, False]
