"""Whole games with hosts that answer in other forms: answers are read, and other texts are reported."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.runs.replay import prove
from tests.amounts import one_in
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import FOUR, THREE, journaled, play
from tests.runs.test_negotiation import Heard, answered

W = "Keep me and I keep you."
HALF = "Keep me and I will see to it that you are kept by all of the"


def said(body: dict[str, Any], **parts: Any) -> Raw:
    """Return a good answer with these fields of the choice."""
    return Raw(200, envelope(answered(body), **parts))


def first(raw: Raw) -> Any:
    """Return a reply function whose first answer is this; all others are good."""
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return raw if asked["all"] == 1 else answered(body)

    return reply


def played(reply: Any, tmp_path: Path, *settings: str, players: str = THREE) -> tuple[dict[str, Any], list[str]]:
    """Play a game with these replies; return its history and the warnings on its model."""
    heard = Heard()
    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", *settings, players=players, watcher=heard)
    assert result.status == "completed", result.error
    assert prove(result.files).complete
    thoughts = {
        attempt.completion and attempt.completion.reasoning for e in journaled(result.files) for attempt in e.attempts
    }
    return result.history | {"thoughts": thoughts}, heard.said


WIRES = ("chat", "responses", "messages")
CUT = [
    *("length", "model_length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "max_output_tokens"),
    *("maxTokens", "FINISH_REASON_MAX_TOKENS"),
]
every_wire = pytest.mark.parametrize("wire", WIRES)


def over(wire: str) -> str:
    """Return the setting of a wire."""
    return f'providers.fake.wire="{wire}"'


def on_wires(*words: str) -> list[tuple[str, str]]:
    """Pair all words with chat, and the first two with the other wires, which share the table of words."""
    return [*((word, "chat") for word in words), *((word, wire) for word in words[:2] for wire in WIRES[1:])]


@pytest.mark.parametrize(("reason", "wire"), on_wires(*CUT))
@one_in(4)
def test_half_a_sentence_is_cut_in_any_word_for_it(reason: str, wire: str, tmp_path: Path) -> None:
    history, _ = played(first(Raw(200, envelope(HALF, finish_reason=reason))), tmp_path, over(wire))
    assert history["usage"]["reasks"] == 1
    assert "cut off" in history["decisions"][0]["attempts"][0]["error"]
    assert HALF not in json.dumps(history["rounds"])


HALVES: dict[str, dict[str, Any]] = {
    "an object": {"finish_reason": {"type": "length", "length": 64}},
    "the host's own word": {"finish_reason": None, "native_finish_reason": "MAX_TOKENS"},
    "a known word beside an unknown one": {"finish_reason": "ended", "native_finish_reason": "MAX_TOKENS"},
    "another field": {"finish_reason": None, "finishReason": "MAX_TOKENS"},
}


@pytest.mark.parametrize("where", HALVES)
def test_half_a_sentence_is_cut_wherever_that_is_said(where: str, tmp_path: Path) -> None:
    history, said_of_it = played(first(Raw(200, envelope(HALF, **HALVES[where]))), tmp_path)
    assert history["usage"]["reasks"] == 1
    assert HALF not in json.dumps(history["rounds"])
    assert not any("taken for a whole one" in line for line in said_of_it)


@pytest.mark.parametrize(
    ("reason", "wire"),
    on_wires(
        *("network_error", "insufficient_system_resource", "error", "abort", "NETWORK_ERROR"),
    ),
)
@one_in(3)
def test_a_host_that_breaks_down_is_asked_again_as_after_any_fault_of_transport(
    reason: str, wire: str, tmp_path: Path
) -> None:
    history, _ = played(first(Raw(200, envelope(HALF, finish_reason=reason))), tmp_path, over(wire))
    usage = history["usage"]
    assert (usage["failed_calls"], usage["reasks"], usage["fallbacks"]) == (1, 0, 0)
    assert HALF not in json.dumps(history["rounds"])


@pytest.mark.parametrize(
    ("reason", "wire"),
    on_wires(
        *("content_filter", "sensitive", "SAFETY", "refusal", "RECITATION", "guardrail_intervened"),
        *("content_filter: RECITATION", "blacklist"),
    ),
)
@pytest.mark.parametrize("words", [None, HALF])
@one_in(6)
def test_a_filter_is_one_in_any_word_for_it_and_asked_once(
    reason: str, words: str | None, wire: str, tmp_path: Path
) -> None:
    history, _ = played(first(Raw(200, envelope(words, finish_reason=reason))), tmp_path, over(wire))
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (0, 1)
    assert history["decisions"][0]["fallback_reason"] == "content_filter"
    assert HALF not in json.dumps(history["rounds"])


@every_wire
def test_a_word_that_no_table_knows_is_a_warning_and_no_guess(wire: str, tmp_path: Path) -> None:
    history, said_of_it = played(lambda body: said(body, finish_reason="wrapped_up"), tmp_path, over(wire))
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (0, 0)
    assert [line for line in said_of_it if "'wrapped_up'" in line] == [
        "fake/echo: a reply ended for 'wrapped_up', which is taken for a whole one"
    ]
    assert "unknown_finish" in {found["code"] for found in history["warnings"]}


@every_wire
def test_a_finish_reason_that_is_a_number_is_a_warning(wire: str, tmp_path: Path) -> None:
    _, said_of_it = played(lambda body: said(body, finish_reason=2), tmp_path, over(wire))
    assert [line for line in said_of_it if "'2'" in line]


def fifth(raw: Raw) -> Any:
    """Return a reply function that gives this answer to each call of the fifth prompt."""
    prompts: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        words = json.dumps(body["messages"])
        prompts.extend([words] if words not in prompts else [])
        return raw if prompts.index(words) == 4 else answered(body)

    return reply


PAGE = "<html>Sorry, you have been blocked</html>"
ONE_PROMPT: dict[str, tuple[Raw, str]] = {
    "xAI": (
        Raw(
            403,
            {
                "code": "The caller does not have permission to execute the specified operation",
                "error": "Content violates usage guidelines. Team: t, Failed check: SAFETY_CHECK_TYPE_BIO",
            },
        ),
        "moderation",
    ),
    "DeepSeek": (Raw(400, {"error": {"message": "Content Exists Risk"}}), "moderation"),
    "MiniMax": (Raw(200, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}), "moderation"),
    "Z.ai": (Raw(400, {"error": {"code": "1261", "message": "Prompt 超长"}}), "context"),
    "a firewall": (Raw(403, PAGE, content_type="text/html"), "forbidden"),
    "nginx": (Raw(404, "<html>404 Not Found</html>", content_type="text/html"), "unknown_model"),
    "a plain 403": (Raw(403, {"error": {"message": "Forbidden"}}), "forbidden"),
}


@pytest.mark.parametrize("host", ONE_PROMPT)
def test_what_a_host_has_against_one_prompt_costs_that_decision_alone_and_is_asked_once(
    host: str, tmp_path: Path
) -> None:
    raw, reason = ONE_PROMPT[host]
    history, _ = played(fifth(raw), tmp_path, players=FOUR)
    assert Counter(filter(None, (each["fallback_reason"] for each in history["decisions"]))) == {reason: 1}
    assert (history["usage"]["failed_calls"], history["usage"]["reasks"]) == (1, 0)
    assert "negotiated" not in history["volatile"]


@pytest.mark.parametrize("host", ["xAI", "DeepSeek", "MiniMax"])
def test_a_filter_at_the_first_prompt_costs_that_decision_alone(host: str, tmp_path: Path) -> None:
    history, _ = played(first(ONE_PROMPT[host][0]), tmp_path)
    assert history["decisions"][0]["fallback_reason"] == "moderation"
    assert history["usage"]["failed_calls"] == 1


@pytest.mark.parametrize("then", ["stop", "fallback"])
@pytest.mark.parametrize("host", ["a firewall", "nginx", "a plain 403"])
def test_a_403_or_404_at_the_first_call_of_a_model_stops_the_run(host: str, then: str, tmp_path: Path) -> None:
    with FakeServer(first(ONE_PROMPT[host][0])).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", f'limits.on_provider_failure="{then}"')
        assert len(server.received) == 1
    assert result.status == "stopped_provider"


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_403_of_a_model_whose_key_may_not_use_it_stops_the_run_though_others_of_the_host_answer(
    concurrency: int, tmp_path: Path
) -> None:
    def reply(body: dict[str, Any]) -> str | Raw:
        return Raw(403, {"error": {"message": "Forbidden"}}) if body["model"] == "dearer" else answered(body)

    players = "".join(
        f'[[players]]\nid = "{seat}"\nmodel = "fake/{model}"\n'
        for seat, model in (("A", "echo"), ("B", "echo"), ("C", "dearer"))
    )
    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, f"limits.concurrency={concurrency}", players=players)
    assert result.status == "stopped_provider"
    assert "dearer" in str(result.error)


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
    "a custom tool": lambda body: {
        "content": None,
        "tool_calls": [{"type": "custom", "custom": {"name": "v", "input": call(body, "v")["function"]["arguments"]}}],
    },
    "several calls": lambda body: {
        "content": None,
        "tool_calls": [
            {"function": {"name": "vote", "arguments": "{"}},
            {"function": {"name": "look", "arguments": ""}},
            call(body, "vote"),
        ],
    },
    "one call that is no list": lambda body: {"content": None, "tool_calls": call(body, "vote")},
    "calls in a text": lambda body: {"content": None, "tool_calls": json.dumps([call(body, "vote")])},
    "parameters": lambda body: {
        "content": None,
        "tool_calls": [{"name": "vote", "parameters": json.loads(call(body, "vote")["function"]["arguments"])}],
    },
    "a part that is a call": lambda body: {
        "content": [{"type": "tool_use", "name": "vote", "input": call(body, "vote", 0)["function"]["arguments"]}]
    },
    "a part that is a call of Gemini's": lambda body: {
        "content": [{"functionCall": {"name": "vote", "args": call(body, "vote", 0)["function"]["arguments"]}}]
    },
    "a part that is a call of Bedrock's": lambda body: {
        "content": [
            {"text": "Let me think."},
            {"toolUse": {"name": "vote", "input": call(body, "vote", 0)["function"]["arguments"]}},
        ]
    },
    "a message in a part": lambda body: {
        "content": [{"type": "message", "content": [{"type": "output_text", "text": answered(body)}]}]
    },
    "a text in a value": lambda body: {"content": [{"type": "text", "text": {"value": answered(body)}}]},
    "parts without a type": lambda body: {"content": [{"text": answered(body)[:9]}, {"text": answered(body)[9:]}]},
}
BESIDE = "Let me think, and then I vote."


# Responses has no reason for an end with a call that the request did not ask for
@pytest.mark.parametrize(
    ("wire", "structured"),
    [
        *((wire, mode) for wire in ("chat", "messages") for mode in ("json_schema", "tool", "prompt")),
        ("responses", "tool"),
    ],
)
def test_words_beside_a_call_that_ends_an_answer_are_no_answer(wire: str, structured: str, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        message = {"content": BESIDE, "tool_calls": [call(body, "vote")]}
        return Raw(200, envelope(None, message=message, finish_reason="tool_calls"))

    history, _ = played(reply, tmp_path, over(wire), f'providers.fake.structured="{structured}"')
    usage = history["usage"]
    assert (usage["reasks"], usage["fallbacks"], usage["failed_calls"]) == (0, 0, 0)
    assert BESIDE not in json.dumps(history["rounds"])


@every_wire
def test_words_beside_a_made_up_call_are_heard_by_nobody_though_the_answer_ends_as_others_do(
    wire: str, tmp_path: Path
) -> None:
    def reply(body: dict[str, Any]) -> str | Raw:
        if len(body["messages"]) > 2 or BESIDE in json.dumps(body):
            return answered(body)  # asked again
        search = {"type": "function", "function": {"name": "web_search", "arguments": '{"query": "x"}'}}
        message = {"content": BESIDE, "tool_calls": [search]}
        return Raw(200, envelope(None, message=message, finish_reason="stop"))

    history, _ = played(reply, tmp_path, over(wire))
    assert history["usage"]["reasks"] > 0
    assert history["usage"]["fallbacks"] == 0
    assert BESIDE not in json.dumps(history["rounds"])


@pytest.mark.parametrize("finish_reason", ["stop", "tool_calls"])
def test_a_call_without_an_object_beside_words_takes_nothing_from_them(finish_reason: str, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        search = {"type": "function", "function": {"name": "web_search", "arguments": ""}}
        message = {"content": answered(body), "tool_calls": [search]}
        return Raw(200, envelope(None, message=message, finish_reason=finish_reason))

    history, _ = played(reply, tmp_path)
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (0, 0)


CHOICES: dict[str, Any] = {
    "a bare text": lambda body: [{"index": 0, "finish_reason": "stop", "text": answered(body)}],
    "a delta": lambda body: [{"index": 0, "finish_reason": "stop", "delta": {"content": answered(body)}}],
    "a message that is a text": lambda body: [{"index": 0, "finish_reason": "stop", "message": answered(body)}],
    "words and call in two choices": lambda body: [
        {"index": 0, "finish_reason": "tool_calls", "message": {"content": ""}},
        {"index": 1, "finish_reason": "tool_calls", "message": {"content": None, "tool_calls": [call(body, "vote")]}},
    ],
}


@pytest.mark.parametrize("shape", CHOICES)
def test_an_answer_is_read_in_whatever_choice_it_stands(shape: str, tmp_path: Path) -> None:
    history, _ = played(lambda body: Raw(200, envelope(None) | {"choices": CHOICES[shape](body)}), tmp_path)
    usage = history["usage"]
    assert (usage["reasks"], usage["fallbacks"], usage["failed_calls"]) == (0, 0, 0)


def response(*output: dict[str, Any]) -> dict[str, Any]:
    used = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {"object": "response", "status": "completed", "model": "echo", "output": [*output], "usage": used}


def message(*content: dict[str, Any], reason: str = "end_turn") -> dict[str, Any]:
    used = {"input_tokens": 10, "output_tokens": 5}
    return {"type": "message", "model": "echo", "stop_reason": reason, "content": [*content], "usage": used}


ELSEWHERE: dict[str, tuple[str, Any]] = {
    "responses, a text": ("responses", lambda body: response({"type": "message", "content": answered(body)})),
    "responses, a call": (
        "responses",
        lambda body: response({"type": "function_call", **call(body, "functions.vote")["function"]}),
    ),
    "responses, a call encoded twice": (
        "responses",
        lambda body: response({"type": "function_call", **call(body, "vote", 2)["function"]}),
    ),
    "responses, a custom tool": (
        "responses",
        lambda body: response({"type": "custom_tool_call", "input": call(body, "v")["function"]["arguments"]}),
    ),
    "responses, calls of the host's beside it": (
        "responses",
        lambda body: response(
            {"type": "mcp_call", "arguments": '{"vote": "nobody", "text": "SECRET"}'},
            {"type": "message", "content": [{"type": "output_text", "text": answered(body)}]},
        ),
    ),
    "messages, a call": (
        "messages",
        lambda body: message(
            {"type": "tool_use", "name": "vote", "input": call(body, "vote", 0)["function"]["arguments"]}
        ),
    ),
    "messages, a call encoded": (
        "messages",
        lambda body: message(
            {"type": "tool_use", "name": "vote", "input": call(body, "vote", 2)["function"]["arguments"]}
        ),
    ),
    "messages, calls of the host's beside it": (
        "messages",
        lambda body: message(
            {"type": "server_tool_use", "name": "web_search", "input": {"text": "SECRET"}},
            {"type": "web_search_tool_result", "content": [{"type": "text", "text": "SECRET"}]},
            {"type": "text", "text": answered(body)},
        ),
    ),
}


HALF_PART = {"type": "output_text", "text": HALF}
NO_ANSWER: dict[str, tuple[str, dict[str, Any]]] = {
    "an incomplete response for an unknown reason": (
        "responses",
        response({"type": "message", "content": HALF})
        | {"status": "incomplete", "incomplete_details": {"reason": "max_tool_calls"}},
    ),
    "words before a refusal": (
        "responses",
        response({"type": "message", "content": [HALF_PART, {"type": "refusal", "refusal": "I cannot."}]}),
    ),
    "a turn that the host pauses at its tool": (
        "messages",
        message(
            {"type": "text", "text": f"{HALF} others."},
            {"type": "server_tool_use", "name": "web_search", "input": {"query": "x"}},
            reason="pause_turn",
        ),
    ),
    "a host's error as the reason": ("messages", message({"type": "text", "text": HALF}, reason="overloaded_error")),
}


@pytest.mark.parametrize("case", NO_ANSWER)
def test_words_that_are_no_answer_are_never_heard(case: str, tmp_path: Path) -> None:
    wire, odd = NO_ANSWER[case]
    turns: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        turns["all"] += 1
        return answered(body) if turns["all"] not in {2, 3} else Raw(200, odd)

    history, _ = played(reply, tmp_path, over(wire), "limits.max_fallback_rate=1")
    assert HALF not in json.dumps(history["rounds"])
    usage = history["usage"]
    assert usage["reasks"] + usage["failed_calls"] + usage["fallbacks"] > 0, "the loss is counted"


@pytest.mark.parametrize("structured", ["json_schema", "tool", "prompt"])
@pytest.mark.parametrize("shape", ELSEWHERE)
@one_in(4)
def test_an_answer_is_read_on_the_other_wires(shape: str, structured: str, tmp_path: Path) -> None:
    wire, made = ELSEWHERE[shape]
    history, _ = played(
        lambda body: Raw(200, made(body)),
        tmp_path,
        f'providers.fake.structured="{structured}"',
        over(wire),
    )
    usage = history["usage"]
    assert (usage["reasks"], usage["fallbacks"], usage["failed_calls"]) == (0, 0, 0)
    assert "SECRET" not in json.dumps(history["rounds"])


def test_a_part_of_a_kind_that_no_table_knows_is_left_out_and_said(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        parts = [{"type": "scratchpad", "text": "SECRET"}, {"type": "text", "text": answered(body)}]
        return Raw(200, envelope(None, message={"content": parts}))

    history, said_of_it = played(reply, tmp_path)
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (0, 0)
    assert "SECRET" not in json.dumps(history["rounds"])
    assert [line for line in said_of_it if "'scratchpad'" in line] == [
        "fake/echo: a part of an answer is of the kind 'scratchpad', which is not known: left out"
    ]
    (warning,) = [found for found in history["warnings"] if found["code"] == "unknown_part"]
    assert warning["count"] == len(history["decisions"])


@pytest.mark.parametrize("kind", ["image_url", "audio", "file"])
def test_a_picture_in_place_of_words_is_no_speech(kind: str, tmp_path: Path) -> None:
    parts = [{"type": kind, kind: {"url": "data:SECRET"}}]
    history, _ = played(first(Raw(200, envelope(None, message={"content": parts}))), tmp_path)
    assert (history["usage"]["reasks"], history["usage"]["fallbacks"]) == (1, 0)
    assert "SECRET" not in json.dumps(history["rounds"])


@pytest.mark.parametrize("structured", ["json_schema", "tool", "prompt"])
@pytest.mark.parametrize("shape", SHAPES)
@one_in(6)
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
    "thoughts": ["SECRET"],
    "thinking_blocks": [{"type": "thinking", "thinking": "SECRET", "signature": "x"}],
    "reasoningContent": {"reasoningText": {"text": "SECRET"}},
    "chain_of_thought": "SECRET",
    "analysis": "SECRET",
}
PARTS: dict[str, dict[str, Any]] = {
    "a part": {"type": "thinking", "thinking": "SECRET"},
    "a part of parts": {"type": "thinking", "thinking": [{"type": "text", "text": "SECRET"}]},
    "a part of Gemini's": {"text": "SECRET", "thought": True},
    "a part of reasoning": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "SECRET"}]},
    "a part of text": {"type": "reasoning_text", "text": "SECRET"},
    "a part with a signature": {"type": "thinking", "thinking": "SECRET", "signature": "EqQBCg"},
    "a thought": {"type": "thought", "content": "SECRET"},
}


@pytest.mark.parametrize("where", [*THOUGHTS, *PARTS, "a list", "an object"])
@one_in(4)
def test_thinking_beside_an_answer_is_kept_and_heard_by_none(where: str, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        words = answered(body)
        if where in PARTS:
            return Raw(200, envelope(None, message={"content": [PARTS[where], {"type": "text", "text": words}]}))
        message = {
            "a list": {"content": words, "reasoning_content": ["SEC", "RET"]},
            "an object": {"content": words, "reasoning": {"content": "SECRET"}},
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


@pytest.mark.parametrize(
    "message",
    [
        {"content": "", "reasoning_content": W},
        {"content": None, "reasoning": W},
        {"reasoning_content": W},
        {"content": [{"type": "thinking", "thinking": W}]},
    ],
)
def test_an_answer_that_came_as_thinking_names_the_server_s_parser(message: dict[str, Any], tmp_path: Path) -> None:
    raw = Raw(200, envelope(None, message=message))
    _, said_of_it = played(first(raw), tmp_path)
    (line,) = [line for line in said_of_it if "as thinking" in line]
    assert "reasoning parser" in line
    assert "max_tokens" not in line


@pytest.mark.parametrize(
    ("prompt", "reply"), [(193, 3903), (1024, 3072), (7000, 1192), (48, 2000), (93, 1907), (193, 7999)]
)
def test_a_full_context_is_named_and_not_the_cap(prompt: int, reply: int, tmp_path: Path) -> None:
    used = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    _, said_of_it = played(first(Raw(200, envelope("", finish_reason="length") | {"usage": used})), tmp_path)
    assert any(f"fill a context of {prompt + reply:,} tokens" in line for line in said_of_it)
    assert not any("raise max_tokens" in line for line in said_of_it)


@every_wire
def test_a_host_that_says_itself_that_its_context_is_full_is_believed(wire: str, tmp_path: Path) -> None:
    raw = Raw(200, envelope("", finish_reason="model_context_window_exceeded"))
    _, said_of_it = played(first(raw), tmp_path, over(wire))
    assert any("fill a context of 15 tokens" in line and "--max-model-len" in line for line in said_of_it)
    assert not any("raise max_tokens" in line for line in said_of_it)


def test_thinking_up_to_the_cap_names_the_cap(tmp_path: Path) -> None:
    used = {"prompt_tokens": 193, "completion_tokens": 400, "total_tokens": 593}
    raw = Raw(200, envelope("", finish_reason="length") | {"usage": used})
    _, said_of_it = played(first(raw), tmp_path, "defaults.max_tokens=400")
    assert any("raise max_tokens" in line for line in said_of_it)
