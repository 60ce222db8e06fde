"""Tables as files: what comes back is what went in, and no words can become a formula, a row or an escape sequence."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentsim.engine.panel import Cell, Frame
from agentsim.errors import UsageError
from agentsim.records.formats import FORMATS
from tests.amounts import each_row


def written(
    file_format: str, *rows: tuple[Cell, ...], columns: tuple[str, ...] = ("a", "b"), table: str = "t"
) -> bytes:
    return FORMATS[file_format](table, Frame(columns, rows))


def cell_in_csv(cell: Cell) -> str:
    """A cell as a reader of the CSV has it."""
    (_, row) = csv.reader(io.StringIO(written("csv", (cell, "x")).decode(), newline=""))
    return row[0]


# --------------------------------------------------------------------------- csv


def test_csv_is_utf_8_with_newlines_and_quotes_where_they_are_needed() -> None:
    assert written("csv", ("plain é", 'a "b", c'), (True, None), (-1.5, 0)).decode() == (
        'a,b\nplain é,"a ""b"", c"\nTrue,\n-1.5,0\n'
    )
    assert written("csv") == b"a,b\n"


FORMULAS = {
    "equals": '=HYPERLINK("http://x","y")',
    "at": "@SUM(A1)",
    "minus": "-2+3",
    "plus": "+1",
    "tab": "\t=1",
    "a tab alone": "\tx",
    "a carriage return alone": "\rx",
    "newline": "\n=1",
    "blanks": "  =1",
    "a hard blank": "\u00a0=1",
    "a wide blank": "\u3000=1",
    "no width": "\u200b\ufeff=1",
    "right to left": "\u202e=1",
    "NUL": "\0=1",
    "a bell": "\x07=1",
    "C1": "\x85=1",
    "fullwidth equals": "＝1",
    "fullwidth plus": "＋1",
    "fullwidth minus": "－1",
    "fullwidth at": "＠x",
    "small equals": "﹦1",
    "small minus": "\ufe63\u0031",
}


@each_row("text", FORMULAS.values())
def test_what_a_spreadsheet_would_reckon_stands_behind_an_apostrophe(text: str) -> None:
    assert cell_in_csv(text).startswith("'")


@each_row("text", FORMULAS.values())
def test_the_name_of_a_column_is_no_formula_either(text: str) -> None:
    """A game of another distribution names its columns, and may do so by what players said."""
    data = written("csv", (1, 2), columns=(text, "\x1b[31mred")).decode()
    (names, row) = csv.reader(io.StringIO(data, newline=""))
    assert (names[0][0], names[1], row) == ("'", "\ufffd[31mred", ["1", "2"])


@each_row("text", ["", "1", "a=1", "(=1)", '"=1"', "'=1", "x\n=1", "_", "*", "–", "%1", "   ", "\0"])
def test_other_words_stay_as_they_are(text: str) -> None:
    assert cell_in_csv(text) == text.replace("\0", "\ufffd")


def test_numbers_are_numbers_however_they_begin() -> None:
    assert [cell_in_csv(cell) for cell in (-3, -0.5, 10**30)] == ["-3", "-0.5", "1" + "0" * 30]


@each_row("line_end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_a_line_end_in_a_cell_ends_no_row(line_end: str) -> None:
    text = f"one{line_end}two,three"
    data = written("csv", (text, 1), (text, 2))
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert [(len(row), row[1]) for row in rows] == [(2, "b"), (2, "1"), (2, "2")]
    assert data.endswith(b'",2\n')


def test_no_control_character_reaches_a_terminal() -> None:
    control = "".join(map(chr, (*range(32), *range(0x7F, 0xA0))))
    assert cell_in_csv(f"x{control}") == "x" + "".join(mark if mark in "\t\n\r" else "\ufffd" for mark in control)
    assert b"\x1b" not in written("jsonl", (control, None))


words = st.text(st.characters(exclude_categories=["Cs"])) | st.text("=+-@'\"\t\r\n, \0\x1b\u2028ａ＝", max_size=6)
cells = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words


@given(st.lists(st.tuples(cells, cells)))
def test_whatever_the_cells_are_csv_has_as_many_rows_and_no_formula(rows: list[tuple[Cell, Cell]]) -> None:
    read = list(csv.reader(io.StringIO(written("csv", *rows).decode(), newline="")))[1:]
    assert [len(row) for row in read] == [2] * len(rows)
    for row, back in zip(rows, read, strict=True):
        for cell, text in zip(row, back, strict=True):
            if isinstance(cell, str):
                assert text[:1] not in set("=+-@\t\r")
                assert text.replace("\ufffd", "").removeprefix("'").strip() in _without_control(cell)
            else:
                assert text == ("" if cell is None else str(cell))


def _without_control(text: str) -> set[str]:
    plain = "".join(mark for mark in text if mark in "\t\r\n" or not (mark < " " or "\x7f" <= mark <= "\x9f"))
    plain = plain.replace("\ufffd", "")
    return {plain.strip(), plain.removeprefix("'").strip()}


# --------------------------------------------------------------------------- jsonl


def test_jsonl_is_one_object_a_row_with_real_values() -> None:
    row = ('["A"]', '{"player": "A", "n": [1, null]}', "[no JSON", None)
    columns = ("visibility", "data", "content", "decision")
    assert written("jsonl", row, ("all", "{}", "é", 2), columns=columns, table="events").decode() == (
        '{"visibility":["A"],"data":{"player":"A","n":[1,null]},"content":"[no JSON","decision":null}\n'
        '{"visibility":"all","data":{},"content":"é","decision":2}\n'
    )
    assert written("jsonl") == b""


@given(st.lists(st.tuples(cells, cells)))
def test_whatever_the_cells_are_jsonl_gives_them_back_line_by_line(rows: list[tuple[Cell, Cell]]) -> None:
    lines = written("jsonl", *rows).decode().splitlines()
    assert [tuple(json.loads(line).values()) for line in lines] == rows


# --------------------------------------------------------------------------- parquet


def read_back(data: bytes) -> Any:
    from pyarrow import parquet

    return parquet.read_table(io.BytesIO(data))


def test_parquet_has_types_and_gaps() -> None:
    columns = ("whole", "number", "flag", "text", "none", "mixed", "huge")
    rows = ((1, 1, True, "a\0b", None, "x", 2**70), (None, 0.5, None, None, None, 1, 1))
    table = read_back(written("parquet", *rows, columns=columns))
    assert [str(field.type) for field in table.schema] == [
        *("int64", "double", "bool", "string", "string", "string", "string")
    ]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (1, 1.0, True, "a\0b", None, "x", str(2**70)),
        (None, 0.5, None, None, None, "1", "1"),
    ]


def test_an_empty_table_has_its_columns() -> None:
    table = read_back(written("parquet", columns=("prompt_tokens", "cost_usd", "player"), table="usage"))
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("prompt_tokens", "int64"),
        ("cost_usd", "double"),
        ("player", "string"),
    ]


@given(st.lists(st.tuples(cells, cells), max_size=8))
@example([(2**53 + 1, "a"), (0.5, "b")])  # a whole number that a float rounds
def test_whatever_the_cells_are_parquet_takes_them(rows: list[tuple[Cell, Cell]]) -> None:
    assert read_back(written("parquet", *rows)).num_rows == len(rows)


def test_without_pyarrow_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    line = r"^pyarrow is not installed: `uv sync --extra data` or `pip install '\.\[data\]'` in the checkout$"
    with pytest.raises(UsageError, match=line):
        written("parquet")
