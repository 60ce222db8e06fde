"""formats: a table as the bytes of a CSV, JSON Lines or Parquet file. Which tables there are is not known here.

pyarrow is imported on use: it is an extra, and takes a second.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from agentsim.engine.panel import Cell, Frame
from agentsim.errors import UsageError
from agentsim.history.columns import Kind, column, kinds

__all__ = ["FORMATS", "extra_missing", "value"]

_CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNESCAPED = re.compile("[\x7f-\x9f\u2028\u2029]")  # json leaves them; a terminal or a reader of lines may act on them
_OPERATORS = frozenset("=+-@")


def extra_missing(package: str) -> UsageError:
    """What to say where a package of the extra `data` is not installed."""
    return UsageError(f"{package} is not installed: `pip install 'agentsim[data]'` or `uv sync --extra data`")


def value(cell: Cell, kind: Kind) -> Any:
    """A cell as the JSON value that it stands for."""
    return json.loads(cell) if kind == "json" and isinstance(cell, str) and cell[:1] in {"[", "{"} else cell


def _as_csv(_table: str, frame: Frame) -> bytes:
    """RFC 4180 with `\\n` between rows; no string can be read as a formula, a column's name neither."""
    lines = _Lines()
    writer = csv.writer(lines)  # its own `\r\n`, so that on every version a lone `\r` in a cell is quoted as well
    writer.writerows(
        [_inert(cell) if isinstance(cell, str) else cell for cell in row] for row in (frame.columns, *frame.rows)
    )
    return "".join(lines.rows).encode()


class _Lines:
    """A file for the csv module, which writes each row in one piece."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    def write(self, row: str) -> None:
        self.rows.append(row.removesuffix("\r\n") + "\n")


def _inert(text: str) -> str:
    """The text without control characters, behind an apostrophe where a spreadsheet could take it for a formula.

    What stands first for a spreadsheet is not what stands first in the text: blanks and invisible characters
    are passed over, and fullwidth and small forms count as what they are forms of.
    """
    text = _CONTROL.sub("\ufffd", text)
    first = next((mark for mark in text if unicodedata.category(mark)[0] not in "CZ" and mark != "\ufffd"), "")
    return f"'{text}" if text[:1] in {"\t", "\r"} or unicodedata.normalize("NFKC", first) in _OPERATORS else text


def _as_jsonl(table: str, frame: Frame) -> bytes:
    """One object a row, JSON columns as the values they stand for."""
    said = kinds(table, frame)
    rows = []
    for row in frame.rows:
        values = {name: value(cell, kind) for name, cell, kind in zip(frame.columns, row, said, strict=True)}
        line = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        rows.append(_UNESCAPED.sub(lambda mark: f"\\u{ord(mark[0]):04x}", line) + "\n")
    return "".join(rows).encode()


def _as_parquet(table: str, frame: Frame) -> bytes:
    """Typed columns; JSON, and what is of more than one type, as text."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise extra_missing("pyarrow") from None

    types = {"whole": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
    arrays = []
    for place, kind in enumerate(kinds(table, frame)):
        cells = column(frame, place)
        if kind == "mixed":
            cells = [None if cell is None else str(cell) for cell in cells]
        elif kind == "number":  # Arrow takes no whole number that a float rounds
            cells = [None if cell is None else float(cell) for cell in cells]
        arrays.append(pa.array(cells, types.get(kind, pa.string())))
    file = io.BytesIO()
    parquet.write_table(pa.table(arrays, names=list(frame.columns)), file)
    return file.getvalue()


FORMATS: Mapping[str, Callable[[str, Frame], bytes]] = {"csv": _as_csv, "jsonl": _as_jsonl, "parquet": _as_parquet}
"""How a table, by its name and frame, becomes a file, by the file's extension."""
