"""Simulate: scripted answers first, then the bot, and nothing by default."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.engine.event import Everyone
from agentsim.engine.simulate import simulate
from agentsim.engine.table import Table
from agentsim.errors import IllegalDecision
from tests.engine.small import Amount, Bid, Say, SmallGame, Spoke, Word


async def _rules(table: Table) -> None:
    for _ in range(2):
        words = await table.ask_all(Say(player=player) for player in table.players)
        for player, word in zip(table.players, words, strict=True):
            table.tell(Spoke(player, word.text), to=Everyone, by=player)
    await table.ask(Bid(player="A"))


GAME = SmallGame(_rules)


def _said(**options: Any) -> list[str]:
    played = simulate(GAME, {}, ["A", "B"], **options)
    return [event.text for event in played.events(Spoke)]


def test_one_answer_for_a_kind_answers_everybody_every_time() -> None:
    assert _said(answers={"say": Word(text="x"), "bid": Amount(amount=1)}) == ["x"] * 4


def test_a_list_by_player_is_used_up_in_order_and_the_bot_does_the_rest() -> None:
    assert _said(answers={"say": {"B": [Word(text="one")]}}, bot="plain") == ["A", "one", "A", "B"]


def test_a_function_answers_from_the_request() -> None:
    answers = {"say": {"A": lambda request: Word(text=request.hint), "B": Word(text="b")}, "bid": Amount(amount=0)}
    assert _said(answers=answers) == ["Say something.", "b", "Say something.", "b"]


def test_nobody_answering_is_an_error_and_not_a_default() -> None:
    with pytest.raises(AssertionError, match=r"no answer is given to bid of A \(number 1\)"):
        _said(answers={"say": Word(text="x")})


def test_answers_left_over_are_an_error() -> None:
    with pytest.raises(AssertionError, match="answers never asked for: bid of A"):
        _said(answers={"bid": {"A": [Amount(amount=0)] * 2}}, bot="plain")


def test_an_illegal_answer_is_refused_unless_asked_for() -> None:
    answers = {"bid": Amount(amount=11)}
    with pytest.raises(IllegalDecision):
        _said(answers=answers, bot="plain")
    assert _said(answers=answers, bot="plain", check=False)


def test_the_config_is_checked_as_a_table_would_be() -> None:
    with pytest.raises(ValidationError):
        simulate(GAME, {"rounds": 3}, ["A", "B"], bot="plain")


def test_a_rehearsal_holds_every_wave_with_its_decisions() -> None:
    played = simulate(GAME, {}, ["A", "B"], bot="plain")
    assert [len(wave.asks) for wave, _ in played.waves] == [2, 2, 1]
    assert [len(decisions) for _, decisions in played.waves] == [2, 2, 1]
    assert [ask.index for ask in played.asks("A")] == [1, 3, 5]
    assert len(played.asks()) == 5
    assert played.outcome.reason == "played"


def test_the_same_seed_gives_the_same_luck() -> None:
    bids = [simulate(GAME, {}, ["A", "B"], bot="plain", seed=seed).waves[-1][1] for seed in (1, 1, 2, 3, 4)]
    assert bids[0] == bids[1]
    assert len(set(bids)) > 1
