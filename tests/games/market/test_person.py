"""A person among the traders: what is asked field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.moderator import Moderate
from agentsim.engine.play import Ask
from agentsim.games.market.stages import Act
from tests.games.market.market import SKIPS, buys, does, play, results, sells
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


def typed(request: Act, *lines: str) -> tuple[Any, str]:
    """The decision that these lines come to, and the screen. Every line is needed."""
    screen = Screen(*lines, persona="")
    answer = screen.answer(Ask(index=1, wave=1, place=0, nth=1, request=request))
    assert not screen.player.terminal._source.read(), "what was typed and never asked for"  # type: ignore[union-attr] # there is a source
    return request.parse(json.dumps(answer)).decision, " ".join(screen.text.split())


def test_a_person_sees_the_open_orders_where_one_is_to_be_named_and_no_barred_action() -> None:
    _, screen = typed(asked(), "cancel", "1", "")
    assert "order [1 (buy 2 wheat at 5)]: " in screen
    assert "/ borrow" not in screen
    assert "JSON object" not in screen[screen.index("What this says of JSON") :]


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
ANSWERS: dict[str, list[str]] = {
    r"action \[skip / unclear\]: ": ["what", "unclear"],
    r"query \[none / order_book / last_trades / own_orders / inbox\]: ": ["order_book", "inbox"],
    r"action \[skip / buy / sell / replace / cancel / send\]: ": ["sell", "?", "send"],
    r"good \[wheat\]: ": ["corn", "wheat"],
    r"price \[1 to 1000000\]: ": ["0", "9"],
    r"quantity \[1 or more\]: ": ["3"],
    r"to \[everyone / other\]: ": ["me", "everyone"],
    r"text: ": ["hello"],
    r"answer: ": ["I wait."],
    r"working memory: ": ["Why?"],
    r"working memory \[at most 600 characters; nothing for none\]: ": ["sold", ""],
}


def test_a_person_trades_at_a_real_terminal_and_is_told_every_mistake(tmp_path: Path) -> None:
    game = played(tmp_path, SCENARIO, ANSWERS)
    for said in (
        "One of these, please: skip, unclear.",
        "One of these, please: wheat.",
        "A whole number from 1 to 1000000, please.",
        "One of these, please: everyone, other.",
        'The moderator\'s question: "What now?"',
        "INVENTORY: capital 100, wheat 4",
    ):
        assert said in game.screen, said
    assert game.screen.count("ROUND 1 of 2 at most.") == 1, "the stages of a turn add to the screen"
    mine = game.decisions("me")
    assert {record["kind"] for record in mine} == {"briefing", "query", "action", "interview"}
    assert {(record["source"], len(record["tries"])) for record in mine} == {("human", 1)}


def test_a_moderator_who_asks_nobody_has_no_question_and_who_asks_somebody_has_one() -> None:
    request = Moderate(
        player="@moderator", what="it", agents=("A",), round=1, rounds=9, next_to_act="A", news=(), interviews=()
    )
    assert Screen("", persona="").answer(Ask(1, 1, 0, 1, request)) == {"ask": "nobody", "question": ""}
    screen = Screen("A", "", "Why?", persona="")
    assert screen.answer(Ask(1, 1, 0, 1, request)) == {"ask": "A", "question": "Why?"}
    assert "ask [nobody / everybody / A; nothing for nobody]: " in screen.text
