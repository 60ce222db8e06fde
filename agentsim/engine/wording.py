"""Wording: what is done to players' words before others hear them. Nothing here changes a decision."""

from __future__ import annotations

__all__ = ["CUT", "cut"]

CUT = " [cut]"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, with a visible mark where there were more."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - len(CUT)].rstrip() + CUT
