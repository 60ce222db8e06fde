"""Finish reasons: the words by which hosts say how an answer ended, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from agentsim.models.error_words import plain

Ending: TypeAlias = Literal["whole", "cut", "full", "filtered", "failed"]
"""The end of an answer: as the model intended, at a limit on tokens, at the end of the context, at a content filter, or
because the host failed."""

_WORDS: Final[Mapping[Ending, str]] = {
    "whole": """
        stop stop_sequence stopped end_turn end eos eos_token eos_token_id completed complete finish finished done
        normal success tool_calls tool_call tool_use function_call pause_turn compaction malformed_function_call
        malformed_tool_use malformed_model_output malformed_response unexpected_tool_call too_many_tool_calls
        missing_thought_signature final eos_found stop_string_found stop_string stop_token word
    """,
    "cut": """
        length max_tokens max_output_tokens max_completion_tokens max_new_tokens max_len max_length token_limit
        max_token_limit incomplete not_finished limit output_limit time_limit truncated truncated_final repetition
        max_tokens_reached max_new_tokens_reached max_predicted_tokens_reached max_length_reached token_limit_reached
        reached_max_tokens length_limit output_token_limit max_output_reached token_limit_exceeded
        length_exceeded max_token max_tokens_exceeded max_output_token max_output_tokens_exceeded
        max_output_tokens_reached length_capped length_cutoff partial tokens stop_limit stop_length budget_exceeded
    """,
    "full": """
        model_length model_context_window_exceeded context_length context_length_exceeded context_window_exceeded
        context_window context_limit max_context max_context_length max_model_len context context_length_reached
        max_context_reached max_context_tokens kv_cache_full context_window_full context_full exceeded_context
        context_overflow max_model_length
    """,
    "filtered": """
        content_filter content_filtered content_filter_error content_policy_violation sensitive safety safety_filter
        refusal refused recitation blocklist blocked prohibited_content spii language model_armor image_safety
        image_prohibited_content image_recitation guardrail guardrail_intervened guardrails error_toxic moderation
        data_inspection_failed blacklist prohibited harmful unsafe censored violation policy_violation risk_control
        content_moderation content_blocked content_risk safety_block safety_blocked input_sensitive output_sensitive
        new_sensitive prompt_blocked moderated
    """,
    "failed": """
        error network_error insufficient_system_resource insufficient_system_resources abort aborted cancel cancelled
        canceled user_cancel failed failure timeout timed_out internal_error server_error
        internal_server_error error_limit overloaded preempted load other image_other user_stopped
        interrupted user_cancelled user_canceled error_unspecified
        model_unloaded server_overloaded in_progress queued
    """,
}
"""The words of public references, in lower case with underscores: OpenAI (chat, Responses), Azure, Anthropic, Bedrock,
Gemini, Mistral, DeepSeek, Z.ai, Qwen, MiniMax, GigaChat, Yandex, SenseNova, vLLM, SGLang, llama.cpp, LM Studio, TGI,
Ollama, Cohere, watsonx, xAI, OpenRouter."""
FINISH_REASONS: Final[Mapping[str, Ending]] = {word: how for how, words in _WORDS.items() for word in words.split()}
_CALLS: Final = frozenset(("tool_calls", "tool_call", "tool_use", "function_call"))
_LONGEST: Final = 100  # characters of a word that are read
_PREFIX: Final = re.compile(r"(finish|stop|done|end)?_?reason_|(finish_?)?reason\.|finishreason_?|alternative_status_")
_PARTS: Final = re.compile(r"[:;,/|]")
_TELLING: Final[tuple[Ending, ...]] = ("filtered", "full", "cut", "failed", "whole")  # in order of priority
_RANK: Final[Mapping[Ending | None, int]] = {how: rank for rank, how in enumerate(_TELLING)}


def ending(finish_reason: str | None) -> Ending | None:
    """Return the ending for a finish reason, "whole" for None, or None for a word that no table knows.

    Of several words (`content_filter: RECITATION`) the most specific ending counts.
    """
    if finish_reason is None:
        return "whole"
    said = finish_reason[:_LONGEST]
    if (known := FINISH_REASONS.get(_plain(said))) is not None:
        return known
    found = {FINISH_REASONS.get(_plain(part)) for part in _PARTS.split(said)}
    return next((how for how in _TELLING if how in found), None)


def most_telling(words: Iterable[str | None]) -> str | None:
    """Return the word with the most specific ending, the first of several alike; a word without one comes last."""
    said = [word for word in words if word]
    ends = [ending(word) for word in said]
    return min(zip(ends, said, strict=True), key=lambda each: _RANK.get(each[0], len(_RANK)), default=(None, None))[1]


def is_call(finish_reason: str | None) -> bool:
    """Return whether an answer ended with a function call, which is then the answer."""
    return _plain((finish_reason or "")[:_LONGEST]) in _CALLS


@lru_cache(64)
def _plain(word: str) -> str:
    """Return a word as the table spells it: `MAX_TOKENS` and `FINISH_REASON_MAX_TOKENS` become `max_tokens`."""
    found = plain(word.strip())
    return found if found in FINISH_REASONS else _PREFIX.sub("", found, count=1)
