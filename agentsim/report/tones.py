"""Tones: the classes by which the style sheet colours players and series.

The colours themselves belong in `logs.css`.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HEAT_STEPS", "tone", "tone_of"]

COLOURS = 8
DASHES = 3
HEAT_STEPS = 9
"""Of what is shaded, from the class `heat0` on."""


def tone(place: int) -> str:
    """The classes of the nth player or series; beyond eight, the dashes of lines and the fill of dots tell it apart."""
    dash = place // COLOURS % DASHES
    return f"t{place % COLOURS}" + (f" dash{dash}" if dash else "")


def tone_of(name: str, players: Mapping[str, int], other: str = "plain") -> str:
    """The classes of the player of that name; `other` where it is no player's."""
    return tone(players[name]) if name in players else other
