"""Settings: the portable settings reasoning, seed, logprobs and temperature in the parameters of each API and host.

The tables are data from the public references beside them. A setting that a host does not have is left out; one that it
has only in another form becomes the nearest form; `Translation.notes` report both. Each part of a body is keyed by its
setting, so that a setting which a model refuses can be left out alone.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias, cast

from agentsim.engine.wording import counted
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
class Words:
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


OPENAI: Final = Words(thinking=_of_openai("reasoning_effort"))
"""https://platform.openai.com/docs/api-reference/chat; also for providers that a scenario defines."""
OPENROUTER: Final = Words(
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
GEMINI: Final = Words(
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
GROQ: Final = Words(
    thinking=(
        (r"gpt-oss", _efforts(_EFFORT, _THREE)),
        (r"qwen", _efforts(_EFFORT, {"none": "none", "medium": "default"})),
        ("", _UNADJUSTABLE),
    ),
    logprobs=None,
)
"""https://console.groq.com/docs/reasoning, https://console.groq.com/docs/openai"""
MISTRAL: Final = Words(
    thinking=((r"magistral", _UNADJUSTABLE), ("", _efforts(_EFFORT, {"none": "none", "high": "high"}))),
    seed="random_seed",
    logprobs=None,
)
"""https://docs.mistral.ai/api, https://docs.mistral.ai/capabilities/reasoning"""
DEEPSEEK: Final = Words(
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
XAI: Final = Words(
    thinking=(
        (r"grok-3-mini", _efforts(_EFFORT, {"low": "low", "high": "high"})),
        (r"grok-4\.3\b", _efforts(_EFFORT, _ALL)),
        (r"grok-([23]\b|code|4(?!\.[4-9])|4\.(1|20)\b)", _UNADJUSTABLE),
        ("", _efforts(_EFFORT, _THREE)),
    )
)
"""https://docs.x.ai/docs/guides/reasoning"""
TOGETHER: Final = Words(
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
FIREWORKS: Final = Words(
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


VLLM: Final = Words(thinking=_of_template(None))
"""https://docs.vllm.ai/en/stable/features/reasoning_outputs: a number of tokens needs a server option."""
SGLANG: Final = Words(
    thinking=_of_template(
        {"chat_template_kwargs": {"enable_thinking": True, "thinking": True, "thinking_budget": TOKENS}}
    )
)
"""https://docs.sglang.io/docs/advanced_features/thinking_budget"""
LLAMA_SERVER: Final = Words(
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
OLLAMA: Final = Words(thinking=(("", _efforts(_EFFORT, _ALL)),))
"""https://docs.ollama.com/api/openai-compatibility"""
LMSTUDIO: Final = Words(thinking=(("", _efforts(_EFFORT, _ALL)),), logprobs=None)
"""https://lmstudio.ai/docs/developer/openai-compat"""

RESPONSES: Final = Words(
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
MESSAGES: Final = Words(
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


def cap_of(words: Words, model: str, sampling: Sampling) -> int | None:
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
    words: Words, model: str, sampling: Sampling, *, takes_temperature: bool = True, extras: Sequence[Fields] = ()
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


def _thinking(words: Words, model: str) -> Thinking:
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
