"""The client against sockets: its requests, its readings of answers, and its end in every case."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from typing import Any

import pytest

from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.faults import RequestNotAccepted
from agentsim.models.pacing import RateLimits, RetryCount, RetryPolicy, call_with_retries
from agentsim.models.profiles import extra_problem, resolve
from agentsim.models.remote import Endpoint, Endpoints, RemoteModel
from tests.amounts import each_row
from tests.fakes.admitted import admitted
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import LAB, tried, with_model

KEY = "sk-canary-1234567890abcdef"
SCHEMA = {
    "type": "object",
    "properties": {"vote": {"type": "string", "enum": ["B", "C"]}, "speech": {"type": "string", "maxLength": 20}},
    "required": ["vote", "speech"],
    "additionalProperties": False,
}
CALL = Call((("system", "Rules."), ("user", "Vote.")), SCHEMA, "vote", tag="A/vote/1/1")
PLAIN = Call((("user", "Hello."),))
SAMPLING = Sampling(temperature=0.7, max_tokens=64, timeout_s=5)


def ask(
    scenario: str = "ok",
    call: Call = PLAIN,
    sampling: Sampling = SAMPLING,
    *,
    server: FakeServer | None = None,
    key: str | None = KEY,
    **changes: Any,
) -> tuple[Completion | ModelError, FakeServer]:
    """Make one call to a scenario of the fake server."""
    fake = server or FakeServer()
    return tried(fake, call, sampling, replace(LAB, **changes), scenario=scenario, key=key), fake


def test_a_call_and_its_completion() -> None:
    answer, server = ask("ok", CALL)
    assert isinstance(answer, Completion)
    assert json.loads(answer.text)["vote"] == "B"
    assert (answer.finish_reason, answer.model, answer.usage.prompt_tokens) == ("stop", "some/model", 10)
    (sent,) = server.received
    assert (sent.method, sent.path) == ("POST", "/ok/v1/chat/completions")
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"
    assert sent.body == {
        "model": "some/model",
        "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Vote."}],
        "temperature": 0.7,
        "max_tokens": 64,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "vote",
                "strict": True,
                "schema": SCHEMA
                | {"properties": {"vote": {"type": "string", "enum": ["B", "C"]}, "speech": {"type": "string"}}},
            },
        },
    }


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    _, server = ask("ok", PLAIN, Sampling(timeout_s=5), key=None)
    (sent,) = server.received
    assert sent.body == {"model": "some/model", "messages": [{"role": "user", "content": "Hello."}]}
    assert "authorization" not in sent.headers


def test_extras_are_merged_the_later_over_the_earlier() -> None:
    extra = {"top_p": 0.5, "temperature": 0.1, "top_k": 3, "extra_body": {"provider": {"order": ["x"]}, "min_p": 0.1}}
    _, server = ask(
        "ok",
        CALL,
        replace(SAMPLING, extra=extra),
        extra_body={"top_k": 1, "user": "u", "provider": {"sort": "price"}},
        structured_body={"provider": {"require_parameters": True}},
    )
    body = server.received[0].body
    assert {key: body[key] for key in ("top_p", "temperature", "max_tokens", "top_k", "min_p", "user")} == {
        "top_p": 0.5,
        "temperature": 0.1,
        "max_tokens": 64,
        "top_k": 3,
        "min_p": 0.1,
        "user": "u",
    }
    assert body["provider"] == {"require_parameters": True, "sort": "price", "order": ["x"]}
    assert "extra_body" not in body


def test_a_table_of_another_type_takes_the_place_of_ours() -> None:
    _, server = ask("ok", CALL, extra_body={"response_format": {"type": "text"}})
    assert server.received[0].body["response_format"] == {"type": "text"}
    _, server = ask("ok", CALL, extra_body={"response_format": {"json_schema": {"strict": False}}})
    kept = server.received[0].body["response_format"]
    assert kept["type"] == "json_schema"
    assert (kept["json_schema"]["strict"], "schema" in kept["json_schema"]) == (False, True)


@each_row(
    "extra",
    [
        {"stream": True},
        {"timeout": 1},
        {"api_key": KEY},
        {"x": float("nan")},
        {"extra_body": 1},
        {"extra_body": {"model": "some/other"}},
        {"extra_body": {"n": 5}},
        {"extra_body": {"stream": True}},
        {"extra_body": {"messages": []}},
        {"extra_body": {"x": float("inf")}},
    ],
)
def test_extras_that_would_change_the_call_itself_are_refused(extra: dict[str, Any]) -> None:
    problem = extra_problem(extra)
    assert problem is not None
    assert KEY not in problem


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "n_predict"])
def test_the_limit_that_costs_are_estimated_by_has_one_name(name: str) -> None:
    problem = f"`{name}` cannot be set there; say max_tokens"
    assert extra_problem({name: 9_000}) == problem
    assert extra_problem({"extra_body": {name: 9_000}}) == f"in `extra_body`, {problem}"


def test_a_proxy_of_the_environment_is_not_asked_for_our_own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    answer, _ = ask("ok")
    assert isinstance(answer, Completion)


@pytest.mark.parametrize(
    ("scenario", "kind", "code"),
    [
        ("hang", TransportFailed, "timeout"),
        ("drip", TransportFailed, "timeout"),
        ("rate_limited", RateLimited, "rate_limited"),
        ("http_500", TransportFailed, "http_500"),
        ("http_529", TransportFailed, "http_529"),
        ("bad_key", ProviderRejected, "bad_key"),
        ("unknown_model", ProviderRejected, "unknown_model"),
        ("no_credit", ProviderRejected, "no_credit"),
        ("forbidden", RequestRefused, "forbidden"),
        ("quota", ProviderRejected, "no_credit"),
        ("bad_parameter", RequestNotAccepted, "bad_request"),
        ("redirect", RequestRefused, "redirect"),
        ("moderated", RequestRefused, "moderation"),
        ("context", RequestRefused, "context"),
        ("html_200", TransportFailed, "bad_envelope"),
        ("error_200", TransportFailed, "http_502"),
        ("bad_json", TransportFailed, "bad_envelope"),
        ("empty_body", TransportFailed, "bad_envelope"),
        ("empty_choices", TransportFailed, "bad_envelope"),
        ("bad_utf8", TransportFailed, "bad_envelope"),
        ("deep_json", TransportFailed, "bad_envelope"),
        ("truncated_body", TransportFailed, "reset"),
        ("reset", TransportFailed, "reset"),
    ],
)
def test_every_fault_is_one_request_and_one_error_of_the_closed_set(
    scenario: str, kind: type[ModelError], code: str
) -> None:
    slow = scenario in {"hang", "drip"}
    fault, server = ask(scenario, CALL, replace(SAMPLING, timeout_s=0.3) if slow else SAMPLING)
    assert type(fault) is kind
    assert fault.code == code
    assert len(server.received) == 1 or scenario == "bad_parameter", "what may be left out is negotiated"
    assert "\n" not in str(fault)
    assert KEY not in "".join((str(fault), repr(fault.__cause__), repr(fault.__dict__)))
    assert fault.__suppress_context__ or fault.__context__ is None


@pytest.mark.parametrize("status", [201, 203])
def test_any_2xx_is_an_answer(status: int) -> None:
    answer, _ = ask(server=FakeServer(lambda _body: Raw(status, envelope("B"))))
    assert isinstance(answer, Completion)
    assert answer.text == "B"


def test_an_empty_text_is_a_completion() -> None:
    answer, _ = ask("empty_text")
    assert isinstance(answer, Completion)
    assert answer.text == ""


@pytest.mark.parametrize("scenario", ["hang", "drip"])
def test_the_deadline_holds_however_the_server_trickles(scenario: str) -> None:
    server = FakeServer()
    ask("ok")  # loads the SDK, so that only the wait is measured
    began = time.monotonic()
    fault, _ = ask(scenario, sampling=replace(SAMPLING, timeout_s=0.3), server=server)
    assert isinstance(fault, TransportFailed)
    assert time.monotonic() - began >= 0.3


def test_a_key_echoed_in_a_completion_is_not_handed_on() -> None:
    said = envelope(
        None,
        model=f"m {KEY}",
        message={"content": f'{{"speech": "{KEY}"}}', "reasoning": f"They sent Bearer {KEY}."},
        finish_reason=f"stop {KEY}",
    )
    said["provider"] = "x" * 190 + KEY  # names are cut, and half a key must not remain
    answer, _ = ask("ok", server=FakeServer(lambda _body: Raw(200, said)))
    assert isinstance(answer, Completion)
    assert (answer.text, answer.model) == ('{"speech": "[redacted]"}', "m [redacted]")
    assert (answer.reasoning, answer.finish_reason) == ("They sent Bearer [redacted].", "stop [redacted]")
    assert answer.served_by == "x" * 190 + "[redacted]"


def test_a_key_in_pieces_of_a_content_is_one_key() -> None:
    parts = [{"type": "text", "text": part} for part in (f"It is {KEY[:9]}", KEY[9:18], f"{KEY[18:]}!")]
    said = envelope(None, message={"content": parts})
    answer, _ = ask("ok", server=FakeServer(lambda _body: Raw(200, said)))
    assert isinstance(answer, Completion)
    assert answer.text == "It is [redacted]!"


def test_words_that_a_dummy_key_shares_with_a_reply_stay() -> None:
    for key, words in (("EMPTY", "The table is EMPTY."), ("no-key-required", "No answer is required.")):
        answer, _ = ask("ok", server=FakeServer(lambda _body, words=words: words), key=key)  # type: ignore[misc]
        assert isinstance(answer, Completion)
        assert answer.text == words


def test_a_server_that_echoes_the_key_does_not_get_it_shown() -> None:
    for raw in (
        Raw(401, {"error": {"message": f"bad key {KEY}"}}),
        Raw(500, f"Bearer {KEY}", content_type="text/plain"),
        Raw(200, f"<html>{KEY}", content_type="text/html"),
        Raw(200, {"error": {"code": 400, "message": f"{KEY[:12]}***{KEY[-8:]}"}}),
    ):
        fault, _ = ask("ok", server=FakeServer(lambda _body, raw=raw: raw))  # type: ignore[misc] # bound per loop
        assert isinstance(fault, ModelError)
        assert "canary" not in str(fault)
        assert KEY[-8:] not in str(fault)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_refused_connection_names_the_place_and_a_remedy(host: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    profile = resolve("ollama", {}, {"OLLAMA_HOST": f"{host}:{port}"})

    async def main() -> None:
        model = RemoteModel("ollama/x", profile, Endpoint(profile.base_url, None))
        try:
            await model.complete(PLAIN, SAMPLING)
        finally:
            await model.aclose()

    with pytest.raises(
        TransportFailed, match=rf"{host}:{port} \(Connection refused\); is `ollama serve` running"
    ) as caught:
        asyncio.run(main())
    assert caught.value.code == "unreachable"


def test_waiting_for_a_slot_is_not_counted_in_the_deadline() -> None:
    async def crowd(model: RemoteModel) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(admitted(model, PLAIN, replace(SAMPLING, timeout_s=0.35)))

    server = FakeServer(latency_s=0.15)
    with_model(server, crowd, limits=RateLimits(concurrency=1))
    assert server.completed["ok"] == 4
    assert server.most_in_flight == 1


def test_a_rate_limit_is_waited_for_and_then_answered() -> None:
    heard: list[ModelError] = []
    used = RetryCount()

    async def patiently(model: RemoteModel) -> Completion:
        return await call_with_retries(
            lambda: model.complete(PLAIN, SAMPLING), RetryPolicy(), used, lambda error, _: heard.append(error)
        )

    server = FakeServer(retry_after="0.05")
    began = time.monotonic()
    answer = with_model(server, patiently, scenario="rate_limited")
    assert isinstance(answer, Completion)
    assert time.monotonic() - began >= 0.05
    assert (used.made, used.retries, len(heard), server.completed["rate_limited"]) == (1, 0, 1, 2)


def test_a_fault_is_tried_again_on_the_wire() -> None:
    used = RetryCount()
    policy = RetryPolicy(retry_wait_s=0.0)

    async def again(model: RemoteModel) -> Completion:
        return await call_with_retries(lambda: model.complete(PLAIN, SAMPLING), policy, used, lambda *_: None)

    server = FakeServer()
    assert isinstance(with_model(server, again, scenario="flaky"), Completion)
    assert (used, server.started["flaky"]) == (RetryCount(made=2, retries=1), 2)


def test_a_cancelled_call_frees_its_slot() -> None:
    async def cancel(model: RemoteModel) -> None:
        task = asyncio.create_task(admitted(model, PLAIN, SAMPLING))
        while not server.started:  # noqa: ASYNC110 - the server has no event to wait for
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(1):
            await model.limiter.acquire()

    server = FakeServer()
    with_model(server, cancel, scenario="hang", limits=RateLimits(concurrency=1))


def test_models_behind_one_address_and_key_share_an_endpoint() -> None:
    async def main() -> None:
        endpoints = Endpoints()
        profile = replace(LAB, spacing_s=0.1)
        one = endpoints.at(profile, KEY)
        assert endpoints.at(replace(profile, spacing_s=0.0), KEY) is one
        assert endpoints.at(profile, "other") is not one
        assert one.limits.spacing_s == 0.1
        await endpoints.aclose()
        await endpoints.aclose()

    asyncio.run(main())


def test_importing_the_client_does_not_load_the_sdk() -> None:
    code = (
        "import sys, agentsim.models.remote, agentsim.models.remote, agentsim.models.prices\n"
        "assert not {'openai', 'httpx2', 'aiohttp', 'genai_prices'} & set(sys.modules), 'loaded too early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# ---------------------------------------------------------------------------------------- the fake itself


def test_the_fake_serves_as_a_process() -> None:
    command = [sys.executable, "-m", "tests.fakes.server", "--latency", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base = f"http://127.0.0.1:{int(process.stdout.readline())}"
            body = json.dumps({"model": "m", "messages": []}).encode()
            request = urllib.request.Request(f"{base}/ok~one/v1/chat/completions", body)
            with urllib.request.urlopen(request, timeout=10) as response:
                assert json.load(response)["model"] == "m"
            with urllib.request.urlopen(f"{base}/_stats", timeout=10) as response:
                assert json.load(response) == {"started": {"ok~one": 1}, "completed": {"ok~one": 1}}
            with urllib.request.urlopen(f"{base}/_requests", timeout=10) as response:
                assert json.load(response)[0]["path"] == "/ok~one/v1/chat/completions"
        finally:
            process.terminate()
