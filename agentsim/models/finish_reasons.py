"""Finish reasons: the words by which hosts say how an answer ended, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Ending: TypeAlias = Literal["whole", "cut", "filtered", "failed"]
"""How an answer ended: as the model wanted, at a limit, at a filter, or because the host broke down."""

# The words of public references, in lower case: OpenAI (chat, Responses), Anthropic, Gemini, Mistral, DeepSeek, Z.ai,
# vLLM, SGLang, llama.cpp, TGI, Ollama, Cohere, xAI, OpenRouter.
FINISH_REASONS: Final[Mapping[str, Ending]] = {
    **dict.fromkeys(
        (
            "stop",
            "stop_sequence",
            "end_turn",
            "eos",
            "eos_token",
            "completed",
            "complete",
            "finish",
            "finished",
            "done",
        ),
        "whole",
    ),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call", "pause_turn"), "whole"),
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "model_length",
            "model_context_window_exceeded",
            "context_length",
        ),
        "cut",
    ),
    **dict.fromkeys(("incomplete", "token_limit", "max_length", "load"), "cut"),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "sensitive", "safety", "refusal", "recitation", "blocklist"), "filtered"
    ),
    **dict.fromkeys(("prohibited_content", "spii", "image_safety", "guardrail_intervened", "error_toxic"), "filtered"),
    **dict.fromkeys(
        ("error", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled", "failed", "other"),
        "failed",
    ),
}


def ending(finish_reason: str | None) -> Ending | None:
    """Return how an answer with this finish reason ended, or None for a word that no table knows."""
    return "whole" if finish_reason is None else FINISH_REASONS.get(finish_reason.lower())
