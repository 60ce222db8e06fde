"""screen: foreign text made safe for a terminal. Everything a model, a file or a provider said goes through it."""

from __future__ import annotations

from agentsim.engine.prompt import cleaned

__all__ = ["safe", "shortened"]


def safe(text: str) -> str:
    """The text without control characters or escape sequences, and encodable everywhere."""
    return cleaned(text)


def shortened(text: str, limit: int) -> str:
    """On one line, at most `limit` characters, safe."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
