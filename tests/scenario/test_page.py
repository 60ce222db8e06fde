"""docs/scenario.md tells of every key that a scenario file may hold."""

from __future__ import annotations

from tests.scenario.page import PAGE, page


def test_the_page_is_made_of_the_schema() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.scenario.page"


def test_every_key_has_a_meaning() -> None:
    rows = [line.split(" | ") for line in page().splitlines() if line.startswith("| `")]
    assert rows
    assert [row[0] for row in rows if not row[3].strip()] == []
