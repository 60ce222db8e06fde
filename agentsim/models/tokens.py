"""Tokens: an estimate of how many a text comes to. What they cost is in `prices`.

Bytes of UTF-8 are what a tokenizer starts from, so that they tell more than characters do: a Chinese character is
three bytes and about one token, an English word five bytes and one. `docs/models.md` has what was measured.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["REPLY", "about", "at_most"]

REPLY = 1024
"""What a reply without a cap is taken for before it comes, where only a provider's pace depends on it."""

_BYTES_PER_TOKEN = 4
_FEWEST_BYTES_PER_TOKEN = 2  # of prompts in words, numbers and JSON


def about(texts: Iterable[str]) -> int:
    """An estimate of the tokens in some texts together."""
    return -(-_bytes(texts) // _BYTES_PER_TOKEN)


def at_most(texts: Iterable[str]) -> int:
    """More tokens than texts such as ours have been seen to make: for what must not be passed."""
    return -(-_bytes(texts) // _FEWEST_BYTES_PER_TOKEN)


def _bytes(texts: Iterable[str]) -> int:
    whole = "".join(texts)
    return len(whole) if whole.isascii() else len(whole.encode())
