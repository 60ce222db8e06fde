"""Gemini's own API against a real socket: what goes over the wire, what comes back, and that it always ends."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited, ScenarioError, TransportFailed
from agentsim.models import gemini
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.profiles import BUILT_IN, ProviderSettings, resolve
from agentsim.models.remote import Endpoint
from tests.fakes.gemini import generated, speaking_gemini
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import GEMINI, tried

KEY = "AIza-canary-1234567890abcdef"
SCHEMA = {
    "type": "object",
    "properties": {
        "speech": {"type": "string", "maxLength": 20},
        "vote": {"type": ["string", "null"], "enum": ["B", "C", None]},
        "bid": {"type": "integer", "minimum": 0},
    },
    "required": ["speech", "vote", "bid"],
    "additionalProperties": False,
}
CALL = Call((("system", "Rules."), ("user", "Vote."), ("assistant", "Hm."), ("user", "Again.")), SCHEMA, "vote")
PLAIN = Call((("user", "Hello."),))
SAMPLING = Sampling(temperature=0.7, max_tokens=64, timeout_s=5)


def ask(
    reply: Any = speaking_gemini,
    call: Call = PLAIN,
    sampling: Sampling = SAMPLING,
    *,
    key: str | None = KEY,
    model: str = "gemini-2.5-flash",
    **changes: Any,
) -> tuple[Completion | ModelError, FakeServer]:
    """One call; `reply` is a function of the body or what it answers."""
    fake = FakeServer(reply if callable(reply) else lambda _body: reply if isinstance(reply, Raw) else Raw(body=reply))
    return tried(fake, call, sampling, replace(GEMINI, **changes), model=model, key=key), fake


def test_a_call_and_its_completion() -> None:
    answer, server = ask(call=CALL)
    assert isinstance(answer, Completion)
    assert list(json.loads(answer.text)) == ["speech", "vote", "bid"]
    assert (answer.finish_reason, answer.model, answer.provider) == ("stop", "fake-001", None)
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (10, 5)
    (sent,) = server.received
    assert (sent.method, sent.path) == ("POST", "/ok/v1beta/models/gemini-2.5-flash:generateContent")
    assert sent.headers["x-goog-api-key"] == KEY
    assert sent.headers["accept-encoding"] == "identity"
    assert "authorization" not in sent.headers
    assert sent.body == {
        "systemInstruction": {"parts": [{"text": "Rules."}], "role": "user"},
        "contents": [
            {"role": "user", "parts": [{"text": "Vote."}]},
            {"role": "model", "parts": [{"text": "Hm."}]},
            {"role": "user", "parts": [{"text": "Again."}]},
        ],
        "generationConfig": {
            "temperature": 0.7,
            "maxOutputTokens": 64,
            "responseMimeType": "application/json",
            "responseJsonSchema": {
                "type": "object",
                "properties": {
                    "speech": {"type": "string"},
                    "vote": {"type": ["string", "null"], "enum": ["B", "C", None]},
                    "bid": {"type": "integer"},
                },
                "required": ["speech", "vote", "bid"],
            },
        },
    }


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    _, server = ask(sampling=Sampling(timeout_s=5))
    assert server.received[0].body == {
        "contents": [{"role": "user", "parts": [{"text": "Hello."}]}],
        "generationConfig": {},
    }


@pytest.mark.parametrize(("mode", "kept"), [("json_object", {"responseMimeType": "application/json"}), ("prompt", {})])
def test_weaker_structured_modes(mode: str, kept: dict[str, Any]) -> None:
    _, server = ask(call=CALL, structured=mode)
    assert server.received[0].body["generationConfig"] == {"temperature": 0.7, "maxOutputTokens": 64, **kept}


def test_a_forced_function_call() -> None:
    arguments = {"speech": "x", "vote": "B", "bid": 3}
    said = generated("Let me think.", {"functionCall": {"name": "vote", "args": arguments}})
    answer, server = ask(said, CALL, structured="tool")
    assert isinstance(answer, Completion)
    assert json.loads(answer.text) == arguments
    body = server.received[0].body
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["vote"]}}
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert declared["name"] == "vote"
    assert list(declared["parameters_json_schema"]["properties"]) == ["speech", "vote", "bid"]
    answer, _ = ask(generated("I vote B."), CALL, structured="tool")
    assert isinstance(answer, Completion)
    assert answer.unusable is not None


def test_auto_steps_down_at_a_400_that_names_the_schema() -> None:
    def reply(body: dict[str, Any]) -> Raw:
        if "responseJsonSchema" in body["generationConfig"]:
            return Raw(400, [{"error": {"code": 400, "message": "response_json_schema is not supported."}}])
        return Raw(body=generated('{"vote": "B"}'))

    answer, server = ask(reply, CALL, structured="auto")
    assert isinstance(answer, Completion)
    assert answer.structured == "json_object"
    assert len(server.received) == 2


def test_extras_are_fields_of_the_library_s_configuration_or_of_the_body() -> None:
    extra = {"top_p": 0.5, "seed": 7, "thinking_config": {"thinking_budget": 0}}
    _, server = ask(sampling=replace(SAMPLING, extra=extra), extra_body={"labels": {"a": "b"}})
    body = server.received[0].body
    config = body["generationConfig"]
    assert (config["topP"], config["seed"], config["thinkingConfig"]) == (0.5, 7, {"thinking_budget": 0})
    assert body["labels"] == {"a": "b"}


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ({"reasoning_effort": "low"}, 'reasoning_effort.*api = "openai" in .providers.gemini.'),
        ({"max_output_tokens": 5}, "max_output_tokens"),
        ({"http_options": {"base_url": "http://127.0.0.1:9"}}, "http_options"),
        ({"candidate_count": 2}, "candidate_count"),
        ({"candidateCount": 2}, "candidate_count"),
        ({"httpOptions": {"baseUrl": "http://127.0.0.1:9"}}, "http_options"),
        ({"httpOptions": {"retryOptions": {"attempts": 9}}}, "http_options"),
        ({"audio_timestamp": True}, "not.*sent.*audio_timestamp"),
        ({"response_schema": {"sk-canary": "x"}}, "no such client_kwargs: response_schema;"),
    ],
)
def test_extras_that_it_does_not_know_or_that_are_ours_are_refused(extra: dict[str, Any], says: str) -> None:
    fault, server = ask(sampling=replace(SAMPLING, extra=extra))
    assert isinstance(fault, ProviderRejected)
    assert fault.code == "bad_request"
    assert not server.received
    assert "canary" not in str(fault)
    with pytest.raises(ProviderRejected, match=says):
        raise fault


@pytest.mark.parametrize("name", ["..", "../../x", "a?b", "a&key=b", "a#b"])
def test_a_model_s_name_that_would_be_another_address_is_refused(name: str) -> None:
    fault, server = ask(model=name)
    assert isinstance(fault, ProviderRejected)
    assert fault.code == "bad_request"
    assert not server.received


def test_an_extra_of_which_the_library_knows_no_such_value_is_sent_without_a_word() -> None:
    """The provider may know it; a warning would repeat a stranger's characters on the terminal."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer, server = ask(sampling=replace(SAMPLING, extra={"media_resolution": "\x1b]0;canary\x07"}))
    assert isinstance(answer, Completion)
    assert not said
    assert "canary" in server.received[0].body["generationConfig"]["mediaResolution"]


