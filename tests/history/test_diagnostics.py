"""Concerns: what is worth a warning about answers that came, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentsim.history.diagnostics import diagnostics, warnings_of
from agentsim.models.base import Attempt, Completion, Message, Usage

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


@pytest.mark.parametrize(
    ("asked", "came", "said"),
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
    assert [(each["code"], each["model"], each["count"]) for each in found] == [
        ("no_usage", "lab/gpt-x", 2),
        ("no_usage", "lab/gpt-y", 1),
    ]
