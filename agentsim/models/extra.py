"""Extra: parameters that a scenario passes through to a provider, and which of them it may not set.

How they get into a body belongs to `body`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["extra_problem"]

# Names that servers know for the limit on a reply, on which the estimate of its cost rests.
_MAX_TOKENS = frozenset({"max_tokens", "max_completion_tokens", "n_predict"})
# What a player's `client_kwargs` may not set, with the setting that does.
_OURS = {
    "model": "`model`",
    "messages": "the prompt",
    "stream": "nothing: answers are read whole",
    "stream_options": "nothing: answers are read whole",
    "n": "nothing: one answer is asked for",
    "timeout": "`timeout_s`",
    "extra_headers": "`api_key_env` of a provider",
    "extra_query": "`base_url` of a provider",
    "api_key": "`api_key_env` of a provider",
    "base_url": "`base_url` of a provider",
}


def extra_problem(extra: Mapping[str, Any]) -> str | None:
    """Why these extra parameters cannot be sent, or None."""
    if not extra:
        return None
    for key in extra:
        if key in _OURS:
            return f"`{key}` cannot be set there; what sets it is {_OURS[key]}"
        if key in _MAX_TOKENS:
            return f"`{key}` cannot be set there; say max_tokens"
    inner = extra.get("extra_body", {})
    if not isinstance(inner, Mapping):
        return "`extra_body` must be a table"
    if inner and (problem := extra_problem(inner)):  # it becomes part of the same body
        return f"in `extra_body`, {problem}"
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        return "the extra parameters hold something that JSON has no word for (a date, nan, inf)"
    return None
