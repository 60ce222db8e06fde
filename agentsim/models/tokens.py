"""Tokens: how many a text comes to, and how many a reply may need. What they cost is `prices`.

Bytes of UTF-8 are what a tokenizer starts from, so that they tell more than characters do: a Chinese character is
three bytes and about one token, an English word five bytes and one. `docs/models.md` has what was measured.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from agentsim.engine.prompt import TOKEN_BYTES, size
from agentsim.models.prices import CATALOGUE

REPLY = 1024
"""What a reply without a cap is taken for before it comes, where only a provider's pace depends on it."""

LONGEST_REPLY = 16_384
"""Tokens that a reply without a cap is reckoned with where the catalogue knows no smaller context."""


def about(texts: Iterable[str]) -> int:
    """An estimate of the tokens in some texts together."""
    return -(-size("".join(texts)) // TOKEN_BYTES)


def at_most(texts: Iterable[str]) -> int:
    """More tokens than prompts in words, numbers and JSON have been seen to make: for what must not be passed."""
    return -(-size("".join(texts)) // 2)


@cache  # looking through the catalogue takes longer than a call's bookkeeping may
def context_window(model_name: str) -> int | None:
    """Tokens of prompt and reply together that the catalogue says a model takes; None where it says nothing."""
    provider, _, model = model_name.partition("/")
    if provider not in CATALOGUE or not model:
        return None
    from genai_prices.data_snapshot import get_snapshot  # as slow as the prices, and bundled like them

    try:
        _, known = get_snapshot().find_provider_model(model, None, CATALOGUE[provider], None)
    except LookupError:
        return None
    return known.context_window


def longest_reply(model_name: str, cap: int | None) -> int:
    """Tokens that a reply is reckoned to have at most: the cap; without one, what the model's context leaves of
    `LONGEST_REPLY`, since the catalogue knows contexts and no longest replies.
    """
    return cap if cap is not None else min(LONGEST_REPLY, context_window(model_name) or LONGEST_REPLY)


def small_cap(model_name: str, cap: int | None, *extras: Mapping[str, Any]) -> int | None:
    """The tokens that the cap of a model that thinks before it answers should have, as far as its name tells that.

    None where it has them, or nothing is to be said. `extras` are what is sent besides, in which thinking may be turned
    off or bounded. The list is `thinking.toml`.
    """
    known = _thinking()
    enough: int = known["enough"]
    if cap is None or cap >= enough or any(_kept_short(extra, cap, known) for extra in extras):
        return None
    model = model_name.lower().partition("/")[2]
    return enough if any(re.search(pattern, model) for pattern in known["models"]) else None


@cache
def _thinking() -> Mapping[str, Any]:
    return tomllib.loads(files("agentsim.models").joinpath("thinking.toml").read_text("utf-8"))


def _kept_short(extra: Mapping[str, Any], cap: int, known: Mapping[str, Any]) -> bool:
    return any(
        _kept_short(value, cap, known)
        if isinstance(value, Mapping)
        else value in known["off"].get(key, ()) or (key in known["bounds"] and isinstance(value, int) and value < cap)
        for key, value in extra.items()
    )
