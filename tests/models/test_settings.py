"""Portable settings: the fields of each host in requests, and the reports on values that a host lacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agentsim.models.base import MOST_TEXT, Completion, Sampling
from agentsim.models.profiles import (
    BUILT_IN,
    USUAL_MAX_TOKENS,
    Profile,
    ProviderSettings,
    WireName,
    most_output,
    resolve,
)
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import tried
from tests.models.test_wires import KEY, PLAIN, ask, lab, message, response, said

BASE = Sampling(timeout_s=5)


def sent(profile: Profile, model: str, **settings: Any) -> dict[str, Any]:
    """Return what the settings add to the body of a request."""
    fake = FakeServer(lambda _body: "x")
    answer = tried(fake, PLAIN, replace(BASE, **settings), profile, key=KEY, model=model)
    assert isinstance(answer, Completion)
    (received,) = fake.received
    always = {"model", "messages", "input", "store", "anthropic_version"}
    return {key: value for key, value in received.body.items() if key not in always}


def notes(profile: Profile, model: str, **settings: Any) -> tuple[str, ...]:
    return profile.translated(model, replace(BASE, **settings)).notes


def effort(word: str) -> dict[str, Any]:
    return {"reasoning_effort": word}


def template(on: bool, **more: Any) -> dict[str, Any]:
    return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}, **more}


def budget(tokens: int) -> dict[str, Any]:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def adaptive(level: str) -> dict[str, Any]:
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}


OFF = {"thinking": {"type": "disabled"}}
# By provider and model: the fields sent for none, low, medium, high and 4,000 tokens, or None.
REASONING: dict[tuple[str, str], tuple[Mapping[str, Any] | None, ...]] = {
    ("openai", "gpt-5.1"): (effort("none"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("openai", "gpt-5-mini"): (effort("minimal"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("openai", "o4-mini"): (effort("low"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("openai", "gpt-5-pro"): (effort("high"),) * 5,
    ("openrouter", "any/model"): (
        {"reasoning": {"enabled": False}},
        {"reasoning": {"effort": "low"}},
        {"reasoning": {"effort": "medium"}},
        {"reasoning": {"effort": "high"}},
        {"reasoning": {"max_tokens": 4000}},
    ),
    ("gemini", "gemini-2.5-flash"): (
        effort("none"),
        effort("low"),
        effort("medium"),
        effort("high"),
        {"extra_body": {"google": {"thinking_config": {"thinking_budget": 4000}}}},
    ),
    ("gemini", "gemini-3-pro"): (
        effort("minimal"),
        effort("low"),
        effort("medium"),
        effort("high"),
        {"extra_body": {"google": {"thinking_config": {"thinking_budget": 4000}}}},
    ),
    ("groq", "openai/gpt-oss-120b"): (
        effort("low"),
        effort("low"),
        effort("medium"),
        effort("high"),
        effort("medium"),
    ),
    ("groq", "qwen/qwen3-32b"): (effort("none"), *[effort("default")] * 4),
    ("groq", "llama-3.3-70b-versatile"): (None,) * 5,
    ("mistral", "mistral-small-latest"): (effort("none"), *[effort("high")] * 4),
    ("mistral", "magistral-medium-latest"): (None,) * 5,
    ("deepseek", "deepseek-v4"): (
        OFF,
        {"thinking": {"type": "enabled"}, **effort("low")},
        *[{"thinking": {"type": "enabled"}, **effort("high")}] * 3,
    ),
    ("xai", "grok-3-mini"): (effort("low"), effort("low"), effort("high"), effort("high"), effort("high")),
    ("xai", "grok-4.3"): (effort("none"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("xai", "grok-4.5"): (effort("low"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("xai", "grok-4"): (None,) * 5,
    ("xai", "grok-4-fast-reasoning"): (None,) * 5,
    ("together", "zai-org/GLM-5"): ({"reasoning": {"enabled": False}}, *[{"reasoning": {"enabled": True}}] * 4),
    ("fireworks", "accounts/fireworks/models/x"): (
        effort("none"),
        effort("low"),
        effort("medium"),
        effort("high"),
        budget(4000),
    ),
    ("ollama", "qwen3:8b"): (effort("none"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("lmstudio", "qwen3"): (effort("none"), effort("low"), effort("medium"), effort("high"), effort("medium")),
    ("vllm", "Qwen/Qwen3-8B"): (
        template(False),
        template(True, **effort("low")),
        template(True, **effort("medium")),
        template(True, **effort("high")),
        template(True, **effort("medium")),
    ),
    ("sglang", "Qwen/Qwen3-8B"): (
        template(False),
        template(True, **effort("low")),
        template(True, **effort("medium")),
        template(True, **effort("high")),
        {"chat_template_kwargs": {"enable_thinking": True, "thinking": True, "thinking_budget": 4000}},
    ),
    ("llama-server", "qwen3"): (
        template(False),
        template(True, **effort("low")),
        template(True, **effort("medium")),
        template(True, **effort("high")),
        template(True, reasoning_budget_tokens=4000),
    ),
    ("anthropic", "claude-sonnet-4-5"): (OFF, budget(1024), budget(8192), budget(24576), budget(4000)),
    ("anthropic", "claude-3-7-sonnet-latest"): (OFF, budget(1024), budget(8192), budget(24576), budget(4000)),
    ("anthropic", "claude-opus-4-6"): (
        OFF,
        adaptive("low"),
        adaptive("medium"),
        adaptive("high"),
        adaptive("medium"),
    ),
    ("bedrock", "anthropic.claude-sonnet-4-20250514-v1:0"): (
        OFF,
        budget(1024),
        budget(8192),
        budget(24576),
        budget(4000),
    ),
    ("vertex", "claude-sonnet-5"): (OFF, adaptive("low"), adaptive("medium"), adaptive("high"), adaptive("medium")),
    ("anthropic", "claude-3-5-haiku-latest"): (None,) * 5,
}
ASKED = ("none", "low", "medium", "high", 4000)


def profile_of(provider: str) -> Profile:
    return replace(BUILT_IN[provider], client_options={"project": "p", "region": "eu", "api_version": "2024-10-21"})


def test_every_provider_is_tested_here() -> None:
    assert {provider for provider, _ in REASONING} == BUILT_IN.keys() - {"azure"}, "whose paths name a deployment"
    assert BUILT_IN["azure"].parameter_names == BUILT_IN["openai"].parameter_names


@pytest.mark.parametrize(("provider", "model"), REASONING)
def test_reasoning_is_sent_in_the_words_of_the_host(provider: str, model: str) -> None:
    profile = profile_of(provider)
    for wanted, fields in zip(ASKED, REASONING[provider, model], strict=True):
        body = sent(profile, model, reasoning=wanted)
        body.pop("max_tokens", None)
        assert body == (fields or {}), wanted
        said = notes(profile, model, reasoning=wanted)
        if fields is None:
            assert said == (
                f"reasoning = {json.dumps(wanted)}: not sent, since this model's reasoning cannot be set",
            ), wanted


def test_a_value_without_a_word_becomes_the_nearest_and_that_is_said() -> None:
    openai, anthropic, groq = (profile_of(name) for name in ("openai", "anthropic", "groq"))
    nearest = '"medium" is sent, the nearest'
    assert notes(openai, "gpt-5.1", reasoning=4000) == (
        f"reasoning = 4000: this model takes no number of tokens; {nearest}",
    )
    assert notes(groq, "qwen/qwen3-32b", reasoning="high") == (
        f'reasoning = "high": this model takes no such level; {nearest}',
    )
    assert notes(anthropic, "claude-sonnet-4-5", reasoning="low") == ('reasoning = "low": 1,024 tokens are sent',)
    assert notes(openai, "gpt-5.1", reasoning="low") == notes(anthropic, "claude-opus-4-6", reasoning="high") == ()


@pytest.mark.parametrize(
    ("reasoning", "cap", "tokens", "why"),
    [
        (4000, 8000, 4000, ()),
        (500, 8000, 1024, ("reasoning = 500: 1,024 tokens are sent, the fewest",)),
        (8000, 4096, 2048, ("reasoning = 8000: 2,048 tokens are sent, since max_tokens is 4,096",)),
        ("high", 4096, 2048, ('reasoning = "high": 2,048 tokens are sent, since max_tokens is 4,096',)),
        (4000, 1500, 1024, ("reasoning = 4000: 1,024 tokens are sent, since max_tokens is 1,500",)),
        (
            4000,
            1024,
            None,
            ("reasoning = 4000: not sent, since max_tokens = 1,024 leaves no room for thinking",),
        ),
    ],
)
def test_thinking_leaves_room_for_the_answer(reasoning: Any, cap: int, tokens: int | None, why: tuple[str]) -> None:
    profile, settings = profile_of("anthropic"), {"reasoning": reasoning, "max_tokens": cap}
    body = sent(profile, "claude-sonnet-4-5", **settings)
    assert body == {"max_tokens": cap} | ({} if tokens is None else budget(tokens))
    assert notes(profile, "claude-sonnet-4-5", **settings) == why


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-6"])
def test_a_claude_that_thinks_is_sent_no_temperature(model: str) -> None:
    profile = profile_of("anthropic")
    for settings in ({"reasoning": "high"}, {"extra": {"thinking": {"type": "enabled", "budget_tokens": 2000}}}):
        assert "temperature" not in sent(profile, model, temperature=0.5, **settings)
        assert "temperature = 0.5: not sent, since a model that thinks takes none there" in notes(
            profile, model, temperature=0.5, **settings
        )
    off = {"reasoning": "high", "extra": {"thinking": {"type": "disabled"}}}
    for still in ({}, {"reasoning": "none"}, off):
        assert sent(profile, model, temperature=0.5, **still)["temperature"] == 0.5


SEEDS = {
    "mistral": {"random_seed": 7},
    **{name: {} for name in ("deepseek", "anthropic", "bedrock", "vertex")},
}
LOGPROBS = {
    "together": {"logprobs": 1},
    **{name: {} for name in ("groq", "mistral", "gemini", "lmstudio", "anthropic", "bedrock", "vertex")},
}


@pytest.mark.parametrize("provider", sorted(BUILT_IN.keys() - {"azure"}))
def test_seed_and_logprobs_are_sent_where_the_host_has_them(provider: str) -> None:
    profile = profile_of(provider)
    body = sent(profile, "m", seed=7, logprobs=True)
    body.pop("max_tokens", None)
    seed, logprobs = SEEDS.get(provider, {"seed": 7}), LOGPROBS.get(provider, {"logprobs": True})
    assert body == seed | logprobs
    unknown = "not sent, since this API has no such parameter"
    said = [f"seed = 7: {unknown}"] * (not seed) + [f"logprobs = true: {unknown}"] * (not logprobs)
    assert list(notes(profile, "m", seed=7, logprobs=True)) == said


def test_responses_have_words_of_their_own_at_every_host() -> None:
    body = sent(lab("responses"), "gpt-5.1", reasoning="high", seed=7, logprobs=True, temperature=1.0)
    assert body == {
        "reasoning": {"effort": "high"},
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 0,
        "temperature": 1.0,
    }
    at_groq = resolve("groq", {"groq": ProviderSettings(wire="responses")}, {})
    assert sent(at_groq, "openai/gpt-oss-20b", reasoning="low") == {"reasoning": {"effort": "low"}}


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_a_provider_that_takes_no_temperature_is_sent_none(wire: WireName) -> None:
    profile = lab(wire, supports_temperature=False)
    assert "temperature" not in sent(profile, "m", temperature=0.5)
    assert notes(profile, "m", temperature=0.5) == ("temperature = 0.5: not sent, since supports_temperature is false",)


def test_the_players_own_fields_come_last() -> None:
    extra = {"reasoning_effort": "high", "seed": 3}
    body = sent(lab("chat"), "m", reasoning="low", seed=7, extra=extra)
    assert body == extra


def test_each_part_of_a_body_has_the_name_of_its_setting() -> None:
    asked = replace(BASE, temperature=1.0, reasoning="low", seed=7, logprobs=True)
    for profile in BUILT_IN.values():
        assert profile.translated("gpt-5.1", asked).parts.keys() <= {"temperature", "reasoning", "seed", "logprobs"}


# ------------------------------------------------------------------------------------------ the cap of messages


@pytest.mark.parametrize(
    ("model", "most"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("anthropic.claude-3-opus-20240229-v1:0", 4096),
        ("claude-3-5-sonnet@20241022", 8192),
        ("anthropic/claude-3.5-haiku", 8192),
        ("claude-3-7-sonnet-latest", 64_000),
        ("claude-opus-4-20250514", 32_000),
        ("claude-opus-4-1", 32_000),
        ("claude-opus-4-0", 32_000),
        ("claude-sonnet-4@20250514", 64_000),
        ("claude-sonnet-4-5-20250929", 64_000),
        ("claude-haiku-4-5", 64_000),
        ("claude-opus-4-5", 64_000),
        ("claude-opus-4.6", 128_000),
        ("claude-opus-9", None),
        ("gpt-5", None),
    ],
)
def test_the_cap_is_the_most_a_model_gives(model: str, most: int | None) -> None:
    assert most_output(model) == most
    assert sent(profile_of("anthropic"), model)["max_tokens"] == (most or USUAL_MAX_TOKENS)
    assert sent(profile_of("anthropic"), model, max_tokens=100)["max_tokens"] == 100
    assert "max_tokens" not in sent(profile_of("openrouter"), model)


# ----------------------------------------------------------------------------------------------------- logprobs

TOKENS = [("Hel", -0.5), ("lo", -0.25)]
OPENAI_SHAPE: list[dict[str, Any]] = [
    {"token": token, "logprob": logprob, "bytes": None, "top_logprobs": []} for token, logprob in TOKENS
]


def chat(logprobs: Any, text: str = "Hello") -> dict[str, Any]:
    made = envelope(text)
    made["choices"][0]["logprobs"] = logprobs
    return made


def kept(wire: WireName, answer: Any) -> Any:
    completion, _ = ask(lab(wire), Raw(200, answer), PLAIN, replace(BASE, logprobs=True))
    assert isinstance(completion, Completion), completion
    return completion.logprobs


@pytest.mark.parametrize(
    ("wire", "answer", "found"),
    [
        ("chat", chat({"content": OPENAI_SHAPE, "refusal": None}), tuple(TOKENS)),
        ("chat", chat({"tokens": ["Hel", "lo"], "token_logprobs": [-0.5, -0.25]}), tuple(TOKENS)),
        ("chat", chat({"content": None}), None),
        ("chat", chat(None), None),
        ("chat", chat([5, None]), None),
        ("chat", chat({"content": [{"token": 5, "logprob": -1}, *OPENAI_SHAPE, {"token": "x"}, 7]}), tuple(TOKENS)),
        ("chat", chat({"content": [{"token": "x", "logprob": float("-inf")}]}), None),
        ("chat", chat({"content": [{"token": "x", "logprob": True}]}), None),
        ("chat", chat({"tokens": "x", "token_logprobs": 5}), None),
        (
            "responses",
            response(said({"type": "output_text", "text": "Hello", "logprobs": OPENAI_SHAPE})),
            tuple(TOKENS),
        ),
        ("messages", message("Hello"), None),
    ],
)
def test_logprobs_are_kept_with_the_completion(wire: WireName, answer: Any, found: Any) -> None:
    assert kept(wire, answer) == found


def test_no_logprobs_are_kept_that_spell_a_key() -> None:
    spelled = [{"token": KEY[at : at + 5], "logprob": -1.0} for at in range(0, len(KEY), 5)]
    assert kept("chat", chat({"content": [{"token": "It is ", "logprob": -1.0}, *spelled]})) is None


def test_logprobs_are_bounded_and_clean() -> None:
    many = [{"token": "x" * 100, "logprob": -1.0}] * 1000
    assert len(kept("chat", chat({"content": many}))) == MOST_TEXT // 100
    ((token, _),) = kept("chat", chat({"content": [{"token": "\x1b[31m\ud800", "logprob": -1.0}]}))
    assert "\x1b" not in token
    token.encode()
