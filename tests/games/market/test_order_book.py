"""The order book: priority, partial fills, reservations, replacing, own orders, and the rules of Gode and Sunder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.menu import ActionRefused
from agentsim.games.market.order_book import OrderBook, Placed
from agentsim.games.market.world import CAPITAL, Ledger, Side, added
from tests.amounts import examples
from tests.games.market.naive_book import NaiveBook

OWNERS = ("A", "B", "C")


def book(capital: int = 100, goods: int = 10, **rules: Any) -> OrderBook:
    """A book for wheat among A, B and C, each with so much."""
    ledger = Ledger()
    for owner in OWNERS:
        ledger.open(owner)
        ledger.issue(owner, CAPITAL, capital)
        ledger.issue(owner, "wheat", goods)
    return OrderBook("wheat", ledger, **rules)


def sound(this: OrderBook) -> list[str]:
    return [
        *this.check(),
        *this.ledger.check({owner: added(order.collateral() for order in this.of(owner)) for owner in OWNERS}),
    ]


def standing(this: OrderBook, side: Side) -> list[tuple[str, int, int]]:
    orders = this.bids if side == "buy" else this.asks
    return [(order.agent, order.price, order.quantity) for order in orders]


def traded(placed: Placed) -> list[tuple[int, int, str, str]]:
    return [(trade.price, trade.quantity, trade.buyer, trade.seller) for trade in placed.trades]


def test_the_better_price_trades_first_and_the_earlier_order_of_equal_ones() -> None:
    this = book()
    this.place("A", "sell", 12, 1)
    this.place("B", "sell", 10, 1)
    this.place("A", "sell", 10, 1)
    assert traded(this.place("C", "buy", 12, 3)) == [(10, 1, "C", "B"), (10, 1, "C", "A"), (12, 1, "C", "A")]
    assert sound(this) == []


@pytest.mark.parametrize(("first", "second", "price"), [("sell", "buy", 8), ("buy", "sell", 8)])
def test_a_trade_is_at_the_price_of_the_order_that_stood_there(first: Side, second: Side, price: int) -> None:
    this = book()
    this.place("A", first, price, 2)
    crossing = 11 if second == "buy" else 5
    (trade,) = this.place("B", second, crossing, 2).trades
    assert (trade.price, trade.resting, trade.incoming) == (8, 1, 2)
    assert this.ledger.accounts["A"].amount(CAPITAL) == (116 if first == "sell" else 84)


def test_an_order_fills_in_parts_and_the_rest_stands() -> None:
    this = book()
    this.place("A", "sell", 5, 4)
    placed = this.place("B", "buy", 6, 7)
    assert (traded(placed), placed.ordered.standing) == ([(5, 4, "B", "A")], 3)
    assert standing(this, "buy") == [("B", 6, 3)]
    assert this.ledger.accounts["B"].reserved[CAPITAL] == 18
    assert traded(this.place("C", "sell", 6, 1)) == [(6, 1, "B", "C")]
    assert standing(this, "buy") == [("B", 6, 2)]
    assert sound(this) == []


def test_an_order_that_is_not_covered_is_refused_and_changes_nothing() -> None:
    this = book()
    this.place("A", "buy", 10, 7)
    with pytest.raises(ActionRefused, match="that takes 40 capital, and you have 30 free"):
        this.place("A", "buy", 10, 4)
    this.place("A", "sell", 90, 10)
    with pytest.raises(ActionRefused, match="that takes 1 wheat, and you have 0 free"):
        this.place("A", "sell", 90, 1)
    assert standing(this, "buy") == [("A", 10, 7)]
    assert sound(this) == []


def test_cancelling_frees_what_was_reserved_and_nobody_cancels_for_another() -> None:
    this = book()
    placed = this.place("A", "buy", 10, 10)
    with pytest.raises(ActionRefused, match="no open order"):
        this.cancel("B", placed.ordered.order)
    assert this.cancel("A", placed.ordered.order).quantity == 10
    assert this.ledger.free("A", CAPITAL) == 100
    assert sound(this) == []


def test_a_replacement_is_covered_by_what_it_frees_and_goes_to_the_end_of_its_price() -> None:
    this = book()
    first = this.place("A", "buy", 10, 10)
    this.place("B", "buy", 5, 1)
    this.place("A", "buy", 5, 20, replaces=first.ordered.order)
    assert standing(this, "buy") == [("B", 5, 1), ("A", 5, 20)]
    assert sound(this) == []


def test_a_replacement_for_less_at_the_same_price_keeps_its_place() -> None:
    this = book()
    first = this.place("A", "buy", 5, 10)
    this.place("B", "buy", 5, 1)
    placed = this.place("A", "buy", 5, 4, replaces=first.ordered.order)
    assert placed == Placed(replace(first.ordered, quantity=4, standing=4))
    assert standing(this, "buy") == [("A", 5, 4), ("B", 5, 1)]
    assert this.ledger.accounts["A"].reserved[CAPITAL] == 20
    assert sound(this) == []


def test_a_replacement_that_cannot_be_paid_leaves_the_old_order() -> None:
    this = book()
    first = this.place("A", "buy", 10, 10)
    with pytest.raises(ActionRefused):
        this.place("A", "buy", 11, 10, replaces=first.ordered.order)
    assert standing(this, "buy") == [("A", 10, 10)]


def test_an_own_order_in_the_way_is_withdrawn_when_its_turn_comes_and_others_behind_it_trade() -> None:
    this = book()
    this.place("A", "sell", 5, 2)
    this.place("B", "sell", 6, 2)
    this.place("A", "sell", 9, 2)
    placed = this.place("A", "buy", 6, 2)
    assert traded(placed) == [(6, 2, "A", "B")]
    assert [(gone.price, gone.why) for gone in placed.withdrawn] == [(5, "own")]
    assert standing(this, "sell") == [("A", 9, 2)], "what the order did not reach stays"
    assert sound(this) == []


def test_of_single_units_an_owner_has_one_order_which_a_new_one_replaces() -> None:
    this = book(single_unit=True)
    this.place("A", "buy", 5)
    placed = this.place("A", "buy", 4)
    assert [gone.why for gone in placed.withdrawn] == ["replaced"]
    assert standing(this, "buy") == [("A", 4, 1)]
    with pytest.raises(ActionRefused, match="one unit"):
        this.place("A", "buy", 4, 2)


def test_where_the_best_stand_a_quote_improves_or_trades_or_is_refused() -> None:
    this = book(best_only=True, single_unit=True)
    this.place("A", "buy", 5)
    with pytest.raises(ActionRefused, match="a bid must be above the best one, 5, or trade"):
        this.place("B", "buy", 5)
    placed = this.place("B", "buy", 6)
    assert [(gone.agent, gone.why) for gone in placed.withdrawn] == [("A", "outbid")]
    this.place("C", "sell", 20)
    with pytest.raises(ActionRefused, match="an ask must be below the best one, 20"):
        this.place("A", "sell", 20)
    assert traded(this.place("C", "sell", 2)) == [(6, 1, "B", "C")], "a quote that crosses trades at the earlier price"


def test_after_a_trade_the_standing_quotes_are_cleared_where_the_rules_say_so() -> None:
    this = book(best_only=True, single_unit=True, clear_after_trade=True)
    this.place("A", "buy", 5)
    this.place("B", "sell", 20)
    placed = this.place("C", "buy", 25)
    assert traded(placed) == [(20, 1, "C", "B")]
    assert [(gone.agent, gone.why) for gone in placed.withdrawn] == [("A", "traded")]
    assert not this.bids
    assert not this.asks
    assert sound(this) == []


ORDERS = st.tuples(
    st.sampled_from(OWNERS), st.sampled_from(["buy", "sell"]), st.integers(0, 12), st.integers(0, 5), st.none()
)
REPLACING = st.tuples(
    st.sampled_from(OWNERS), st.sampled_from(["buy", "sell"]), st.integers(1, 12), st.integers(1, 5), st.integers(1, 20)
)
CANCELS = st.tuples(st.sampled_from(OWNERS), st.integers(1, 20))


@examples(150)
@given(
    steps=st.lists(st.one_of(ORDERS, ORDERS, REPLACING, CANCELS), max_size=30),
    best_only=st.booleans(),
    clear_after_trade=st.booleans(),
    single_unit=st.booleans(),
)
def test_the_book_does_what_a_naive_book_does_and_conserves_everything(
    steps: list[tuple[Any, ...]], best_only: bool, clear_after_trade: bool, single_unit: bool
) -> None:
    rules: dict[str, Any] = {"best_only": best_only, "clear_after_trade": clear_after_trade, "single_unit": single_unit}
    this = book(60, 8, **rules)
    naive = NaiveBook(dict.fromkeys(OWNERS, 60), dict.fromkeys(OWNERS, 8), **rules)
    for step in steps:
        if len(step) == 2:
            try:
                this.cancel(*step)
                there = True
            except ActionRefused:
                there = False
            assert there == naive.cancel(*step)
        else:
            owner, side, price, quantity, replaces = step
            wanted = naive.place(owner, side, price, quantity, replaces)
            try:
                placed: Placed | None = this.place(owner, side, price, quantity, replaces=replaces)
            except ActionRefused:
                placed = None
            assert (None if placed is None else traded(placed)) == wanted
        assert sound(this) == []
        accounts = this.ledger.accounts
        assert {owner: accounts[owner].amount(CAPITAL) for owner in OWNERS} == naive.capital
        assert {owner: accounts[owner].amount("wheat") for owner in OWNERS} == naive.goods
        left = sorted((o["id"], o["owner"], o["side"], o["price"], o["quantity"]) for o in naive.orders)
        both = [*this.bids, *this.asks]
        assert sorted((o.number, o.agent, o.side, o.price, o.quantity) for o in both) == left
