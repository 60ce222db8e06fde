"""`docs/seeds`: the tests that show how the demands of the seeds are met exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SEEDS = sorted((ROOT / "docs" / "seeds").glob("*.md"))


@pytest.mark.parametrize("page", SEEDS, ids=lambda page: page.stem)
def test_every_demand_of_a_seed_names_tests_that_exist_or_is_a_deviation(page: Path) -> None:
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    demands = [row for row in rows if not row.startswith(("| demand", "| ---"))]
    assert demands
    for row in demands:
        cells = re.split(r"(?<!\\)\|", row.strip().strip("|"))
        assert len(cells) == 3, f"three columns: {row}"
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", cells[2])
        assert named or "deviation: " in cells[2], f"a test, or a deviation with its reason: {row}"
        for file, test in named:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
            assert test in found, f"{file}::{test}"
