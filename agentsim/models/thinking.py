"""Thinking: which models think before they answer, as far as their names tell. The list is `thinking.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["small_cap"]


def small_cap(model_name: str, cap: int | None, *extras: Mapping[str, Any]) -> int | None:
    """The tokens that such a model's cap should have, where it has fewer; None where there is nothing to say.

    `extras` are what is sent besides, in which thinking may be turned off or bounded.
    """
    known = _catalogue()
    enough: int = known["enough"]
    if cap is None or cap >= enough or any(_kept_short(extra, cap, known) for extra in extras):
        return None
    _, _, model = model_name.lower().partition("/")
    return enough if any(re.search(pattern, model) for pattern in known["models"]) else None


@cache
def _catalogue() -> Mapping[str, Any]:
    return tomllib.loads(files("agentsim.models").joinpath("thinking.toml").read_text("utf-8"))


def _kept_short(extra: Mapping[str, Any], cap: int, known: Mapping[str, Any]) -> bool:
    for key, value in extra.items():
        if isinstance(value, Mapping):
            if _kept_short(value, cap, known):
                return True
        elif value in known["off"].get(key, ()) or (key in known["bounds"] and isinstance(value, int) and value < cap):
            return True
    return False
