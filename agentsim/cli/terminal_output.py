"""Output to the terminal: foreign text made safe, results wrapped to its width, notes that survive a closed pipe.

All text of models, files and providers passes through here before it is shown.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

import typer

from agentsim.engine.prompt import cleaned

__all__ = ["columns", "moves", "note", "safe", "say", "shortened"]


def note(line: str) -> None:
    """Write one line to stderr; a closed pipe is ignored."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def columns(stream: TextIO | None) -> int | None:
    """The terminal width of a stream; None where it is not a terminal."""
    if stream is None or not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def say(line: str) -> None:
    """Write one line of a result to stdout, on a terminal wrapped between words with a hanging indent.

    For sentences and lists; a path stays whole, so that it can be copied.
    """
    width = columns(sys.stdout)
    if width is not None and len(line) * 2 > width:  # a letter takes two cells at most
        from rich.cells import cell_len

        from agentsim.players.terminal import rows

        hang = " " * (len(line) - len(line.lstrip()) + 4)
        line = line if cell_len(line) <= width else "\n".join(rows(line, width, hang))
    typer.echo(line)


def moves(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that can move its cursor."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "") not in {"dumb", "unknown"}


def safe(text: str) -> str:
    """The text without control characters or escape sequences, and encodable everywhere."""
    return cleaned(text)


def shortened(text: str, limit: int) -> str:
    """On one line, at most `limit` characters, safe."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def left_out(name: str, why: str) -> None:
    """Say that a run of a directory is left out, and why."""
    from agentsim.cli.terminal_output import note, shortened

    note(shortened(f"agentsim: {name} is left out: {why}", 300))
