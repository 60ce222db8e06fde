"""No text of the package has a plural after a number that may be 1."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest

from agentsim.engine.wording import Worded, by_count, counted, filled, plural
from agentsim.report.markup import environment
from tests.amounts import each_row

PACKAGE = Path(__file__).parents[1] / "agentsim"
SEAT = PACKAGE / "server" / "templates" / "seat_part.html.j2"
# A number in the source: a length, a sum, or a value formatted as a whole number; not a constant.
_NUMBER = re.compile(r"\b(?:len|sum)\(|^(?![A-Z_]+\b).*:,$")
_PLURAL = re.compile(r" (?:[a-z]+ )?(?P<noun>[a-z]{3,}s)\b")
_VERBS = {"differs", "has", "leaves", "this", "was"}
_AGREE = "are|were|have|do|begin|vote|play|share|hold|come|take|need|make|stand|use|work|die|win|go|get|give|pay|want"
_AFTER_COUNT = re.compile(rf" (?:{_AGREE})\b")
_IN_TEMPLATE = re.compile(rf"\{{[a-z_.]+:(?!and\b|or\b)[a-z]+(?: [a-z]+)*\}} (?:{_AGREE})\b")
_MORE_THAN_ONE = {
    ("report.py", "conditions"): "said of two or more",
    ("rules_text.py", "teams"): "an auction has two or more",
    ("trade.py", "deeds"): "a group has two or more",
    ("load.py", "players"): "said of more than a question may name",
    ("panels.py", "agents"): "said of more than fit",
    ("people.py", "ties"): "said of more than fit",
    ("game_panels.py", "pairs"): "said of more than fit",
    ("summary.py", "players"): "said of more than are named",
    ("game.py", "deeds"): "the number is money",
    ("common.py", "bytes"): "said of thousands",
    ("diagnostics.py", "tokens"): "said of thousands",
}
"""The places at which the number is never 1, by module and noun, with the reason."""


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def in_strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the plurals after numbers in the f-strings of a module, with their lines."""
    strings = [node for node in nodes(path) if isinstance(node, ast.JoinedStr)]
    for node in strings:
        for value, after in pairwise(node.values):
            if not (isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant)):
                continue
            form = ast.unparse(value.format_spec)[2:-1] if value.format_spec else ""
            found = _PLURAL.match(str(after.value))
            if found and found["noun"] not in _VERBS and _NUMBER.search(f"{ast.unparse(value.value)}:{form}"):
                yield node.lineno, found["noun"]


def verbs_behind_counts(path: Path) -> Iterator[str]:
    """Yield the plural verbs after counted nouns, in f-strings and templates of a module."""
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (f"{path}:{node.lineno}: {found[0]}" for found in _IN_TEMPLATE.finditer(node.value))
        elif isinstance(node, ast.JoinedStr):
            for value, after in pairwise(node.values):
                is_count = isinstance(value, ast.FormattedValue) and ast.unparse(value.value).startswith("counted(")
                if is_count and isinstance(after, ast.Constant) and (verb := _AFTER_COUNT.match(str(after.value))):
                    yield f"{path}:{node.lineno}:{verb[0]}"


def test_no_verb_in_the_plural_stands_behind_a_counted_noun() -> None:
    found = {each for path in PACKAGE.rglob("*.py") for each in verbs_behind_counts(path)}
    assert found == set()


def test_no_line_of_the_program_has_a_plural_behind_a_number_that_may_be_one() -> None:
    found = {(path.name, noun): f"{path}:{line}" for path in PACKAGE.rglob("*.py") for line, noun in in_strings(path)}
    assert {place for key, place in found.items() if key not in _MORE_THAN_ONE} == set()


@each_row(
    "noun, several",
    [("vote", "votes"), ("day", "days"), ("history", "histories"), ("branch", "branches"), ("pass", "passes"),
     ("box", "boxes"), ("required component", "required components")],
)  # fmt: skip
def test_the_plural_of_a_noun(noun: str, several: str) -> None:
    assert plural(noun) == several
    assert [counted(count, noun) for count in (0, 1, 2)] == [f"0 {several}", f"1 {noun}", f"2 {several}"]


def test_words_other_than_the_regular_plural_are_given() -> None:
    assert [by_count(count, "history is", "histories are") for count in (1, 2)] == ["history is", "histories are"]
    assert counted(1_000, "recorded reply was", "recorded replies were", ",") == "1,000 recorded replies were"


@dataclass(frozen=True)
class Told:
    laws: int
    agents: tuple[str, ...]
    hours: Annotated[int, Worded(lambda tenths: f"{tenths / 10:g}")]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (Told(1, ("A",), 10), "1 law, 1 agent, 1 hour"),
        (Told(0, (), 5), "0 laws, 0 agents, 0.5 hours"),
        (Told(2, ("A", "B"), 20), "2 laws, 2 agents, 2 hours"),
    ],
)
def test_a_template_counts_by_the_same_rule(record: Told, words: str) -> None:
    assert filled("{laws:law}, {agents:agent}, {hours:hour}", record) == words


@pytest.mark.parametrize(
    ("left", "words"), [(1, "You have 1 second."), (2, "You have 2 seconds."), (0, "You have 0 seconds.")]
)
def test_the_clock_of_a_persons_page_counts_by_the_same_rule(left: int, words: str) -> None:
    line = next(line for line in SEAT.read_text(encoding="utf-8").splitlines() if "You have {{" in line)
    template = re.search("You have .*?[.]<", line)
    assert template is not None
    drawn = environment().from_string(template[0][:-1]).render(v=SimpleNamespace(left=left))
    assert drawn == words