def test_thinking_is_apart_and_paid_for() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 20,
    }
    answer, _ = ask(generated({"text": "Hm, B?", "thought": True}, "I vote ", "B.", usageMetadata=usage))
    assert isinstance(answer, Completion)
    assert (answer.text, answer.reasoning) == ("I vote B.", "Hm, B?")
    tokens = answer.usage
    assert (tokens.prompt_tokens, tokens.cached_tokens) == (100, 40)
    assert (tokens.completion_tokens, tokens.reasoning_tokens) == (25, 20)


def test_thinking_that_ate_the_whole_reply() -> None:
    usage = {"promptTokenCount": 10, "thoughtsTokenCount": 64}
    said = {"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}], "usageMetadata": usage}
    answer, _ = ask(said)
    assert isinstance(answer, Completion)
    assert (answer.text, answer.finish_reason) == ("", "length")
    assert (answer.usage.completion_tokens, answer.usage.reasoning_tokens) == (64, 64)


@pytest.mark.parametrize(
    "said",
    [
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}},
        generated("Half a", finish="SAFETY"),
        generated(finish="PROHIBITED_CONTENT"),
        generated(finish="RECITATION"),
    ],
)
def test_a_block_is_a_refusal(said: dict[str, Any]) -> None:
    answer, _ = ask(said)
    assert isinstance(answer, Completion)
    assert answer.refusal == "content_filter"


