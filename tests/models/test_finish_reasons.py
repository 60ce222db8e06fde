"""Finish reasons: the words of every host for the ends of an answer, in every spelling."""

from __future__ import annotations

from agentsim.models.base import FINISH_REASONS, Ending, ending
from tests.amounts import each_row

SPELT: dict[Ending, tuple[str, ...]] = {
    "whole": (
        "stop",
        "STOP",
        "end_turn",
        "endTurn",
        "eos_token",
        "EOS",
        "FINISH_REASON_STOP",
        "COMPLETE",
        "tool_calls",
    ),
    "malformed": (
        *(
            "MALFORMED_FUNCTION_CALL",
            "FinishReason.MALFORMED_FUNCTION_CALL",
            "malformed_tool_use",
            "MALFORMED_RESPONSE",
        ),
        *("UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "malformed_model_output"),
        *("stop: MALFORMED_FUNCTION_CALL", "function_call_filter: UNEXPECTED_TOOL_CALL"),
    ),
    "cut": (
        *("length", "max_tokens", "MAX_TOKENS", "maxTokens", "max-tokens", "Max Tokens", "max_output_tokens"),
        *("FINISH_REASON_MAX_TOKENS", "FinishReason.MAX_TOKENS", "REASON_MAX_LEN", "token_limit", "not_finished"),
        *("time_limit", "incomplete", "stop: length", "max_tokens_reached", "ALTERNATIVE_STATUS_TRUNCATED_FINAL"),
        *("pause_turn", "compaction"),
    ),
    "full": (
        *("model_length", "MODEL_LENGTH", "model_context_window_exceeded", "context_length_exceeded"),
        "REASON_MAX_CONTEXT",
    ),
    "filtered": (
        *("content_filter", "contentFilter", "sensitive", "SAFETY", "FINISH_REASON_SAFETY", "refusal", "RECITATION"),
        *(
            "PROHIBITED_CONTENT",
            "BLOCKLIST",
            "SPII",
            "LANGUAGE",
            "IMAGE_SAFETY",
            "content_filtered",
            "guardrail_intervened",
            "ERROR_TOXIC",
        ),
        *("content_filter: RECITATION", "content_filter:SAFETY", "blacklist", "ALTERNATIVE_STATUS_CONTENT_FILTER"),
        *("error: content_filter", "harmful"),
    ),
    "failed": (
        *("error", "ERROR", "network_error", "networkError", "insufficient_system_resource", "abort", "cancelled"),
        *("FINISH_REASON_OTHER", "OTHER", "USER_CANCEL", "TIMEOUT", "internal_server_error"),
        *("api_error", "overloaded_error", "SOME_NEW_ERROR", "engineError"),
    ),
}


@each_row("how, word", [(how, word) for how, words in SPELT.items() for word in words])
def test_a_word_is_known_in_every_spelling(how: Ending, word: str) -> None:
    assert ending(word) == how


@each_row("word", ["wrapped_up", "", "reason", "FINISH_REASON_UNSPECIFIED", "stop!stop", "\u202estop it"])
def test_what_no_table_knows_is_not_guessed(word: str) -> None:
    assert ending(word) is None


def test_no_word_is_a_whole_answer_and_every_word_of_the_table_is_plain() -> None:
    assert ending(None) == "whole"
    for word, how in FINISH_REASONS.items():
        assert (ending(word), ending(word.upper())) == (how, how)
