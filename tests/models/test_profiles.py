"""Provider profiles: the fields that a scenario and the environment may change, and the targets of keys."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.errors import ScenarioError
from agentsim.models.profiles import BUILT_IN, ProviderSettings, WireName, extra_problem, resolve
from tests.amounts import each_row


def test_every_built_in_profile_resolves_to_itself() -> None:
    for name, profile in BUILT_IN.items():
        if name not in {"azure", "vertex"}:
            assert resolve(name, {}, {}) == profile


@pytest.mark.parametrize(("provider", "missing"), [("azure", "base_url"), ("vertex", "project")])
def test_what_every_customer_has_for_himself_has_to_be_said(provider: str, missing: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve(provider, {}, {})
    assert caught.value.key == f"providers.{provider}.{missing}"
    at = "https://mine.openai.azure.com/openai" if provider == "azure" else None
    profile = resolve(provider, {provider: ProviderSettings(base_url=at, project="p")}, {})
    assert profile.key_envs == BUILT_IN[provider].key_envs
    assert profile.client_options["project"] == "p"


@pytest.mark.parametrize(
    ("provider", "region", "address"),
    [
        ("bedrock", "eu-west-1", "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ("vertex", "us-east5", "https://us-east5-aiplatform.googleapis.com/v1"),
        ("vertex", "global", "https://aiplatform.googleapis.com/v1"),
        ("vertex", "eu", "https://aiplatform.eu.rep.googleapis.com/v1"),
        ("openai", "eu-west-1", "https://api.openai.com/v1"),
    ],
)
def test_a_region_is_an_address_that_is_still_the_provider_s_own(provider: str, region: str, address: str) -> None:
    profile = resolve(provider, {provider: ProviderSettings(region=region, project="p")}, {})
    assert (profile.base_url, profile.key_envs) == (address, BUILT_IN[provider].key_envs)
    elsewhere = ProviderSettings(region=region, project="p", base_url="https://lab.example/v1")
    assert resolve(provider, {provider: elsewhere}, {}).key_envs == ()


@pytest.mark.parametrize(
    ("provider", "wire", "service"),
    [
        ("openai", "responses", "openai"),
        ("lab", "messages", "anthropic"),
        ("anthropic", "chat", "openai"),
        ("azure", "responses", "azure"),
        ("bedrock", "messages", "bedrock"),
    ],
)
def test_the_wire_decides_whose_client_is_used(provider: str, wire: WireName, service: str) -> None:
    settings = ProviderSettings(base_url="https://lab.example", wire=wire)
    profile = resolve(provider, {provider: settings}, {})
    assert (profile.wire, profile.service) == (wire, service)


@pytest.mark.parametrize("name", ["max_output_tokens", "input", "instructions", "system", "background"])
def test_what_the_other_wires_call_the_prompt_and_the_cap_is_no_extra(name: str) -> None:
    assert extra_problem({name: 1}) is not None


def test_a_table_overrides_what_it_names_and_nothing_else() -> None:
    settings = ProviderSettings(
        spacing_ms=200,
        structured="prompt",
        max_tokens_field="max_tokens",
        extra_body={"a": 1},
        strip_schema_keywords=[],
    )
    profile = resolve("openai", {"openai": settings}, {})
    assert (profile.spacing_s, profile.structured, profile.max_tokens_field) == (0.2, "prompt", "max_tokens")
    assert (profile.extra_body, profile.strip_schema_keywords) == ({"a": 1}, frozenset())
    assert (profile.base_url, profile.key_envs) == (BUILT_IN["openai"].base_url, ("OPENAI_API_KEY",))


def test_whether_a_temperature_is_taken_can_be_said_and_is_recorded_only_then() -> None:
    assert all(profile.supports_temperature for profile in BUILT_IN.values())
    settings = ProviderSettings(supports_temperature=False)
    assert not resolve("openai", {"openai": settings}, {}).supports_temperature
    assert settings.record()["supports_temperature"] is False
    first = {"api_key_env", "spacing_ms", "structured", "max_tokens_field", "strip_schema_keywords", "extra_body"}
    assert set(ProviderSettings(base_url="http://127.0.0.1:1").record()) == first, "as the first histories have it"


def test_a_provider_of_ones_own() -> None:
    lab = ProviderSettings(base_url="http://localhost:8000/v1/", api_key_env="LAB_KEY")
    profile = resolve("lab", {"lab": lab}, {})
    assert (profile.base_url, profile.host, profile.key_envs) == (
        "http://localhost:8000/v1",
        "localhost:8000",
        ("LAB_KEY",),
    )
    assert (profile.structured, profile.max_tokens_field, profile.spacing_s) == ("json_schema", "max_tokens", 0.0)


@each_row(
    "address, keys",
    [
        ("http://127.0.0.1:8000/v1", ()),
        ("https://proxy.example/v1", ()),
        ("https://api.openai.com.example/v1", ()),
        ("http://api.openai.com/v1", ()),
        ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        ("https://eu.api.openai.com/v1", ("OPENAI_API_KEY",)),
    ],
)
def test_a_providers_key_stays_at_its_own_address(address: str, keys: tuple[str, ...]) -> None:
    by_table = resolve("openai", {"openai": ProviderSettings(base_url=address)}, {})
    by_environment = resolve("openai", {}, {"OPENAI_BASE_URL": address})
    assert by_table == by_environment
    assert by_table.key_envs == keys


def test_a_named_variable_sends_its_key_anywhere() -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:8000/v1", api_key_env="MINE")
    assert resolve("openai", {"openai": settings}, {}).key_envs == ("MINE",)


def test_the_scheme_of_an_address_is_in_lower_case() -> None:
    """The scheme decides on proxies and on trust."""
    for spelt in ("HTTPS", "Https"):
        settings = ProviderSettings(base_url=f"{spelt}://Lab.example/V1//")
        assert resolve("lab", {"lab": settings}, {}).base_url == "https://Lab.example/V1"
        assert resolve("openai", {}, {"OPENAI_BASE_URL": f"{spelt}://api.openai.com/v1"}).key_envs
    assert resolve("ollama", {}, {"OLLAMA_HOST": "HTTP://gpu1"}).base_url == "http://gpu1:80/v1"


@each_row("host", ["gpu1", "a_b", "a.example.", "[::1]", "2130706433", "xn--a", "127.0.0.1"])
def test_other_hosts_are_left_to_the_network(host: str) -> None:
    for port in ("", ":", ":8000"):
        assert ProviderSettings(base_url=f"http://{host}{port}/v1").base_url


def test_the_table_counts_more_than_the_environment() -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:1/v1")
    env = {"OPENROUTER_BASE_URL": "http://127.0.0.1:2/v1"}
    assert resolve("openrouter", {"openrouter": settings}, env).base_url == "http://127.0.0.1:1/v1"
    assert resolve("openrouter", {}, env).base_url == "http://127.0.0.1:2/v1"


@each_row(
    "host, base_url",
    [
        ("gpu1", "http://gpu1:11434/v1"),
        ("gpu1:8080", "http://gpu1:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("http://gpu1", "http://gpu1:80/v1"),
        ("https://gpu1", "https://gpu1:443/v1"),
        ("https://gpu1:1/ollama/", "https://gpu1:1/ollama/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("http://gpu1:8080/v1", "http://gpu1:8080/v1"),
        ("gpu1/v1/", "http://gpu1:11434/v1"),
        ("https://gpu1:1/ollama/v1", "https://gpu1:1/ollama/v1"),
        ("https://gpu1:1/v1/ollama", "https://gpu1:1/v1/ollama/v1"),
        ("http://gpu1/env1", "http://gpu1:80/env1/v1"),
        ("", "http://127.0.0.1:11434/v1"),
    ],
)
def test_ollama_host_means_what_it_means_to_ollama(host: str, base_url: str) -> None:
    assert resolve("ollama", {}, {"OLLAMA_HOST": host}).base_url == base_url


def test_ollama_base_url_is_taken_as_it_is() -> None:
    env = {"OLLAMA_HOST": "other", "OLLAMA_BASE_URL": "http://gpu1:1/v1"}
    assert resolve("ollama", {}, env).base_url == "http://gpu1:1/v1"


@each_row(
    "address", ["nonsense", "ftp://x/v1", "http://user:canary@x/v1", "http://x:99999", "http://[x", "http://x/v1?"]
)
def test_an_unusable_address_in_the_environment_is_named_but_not_shown(address: str) -> None:
    with pytest.raises(ScenarioError, match="OPENAI_BASE_URL") as caught:
        resolve("openai", {}, {"OPENAI_BASE_URL": address})
    assert address not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("llamacpp", "did you mean llama-server"),
        ("llama.cpp", "did you mean llama-server"),
        ("opnai", "did you mean openai"),
        ("lap", "did you mean lab"),
        ("google", "--provider openrouter"),
    ],
)
def test_an_unknown_provider_gets_the_nearest_name(name: str, hint: str) -> None:
    lab = ProviderSettings(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ScenarioError, match=hint) as caught:
        resolve(name, {"lab": lab}, {})
    assert "openrouter" in caught.value.valid
    assert "lab" in caught.value.valid


def test_a_table_without_an_address_says_which_key_is_missing() -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve("lab", {"lab": ProviderSettings(spacing_ms=1)}, {})
    assert caught.value.key == "providers.lab.base_url"


@each_row(
    "table",
    [
        {"spacing_ms": -1},
        {"spacing_ms": float("nan")},
        {"spacing_ms": True},
        {"structured": "json"},
        {"wire": "canary"},
        {"region": "canary.example/"},
        {"supports_temperature": "no"},
        {"max_tokens_field": "max"},
        {"base_url": "localhost:8000"},
        {"base_url": "http://me:canary@host/v1"},
        {"base_url": "http://canary..b:1/v1"},
        {"base_url": f"http://{'canary' * 11}.example/v1"},
        {"base_url": "http://[::1]canary:80/v1"},
        {"base_url": "http://canary/v1?"},
        {"base_url": "http://canary/v1#"},
        {"extra_body": {"max_completion_tokens": 9_000}},
        {"extra_body": {"x": float("inf"), "y": "canary"}},
        {"api_key_env": "sk-canary"},
        {"api_key": "canary"},
    ],
)
def test_a_wrong_table_is_refused_without_showing_what_it_holds(table: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        ProviderSettings.model_validate(table)
    assert "canary" not in str(caught.value)


@each_row(
    "provider, settings, address, service",
    [
        ("anthropic", {}, "https://api.anthropic.com", "anthropic"),
        ("anthropic", {"wire": "messages"}, "https://api.anthropic.com", "anthropic"),
        ("anthropic", {"wire": "chat"}, "https://api.anthropic.com/v1", "openai"),
        (
            "anthropic",
            {"wire": "chat", "base_url": "https://api.anthropic.com"},
            "https://api.anthropic.com/v1",
            "openai",
        ),
        (
            "anthropic",
            {"wire": "chat", "base_url": "https://api.anthropic.com/v1/"},
            "https://api.anthropic.com/v1",
            "openai",
        ),
        (
            "bedrock",
            {"wire": "chat", "region": "eu-west-1"},
            "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1",
            "openai",
        ),
        (
            "vertex",
            {"wire": "chat", "project": "p", "region": "eu"},
            "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/endpoints/openapi",
            "openai",
        ),
        ("openai", {"wire": "responses"}, "https://api.openai.com/v1", "openai"),
    ],
)
def test_another_wire_begins_where_the_provider_has_it(
    provider: str, settings: dict[str, Any], address: str, service: str
) -> None:
    profile = resolve(provider, {provider: ProviderSettings(**settings)}, {})
    assert (profile.base_url, profile.service) == (address, service)
    assert profile.key_envs == BUILT_IN[provider].key_envs


def test_at_another_address_no_path_is_made_up() -> None:
    settings = ProviderSettings(wire="chat", base_url="https://gateway.example")
    assert resolve("anthropic", {"anthropic": settings}, {}).base_url == "https://gateway.example"


@each_row(
    "path, settings, version",
    [
        ("/openai", {}, "2024-10-21"),
        ("/openai", {"wire": "responses"}, "2025-04-01-preview"),
        ("/openai", {"wire": "responses", "api_version": "2025-03-01-preview"}, "2025-03-01-preview"),
        ("/openai/v1", {"wire": "responses"}, None),
        ("/openai/v1/", {}, None),
        ("/openai/v1", {"api_version": "preview"}, "preview"),
    ],
)
def test_the_version_of_azure_s_api_is_one_that_has_what_is_asked_for(
    path: str, settings: dict[str, Any], version: str | None
) -> None:
    table = ProviderSettings(base_url=f"https://mine.openai.azure.com{path}", **settings)
    profile = resolve("azure", {"azure": table}, {})
    assert (profile.client_options.get("api_version"), profile.service) == (version, "azure")


def test_a_pin_keeps_what_else_is_said_of_the_routing() -> None:
    given = ProviderSettings(pin="deepinfra", extra_body={"provider": {"sort": "price", "order": ["x"]}, "top_k": 1})
    profile = resolve("openrouter", {"openrouter": given}, {})
    pinned = {"sort": "price", "order": ["deepinfra"], "only": ["deepinfra"], "allow_fallbacks": False}
    assert profile.extra_body == {"provider": pinned, "top_k": 1}
    assert profile.structured_body == {"provider": {"require_parameters": True}}
    assert (given.record()["pin"], given.request_part()["pin"]) == ("deepinfra", "deepinfra")
    assert "pin" not in ProviderSettings().record()


def test_a_pin_holds_for_a_router_of_one_s_own() -> None:
    given = ProviderSettings(pin="deepinfra", base_url="http://localhost:8000/v1")
    for provider in ("openrouter", "lab"):
        assert resolve(provider, {provider: given}, {}).extra_body["provider"]["only"] == ["deepinfra"]


@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic", "ollama"])
def test_a_pin_is_refused_where_no_host_is_to_choose(provider: str) -> None:
    with pytest.raises(ScenarioError, match=f"{provider} has no hosts to choose from; openrouter has") as caught:
        resolve(provider, {provider: ProviderSettings(pin="deepinfra")}, {})
    assert caught.value.key == f"providers.{provider}.pin"


@each_row("pin", ["", " deepinfra", "deep infra", "a" * 101, "a\nb", '"x"'])
def test_a_pin_is_a_slug(pin: str) -> None:
    with pytest.raises(ValidationError, match="pin"):
        ProviderSettings(pin=pin)
