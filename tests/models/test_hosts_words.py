"""What hosts say of filters, contexts, parameters and states, in words, numbers and shapes of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited
from agentsim.models.base import Completion
from agentsim.models.faults import Faults, Unaccepted
from agentsim.models.finish_reasons import ending
from agentsim.models.profiles import BUILT_IN
from agentsim.models.remote import decoded
from agentsim.models.wire import chat, messages, responses

HOST = Faults(BUILT_IN["openai"], "echo")
VIOLATES = "Content violates usage guidelines. Team: x, Failed check: SAFETY_CHECK_TYPE_BIO"

JUDGED: dict[str, tuple[int, Any, type[ModelError], str]] = {
    "xAI's filter": (
        403,
        {"code": "The caller does not have permission", "error": VIOLATES},
        ModelRefused,
        "moderation",
    ),
    "DeepSeek's filter": (400, {"error": {"message": "Content Exists Risk"}}, ModelRefused, "moderation"),
    "DashScope's filter": (
        400,
        {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."},
        ModelRefused,
        "moderation",
    ),
    "Z.ai's filter": (
        400,
        {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}},
        ModelRefused,
        "moderation",
    ),
    "Volcengine's filter": (
        400,
        {"error": {"code": "InputTextSensitiveContentDetected", "message": "may contain sensitive information"}},
        ModelRefused,
        "moderation",
    ),
    "Bedrock's filter": (400, {"message": "The request was blocked by guardrails."}, ModelRefused, "moderation"),
    "Z.ai's context": (400, {"error": {"message": "Prompt 超长"}}, ModelRefused, "context"),
    "Yandex' context": (
        400,
        {"error": "the number of input tokens must be no more than 8192, got 9000"},
        ModelRefused,
        "context",
    ),
    "watsonx' context": (
        400,
        {"errors": [{"message": "the number of input tokens 5000 cannot exceed the total tokens limit 4096"}]},
        ModelRefused,
        "context",
    ),
    "OpenAI's context": (
        400,
        {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens."}},
        ModelRefused,
        "context",
    ),
    "a parameter of a model": (
        400,
        {"error": {"message": "Model 'echo': parameter temperature is not available"}},
        Unaccepted,
        "bad_request",
    ),
    "a parameter, as 403": (
        403,
        {"error": {"message": "parameter temperature is not permitted"}},
        Unaccepted,
        "bad_request",
    ),
    "a parameter, as 404": (
        404,
        {"error": {"message": "Structured outputs are not supported by any provider of this model"}},
        Unaccepted,
        "bad_request",
    ),
    "a model": (
        404,
        {"error": {"message": "The model `echo` does not exist or you do not have access to it."}},
        ProviderRejected,
        "unknown_model",
    ),
    "a key": (403, {"error": {"message": "Your key may not use echo."}}, ModelRefused, "forbidden"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_refusal_is_known_by_its_words(name: str) -> None:
    status, body, kind, code = JUDGED[name]
    fault = HOST.status(status, {}, json.dumps(body).encode())
    assert (type(fault), fault.code) == (kind, code)


CHAT: dict[str, Any] = {"choices": [{"message": {"content": "W"}, "finish_reason": "stop"}]}
RESPONSES: dict[str, Any] = {
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "W"}]}],
}
MESSAGES: dict[str, Any] = {"type": "message", "content": [{"type": "text", "text": "W"}], "stop_reason": "end_turn"}


@pytest.mark.parametrize(
    "error", [{"code": None, "message": None}, {"code": 0, "message": "success"}, {}, "", "ok"], ids=str
)
@pytest.mark.parametrize(
    ("wire", "answer"),
    [(chat, CHAT), (responses, RESPONSES), (messages, MESSAGES)],
    ids=["chat", "responses", "messages"],
)
def test_an_error_that_says_nothing_beside_an_answer_is_none(wire: Any, answer: dict[str, Any], error: object) -> None:
    completion: Completion = wire.completion({**answer, "error": error}, HOST, None)
    assert completion.text == "W"


def test_a_mark_of_the_order_of_bytes_is_no_fault() -> None:
    assert decoded(b"\xef\xbb\xbf" + json.dumps(CHAT).encode(), "application/json", HOST) == CHAT


@pytest.mark.parametrize(
    ("number", "words", "kind", "code"),
    [
        (1002, "rate limit", RateLimited, "rate_limited"),
        (1004, "login fail", ProviderRejected, "bad_key"),
        (1008, "insufficient balance", ProviderRejected, "no_credit"),
        (1026, "input new_sensitive", ModelRefused, "moderation"),
        (1027, "output new_sensitive", ModelRefused, "moderation"),
    ],
)
def test_the_state_of_minimax_is_judged_as_an_error(number: int, words: str, kind: type[ModelError], code: str) -> None:
    envelope = {"choices": None, "base_resp": {"status_code": number, "status_msg": words}}
    with pytest.raises(kind) as caught:
        chat.completion(envelope, HOST, None)
    assert (type(caught.value), caught.value.code) == (kind, code)


def test_an_answer_with_the_state_of_success_is_read() -> None:
    assert chat.completion({**CHAT, "base_resp": {"status_code": 0, "status_msg": ""}}, HOST, None).text == "W"


@pytest.mark.parametrize("reason", ["content_filter: RECITATION", "blacklist", "RECITATION", "finishReason.SAFETY"])
def test_a_filter_is_known_in_any_spelling(reason: str) -> None:
    assert ending(reason) == "filtered"


def test_a_finish_reason_that_is_a_number_is_kept_as_one_that_no_table_knows() -> None:
    choice = {"message": {"content": "Half a"}, "finish_reason": 2}
    completion = chat.completion({"choices": [choice]}, HOST, None)
    assert (completion.finish_reason, ending(completion.finish_reason)) == ("2", None)
