"""Scripted replies: the choice of the reply for a call, and the errors of scripts that cannot be used."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, ScenarioError, TransportFailed
from agentsim.models.base import Call, Completion, Sampling, Usage
from agentsim.models.own import OwnModelAdapter, Scripted


def script(folder: Path, replies: Any) -> Scripted:
    path = folder / "replies.json"
    path.write_text(replies if isinstance(replies, str) else json.dumps(replies), encoding="utf-8")
    return Scripted("script:replies.json", path)


def ask(model: Scripted, tag: str) -> Completion:
    return asyncio.run(model.complete(Call((("user", "?"),), tag=tag), Sampling()))


def test_the_completion_of_a_model_of_ones_own_is_cleaned_before_it_is_read() -> None:
    class Hidden:
        async def complete(self, call: Call, sampling: Sampling) -> Completion:
            return Completion("<\u2060think>B lies.</\u2060think>Hi", reasoning="so\u2060")

    made = asyncio.run(OwnModelAdapter("mine", Hidden()).complete(Call((("user", "?"),), tag="A/vote/1/1"), Sampling()))
    assert (made.text, made.reasoning) == ("<think>B lies.</think>Hi", "so")


def test_the_most_specific_key_counts(tmp_path: Path) -> None:
    model = script(tmp_path, {"A/vote": ["of A"], "vote": ["of anyone"], "*": ["of anything"]})
    assert [ask(model, tag).text for tag in ("A/vote/1/1", "B/vote/1/1", "A/pitch/1/1")] == [
        "of A",
        "of anyone",
        "of anything",
    ]


def test_the_reply_is_a_function_of_the_tag(tmp_path: Path) -> None:
    model = script(tmp_path, {"vote": ["first", "second"]})
    assert [ask(model, f"A/vote/{nth}/1").text for nth in (2, 1, 2)] == ["second", "first", "second"]


def test_a_list_holds_the_attempts_and_its_last_repeats(tmp_path: Path) -> None:
    model = script(tmp_path, {"vote": [["nonsense", "B"]]})
    assert [ask(model, f"A/vote/1/{attempt}").text for attempt in (1, 2, 3)] == ["nonsense", "B", "B"]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"vote": "B"}, '{"vote": "B"}'),
        ({"text": "my pitch"}, '{"text": "my pitch"}'),  # a decision of a game, not of a survey
        ({"text": "x", "usage": {}, "more": 1}, '{"text": "x", "usage": {}, "more": 1}'),
        (7, "7"),
        ("a\u202eb", "ab"),
    ],
    ids=["object", "only-text", "foreign-key", "number", "cleaned"],
)
def test_what_is_sent(tmp_path: Path, reply: Any, text: str) -> None:
    assert ask(script(tmp_path, {"*": [reply]}), "A/vote/1/1") == Completion(text, finish_reason="stop")


def test_an_answer_says_what_a_provider_would(tmp_path: Path) -> None:
    reply = {"text": "B", "reasoning": "hm", "finish_reason": "length", "usage": {"prompt_tokens": 3, "cost_usd": 0.5}}
    assert ask(script(tmp_path, {"*": [reply]}), "A/vote/1/1") == Completion(
        "B", reasoning="hm", finish_reason="length", usage=Usage(prompt_tokens=3, cost_usd=0.5)
    )


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("timeout", TransportFailed),
        ("rate_limited", RateLimited),
        ("refused", RequestRefused),
        ("rejected", ProviderRejected),
    ],
)
def test_an_error_is_raised(tmp_path: Path, name: str, error: type[ModelError]) -> None:
    model = script(tmp_path, {"*": [[{"error": name}, "then an answer"]]})
    with pytest.raises(error):
        ask(model, "A/vote/1/1")
    assert ask(model, "A/vote/1/2").text == "then an answer"


def test_a_list_used_up_names_file_key_and_number(tmp_path: Path) -> None:
    with pytest.raises(ProviderRejected, match=r"^replies\.json: 'vote' has 1 reply, and number 2 is asked for$"):
        ask(script(tmp_path, {"vote": ["one"]}), "A/vote/2/1")


def test_no_key_at_all_names_what_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ProviderRejected, match=r"^replies\.json: there is no reply for A/pitch, number 1$"):
        ask(script(tmp_path, {"vote": ["one"]}), "A/pitch/1/1")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not a JSON file of replies"),
        ('{"*": [NaN]}', "NaN is not a finite number"),
        ("[" * 100_000, "is not a JSON file of replies"),
        (["a list"], "must be a JSON object whose values are lists"),
        ({"vote": "B"}, "must be a JSON object whose values are lists"),
        ({"vote": ["B", {"error": "nuclear"}]}, "'vote', reply 2: there is no error 'nuclear'"),
        ({"*": [{"text": 3, "usage": {}}]}, "`text` must be a text"),
        ({"*": [{"text": "B", "reasoning": None}]}, "`reasoning` must be a text"),
        ({"*": [{"text": "B", "usage": {"tokens": 1}}]}, "`usage` must be an object"),
        ({"*": [[{"text": "B", "usage": {"cost_usd": "much"}}]]}, "`usage` must hold numbers"),
    ],
)
def test_a_script_that_cannot_be_used_is_one_line(tmp_path: Path, content: Any, problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        script(tmp_path, content)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"is not a JSON file of replies: .*No such file"):
        Scripted("script:none.json", tmp_path / "none.json")
