"""What casts doubt on a run: what is worth a warning about answers that came, and the share of fallbacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.event import LoggedEvent, Nobody
from agentsim.engine.request import Ask
from agentsim.games import find
from agentsim.games.auction.bidding import BidMade
from agentsim.games.market.turn import Acted, Forfeited
from agentsim.games.monopoly.trade import TradeDiscarded
from agentsim.games.society.turn import InvalidAction
from agentsim.models.base import Attempt, Completion, Message, Usage
from agentsim.records.diagnostics import diagnostics
from agentsim.records.fallback_rates import FallbackRate, FallbackRates, fallback_rates, fallback_rates_in, summed
from agentsim.records.history import History, PlayerRecord, build_history, warnings_of
from agentsim.runs.decide import DecisionResult, decision_record_of
from tests.amounts import each_row
from tests.contract.harness import on_bots, some_bot

USED = Usage(prompt_tokens=2_000, completion_tokens=5)
FINE = Attempt(
    (Message("user", ("x" * 8_000,)),),
    completion=Completion('{"vote": "A"}', "thought", "stop", "gpt-5-mini", None, USED),
)


def codes(attempt: Attempt, model: str = "openrouter/openai/gpt-5-mini") -> list[str]:
    return [diagnostic.code for diagnostic in diagnostics(model, attempt)]


def answered(text: str = "{}", model: str | None = None, usage: Usage = USED, reason: str = "stop") -> Attempt:
    return replace(FINE, completion=Completion(text, "thought", reason, model, None, usage))


def test_a_proper_answer_is_no_concern() -> None:
    assert codes(FINE) == []


@pytest.mark.parametrize(("tokens", "said"), [(1_199, ["prompt_cut"]), (1_200, []), (9_000, [])])
def test_a_prompt_of_which_less_than_60_percent_arrived(tokens: int, said: list[str]) -> None:
    assert codes(answered(usage=replace(USED, prompt_tokens=tokens))) == said


def test_of_a_short_prompt_nothing_is_estimated() -> None:
    assert (
        codes(replace(answered(usage=replace(USED, prompt_tokens=10)), messages=(Message("user", ("x" * 3_996,)),)))
        == []
    )


@each_row(
    "asked, came, said",
    [
        ("openrouter/openai/gpt-5-mini", "openai/gpt-5-mini-2025-08-07", []),
        ("ollama/llama3.2", "llama3.2:latest", []),
        ("local/smollm2-135m", "SmolLM2-135M-Instruct.Q4_1", []),
        ("openai/gpt-5", "gpt-4o", []),  # in the record, and no alarm
        ("openai/gpt-5", "llama-guard-4", ["other_model"]),
        ("openai/gpt-5", None, []),
    ],
)
def test_a_model_of_another_family(asked: str, came: str | None, said: list[str]) -> None:
    assert codes(answered(model=came), asked) == said


@pytest.mark.parametrize("usage", [Usage(), Usage(prompt_tokens=2_000), Usage(completion_tokens=1)])
def test_a_server_that_does_not_count(usage: Usage) -> None:
    assert codes(answered(usage=usage)) == ["no_usage"]


def test_a_reply_that_went_into_thinking_and_one_that_was_cut() -> None:
    assert codes(answered("", reason="length")) == ["empty_reasoning"]
    assert codes(answered("x" * 70_000)) == ["reply_cut"]


@pytest.mark.parametrize("model", ["script:replies.json", "bot/random", "human"])
def test_nobodys_server_is_no_concern(model: str) -> None:
    assert codes(answered(usage=Usage(), model="other"), model) == []


def test_a_failed_call_is_an_error_and_no_concern() -> None:
    assert codes(Attempt(FINE.messages, "timeout", "late")) == []


def test_each_is_said_once_for_each_model_and_counted() -> None:
    silent = answered(usage=Usage())
    found = warnings_of(
        [], [("A", silent), ("B", silent), ("A", silent), ("A", FINE)], {"A": "lab/gpt-x", "B": "lab/gpt-y"}
    )
    assert [(each.code, each.model, each.count) for each in found] == [
        ("no_usage", "lab/gpt-x", 2),
        ("no_usage", "lab/gpt-y", 1),
    ]


def counted(**sources: str) -> FallbackRates:
    """Of players' decisions by letters: `m` a model's, `f` a fallback, `b` a bot's, `h` a person's, `s` a script's."""
    words = {"m": "model", "f": "fallback", "b": "bot", "h": "human", "s": "script"}
    made = [(player, words[letter]) for player, letters in sources.items() for letter in letters]
    return fallback_rates((index, player, source) for index, (player, source) in enumerate(made, start=1))


