"""folder: the tables of all runs of a directory, united by column name. One run's tables are `tables`' business."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentsim.engine.panel import Cell, Frame
from agentsim.engine.prompt import cleaned
from agentsim.errors import ScenarioError, UsageError
from agentsim.history.columns import LEADING
from agentsim.history.files import find_run
from agentsim.history.listing import list_runs
from agentsim.history.load import load_history, require_history
from agentsim.history.tables import run_tables

__all__ = ["Folder", "listed", "read_folder"]

_SHOWN = 5


@dataclass(frozen=True)
class Folder:
    """Tables over all runs, `run, game, seed, status` leading; the runs in them; why others are not, by name."""

    names: tuple[str, ...]
    tables: Mapping[str, Frame]
    skipped: Mapping[str, str]


def read_folder(directory: Path) -> Folder:
    """All runs with a history that can be read, oldest first; `UsageError` where there is none."""
    names: list[str] = []
    parts: dict[str, list[tuple[tuple[Cell, ...], Frame]]] = {}
    skipped: dict[str, str] = {}
    for run in list_runs(directory):
        try:
            files = find_run(directory, run.name)
            require_history(files)
            history = load_history(files.history)
            tables = run_tables(history)
        except (UsageError, ScenarioError) as error:
            skipped[run.name] = str(error).removeprefix(f"{run.name}: ")
            continue
        names.append(run.name)
        for name, frame in tables.items():
            parts.setdefault(name, []).append(((run.name, history.game, history.seed, history.status), frame))
    if not names:
        without = f" (without one: {listed(skipped)})" if skipped else ""
        raise UsageError(f"{directory}: holds no run with a readable history{without}")
    return Folder(tuple(names), {name: _united(part) for name, part in parts.items()}, skipped)


def listed(names: Iterable[str]) -> str:
    """Names of files in a line for a person: the first few, and how many more."""
    first, rest = (known := list(names))[:_SHOWN], len(known) - _SHOWN
    return cleaned(", ".join(first)) + (f" and {rest} more" if rest > 0 else "")


def _united(parts: Iterable[tuple[tuple[Cell, ...], Frame]]) -> Frame:
    """Columns in the order in which they are first met; a run without a column has None in it."""
    columns: dict[str, None] = {}
    rows: list[tuple[tuple[Cell, ...], Mapping[str, Cell]]] = []
    for leading, frame in parts:
        columns.update(dict.fromkeys(frame.columns))
        rows += ((leading, dict(zip(frame.columns, row, strict=True))) for row in frame.rows)
    united = tuple((*leading, *(row.get(column) for column in columns)) for leading, row in rows)
    return Frame((*LEADING, *columns), united)
