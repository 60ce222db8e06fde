"""Lines within a number of bytes: what is worth least for its length goes, and is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.wording import Listed, fitted, size


def test_lists_lose_their_oldest_lines_and_say_how_many() -> None:
    posts = Listed("Posts", ["a" * 50, "b" * 50, "c" * 50], worth=1, more=2)
    assert fitted(["Hello", posts], 1_000) == ["Hello", "Posts (3, and 2 older):", *posts.lines]
    assert fitted(["Hello", posts], 110) == ["Hello", "Posts (1, and 4 older):", "c" * 50]
    assert fitted(["Hello", posts], 0) == ["Hello", "Posts (0, and 5 older):"], "what is no list stays"
    assert fitted([Listed("Posts", [], worth=1)], 0) == ["Posts: none."]


def test_the_lines_left_out_have_a_name_of_their_own() -> None:
    open_ = Listed("Open", ["a" * 50, "b" * 50], worth=1, rest="earlier")
    assert fitted([open_], 90) == ["Open (1, and 1 earlier):", "b" * 50]


def test_the_list_goes_first_that_is_longest_for_what_it_is_worth() -> None:
    cheap, dear = Listed("Cheap", ["x" * 40] * 4, worth=1), Listed("Dear", ["y" * 60] * 4, worth=3)
    shown = fitted([cheap, dear], 400)
    assert (shown.count("x" * 40), shown.count("y" * 60)) == (2, 4)


@given(st.lists(st.lists(st.text(max_size=30), max_size=6), max_size=4), st.integers(0, 600))
def test_what_is_shown_fits_or_holds_no_line_of_a_list(lists: list[list[str]], room: int) -> None:
    parts = [Listed(f"List {number}", lines, worth=number + 1) for number, lines in enumerate(lists)]
    shown = fitted(["Always.", *parts], room)
    bytes_ = sum(size(line) + 1 for line in shown)
    assert bytes_ <= room or len(shown) == 1 + len(parts)
