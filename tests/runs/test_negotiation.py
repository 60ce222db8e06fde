"""Whole games with hosts that reject a parameter: it is left out once per run and model, and reported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from agentsim.models.base import Adjustments
from agentsim.records.journal import read_journal
from agentsim.runs.replay import prove
from agentsim.runs.watcher import Watcher
from tests.amounts import one_in
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import play, resumed, stable

AUTO = 'providers.fake.structured="auto"'
Reply = Callable[[dict[str, Any]], "str | Raw"]


class Heard(Watcher):
    """A watcher that collects warnings on models."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warned(self, message: str) -> None:
        self.said.append(message)


def refusal(message: str, status: int = 400, **more: Any) -> Raw:
    return Raw(status, {"error": {"message": message, **more}})


def unless(refused: Callable[[dict[str, Any]], bool], raw: Raw) -> Reply:
    """Return a reply function that gives `raw` to bodies that `refused` matches, and good replies to all others."""

    def reply(body: dict[str, Any]) -> str | Raw:
        return raw if refused(body) else answered(body)

    return reply


def answered(body: dict[str, Any]) -> str:
    """Return a legal answer, even if the body has no schema."""
    if "json_schema" in body.get("response_format", {}):
        return varied_by_schema(body)
    question = body["messages"][-1]["content"]
    if '"vote": "<' in question:
        ballot = question.partition('"vote": "<')[2].partition(">")[0].replace(" or ", ", ").split(", ")
        return json.dumps({"explanation": "So.", "vote": ballot[0]})
    return json.dumps({"text": "Keep me and I keep you."})


