"""A person among the traders: a form says of an order what will come to nothing; two rounds at a real terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.moderator import Moderate, Moderation
from agentsim.engine.play import Ask
from agentsim.games.market.acting import Act
from agentsim.games.market.asking import AskQuery
from tests.games.market.market import SKIPS, asks, buys, does, play, results, sells
from tests.players.filled import filled
from tests.players.keyboard import played
from tests.players.test_human import Screen

RULES = [
    "no_borrowing",
    {"rule": "most_quantity", "limit": 3},
    "buy_within_value",
    {"rule": "keep_capital", "limit": 20},
]


def asked(round_: int = 2, **config: Any) -> Act:
    """A's question after an order of its own to buy two at 5."""
    played = play(
        {"A": [buys(5, 2), SKIPS], "B": [does("deposit", amount=3), sells(40)]},
        artifacts=["marketplace", "dialogue", "bank"],
        agents=[{"ids": ["A"], "values": {"wheat": 24}}],
        **{"restrictions": RULES, **config},
    )
    return [ask.request for ask in played.asks("A") if isinstance(ask.request, Act)][round_ - 1]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("buy", "wheat", "30", "1"), "A buy price may not exceed your value of the unit."),
        (("buy", "wheat", "24", "3"), "An order to buy must leave you at least 20 capital free."),
        (("sell", "wheat", "5", "4"), "An order is for at most 3 units."),
        (("replace", "7", "5", "1"), "You have no open order 7."),
        (("cancel", "7"), "You have no open order 7."),
        (("replace", "1", "25", "1"), "A buy price may not exceed your value of the unit."),
        (("deposit", "91"), "The most that you can deposit is 90."),
        (("withdraw", "1"), "The most that you can withdraw is 0."),
    ],
)
def test_what_will_be_refused_is_said_before_it_costs_the_turn(lines: tuple[str, ...], reason: str) -> None:
    decision, screen = filled(asked(), *lines, "skip", "")
    assert f"That will not do: {reason}" in screen
    assert decision == SKIPS


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (sells(5, 11), "That takes 11 wheat, and you have 10 free."),
        (buys(46, 2), "That takes 92 capital, and you have 90 free."),
        (does("replace", order=1, price=51, quantity=2), "That takes 102 capital, and you have 100 free."),
        (does("replace", order=1, price=50, quantity=2), ""),
        (buys(45, 2), ""),
        (does("send", to="A", text="me"), "That is yourself."),
        (does("borrow", amount=5, good="wheat", quantity=1), "The most that you can borrow is 0."),
        (buys(0), "Price must be a whole number, 1 to 1000000."),
        (SKIPS, ""),
    ],
)
def test_what_is_beyond_what_one_has_is_objected_to_and_nothing_else(order: Any, reason: str) -> None:
    assert asked(restrictions=[]).warning(order) == reason


def test_one_order_a_good_frees_what_it_replaces() -> None:
    request = asked(1, restrictions=[], settings={"marketplace": {"single_unit": True}})
    scope = replace(request.scope, orders=tuple(each._replace(alone=True) for each in asked().scope.orders))
    assert replace(request, scope=scope, now=asked().now).warning(buys(100)) == ""
    assert "101 capital, and you have 100 free" in replace(request, scope=scope, now=asked().now).warning(buys(101))


def test_a_loan_is_objected_to_beyond_what_all_that_one_holds_is_good_for() -> None:
    played = play({"A": [buys(10), SKIPS], "B": [sells(10), SKIPS]}, artifacts=["marketplace", "bank"])
    request = [ask.request for ask in played.asks("A") if isinstance(ask.request, Act)][1]
    loans = [
        does("borrow", amount=amount, good="wheat", quantity=quantity)
        for amount, quantity in ((55, 11), (56, 11), (5, 12))
    ]
    assert [request.warning(loan) for loan in loans] == [
        "",
        "The most that you can borrow is 55.",
        "That takes 12 wheat, and you have 11 free.",
    ]


