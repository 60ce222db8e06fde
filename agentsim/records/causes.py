"""Causes of lost decisions, from the reasons of fallbacks.

One table has the cause of every reason that the package gives. Readers of replies, people and the clock have closed
sets of reasons; any other reason is an HTTP status or a code of a plugin's model for a failed call: the host's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Cause: TypeAlias = Literal["host", "model", "person", "deadline"]
"""The cause of a lost decision: the service behind the model, the model's reply, a person, or the clock of a wave."""

_REASONS: Final[Mapping[Cause, str]] = {
    "host": """
        timeout unreachable reset provider_error bad_envelope rate_limited
        context moderation content_filter bad_request
        bad_key forbidden no_credit unknown_model redirect no_list unloadable script_ended
    """,
    "model": "unreadable ambiguous illegal empty empty_reasoning refusal",
    "person": "no_answer withdrawn",
    "deadline": "wave_deadline",
}
CAUSES: Final[tuple[Cause, ...]] = tuple(_REASONS)
"""The causes, in the order in which they are shown."""
CAUSE_OF: Final[Mapping[str, Cause]] = {word: cause for cause, words in _REASONS.items() for word in words.split()}
"""The cause of every reason except HTTP statuses and plugins' codes."""


def cause_of(reason: str) -> Cause:
    """Return the cause of a `fallback_reason`; `host` for one that is not in the table, such as `http_500`."""
    return CAUSE_OF.get(reason, "host")
