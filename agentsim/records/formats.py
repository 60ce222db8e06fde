"""Formats: a table as a CSV, JSON Lines or Parquet file, or as a pandas DataFrame; decisions as conversations.

pyarrow and pandas are imported on use: they are extras, and take a second.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentsim.engine.codec import json_line
from agentsim.engine.panel import Cell, Frame
from agentsim.errors import UsageError, installed_by
from agentsim.models.base import Attempt
from agentsim.patterns import Pattern
from agentsim.records.history import History
from agentsim.records.tables import BASE, LEADING, ColumnKind

if TYPE_CHECKING:
    import pandas as pd

_CONTROL = Pattern("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNESCAPED = Pattern("[\x7f-\x9f\u2028\u2029]")  # json leaves them; a terminal or a reader of lines may act on them
_OPERATORS = frozenset("=+-@")
_LARGEST = 2**63 - 1  # the largest int64, the limit of pandas and Parquet


def kinds(table: str, frame: Frame) -> list[ColumnKind]:
    """Return the kind of each column, from the table's definition or from its cells."""
    said = {**LEADING, **BASE.get(table, {})}
    return [_kind([row[index] for row in frame.rows], said.get(name)) for index, name in enumerate(frame.columns)]


def _kind(cells: Sequence[Cell], said: ColumnKind | None) -> ColumnKind:
    """Return the kind of a column's cells; `said` decides for empty and JSON columns only: cells are untrusted."""
    present = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in present}
    if said == "json" or not types:
        return said or "text"
    if types == {str}:
        return "text"
    if types == {bool}:
        return "flag"
    if types <= {int, float} and all(abs(cell) <= _LARGEST for cell in present if isinstance(cell, int)):
        return "number" if float in types or said == "number" else "whole"
    return "mixed"


def _extra_missing(package: str) -> UsageError:
    """Return the error for a package of the extra `data` that is not installed."""
    return UsageError(f"{package} is not installed: {installed_by('data')}")


def _value(cell: Cell, kind: ColumnKind) -> Any:
    """Return the JSON value that a cell stands for."""
    return json.loads(cell) if kind == "json" and isinstance(cell, str) and cell[:1] in {"[", "{"} else cell


def _as_csv(_table: str, frame: Frame) -> bytes:
    """Return RFC 4180 with `\n` between rows; neither strings nor column names can be read as a formula."""
    rows = _Rows()
    writer = csv.writer(rows)  # with its own `\r\n`, every version also quotes a lone `\r` in a cell
    for row in (frame.columns, *frame.rows):
        writer.writerow([_inert(cell) if isinstance(cell, str) else cell for cell in row])
    return "".join(row.removesuffix("\r\n") + "\n" for row in rows).encode()


class _Rows(list[str]):
    """A file for the csv module, which writes each row in one piece."""

    write = list.append


def _inert(text: str) -> str:
    """Return the text without control characters, behind an apostrophe if a spreadsheet could take it for a formula.

    Spreadsheets skip blanks and invisible characters, and treat fullwidth and small forms as the characters that they
    are forms of.
    """
    text = _CONTROL.sub("\ufffd", text)
    first = next((mark for mark in text if unicodedata.category(mark)[0] not in "CZ" and mark != "\ufffd"), "")
    return f"'{text}" if text[:1] in {"\t", "\r"} or unicodedata.normalize("NFKC", first) in _OPERATORS else text


def _as_jsonl(table: str, frame: Frame) -> bytes:
    """Return one object per row, with JSON columns as the values that they stand for."""
    said, lines = kinds(table, frame), []
    for row in frame.rows:
        values = {name: _value(cell, kind) for name, cell, kind in zip(frame.columns, row, said, strict=True)}
        line = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        lines.append(_UNESCAPED.sub(lambda mark: f"\\u{ord(mark[0]):04x}", line) + "\n")
    return "".join(lines).encode()


def _as_parquet(table: str, frame: Frame) -> bytes:
    """Return typed columns; JSON, and columns of more than one type, are text."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise _extra_missing("pyarrow") from None

    types = {"whole": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
    arrays = []
    for index, kind in enumerate(kinds(table, frame)):
        as_one = {"mixed": str, "number": float}.get(kind)  # Arrow refuses integers that a float would round
        cells = [row[index] for row in frame.rows]
        if as_one is not None:
            cells = [None if cell is None else as_one(cell) for cell in cells]
        arrays.append(pa.array(cells, types.get(kind, pa.string())))
    file = io.BytesIO()
    parquet.write_table(pa.table(arrays, names=list(frame.columns)), file)
    return file.getvalue()


FORMATS: Mapping[str, Callable[[str, Frame], bytes]] = {"csv": _as_csv, "jsonl": _as_jsonl, "parquet": _as_parquet}
"""The functions that turn a table's name and frame into a file, by the file's extension."""


class Tables(Mapping[str, "pd.DataFrame"]):
    """Tables by name; each DataFrame is made when it is first asked for.

    Integers are `int64`, or `Int64` if some are missing; numbers `float64`; flags `bool`, or `boolean` if some are
    missing; JSON columns hold dicts and lists.
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
        made = self._frames if isinstance(self._frames, dict) else {}  # a folder's are built on demand
        sizes = {name: f" {len(frame.rows)}x{len(frame.columns)}" for name, frame in made.items()}
        return f"<Tables {', '.join(name + sizes.get(name, '') for name in self._frames)}>"


def _data_frame(table: str, frame: Frame) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise _extra_missing("pandas") from None

    types = {  # with gaps, and without
        "whole": ("Int64", "int64"),
        "number": ("float64", "float64"),
        "flag": ("boolean", "bool"),
        "text": (pd.Series([""]).dtype,) * 2,  # the dtype of this version of pandas, also for empty columns
    }
    columns = {}
    for index, (name, kind) in enumerate(zip(frame.columns, kinds(table, frame), strict=True)):
        cells = [_value(row[index], kind) for row in frame.rows]
        columns[name] = pd.Series(cells, dtype=types.get(kind, ("object", "object"))[None not in cells])
    return pd.DataFrame(columns)


def chat_lines(run: str, history: History) -> Iterator[bytes]:
    """Yield a line of JSON for each decision of a model: `messages`, ending with the reply, and the outcome.

    A decision that was asked again has its last reply, and the messages before it. `used` is false if the decision is a
    fallback nevertheless, lost to `cause`. `inherited` is true for a decision of the parent run, which has it as well.
    `rank` is the player's final rank, or None for staff and unfinished games.
    """
    standings = [] if history.outcome is None else history.outcome.standings
    ranks = {standing.player: standing.rank for standing in standings}
    models = {player.id: player.model for player in history.players}
    for decision in history.decisions:
        if decision.source == "human" or (answered := decision.answered) is None:
            continue
        yield json_line(
            {
                "messages": _messages(answered),
                "run": run,
                "game": history.game,
                "seed": history.seed,
                "decision": decision.index,
                "kind": decision.kind,
                "player": decision.player,
                "model": answered.model or models.get(decision.player, ""),
                "parsed": decision.decision,
                "used": decision.source != "fallback",
                "cause": decision.cause,
                "inherited": history.inherits(decision),
                "rank": ranks.get(decision.player),
                "winner": None if history.outcome is None else history.outcome.winner == decision.player,
            }
        )


def _messages(attempt: Attempt) -> list[dict[str, str]]:
    sent = [{"role": message.role, "content": message.text} for message in attempt.messages]
    return [*sent, {"role": "assistant", "content": attempt.reply or ""}]