def holds(field: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: field in body


def mode_is(*modes: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: body.get("response_format", {}).get("type") in modes


def from_system(body: dict[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def holds_keyword(word: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: f'"{word}"' in json.dumps(body.get("response_format", {}))


DEPRECATED = refusal("`temperature` is deprecated for this model.", type="invalid_request_error")
NO_HOST = refusal("No endpoints found that support the requested parameters: temperature", 404)
TOKENS = refusal(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
BARE = Raw(400, {"error": {"message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT"}})
VALIDATION = Raw(422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]})

SYSTEM = Adjustments(system="user")


def window(words: str) -> Reply:
    """Return a reply function of a host whose window has 8,192 tokens, 192 of them for the prompt."""
    return unless(lambda body: body.get("max_tokens", 0) > 8_000, refusal(words))


ROWS: dict[str, tuple[Reply, str, Adjustments]] = {
    "no system message, as 500": (
        unless(from_system, refusal("Conversation roles must alternate user/assistant/... at row 1", 500)),
        "",
        SYSTEM,
    ),
    "only two roles, as 500": (
        unless(from_system, refusal("Only user and assistant roles are supported! at row 7", 500)),
        "",
        SYSTEM,
    ),
    "Ollama's format, as 500": (
        unless(mode_is("json_schema"), refusal("failed to load model vocabulary required for format", 500)),
        "",
        Adjustments("json_object"),
    ),
    "a crash of its schema, as 500": (
        unless(mode_is("json_schema"), refusal("'NoneType' object has no attribute 'schema'", 500)),
        "",
        Adjustments("json_object"),
    ),
    "not implemented": (
        unless(mode_is("json_schema"), refusal("Not implemented", 501)),
        "",
        Adjustments("json_object"),
    ),
    "a window that the cap exceeds": (
        window(
            "This model's maximum context length is 8192 tokens. However, you requested 20192 tokens (192 in the "
            "messages, 20000 in the completion). Please reduce the length of the messages or completion."
        ),
        "defaults.max_tokens=20000",
        Adjustments(max_tokens=7_000),
    ),
    "vLLM's window, behind its cap": (
        window(
            "'max_tokens' or 'max_completion_tokens' is too large: 20000. This model's maximum context length is 8192 "
            "tokens and your request has 192 input tokens (20000 > 8192 - 192). None"
        ),
        "defaults.max_tokens=20000",
        Adjustments(max_tokens=7_000),
    ),
    "Together's sum": (
        unless(
            lambda body: body.get("max_tokens", 0) > 8_000,
            refusal(
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 192 `inputs` "
                "tokens and 20000 `max_new_tokens`",
                422,
            ),
        ),
        "defaults.max_tokens=20000",
        Adjustments(max_tokens=7_000),
    ),
    "temperature deprecated": (
        unless(holds("temperature"), DEPRECATED),
        AUTO,
        Adjustments("json_schema", ("temperature",)),
    ),
    "temperature, fixed mode": (
        unless(holds("temperature"), DEPRECATED),
        "",
        Adjustments(dropped=("temperature",)),
    ),
    "only the default": (
        unless(
            holds("temperature"),
            refusal("Unsupported value: 'temperature' does not support 0.2. Only 1 is supported.", param="temperature"),
        ),
        "",
        Adjustments(dropped=("temperature",)),
    ),
    "no endpoints for it": (unless(holds("temperature"), NO_HOST), "", Adjustments(dropped=("temperature",))),
    "no endpoints at all": (
        unless(holds("temperature"), refusal("No endpoints found that can handle the requested parameters.", 404)),
        "",
        Adjustments(dropped=("temperature",)),
    ),
    "top_p by its field": (
        unless(
            holds("top_p"), Raw(422, {"detail": [{"loc": ["body", "top_p"], "msg": "Extra inputs are not permitted"}]})
        ),
        "defaults.client_kwargs={top_p=0.5}",
        Adjustments(dropped=("top_p",)),
    ),
    "seed": (
        unless(holds("seed"), refusal('Unknown name "seed": Cannot find field.')),
        "defaults.client_kwargs={seed=7}",
        Adjustments(dropped=("seed",)),
    ),
    "reasoning": (
        unless(holds("reasoning_effort"), refusal("Thinking is not supported by this model")),
        'defaults.client_kwargs={reasoning_effort="low"}',
        Adjustments(dropped=("reasoning",)),
    ),
    "max_tokens by another name": (
        unless(holds("max_tokens"), TOKENS),
        "defaults.max_tokens=400",
        Adjustments(max_tokens_field="max_completion_tokens"),
    ),
    "no cap by either name": (
        unless(
            lambda body: holds("max_tokens")(body) or holds("max_completion_tokens")(body),
            refusal("Unrecognized request arguments: max_tokens, max_completion_tokens"),
        ),
        "defaults.max_tokens=400",
        Adjustments(dropped=("max_tokens",)),
    ),
    "a smaller cap": (
        unless(
            lambda body: body.get("max_tokens", 0) > 300,
            refusal("max_tokens is too large: 400. This model supports at most 300 completion tokens."),
        ),
        "defaults.max_tokens=400",
        Adjustments(max_tokens=300),
    ),
    "a cap that leaves no room": (
        unless(
            holds("max_tokens"),
            refusal("'max_tokens' is too large: 400. This model's maximum context length is 400 tokens."),
        ),
        "defaults.max_tokens=400",
        Adjustments(max_tokens_field="max_completion_tokens"),
    ),
    "no system message": (
        unless(from_system, refusal("System role not supported")),
        "",
        Adjustments(system="user"),
    ),
    "roles in turn": (
        unless(from_system, refusal("Conversation roles must alternate user/assistant/user/assistant/...")),
        "",
        Adjustments(system="user"),
    ),
    "bare, under auto": (unless(mode_is("json_schema"), BARE), AUTO, Adjustments("json_object")),
    "bare, fixed mode": (unless(mode_is("json_schema"), BARE), "", Adjustments("json_object")),
    "bare, no mode at all": (unless(holds("response_format"), BARE), AUTO, Adjustments("prompt")),
    "bare, and it is the temperature": (
        unless(holds("temperature"), BARE),
        "",
        Adjustments(dropped=("temperature",)),
    ),
    "a list of errors": (unless(holds("response_format"), VALIDATION), AUTO, Adjustments("prompt")),
    "a keyword of schemas": (
        unless(
            holds_keyword("additionalProperties"),
            refusal(
                "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'schema': Cannot find field."
            ),
        ),
        "",
        Adjustments(keywords=("additionalProperties",)),
    ),
    "a server that breaks on grammars": (
        unless(mode_is("json_schema"), refusal("Failed to initialize samplers: failed to parse grammar", 500)),
        "",
        Adjustments("json_object"),
    ),
}


@pytest.mark.parametrize("name", ROWS)
@one_in(4)
def test_what_a_host_does_not_accept_is_left_out_once_and_the_run_says_so(name: str, tmp_path: Path) -> None:
    reply, setting, terms = ROWS[name]
    heard = Heard()
    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "defaults.temperature=0.2", *filter(None, [setting]), watcher=heard)
        sent = len(server.received)
    assert (result.status, result.error) == ("completed", None)
    usage = result.history["usage"]
    assert (usage["failed_calls"], usage["fallbacks"], usage["reasks"]) == (0, 0, 0)
    assert usage["calls"] < sent <= usage["calls"] + 3 * 8, "of calls that are under way at once, each may be refused"
    assert read_journal(result.files.journal).negotiated == {"fake/echo": terms}
    assert len(heard.said) == len(set(heard.said))
    assert any("the host" in line for line in heard.said)
    assert prove(result.files).complete


def test_a_resumed_run_does_not_ask_again(tmp_path: Path) -> None:
    reply = unless(holds("temperature"), DEPRECATED)
    with FakeServer(reply).in_thread() as server:
        whole = play(server.url(), tmp_path, "defaults.temperature=0.2", stem="whole")
        stopped = play(server.url(), tmp_path, "defaults.temperature=0.2", "limits.max_calls=5")
        assert stopped.status == "stopped_budget"
        since = len(server.received)
        again = resumed(stopped.files, max_calls=100)
        assert not any("temperature" in received.body for received in server.received[since:])
    assert stable(again.files) == stable(whole.files)
    assert again.history["volatile"]["negotiated"] == {"fake/echo": {"dropped": ["temperature"]}}


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_what_is_found_out_does_not_depend_on_how_many_calls_run_at_once(concurrency: int, tmp_path: Path) -> None:
    reply = unless(holds("temperature"), DEPRECATED)
    with FakeServer(reply, latency_s=lambda body: len(str(body)) % 7 / 200).in_thread() as server:
        result = play(server.url(), tmp_path, "defaults.temperature=0.2", f"limits.concurrency={concurrency}")
    assert read_journal(result.files.journal).negotiated == {"fake/echo": Adjustments(dropped=("temperature",))}


CONTEXTS = {
    "xAI": (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    "Z.ai": (400, "Prompt exceeds max length"),
    "TGI": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 100"),
    "TGI, inputs": (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 2048"),
    "Anthropic": (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "Anthropic, both": (400, "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"),
    "Bedrock": (400, "Input is too long for requested model."),
    "Gemini": (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    "Moonshot": (400, "Invalid request: Your request exceeded model token limit: 8192"),
    "DashScope": (400, "Range of input length should be [1, 30720]"),
    "SGLang": (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    "Groq": (400, "Please reduce the length of the messages or completion."),
    "Cohere": (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081"),
    "MiniMax": (400, "invalid params, context window exceeds limit (2013)"),
    "SiliconFlow": (400, "length of prompt_tokens (68957) must be less than max_seq_len (65536)."),
    "vLLM": (400, "The decoder prompt (length 17772) is longer than the maximum model length of 16384."),
    "Qianfan": (400, "the max input characters is 20000"),
    "Volcengine": (400, "Total tokens of image and text exceed max message tokens. Request id: 0217"),
    "a proxy, as 413": (413, "Request Entity Too Large"),
    "a proxy, as 414": (414, "Request-URI Too Large"),
}


@pytest.mark.parametrize("host", CONTEXTS)
@one_in(4)
def test_a_prompt_that_is_too_long_costs_that_decision_alone_and_says_the_remedy(host: str, tmp_path: Path) -> None:
    status, message = CONTEXTS[host]
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return refusal(message, status) if asked["all"] == 4 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "completed"
    (lost,) = [record for record in result.history["decisions"] if record["source"] == "fallback"]
    assert lost["fallback_reason"] == "context"
    assert "a model of a longer context" in lost["attempts"][-1]["error"]
    assert "negotiated" not in result.history["volatile"]


def failed_generation(text: str | None, code: str = "json_validate_failed") -> Raw:
    more: dict[str, Any] = {} if text is None else {"failed_generation": text}
    return refusal("Failed to generate JSON. Please adjust your prompt.", code=code, **more)


@pytest.mark.parametrize("setting", ["", AUTO])
@pytest.mark.parametrize("code", ["json_validate_failed", "tool_use_failed"])
def test_what_the_model_wrote_and_its_host_refuses_for_its_form_is_the_reply(
    setting: str, code: str, tmp_path: Path
) -> None:
    with FakeServer(lambda body: failed_generation(answered(body), code)).in_thread() as server:
        result = play(server.url(), tmp_path, *filter(None, [setting]))
    usage = result.history["usage"]
    assert (result.status, usage["fallbacks"], usage["reasks"]) == ("completed", 0, 0)
    assert {record["source"] for record in result.history["decisions"]} == {"model"}


@pytest.mark.parametrize("setting", ["", AUTO])
def test_a_failed_generation_without_its_text_is_asked_again(setting: str, tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return failed_generation(None) if asked["all"] == 1 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", *filter(None, [setting]))
    usage = result.history["usage"]
    assert (result.status, usage["fallbacks"], usage["reasks"]) == ("completed", 0, 1)


def test_a_400_after_good_calls_is_that_decision_s_fault(tmp_path: Path) -> None:
    """The host rejects one prompt, with any parameters."""
    asked: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        words = json.dumps(body["messages"])
        asked.extend([words] if words not in asked else [])
        return BARE if asked.index(words) == 4 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "completed"
    reasons = [record["fallback_reason"] for record in result.history["decisions"]]
    assert Counter(filter(None, reasons)) == {"bad_request": 1}
    assert "negotiated" not in result.history["volatile"]


REFUSED_LATER: dict[str, tuple[Raw, str]] = {
    "an ingress": (Raw(404, b"default backend - 404"), "unknown_model"),
    "a redirect": (Raw(302, b"", {"Location": "http://127.0.0.1:1/elsewhere"}), "redirect"),
    "not modified": (Raw(304, b""), "redirect"),
    "a moved page": (Raw(308, b"<html>moved</html>", {"Location": "/"}), "redirect"),
}


@pytest.mark.parametrize("name", REFUSED_LATER)
def test_a_page_or_redirect_after_good_calls_costs_that_decision(name: str, tmp_path: Path) -> None:
    raw, code = REFUSED_LATER[name]
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return raw if asked["all"] == 5 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", 'defaults.model="fake/default"')
    assert (result.status, result.error) == ("completed", None)
    reasons = [record["fallback_reason"] for record in result.history["decisions"]]
    assert Counter(filter(None, reasons)) == {code: 1}


def test_a_model_without_an_instance_for_a_moment_is_asked_again_and_ends_no_run(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        busy = asked["all"] in {1, 5}
        return refusal(f"no instances available for model {body['model']}", 404) if busy else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert (result.status, result.error) == ("completed", None)
    assert (result.history["usage"]["fallbacks"], result.history["usage"]["failed_calls"]) == (0, 2)


NO_CHANNEL = "No available channel for model echo under group default (distributor) (request id: 2025)"


@pytest.mark.parametrize("words", [NO_CHANNEL, "当前分组 default 下对于模型 echo 无可用渠道"])
def test_a_model_without_a_channel_stops_the_run_before_good_calls_and_costs_one_decision_after_them(
    words: str, tmp_path: Path
) -> None:
    raw = refusal(words, 503, type="new_api_error", code="model_not_found")
    with FakeServer(lambda _body: raw).in_thread() as server:
        result = play(server.url(), tmp_path / "first", "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert "echo: is not found at" in str(result.error)
    assert "\n" not in str(result.error)
    assert result.history["usage"]["failed_calls"] == 1, "a retry would not help"
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return raw if asked["all"] == 5 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path / "later", "limits.concurrency=1")
    assert (result.status, result.error) == ("completed", None)
    reasons = [record["fallback_reason"] for record in result.history["decisions"]]
    assert Counter(filter(None, reasons)) == {"unknown_model": 1}


def test_a_failure_that_only_sounds_like_a_refusal_is_retried_and_changes_nothing(tmp_path: Path) -> None:
    """A host fails once, or for one prompt, in words about a parameter."""
    asked: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        words = json.dumps(body["messages"])
        asked.append(words)
        return (
            refusal("schema worker crashed", 500) if len(set(asked)) == 5 and asked.count(words) < 4 else answered(body)
        )

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "completed"
    assert result.history["usage"]["fallbacks"] == 0
    assert "negotiated" not in result.history["volatile"]


def test_a_host_that_fails_every_request_in_such_words_is_told_as_failing(tmp_path: Path) -> None:
    with FakeServer(lambda _body: refusal("schema worker crashed", 500)).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert "the first call failed" in str(result.error)
    assert "HTTP 500" in str(result.error)


def test_a_resumed_run_takes_a_400_as_the_run_before_it_would(tmp_path: Path) -> None:
    """The model has answered before, so a rejection without a parameter's name is about the prompt."""
    words: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        prompt = body["messages"][-1]["content"]
        words.extend([prompt] if prompt not in words else [])
        return BARE if words.index(prompt) == 2 else answered(body)

    with FakeServer(reply).in_thread() as server:
        settings = ("limits.concurrency=1", "defaults.temperature=0.2")
        whole = play(server.url(), tmp_path, *settings, stem="whole")
        stopped = play(server.url(), tmp_path, *settings, "limits.max_calls=2")
        assert stopped.status == "stopped_budget"
        again = resumed(stopped.files, max_calls=100)
        for received in server.received:
            assert from_system(received.body), "what was accepted before is not tried without its parts"
            assert "temperature" in received.body
    assert stable(again.files) == stable(whole.files)


def test_a_whim_of_the_host_changes_nothing(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return BARE if asked["all"] == 4 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    usage = result.history["usage"]
    assert (result.status, usage["fallbacks"], usage["failed_calls"]) == ("completed", 0, 0)
    assert "negotiated" not in result.history["volatile"]


@pytest.mark.parametrize("setting", [AUTO, "limits.concurrency=1"], ids=["auto", "fixed mode"])
def test_a_whim_of_the_host_at_the_first_call_changes_nothing(setting: str, tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return BARE if asked["all"] == 1 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", setting)
        assert all(mode_is("json_schema")(received.body) for received in server.received)
    assert (result.status, result.history["usage"]["fallbacks"]) == ("completed", 0)


def test_a_prompt_that_is_never_accepted_ends_no_negotiation_of_other_schemas(tmp_path: Path) -> None:
    words: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        question = body["messages"][-1]["content"]
        words.extend([question] if question not in words else [])
        votes_by_schema = '"vote"' in json.dumps(body.get("response_format", {}))
        return BARE if words.index(question) == 2 or votes_by_schema else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    usage = result.history["usage"]
    assert (result.status, usage["fallbacks"], usage["failed_calls"]) == ("completed", 1, 1)
    assert read_journal(result.files.journal).negotiated == {"fake/echo": Adjustments("json_object")}


def test_a_negotiation_that_was_given_up_is_not_gone_on_with_for_another_prompt(tmp_path: Path) -> None:
    """The first vote is rejected, and each other way of asking meets a busy host; the other votes are accepted."""
    votes: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        question = body["messages"][-1]["content"]
        if '"vote": "<' not in question:
            return answered(body)
        votes.extend([question] if question not in votes else [])
        if question != votes[0]:
            return answered(body)
        return BARE if mode_is("json_schema")(body) else refusal("Overloaded.", 503)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert (result.error, result.history["usage"]["fallbacks"]) == (None, 1)
    assert "negotiated" not in result.history["volatile"]


@pytest.mark.parametrize("refused", [BARE, DEPRECATED], ids=["without a name", "by its name"])
def test_a_host_that_is_busy_in_between_does_not_begin_the_negotiation_anew(refused: Raw, tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        if asked["all"] % 3 == 0:
            return Raw(429, {"error": {"message": "Slow down."}}, headers={"Retry-After": "0.01"})
        return refused if "temperature" in body else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", "defaults.temperature=0.2")
        usage = result.history["usage"]
        assert len(server.received) < 2 * (usage["calls"] - usage["failed_calls"])
    assert (result.status, usage["fallbacks"]) == ("completed", 0)
    assert read_journal(result.files.journal).negotiated == {"fake/echo": Adjustments(dropped=("temperature",))}


def test_a_model_that_accepts_nothing_at_all_stops_the_run_at_its_first_decision(tmp_path: Path) -> None:
    with FakeServer(lambda _body: BARE).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert "the request is not accepted (HTTP 400)" in str(result.error)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (refusal("Your credit balance is too low to access the Anthropic API."), "no credit is left"),
        (refusal("Your team has used all available credits or reached its spending limit.", 403), "no credit is left"),
        (refusal("foo is not a valid model ID"), "is not found"),
        (refusal("Model Not Exist"), "is not found"),
        (refusal("The provided model identifier is invalid."), "is not found"),
        (refusal("Incorrect API key provided: xa***3f."), "needs a key"),
        (refusal("insufficient balance (1008)", 500), "no credit is left"),
        (refusal("Unavailable model: echo"), "is not found"),
        (refusal("This organization has been disabled."), "needs a key"),
    ],
)
def test_a_bad_key_no_model_and_no_money_stop_the_run_in_any_words(raw: Raw, says: str, tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return raw if asked["all"] >= 4 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert says in str(result.error)


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
@pytest.mark.parametrize("setting", ["", AUTO])
def test_a_refusal_that_named_nothing_and_was_about_its_prompt_changes_no_later_call(
    setting: str, wire: str, tmp_path: Path
) -> None:
    """The first prompt is accepted once its system message is moved; the others are accepted unchanged."""
    first: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        first.extend([] if first else [json.dumps(body["messages"])])
        return BARE if json.dumps(body["messages"]) == first[0] else answered(body)

    heard = Heard()
    with FakeServer(reply).in_thread() as server:
        shape = ("limits.concurrency=1", f'providers.fake.wire="{wire}"', *filter(None, [setting]))
        result = play(server.url(), tmp_path, *shape, watcher=heard)
        later = [json.dumps(received.body) for received in server.received[-10:]]
    assert (result.status, result.history["usage"]["failed_calls"]) == ("completed", 0)
    assert all('"system"' in body or '"instructions"' in body for body in later)
    assert read_journal(result.files.journal).negotiated["fake/echo"].system is None
    assert "system" not in result.history["volatile"].get("negotiated", {}).get("fake/echo", {})
    assert any("accepts what was left out or changed for one prompt" in line for line in heard.said)


def test_what_a_refusal_did_not_name_is_kept_once_another_prompt_confirms_it(tmp_path: Path) -> None:
    with FakeServer(unless(from_system, BARE)).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
        asked = [from_system(received.body) for received in server.received]
    assert read_journal(result.files.journal).negotiated == {"fake/echo": Adjustments(system="user")}
    assert not any(asked[-12:])


def test_a_late_answer_under_older_terms_changes_nothing_in_the_journal(tmp_path: Path) -> None:
    """D's answers are slow and sent with a top_p that the others' host has rejected in the meantime."""
    accepted: Counter[str] = Counter()

    def slow(body: dict[str, Any]) -> bool:
        return "You are player D" in str(body["messages"]) and "temperature" not in body

    def reply(body: dict[str, Any]) -> str | Raw:
        if "temperature" in body:
            return DEPRECATED
        if "top_p" in body and accepted["others"] and not slow(body):
            return refusal("`top_p` is deprecated for this model.")
        accepted["others"] += not slow(body)
        return answered(body)

    with FakeServer(reply, latency_s=lambda body: 0.5 * slow(body)).in_thread() as server:
        sampling = ("defaults.temperature=0.2", "defaults.client_kwargs={top_p=0.5}")
        result = play(server.url(), tmp_path, *sampling, 'game_config.phases=["votes"]')
        lines = [json.loads(line) for line in result.files.journal.read_text("utf-8").splitlines()]
    negotiated = [line["adjustments"] for line in lines if line["record"] == "negotiated"]
    assert negotiated == [{"dropped": ["temperature"]}, {"dropped": ["temperature", "top_p"]}]


def test_a_refusal_in_words_that_no_table_knows_is_a_warning_and_costs_one_decision(tmp_path: Path) -> None:
    words: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        prompt = json.dumps(body["messages"])
        words.extend([prompt] if prompt not in words else [])
        return refusal("Запрос отклонён") if words.index(prompt) in {4, 6} else answered(body)

    heard = Heard()
    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1", watcher=heard)
    assert result.status == "completed"
    reasons = Counter(record["fallback_reason"] for record in result.history["decisions"])
    assert reasons["bad_request"] == 2
    (warning,) = [each for each in result.history["warnings"] if each["code"] == "unknown_refusal"]
    assert warning["count"] == 2
    assert "for a reason that is not known" in warning["message"]
    assert "Запрос отклонён" in warning["message"]
    assert [line for line in heard.said if "is not known" in line] == [warning["message"]]
    assert prove(result.files).complete


def test_a_request_larger_than_the_limit_of_a_minute_is_a_fallback_without_a_retry(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()
    tpm = "Request too large for echo on tokens per min (TPM): Limit 30000, Requested 40000."

    def reply(body: dict[str, Any]) -> str | Raw:
        asked["all"] += 1
        return refusal(tpm, 429, code="rate_limit_exceeded") if asked["all"] == 4 else answered(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "completed"
    assert Counter(filter(None, (each["fallback_reason"] for each in result.history["decisions"]))) == {"context": 1}
    assert result.history["usage"]["failed_calls"] == 1


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_the_worst_case_of_a_call_reckons_without_a_cap_that_is_not_sent(wire: str, tmp_path: Path) -> None:
    """A reply of 10 tokens is affordable, a reply without a cap is not."""
    capped = ("max_tokens", "max_completion_tokens")
    reply = unless(lambda body: any(each in body for each in capped), refusal("max_tokens is not supported"))
    price = 'prices."fake/echo"={input=0,output=1000}'
    settings = ("limits.concurrency=1", "defaults.max_tokens=10", price, "limits.max_cost_usd=2")
    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, *settings, f'providers.fake.wire="{wire}"')
    assert result.status == "stopped_budget"
    assert result.history["usage"]["calls"] == 1


def test_a_host_that_says_something_else_each_time_is_asked_a_few_times_and_not_for_ever(tmp_path: Path) -> None:
    """The words name no part, and no two errors in a row have the same."""
    turns = cycle(["Invalid value.", "Unexpected input.", "Malformed request."])
    refused: list[dict[str, Any]] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        if "temperature" not in body:
            return answered(body)
        refused.append(body)
        assert len(refused) <= 24, "the host is asked without end"
        return refusal(next(turns))

    with FakeServer(reply).in_thread() as server:
        settings = ("limits.concurrency=1", "defaults.temperature=0.7", "defaults.timeout_s=2")
        result = play(server.url(), tmp_path, *settings)
    assert len(refused) <= 24
    assert result.status == "completed"
    assert {each["source"] for each in result.history["decisions"]} == {"model"}
