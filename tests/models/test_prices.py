"""Prices, in this order: the response, the scenario, free providers, the catalog, unknown."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agentsim.models.base import Usage
from agentsim.models.prices import CATALOGUE, Price, Prices, longest_reply
from agentsim.models.profiles import BUILT_IN, ProviderSettings
from tests.amounts import each_row

MILLION = Usage(prompt_tokens=1_000_000, cached_tokens=500_000, completion_tokens=1_000_000)


def test_what_the_response_says_counts_most() -> None:
    prices = Prices({"openai/gpt-5-mini": Price(input=1, output=1)})
    assert prices.cost("openai/gpt-5-mini", Usage(cost_usd=0.5)) == 0.5
    assert prices.cost("nobody/knows", Usage(cost_usd=0.0)) == 0.0


def test_the_scenario_counts_more_than_the_catalogue() -> None:
    prices = Prices(
        {"openai/gpt-5-mini": Price(input=2, output=10), "lab/x": Price(input=2, output=10, cached_input=1)}
    )
    assert prices.cost("openai/gpt-5-mini", MILLION) == pytest.approx(12)
    assert prices.cost("lab/x", MILLION) == pytest.approx(1 + 0.5 + 10)


@pytest.mark.parametrize("name", ["openai/gpt-5-mini", "openrouter/openai/gpt-5-mini"])
def test_the_catalogue_knows_models_under_our_names(name: str) -> None:
    cost = Prices({}).cost(name, MILLION)
    assert cost is not None
    assert 0 < cost < 100


def test_gemini_is_google() -> None:
    assert Prices({}).has_price("gemini/gemini-2.5-flash")


@each_row("name", ["lab/x", "openai/gpt-nonsense", "openai/", "openai", "my-openai/gpt-5-mini", ""])
def test_an_unknown_price_is_none_and_never_zero(name: str) -> None:
    prices = Prices({})
    assert not prices.has_price(name)
    assert prices.cost(name, MILLION) is None
    assert prices.estimate(name, 10, 10) is None


def test_unknown_tokens_make_an_unknown_cost() -> None:
    prices = Prices({"lab/x": Price(input=1, output=1)})
    assert prices.cost("lab/x", Usage(prompt_tokens=5)) is None
    assert prices.cost("openai/gpt-5-mini", Usage()) is None


@each_row(
    "name",
    [
        "ollama/llama3.2",
        "vllm/x",
        "sglang/x",
        "lmstudio/x",
        "local/smollm2-135m",
        "bot/careful",
        "human",
        "script:a.json",
    ],
)
def test_what_runs_here_is_free(name: str) -> None:
    prices = Prices({})
    assert prices.has_price(name)
    assert prices.cost(name, Usage()) == 0.0
    assert prices.cost(name, MILLION) == 0.0
    assert prices.estimate(name, 10, 10) == 0.0


def at(name: str, address: str) -> float | None:
    """Return the cost of a call if the scenario gives the provider this address, or None."""
    provider = name.partition("/")[0]
    return Prices({}, {provider: ProviderSettings(base_url=address)}).cost(name, MILLION)


@each_row(
    "place",
    [
        *("127.0.0.1:8000", "localhost", "[::1]:1234", "10.0.0.7:8000", "192.168.1.5", "100.64.0.1", "[fd00::1]"),
        *("gpu-box:8000", "gpu.local", "model.lan", "host.docker.internal:11434"),
    ],
)
def test_a_server_on_machines_of_ones_own_is_free(place: str) -> None:
    assert at("vllm/x", f"http://{place}/v1") == 0.0


@each_row("place", ["api.example.com", "8.8.8.8", "134744072", "[2606:4700::1111]:8000"])
@each_row("name", ["ollama/x", "vllm/x", "lmstudio/x", "llama-server/x"])
def test_a_server_elsewhere_is_not_free_because_of_its_name(name: str, place: str) -> None:
    assert at(name, f"https://{place}/v1") is None


def test_the_environments_address_counts_as_the_scenarios_does() -> None:
    assert Prices({}, {}, {"OLLAMA_HOST": "https://ollama.example.com"}).cost("ollama/x", MILLION) is None
    assert Prices({}, {}, {"OPENAI_BASE_URL": "https://llm.example.com/v1"}).cost("openai/gpt-5-mini", MILLION) is None
    assert Prices({}, {}, {"OPENAI_BASE_URL": "https://eu.api.openai.com/v1"}).has_price("openai/gpt-5-mini")


@pytest.mark.parametrize("name", ["openai/gpt-5-mini", "openrouter/openai/gpt-5-mini", "gemini/gemini-2.5-flash"])
def test_the_catalogue_is_of_the_providers_own_addresses(name: str) -> None:
    assert at(name, "http://127.0.0.1:4000/v1") is None
    table = {name: Price(input=1, output=1)}
    elsewhere = {name.partition("/")[0]: ProviderSettings(base_url="http://127.0.0.1:4000/v1")}
    assert Prices(table, elsewhere).cost(name, MILLION) == pytest.approx(2)


@pytest.mark.parametrize(("name", "free"), [("gpt-oss:120b-cloud", False), ("glm:cloud", False), ("cloudy", True)])
def test_what_ollama_sends_on_to_a_service_is_not_free(name: str, free: bool) -> None:
    assert Prices({}).has_price(f"ollama/{name}") is free


def test_an_estimate_is_the_worst_case() -> None:
    prices = Prices({"lab/x": Price(input=2, output=10, cached_input=0)})
    assert prices.estimate("lab/x", 1_000_000, 1_000_000) == pytest.approx(12)


def test_more_cached_than_sent_is_no_discount_below_zero() -> None:
    prices = Prices({"lab/x": Price(input=2, output=0, cached_input=1)})
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=9_000_000, completion_tokens=0)
    assert prices.cost("lab/x", usage) == pytest.approx(1)
    assert Prices({}).cost("openai/gpt-5-mini", usage) is not None


@pytest.mark.parametrize(
    "table",
    [{"input": -1, "output": 0}, {"input": float("nan"), "output": 0}, {"input": 1}, {"input": "1", "output": 1}],
)
def test_a_price_is_a_finite_number_of_dollars(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate(table)


@pytest.mark.parametrize(
    ("model", "cap", "tokens"),
    [
        ("openrouter/openai/gpt-5-mini", 500, 500),
        ("openrouter/openai/gpt-5-mini", 50_000, 50_000),
        ("openrouter/openai/gpt-5-mini", None, 16_384),  # the model's context is larger
        ("openai/gpt-4", None, 8192),  # the whole context of the model
        ("lab/unknown", None, 16_384),
    ],
)
def test_a_reply_without_a_cap_is_reckoned_with_what_the_model_can_say(
    model: str, cap: int | None, tokens: int
) -> None:
    assert longest_reply(model, cap) == tokens


@each_row(
    "name",
    [
        "anthropic/claude-sonnet-4-5",
        "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "groq/llama-3.3-70b-versatile",
        "mistral/mistral-large-latest",
        "deepseek/deepseek-chat",
        "xai/grok-3",
    ],
)
def test_the_catalogue_knows_the_other_providers_models(name: str) -> None:
    assert Prices({}).has_price(name)
    assert at(name, "https://lab.example/v1") is None


def test_every_provider_with_a_key_is_in_the_catalogue_or_its_calls_are_free() -> None:
    from genai_prices.data_snapshot import get_snapshot

    known = {provider.id for provider in get_snapshot().providers}
    assert set(CATALOGUE.values()) <= known
    assert {name for name, profile in BUILT_IN.items() if profile.key_envs} == set(CATALOGUE)


def test_what_is_written_to_a_cache_has_a_price_of_its_own() -> None:
    """Anthropic charges 1.25 times the input price, and the worst case of a call includes it."""
    written = Usage(prompt_tokens=1_000, cached_tokens=100, completion_tokens=0, cache_write_tokens=800)
    of_input = Prices({}).cost("anthropic/claude-sonnet-4-5", Usage(prompt_tokens=1_000, completion_tokens=0))
    assert of_input is not None
    cost = Prices({}).cost("anthropic/claude-sonnet-4-5", written)
    assert cost == pytest.approx(of_input * (0.1 + 0.8 * 1.25 + 0.1 * 0.1))
    assert Prices({}).estimate("anthropic/claude-sonnet-4-5", 1_000, 0) == pytest.approx(1.25 * of_input)
    table = Prices(
        {"lab/x": Price(input=2, output=0, cached_input=1, cache_write=3), "lab/y": Price(input=2, output=0)}
    )
    assert table.cost("lab/x", written) == pytest.approx((100 * 2 + 100 * 1 + 800 * 3) / 1e6)
    assert table.cost("lab/y", written) == pytest.approx(1_000 * 2 / 1e6)
