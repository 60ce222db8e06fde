"""Refuses what no scenario may hold: secrets, and values that JSON cannot represent."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentsim.errors import ScenarioError
from agentsim.scenario.validation_error import Key, dotted, shown

__all__ = ["ADVICE", "screen", "secret_in"]

ADVICE = "looks like a key or password; keys come from the environment"

_SECRET = re.compile(
    r"""^(?:sk-|AIza)[A-Za-z0-9_-]{4,}$                       # a whole value
      | (?<![A-Za-z0-9_-])(?:sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,}
                            |(?:gsk|hf|ghp|xai|pplx)[_-][A-Za-z0-9]{20,})
      | \bapi[_-]?key["']?\s*[=:]\s*["']?[^\s"'<$]{8,}
      | \bbearer\s+[A-Za-z0-9._~+/=-]{16,}
      | ://[^/\s:@]+:[^/\s@]+@                                # a password in a URL
    """,
    re.VERBOSE,
)
_SECRET_KEYS = ("authorization", "accesstoken", "authtoken", "bearertoken", "secretkey")


def secret_in(text: str) -> bool:
    """Whether some of the text looks like a provider's key or a password."""
    return _SECRET.search(text) is not None


def screen(document: Mapping[str, Any]) -> None:
    """Raise `ScenarioError` for the first secret, date, non-finite number or integer beyond 64 bits.

    The message never repeats what looks like a secret.
    """
    for path, value in _leaves(document, ()):
        name = path[-1]
        if isinstance(name, str) and secret_in(name):
            raise ScenarioError(f"a key below it {ADVICE}", key=dotted(path[:-1]))
        if (isinstance(name, str) and _names_a_secret(name)) or (isinstance(value, str) and secret_in(value)):
            raise ScenarioError(ADVICE, key=dotted(path))
        if isinstance(value, float) and not math.isfinite(value):
            raise ScenarioError(f"must be a finite number, found {value}", key=dotted(path))
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ScenarioError("must be a number of at most 64 bits", key=dotted(path))
        if not isinstance(value, str | int | float | list | dict):
            raise ScenarioError(f"must be in quotes, found the date {shown(value)}", key=dotted(path))


def _leaves(value: Any, path: Key) -> Iterator[tuple[Key, Any]]:
    """Every key with its value, tables and lists included."""
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value)
    for name, below in items:
        yield (*path, name), below
        if isinstance(below, Mapping | list):
            yield from _leaves(below, (*path, name))


def _names_a_secret(name: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.casefold())
    return plain.endswith("apikey") or plain in _SECRET_KEYS
