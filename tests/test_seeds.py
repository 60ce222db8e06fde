"""docs/seeds: each demand of a seed, how it is met, and the test that shows it; or a deviation with its reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "seeds").glob("*.md"))
_TEST = re.compile(r"`(?P<path>tests/[\w/]+\.py)::(?P<name>test_\w+)`")


def rows(page: Path) -> Iterator[list[str]]:
    """Yield the cells of every row of every table, without the rows of titles."""
    for table in re.findall(r"(?:^\|.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
        for line in table.splitlines()[2:]:
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@cache
def functions_in(path: str) -> frozenset[str]:
    file = ROOT / path
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if file.is_file() else ()
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_demand_of_a_seed_names_a_test_that_exists_or_a_deviation_with_its_reason(page: Path) -> None:
    found = list(rows(page))
    assert found
    for row in found:
        demand, met, shown = row
        assert all((demand, met)), row
        tests = [(match["path"], match["name"]) for match in _TEST.finditer(shown)]
        assert tests or re.match(r"deviation: \w", shown), row
        assert [(path, name) for path, name in tests if name not in functions_in(path)] == [], row
