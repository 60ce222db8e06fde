"""frames: what `agentsim.load` gives: runs whose tables are pandas DataFrames. How a table is made is not known here.

pandas is imported when a table is asked for: it is an extra, and takes a second.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentsim.engine.panel import Frame
from agentsim.history.columns import column, kinds
from agentsim.history.files import RunFiles
from agentsim.history.folder import listed, read_folder
from agentsim.history.formats import extra_missing, value
from agentsim.history.load import find_source, parsed, read, require_history
from agentsim.history.tables import run_tables

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Run", "Runs", "Tables", "load"]


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


@dataclass(frozen=True, eq=False)
class Run:
    """One run: its name, its history as in the file, and its tables in exactly their documented columns."""

    name: str
    history: dict[str, Any]
    tables: Tables

    def __repr__(self) -> str:
        what = f"{self.history['game']}, seed {self.history['seed']}, {self.history['status']}"
        return f"<Run {self.name}: {what}; {self.tables!r}>"


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of a folder; each table has `run, game, seed, status` before its own columns.

    `skipped` says by name why a run is not in them.
    """

    directory: Path
    names: tuple[str, ...]
    tables: Tables
    skipped: Mapping[str, str]

    def __repr__(self) -> str:
        count = f"{len(self.names)} of {len(self.names) + len(self.skipped)} runs"
        return f"<Runs {self.directory}: {count}; {self.tables!r}>"


def load(source: str | os.PathLike[str], *, logs_dir: str | os.PathLike[str] | None = None) -> Run | Runs:
    """See `agentsim.load`."""
    logs = Path(logs_dir or os.environ.get("AGENTSIM_LOGS_DIR") or "logs")
    found = find_source(os.fspath(source), logs)
    if isinstance(found, RunFiles):
        require_history(found)
        return _run(found.name, found.history)
    if not found.is_dir():
        return _run(found.stem, found)
    folder = read_folder(found)
    if folder.skipped:
        warnings.warn(f"{found}: left out, without a readable history: {listed(folder.skipped)}", stacklevel=3)
    return Runs(found, folder.names, Tables(folder.tables), folder.skipped)


def _run(name: str, path: Path) -> Run:
    raw = read(path)
    tables = Tables(run_tables(parsed(raw, path)))
    return Run(name, json.loads(raw), tables)


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
