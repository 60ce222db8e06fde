"""Dealings: trades are proposed, accepted with what either side gives, and rejected."""

from __future__ import annotations

from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.match import GameBegan
from agentsim.games.monopoly.replay import deals
from agentsim.games.monopoly.state import deed_value
from agentsim.games.monopoly.trade import Side, TradeAccepted, TradeProposed, TradeRejected
from tests.engine.small import done
from tests.games.monopoly.answers import side
from tests.games.monopoly.table import Game

PARTIES = ("A", "B", "Ann", "Ben")
NOTHING = Side()
OFFER = Side(properties=(1, 3), cash=20, jail_cards=1)


def proposed(number: int, offer: Side, request: Side, mortgaged: tuple[int, ...] = ()) -> TradeProposed:
    return TradeProposed(number, *PARTIES, offer, request, "Take it.", mortgaged)


def test_an_accepted_trade_is_for_each_other_with_what_each_gave() -> None:
    price = SPACES[1].price + SPACES[3].price + 20 + 50
    assert done([proposed(1, OFFER, Side(cash=200)), TradeAccepted(1, *PARTIES)]) == [
        ("A", "B", "proposed a trade", 0, None),
        ("B", "A", "accepted a trade", 1, 200),
        ("A", "B", "gave in a trade", 1, price),
    ]


def test_a_mortgaged_deed_counts_half_of_its_price_in_every_value_of_a_trade() -> None:
    log = [proposed(1, Side(properties=(39,)), Side(cash=200), (39,)), TradeAccepted(1, *PARTIES)]
    assert done(log)[-1] == ("A", "B", "gave in a trade", 1, 200)
    estate = Game(A="39m 1", B="3m").state.estate
    assert [deed_value(at, mortgaged=estate.mortgaged[at]) for at in (39, 1, 3)] == [200, 60, 30]
    assert estate.worth(0) == Side(properties=(39, 1)).value({39, 3}) == 260


def test_a_proposal_says_which_of_its_deeds_are_mortgaged() -> None:
    game = Game(A="39m 1", B="3m 5").trade("B", side(39, 1), side(3, 5))
    assert [event.mortgaged for event in game.events(TradeProposed)] == [(39, 3)]
    (deal,) = deals([LoggedEvent(GameBegan({"A": "A", "B": "B"}, 1500, 9), Everyone, 0), *game.table.log])
    assert deal.list_balance == 30 + 200 - 200 - 60


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
