"""screen: foreign text made safe for a terminal, and lines to stderr that no closed terminal can stop.

Everything a model, a file or a provider said goes through here before it is shown.
"""

from __future__ import annotations

import contextlib
import os
import sys

from agentsim.engine.prompt import cleaned

__all__ = ["columns", "note", "safe", "shortened"]


def note(line: str) -> None:
    """Write one line to stderr; a reader that has gone away is no reason to stop."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def columns() -> int | None:
    """The width of the terminal that stderr is; None where it is none."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def safe(text: str) -> str:
    """The text without control characters or escape sequences, and encodable everywhere."""
    return cleaned(text)


def shortened(text: str, limit: int) -> str:
    """On one line, at most `limit` characters, safe."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
