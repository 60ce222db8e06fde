"""Keys: which variable of the environment is sent to which address.

A variable that is a key by its name may go where a scenario says, and is named before it does. One that belongs to
another service, or is no key, goes only where the user has named it. Hiding keys in texts is `redaction`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from agentsim.errors import ScenarioError, UsageError
from agentsim.models.address import is_own_machine
from agentsim.models.profiles import BUILT_IN, Profile, is_own


class Variables(dict[str, str]):
    """An environment, and the variables in it that the user lets go to any address."""

    def __init__(self, env: Mapping[str, str], allowed: Collection[str] = ()) -> None:
        super().__init__(env)
        self.allowed = frozenset(allowed)


def environment(env_file: Path | None, allow_key: Collection[str] | None = None) -> Variables:
    """The variables; those of `allow_key` may be sent to any address.

    Parent directories are not searched, since a file that another user put there could redirect a key.
    """
    from dotenv import dotenv_values

    if env_file is not None and not env_file.is_file():
        raise UsageError(f"--env-file {env_file}: there is no such file")
    merged: dict[str, str] = {}
    for path in (Path(".env"), env_file):
        if path is not None and path.is_file():
            try:
                values = dotenv_values(path, interpolate=False, encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                raise UsageError(f"{path}: cannot be read as UTF-8 text") from None
            merged |= {name: value for name, value in values.items() if value is not None}
    return Variables({**merged, **os.environ}, allow_key or ())


def key_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """The key to send, or None where the profile names no variable.

    Raises `ScenarioError`, which names the variable and never its value; for one that may not be sent there, too.
    """
    name = variable_for(profile, env)
    if name is None:
        return None
    _check(profile, name, env)
    value = env.get(name, "").strip()
    if not value:
        names = " or ".join(profile.key_envs)
        raise ScenarioError(f"{profile.provider} needs a key: set {names} in the environment or in ./.env")
    # A line break or an accent would end up, with the key, in an error of the HTTP layer.
    if not re.fullmatch(r"[\x21-\x7e]+", value):
        raise ScenarioError(
            f"the key in {name} has characters that keys do not have (a space, a line break, an accent)"
        )
    return value


def variable_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """The variable whose key is sent: the first that is set, or the first; None where none is named."""
    return next((name for name in profile.key_envs if env.get(name, "").strip()), next(iter(profile.key_envs), None))


# LAB_KEY, LAB_API_KEY, LAB_TOKEN, LAB_KEY_2
_A_KEY_BY_NAME = re.compile(r"(?:\w+_)?(?:KEY|APIKEY|TOKEN)(?:_?[0-9]{1,3})?", re.ASCII)
# Words that no provider's key has in its name: such keys sign, open or decipher something.
_NO_KEY_OF_A_PROVIDER = {
    *("SECRET", "PRIVATE", "PASSWORD", "PASSPHRASE", "ACCESS", "REFRESH", "SIGNING", "ENCRYPTION"),
    *("MASTER", "DEPLOY", "SESSION", "WEBHOOK", "SSH", "GPG"),
}
# Whose a variable is by a word in its name, and the hosts at which it may be used. Of owners that are no providers of
# models: accounts that are worth stealing and commonly stand in the environment of people who write programs.
_OWNERS = (
    ("Anthropic", "ANTHROPIC CLAUDE", "anthropic.com"),
    ("Azure", "AZURE", "azure.com microsoft.com"),
    ("Cerebras", "CEREBRAS", "cerebras.ai"),
    ("Cohere", "COHERE CO", "cohere.com cohere.ai"),
    ("Alibaba", "DASHSCOPE ALIBABA", "aliyuncs.com"),
    ("DeepSeek", "DEEPSEEK", "deepseek.com"),
    ("Fireworks", "FIREWORKS", "fireworks.ai"),
    ("Groq", "GROQ", "groq.com"),
    ("Hugging Face", "HF HUGGINGFACE HUGGINGFACEHUB", "huggingface.co"),
    ("MiniMax", "MINIMAX", "minimax.io minimaxi.com minimax.chat"),
    ("Mistral", "MISTRAL", "mistral.ai"),
    ("Moonshot", "MOONSHOT KIMI", "moonshot.ai moonshot.cn"),
    ("NVIDIA", "NVIDIA NGC", "nvidia.com"),
    ("Perplexity", "PERPLEXITY PPLX", "perplexity.ai"),
    ("Together", "TOGETHER", "together.xyz together.ai"),
    ("xAI", "XAI GROK", "x.ai"),
    ("Zhipu", "ZAI ZHIPU ZHIPUAI GLM", "z.ai bigmodel.cn"),
    ("OpenAI", "OPENAI", "openai.com"),
    ("OpenRouter", "OPENROUTER", "openrouter.ai"),
    ("Google", "GOOGLE GEMINI GCP GCLOUD VERTEX", "googleapis.com"),
    ("an account at a host", "AWS CLOUDFLARE CF DIGITALOCEAN DO HCLOUD HEROKU LINODE NETLIFY VERCEL FLY RENDER", ""),
    ("an account at a host", "RAILWAY SCALEWAY OVH", ""),
    ("a place for code", "GITHUB GH COPILOT", "github.ai"),
    ("a place for code", "HOMEBREW ACTIONS GITLAB GL BITBUCKET CI CIRCLE CIRCLECI SONAR SNYK CODECOV SENTRY DD", ""),
    ("a registry of packages", "NPM NODE PYPI TWINE UV POETRY CARGO RUBYGEMS GEM DOCKER NUGET", ""),
    ("a machine or its secrets", "KUBE KUBECONFIG K8S VAULT CONSUL NOMAD TF TERRAFORM ANSIBLE RAILS DJANGO JWT OP", ""),
    ("a machine or its secrets", "DOPPLER SOPS AGE", ""),
    ("a database", "DATABASE DB PG POSTGRES MYSQL MONGO REDIS SUPABASE FIREBASE SNOWFLAKE DATABRICKS PINECONE", ""),
    ("a shop or bank", "STRIPE PAYPAL PLAID SQUARE COINBASE BINANCE KRAKEN SHOPIFY", ""),
    ("messages or work", "SLACK DISCORD TELEGRAM TWILIO SENDGRID MAILGUN NOTION LINEAR JIRA ATLASSIAN", ""),
    ("a tool beside models", "LANGCHAIN LANGSMITH LANGFUSE WANDB TAVILY SERPER SERPAPI EXA ELEVENLABS REPLICATE", ""),
)


def _check(profile: Profile, variable: str, env: Mapping[str, str]) -> None:
    """Raise `ScenarioError` where a variable may not be sent to the profile's address without leave."""
    allowed = env.allowed if isinstance(env, Variables) else frozenset()
    if variable not in allowed and (why := _objection(variable, profile.base_url)) is not None:
        problem = f"{variable} would be sent as a key to {_place(profile)}: it {why}; --allow-key {variable} allows it"
        raise ScenarioError(problem, key=f"providers.{profile.provider}.api_key_env")


