"""Dealings: trades are proposed, accepted with what either side gives, and rejected."""

from __future__ import annotations

from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.trade import Side, TradeAccepted, TradeProposed, TradeRejected
from tests.engine.small import done

PARTIES = ("A", "B", "Ann", "Ben")
NOTHING = Side()
OFFER = Side(properties=(1, 3), cash=20, jail_cards=1)


def proposed(number: int, offer: Side, request: Side) -> TradeProposed:
    return TradeProposed(number, *PARTIES, offer, request, "Take it.")


def test_an_accepted_trade_is_for_each_other_with_what_each_gave() -> None:
    price = SPACES[1].price + SPACES[3].price + 20 + 50
    assert done([proposed(1, OFFER, Side(cash=200)), TradeAccepted(1, *PARTIES)]) == [
        ("A", "B", "proposed a trade", 0, None),
        ("B", "A", "accepted a trade", 1, 200),
        ("A", "B", "gave in a trade", 1, price),
    ]


def test_who_gives_nothing_did_nothing_for_the_other() -> None:
    dealt = done([proposed(1, NOTHING, OFFER), TradeAccepted(1, *PARTIES)])
    assert [deed for _, _, deed, *_ in dealt] == ["proposed a trade", "accepted a trade"]


def test_a_rejected_trade_is_against_who_proposed_it() -> None:
    assert done([proposed(1, OFFER, NOTHING), TradeRejected(1, *PARTIES)])[1:] == [
        ("B", "A", "rejected a trade", -1, None)
    ]


def test_the_terms_are_those_of_the_trade_that_was_answered() -> None:
    log = [proposed(1, NOTHING, Side(cash=7)), proposed(2, NOTHING, Side(cash=9))]
    assert [done([*log, TradeAccepted(number, *PARTIES)])[-1][-1] for number in (1, 2)] == [7, 9]
