"""Entry: one decision of a journal, with every attempt at it.

Pydantic writes and reads it; texts are replaced by their ids, see `models.base.Text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentsim.history.record import Parse, Source
from agentsim.models.base import Attempt, Count, Word

__all__ = ["Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision that was made; (wave, place) is its key."""

    index: Count
    wave: Count
    place: Count
    player: Word
    kind: Word
    fingerprint: Word
    decision: dict[str, Any]
    source: Source
    fallback_reason: Word | None
    tries: tuple[Attempt, ...]
    parse: Parse | None
