"""Rows that share a test: every row is checked, and every one that fails is named."""

from __future__ import annotations

import pytest

from tests.amounts import each_row


def test_every_row_that_fails_is_named_and_the_others_are_checked() -> None:
    checked = []

    @each_row("number, word", [(1, "one"), (2, "two"), (3, "three"), (4, "four")])
    def of_two(number: int, word: str, fixture: str) -> None:
        assert fixture == "given"
        checked.append(word)
        assert number % 2

    with pytest.raises(ExceptionGroup, match="2 of 4 rows fail") as failed:
        of_two(fixture="given")
    assert checked == ["one", "two", "three", "four"]
    assert [error.__notes__[-1] for error in failed.value.exceptions] == [
        "in the row (2, 'two')",
        "in the row (4, 'four')",
    ]


@each_row("pair", [("a", "b"), "cd"])
def test_a_row_of_one_name_is_its_value(pair: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert len(pair) == 2
    assert tmp_path_factory.getbasetemp().is_dir()