def errand(profile: Profile, variable: str | None) -> str | None:
    """What the user should know of that goes to the profile's address, in a line; None where there is nothing."""
    clear = profile.base_url.startswith("http://") and not is_own_machine(profile.base_url)
    if variable is None and not clear:
        return None
    what = f"the key in {variable}" if variable else "every prompt"
    warning = ", unencrypted: others on the way can read it" if clear else ""
    return f"{'warning: ' * clear}{what} goes to {_place(profile)}, as {profile.provider}{warning}"


def _place(profile: Profile) -> str:
    parts = urlsplit(profile.base_url)
    return f"{parts.scheme}://{parts.netloc}"


def _objection(variable: str, address: str) -> str | None:
    """Why a variable may not go to an address."""
    name = variable.upper()
    for profile in BUILT_IN.values():
        if name in profile.key_envs:
            return None if is_own(profile.provider, address) else f"is for {profile.provider} alone"
    words = set(name.split("_"))
    if _A_KEY_BY_NAME.fullmatch(name) is None or words & _NO_KEY_OF_A_PROVIDER:
        return "is not a name of a provider's key, such as LAB_KEY or LAB_API_TOKEN"
    owners = [(whose, hosts.split()) for whose, first_words, hosts in _OWNERS if words & set(first_words.split())]
    parts = urlsplit(address)
    is_theirs = parts.scheme == "https" and any(
        f".{parts.hostname}".endswith(f".{host}") for _, hosts in owners for host in hosts
    )
    return f"is for {owners[0][0]}, by its name" if owners and not is_theirs else None
