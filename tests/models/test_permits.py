"""Permits of keys: a scenario may come from a stranger and names both the variable and the address."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from agentsim.errors import ScenarioError
from agentsim.models.keys import Variables, key_disclosure, key_for, variable_for
from agentsim.models.profiles import BUILT_IN, Profile, ProviderSettings, resolve
from tests.amounts import each_row

FOREIGN = "https://lab.example/v1"
NEAR = "http://localhost:8000/v1"


def lab(variable: str | None, address: str = FOREIGN) -> Profile:
    return resolve("lab", {"lab": ProviderSettings(base_url=address, api_key_env=variable)}, {})


def refused(profile: Profile, *allowed: str) -> str:
    """Return the error for a key that may not be sent, or "" if it may."""
    env = Variables(dict.fromkeys(profile.key_envs, "sk-of-somebody-0123456789"), allowed)
    with suppress(ScenarioError):
        assert key_for(profile, env) == "sk-of-somebody-0123456789"
        return ""
    with pytest.raises(ScenarioError) as caught:
        key_for(profile, env)
    assert "sk-of" not in str(caught.value)
    assert caught.value.key == f"providers.{profile.provider}.api_key_env"
    return caught.value.problem


@each_row(
    "variable",
    [
        "LAB_KEY",
        "LAB_API_KEY",
        "LAB_TOKEN",
        "LAB_API_TOKEN",
        "LAB_KEY_2",
        "LAB_KEY2",
        "lab_key",
        "API_KEY",
        "COHERE_API_KEY",
        "KEY",
        "APIKEY",
    ],
)
@each_row("address", [NEAR, FOREIGN])
def test_a_key_by_its_name_goes_where_the_scenario_says(variable: str, address: str) -> None:
    assert not refused(lab(variable, address))


FOREIGN_VARIABLES = {
    "a folder": "HOME",
    "a path": "PATH",
    "an address with a password": "DATABASE_URL",
    "a password": "PGPASSWORD",
    "a key within a word": "MONKEY",
    "a file of keys": "LAB_KEY_FILE",
    "an account at Amazon": "AWS_SECRET_ACCESS_KEY",
    "another": "AWS_SESSION_TOKEN",
    "an account at GitHub": "GITHUB_TOKEN",
    "in short": "GH_TOKEN",
    "a registry": "NPM_TOKEN",
    "another registry": "CARGO_REGISTRY_TOKEN",
    "the agent of ssh": "SSH_AUTH_SOCK",
    "a machine's key": "SSH_PRIVATE_KEY",
    "a site's secret": "SECRET_KEY",
    "a lab's private key": "LAB_PRIVATE_KEY",
    "a lab's signing key": "LAB_SIGNING_KEY",
    "a bank": "STRIPE_API_KEY",
    "a chat": "SLACK_BOT_TOKEN",
    "in small letters": "github_token",
    "a provider's second key": "OPENAI_API_KEY_2",
    "an owner behind another word": "HOMEBREW_GITHUB_API_TOKEN",
    "a provider behind a word": "MY_OPENAI_API_KEY",
    "a store of models": "HF_TOKEN",
    "a provider at another's cloud": "AZURE_OPENAI_API_KEY",
    **{f"a built-in provider's {name}": name for profile in BUILT_IN.values() for name in profile.key_envs},
}


@each_row("variable", FOREIGN_VARIABLES.values())
@each_row("address", [NEAR, FOREIGN, "https://api.openai.com.example/v1"])
def test_what_is_for_somebody_else_or_no_key_goes_where_the_user_lets_it(variable: str, address: str) -> None:
    said = refused(lab(variable, address))
    assert said.startswith(f"{variable} would be sent as a key to {address.removesuffix('/v1')}: it is ")
    assert said.endswith(f"--allow-key {variable} allows it")
    assert refused(lab(variable, address), "LAB_KEY"), "another was let go"
    assert not refused(lab(variable, address), variable)


@each_row(
    "variable, address",
    [
        ("OPENAI_API_KEY", "https://api.openai.com/v1"),
        ("OPENAI_API_KEY", "https://eu.api.openai.com/v1"),
        ("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
        ("GOOGLE_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("MY_OPENAI_API_KEY_2", "https://api.openai.com/v1"),
        ("ANTHROPIC_API_KEY", "https://api.anthropic.com"),
        ("AZURE_OPENAI_API_KEY", "https://mine.openai.azure.com/openai"),
        ("AWS_BEARER_TOKEN_BEDROCK", "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ("VERTEX_ACCESS_TOKEN", "https://us-east5-aiplatform.googleapis.com/v1"),
    ],
)
def test_at_its_own_address_a_provider_s_key_needs_no_leave(variable: str, address: str) -> None:
    assert not refused(lab(variable, address))
    assert refused(lab(variable, address.replace("https:", "http:")))


@pytest.mark.parametrize("variable", ["AWS_BEDROCK_API_KEY", "OPENAI_SESSION_KEY", "GITHUB_OPENAI_TOKEN"])
def test_what_else_a_name_says_counts_at_a_provider_s_own_address_too(variable: str) -> None:
    assert refused(lab(variable, "https://api.openai.com/v1"))


@each_row("profile", BUILT_IN.values())
def test_what_is_built_in_needs_no_leave(profile: Profile) -> None:
    at = replace(profile, base_url=profile.base_url or "https://mine.openai.azure.com/openai")
    assert not at.key_envs or not refused(at)


def test_what_may_not_be_sent_is_refused_before_it_is_looked_for() -> None:
    with pytest.raises(ScenarioError, match="--allow-key AWS_SECRET_ACCESS_KEY"):
        key_for(lab("AWS_SECRET_ACCESS_KEY"), {})


def test_a_copy_of_an_environment_allows_nothing() -> None:
    with pytest.raises(ScenarioError, match="--allow-key HOME"):
        key_for(lab("HOME"), {**Variables({"HOME": "x"}, ["HOME"])})


@each_row(
    "profile, line",
    [
        (lab("LAB_KEY", NEAR), "the key in LAB_KEY goes to http://localhost:8000, as lab"),
        (lab("LAB_KEY", "http://127.0.0.2:1/v1"), "the key in LAB_KEY goes to http://127.0.0.2:1, as lab"),
        (lab("LAB_KEY", FOREIGN), "the key in LAB_KEY goes to https://lab.example, as lab"),
        (
            lab("LAB_KEY", "http://gpu1:8000/v1"),
            "warning: the key in LAB_KEY goes to http://gpu1:8000, as lab, unencrypted: others on the way can read it",
        ),
        (
            lab(None, "http://10.0.0.7:8000/v1"),
            "warning: every prompt goes to http://10.0.0.7:8000, as lab, unencrypted: others on the way can read it",
        ),
        (lab(None, NEAR), None),
        (lab(None, FOREIGN), None),
        (BUILT_IN["gemini"], "the key in GEMINI_API_KEY goes to https://generativelanguage.googleapis.com, as gemini"),
        (BUILT_IN["ollama"], None),
    ],
)
def test_what_goes_where_is_a_line(profile: Profile, line: str | None) -> None:
    assert key_disclosure(profile, variable_for(profile, {})) == line


def test_the_line_names_the_variable_that_is_set() -> None:
    env = {"GOOGLE_API_KEY": "x"}
    assert "the key in GOOGLE_API_KEY goes" in str(
        key_disclosure(BUILT_IN["gemini"], variable_for(BUILT_IN["gemini"], env))
    )
