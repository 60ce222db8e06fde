"""screen: foreign text made safe for a terminal, and lines to stderr that no closed terminal can stop.

Everything a model, a file or a provider said goes through here before it is shown.
"""

from __future__ import annotations

import contextlib
import sys

from agentsim.engine.prompt import cleaned

__all__ = ["note", "safe", "shortened"]


def note(line: str) -> None:
    """Write one line to stderr; a reader that has gone away is no reason to stop."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def safe(text: str) -> str:
    """The text without control characters or escape sequences, and encodable everywhere."""
    return cleaned(text)


def shortened(text: str, limit: int) -> str:
    """On one line, at most `limit` characters, safe."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
