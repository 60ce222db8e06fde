"""Output to the terminal: makes foreign text safe, wraps results to the width, and survives closed pipes.

All text of models, files and providers passes through here before it is shown.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import typer

if TYPE_CHECKING:
    from agentsim.engine.panel import Panel


def safe(text: str) -> str:
    """Return a text without what a terminal would obey."""
    from agentsim.engine.wording import cleaned  # slow to import, and not needed for `--help`

    return cleaned(text)


def note(line: str) -> None:
    """Write one line to stderr. A closed pipe is ignored."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def remark(words: str, limit: int = 600) -> None:
    """Write one line to stderr, prefixed with the program's name."""
    note(shortened(f"agentsim: {words}", limit))


def left_out(name: str, why: str) -> None:
    """Print a note that a run of a directory is left out, with the reason."""
    remark(f"{name} is left out: {why}", 300)


def some_left_out(found: Mapping[str, str]) -> None:
    """Print a note of how many runs are left out, with the name and reason of the first."""
    if found:
        first, why = next(iter(found.items()))
        remark(f"{len(found)} left out: {first} {why}", 300)


def columns(stream: TextIO | None) -> int | None:
    """Return the width of a stream's terminal, or None if it is not a terminal."""
    if stream is None or not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def say(line: str) -> None:
    """Write one line of a result to stdout, wrapped between words with a hanging indent on a terminal.

    Use it for sentences and lists. Paths are not broken, so that they can be copied.
    """
    width = columns(sys.stdout)
    if width is not None and len(line) * 2 > width:  # a character takes at most two cells
        from rich.cells import cell_len

        from agentsim.players.terminal import rows

        hang = " " * (len(line) - len(line.lstrip()) + 4)
        line = line if cell_len(line) <= width else "\n".join(rows(line, width, hang))
    typer.echo(line)


def say_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a result to stdout as one line of JSON."""
    typer.echo(json.dumps(value, ensure_ascii=True, allow_nan=False))


def print_panel(panel: Panel) -> None:
    """Print a table or a forest plot. Other panels are skipped, since tables hold their numbers, too."""
    from agentsim.report.paper import text

    if found := text(panel):
        typer.echo(f"\n{found}")


def moves(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal with a movable cursor."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "") not in {"dumb", "unknown"}


def shortened(text: str, limit: int) -> str:
    """Return safe text on one line, of at most `limit` characters."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