def test_where_all_decide_at_once_an_open_order_may_leave_one_more_and_is_no_objection() -> None:
    assert asked(1, simultaneous=True, restrictions=[]).warning(sells(5, 11)) != "", "who has none knows it"
    request = asked(simultaneous=True)
    assert [request.warning(order) for order in (buys(20, 3), sells(5, 3), does("deposit", amount=91))] == [""] * 3
    assert request.warning(buys(25)) == "A buy price may not exceed your value of the unit."


@pytest.mark.parametrize(
    ("query", "given", "reason"),
    [
        ("calculator", {"expression": "2 +"}, "That is no expression."),
        ("calculator", {"expression": "2 + 2"}, ""),
        ("write_note", {"key": "", "text": "x"}, "Key must not be empty."),
        ("none", {}, ""),
    ],
)
def test_a_tool_that_would_refuse_costs_a_person_no_call(query: str, given: dict[str, Any], reason: str) -> None:
    played = play({"A": [], "B": []}, queries={"A": [asks("none")]}, tools=["calculator", "notebook"])
    request = next(ask.request for ask in played.asks("A") if isinstance(ask.request, AskQuery))
    assert request.warning(asks(query, **given)) == reason


def test_a_person_sees_the_open_orders_where_one_is_to_be_named_and_no_barred_action() -> None:
    _, screen = filled(asked(), "cancel", "1", "")
    assert "order [1 (buy 2 wheat at 5)]: " in screen
    assert "/ borrow" not in screen


@pytest.mark.parametrize("word", ["borrow", "sell"])
def test_a_model_that_names_a_barred_action_is_refused_in_the_words_of_the_rule(word: str) -> None:
    given: dict[str, Any] = {"amount": 1, "good": "wheat", "quantity": 1, "price": 5}
    rules = ["no_borrowing", "only_buy"]
    played = play({"A": [does(word, **given)], "B": []}, artifacts=["marketplace", "bank"], restrictions=rules)
    words = {"borrow": "You may not borrow.", "sell": "You may buy, and not sell."}
    assert results(played, "A") == [f"Refused: {words[word]}"]


SCENARIO = """\
game = "market"
seed = 4
[defaults]
model = "bot/fundamentalist"
[game_config]
rounds = 2
stock = { wheat = 4 }
artifacts = ["marketplace", "dialogue"]
restrictions = [{ rule = "most_quantity", limit = 3 }]
[[game_config.moderator]]
round = 2
agents = ["me"]
question = "What now?"
[[players]]
id = "me"
model = "human"
[[players]]
id = "other"
"""
ORDER = '{"action": "sell", "action_parameters": {"good": "wheat", "price": 9, "quantity": %d}, "working_memory": ""}'
ANSWERS: dict[str, list[str]] = {
    "If you understand what is asked": ["action: unclear\nworking_memory: Why?"],
    "QUERY": ['{"query": "rumours"}', '{"query": "inbox", "query_parameters": {}}'],
    "ACTION": ["sell", ORDER % 4, ORDER % 3],
    "moderator's question": ["I wait."],
}


def test_a_person_trades_at_a_real_terminal_as_a_model_does(tmp_path: Path) -> None:
    game = played(tmp_path, SCENARIO, ANSWERS)
    for said in (
        "An order is for at most 3 units.",
        "That will not do: The reply must begin with the JSON object.",
        'The moderator\'s question: "What now?"',
        "INVENTORY: capital 100, wheat 4",
    ):
        assert said in game.screen, said
    assert game.screen.count("ROUND 1 of 2 at most.") == 1, "the stages of a turn add to the screen"
    mine = game.decisions("me")
    assert {record["kind"] for record in mine} == {"briefing", "query", "action", "interview"}
    assert {record["source"] for record in mine} == {"human"}


def test_a_moderator_who_asks_nobody_has_no_question_and_who_asks_somebody_has_one() -> None:
    request = Moderate(
        player="@moderator", what="it", agents=("A",), round=1, rounds=9, next_to_act="A", news=(), interviews=()
    )
    for typed, ask, question in ((("nobody", ""), "nobody", ""), (("ask: A", "question: Why?", ""), "A", "Why?")):
        reply = Screen(*typed, persona="").answer(Ask(1, 1, 0, 1, request))
        assert request.parse(reply).decision == Moderation(ask=ask, question=question)
