"""Structured modes: the request of every provider's profile in each mode, and the reading of answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from agentsim.errors import ModelError, ProviderRejected, RequestRefused, TransportFailed
from agentsim.models.base import Adjustments, Call, Completion, Sampling, StructuredMode
from agentsim.models.pacing import RateLimits
from agentsim.models.profiles import BUILT_IN, Profile, ProviderSettings, Structured, resolve
from agentsim.models.remote import RemoteModel
from agentsim.models.wire.chat import body as request_body
from tests.fakes.admitted import admitted
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import tried, with_model

KEY = "sk-canary-1234567890abcdef"
PROPERTIES = {
    "speech": {"type": "string", "maxLength": 20},
    "vote": {"type": "string", "enum": ["B", "C"]},
    "bid": {"type": "integer", "minimum": 0, "maximum": 9},
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": [*PROPERTIES], "additionalProperties": False}
CALL = Call((("system", "Rules."), ("user", "Vote.")), SCHEMA, "vote")
SAMPLING = Sampling(temperature=0.7, max_tokens=64, timeout_s=5)

# The schema for remote providers, and the one for the grammars of local servers.
REMOTE = SCHEMA | {"properties": {"speech": {"type": "string"}, "vote": PROPERTIES["vote"], "bid": {"type": "integer"}}}
LOCAL = SCHEMA | {"properties": PROPERTIES | {"speech": {"type": "string"}}}
OPEN = {name: value for name, value in REMOTE.items() if name != "additionalProperties"}
SENT: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("max_completion_tokens", REMOTE),
    "openrouter": ("max_tokens", REMOTE),
    "gemini": ("max_tokens", OPEN),
    "azure": ("max_completion_tokens", REMOTE),
    **dict.fromkeys(("groq", "mistral", "deepseek", "xai", "together", "fireworks"), ("max_tokens", REMOTE)),
    "sglang": ("max_tokens", LOCAL),
    "ollama": ("max_tokens", LOCAL),
    "vllm": ("max_tokens", LOCAL),
    "lmstudio": ("max_tokens", LOCAL),
    "llama-server": ("max_tokens", LOCAL),
}
MODES: tuple[Structured, ...] = ("json_schema", "tool", "json_object", "prompt")


def ask(profile: Profile, reply: Any, key: str | None = KEY) -> tuple[Completion | ModelError, FakeServer]:
    """Make one call to the profile's provider, which is a fake here."""
    fake = FakeServer(reply)
    return tried(fake, CALL, SAMPLING, profile, key=key), fake


def test_every_profile_is_tested_here() -> None:
    """Profiles of the messages wire are tested in test_wires."""
    assert set(SENT) == {name for name, profile in BUILT_IN.items() if profile.wire == "chat"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("provider", SENT)
def test_the_exact_request_of_every_profile_in_every_mode(
    provider: str, mode: Structured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "BASE_URL"):
        monkeypatch.setenv(f"OPENAI_{name}", f"http://canary-{name}/")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Canary: canary-custom\nAuthorization: Bearer canary-other")
    max_tokens, schema = SENT[provider]
    strict = "additionalProperties" in schema
    _, server = ask(replace(BUILT_IN[provider], structured=mode), lambda _body: "{}", key="lab-key")
    (sent,) = server.received
    azure = "/deployments/some%2Fmodel/chat/completions?api-version=2024-10-21"
    assert (sent.method, sent.path) == ("POST", f"/ok/v1{azure if provider == 'azure' else '/chat/completions'}")
    key = ("api-key", "lab-key") if provider == "azure" else ("authorization", "Bearer lab-key")
    assert sent.headers[key[0]] == key[1]
    assert "canary" not in repr(sent), "the environment's OpenAI account stays at OpenAI"
    wanted: dict[str, Any] = {
        "model": "some/model",
        "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Vote."}],
        "temperature": 0.7,
        max_tokens: 64,
    }
    function = {"name": "vote", "description": "Gives your answer.", "parameters": schema}
    match mode:
        case "json_schema":
            named = {"name": "vote", "schema": schema, "strict": strict}
            wanted["response_format"] = {"type": "json_schema", "json_schema": named}
        case "tool":
            wanted["tools"] = [{"type": "function", "function": function | ({"strict": True} if strict else {})}]
            wanted["tool_choice"] = {"type": "function", "function": {"name": "vote"}}
        case "json_object":
            wanted["response_format"] = {"type": "json_object"}
        case _:
            pass
    if provider == "openrouter" and mode in {"json_schema", "tool"}:
        wanted["provider"] = {"require_parameters": True}
    assert sent.body == wanted


