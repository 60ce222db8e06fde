"""The seeds' pages: every demand of a seed has how it is met, and a test that exists or the reason of a deviation."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT

PAGES = sorted((ROOT / "docs" / "seeds").glob("*.md"))
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def demands(page: Path) -> list[list[str]]:
    """Return the rows of a page's tables, without their heads: the demand, how it is met, the tests."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in rows if row[0] != "demand" and {*"".join(row)} - {*"-: "}]


@cache
def names_in(file: str) -> set[str]:
    """Return the functions of a file of tests, or an empty set if there is no such file."""
    path = ROOT / file
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_demand_of_a_seed_names_a_test_or_the_reason_of_a_deviation(page: Path) -> None:
    rows = demands(page)
    assert len(rows) > 10
    assert [row for row in rows if len(row) != 3 or not all(row)] == []
    assert [row for row in rows if not TEST.search(row[2]) and not re.match(r"deviation: \w", row[2])] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tests_that_a_seeds_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = TEST.findall(text)
    assert len(named) == text.count("::"), "one is not written as a test"
    assert [f"{file}::{name}" for file, name in named if name not in names_in(file)] == []
