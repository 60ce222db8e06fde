"""Output to the terminal: foreign text made safe, results wrapped to its width, notes that survive a closed pipe.

All text of models, files and providers passes through here before it is shown.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import typer

from agentsim.engine.prompt import cleaned as safe

__all__ = ["aligned", "columns", "left_out", "moves", "note", "remark", "safe", "say", "say_json", "shortened"]


def note(line: str) -> None:
    """Write one line to stderr; a closed pipe is ignored."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def remark(words: str, limit: int = 600) -> None:
    """Write one line to stderr, after the program's name."""
    note(shortened(f"agentsim: {words}", limit))


def left_out(name: str, why: str) -> None:
    """Say that a run of a directory is left out, and why."""
    remark(f"{name} is left out: {why}", 300)


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


def say_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a result to stdout as one line of JSON."""
    typer.echo(json.dumps(value, ensure_ascii=True, allow_nan=False))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table's rows as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (map(str.ljust, row, widths) for row in rows)
    return ["  ".join(cells).rstrip() for cells in padded]


def moves(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that can move its cursor."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "") not in {"dumb", "unknown"}


def shortened(text: str, limit: int) -> str:
    """On one line, at most `limit` characters, safe."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
