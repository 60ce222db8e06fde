"""Faults: every status, body and exception is classified as one of four kinds, with a message of one line."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import ssl
from typing import Any
from unittest.mock import Mock

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.errors import LocalShortage, ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models.base import MOST_TEXT, Completion, Usage
from agentsim.models.clients import no_answer
from agentsim.models.faults import ErrorFactory, RequestNotAccepted
from agentsim.models.profiles import BUILT_IN, ProviderSettings, resolve
from agentsim.models.remote import completion_in, decoded
from agentsim.models.wire import WIRES
from tests.amounts import each_row
from tests.fakes.replies import envelope

KEY = "sk-canary-1234567890abcdef"
OPENAI = ErrorFactory(BUILT_IN["openai"], "gpt-5-mini", (KEY,))
OLLAMA = ErrorFactory(BUILT_IN["ollama"], "llama3.2")
DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


def error(message: str = "", **parts: Any) -> dict[str, Any]:
    return {"error": {"message": message, **parts}}


def judged(
    status: int, body: Any = b"", headers: dict[str, str] | None = None, faults: ErrorFactory = OPENAI
) -> ModelError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return faults.status(status, headers or {}, content)


GEMINI_BAD_KEY = [error("API key not valid.", code=400, status="INVALID_ARGUMENT")]
GEMINI_SCHEMA = [error('Invalid JSON payload. Unknown name "additionalProperties"', code=400)]
GEMINI_QUOTA = [
    error(
        "You exceeded your current quota",
        code=429,
        status="RESOURCE_EXHAUSTED",
        details=[{"@type": "x/google.rpc.RetryInfo", "retryDelay": "36.5s"}],
    )
]


WINDOW = "This model's maximum context length is 512 tokens."


@each_row(
    "status, body, kind, code",
    [
        (400, error("no", code="context_length_exceeded"), RequestRefused, "context"),
        (400, error("This model's maximum context length is 8192 tokens."), RequestRefused, "context"),
        (
            400,
            error("the request exceeds the available context size", type="exceed_context_size_error"),
            RequestRefused,
            "context",
        ),
        (400, [error("The input token count (9) exceeds the maximum", code=400)], RequestRefused, "context"),
        (413, b"<html>Payload Too Large</html>", RequestRefused, "context"),
        (400, error(f"'max_tokens' is too large: 9. {WINDOW}"), RequestNotAccepted, "bad_request"),
        (400, error(f"max_completion_tokens is too large. {WINDOW}"), RequestNotAccepted, "bad_request"),
        (400, error(WINDOW, param="max_tokens"), RequestNotAccepted, "bad_request"),
        (400, error(f"{WINDOW} You asked for 300 max_tokens."), RequestRefused, "context"),
        (500, error("input length exceeds the context length"), RequestRefused, "context"),
        (400, error("flagged", code="content_policy_violation"), RequestRefused, "moderation"),
        (400, error("filtered", code="content_filter"), RequestRefused, "moderation"),
        (403, error("no", metadata={"reasons": ["x"]}), RequestRefused, "moderation"),
        (403, error("Requires moderation"), RequestRefused, "moderation"),
        (401, error("Incorrect API key"), ProviderRejected, "bad_key"),
        (400, GEMINI_BAD_KEY, ProviderRejected, "bad_key"),
        (400, [error("x", details=[{"reason": "API_KEY_INVALID"}])], ProviderRejected, "bad_key"),
        (402, error("credits"), ProviderRejected, "no_credit"),
        (429, error("pay", code="insufficient_quota"), ProviderRejected, "no_credit"),
        (429, error("pay", type="insufficient_quota", code=None), ProviderRejected, "no_credit"),
        (403, error("not yours"), RequestRefused, "forbidden"),
        (404, error("model not found"), ProviderRejected, "unknown_model"),
        (404, {"error": "model not found"}, ProviderRejected, "unknown_model"),
        (404, b"<html>404</html>", RequestRefused, "unknown_model"),
        (
            400,
            error("Unsupported value", param="temperature", code="unsupported_value"),
            RequestNotAccepted,
            "bad_request",
        ),
        (400, GEMINI_SCHEMA, RequestNotAccepted, "bad_request"),
        (422, {"detail": "what"}, RequestNotAccepted, "bad_request"),
        (405, b"", RequestNotAccepted, "bad_request"),
        (302, b"", RequestRefused, "redirect"),
        (429, error("slow"), RateLimited, "rate_limited"),
        (429, b"slow down", RateLimited, "rate_limited"),
        (429, GEMINI_QUOTA, RateLimited, "rate_limited"),
        (408, b"", TransportFailed, "http_408"),
        (409, error("try again"), TransportFailed, "http_409"),
        (425, b"", TransportFailed, "http_425"),
        (500, error("oops"), TransportFailed, "http_500"),
        (502, b"<html>Bad gateway</html>", TransportFailed, "http_502"),
        (503, b"[" * 100_000, TransportFailed, "http_503"),
        (529, b"\xff\xfe", TransportFailed, "http_529"),
        (101, b"", TransportFailed, "http_101"),
        (0, b"", TransportFailed, "http_0"),
    ],
)
def test_a_status_and_its_body(status: int, body: Any, kind: type[ModelError], code: str) -> None:
    fault = judged(status, body)
    assert type(fault) is kind
    assert (fault.code, fault.status) == (code, status)


@each_row(
    "reported, kind, code",
    [
        ({"code": 502, "message": "upstream"}, TransportFailed, "http_502"),
        ({"code": "503"}, TransportFailed, "http_503"),
        ({"code": 429}, RateLimited, "rate_limited"),
        ({"code": "rate_limit_exceeded"}, RateLimited, "rate_limited"),
        ({"code": 401}, ProviderRejected, "bad_key"),
        ({"code": 402}, ProviderRejected, "no_credit"),
        ({"code": "insufficient_quota"}, ProviderRejected, "no_credit"),
        ({"code": "model_not_found"}, ProviderRejected, "unknown_model"),
        ({"code": 400, "message": "maximum context length"}, RequestRefused, "context"),
        ({"code": 403, "message": "flagged"}, RequestRefused, "moderation"),
        ({"code": "server_error"}, TransportFailed, "provider_error"),
        ({"type": "insufficient_quota", "code": None}, ProviderRejected, "no_credit"),
        ({"type": "billing_not_active"}, ProviderRejected, "no_credit"),
        ({"code": "insufficient_credits"}, ProviderRejected, "no_credit"),
        ({"code": 402.0}, ProviderRejected, "no_credit"),
        ({"code": "402"}, ProviderRejected, "no_credit"),
        ({"type": "authentication_error"}, ProviderRejected, "bad_key"),
        ({"code": "server_error", "type": "Invalid_API_Key"}, ProviderRejected, "bad_key"),
        ({"status": "UNAUTHENTICATED"}, ProviderRejected, "bad_key"),
        ({"status": 401}, ProviderRejected, "bad_key"),
        ({"type": "permission_error"}, RequestRefused, "forbidden"),
        ({"type": "rate_limit_error"}, RateLimited, "rate_limited"),
        ({"code": 502, "type": "invalid_request_error"}, TransportFailed, "http_502"),
        ({"code": "model_not_found", "type": "invalid_request_error"}, ProviderRejected, "unknown_model"),
        ({"code": [], "type": {}, "status": None}, TransportFailed, "provider_error"),
        ({"code": 402.5}, TransportFailed, "provider_error"),
        ({"code": float("nan")}, TransportFailed, "provider_error"),
        ({"code": True}, TransportFailed, "provider_error"),
        ({"code": 7}, TransportFailed, "provider_error"),
        ("just words", TransportFailed, "provider_error"),
        (None, TransportFailed, "provider_error"),
        ([1], TransportFailed, "provider_error"),
    ],
)
def test_an_error_inside_a_200(reported: Any, kind: type[ModelError], code: str) -> None:
    fault = OPENAI.reported(reported)
    assert type(fault) is kind
    assert fault.code == code


OBJECTED: list[tuple[int, Any]] = [
    (403, {"code": "The caller does not have permission", "error": "Content violates usage guidelines. Team: t"}),
    (400, error("Content Exists Risk", code="invalid_request_error")),
    (400, error("no", code="data_inspection_failed")),
    (400, error("no", code="DataInspectionFailed")),
    (400, error("no", code="1301")),
    (400, error("系统检测到输入或生成内容可能包含不安全或敏感内容")),
    (400, error("no", code="InputTextSensitiveContentDetected")),
    (400, error("no", code="InputTextRiskDetection")),
    (400, error("The request was rejected because it was considered high risk")),
    (400, error("Your input has been blocked by the Guardrail")),
    (422, error("Blocked by guardrails")),
    (400, error("no", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"})),
    (400, error("Invalid prompt: your prompt was flagged as potentially violating our usage policy.")),
    (404, error("The response was filtered due to our content management policy")),
    (451, error("no")),
    (400, error("input new_sensitive (1026)")),
    (400, error("unsafe content detected")),
]


@each_row("status, body", OBJECTED)
def test_a_filter_is_one_in_any_status_and_in_any_words(status: int, body: Any) -> None:
    fault = judged(status, body)
    assert (type(fault), fault.code) == (RequestRefused, "moderation")


@pytest.mark.parametrize(
    "words",
    [
        "reasoning_effort must be one of low, moderate, high",
        "Unsupported value: 'temperature'",
        "Request contains an invalid argument.",
        "Input should be a valid string",
    ],
)
def test_words_about_a_parameter_are_no_filter(words: str) -> None:
    assert judged(400, error(words)).code == "bad_request"


def test_an_account_that_is_closed_is_no_filter() -> None:
    fault = judged(403, error("Your account has been suspended for violating our usage policies."))
    assert fault.code == "forbidden"


@each_row(
    "status, said",
    [
        (400, error("Prompt 超长", code="1261")),
        (400, error("no", code="1261")),
        (400, error("输入长度超过模型最大长度限制")),
        (400, error("Number of input tokens must be no more than 8192, got 9000")),
        (400, error("the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model")),
        (400, error("Input tokens exceed the configured limit of 272000 tokens.")),
        (400, error("number of input tokens (83121) have exceeded max_prompt_tokens (65536) limit.")),
        (400, error("no", code="tokens_too_long")),
        (400, error("Total tokens of image and text exceed max message tokens")),
        (400, error("The prompt is 9000 tokens, which is longer than the 8192 supported")),
        (400, error("Please reduce: Current length is 9000 while limit is 8192")),
        (400, error("max_tokens must be at least 1, got -512")),
        (422, error("Expected request to be at most 8192 tokens")),
    ],
)
def test_a_prompt_that_is_too_long_is_known_in_any_words(status: int, said: Any) -> None:
    fault = judged(status, said)
    assert (type(fault), fault.code) == (RequestRefused, "context")


@each_row("status", [400, 403, 404, 422])
@each_row(
    "words",
    [
        "Model 'gpt-5-mini': parameter temperature is not available for it",
        "The requested combination of model and reasoning effort is not available",
        "Structured outputs are not supported by any provider of this model",
        "This model does not exist in a version that supports response_format",
        "Unknown model argument 'seed'",
    ],
)
def test_a_model_s_name_beside_a_parameter_is_no_missing_model(status: int, words: str) -> None:
    assert type(judged(status, error(words))) is RequestNotAccepted


@pytest.mark.parametrize("model", ["qwen3-thinking", "org/tools-7b", "json-schema-8b"])
def test_a_model_whose_name_holds_a_parameter_s_may_be_missing(model: str) -> None:
    faults = ErrorFactory(BUILT_IN["openai"], model)
    for status in (400, 404):
        fault = judged(status, error(f"The model `{model}` does not exist"), faults=faults)
        assert (type(fault), fault.code) == (ProviderRejected, "unknown_model")


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            400,
            error("Access denied, please make sure your account is in good standing.", code="Arrearage"),
            "no_credit",
        ),
        (403, error("The request failed", code="AccountOverdueError"), "no_credit"),
        (429, error("余额不足", code="1113"), "no_credit"),
        (400, error("no", code="1211"), "unknown_model"),
        (403, error("Incorrect API key provided"), "bad_key"),
    ],
)
def test_money_key_and_model_are_known_by_their_codes(status: int, body: Any, code: str) -> None:
    fault = judged(status, body)
    assert (type(fault), fault.code) == (ProviderRejected, code)


def test_a_rate_limit_says_how_long() -> None:
    assert isinstance(fault := judged(429, error("x"), {"Retry-After": "3"}), RateLimited)
    assert fault.retry_after == 3
    assert isinstance(unwell := judged(503, "loading", {"Retry-After": "3"}), TransportFailed)
    assert unwell.retry_after == 3
    assert isinstance(fault := judged(429, GEMINI_QUOTA), RateLimited)
    assert fault.retry_after == 36.5


def test_hints() -> None:
    lab = resolve("lab", {"lab": ProviderSettings(base_url="http://127.0.0.1:1/v1")}, {})
    assert "run `ollama pull llama3.2`" in str(judged(404, error("no"), faults=OLLAMA))
    assert "`api_key_env` in [providers.lab]" in str(judged(401, faults=ErrorFactory(lab, "m")))
    assert "OPENAI_API_KEY" in str(judged(401))
    assert "leave `temperature` out" in str(judged(400, error("Unsupported value", param="temperature")))
    assert "`max_tokens_field` in [providers.openai]" in str(judged(400, error("use 'max_completion_tokens'")))
    assert "`strip_schema_keywords`" in str(judged(400, GEMINI_SCHEMA))
    assert "see `max_tokens`" in str(judged(400, error(WINDOW, param="max_tokens")))


@pytest.mark.parametrize(
    ("cause", "code", "words"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "unreachable", "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "unreachable", "Name or service not known"),
        (ConnectionResetError(104, "Connection reset by peer"), "reset", "Connection reset by peer"),
        (ValueError(f"Illegal header value b'Bearer {KEY}'"), "reset", "ValueError"),
    ],
)
def test_a_connection_that_fails_names_its_cause_and_no_header(cause: Exception, code: str, words: str) -> None:
    outer = RuntimeError(f"Connection error. {KEY}")
    outer.__cause__ = ExceptionGroup("all attempts failed", [cause])
    fault = OLLAMA.connection(no_answer(outer))
    assert isinstance(fault, TransportFailed)
    assert fault.code == code
    assert words in str(fault)
    assert "127.0.0.1:11434" in str(fault)
    assert KEY not in str(fault)
    assert ("`ollama serve`" in str(fault)) == (code == "unreachable")


def certificate(code: int, words: str) -> Exception:
    error = ssl.SSLCertVerificationError(1, f"[SSL: CERTIFICATE_VERIFY_FAILED] {KEY}")
    error.verify_code, error.verify_message = code, words
    return error


@each_row(
    "code, words, hint",
    [
        (18, "self-signed certificate", "SSL_CERT_FILE"),
        (19, "self-signed certificate in certificate chain", "SSL_CERT_FILE"),
        (20, "unable to get local issuer certificate", "SSL_CERT_FILE"),
        (10, "certificate has expired", "renewed"),
        (9, "certificate is not yet valid", "clock"),
        (62, "Hostname mismatch, certificate is not valid for 'lab'.", "base_url"),
        (64, "IP address mismatch, certificate is not valid for '10.0.0.1'.", "base_url"),
    ],
)
def test_a_certificate_that_is_not_trusted_is_the_cause_with_what_would_make_it_so(
    code: int, words: str, hint: str
) -> None:
    outer = aiohttp.ClientError("no")
    outer.__cause__ = certificate(code, words)
    said = str(OLLAMA.connection(no_answer(outer)))
    assert f"the certificate of 127.0.0.1:11434 is not trusted ({words.rstrip('.')}); " in said
    assert hint in said.partition("; ")[2]
    assert "ollama serve" not in said
    assert KEY not in said


@each_row(
    "body",
    [
        b"404 page not found",
        {"detail": "Not Found"},
        b"",
        b"<html>404 Not Found</html>",
        b"Cannot POST /v1/v1/chat/completions",
        {"error": {"message": "Invalid URL (POST /v1/v1/chat/completions)", "type": "invalid_request_error"}},
        {"error": "Not found"},
    ],
)
def test_a_path_that_is_not_found_is_a_question_of_the_address_and_not_of_the_model(body: Any) -> None:
    said = str(judged(404, body, faults=OLLAMA))
    assert "does the API begin at http://127.0.0.1:11434/v1 " in said
    assert "ollama pull" not in said
    assert "ollama pull llama3.2" in str(judged(404, error('model "llama3.2" not found'), faults=OLLAMA))
    assert "ollama pull llama3.2" in str(judged(404, {"error": "llama3.2: not found"}, faults=OLLAMA))


def refused_by_this_machine(code: int) -> BaseException:
    error = aiohttp.ClientConnectorError(Mock(), OSError("All connection attempts failed"))
    error.__cause__ = OSError("All connection attempts failed")
    error.__cause__.__cause__ = ExceptionGroup("several", [OSError(code, os.strerror(code))])
    return error


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM], ids=errno.errorcode.get)
def test_a_connection_that_this_machine_cannot_give_is_no_fault_of_the_provider(code: int) -> None:
    with pytest.raises(LocalShortage, match=rf"^no connection can be opened here: {os.strerror(code)} \(ulimit -n is"):
        no_answer(refused_by_this_machine(code))


def test_what_went_wrong_once_there_was_a_connection_is_told_as_ever() -> None:
    """The request may have been sent by then."""
    error = RuntimeError("Connection error.")
    error.__cause__ = OSError(errno.ENOBUFS, os.strerror(errno.ENOBUFS))
    assert OLLAMA.connection(no_answer(error)).code == "reset"


LOC = {"type": "string_type", "loc": ["body", "messages", 0, "content"], "msg": "Input should be a valid string"}
NAMED = "body.messages.0.content: Input should be a valid string"
WORDS: dict[str, tuple[Any, str]] = {
    "FastAPI, a list": ({"detail": [LOC]}, NAMED),
    "FastAPI, two of a list": (
        {"detail": [LOC, {"loc": ["body", "model"], "msg": "Field required", "input": "the prompt"}]},
        f"{NAMED}; body.model: Field required",
    ),
    "FastAPI, a text": ({"detail": "Not enough memory"}, "Not enough memory"),
    "FastAPI, a dict": ({"detail": {"error": "Queue is full", "hint": "later"}}, "Queue is full"),
    "Mistral": ({"object": "error", "message": {"detail": [LOC]}, "type": "invalid_request_error"}, NAMED),
    "a message that is an object": ({"error": {"message": {"text": ["odd"], "detail": "too many"}}}, "too many"),
    "a message that is a list": ({"error": {"message": ["one", "two"]}}, "one; two"),
    "an error in an error": ({"error": {"error": {"message": "no such voice", "param": "voice"}}}, "no such voice"),
    "an error of JSON in an error": ({"error": {"message": json.dumps({"error": {"message": "deep"}})}}, "deep"),
    "JSON behind words": ({"error": f"upstream said: {json.dumps({'detail': [LOC]})}"}, f"upstream said: {NAMED}"),
    "a list of errors": ({"errors": [{"message": "bad"}, {"message": "worse", "field": "top_p"}]}, "bad; top_p: worse"),
    "a list of texts": ({"errors": ["bad", "worse"]}, "bad; worse"),
    "errors by field": ({"errors": {"top_p": ["is too big", "is odd"]}}, "top_p: is too big; is odd"),
    "Django": ({"top_p": ["is too big"]}, "top_p: is too big"),
    "OAuth": ({"error": "invalid_scope", "error_description": "models only"}, "invalid_scope: models only"),
    "RFC 9457": (
        {"type": "about:blank", "title": "Bad input", "detail": "top_p is 7", "status": 422},
        "Bad input: top_p is 7",
    ),
    "JSON:API": ({"errors": [{"detail": "is odd", "source": {"pointer": "/data/top_p"}}]}, "data.top_p: is odd"),
    "Gemini": (
        [
            error(
                "Invalid argument",
                code=400,
                details=[{"@type": "x", "fieldViolations": [{"field": "top_k", "description": "is odd"}]}],
            )
        ],
        "Invalid argument: top_k: is odd",
    ),
    "OpenAI": (error("Unsupported value.", param="top_p"), "top_p: Unsupported value."),
    "a field that the words name": (error("'top_p' is odd", param="top_p"), "'top_p' is odd"),
    "Spring": (
        {"status": 422, "error": "Unprocessable", "message": "top_p is odd", "path": "/v1/chat/completions"},
        "Unprocessable: top_p is odd",
    ),
    "OpenRouter, the host's JSON": (
        error("Provider returned error", metadata={"raw": json.dumps(error("top_p is odd"))}),
        "Provider returned error: top_p is odd",
    ),
    "the same twice": ({"message": "odd", "error": {"message": "odd"}}, "odd"),
    "text": (b"just words", "just words"),
    "text in JSON": ("just words", "just words"),
}


@each_row("body, words", WORDS.values())
def test_an_error_is_told_in_the_hosts_words_and_names_the_field(body: Any, words: str) -> None:
    fault = judged(422, body)
    assert str(fault).endswith(f"[it says: {words}]")
    assert (type(fault), fault.code) == (RequestNotAccepted, "bad_request")


def test_the_field_of_an_error_tells_what_to_do_however_the_error_is_shaped() -> None:
    def of(name: str) -> Any:
        return {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}

    assert "leave `temperature` out" in str(judged(422, of("temperature")))
    for body in (of("response_format"), {"response_format": ["Unknown field."]}, error("no", param="/response_format")):
        fault = judged(422, body)
        assert isinstance(fault, RequestNotAccepted)
        assert "response_format" in fault.report.fields
    too_long = {"detail": [{"loc": ["body", "max_tokens"], "msg": f"too large, {WINDOW}"}]}
    assert judged(422, too_long).code == "bad_request"
    raw = json.dumps(error("no", code="context_length_exceeded"))
    assert judged(400, error("Provider returned error", metadata={"raw": raw})).code == "context"


@pytest.mark.parametrize(
    "body",
    [
        {"detail": [{"loc": ["body", KEY], "msg": f"Bearer {KEY}\nnot\x1b[31m known"}]},
        {"errors": {KEY: [f"is\u202e {KEY}"]}},
        {"error": {"message": json.dumps({"message": {"detail": KEY}})}},
    ],
    ids=["loc", "by field", "JSON in JSON"],
)
def test_words_from_within_an_error_are_one_line_without_a_key(body: Any) -> None:
    line = str(judged(422, body))
    assert "it says" in line
    assert "canary" not in line
    assert not set("\x1b\u202e\n") & set(line)


@given(st.text(max_size=400), st.integers(300, 599))
def test_whatever_a_server_says_is_one_short_clean_line(said: str, status: int) -> None:
    line = str(judged(status, error(f"{said}\x1b[31m\u202e{KEY}\n{said}" + "x" * 500)))
    assert len(line) < 700
    assert "canary" not in line
    assert not set("\x1b\u202e\n\r\u2028") & set(line)


# ---------------------------------------------------------------------------------------- bodies of a 200


def received(body: Any, content_type: str = "application/json") -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        return completion_in(WIRES["chat"], decoded(content, content_type, OPENAI), OPENAI)
    except ModelError as fault:
        return fault


@each_row(
    "body, kind, code",
    [
        (b"<html>Log in</html>", TransportFailed, "bad_envelope"),
        (b"", TransportFailed, "bad_envelope"),
        (b'{"choices": [', TransportFailed, "bad_envelope"),
        (b'{"a": "\xff"}', TransportFailed, "bad_envelope"),
        (b"[" * 100_000, TransportFailed, "bad_envelope"),
        (b'{"a": ' + b"9" * 5000 + b"}", TransportFailed, "bad_envelope"),
        (b'"words"', TransportFailed, "bad_envelope"),
        (b"null", TransportFailed, "bad_envelope"),
        ([], TransportFailed, "bad_envelope"),
        ({}, TransportFailed, "bad_envelope"),
        ({"choices": None}, TransportFailed, "bad_envelope"),
        ({"choices": []}, TransportFailed, "bad_envelope"),
        ({"choices": "no"}, TransportFailed, "bad_envelope"),
        ({"choices": [None]}, TransportFailed, "bad_envelope"),
        ({"choices": [{"finish_reason": "stop"}]}, TransportFailed, "bad_envelope"),
        ({"choices": [{"message": None}]}, TransportFailed, "bad_envelope"),
        ({"choices": [{"message": {"content": 7}}]}, TransportFailed, "bad_envelope"),
        ({"error": {"code": 502, "message": "x"}}, TransportFailed, "http_502"),
        ({"error": {"code": 401}, "choices": [{"message": {"content": "x"}}]}, ProviderRejected, "bad_key"),
        ([{"error": {"code": 429}}], RateLimited, "rate_limited"),
        (envelope("half", finish_reason="error"), TransportFailed, "provider_error"),
        (envelope("half", finish_reason="error", error={"code": 503}), TransportFailed, "http_503"),
    ],
)
def test_a_200_that_is_no_completion(body: Any, kind: type[ModelError], code: str) -> None:
    fault = received(body)
    assert type(fault) is kind
    assert fault.code == code


@each_row(
    "nothing",
    [
        *({"message": None, "code": None}, {"message": "", "code": 0}, {}, "", None, False),
        *({"code": 0, "message": "success"}, {"code": "0", "message": "OK"}, {"code": 200, "message": "ok"}, "none"),
        *({"code": 0, "message": "success", "request_id": "r-1"}, [], [None], {"error": {"code": None}}),
    ],
)
def test_a_good_answer_beside_an_error_that_says_nothing_is_a_good_answer(nothing: Any) -> None:
    assert received(envelope("yes") | {"error": nothing}).text == "yes"
    assert received(envelope("yes", error=nothing)).text == "yes"


def test_where_there_is_no_answer_an_error_that_says_nothing_is_one() -> None:
    assert received({"error": {"message": None}}).code == "provider_error"
    assert received(envelope("half", finish_reason="error", error={"message": None})).code == "provider_error"
    assert received({"error": {"message": None}, "choices": [{"message": None}]}).code == "provider_error"


def test_a_page_is_shown_by_its_type_and_its_first_words() -> None:
    fault = received(b"<html>Log in, " + KEY.encode(), "text/html; charset=utf-8")
    assert "text/html" in str(fault)
    assert "<html>Log in" in str(fault)
    assert "canary" not in str(fault)


@pytest.mark.parametrize(
    ("parts", "text", "refusal"),
    [
        ({"message": {"content": None, "refusal": "I cannot."}}, "I cannot.", "refusal"),
        ({"message": {"content": "half"}, "finish_reason": "content_filter"}, "half", "content_filter"),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "", "content_filter"),
        ({"message": {"content": "yes", "refusal": ""}}, "yes", None),
    ],
)
def test_a_refusal_is_a_completion_that_says_so_and_is_paid_for(
    parts: dict[str, Any], text: str, refusal: str | None
) -> None:
    completion = received(envelope(None, **parts))
    assert isinstance(completion, Completion)
    assert (completion.text, completion.refusal, completion.usage.completion_tokens) == (text, refusal, 5)


@each_row("reason", ["MALFORMED_FUNCTION_CALL", "unexpected_tool_call", "malformed_tool_use"])
@each_row("content", ["I trust B, because", None, '{"vote": "C"}'])
def test_what_stands_before_a_call_that_cannot_be_read_is_no_answer(reason: str, content: str | None) -> None:
    completion = received(envelope(None, message={"content": content}, finish_reason=reason))
    assert isinstance(completion, Completion)
    assert (completion.text, completion.refusal) == (content or "", None)
    assert completion.unusable == "The reply ends with a function call that cannot be read. Answer without it."


@pytest.mark.parametrize("letter", ["x", "é", "\u200bx"])
def test_of_a_long_text_the_beginning_is_kept_and_a_mark_that_names_the_whole(letter: str) -> None:
    words = letter * 300_000
    completion = received(envelope("yes", message={"content": words, "reasoning": words}))
    assert isinstance(completion, Completion)
    assert completion.oversized
    assert completion.reasoning == completion.text
    kept, _, mark = completion.text.rpartition("\n")
    assert len(kept.encode()) == MOST_TEXT
    assert set(kept) == {letter[-1]}
    digest = hashlib.sha256(words.encode()).hexdigest()
    assert mark == f"[cut: 65,536 of {len(words.encode()):,} bytes are kept; SHA-256 of all: {digest}]"


@pytest.mark.parametrize("text", ["x" * MOST_TEXT, "\u200b" * 300_000 + "x"])
def test_what_fits_is_kept_whole(text: str) -> None:
    completion = received(envelope(text))
    assert isinstance(completion, Completion)
    assert completion.text == text.replace("\u200b", "")
    assert not completion.oversized


def test_no_piece_of_a_key_is_left_where_a_text_is_cut() -> None:
    for before in (MOST_TEXT - 10, 2 * MOST_TEXT - 10):
        completion = received(envelope("x" * before + KEY + "y" * 200_000))
        assert isinstance(completion, Completion)
        assert "canary" not in completion.text


@each_row(
    "message, text, reasoning",
    [
        ({"content": "yes"}, "yes", None),
        ({"content": ""}, "", None),
        ({"content": None}, "", None),
        ({}, "", None),
        ({"content": "", "reasoning": "hm"}, "", "hm"),
        ({"content": "a", "reasoning_content": "hm"}, "a", "hm"),
        ({"content": "a", "reasoning": {"x": 1}}, "a", None),
        ({"content": "a", "refusal": "no"}, "a", None),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}, "ab", None),
        ({"content": "a\x1b[31m\u202eb\r\nc\ud800"}, "ab\nc\ufffd", None),
    ],
)
def test_the_text_of_a_completion(message: dict[str, Any], text: str, reasoning: str | None) -> None:
    completion = received(envelope("x", message=message))
    assert (completion.text, completion.reasoning) == (text, reasoning)


def test_what_the_response_says_of_itself() -> None:
    body = envelope("x", model="gpt-5-mini-2025\n", finish_reason="length") | {
        "provider": "Azure",
        "usage": {
            "prompt_tokens": 812,
            "completion_tokens": 91.0,
            "prompt_tokens_details": {"cached_tokens": 640},
            "completion_tokens_details": {"reasoning_tokens": 3},
            "cost": 0.0004,
        },
    }
    completion = received(body)
    assert (completion.model, completion.served_by, completion.finish_reason) == ("gpt-5-mini-2025", "Azure", "length")
    assert completion.usage == Usage(
        prompt_tokens=812, cached_tokens=640, completion_tokens=91, reasoning_tokens=3, cost_usd=0.0004
    )


@each_row("value", [b"NaN", b"-1", b'"12"', b"true", b"1e999", b"null", b"[]", b"1" + b"0" * 400])
def test_usage_that_cannot_be_is_unknown(value: bytes) -> None:
    usage = b'{"prompt_tokens": V, "completion_tokens": V, "cost": V, "prompt_tokens_details": V}'.replace(b"V", value)
    body = b'{"choices": [{"message": {"content": "x"}}], "usage": ' + usage + b"}"
    assert received(body).usage == Usage()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["error", "choices", "message", "content", "usage", "code"]), inner)
    ),
)


@given(JSON)
def test_no_json_leaves_the_closed_set(body: Any) -> None:
    for candidate in (
        body,
        {"choices": [{"message": body}]},
        {"choices": [body]},
        {"error": body},
        envelope("x") | {"usage": body},
    ):
        received(candidate)
    judged(400, body)
