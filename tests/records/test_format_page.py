"""`docs/history_format.md` says of every record which keys it has, in which order, and of which type."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from agentsim.engine.game import Outcome, Standing
from agentsim.engine.survey import SurveyPlace
from agentsim.models.base import (
    JOURNAL_ONLY_FIELDS,
    Adjustments,
    Attempt,
    Completion,
    LongText,
    PromptMessages,
    Segments,
    Usage,
)
from agentsim.records import history, versions
from agentsim.records.journal import DecisionRecord, JournalContents, Parse, Totals
from agentsim.scenario.load import load
from tests.amounts import each_row
from tests.cli.command_line import ROOT, trio
from tests.contract.golden import GOLDEN
from tests.playing import play_scenario

LATER = {"reader", "history"}
"""Keys that golden journals without a chain, which stay as they were, do not have."""
PAGE = (ROOT / "docs" / "history_format.md").read_text(encoding="utf-8")
_MODELS = {
    name: cls for name, cls in vars(history).items() if inspect.isclass(cls) and issubclass(cls, history.HistoryModel)
}
_BASES = {base for cls in _MODELS.values() for base in cls.__bases__}
"""Records that others extend: their keys stand in the tables of those."""
_OTHERS = (history.EventRecord, Totals, DecisionRecord, Attempt, Completion, Adjustments, Parse, Usage, SurveyPlace)
RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (*_MODELS.values(), *_OTHERS, Outcome, Standing)
    if cls not in _BASES and not cls.__name__.startswith("_")
}
_TEXT_INDICES: list[tuple[Any, str]] = [
    (LongText, "text index"),
    (Segments, "text indices"),
    (PromptMessages, "list of [string, text indices]"),
]
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", types.NoneType: "null", Any: "any"}


def called(cls: type[Any]) -> str:
    """The name of a record on the page."""
    return {"Branch": "fork"}.get(cls.__name__, cls.__name__.removesuffix("Record").lower())


def type_in_words(kind: Any) -> str:
    """A type as the page spells it."""
    for known, words in _TEXT_INDICES:
        if kind == known:
            return words
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Annotated:
        return type_in_words(inner[0])
    if origin is Literal:
        return ", ".join(f'"{value}"' for value in inner)
    if origin in {Union, types.UnionType}:
        return " or ".join(type_in_words(part) for part in inner)
    if origin is tuple and inner[1:] == (...,):
        return f"list of {type_in_words(inner[0])}"
    if origin is tuple:
        return f"[{', '.join(type_in_words(part) for part in inner)}]"
    if origin is list:
        return f"list of {type_in_words(inner[0])}"
    if origin in {dict, Mapping}:
        return "object" if inner[1] is Any else f"object of {type_in_words(inner[1])}"
    assert kind in RECORDS.values()
    return f"[{called(kind)}](#{called(kind)})"


def rows(page: str, heading: str) -> list[tuple[str, ...]]:
    """The rows of the first table below a heading, without its head."""
    body = re.split(rf"^#+ {heading}$", page, flags=re.MULTILINE)[1]
    body = re.split(r"^#", body, flags=re.MULTILINE)[0]
    table = [line for line in body.splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table]


def key_of(name: str, kind: Any) -> str:
    """The key in a file of a field: its alias, if it has one."""
    return next((part.alias for part in get_args(kind)[1:] if isinstance(part, FieldInfo) and part.alias), name)


@each_row("cls", RECORDS.values())
def test_the_page_names_every_key_of_a_record_in_its_order_with_its_type(cls: type[Any]) -> None:
    found = [row[:2] for row in rows(PAGE, called(cls))]
    types = get_type_hints(cls, include_extras=True)
    names = [each.name for each in fields(cls) if each.init] if is_dataclass(cls) else list(cls.model_fields)
    if cls is history.History:
        types["texts"] = list[str]
        names.insert(-1, "texts")
    if cls is Outcome:
        types["winner"] = str | None
        names.append("winner")
    assert found == [(f"`{key_of(name, types[name])}`", type_in_words(types[name])) for name in names]


def test_every_key_has_a_meaning() -> None:
    for cls in RECORDS.values():
        assert [row for row in rows(PAGE, called(cls)) if len(row) != 3 or not row[2]] == []


def test_the_page_says_which_keys_of_a_fork_its_journal_has() -> None:
    """A journal's first line holds the `Branch` of the history's `fork` without its totals."""
    [left_out] = re.findall(r"The first line of a branch's journal .*? without (.*?)\.", PAGE, flags=re.DOTALL)
    totals = {name for name, kind in get_type_hints(history.Branch).items() if kind == Totals | None}
    assert set(re.findall(r"`(\w+)`", left_out)) == totals


def test_the_page_says_which_keys_of_an_attempt_the_journal_alone_has() -> None:
    def alone(heading: str) -> set[str]:
        return {row[0].strip("`") for row in rows(PAGE, heading) if row[2].startswith("in the journal alone")}

    assert alone("attempt") == {name for name, out in JOURNAL_ONLY_FIELDS.items() if out is True}
    assert alone("completion") == set(JOURNAL_ONLY_FIELDS["completion"])


def test_the_page_names_both_formats() -> None:
    assert f'"{versions.HISTORY_FORMAT}"' in PAGE
    assert f'"{versions.JOURNAL_FORMAT}"' in PAGE


def read_kinds() -> set[str]:
    """The records that a journal's reader knows: the cases of its `match`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(JournalContents.read_line)))
    cases = [node.value for node in ast.walk(tree) if isinstance(node, ast.MatchValue)]
    return {case.value for case in cases if isinstance(case, ast.Constant) and isinstance(case.value, str)}


def test_the_page_names_every_record_of_a_journal_with_its_keys(tmp_path: Path) -> None:
    table: Mapping[str, str] = {row[0].strip("`"): row[1] for row in rows(PAGE, "The journal")}
    assert set(table) == read_kinds()
    today = play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="one").files.journal
    for path in (today, *GOLDEN.glob("*.jsonl")):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            chained = "chain" in line  # the oldest journals are not
            lacks = set() if chained else LATER
            named = [key for key in re.findall(r"`(\w+)`", table[line["record"]]) if key not in lacks]
            ends = ["chain"] if chained else []
            assert ["record", *named, *ends] == list(line), f"{path.name}: {line['record']}"


def test_the_page_names_every_key_of_volatile_that_there_is() -> None:
    named = {row[0].strip("`") for row in rows(PAGE, "volatile")}
    for golden in GOLDEN.glob("*.json"):
        assert set(json.loads(golden.read_text(encoding="utf-8"))["volatile"]) <= named
    source = (ROOT / "agentsim" / "runs" / "game_in_progress.py").read_text(encoding="utf-8")
    assert set(re.findall(r'volatile\["(\w+)"\]', source)) <= named
