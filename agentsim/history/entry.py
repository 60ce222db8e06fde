"""Entry: one decision of a journal, with every attempt at it.

Pydantic writes and reads it; texts are replaced by their ids, see `models.base.Text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from agentsim.engine.reading import Reading
from agentsim.history.record import Source
from agentsim.models.base import Attempt, Count, Word

__all__ = ["Entry", "Parse"]


@dataclass(frozen=True, slots=True)
class Parse:
    """How the decision was found in the reply."""

    stage: Word
    candidates: Count
    repaired: Annotated[bool, Field(strict=True)]

    @classmethod
    def of(cls, reading: Reading[Any]) -> Parse:
        """What the history keeps of a reading."""
        return cls(reading.stage, reading.candidates, reading.repaired)


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
