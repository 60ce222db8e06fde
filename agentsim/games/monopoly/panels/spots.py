"""Spots: where the forty spaces lie in a ring of eleven by eleven, and how each looks before it is owned.

GO is at the bottom right, and play goes clockwise, as printed boards have it.
"""

from __future__ import annotations

from typing import Literal

from agentsim.engine.panel import Hue, Tile
from agentsim.games.monopoly.board import SPACES

SIDE = 11
_LAST = SIDE - 1
_HUES: dict[str, Hue] = {
    "brown": "brown",
    "light_blue": "sky",
    "pink": "pink",
    "orange": "orange",
    "red": "red",
    "yellow": "yellow",
    "green": "green",
    "dark_blue": "blue",
}
_SHORTENED = {"Avenue": "Ave.", "Railroad": "R.R.", "Place": "Pl.", "Gardens": "Gdns."}
_SHORT = (
    *("GO", "Med", "Chst", "Balt", "Tax", "Read", "Orie", "?", "Verm", "Conn"),
    *("Jail", "St.C", "Elec", "Stat", "Virg", "Penn", "St.J", "Chst", "Tenn", "N.Y."),
    *("Free", "Kent", "?", "Ind", "Ill", "B&O", "Atl", "Vent", "Wat", "Marv"),
    *("→J", "Pac", "N.C.", "Chst", "P.A.", "Shrt", "?", "Park", "Lux", "Brdw"),
)


def spot(position: int) -> tuple[int, int]:
    """Column and row."""
    side, along = divmod(position, _LAST)
    return ((_LAST - along, _LAST), (0, _LAST - along), (along, 0), (_LAST, along))[side]


def tile(position: int, **more: object) -> Tile:
    """The space with its bar towards the middle; `more` are the fields of the tile that a game decides."""
    space, (column, row) = SPACES[position], spot(position)
    edges: tuple[Literal["top", "right", "bottom", "left"], ...] = ("top", "right", "bottom", "left")
    label = " ".join(_SHORTENED.get(word, word) for word in space.name.split())
    note = f"${space.price}" if space.price else f"pay ${space.tax}" if space.tax else ""
    given: dict[str, object] = {"hue": _HUES.get(space.group), "note": note, "short": _SHORT[position], **more}
    return Tile(column, row, label, edge=edges[position // _LAST], **given)  # type: ignore[arg-type] # fields by name
