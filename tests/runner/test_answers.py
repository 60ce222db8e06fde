"""Whole games before hosts that answer in other shapes and words: an answer is read, and what is none is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.runner.island import journaled, play
from tests.runner.test_negotiation import Heard, answered

W = "Keep me and I keep you."
HALF = "Keep me and I will see to it that you are kept by all of the"


def said(body: dict[str, Any], **parts: Any) -> Raw:
    """A good envelope around what is said, with these parts of the choice."""
    return Raw(200, envelope(answered(body), **parts))


def first(raw: Raw) -> Any:
    """A host whose first answer is this; all others are good."""
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return raw if asked["all"] == 1 else answered(body)

    return reply


def played(reply: Any, tmp_path: Path, *settings: str) -> tuple[dict[str, Any], list[str]]:
    """The history of a game before this host, and what was said of its model."""
    heard = Heard()
    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", *settings, watcher=heard)
    assert result.status == "completed", result.error
    thoughts = {
        attempt.completion and attempt.completion.reasoning for e in journaled(result.files) for attempt in e.tries
    }
    return result.history | {"thoughts": thoughts}, heard.said


CUT = ["length", "model_length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "max_output_tokens"]


@pytest.mark.parametrize("reason", CUT)
def test_half_a_sentence_is_cut_in_any_word_for_it(reason: str, tmp_path: Path) -> None:
    history, _ = played(first(Raw(200, envelope(HALF, finish_reason=reason))), tmp_path)
    assert history["usage"]["reasks"] == 1
    assert "cut off" in history["decisions"][0]["tries"][0]["error"]["message"]
    assert HALF not in json.dumps(history["rounds"])


@pytest.mark.parametrize("reason", ["network_error", "insufficient_system_resource", "error", "abort"])
def test_a_host_that_breaks_down_is_asked_again_as_after_any_fault_of_transport(reason: str, tmp_path: Path) -> None:
    history, _ = played(first(Raw(200, envelope(HALF, finish_reason=reason))), tmp_path)
    usage = history["usage"]
    assert (usage["failed_calls"], usage["reasks"], usage["fallbacks"]) == (1, 0, 0)
    assert HALF not in json.dumps(history["rounds"])


@pytest.mark.parametrize(
    "reason", ["content_filter", "sensitive", "SAFETY", "refusal", "RECITATION", "guardrail_intervened"]
)
@pytest.mark.parametrize("words", [None, "", HALF])
def test_a_filter_is_one_in_any_word_for_it_and_asked_once(reason: str, words: str | None, tmp_path: Path) -> None:
    history, _ = played(first(Raw(200, envelope(words, finish_reason=reason))), tmp_path)
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (0, 1)
    assert history["decisions"][0]["fallback_reason"] == "content_filter"
    assert HALF not in json.dumps(history["rounds"])


def test_a_word_that_no_table_knows_is_a_warning_and_no_guess(tmp_path: Path) -> None:
    history, said_of_it = played(lambda body: said(body, finish_reason="wrapped_up"), tmp_path)
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (0, 0)
    assert [line for line in said_of_it if "'wrapped_up'" in line] == [
        "fake/echo: a reply ended for 'wrapped_up', which is taken for a whole one"
    ]
    assert "unknown_finish" in {found["code"] for found in history["warnings"]}


def call(body: dict[str, Any], name: str, layers: int = 1) -> dict[str, Any]:
    arguments: Any = json.loads(answered(body)) if answered(body).startswith("{") else {"text": answered(body)}
    for _ in range(layers):
        arguments = json.dumps(arguments)
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


SHAPES: dict[str, Any] = {
    "output_text": lambda body: {"content": [{"type": "output_text", "text": answered(body)}]},
    "text parts": lambda body: {"content": [{"type": "text", "text": answered(body)}]},
    "strings": lambda body: {"content": [answered(body)]},
    "an object": lambda body: {"content": {"type": "text", "text": answered(body)}},
    "an object of the decision": lambda body: {"content": json.loads(answered(body))},
    "a call in place of content": lambda body: {"content": None, "tool_calls": [call(body, "vote")]},
    "a call with blanks as content": lambda body: {"content": "  ", "tool_calls": [call(body, "vote")]},
    "a name with its channel": lambda body: {"content": None, "tool_calls": [call(body, "vote<|channel|>commentary")]},
    "a name with its module": lambda body: {"content": None, "tool_calls": [call(body, "functions.vote")]},
    "arguments as an object": lambda body: {"content": None, "tool_calls": [call(body, "vote", 0)]},
    "arguments encoded twice": lambda body: {"content": None, "tool_calls": [call(body, "vote", 2)]},
    "arguments encoded thrice": lambda body: {"content": None, "tool_calls": [call(body, "vote", 3)]},
    "the older function_call": lambda body: {"content": None, "function_call": call(body, "vote")["function"]},
}


@pytest.mark.parametrize("structured", ["json_schema", "tool", "prompt"])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_is_read_wherever_it_stands(shape: str, structured: str, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        return Raw(200, envelope(None, message=SHAPES[shape](body)))

    history, _ = played(reply, tmp_path, f'providers.fake.structured="{structured}"')
    usage = history["usage"]
    assert (usage["reasks"], usage["fallbacks"], usage["failed_calls"]) == (0, 0, 0)
    assert {record["source"] for record in history["decisions"]} == {"model"}


THOUGHTS: dict[str, Any] = {
    "reasoning": "SECRET",
    "reasoning_content": "SECRET",
    "thinking": "SECRET",
    "reasoning_details": [{"type": "reasoning.text", "text": "SECRET"}],
}


@pytest.mark.parametrize("where", [*THOUGHTS, "a list", "a part", "a part of parts", "an object"])
def test_thinking_beside_an_answer_is_kept_and_heard_by_none(where: str, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        words = answered(body)
        part: dict[str, Any] = {"type": "thinking", "thinking": "SECRET"}
        if where == "a part of parts":
            part = {"type": "thinking", "thinking": [{"type": "text", "text": "SECRET"}]}
        message = {
            "a list": {"content": words, "reasoning_content": ["SEC", "RET"]},
            "an object": {"content": words, "reasoning": {"content": "SECRET"}},
            "a part": {"content": [part, {"type": "text", "text": words}]},
            "a part of parts": {"content": [part, {"type": "text", "text": words}]},
        }.get(where) or {"content": words, where: THOUGHTS[where]}
        return Raw(200, envelope(None, message=message))

    prompts: list[str] = []

    def watched(body: dict[str, Any]) -> Raw:
        prompts.append(json.dumps(body["messages"]))
        return reply(body)

    history, _ = played(watched, tmp_path)
    assert history["usage"]["reasks"] == history["usage"]["fallbacks"] == 0
    assert history["thoughts"] == {"SECRET"}
    assert "SECRET" not in json.dumps(history["rounds"])
    assert not any("SECRET" in prompt for prompt in prompts)


def test_an_answer_that_came_as_thinking_names_the_server_s_parser(tmp_path: Path) -> None:
    raw = Raw(200, envelope(None, message={"content": "", "reasoning_content": W}))
    _, said_of_it = played(first(raw), tmp_path)
    (line,) = [line for line in said_of_it if "as thinking" in line]
    assert "reasoning parser" in line
    assert "max_tokens" not in line


@pytest.mark.parametrize(("prompt", "reply"), [(193, 3903), (1024, 3072), (7000, 1192), (48, 2000)])
def test_a_full_context_is_named_and_not_the_cap(prompt: int, reply: int, tmp_path: Path) -> None:
    used = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    _, said_of_it = played(first(Raw(200, envelope("", finish_reason="length") | {"usage": used})), tmp_path)
    assert any(f"fill a context of {prompt + reply:,} tokens" in line for line in said_of_it)
    assert not any("raise max_tokens" in line for line in said_of_it)


def test_thinking_up_to_the_cap_names_the_cap(tmp_path: Path) -> None:
    used = {"prompt_tokens": 193, "completion_tokens": 400, "total_tokens": 593}
    raw = Raw(200, envelope("", finish_reason="length") | {"usage": used})
    _, said_of_it = played(first(raw), tmp_path, "defaults.max_tokens=400")
    assert any("raise max_tokens" in line for line in said_of_it)
