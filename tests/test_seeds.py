"""docs/seeds: each demand of a seed is met and shown by a test that exists, or is a named deviation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT

PAGES = sorted((ROOT / "docs" / "seeds").glob("*.md"))
HEAD = "| the seed's demand | how it is met | test |"


def rows(page: Path) -> list[list[str]]:
    """Return the cells of every row of the page's table."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = lines.index(HEAD)
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[start + 2 :] if line.startswith("|")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_demand_of_a_seed_names_a_test_that_exists_or_a_deviation(page: Path) -> None:
    table = rows(page)
    assert table
    for cells in table:
        assert len(cells) == 3, cells
        demand, how, shown = (cell.strip() for cell in cells)
        assert demand
        assert how
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", shown)
        assert tests or re.match(r"deviation: \S", shown), f"{demand}: {shown}"
        for path, name in tests:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE), f"{demand}: {path} has no test {name}"