@pytest.mark.parametrize("provider", SENT)
def test_without_a_key_none_is_sent(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    _, server = ask(BUILT_IN[provider], lambda _body: "{}", key=None)
    assert not {"authorization", "api-key", "x-api-key"} & server.received[0].headers.keys()


def test_a_scenario_s_table_overrides_every_part_of_a_request() -> None:
    settings = ProviderSettings(
        structured="tool", max_tokens_field="max_tokens", strip_schema_keywords=["enum"], extra_body={"user": "u"}
    )
    _, server = ask(resolve("openai", {"openai": settings}, {}), lambda _body: "{}")
    body = server.received[0].body
    assert (body["max_tokens"], body["user"]) == (64, "u")
    properties = body["tools"][0]["function"]["parameters"]["properties"]
    assert properties == {**PROPERTIES, "vote": {"type": "string"}}


# ------------------------------------------------------------------------------------ forced function calls

ANSWER = {"speech": "x", "vote": "B", "bid": 3}


def function_call(name: Any = "vote", arguments: Any = json.dumps(ANSWER)) -> dict[str, Any]:  # noqa: B008 - a text
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def called(*calls: Any, content: str | None = None) -> Completion:
    """Return the completion that is read from these calls."""
    said = envelope(None, finish_reason="tool_calls", message={"content": content, "tool_calls": list(calls)})
    answer, _ = ask(replace(BUILT_IN["openai"], structured="tool"), lambda _body: Raw(200, said))
    assert isinstance(answer, Completion)
    return answer


@pytest.mark.parametrize(
    ("calls", "content"),
    [
        ([function_call()], None),
        ([function_call(arguments=ANSWER)], None),
        ([function_call()], '{"vote": "C"}'),
        ([function_call("speak", json.dumps(ANSWER))], None),
        ([function_call("vote<|channel|>commentary", json.dumps(json.dumps(ANSWER)))], None),
        ([], json.dumps(ANSWER)),
        ([{"id": "c"}], json.dumps(ANSWER)),
        ([function_call(), function_call()], None),
        ([function_call(arguments='{"vote": "C'), function_call()], None),
        ([function_call(arguments='{"bid": NaN}'), function_call()], None),
        ([None, 5, {"function": None}, function_call()], None),
    ],
    ids=[
        "one",
        "an object",
        "words beside it",
        "another name",
        "twice encoded",
        "no call",
        "no function",
        "twice",
        "a broken one",
        "NaN",
        "junk",
    ],
)
def test_the_arguments_of_the_first_valid_call_are_the_text_whatever_its_name(calls: list[Any], content: Any) -> None:
    answer = called(*calls, content=content)
    assert json.loads(answer.text) == ANSWER
    assert answer.unusable is None


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [function_call(arguments=None)],
        [function_call(arguments="I vote for B.")],
        [function_call(arguments='["B"]')],
        [{"id": "c"}],
    ],
    ids=["none", "no arguments", "words", "a list", "no function"],
)
def test_a_reply_without_an_object_is_no_decision_whatever_else_it_says(calls: list[Any]) -> None:
    answer = called(*calls, content="I vote for B.")
    assert answer.unusable == "The reply does not call the function vote with a JSON object."


def test_arguments_that_are_broken_are_left_to_the_readers_of_replies() -> None:
    answer = called(function_call(arguments='{"vote": "B'))
    assert (answer.text, answer.unusable) == ('{"vote": "B', None)


def test_a_refusal_is_one_in_every_mode() -> None:
    said = envelope(None, message={"content": None, "refusal": "I cannot."})
    answer, _ = ask(replace(BUILT_IN["openai"], structured="tool"), lambda _body: Raw(200, said))
    assert isinstance(answer, Completion)
    assert (answer.refusal, answer.unusable) == ("refusal", None)


# ----------------------------------------------------------------------------------------------------- auto


def mode_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("type", "prompt"))


def refusing(*modes: str, status: int = 400, message: str = "") -> Any:
    """Return a reply function that rejects these modes."""

    def reply(body: dict[str, Any]) -> str | Raw:
        if mode_of(body) in modes:
            said = message or f"'response_format.type' must not be '{mode_of(body)}'"
            return Raw(status, {"error": {"message": said}})
        return json.dumps(ANSWER)

    return reply


AUTO = replace(BUILT_IN["vllm"], structured="auto")


@pytest.mark.parametrize(
    ("refused", "chosen"),
    [((), "json_schema"), (("json_schema",), "json_object"), (("json_schema", "json_object"), "prompt")],
)
def test_auto_takes_the_first_mode_that_is_not_refused_and_says_which(
    refused: tuple[str, ...], chosen: StructuredMode
) -> None:
    answer, server = ask(AUTO, refusing(*refused))
    assert isinstance(answer, Completion)
    assert answer.adjustments == Adjustments(structured=chosen)
    assert [mode_of(received.body) for received in server.received] == [*refused, chosen]


