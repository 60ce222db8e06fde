"""Strict bids: a model's reply without a JSON object is a bid of 0 at once, as the seed has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.runs.replay import prove
from agentsim.scenario.load import load
from tests.fakes.server import FakeServer
from tests.playing import play_scenario

SCENARIO = """
game = "auction"
seed = 1
[defaults]
model = "fake/echo"
max_tokens = 100
[limits]
max_fallback_rate = 1.0
[providers.fake]
base_url = "%s"
[game_config]
max_iterations = 1
%s
items = { scenario = "one", items = [{ Name = "Compass", Quality = 5, IsRequired = true }] }
[[players]]
id = "team"
count = 2
"""


def played(reply: str, folder: Path, settings: str = "") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Play one iteration on a server that always replies so; return its decisions and bids. It is proved too."""
    path = folder / "strict.toml"
    with FakeServer(lambda _body: reply).in_thread() as server:
        path.write_text(SCENARIO % (server.url(), settings), encoding="utf-8")
        result = play_scenario(load(path), folder / "logs", env={})
    assert result.status == "completed", result.error
    assert prove(result.files).complete
    events = [event for round_ in result.history["rounds"] for event in round_["events"]]
    return result.history["decisions"], [event["data"] for event in events if event["kind"] == "bid"]


@pytest.mark.parametrize(
    "reply",
    ["150", "Bid: 150", "<bid>150</bid>", "I bid 150.", "pass", "[150]"],
    ids=["bare", "label", "tag", "prose", "word", "list"],
)
def test_a_reply_without_an_object_is_a_bid_of_0_at_once(reply: str, tmp_path: Path) -> None:
    decisions, bids = played(reply, tmp_path)
    assert [(bid["amount"], bid["fail_reason"]) for bid in bids] == [(0, "Unreadable")] * 2
    assert [(len(each["attempts"]), each["source"]) for each in decisions] == [(1, "fallback")] * 2
    assert {each["fallback_reason"] for each in decisions} == {"unreadable"}


@pytest.mark.parametrize("reply", ["150", "Bid: 150", "<bid>150</bid>"], ids=["bare", "label", "tag"])
def test_without_strict_bids_a_bare_or_labelled_number_is_read(reply: str, tmp_path: Path) -> None:
    decisions, bids = played(reply, tmp_path, "strict_bids = false")
    assert [(bid["amount"], bid["fail_reason"]) for bid in bids] == [(150, ""), (150, "LowerThanHighBid")]
    assert [each["source"] for each in decisions] == ["model"] * 2


def test_without_strict_bids_prose_is_asked_again(tmp_path: Path) -> None:
    decisions, bids = played("I bid 150.", tmp_path, "strict_bids = false")
    assert [bid["fail_reason"] for bid in bids] == ["Unreadable"] * 2
    assert [len(each["attempts"]) for each in decisions] == [2, 2]


@pytest.mark.parametrize(
    ("reply", "amount"),
    [
        (json.dumps({"bid": 150}), 150),
        ("My bid:\n```json\n" + json.dumps({"bid": "150", "reasoning": "why"}) + "\n```", 150),
        ('<tool_call>{"name": "bid", "arguments": {"bid": 150}}</tool_call>', 150),
    ],
    ids=["json", "fence", "call"],
)
def test_an_object_is_read_as_in_every_game(reply: str, amount: int, tmp_path: Path) -> None:
    _, bids = played(reply, tmp_path)
    assert {bid["amount"] for bid in bids} == {amount}


def test_an_object_that_is_no_bid_is_asked_again(tmp_path: Path) -> None:
    decisions, bids = played('{"bid": true}', tmp_path)
    assert [bid["fail_reason"] for bid in bids] == ["Unreadable"] * 2
    assert [len(each["attempts"]) for each in decisions] == [2, 2]
