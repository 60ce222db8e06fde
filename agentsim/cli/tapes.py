"""tapes: the tape that `--record` and `--replay-replies` ask for. What it does is `models.tape`'s business."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.models.tape import Tape

__all__ = ["tape_of"]


def tape_of(record: Path | None, replies: Sequence[Path] | None) -> Tape | None:
    """The tape, or None where neither option is given; `UsageError` where both are, or a file cannot be used."""
    from agentsim.models.tape import Playback, Recorder

    if record is not None and replies:
        raise UsageError("--record and --replay-replies exclude each other: what would be recorded is there already")
    if record is not None:
        return Recorder(record)
    return Playback(replies) if replies else None
