"""Tones: the classes by which the style sheet colours players and series.

The colours themselves belong in `logs.css`.
"""

from __future__ import annotations

__all__ = ["tone"]

COLOURS = 8
DASHES = 3


def tone(place: int) -> str:
    """The classes of the nth player or series; beyond eight, the dashes of lines and the fill of dots tell it apart."""
    dash = place // COLOURS % DASHES
    return f"t{place % COLOURS}" + (f" dash{dash}" if dash else "")