def test_what_a_bot_decided_counts_nowhere() -> None:
    found = counted(A="mfhs", B="bbbbbb")
    assert found.whole == FallbackRate(4, 1)
    assert found.by_player == {"A": FallbackRate(4, 1)}
    assert found.worst == 0.25
    assert counted(B="bbb").whole == FallbackRate()


def test_staff_counts_as_its_own() -> None:
    found = fallback_rates([(1, "A", "model"), (2, "@summarizer", "fallback")], {"A": "lab/x", "@summarizer": "lab/y"})
    assert found.by_player == {"A": FallbackRate(1, 0), "@summarizer": FallbackRate(1, 1)}
    assert found.by_model == {"lab/x": FallbackRate(1, 0), "lab/y": FallbackRate(1, 1)}


@pytest.mark.parametrize(("own", "worst"), [("f" * 9, 9 / 99), ("f" * 10, 1.0), ("f" * 5 + "m" * 5, 0.5)])
def test_a_player_counts_alone_from_ten_decisions_on(own: str, worst: float) -> None:
    assert counted(A=own, B="m" * 90).worst == pytest.approx(worst)


@pytest.mark.parametrize(("fallbacks", "notable"), [(1, False), (2, True)])
def test_above_five_percent_there_is_a_warning(fallbacks: int, notable: bool) -> None:
    found = counted(A="f" * fallbacks, B="m" * (20 - fallbacks))
    assert found.notable is notable
    assert (found.warning is not None) is notable
    if notable:
        assert "2 of 20 (10%); by player: A 100%, B 0%" in str(found.warning)


def test_a_share_that_is_not_none_is_never_said_to_be() -> None:
    assert FallbackRate(1000, 1).percent == "under 1%"
    assert FallbackRate(1000, 0).percent == "0%"
    assert counted().short == "-"
    assert counted(A="mmmm", B="fmmm").short == "12% (B 25%)"


def test_the_shares_of_several_runs_add_up() -> None:
    both = summed([counted(A="mf", B="m"), counted(A="f", C="m")])
    assert (both.whole, both.by_player) == (
        FallbackRate(5, 2),
        {"A": FallbackRate(3, 2), "B": FallbackRate(1), "C": FallbackRate(1)},
    )
    assert summed([]).whole == FallbackRate()


REFUSED = (
    (InvalidAction(1, 2, "{}", "no"), True),
    (Forfeited("A", "action"), True),
    (Acted("A", "buy", {}, accepted=False, result="no"), True),
    (Acted("A", "buy", {}, accepted=True, result="yes"), False),
    (TradeDiscarded("A", "Ann", "no"), True),
    (BidMade(1, 1, "A", "Ann", 9, valid=False, fail_reason="OverBudget", high_before=0), True),
    (BidMade(1, 1, "A", "Ann", 0, valid=False, fail_reason="Pass", high_before=0), False),
    (BidMade(1, 1, "A", "Ann", 9, valid=True, fail_reason="", high_before=0), False),
)


@each_row("event, refused", REFUSED)
def test_what_a_game_turns_away_says_so(event: Any, refused: bool) -> None:
    assert event.turned_away is refused


def test_what_a_game_turned_away_is_counted_by_its_decision_and_bots_are_not() -> None:
    ask = on_bots("monopoly", some_bot(find("monopoly"))).asks()[0]
    discarded = TradeDiscarded("A", "Ann", "no such deed")

    def history(source: Any) -> History:
        first = decision_record_of(Ask(1, 1, 0, 1, ask.request), DecisionResult(ask.request.fallback(), source))
        player = first.player
        log = [LoggedEvent(discarded, (player,), 0, player, 1), LoggedEvent(discarded, Nobody, 0)]
        return build_history(
            game="monopoly",
            rules_version=find("monopoly").rules_version,
            seed=1,
            status="completed",
            scenario={},
            players=[PlayerRecord(id=player, model="lab/x")],
            rounds=["Set-up"],
            log=log,
            decisions=[first],
            outcome=None,
            volatile={},
        )

    made = history("model")
    assert fallback_rates_in(made).whole == FallbackRate(1, 0, 1)
    assert fallback_rates_in(history("bot")).whole == FallbackRate()
    unknown = made.model_copy(update={"game": "nosuch"})
    assert fallback_rates_in(unknown).whole == FallbackRate(1, 0, 0), (
        "of a game that is not installed the rest is still counted"
    )
