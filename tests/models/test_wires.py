"""Responses and messages over sockets: the bodies of requests, and the reading of answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models.base import Call, Completion, Sampling, Usage, ending
from agentsim.models.faults import RequestNotAccepted
from agentsim.models.profiles import (
    BUILT_IN,
    USUAL_MAX_TOKENS,
    Profile,
    ProviderSettings,
    Structured,
    WireName,
    resolve,
)
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import tried

PROPERTIES = {"speech": {"type": "string", "maxLength": 20}, "vote": {"type": "string", "enum": ["B", "C"]}}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": [*PROPERTIES], "additionalProperties": False}
SENT = SCHEMA | {"properties": PROPERTIES | {"speech": {"type": "string"}}}
ANSWER = {"speech": "x", "vote": "B"}
CALL = Call((("system", "Rules."), ("system", "You are A."), ("user", "Vote.")), SCHEMA, "vote")
PLAIN = Call((("user", "Hello."),))
SAMPLING = Sampling(temperature=0.7, max_tokens=64, timeout_s=5)
MODES: tuple[Structured, ...] = ("json_schema", "tool", "json_object", "prompt")
KEY = "sk-canary-1234567890abcdef"


def lab(wire: WireName, **settings: Any) -> Profile:
    table = ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env="LAB_KEY", wire=wire, **settings)
    return resolve("lab", {"lab": table}, {})


def ask(profile: Profile, reply: Any = "{}", call: Call = CALL, sampling: Sampling = SAMPLING) -> tuple[Any, Any]:
    """Make one call and return its result and its request."""
    fake = FakeServer(lambda _body: reply)
    answer = tried(fake, call, sampling, profile, key=KEY)
    (sent,) = fake.received
    return answer, sent


def read(wire: WireName, answer: Any, *, mode: Structured = "json_schema") -> Completion:
    completion, _ = ask(lab(wire, structured=mode), Raw(200, answer))
    assert isinstance(completion, Completion), completion
    return completion


# ------------------------------------------------------------------------------------------------- requests

RESPONSES: dict[str, Any] = {
    "model": "some/model",
    "input": [{"role": "user", "content": "Vote."}],
    "instructions": "Rules.\nYou are A.",
    "store": False,
    "temperature": 0.7,
    "max_output_tokens": 64,
}
MESSAGES: dict[str, Any] = {
    "model": "some/model",
    "messages": [{"role": "user", "content": "Vote."}],
    "system": [
        {"type": "text", "text": "Rules."},
        {"type": "text", "text": "You are A.", "cache_control": {"type": "ephemeral"}},
    ],
    "temperature": 0.7,
    "max_tokens": 64,
}
TOOL = {"name": "vote", "description": "Gives your answer."}
STRUCTURED: dict[tuple[WireName, Structured], dict[str, Any]] = {
    ("responses", "json_schema"): {
        "text": {"format": {"type": "json_schema", "name": "vote", "schema": SENT, "strict": True}}
    },
    ("responses", "tool"): {
        "tools": [{"type": "function", **TOOL, "parameters": SENT, "strict": True}],
        "tool_choice": {"type": "function", "name": "vote"},
    },
    ("responses", "json_object"): {"text": {"format": {"type": "json_object"}}},
    ("responses", "prompt"): {},
    ("messages", "json_schema"): {"output_config": {"format": {"type": "json_schema", "schema": SENT}}},
    ("messages", "tool"): {
        "tools": [{**TOOL, "input_schema": SENT}],
        "tool_choice": {"type": "tool", "name": "vote"},
    },
    ("messages", "json_object"): {},
    ("messages", "prompt"): {},
}
BASE: dict[WireName, dict[str, Any]] = {"responses": RESPONSES, "messages": MESSAGES}
PATHS = {"responses": "/ok/v1/responses", "messages": "/ok/v1/messages"}


@pytest.mark.parametrize(("wire", "mode"), STRUCTURED)
def test_the_exact_request_in_every_mode(wire: WireName, mode: Structured) -> None:
    _, sent = ask(lab(wire, structured=mode))
    assert (sent.method, sent.path) == ("POST", PATHS[wire])
    assert sent.body == BASE[wire] | STRUCTURED[wire, mode]


def test_a_request_says_nothing_that_was_not_asked_for_but_the_cap_that_messages_must_have() -> None:
    said = [{"role": "user", "content": "Hello."}]
    _, sent = ask(lab("responses"), "x", PLAIN, Sampling(timeout_s=5))
    assert sent.body == {"model": "some/model", "input": said, "store": False}
    _, sent = ask(lab("messages"), "x", PLAIN, Sampling(timeout_s=5))
    assert sent.body == {"model": "some/model", "messages": said, "max_tokens": USUAL_MAX_TOKENS}


@pytest.mark.parametrize("wire", ["responses", "messages"])
def test_extras_are_merged_the_later_over_the_earlier(wire: WireName) -> None:
    extra = {"top_p": 0.5, "temperature": 0.1, "metadata": {"user_id": "u"}, "extra_body": {"top_k": 3}}
    profile = lab(wire, structured="prompt", extra_body={"top_k": 1, "service_tier": "auto", "metadata": {"x": "y"}})
    _, sent = ask(profile, sampling=replace(SAMPLING, extra=extra))
    added = {"top_p": 0.5, "temperature": 0.1, "top_k": 3, "service_tier": "auto"}
    assert sent.body == BASE[wire] | added | {"metadata": {"x": "y", "user_id": "u"}}


@pytest.mark.parametrize("wire", ["responses", "messages"])
def test_an_open_schema_is_not_strict(wire: WireName) -> None:
    schema = {"type": "object", "properties": {"vote": {"type": "string"}}}
    for mode in MODES[:2]:
        _, sent = ask(lab(wire, structured=mode), call=replace(CALL, schema=schema))
        assert '"strict": true' not in json.dumps(sent.body)


@pytest.mark.parametrize(
    ("thinking", "choice"),
    [
        ({"type": "enabled", "budget_tokens": 1024}, {"type": "auto"}),
        ({"type": "adaptive"}, {"type": "auto"}),
        ({"type": "disabled"}, {"type": "tool", "name": "vote"}),
    ],
)
def test_thinking_and_a_forced_tool_exclude_each_other(thinking: Any, choice: Any) -> None:
    sampling = Sampling(max_tokens=4096, timeout_s=5, extra={"thinking": thinking})
    _, sent = ask(lab("messages", structured="tool"), sampling=sampling)
    assert (sent.body["thinking"], sent.body["tool_choice"]) == (thinking, choice)
    _, sent = ask(lab("messages"), sampling=sampling)
    assert "tool_choice" not in sent.body


# -------------------------------------------------------------------------------------------------- answers


def response(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "model": "m-1", "status": status, "output": list(output), **more}


def said(*parts: Any, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"type": "message", "role": "assistant", "content": content, **more}


def message(*content: Any, stop_reason: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    known = {"id": "m", "type": "message", "role": "assistant", "model": "m-1"}
    return {**known, "content": blocks, "stop_reason": stop_reason, **more}


def call(arguments: Any = json.dumps(ANSWER), name: str = "vote") -> dict[str, Any]:  # noqa: B008 - a text
    return {"type": "function_call", "call_id": "c", "name": name, "arguments": arguments}


def use(given: Any = ANSWER, name: str = "vote") -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": name, "input": given}


THOUGHT = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]}
READ: list[tuple[WireName, dict[str, Any], dict[str, Any]]] = [
    ("responses", response(said("Hel", "lo")), {"text": "Hello", "finish_reason": "completed", "model": "m-1"}),
    ("responses", response(THOUGHT, said("Hello")), {"text": "Hello", "reasoning": "Hm."}),
    ("responses", response(THOUGHT), {"text": "", "reasoning": "Hm."}),
    (
        "responses",
        response({**THOUGHT, "content": [{"type": "reasoning_text", "text": "All of it."}]}, said("Hello")),
        {"text": "Hello", "reasoning": "All of it."},
    ),
    ("responses", response(said({"type": "refusal", "refusal": "No."})), {"text": "No.", "refusal": "refusal"}),
    (
        "responses",
        response(said("Half"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        {"text": "Half", "finish_reason": "max_output_tokens"},
    ),
    *(
        ("responses", response(said("Half"), status="incomplete", **details), {"text": "Half", "finish_reason": word})
        for details, word in (
            ({"incomplete_details": {"reason": "max_tool_calls"}}, "incomplete"),
            ({"incomplete_details": {"reason": 5}}, "incomplete"),
            ({"incomplete_details": "max_output_tokens"}, "incomplete"),
            ({}, "incomplete"),
        )
    ),
    ("responses", {"status": "completed", "output_text": "Hello"}, {"text": "Hello"}),
    (
        "responses",
        response(status="incomplete", incomplete_details={"reason": "content_filter"}),
        {"text": "", "refusal": "content_filter"},
    ),
    (
        "responses",
        response(said("Let me see.", phase="commentary"), said("Hello", phase="final_answer")),
        {"text": "Hello", "reasoning": "Let me see."},
    ),
    ("responses", response(said("Let me see.", phase="commentary")), {"text": "", "reasoning": "Let me see."}),
    ("responses", response(call()), {"text": json.dumps(ANSWER)}),
    ("responses", response(THOUGHT, said("I call."), call()), {"text": json.dumps(ANSWER), "reasoning": "Hm."}),
    ("responses", response({"type": "web_search_call", "id": "w"}, said("Hello")), {"text": "Hello"}),
    ("responses", response(None, 5, said("Hello", 5, None)), {"text": "Hello"}),
    ("responses", response({"type": "message", "content": "Hello"}), {"text": "Hello"}),
    ("messages", message("Hel", "lo"), {"text": "Hello", "finish_reason": "end_turn", "model": "m-1"}),
    (
        "messages",
        message({"type": "thinking", "thinking": "Hm.", "signature": "s"}, "Hello"),
        {"text": "Hello", "reasoning": "Hm."},
    ),
    ("messages", message({"type": "redacted_thinking", "data": "c2VjcmV0"}, "Hello"), {"text": "Hello"}),
    (
        "messages",
        message({"type": "thinking", "thinking": "Hm."}, stop_reason="max_tokens"),
        {"text": "", "reasoning": "Hm.", "finish_reason": "max_tokens"},
    ),
    (
        "messages",
        message("Half", stop_reason="model_context_window_exceeded"),
        {"text": "Half", "finish_reason": "model_context_window_exceeded"},
    ),
    ("messages", message(stop_reason="refusal"), {"text": "", "refusal": "content_filter"}),
    ("messages", message(use(), stop_reason="tool_use"), {"text": json.dumps(ANSWER), "finish_reason": "tool_use"}),
    ("messages", message("Hello", stop_reason=None), {"text": "Hello", "finish_reason": None}),
    ("messages", message(None, 5, "Hello"), {"text": "Hello"}),
]


@pytest.mark.parametrize(("wire", "answer", "wanted"), READ)
def test_what_is_read(wire: WireName, answer: dict[str, Any], wanted: dict[str, Any]) -> None:
    completion = read(wire, answer)
    assert {"reasoning": completion.reasoning, "refusal": completion.refusal} == {
        "reasoning": wanted.get("reasoning"),
        "refusal": wanted.get("refusal"),
    }
    assert {name: getattr(completion, name) for name in wanted} == wanted
    assert completion.unusable is None


CALLED: list[tuple[WireName, dict[str, Any]]] = [
    ("responses", response(call())),
    ("responses", response(THOUGHT, said("I vote for C."), call())),
    ("responses", response(call(name="functions.vote"))),
    ("responses", response(call(json.dumps(json.dumps(ANSWER))))),
    ("responses", response(call(ANSWER))),
    ("responses", response(call('{"vote": "C'), call())),
    ("responses", response(said(json.dumps(ANSWER)))),
    ("messages", message(use(), stop_reason="tool_use")),
    ("messages", message({"type": "thinking", "thinking": "Hm."}, "I vote for C.", use(), stop_reason="tool_use")),
    ("messages", message(use(name="other"), stop_reason="tool_use")),
    ("messages", message(use(json.dumps(ANSWER)), stop_reason="tool_use")),
    ("messages", message(json.dumps(ANSWER))),
]


@pytest.mark.parametrize(("wire", "answer"), CALLED)
def test_the_arguments_of_a_forced_function_are_the_text(wire: WireName, answer: dict[str, Any]) -> None:
    completion = read(wire, answer, mode="tool")
    assert (json.loads(completion.text), completion.unusable) == (ANSWER, None)


@pytest.mark.parametrize(
    ("wire", "answer"), [("responses", response(said("I vote for B."))), ("messages", message("I vote for B."))]
)
def test_words_in_place_of_the_call_are_no_decision(wire: WireName, answer: dict[str, Any]) -> None:
    completion = read(wire, answer, mode="tool")
    assert completion.unusable == "The reply does not call the function vote with a JSON object."


SPENT: list[tuple[WireName, dict[str, Any], Usage]] = [
    (
        "responses",
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": 130,
        },
        Usage(prompt_tokens=100, cached_tokens=40, completion_tokens=30, reasoning_tokens=20),
    ),
    ("responses", {"input_tokens": 7, "output_tokens": 3}, Usage(prompt_tokens=7, completion_tokens=3)),
    (
        "messages",
        {
            "input_tokens": 10,
            "cache_creation_input_tokens": 50,
            "cache_read_input_tokens": 40,
            "output_tokens": 30,
            "output_tokens_details": {"thinking_tokens": 20},
        },
        Usage(100, 40, 30, reasoning_tokens=20, cache_write_tokens=50),
    ),
    (
        "messages",
        {"input_tokens": 7, "cache_creation_input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 3},
        Usage(prompt_tokens=7, completion_tokens=3),
    ),
    ("messages", {"input_tokens": "7", "output_tokens": float("1e400")}, Usage()),
]


@pytest.mark.parametrize(("wire", "spent", "usage"), SPENT)
def test_what_was_used(wire: WireName, spent: dict[str, Any], usage: Usage) -> None:
    answer = response(said("x")) if wire == "responses" else message("x")
    assert read(wire, {**answer, "usage": spent}).usage == usage


# --------------------------------------------------------------------------------------------------- faults


def failure(kind: str, words: str = "Overloaded") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


def answered_on(wire: WireName) -> dict[str, Any]:
    """Return a good answer of a wire."""
    good = {
        "responses": lambda: response(said("yes")),
        "messages": lambda: message("yes"),
        "chat": lambda: envelope("yes"),
    }
    return good[wire]()


EVERY: tuple[WireName, ...] = ("chat", "responses", "messages")
NOTHING = [{"code": None, "message": None}, {"code": 0, "message": "success"}, {"code": "0", "message": "ok"}, "", {}]


# -- reasoning that is said again


def thought_on(wire: WireName, thought: str, words: str) -> dict[str, Any]:
    """An answer of these words beside this reasoning."""
    if wire == "responses":
        return response({**THOUGHT, "content": [{"type": "reasoning_text", "text": thought}]}, said(words))
    if wire == "messages":
        return message({"type": "thinking", "thinking": thought, "signature": "s"}, words)
    beside = {"role": "assistant", "content": words, "reasoning_content": thought}
    return {**envelope(words), "choices": [{"index": 0, "message": beside, "finish_reason": "stop"}]}


_LONG = "B must go, but I will smile at him.\nSo I say little."


@pytest.mark.parametrize("wire", EVERY)
@pytest.mark.parametrize("between", ["\n\n", "\n", " ", ""])
def test_reasoning_that_the_host_repeats_before_the_answer_is_no_part_of_it(wire: WireName, between: str) -> None:
    completion = read(wire, thought_on(wire, _LONG, f"{_LONG}{between}Keep me."), mode="prompt")
    assert (completion.text, completion.reasoning, completion.unusable) == ("Keep me.", _LONG, None)


@pytest.mark.parametrize("wire", EVERY)
@pytest.mark.parametrize("thought", [_LONG, f"\n{_LONG} \n", "C", '{"vote": "C"}'])
def test_an_answer_that_is_its_reasoning_again_is_asked_again(wire: WireName, thought: str) -> None:
    completion = read(wire, thought_on(wire, thought, thought.strip()), mode="prompt")
    assert completion.unusable == "The reply is only its reasoning again. Answer below it."
    assert completion.text == thought.strip()


@pytest.mark.parametrize("wire", EVERY)
@pytest.mark.parametrize(
    ("thought", "words"), [("Keep", "Keep me."), ("I", "I vote for C."), (_LONG, f"No: {_LONG}"), (_LONG, _LONG[:30])]
)
def test_words_that_only_begin_like_the_reasoning_or_hold_it_stay(wire: WireName, thought: str, words: str) -> None:
    completion = read(wire, thought_on(wire, thought, words), mode="prompt")
    assert (completion.text, completion.unusable) == (words, None)


@pytest.mark.parametrize("wire", EVERY)
def test_a_short_thought_on_a_line_of_its_own_is_cut(wire: WireName) -> None:
    assert read(wire, thought_on(wire, "Hm.", "Hm.\nKeep me."), mode="prompt").text == "Keep me."


@pytest.mark.parametrize("wire", EVERY)
@pytest.mark.parametrize("nothing", NOTHING, ids=repr)
def test_an_error_that_says_nothing_beside_an_answer_is_none(wire: WireName, nothing: Any) -> None:
    assert read(wire, answered_on(wire) | {"error": nothing}).text == "yes"
    assert read(wire, answered_on(wire) | {"base_resp": {"status_code": 0, "status_msg": ""}}).text == "yes"
    assert read(wire, answered_on(wire) | {"code": 200, "message": "success"}).text == "yes"


@pytest.mark.parametrize("wire", EVERY)
@pytest.mark.parametrize(
    ("stated", "kind", "code"),
    [
        ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, RateLimited, "rate_limited"),
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, ProviderRejected, "bad_key"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, ProviderRejected, "no_credit"),
        ({"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}, RequestRefused, "moderation"),
        ({"base_resp": {"status_code": 1013, "status_msg": "unknown"}}, TransportFailed, "provider_error"),
        ({"base_resp": {"status_code": 2013, "status_msg": "context window exceeds limit"}}, RequestRefused, "context"),
        ({"error_code": 17, "error_msg": "Open api daily request limit reached"}, RateLimited, "rate_limited"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, RequestRefused, "moderation"),
        ({"code": 1113, "msg": "no", "success": False}, ProviderRejected, "no_credit"),
        ({"object": "error", "message": "maximum context length is 4096", "code": 400}, RequestRefused, "context"),
        ({"detail": "Invalid API key"}, ProviderRejected, "bad_key"),
        ({"error": "Content Exists Risk"}, RequestRefused, "moderation"),
    ],
)
def test_an_error_in_a_200_is_judged_wherever_it_stands(
    wire: WireName, stated: dict[str, Any], kind: type[ModelError], code: str
) -> None:
    empty: dict[str, Any] = {"choices": None, "output": None, "content": None}
    fault = tried(FakeServer(lambda _body: Raw(200, empty | stated)), CALL, SAMPLING, lab(wire), key=KEY)
    assert (type(fault), getattr(fault, "code", None)) == (kind, code), fault


@pytest.mark.parametrize("wire", EVERY)
def test_a_byte_order_mark_before_an_answer_is_passed_over(wire: WireName) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(answered_on(wire)).encode()
    completion = tried(FakeServer(lambda _body: Raw(200, body)), CALL, SAMPLING, lab(wire), key=KEY)
    assert getattr(completion, "text", completion) == "yes"


@pytest.mark.parametrize("wire", EVERY)
@pytest.mark.parametrize(
    ("said_of_it", "reason"), [(2, "2"), (0, "0"), ({"reason": "wound down"}, "wound down"), ({"x": 1}, '{"x": 1}')]
)
def test_a_finish_reason_that_is_no_word_is_kept_as_one_that_no_table_knows(
    wire: WireName, said_of_it: Any, reason: str
) -> None:
    field = {"responses": "status", "messages": "stop_reason"}.get(wire)
    good = answered_on(wire) | ({field: said_of_it} if field else {})
    if field is None:
        good["choices"][0]["finish_reason"] = said_of_it
    completion = read(wire, good)
    assert (completion.text, completion.finish_reason) == ("yes", reason)
    assert ending(completion.finish_reason) is None


FAULTS: list[tuple[WireName, Raw, type[ModelError], str]] = [
    ("messages", Raw(529, failure("overloaded_error")), TransportFailed, "http_529"),
    ("messages", Raw(200, failure("overloaded_error")), TransportFailed, "provider_error"),
    ("messages", Raw(500, failure("api_error")), TransportFailed, "http_500"),
    ("messages", Raw(200, failure("rate_limit_error")), RateLimited, "rate_limited"),
    ("messages", Raw(200, failure("authentication_error")), ProviderRejected, "bad_key"),
    ("messages", Raw(401, failure("authentication_error", "invalid x-api-key")), ProviderRejected, "bad_key"),
    ("messages", Raw(403, failure("permission_error")), RequestRefused, "forbidden"),
    ("messages", Raw(404, failure("not_found_error", "model: x")), ProviderRejected, "unknown_model"),
    ("messages", Raw(413, failure("request_too_large")), RequestRefused, "context"),
    (
        "messages",
        Raw(400, failure("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
        RequestRefused,
        "context",
    ),
    (
        "messages",
        Raw(400, failure("invalid_request_error", "output_config.format: not supported by this model")),
        RequestNotAccepted,
        "bad_request",
    ),
    (
        "responses",
        Raw(400, {"error": {"message": "Unsupported parameter.", "param": "text.format"}}),
        RequestNotAccepted,
        "bad_request",
    ),
    ("messages", Raw(200, {}), TransportFailed, "bad_envelope"),
    ("messages", Raw(200, {"content": 5}), TransportFailed, "bad_envelope"),
    ("messages", Raw(200, []), TransportFailed, "bad_envelope"),
    ("messages", Raw(200, b'{"content": [{"type": "te'), TransportFailed, "bad_envelope"),
    ("messages", Raw(200, message("Half", stop_reason="error")), TransportFailed, "provider_error"),
    ("responses", Raw(401, {"error": {"message": "No.", "code": "invalid_api_key"}}), ProviderRejected, "bad_key"),
    (
        "responses",
        Raw(200, response(status="failed", error={"code": "server_error", "message": "Sorry."})),
        TransportFailed,
        "provider_error",
    ),
    (
        "responses",
        Raw(200, response(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow down."})),
        RateLimited,
        "rate_limited",
    ),
    ("responses", Raw(200, response(said("Half"), status="failed", error=None)), TransportFailed, "provider_error"),
    ("responses", Raw(200, response(said("Half"), status="cancelled")), TransportFailed, "provider_error"),
    ("responses", Raw(200, {}), TransportFailed, "bad_envelope"),
    ("responses", Raw(200, {"output": "Hello"}), TransportFailed, "bad_envelope"),
    ("responses", Raw(200, {"output": None}), TransportFailed, "bad_envelope"),
    ("responses", Raw(200, "<html>", content_type="text/html"), TransportFailed, "bad_envelope"),
]


@pytest.mark.parametrize(("wire", "raw", "kind", "code"), FAULTS)
def test_faults(wire: WireName, raw: Raw, kind: type[ModelError], code: str) -> None:
    fault = tried(FakeServer(lambda _body: raw), CALL, SAMPLING, lab(wire), key=KEY)
    assert (type(fault), getattr(fault, "code", None)) == (kind, code), fault
    assert KEY not in str(fault)


DEEP = {"lists": ("[", "]"), "parts": ('{"text":', "}"), "thoughts": ('[{"type":"thinking","thinking":', "}]")}
HOLES: list[tuple[WireName, dict[str, Any]]] = [
    ("chat", {"choices": [{"message": {"content": "HOLE"}}]}),
    ("chat", {"choices": [{"message": {"content": {"vote": "HOLE"}}}]}),
    ("chat", {"choices": [{"message": {"content": "x", "reasoning": "HOLE"}}]}),
    ("chat", {"choices": [{"message": {"tool_calls": [{"function": {"arguments": {"vote": "HOLE"}}}]}}]}),
    ("responses", {"output": [{"type": "message", "content": "HOLE"}]}),
    ("responses", {"output": [{"type": "reasoning", "summary": "HOLE"}]}),
    ("messages", {"content": [{"type": "text", "text": "HOLE"}]}),
    ("messages", {"content": [{"type": "tool_use", "input": {"vote": "HOLE"}}]}),
]


@pytest.mark.parametrize("levels", [100, 450, 900])
@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize(("wire", "answer"), HOLES)
def test_an_answer_that_is_nested_deeply_is_read_or_a_fault_and_no_crash(
    wire: WireName, answer: dict[str, Any], kind: str, levels: int
) -> None:
    opened, closed = DEEP[kind]
    text = json.dumps(answer).replace('"HOLE"', f'{opened * levels}"x"{closed * levels}')
    completion, _ = ask(lab(wire), Raw(200, text))
    if not isinstance(completion, Completion):
        assert isinstance(completion, TransportFailed)
        assert "nested too deeply" in str(completion)


@pytest.mark.parametrize("wire", ["responses", "messages"])
def test_a_rate_limit_says_how_long(wire: WireName) -> None:
    fault, _ = ask(lab(wire), Raw(429, failure("rate_limit_error"), {"Retry-After": "7"}))
    assert isinstance(fault, RateLimited)
    assert fault.retry_after == 7


@pytest.mark.parametrize("wire", ["responses", "messages"])
def test_a_fault_inside_a_good_answer_says_what_was_used(wire: WireName) -> None:
    broken = {"type": "error", "error": {"type": "api_error"}, "usage": {"input_tokens": 7, "output_tokens": 3}}
    fault, _ = ask(lab(wire), Raw(200, broken))
    assert isinstance(fault, TransportFailed)
    assert fault.usage == Usage(prompt_tokens=7, completion_tokens=3)


# --------------------------------------------------------------------------------- the profiles of messages

CONNECTION_SLOTS = {
    "anthropic": ("/ok/v1/messages", {}),
    "bedrock": ("/ok/v1/model/some%2Fmodel/invoke", {"anthropic_version": "bedrock-2023-05-31"}),
    "vertex": (
        "/ok/v1/projects/p/locations/eu/publishers/anthropic/models/some%2Fmodel:rawPredict",
        {"anthropic_version": "vertex-2023-10-16"},
    ),
}


def test_every_profile_is_tested_here() -> None:
    assert set(CONNECTION_SLOTS) == {name for name, profile in BUILT_IN.items() if profile.wire == "messages"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("provider", CONNECTION_SLOTS)
def test_the_exact_request_of_every_profile_in_every_mode(provider: str, mode: Structured) -> None:
    path, version = CONNECTION_SLOTS[provider]
    profile = replace(BUILT_IN[provider], structured=mode, client_options={"project": "p", "region": "eu"})
    answer, sent = ask(profile, Raw(200, message(json.dumps(ANSWER))))
    assert isinstance(answer, Completion)
    assert (sent.method, sent.path) == ("POST", path)
    named = {} if version else {"model": "some/model"}
    body = {name: value for name, value in MESSAGES.items() if name != "model"}
    assert sent.body == named | body | version | STRUCTURED["messages", mode]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers.get("anthropic-version") == ("2023-06-01" if provider == "anthropic" else None)
