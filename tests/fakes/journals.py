"""Journals whose lines were changed, with digests that fit again, as a careful liar makes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from agentsim.history.journal import Chain

__all__ = ["change_line", "plain", "resealed"]

_DIGEST = re.compile(rb',"chain":"[0-9a-f]{32}"(?=\}\n\Z)')


def plain(lines: Iterable[bytes]) -> list[bytes]:
    """The lines without their digests."""
    return [_DIGEST.sub(b"", line) for line in lines]


def resealed(lines: Iterable[bytes]) -> list[bytes]:
    """The lines with digests that fit."""
    chain = Chain()
    return [chain.sealed(line.removesuffix(b"\n")) for line in plain(lines)]


def change_line(journal: Path, which: str, change: Callable[[dict[str, Any]], None] | None) -> None:
    """Rewrite the first line that holds these words, or take it out where `change` is None; all digests fit again."""
    lines = journal.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if which.encode() in line)
    line = json.loads(plain([lines[place]])[0])
    if change is not None:
        change(line)
    lines[place : place + 1] = [] if change is None else [json.dumps(line, separators=(",", ":")).encode() + b"\n"]
    journal.write_bytes(b"".join(resealed(lines)))
