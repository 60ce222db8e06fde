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


def test_a_row_whose_error_is_not_raised_is_named_like_any_other() -> None:
    @each_row("text", ["x", "1", "y"])
    def of_one(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)
        assert text == "x"

    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows fail") as failed:
        of_one()
    assert [error.__notes__[-1] for error in failed.value.exceptions] == ["in the row '1'", "in the row 'y'"]


def test_a_test_of_no_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        each_row("text", [])


@each_row("pair", [("a", "b"), "cd"])
def test_a_row_of_one_name_is_its_value(pair: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert len(pair) == 2
    assert tmp_path_factory.getbasetemp().is_dir()
