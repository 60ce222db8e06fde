"""Changes to lines of a journal, with new digests that match."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from agentsim.records.journal import HashChain

__all__ = ["change_line", "plain", "resealed"]

_DIGEST = re.compile(rb',"chain":"[0-9a-f]{32}"(?=\}\n\Z)')


def plain(lines: Iterable[bytes]) -> list[bytes]:
    """Return the lines without their digests."""
    return [_DIGEST.sub(b"", line) for line in lines]


def resealed(lines: Iterable[bytes]) -> list[bytes]:
    """Return the lines with new digests that match."""
    chain = HashChain()
    return [chain.sealed(line.removesuffix(b"\n")) for line in plain(lines)]


def change_line(journal: Path, which: str, change: Callable[[dict[str, Any]], None] | None) -> None:
    """Change the first line that contains `which`, or remove it if `change` is None; all digests match again."""
    lines = journal.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if which.encode() in line)
    line = json.loads(plain([lines[place]])[0])
    if change is not None:
        change(line)
    lines[place : place + 1] = [] if change is None else [json.dumps(line, separators=(",", ":")).encode() + b"\n"]
    journal.write_bytes(b"".join(resealed(lines)))
