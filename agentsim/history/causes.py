"""Causes of lost decisions: who a fallback says something about.

A table of data over every reason that the package gives. A reason outside it comes from a provider class of a plugin,
or is an HTTP status, and counts as the host's: the readers of replies, people and the clock have closed sets of words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Cause: TypeAlias = Literal["host", "model", "person", "deadline"]

CAUSES: Final[Mapping[Cause, frozenset[str]]] = {
    "host": frozenset(
        (
            # no answer
            *("timeout", "unreachable", "reset", "rate_limited", "provider_error", "bad_envelope"),
            # an answer that refuses
            *("context", "moderation", "content_filter", "refusal"),
            *("bad_request", "redirect"),
            *("bad_key", "no_credit", "forbidden", "unknown_model", "unloadable", "script_ended"),
        )
    ),
    "model": frozenset({"unreadable", "ambiguous", "illegal", "empty", "empty_reasoning"}),
    "person": frozenset({"no_answer", "withdrawn"}),
    "deadline": frozenset({"tick_deadline"}),
}
"""The reasons of each cause, in the order in which causes are shown."""

_CAUSE_OF: Final[Mapping[str, Cause]] = {reason: cause for cause, reasons in CAUSES.items() for reason in reasons}


def cause_of(reason: str) -> Cause:
    """Return the cause of a `fallback_reason`; of one that no table knows, such as `http_500`, `host`."""
    return _CAUSE_OF.get(reason, "host")
