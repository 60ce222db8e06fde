"""Rules 73 to 83: buying and auctions, open and sealed. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.auctions import AuctionBid, AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.match import DeedMoved, Paid
from tests.games.monopoly.answers import BUY, DECLINE, bid
from tests.games.monopoly.table import Game, refusal

SEALED = {"auction": "sealed"}


def bids(game: Game) -> list[tuple[str, int]]:
    """Who bid what, in order; 0 withdraws."""
    return [(made.player, made.amount) for made in game.events(BidMade)]


def test_073_buy() -> None:
    game = Game().land(39, A=[BUY])
    assert (game.owner(39), game.gains) == ("A", {"A": -400})
    (moved,) = game.events(DeedMoved)
    assert (moved.giver, moved.taker, moved.why) == (None, "A", "purchase")


def test_the_exact_price_buys() -> None:
    assert Game(A="$400").land(39, A=[BUY]).cash["A"] == 0


def test_who_lacks_the_cash_is_not_asked_and_it_is_auctioned() -> None:
    game = Game(A="$399 37").land(39, A=[bid(399)])
    assert game.requests(BuyOrAuction) == []
    assert (game.owner(39), game.cash["A"]) == ("A", 0)


def test_074_declining_forces_an_auction_open_to_all() -> None:
    game = Game().land(6, A=[DECLINE, bid(11)], B=[bid(10)])
    assert (game.owner(6), game.gains) == ("A", {"A": -11})
    (opened,) = game.events(AuctionOpened)
    assert opened.bidders == ("B", "C", "D", "A"), "from the left of the decliner, who comes last"
    assert bids(game) == [("B", 10), ("C", 0), ("D", 0), ("A", 11), ("B", 0)]


def test_076_no_bids() -> None:
    game = Game().land(6, A=[DECLINE])
    assert (game.owner(6), game.gains) == ("bank", {})
    assert [closed.winner for closed in game.events(AuctionClosed)] == [None]
    game.land(6, player="B", B=[BUY])
    assert (game.owner(6), game.gains) == ("B", {"B": -100})


@pytest.mark.parametrize("config", [{}, SEALED])
def test_077_the_last_player_standing_must_still_be_asked(config: dict[str, str]) -> None:
    game = Game(config=config).land(6, A=[DECLINE, bid(1)])
    assert (game.owner(6), game.gains) == ("A", {"A": -1})


@pytest.mark.parametrize("config", [{}, SEALED])
def test_079_bid_cap(config: dict[str, str]) -> None:
    game = Game(config=config).auction(6, B=[bid(1500)])
    assert "1500" in refusal(game.requests(AuctionBid, "B")[0], bid(1501))
    assert game.gains == {"B": -1500}


def test_080_the_bank_is_paid_and_the_decliner_gets_nothing() -> None:
    game = Game().land(6, A=[DECLINE], C=[bid(70)])
    assert (game.owner(6), game.gains) == ("C", {"C": -70})
    assert [(paid.payer, paid.payee, paid.why) for paid in game.events(Paid)] == [("C", None, "auction")]


def test_082_an_equal_or_lower_bid_is_rejected() -> None:
    game = Game().auction(6, B=[bid(50)])
    (asked,) = game.requests(AuctionBid, "C")
    assert "51" in refusal(asked, bid(50))
    assert "51" in refusal(asked, bid(49))
    asked.check(bid(51))


def test_a_negative_bid_is_rejected() -> None:
    game = Game().auction(6)
    assert refusal(game.requests(AuctionBid, "B")[0], bid(-1))


def test_083_passing_is_final() -> None:
    game = Game().auction(6, C=[bid(10), bid(12)], D=[bid(11)])
    assert bids(game) == [("B", 0), ("C", 10), ("D", 11), ("A", 0), ("C", 12), ("D", 0)]
    assert (game.owner(6), game.gains) == ("C", {"C": -12})


def test_the_leader_is_not_asked_against_itself() -> None:
    game = Game("AB").auction(6, B=[bid(10)])
    assert bids(game) == [("B", 10), ("A", 0)]


def test_who_cannot_pass_the_high_bid_is_out_without_being_asked() -> None:
    game = Game(C="$10").auction(6, B=[bid(10)])
    assert bids(game) == [("B", 10), ("C", 0), ("D", 0), ("A", 0)]
    assert game.requests(AuctionBid, "C") == []


def test_the_least_step_holds_for_the_opening_and_every_raise() -> None:
    game = Game(config={"auction_min_step": 10}).auction(6, B=[bid(10)], C=[bid(25)])
    assert [asked.lot.least for asked in game.requests(AuctionBid)] == [10, 20, 35, 35, 35]
    assert "10" in refusal(game.requests(AuctionBid)[0], bid(9))
    assert "35" in refusal(game.requests(AuctionBid, "D")[0], bid(34))
    game.requests(AuctionBid, "D")[0].check(bid(0))


def test_a_bid_may_exceed_the_printed_price() -> None:
    assert Game().auction(1, B=[bid(900)]).gains == {"B": -900}


def test_sealed_bids_are_one_wave_and_the_highest_takes_it() -> None:
    game = Game(config=SEALED).auction(6, A=[bid(30)], B=[bid(10)], C=[bid(31)])
    assert (game.owner(6), game.gains) == ("C", {"C": -31})
    assert bids(game) == [("B", 10), ("C", 31), ("D", 0), ("A", 30)]
    assert all(asked.lot.high == 0 for asked in game.requests(AuctionBid)), "nobody sees a bid"
    assert len({asked.view.turn for asked in game.requests(AuctionBid)}) == 1


def test_of_equal_sealed_bids_the_first_in_turn_order_wins() -> None:
    assert Game(config=SEALED).auction(6, opener="C", A=[bid(30)], C=[bid(30)], D=[bid(29)]).owner(6) == "A"


def test_nobody_bids_sealed() -> None:
    game = Game(config=SEALED).auction(6)
    assert (game.owner(6), game.gains) == ("bank", {})


def test_a_sealed_auction_of_the_penniless_asks_nobody() -> None:
    game = Game("AB", A="$0", B="$0", config=SEALED).auction(6)
    assert (game.owner(6), game.asked) == ("bank", [])


def test_eight_players_bid() -> None:
    game = Game("ABCDEFGH").auction(6, opener="D", C=[bid(2)], H=[bid(1)])
    assert game.events(AuctionOpened)[0].bidders == tuple("EFGHABCD")
    assert game.owner(6) == "C"
