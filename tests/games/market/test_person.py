"""A person among the traders: what a form shows, and two rounds at a real terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.request import Ask
from agentsim.games.market.interviews import Moderate, Moderation
from agentsim.games.market.turn import Act
from tests.games.market.market import SKIPS, buys, does, play, results, sells
from tests.players.filled import filled
from tests.players.keyboard import played
from tests.players.test_human import Screen


def asked() -> Act:
    """A's question after an order of its own to buy two at 5."""
    played = play(
        {"A": [buys(5, 2), SKIPS], "B": [does("deposit", amount=3), sells(40)]},
        artifacts=["marketplace", "dialogue", "bank"],
        restrictions=["no_borrowing"],
    )
    return [ask.request for ask in played.asks("A") if isinstance(ask.request, Act)][1]


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
