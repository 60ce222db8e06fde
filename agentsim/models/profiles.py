"""Provider profiles: the facts about each provider and the form of portable settings there, as data.

Portable settings are reasoning, seed, logprobs and temperature. A setting that a host does not have is left out; one
that it has only in another form becomes the nearest form; `Translation.notes` report both. Each part of a body is keyed
by its setting, so that a setting which a model refuses can be left out alone. The tables are from the public references
beside them. A scenario may change a profile. A profile only names environment variables; other modules read keys and
send requests.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field

from agentsim.engine.codec import StrictTable
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError
from agentsim.lazy import dataclass
from agentsim.models.address import is_azure_v1, normal, ollama_address, url_problem
from agentsim.models.base import Level, Reasoning, Sampling

Fields: TypeAlias = Mapping[str, Any]
"""A part of a request's body."""

TOKENS: Final = "<tokens>"
"""The placeholder for the number in `Thinking.tokens`."""
LEVEL_TOKENS: Final[Mapping[Level, int]] = {"low": 1024, "medium": 8192, "high": 24576}
"""The tokens of each level, for converting between the two if a host takes only one of them. Source:
https://ai.google.dev/gemini-api/docs/openai#thinking."""
_ORDER: Final[tuple[Level, ...]] = ("none", "low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """The ways to tell some models how much to think: by `levels`, by a number of `tokens`, or neither.

    A number of tokens is at least `least`.
    """

    levels: Mapping[Level, Fields] = field(default_factory=dict)
    tokens: Fields | None = None
    least: int = 1


Families: TypeAlias = tuple[tuple[str, Thinking], ...]
"""Thinking by model: the first regular expression found in the model's name, in lower case, counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterNames:
    """The parameters of one API at one host. None means that it has no such parameter.

    With `always_capped` each request needs a limit on the reply; with `thinking_excludes_temperature` a request with
    thinking must not set a temperature.
    """

    thinking: Families
    seed: str | None = "seed"
    logprobs: Fields | None = field(default_factory=lambda: {"logprobs": True})
    always_capped: bool = False
    thinking_excludes_temperature: bool = False


@dataclass(frozen=True, slots=True)
class Translation:
    """The parts of a body by setting, and a sentence for each setting that is not sent unchanged."""

    parts: Mapping[str, Fields]
    notes: tuple[str, ...] = ()


_NOTHING = Translation({})
_UNKNOWN = "not sent, since this API has no such parameter"
_UNADJUSTABLE = Thinking()


def _efforts(path: tuple[str, ...], words: Mapping[Level, str]) -> Thinking:
    """Return the thinking whose level is one word at this path of a body."""
    return Thinking(levels={level: _at(path, word) for level, word in words.items()})


def _at(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for key in reversed(path):
        value = {key: value}
    return cast("dict[str, Any]", value)


_EFFORT = ("reasoning_effort",)
_ALL: Final[Mapping[Level, str]] = {level: level for level in _ORDER}
_THREE: Final[Mapping[Level, str]] = {level: level for level in _ORDER[1:]}

# https://platform.openai.com/docs/guides/reasoning: models before gpt-5.1 always think.
_OPENAI: Final[tuple[tuple[str, Mapping[Level, str]], ...]] = (
    (r"\bgpt-5-pro\b", {"high": "high"}),
    (r"\bgpt-5(?![.\d])", {"none": "minimal", **_THREE}),
    (r"\bo[134]\b|\bgpt-oss\b", _THREE),
    ("", _ALL),
)


def _of_openai(*path: str) -> Families:
    return tuple((pattern, _efforts(path, words)) for pattern, words in _OPENAI)


OPENAI: Final = ParameterNames(thinking=_of_openai("reasoning_effort"))
"""https://platform.openai.com/docs/api-reference/chat; also for providers that a scenario defines."""
OPENROUTER: Final = ParameterNames(
    thinking=(
        (
            "",
            Thinking(
                levels={
                    "none": {"reasoning": {"enabled": False}},
                    **{level: {"reasoning": {"effort": level}} for level in _ORDER[1:]},
                },
                tokens={"reasoning": {"max_tokens": TOKENS}},
            ),
        ),
    )
)
"""https://openrouter.ai/docs/use-cases/reasoning-tokens"""
GEMINI: Final = ParameterNames(
    thinking=tuple(
        (
            pattern,
            Thinking(
                levels={level: {"reasoning_effort": word} for level, word in words.items()},
                tokens={"extra_body": {"google": {"thinking_config": {"thinking_budget": TOKENS}}}},
            ),
        )
        for pattern, words in (
            (r"gemini-2\.5-pro|gemini-[3-9]", {"none": "minimal", **_THREE}),  # always think
            ("", _ALL),
        )
    ),
    logprobs=None,
)
"""https://ai.google.dev/gemini-api/docs/openai"""
GROQ: Final = ParameterNames(
    thinking=(
        (r"gpt-oss", _efforts(_EFFORT, _THREE)),
        (r"qwen", _efforts(_EFFORT, {"none": "none", "medium": "default"})),
        ("", _UNADJUSTABLE),
    ),
    logprobs=None,
)
"""https://console.groq.com/docs/reasoning, https://console.groq.com/docs/openai"""
MISTRAL: Final = ParameterNames(
    thinking=((r"magistral", _UNADJUSTABLE), ("", _efforts(_EFFORT, {"none": "none", "high": "high"}))),
    seed="random_seed",
    logprobs=None,
)
"""https://docs.mistral.ai/api, https://docs.mistral.ai/capabilities/reasoning"""
DEEPSEEK: Final = ParameterNames(
    thinking=(
        (
            "",
            Thinking(
                levels={
                    "none": {"thinking": {"type": "disabled"}},
                    **{
                        level: {"thinking": {"type": "enabled"}, "reasoning_effort": level} for level in ("low", "high")
                    },
                },
            ),
        ),
    ),
    seed=None,
)
"""https://api-docs.deepseek.com/guides/thinking_mode"""
XAI: Final = ParameterNames(
    thinking=(
        (r"grok-3-mini", _efforts(_EFFORT, {"low": "low", "high": "high"})),
        (r"grok-4\.3\b", _efforts(_EFFORT, _ALL)),
        (r"grok-([23]\b|code|4(?!\.[4-9])|4\.(1|20)\b)", _UNADJUSTABLE),
        ("", _efforts(_EFFORT, _THREE)),
    )
)
"""https://docs.x.ai/docs/guides/reasoning"""
TOGETHER: Final = ParameterNames(
    thinking=(
        (r"gpt-oss", _efforts(_EFFORT, _THREE)),
        (
            "",
            Thinking(
                levels={"none": {"reasoning": {"enabled": False}}, "medium": {"reasoning": {"enabled": True}}},
            ),
        ),
    ),
    logprobs={"logprobs": 1},
)
"""https://docs.together.ai/docs/inference/chat/reasoning, https://docs.together.ai/reference/chat-completions"""
FIREWORKS: Final = ParameterNames(
    thinking=(
        (
            "",
            Thinking(
                levels={level: {"reasoning_effort": level} for level in _ORDER},
                tokens={"thinking": {"type": "enabled", "budget_tokens": TOKENS}},
                least=1024,
            ),
        ),
    )
)
"""https://docs.fireworks.ai/guides/reasoning"""


def _of_template(tokens: Fields | None) -> Families:
    """Return the thinking of servers that pass switches to a chat template. Templates know one of the two names."""
    switches = {on: {"enable_thinking": on, "thinking": on} for on in (False, True)}
    levels: dict[Level, Fields] = {"none": {"chat_template_kwargs": switches[False]}}
    for level in _ORDER[1:]:
        levels[level] = {"chat_template_kwargs": switches[True], "reasoning_effort": level}
    return (("", Thinking(levels=levels, tokens=tokens)),)


VLLM: Final = ParameterNames(thinking=_of_template(None))
"""https://docs.vllm.ai/en/stable/features/reasoning_outputs: a number of tokens needs a server option."""
SGLANG: Final = ParameterNames(
    thinking=_of_template(
        {"chat_template_kwargs": {"enable_thinking": True, "thinking": True, "thinking_budget": TOKENS}}
    )
)
"""https://docs.sglang.io/docs/advanced_features/thinking_budget"""
LLAMA_SERVER: Final = ParameterNames(
    thinking=(
        (r"smollm2", _UNADJUSTABLE),  # not a reasoning model
        *_of_template(
            {
                "chat_template_kwargs": {"enable_thinking": True, "thinking": True},
                "reasoning_budget_tokens": TOKENS,
            }
        ),
    )
)
"""https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md; also for embedded models."""
OLLAMA: Final = ParameterNames(thinking=(("", _efforts(_EFFORT, _ALL)),))
"""https://docs.ollama.com/api/openai-compatibility"""
LMSTUDIO: Final = ParameterNames(thinking=(("", _efforts(_EFFORT, _ALL)),), logprobs=None)
"""https://lmstudio.ai/docs/developer/openai-compat"""

RESPONSES: Final = ParameterNames(
    thinking=_of_openai("reasoning", "effort"),
    seed=None,
    logprobs={"include": ["message.output_text.logprobs"], "top_logprobs": 0},
)
"""https://platform.openai.com/docs/api-reference/responses"""
_ADAPTIVE: Final = Thinking(
    levels={
        "none": {"thinking": {"type": "disabled"}},
        **{level: {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}} for level in _ORDER[1:]},
    },
)
MESSAGES: Final = ParameterNames(
    thinking=(
        (r"claude-3(?![-.]7)|claude-(2|instant)", _UNADJUSTABLE),
        # From Claude 4.6 on, the model decides how much it thinks; from 4.7 on, a number of tokens is refused.
        (r"claude-[a-z]+-(4[-.]([6-9]|1\d)(?!\d)|[5-9](?!\d))", _ADAPTIVE),
        (
            "",
            Thinking(
                levels={"none": {"thinking": {"type": "disabled"}}},
                tokens={"thinking": {"type": "enabled", "budget_tokens": TOKENS}},
                least=1024,
            ),
        ),
    ),
    seed=None,
    logprobs=None,
    always_capped=True,
    thinking_excludes_temperature=True,
)
"""https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking"""


USUAL_MAX_TOKENS: Final = 16_384
"""The limit on a reply if the API requires one and neither the scenario nor `output_limits.toml` has one."""


def cap_of(words: ParameterNames, model: str, sampling: Sampling) -> int | None:
    """Return the limit on a reply to send: the scenario's, else the model's own if the API requires one, else None."""
    if sampling.max_tokens is not None or not words.always_capped:
        return sampling.max_tokens
    return most_output(model) or USUAL_MAX_TOKENS


@cache
def most_output(model: str) -> int | None:
    """Return the most tokens of one reply of a model, or None if `output_limits.toml` does not list it.

    The price catalog has no such number.
    """
    limits = tomllib.loads(files("agentsim.models").joinpath("output_limits.toml").read_text("utf-8"))["limits"]
    return next((tokens for pattern, tokens in limits if re.search(pattern, model.lower())), None)


def translated(
    words: ParameterNames,
    model: str,
    sampling: Sampling,
    *,
    takes_temperature: bool = True,
    extras: Sequence[Fields] = (),
) -> Translation:
    """Translate the portable settings to the parameters of a model's host.

    `extras` are the tables merged into the body later, which may turn thinking on or off as well.
    """
    parts: dict[str, Fields] = {}
    notes: list[str] = []

    def placed(setting: str, fields: Fields | None, why: str = "") -> None:
        if fields is not None:
            parts[setting] = fields
        if why:
            notes.append(f"{setting} = {_shown(getattr(sampling, setting))}: {why}")

    if sampling.reasoning is not None:
        cap = cap_of(words, model, sampling)
        placed("reasoning", *_reasoning(_thinking(words, model), sampling.reasoning, cap))
    if sampling.temperature is not None:
        if not takes_temperature:
            placed("temperature", None, "not sent, since supports_temperature is false")
        elif words.thinking_excludes_temperature and _thinks(*parts.values(), *extras):
            placed("temperature", None, "not sent, since a model that thinks takes none there")
        else:
            placed("temperature", {"temperature": sampling.temperature})
    if sampling.seed is not None:
        seed = None if words.seed is None else {words.seed: sampling.seed}
        placed("seed", seed, _UNKNOWN if seed is None else "")
    if sampling.logprobs:
        placed("logprobs", words.logprobs, _UNKNOWN if words.logprobs is None else "")
    return Translation(parts, tuple(notes)) if parts or notes else _NOTHING


def _thinks(*fields: Fields) -> bool:
    """Return whether these fields turn thinking on; the last one that mentions it counts."""
    said = [each["thinking"] for each in fields if isinstance(each.get("thinking"), Mapping)]
    return bool(said) and said[-1].get("type") in {"enabled", "adaptive"}


def _thinking(words: ParameterNames, model: str) -> Thinking:
    name = model.lower()
    return next((thinking for pattern, thinking in words.thinking if re.search(pattern, name)), _UNADJUSTABLE)


def _reasoning(thinking: Thinking, wanted: Reasoning, cap: int | None) -> tuple[Fields | None, str]:
    """Return the part of a body that asks for this much thinking, or None, and a note on it or ""."""
    if isinstance(wanted, str) and wanted in thinking.levels:
        return thinking.levels[wanted], ""
    if thinking.tokens is not None and wanted != "none":
        tokens = wanted if isinstance(wanted, int) else LEVEL_TOKENS[wanted]
        return _budget(thinking, tokens, cap, given=isinstance(wanted, int))
    if not thinking.levels:
        return None, "not sent, since this model's reasoning cannot be set"
    level = _nearest(wanted, [level for level in _ORDER if level in thinking.levels])
    number = "takes no number of tokens" if isinstance(wanted, int) else "takes no such level"
    return thinking.levels[level], f'this model {number}; "{level}" is sent, the nearest'


def _budget(thinking: Thinking, tokens: int, cap: int | None, *, given: bool) -> tuple[Fields | None, str]:
    """Return the part that asks for a number of tokens below `cap`, which the answer shares, and a note on it or ""."""
    asked = max(tokens, thinking.least)
    if cap is not None and asked >= cap:
        asked = max(cap // 2, thinking.least)
        if asked >= cap:
            return (
                None,
                f"not sent, since max_tokens = {cap:,} leaves no room for thinking",
            )
    why = counted(asked, "token is sent", "tokens are sent", ",") if asked != tokens or not given else ""
    if why and asked < tokens:
        why += f", since max_tokens is {cap:,}"
    elif why and asked > tokens:
        why += ", the fewest"
    assert thinking.tokens is not None
    return cast("Fields", _filled(thinking.tokens, asked)), why


def _filled(value: Any, tokens: int) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(each, tokens) for key, each in value.items()}
    return tokens if value == TOKENS else value


def _nearest(wanted: Reasoning, levels: list[Level]) -> Level:
    """Return the nearest level, the higher of two.

    "none" is replaced, or replaces another, only if there is no choice.
    """
    level = wanted if isinstance(wanted, str) else _level_of(wanted)
    same = [each for each in levels if (each == "none") == (level == "none")] or levels
    return min(same, key=lambda each: (abs(_ORDER.index(each) - _ORDER.index(level)), -_ORDER.index(each)))


def _level_of(tokens: int) -> Level:
    """Return the level whose number of tokens is nearest, by ratio."""
    return min(LEVEL_TOKENS, key=lambda level: abs(math.log(LEVEL_TOKENS[level] / tokens)))


def _shown(value: float | str) -> str:
    """Return a setting as TOML writes it."""
    return json.dumps(value)


Structured: TypeAlias = Literal["json_schema", "tool", "json_object", "prompt", "auto"]
"""The way a reply is held to its schema: `json_schema` (enforced as the answer), `tool` (as the arguments of a forced
function call), `json_object` (any JSON object), `prompt` (by the words of the prompt alone), or `auto` (the first of
the wire's `MODES` that the host accepts)."""
WireName: TypeAlias = Literal["chat", "responses", "messages"]
"""The API to use: OpenAI's chat completions, its Responses, or Anthropic's messages."""
Service: TypeAlias = Literal["openai", "azure", "anthropic", "bedrock", "vertex"]
"""A service with an official client, which has its own addresses and headers."""
MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens", "max_output_tokens"]

# Some provider, or the strict mode of another, refuses these keywords. The reply is checked against them anyway.
_NOT_PORTABLE = (
    *("$schema", "title", "default", "format", "pattern", "multipleOf", "minLength", "maxLength"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems"),
)
# Local servers support these in grammars, but a length in the thousands makes a grammar that takes minutes or is
# dropped silently.
_SLOW_IN_GRAMMARS = ("$schema", "minLength", "maxLength")

# Servers' names for the limit on a reply. Cost estimates depend on it, so only `max_tokens` may set it.
_MAX_TOKENS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict"})
# Keys that a player's `client_kwargs` may not set, and the setting to use instead.
_NEVER_EXTRA = {
    "model": "`model`",
    **dict.fromkeys(("messages", "input", "instructions", "system"), "the prompt"),
    "background": "no option, since answers are read whole",
    "stream": "no option, since answers are read whole",
    "stream_options": "no option, since answers are read whole",
    "n": "no option, since one answer is asked for",
    "timeout": "`timeout_s`",
    "extra_headers": "`api_key_env` of a provider",
    "extra_query": "`base_url` of a provider",
    "api_key": "`api_key_env` of a provider",
    "base_url": "`base_url` of a provider",
}


def extra_problem(extra: Mapping[str, Any]) -> str | None:
    """Return why these extra parameters cannot be sent, or None."""
    for key in extra:
        if key in _NEVER_EXTRA:
            return f"`{key}` cannot be set there; it is set by {_NEVER_EXTRA[key]}"
        if key in _MAX_TOKENS:
            return f"`{key}` cannot be set there; say max_tokens"
    inner = extra.get("extra_body", {})
    if not isinstance(inner, Mapping):
        return "`extra_body` must be a table"
    if inner and (problem := extra_problem(inner)):  # `extra_body` is merged into the same body
        return f"in `extra_body`, {problem}"
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        return "the extra parameters hold something that JSON cannot express (a date, nan, inf)"
    return None


_ALWAYS_RECORDED = frozenset(
    ("api_key_env", "spacing_ms", "structured", "max_tokens_field", "strip_schema_keywords", "extra_body")
)
# Fields of a profile that are copied from a scenario's table unchanged.
_AS_SET = (
    *("requests_per_minute", "tokens_per_minute", "wire", "structured", "max_tokens_field", "extra_body"),
    "supports_temperature",
)
_ROUTER = "openrouter"  # a router: each of its models is served by other hosts
_OF_MESSAGES = {"anthropic", "bedrock", "vertex"}  # the services with the messages API
_CLIENT_OPTIONS = ("api_version", "region", "project")
_SHAPING = {
    *("pin", "wire", "structured", "max_tokens_field", "strip_schema_keywords", "extra_body", "supports_temperature")
}


def _without_problem(problem_of: Callable[[Any], str | None]) -> AfterValidator:
    """Return a validator that rejects a value for which `problem_of` returns a problem."""

    def checked(value: Any) -> Any:
        if value is not None and (problem := problem_of(value)):
            raise ValueError(problem)
        return value

    return AfterValidator(checked)


def _variable_problem(name: str) -> str | None:
    fits = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    return None if fits else "must be the name of an environment variable, never the key itself"


class ProviderSettings(StrictTable):
    """A `[providers.<name>]` table; what is left out comes from the built-in profile of that name."""

    # Errors must not repeat these values: people paste keys into the wrong field.
    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: Annotated[str | None, _without_problem(url_problem)] = None
    """Where the API begins, often ending in /v1; required if the provider is not built in"""
    api_key_env: Annotated[str | None, _without_problem(_variable_problem)] = None
    """Environment variable with the key; a provider of your own is sent no key without it"""
    spacing_ms: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Milliseconds from start to start of calls to one host with one key"""
    requests_per_minute: int | None = Field(default=None, ge=1, le=10_000_000)
    """Calls a minute, to one host with one key"""
    tokens_per_minute: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """Tokens a minute, of prompts and replies, to one host with one key"""
    structured: Structured | None = None
    """How the form of an answer is first asked for; if refused, the next way is tried"""
    max_tokens_field: MaxTokensField | None = None
    """What the provider calls the cap on a reply"""
    strip_schema_keywords: list[str] | None = None
    """Keywords left out of JSON Schemas"""
    extra_body: Annotated[dict[str, Any] | None, _without_problem(extra_problem)] = None
    """Fields for the body of every call"""
    supports_temperature: bool | None = None
    """Whether a temperature may be sent"""
    wire: WireName | None = None
    """The API: chat completions, OpenAI's Responses, or Anthropic's messages"""
    api_version: str | None = None
    """The version of Azure's API, such as 2024-10-21"""
    region: Annotated[str | None, Field(pattern=r"^[a-z0-9-]{2,40}$")] = None
    """The region of Bedrock or Vertex"""
    project: str | None = None
    """The project of Vertex"""
    pin: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$")] = None
    """The only host of OpenRouter that answers, such as deepinfra"""
    warm: Literal["auto", "on", "off"] | None = None
    """Whether one call of a wave goes ahead of those that begin alike; auto: if the provider is known to cache"""

    def record(self) -> dict[str, Any]:
        """Return the part that a history keeps: no address; newer settings only if they are set."""
        kept = self.model_dump(mode="json", exclude={"base_url"})
        return {name: value for name, value in kept.items() if value is not None or name in _ALWAYS_RECORDED}

    def request_part(self) -> dict[str, Any]:
        """Return the settings that shape a request, without those for its address and timing."""
        return self.model_dump(mode="json", include=_SHAPING, exclude_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything needed to talk to one provider, with no value left open.

    `hosts` are patterns of its own hosts besides that of `base_url`. `service` selects the official client, with
    its `client_options`; `wire_paths` are the base paths of APIs other than its `wire` at its hosts. `key_envs` are
    tried in order; if empty, no key is sent. `structured_body` is merged into the body along with a JSON Schema,
    `extra_body` into every body. `pin` is the one host of a router to use. A provider that does not support
    temperature is sent none. `chat_parameters` are the parameters for portable settings in chat completions. With
    `warm` the provider caches prompt prefixes across all calls of a model. The hints complete the messages for a
    server that cannot be reached, a prompt that is too long, and a model that does not exist (`{model}` is its
    name).
    """

    provider: str
    base_url: str
    key_envs: tuple[str, ...] = ()
    spacing_s: float = 0.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    structured: Structured = "json_schema"
    wire: WireName = "chat"
    service: Service = "openai"
    client_options: Mapping[str, str] = field(default_factory=dict)
    wire_paths: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    max_tokens_field: MaxTokensField = "max_tokens"
    strip_schema_keywords: frozenset[str] = frozenset(_SLOW_IN_GRAMMARS)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    structured_body: Mapping[str, Any] = field(default_factory=dict)
    pin: str | None = None
    supports_temperature: bool = True
    chat_parameters: ParameterNames = OPENAI
    warm: bool = False
    unreachable_hint: str = "is the server running and base_url right?"
    context_hint: str = "play with shorter memories and fewer players, or a model of a longer context"
    unknown_model_hint: str = "is the model's name right, and does base_url end where the API begins (often /v1)?"

    @property
    def parameter_names(self) -> ParameterNames:
        """The parameters for portable settings in the API of this profile."""
        return {"chat": self.chat_parameters, "responses": RESPONSES, "messages": MESSAGES}[self.wire]

    def translated(self, model: str, sampling: Sampling) -> Translation:
        """Translate the portable settings for a model, each part keyed by its setting."""
        inner = sampling.extra.get("extra_body")
        extras = (self.extra_body, sampling.extra, inner if isinstance(inner, Mapping) else {})
        takes = self.supports_temperature
        return translated(self.parameter_names, model, sampling, takes_temperature=takes, extras=extras)

    @property
    def is_own(self) -> bool:
        """True for the built-in provider's own address."""
        return is_own(self.provider, self.base_url)

    @property
    def host(self) -> str:
        """The `host:port` of the address."""
        return urlsplit(self.base_url).netloc


_PROFILES = (
    Profile(
        provider="openai",
        base_url="https://api.openai.com/v1",
        key_envs=("OPENAI_API_KEY",),
        max_tokens_field="max_completion_tokens",
        strip_schema_keywords=frozenset(_NOT_PORTABLE),
        warm=True,
        unreachable_hint="is there a network?",
    ),
    Profile(
        provider="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key_envs=("OPENROUTER_API_KEY",),
        strip_schema_keywords=frozenset(_NOT_PORTABLE),
        # Otherwise the request may be routed to a host that drops the schema.
        structured_body={"provider": {"require_parameters": True}},
        chat_parameters=OPENROUTER,
        warm=True,
        unreachable_hint="is there a network?",
        unknown_model_hint="is the id right, and does some host of it take every parameter (temperature, schema)?",
    ),
    Profile(
        provider="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_envs=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        strip_schema_keywords=frozenset((*_NOT_PORTABLE, "additionalProperties", "propertyNames")),
        chat_parameters=GEMINI,
        warm=True,
        unreachable_hint="is there a network?",
    ),
    Profile(
        provider="anthropic",
        base_url="https://api.anthropic.com",
        key_envs=("ANTHROPIC_API_KEY",),
        wire="messages",
        service="anthropic",
        wire_paths={"chat": "/v1"},
        strip_schema_keywords=frozenset(_NOT_PORTABLE),
        warm=True,
        unreachable_hint="is there a network?",
    ),
    Profile(
        provider="bedrock",
        base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
        key_envs=("AWS_BEARER_TOKEN_BEDROCK",),
        wire="messages",
        service="bedrock",
        hosts=(r"bedrock-runtime(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?",),
        structured="tool",  # not all models have structured outputs
        wire_paths={"chat": "/openai/v1", "responses": "/openai/v1"},
        strip_schema_keywords=frozenset(_NOT_PORTABLE),
        warm=True,
        unreachable_hint="is there a network, and base_url of the right region?",
    ),
    Profile(
        provider="vertex",
        base_url="https://aiplatform.googleapis.com/v1",
        key_envs=("VERTEX_ACCESS_TOKEN",),
        wire="messages",
        service="vertex",
        hosts=(r"([a-z0-9-]+-)?aiplatform\.googleapis\.com", r"aiplatform\.(us|eu)\.rep\.googleapis\.com"),
        structured="tool",
        wire_paths={"chat": "/v1/projects/{project}/locations/{region}/endpoints/openapi"},
        strip_schema_keywords=frozenset(_NOT_PORTABLE),
        warm=True,
        unreachable_hint="is there a network, and base_url of the right region?",
    ),
    Profile(
        provider="azure",
        base_url="",  # each customer has their own address
        key_envs=("AZURE_OPENAI_API_KEY",),
        service="azure",
        client_options={"api_version": "2024-10-21"},
        hosts=(r"[a-z0-9-]+\.(openai|cognitiveservices|services\.ai)\.azure\.com",),
        max_tokens_field="max_completion_tokens",
        strip_schema_keywords=frozenset(_NOT_PORTABLE),
        warm=True,
        unreachable_hint="is base_url https://NAME.openai.azure.com/openai?",
        unknown_model_hint="is there a deployment of this name?",
    ),
    *(
        Profile(
            provider=provider,
            base_url=base_url,
            key_envs=(variable,),
            strip_schema_keywords=frozenset(_NOT_PORTABLE),
            chat_parameters=names,
            warm=warm,
            unreachable_hint="is there a network?",
        )
        for provider, base_url, variable, warm, names in (
            ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", False, GROQ),
            ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", False, MISTRAL),
            ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", True, DEEPSEEK),
            ("xai", "https://api.x.ai/v1", "XAI_API_KEY", True, XAI),
            ("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", False, TOGETHER),
            ("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", False, FIREWORKS),
        )
    ),
    Profile(
        provider="sglang",
        chat_parameters=SGLANG,
        base_url="http://127.0.0.1:30000/v1",
        warm=True,  # the radix cache is on by default
        unreachable_hint="is `python -m sglang.launch_server` running?",
        context_hint="start the server with a larger `--context-length`",
        unknown_model_hint="is it the model that the server was started with?",
    ),
    Profile(
        provider="ollama",
        chat_parameters=OLLAMA,
        base_url="http://127.0.0.1:11434/v1",
        unreachable_hint="is `ollama serve` running?",
        context_hint="set OLLAMA_CONTEXT_LENGTH for the server",
        unknown_model_hint="run `ollama pull {model}`",
    ),
    Profile(
        provider="vllm",
        chat_parameters=VLLM,
        base_url="http://127.0.0.1:8000/v1",
        warm=True,  # automatic prefix caching is on by default
        unreachable_hint="is `vllm serve` running?",
        context_hint="start the server with a larger `--max-model-len`",
        unknown_model_hint="is it the model that `vllm serve` was started with?",
    ),
    Profile(
        provider="lmstudio",
        chat_parameters=LMSTUDIO,
        base_url="http://127.0.0.1:1234/v1",
        unreachable_hint="is LM Studio's local server started?",
        context_hint="load the model with a larger context length",
        unknown_model_hint="load it in LM Studio, or run `lms load {model}`",
    ),
    Profile(
        provider="llama-server",
        chat_parameters=LLAMA_SERVER,
        base_url="http://127.0.0.1:8080/v1",
        unreachable_hint="is llama.cpp's `llama-server` running?",
        context_hint="start the server with a larger context (`-c`)",
        unknown_model_hint="is it the model (or the --alias) that `llama-server` was started with?",
    ),
)
BUILT_IN: Mapping[str, Profile] = {profile.provider: profile for profile in _PROFILES}


def longer_context_hint(model: str) -> str:
    """Return how to give the server a longer context, for its provider or for several servers."""
    profile = BUILT_IN.get(model.partition("/")[0])
    if profile is not None:
        return profile.context_hint
    known = ("Ollama: OLLAMA_CONTEXT_LENGTH", "vLLM: --max-model-len", "llama-server: -c", "SGLang: --context-length")
    return f"give the server a longer one ({', '.join(known)}), or play with shorter memories"


_BASE_URL_ENV = {"openai": "OPENAI_BASE_URL", "openrouter": "OPENROUTER_BASE_URL", "ollama": "OLLAMA_BASE_URL"}

_AZURE_RESPONSES = "2025-04-01-preview"

_REGIONAL = {
    "bedrock": "https://bedrock-runtime.{region}.amazonaws.com",
    "vertex": "https://{region}-aiplatform.googleapis.com/v1",
}
_VERTEX_WIDE: Mapping[tuple[str, str | None], str] = {
    ("vertex", "global"): "https://aiplatform.googleapis.com/v1",
    ("vertex", "us"): "https://aiplatform.us.rep.googleapis.com/v1",
    ("vertex", "eu"): "https://aiplatform.eu.rep.googleapis.com/v1",
}


def resolve(provider: str, overrides: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> Profile:
    """Return the profile of a provider. Its address is the scenario's, else the environment's, else the built-in one.

    At an address that is not the provider's own, its key variables are not used: only `api_key_env` sends a key there.
    Raises `ScenarioError` for an unknown provider, a missing setting, or an unusable address.
    """
    settings = overrides.get(provider, ProviderSettings())
    if provider not in BUILT_IN and settings.base_url is None:
        raise _unknown(provider, overrides)
    start = BUILT_IN.get(provider) or Profile(provider=provider, base_url="")
    base_url = address_of(provider, overrides, env)
    own = is_own(provider, base_url)
    if not base_url:
        raise ScenarioError(
            f"{provider} has an address of its own for every customer", key=f"providers.{provider}.base_url"
        )
    if start.service == "vertex" and (settings.wire in {None, "messages"} or own) and not settings.project:
        raise ScenarioError("the paths of vertex name a project", key=f"providers.{provider}.project")
    key_envs = start.key_envs if own else ()
    if settings.api_key_env is not None:
        key_envs = (settings.api_key_env,)
    given: dict[str, Any] = {name: value for name in _AS_SET if (value := getattr(settings, name)) is not None}
    if settings.spacing_ms is not None:
        given["spacing_s"] = settings.spacing_ms / 1000
    if settings.wire is not None and (settings.wire == "messages") != (start.service in _OF_MESSAGES):
        given["service"] = "anthropic" if settings.wire == "messages" else "openai"
    wire = settings.wire or start.wire
    if own and wire in start.wire_paths and urlsplit(base_url).path.rstrip("/") == urlsplit(start.base_url).path:
        path = start.wire_paths[wire].format(project=settings.project, region=settings.region or "global")
        base_url = urlsplit(base_url)._replace(path=path).geturl()
    options = {name: value for name in _CLIENT_OPTIONS if (value := getattr(settings, name)) is not None}
    given["client_options"] = {**_default_options(start, wire, base_url), **options}
    given |= _pinned(start, settings)
    if settings.strip_schema_keywords is not None:
        given["strip_schema_keywords"] = frozenset(settings.strip_schema_keywords)
    # A hosted service's name at another address proves nothing about caching; a local server's name does.
    warm = settings.warm == "on" or (settings.warm != "off" and start.warm and (own or not start.key_envs))
    return replace(start, base_url=normal(base_url), key_envs=key_envs, warm=warm, **given)


def _pinned(start: Profile, settings: ProviderSettings) -> dict[str, Any]:
    """Return the profile fields that a `pin` changes: every body asks OpenRouter for this host, without fallbacks.

    Source: https://openrouter.ai/docs/features/provider-routing (`order`, `only`, `allow_fallbacks`). Raises
    `ScenarioError` for a built-in provider other than OpenRouter.
    """
    host = settings.pin
    if host is None:
        return {}
    if start.provider in BUILT_IN and start.provider != _ROUTER:
        problem = f"{start.provider} has no hosts to choose from; {_ROUTER} has"
        raise ScenarioError(problem, key=f"providers.{start.provider}.pin")
    body = start.extra_body if settings.extra_body is None else settings.extra_body
    said = body.get("provider")
    preferences = said if isinstance(said, Mapping) else {}
    return {
        "pin": host,
        "extra_body": {**body, "provider": {**preferences, "order": [host], "only": [host], "allow_fallbacks": False}},
        "unknown_model_hint": f"is the id right, and does the host that it is pinned to, {host}, serve it?",
    }


def is_host(name: str, slug: str) -> bool:
    """Return whether a host's name in an answer (`DeepInfra`) matches a slug (`deepinfra/fp8`).

    OpenRouter's names extend the slug (`novita`, `NovitaAI`) or shorten it (`google-vertex`, `Google`).
    """
    said, asked = (re.sub(r"[^a-z0-9]", "", each.lower()) for each in (name, slug.partition("/")[0]))
    return said.startswith(asked) or (bool(said) and asked.startswith(said))


def _default_options(start: Profile, wire: WireName, base_url: str) -> Mapping[str, str]:
    """Return the client options that the scenario leaves out. Azure's API version depends on the wire and the address.

    Azure's newest API, at `/openai/v1`, has no version; Responses need a newer version than chat.
    """
    if start.service != "azure":
        return start.client_options
    if is_azure_v1(base_url):
        return {}
    return {"api_version": _AZURE_RESPONSES} if wire == "responses" else start.client_options


def _unknown(provider: str, overrides: Mapping[str, ProviderSettings]) -> ScenarioError:
    if provider in overrides:
        return ScenarioError("a provider of your own needs a base_url", key=f"providers.{provider}.base_url")
    names = [*BUILT_IN, *(name for name in overrides if name not in BUILT_IN)]
    near = get_close_matches(provider, [*names, "local", "bot"], n=1)
    if re.fullmatch(r"llama[._-]?cpp", provider.lower()):
        near = ["llama-server"]  # people type the project's name; the provider is named after the program
    guess = f"; did you mean {near[0]}?" if near else "; a bare OpenRouter id needs `--provider openrouter`"
    return ScenarioError(
        f"there is no provider {provider!r}{guess}",
        valid=f"{', '.join(names)}, local, bot, or a [providers.{provider}] table with a base_url",
    )


def _address_from(env: Mapping[str, str], provider: str) -> str | None:
    variable = _BASE_URL_ENV.get(provider, "")
    address = env.get(variable, "").strip()
    if not address and provider == "ollama" and (host := env.get("OLLAMA_HOST", "").strip()):
        variable, address = "OLLAMA_HOST", ollama_address(host)
    if address and (problem := url_problem(address)):
        raise ScenarioError(f"the environment variable {variable} {problem}")
    return address or None


def address_of(provider: str, overrides: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str:
    """Return the base URL of a provider: the scenario's, the environment's, the region's, the built-in one, or ""."""
    settings, known = overrides.get(provider), BUILT_IN.get(provider)
    said = settings.base_url if settings is not None else None
    regional = _REGIONAL.get(provider, "") if settings is not None and settings.region else ""
    if regional and settings is not None:
        regional = _VERTEX_WIDE.get((provider, settings.region), regional.format(region=settings.region))
    return said or _address_from(env, provider) or regional or (known.base_url if known is not None else "")


def is_own(provider: str, address: str) -> bool:
    """Return whether an address is the built-in provider's own."""
    known = BUILT_IN.get(provider)
    here, there = urlsplit(address), urlsplit(known.base_url if known is not None else "")
    host, own_host = here.hostname or "", there.hostname or ""
    if known is not None and here.scheme == "https" and any(re.fullmatch(each, host) for each in known.hosts):
        return True
    own = host == own_host or host.endswith(f".{own_host}")
    return bool(own_host) and here.scheme == there.scheme and own
