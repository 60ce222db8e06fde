"""Dealings: trades are proposed, accepted with what either side gives, and rejected."""

from __future__ import annotations

from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.events import TradeAccepted, TradeProposed, TradeRejected, TradeSide
from tests.engine.small import done

PARTIES = ("A", "B", "Ann", "Ben")
NOTHING = TradeSide((), 0, 0)
OFFER = TradeSide((1, 3), 20, 1)


def proposed(number: int, offer: TradeSide, request: TradeSide) -> TradeProposed:
    return TradeProposed(number, *PARTIES, offer, request, "Take it.")


def test_an_accepted_trade_is_for_each_other_with_what_each_gave() -> None:
    price = SPACES[1].price + SPACES[3].price + 20 + 50
    assert done([proposed(1, OFFER, TradeSide((), 200, 0)), TradeAccepted(1, *PARTIES)]) == [
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
    log = [proposed(1, NOTHING, TradeSide((), 7, 0)), proposed(2, NOTHING, TradeSide((), 9, 0))]
    assert [done([*log, TradeAccepted(number, *PARTIES)])[-1][-1] for number in (1, 2)] == [7, 9]