QUOTA = {
    "code": 429,
    "status": "RESOURCE_EXHAUSTED",
    "message": "You exceeded your current quota.",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}],
}
BAD_KEY = {
    "code": 400,
    "status": "INVALID_ARGUMENT",
    "message": "API key not valid.",
    "details": [{"reason": "API_KEY_INVALID"}],
}


@pytest.mark.parametrize("wrapped", [False, True], ids=["object", "list"])
def test_errors_come_as_an_object_or_as_a_list_of_one(wrapped: bool) -> None:
    def body(error: dict[str, Any]) -> Any:
        return [{"error": error}] if wrapped else {"error": error}

    fault, server = ask(Raw(429, body(QUOTA)))
    assert isinstance(fault, RateLimited)
    assert fault.retry_after == 7.5
    assert len(server.received) == 1
    fault, _ = ask(Raw(400, body(BAD_KEY)))
    assert isinstance(fault, ProviderRejected)
    assert fault.code == "bad_key"
    fault, _ = ask(Raw(400, body({"code": 400, "message": "The input token count (9) exceeds the maximum"})))
    assert isinstance(fault, ModelRefused)
    assert fault.code == "context"
    fault, _ = ask(Raw(200, body({"code": 503, "message": "overloaded"})))
    assert isinstance(fault, TransportFailed)
    assert fault.code == "http_503"


@pytest.mark.parametrize(
    ("counts", "completion", "thought"),
    [
        ({"candidatesTokenCount": -5, "thoughtsTokenCount": 3}, 3, 3),
        ({"candidatesTokenCount": True, "thoughtsTokenCount": 3}, 3, 3),
        ({"candidatesTokenCount": "12", "thoughtsTokenCount": float("nan")}, None, None),
        ({"candidatesTokenCount": 10**400, "thoughtsTokenCount": 1.5}, None, None),
    ],
    ids=str,
)
def test_a_count_that_cannot_be_one_is_none(
    counts: dict[str, Any], completion: int | None, thought: int | None
) -> None:
    answer, _ = ask(Raw(200, json.dumps(generated("B", usageMetadata=counts))))
    assert isinstance(answer, Completion)
    assert (answer.usage.completion_tokens, answer.usage.reasoning_tokens) == (completion, thought)


_NO_CANDIDATES: tuple[Any, ...] = (None, 1, "x", [], [None], {})


@pytest.mark.parametrize("body", [*({"candidates": value} for value in _NO_CANDIDATES), [], 7, "text", None], ids=str)
def test_an_answer_of_another_shape_is_no_completion(body: Any) -> None:
    fault, _ = ask(Raw(200, json.dumps(body)))
    assert isinstance(fault, TransportFailed)
    assert fault.code == "bad_envelope"


@pytest.mark.parametrize(
    "candidate",
    [
        {"content": 1},
        {"content": {"parts": 5}, "finishReason": []},
        {"content": {"parts": [None, {"text": 3}]}, "finishReason": {"a": 1}},
    ],
    ids=str,
)
def test_a_candidate_that_says_nothing_is_an_empty_completion(candidate: dict[str, Any]) -> None:
    answer, _ = ask(Raw(200, {"candidates": [candidate], "usageMetadata": [], "modelVersion": 3}))
    assert isinstance(answer, Completion)
    assert (answer.text, answer.model, answer.usage.prompt_tokens) == ("", None, None)


