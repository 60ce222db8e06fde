"""docs/scenario.md tells of every key that a scenario file may hold."""

from __future__ import annotations

from tests.scenario.page import PAGE, page


def test_the_page_is_made_of_the_schema() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.scenario.page"
