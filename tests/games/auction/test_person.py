"""A person who leads a team: the state in plain words, what would not count told before it counts, and who got what."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from agentsim.engine.request import Ask
from agentsim.games.auction.bidding import Bid, BidCast
from agentsim.games.auction.state import Offer
from tests.contract.harness import on_bots
from tests.players.filled import filled
from tests.players.keyboard import played
from tests.players.test_human import Screen


def question(budget: int = 100, high: int = 0) -> Bid:
    """The first question of the tiny auction, with so much to spend and so high a bid to pass."""
    request = on_bots("auction", "random").asks()[0].request
    assert isinstance(request, Bid)
    state = request.state
    offers = (Offer("Basalt", high),) if high else ()
    return replace(request, state=replace(state, you=replace(state.you, budget=budget), offers=offers))


@pytest.mark.parametrize(
    ("budget", "high", "wrong", "told"),
    [
        (100, 0, "101", "101 is more than your budget of 100: 1 to 100, or 0 to pass."),
        (100, 11, "11", "11 is not above the high bid of 11: 12 to 100, or 0 to pass."),
        (100, 11, "200", "200 is more than your budget of 100: 12 to 100, or 0 to pass."),
        (11, 11, "11", "11 is not above the high bid of 11: 0 to pass, as your budget is too small for more."),
        (100, 0, "a lot", "A whole number"),
        (100, 0, "-1", "A whole number"),
    ],
)
def test_a_bid_that_would_be_a_pass_is_told_before_it_is_one(budget: int, high: int, wrong: str, told: str) -> None:
    decision, said = filled(question(budget, high), wrong, "0", "")
    assert decision == BidCast(bid=0, reasoning="")
    assert said.count(told) == 1
    assert said.count("your reason (private)") == 1, "asked for once"


@pytest.mark.parametrize("bid", [None, 0, 12, 100])
def test_nothing_is_said_against_a_bid_that_counts(bid: int | None) -> None:
    assert question(100, 11).warning(BidCast(bid=bid)) == ""


def test_a_person_reads_the_state_in_plain_words() -> None:
    request = question(high=11)
    screen = Screen("0", "", persona="")
    assert screen.answer(Ask(index=1, wave=1, place=0, nth=1, request=request)) == "0"
    shown = screen.text.partition("Ctrl-C")[2]
    assert shown.count('{"') == 1, "the shape of the answer"
    assert f'item: name "{request.state.item.name}"' in shown
    assert 'current highest bid: bid 11, team name "Basalt"' in shown


SCENARIO = """
game = "auction"
seed = 4
[defaults]
model = "bot/truthful"
[game_config]
budget = 100
%s
[game_config.items]
scenario = "tiny"
items = [
    { Name = "Compass", Quality = 61, IsRequired = true },
    { Name = "Kettle", Quality = 12, IsRequired = false },
]
[[players]]
id = "Ann"
model = "human"
[[players]]
id = "Bea"
"""


def test_a_person_plays_at_a_real_terminal_and_hears_who_got_what(tmp_path: Path) -> None:
    answers = {'"bid":': ("?", "lots", "reasoning: I want it.\nbid: 7", "101", "0")}
    game = played(tmp_path, SCENARIO % "max_iterations = 2", answers, columns=40)
    for seen in (
        "For sale: Compass",
        "That will not do: There is no decision in the reply.",
        "Ann bids 7",
        "Sold to Ann for 7",
        "Ann pays 7: 93 left",
    ):
        assert seen in game.screen
    assert game.screen.count("You lead one of 2 teams") == 2, "once at the beginning, and once for the question mark"
    mine = game.decisions("Ann")
    assert mine[0]["decision"] == {"bid": 7, "reasoning": "I want it."}
    assert [len(record["attempts"]) for record in mine] == [2, *[1] * (len(mine) - 1)]
    assert not re.search(r"I want it", str(game.decisions("Bea")))
