"""data_frames: tables as pandas DataFrames. How a table is made is not known here.

pandas is imported when a table is asked for: it is an extra, and takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agentsim.engine.panel import Frame
from agentsim.history.columns import column, kinds
from agentsim.history.formats import extra_missing, value

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tables"]


class Tables(Mapping[str, "pd.DataFrame"]):
    """Tables by name; a DataFrame is made when it is first asked for.

    Whole numbers are `int64`, or `Int64` where some are missing; numbers `float64`; yes or no `bool`, or
    `boolean` where some are missing; JSON columns hold dicts and lists.
    """

    def __init__(self, frames: Mapping[str, Frame]) -> None:
        self._frames = frames
        self._made: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            raise KeyError(f"{name}: there is no such table ({', '.join(self)})")
        if name not in self._made:
            self._made[name] = _data_frame(name, self._frames[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._frames

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        sizes = (f"{name} {len(frame.rows)}x{len(frame.columns)}" for name, frame in self._frames.items())
        return f"<Tables {', '.join(sizes)}>"


def _data_frame(table: str, frame: Frame) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise extra_missing("pandas") from None

    words = pd.Series([""]).dtype  # of strings in this version of pandas, for columns without any as well
    columns = {}
    for place, (name, kind) in enumerate(zip(frame.columns, kinds(table, frame), strict=True)):
        cells = [value(cell, kind) for cell in column(frame, place)]
        gaps = None in cells
        match kind:
            case "whole":
                columns[name] = pd.Series(cells, dtype="Int64" if gaps else "int64")
            case "number":
                columns[name] = pd.Series(cells, dtype="float64")
            case "flag":
                columns[name] = pd.Series(cells, dtype="boolean" if gaps else "bool")
            case "text":
                columns[name] = pd.Series(cells, dtype=words)
            case _:
                columns[name] = pd.Series(cells, dtype="object")
    return pd.DataFrame(columns)