def test_each_refused_mode_is_a_request_that_the_rate_limiter_counts() -> None:
    async def waits(model: RemoteModel) -> float:
        await admitted(model, CALL, SAMPLING)
        assert len(fake.received) == 3
        return model.limiter.wait_s(0)

    fake = FakeServer(refusing("json_schema", "json_object"))
    assert 50 < with_model(fake, waits, AUTO, limits=RateLimits(requests_per_minute=3)) <= 60


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid schema for response_format 'vote'"),
        (400, "failed to parse grammar"),
        (400, 'Unknown name "additionalProperties"'),
        (422, "json_schema is not supported by this model"),
        (400, "guided decoding is not available"),
        (404, "No endpoints found that can handle the requested parameters."),
    ],
)
def test_what_names_the_format_is_a_step_down(status: int, message: str) -> None:
    answer, _ = ask(AUTO, refusing("json_schema", status=status, message=message))
    assert isinstance(answer, Completion)
    assert answer.adjustments == Adjustments(structured="json_object")


@pytest.mark.parametrize(
    ("status", "message", "code"), [(401, "no schema for you", "bad_key"), (404, "no such model", "unknown_model")]
)
def test_any_other_rejection_is_none(status: int, message: str, code: str) -> None:
    answer, server = ask(AUTO, refusing("json_schema", status=status, message=message))
    assert isinstance(answer, ProviderRejected)
    assert answer.code == code
    assert len(server.received) == 1


def test_a_mode_that_is_named_is_where_the_steps_begin() -> None:
    answer, server = ask(BUILT_IN["vllm"], refusing("json_schema"))
    assert isinstance(answer, Completion)
    assert answer.adjustments == Adjustments(structured="json_object")
    assert [mode_of(received.body) for received in server.received] == ["json_schema", "json_object"]


def test_where_no_mode_is_accepted_the_error_says_what_would_help() -> None:
    answer, _ = ask(AUTO, refusing("json_schema", "json_object", "prompt", message="response_format: no"))
    assert isinstance(answer, RequestRefused)
    assert answer.code == "bad_request"
    assert '"auto" for the first that is accepted' in str(answer)


def test_a_crowd_takes_the_way_down_once_and_the_first_in_line_chooses() -> None:
    """This also holds if the first call fails on the way: rejected modes are not tried again."""
    failures = [Raw(500, {"error": {"message": "unwell"}})]

    def reply(body: dict[str, Any]) -> str | Raw:
        if mode_of(body) == "json_object" and failures:
            return failures.pop()
        answer: str | Raw = refusing("json_schema")(body)
        return answer

    async def crowd(model: RemoteModel) -> list[Completion | BaseException]:
        calls = (admitted(model, replace(CALL, tag=str(n)), SAMPLING) for n in range(8))
        return await asyncio.gather(*calls, return_exceptions=True)

    fake = FakeServer(reply)
    answers = with_model(fake, crowd, AUTO)
    assert isinstance(answers[0], TransportFailed)
    assert [answer.adjustments for answer in answers[1:] if isinstance(answer, Completion)] == [
        Adjustments("json_object")
    ] * 7
    assert Counter(mode_of(received.body) for received in fake.received) == {"json_schema": 1, "json_object": 8}


def test_a_call_without_a_schema_chooses_nothing() -> None:
    fake = FakeServer(lambda _body: "Hello.")
    answer = tried(fake, replace(CALL, schema=None), SAMPLING, AUTO)
    assert isinstance(answer, Completion)
    assert answer.adjustments is None
    assert "response_format" not in fake.received[0].body


def test_what_a_scenario_merges_into_a_schema_is_sent_and_spoils_no_other_body() -> None:
    profile = replace(BUILT_IN["openai"], structured="json_schema")

    def sent(**extra: Any) -> dict[str, Any]:
        response_format = request_body(profile, "m", CALL, Sampling(extra=extra))["response_format"]
        schema: dict[str, Any] = response_format["json_schema"]
        return schema

    plain = sent()
    merged = sent(response_format={"json_schema": {"strict": True, "name": "mine"}})
    assert merged == {"name": "mine", "schema": plain["schema"], "strict": True}
    assert (sent(), sent()["name"]) == (plain, "vote")


def test_the_names_of_a_host_for_cap_and_seed_are_sent_as_the_guide_says() -> None:
    table = ProviderSettings(base_url="https://lab.example/v1", max_tokens_field="max_output_tokens")
    profile = resolve("lab", {"lab": table}, env={})
    body = request_body(profile, "m", CALL, Sampling(max_tokens=64, extra={"random_seed": 7}))
    assert (body["max_output_tokens"], body["random_seed"]) == (64, 7)
    assert {"max_tokens", "max_completion_tokens", "seed"}.isdisjoint(body)
