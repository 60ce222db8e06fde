"""The models that are known to think, and the caps on their replies."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.models.prices import small_cap
from tests.amounts import each_row

THINK = (
    *("openai/o3", "openai/o4-mini", "openai/gpt-5-mini", "openrouter/openai/gpt-5", "openrouter/openai/gpt-oss-120b"),
    *("gemini/gemini-2.5-pro", "openrouter/google/gemini-2.5-flash", "gemini/gemini-3-pro-preview"),
    *("openrouter/deepseek/deepseek-r1", "ollama/deepseek-r1:8b", "openrouter/deepseek/deepseek-r1-0528:free"),
    *("ollama/qwen3:8b", "vllm/Qwen/Qwen3-8B", "openrouter/qwen/qwen3-235b-a22b-thinking-2507", "ollama/qwq"),
    *("openrouter/mistralai/magistral-small-2506", "openrouter/x-ai/grok-4", "openrouter/x-ai/grok-3-mini"),
    *("openrouter/z-ai/glm-4.6", "openrouter/minimax/minimax-m2", "openrouter/moonshotai/kimi-k2-thinking"),
    *("local/DeepSeek-R1-Distill.gguf", "openrouter/anthropic/claude-3.7-sonnet:thinking"),
)
ANSWER = (
    *("openai/gpt-4.1", "openai/gpt-4o", "openai/gpt-5-chat-latest", "openrouter/openai/gpt-4.1-mini"),
    *("gemini/gemini-2.5-flash-lite", "gemini/gemini-2.0-flash", "openrouter/anthropic/claude-haiku-4.5"),
    *("openrouter/deepseek/deepseek-chat-v3.1", "openrouter/meta-llama/llama-3.3-70b-instruct"),
    *("openrouter/qwen/qwen3-235b-a22b-2507", "ollama/qwen2.5", "openrouter/qwen/qwen3-coder", "ollama/llama3.2"),
    *("openrouter/x-ai/grok-3", "openrouter/x-ai/grok-4-fast-non-reasoning", "local/smollm2-135m", "bot/random"),
)


@each_row("model", THINK)
def test_a_model_that_thinks_needs_room_for_it(model: str) -> None:
    assert small_cap(model, 4095) == 4096
    assert small_cap(model, 4096) is None
    assert small_cap(model, None) is None, "without a cap there is all the room"


@each_row("model", ANSWER)
def test_one_that_answers_at_once_may_have_any_cap(model: str) -> None:
    assert small_cap(model, 50) is None


@each_row(
    "extra",
    [
        {"reasoning_effort": "minimal"},
        {"reasoning": {"effort": "none"}},
        {"extra_body": {"reasoning": {"enabled": False}}},
        {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}},
        {"thinking": {"type": "disabled"}},
        {"thinking_config": {"thinking_budget": 0}},
        {"thinking_config": {"thinking_budget": 128}},
    ],
)
def test_thinking_that_is_off_or_bounded_needs_none(extra: dict[str, Any]) -> None:
    assert small_cap("openrouter/qwen/qwen3-8b", 500, extra) is None
    assert small_cap("openrouter/qwen/qwen3-8b", 500, {}, extra) is None


@pytest.mark.parametrize("extra", [{"reasoning_effort": "high"}, {"thinking_config": {"thinking_budget": 2000}}])
def test_thinking_that_is_on_needs_it(extra: dict[str, Any]) -> None:
    assert small_cap("openai/gpt-5", 500, extra) == 4096