def test_the_environment_s_keys_and_addresses_are_not_used(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, f"canary-{name}")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "canary-project")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for key in (None, "own-key"):
        answer, server = ask(key=key)
        assert isinstance(answer, Completion)
        (sent,) = server.received
        assert "canary" not in repr(sent)
        assert sent.headers.get("x-goog-api-key") == key
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("mode", ["record", "replay", "auto"])
def test_the_environment_cannot_have_the_library_answer_from_a_file(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gemini._library.cache_clear()
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", mode)
    monkeypatch.setenv("GOOGLE_GENAI_REPLAYS_DIRECTORY", str(tmp_path))
    answer, server = ask()
    assert isinstance(answer, Completion)
    assert len(server.received) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://[::1", "ftp://x"])
def test_a_proxy_that_speaks_no_http_is_a_mistake_of_the_settings(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    profile = replace(BUILT_IN["gemini"], base_url="http://192.0.2.1:9/v1beta")
    with pytest.raises(ScenarioError, match="is not an HTTP proxy"):
        gemini.opened("gemini/x", profile, Endpoint(profile.base_url, KEY))


def test_a_library_that_the_environment_breaks_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    gemini._library.cache_clear()
    monkeypatch.setenv("GOOGLE_GENAI_HTTP_CLIENT", "httpx")
    monkeypatch.setattr("google.genai._api_client.httpx", None)
    profile = replace(BUILT_IN["gemini"], base_url="http://127.0.0.1:9/v1beta")
    with pytest.raises(ScenarioError, match=r"google-genai does not start here.*GOOGLE_GENAI_HTTP_CLIENT"):
        gemini.opened("gemini/x", profile, Endpoint(profile.base_url, KEY))


# ------------------------------------------------------------------------------------ which API is spoken


def test_google_s_own_address_is_spoken_to_in_its_own_words_where_the_extra_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = resolve("gemini", {}, {})
    assert gemini.is_spoken(profile)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert not gemini.is_spoken(profile), "its OpenAI-compatible endpoint serves"


def test_another_address_is_not_unless_the_scenario_says_so() -> None:
    proxy = "http://127.0.0.1:1/v1"
    assert not gemini.is_spoken(resolve("gemini", {"gemini": ProviderSettings(base_url=proxy)}, {}))
    assert gemini.is_spoken(resolve("gemini", {"gemini": ProviderSettings(base_url=proxy, api="gemini")}, {}))
    assert not gemini.is_spoken(resolve("gemini", {"gemini": ProviderSettings(api="openai")}, {}))
    assert gemini.is_spoken(resolve("lab", {"lab": ProviderSettings(base_url=proxy, api="gemini")}, {}))


def test_a_missing_extra_is_named_where_the_scenario_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    profile = resolve("gemini", {"gemini": ProviderSettings(api="gemini")}, {})
    with pytest.raises(ScenarioError, match="needs the extra `gemini`"):
        gemini.opened("gemini/x", profile, Endpoint(profile.base_url, KEY))


def test_the_built_in_address_is_google_s_with_its_version() -> None:
    model = gemini.Gemini("gemini/x", BUILT_IN["gemini"], Endpoint(BUILT_IN["gemini"].base_url, KEY))
    assert model.address == "https://generativelanguage.googleapis.com/v1beta"


@pytest.mark.parametrize(
    ("given", "meant"), [("http://h:1/gate", "http://h:1/gate/v1beta"), ("http://h:1/v2/openai", "http://h:1/v2")]
)
def test_an_address_without_a_version_gets_one(given: str, meant: str) -> None:
    profile = replace(BUILT_IN["gemini"], base_url=given)
    assert gemini.Gemini("gemini/x", profile, Endpoint(given, KEY)).address == meant


def test_importing_the_client_does_not_load_the_library() -> None:
    code = (
        "import sys, agentsim.models.gemini, agentsim.runner.seats\n"
        "assert not {'google.genai', 'httpx2', 'openai'} & set(sys.modules), 'loaded too early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
