"""Windows on what was heard: the newest, within a number and a budget, and a count of the rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.memory import Window


def window(most: int, chars: int, *sizes: int) -> Window[int]:
    made: Window[int] = Window(most, chars)
    for number, size in enumerate(sizes):
        made.add(number, size, f"of {size}")
    return made


def test_the_oldest_go_where_there_is_no_room_and_are_counted_by_kind() -> None:
    kept = window(3, 100, 10, 10, 20, 30)
    assert (list(kept.since(0)), kept.added, dict(kept.digest)) == ([1, 2, 3], 4, {"of 10": 1})
    assert list(window(9, 50, 10, 10, 20, 30).since(0)) == [2, 3], "the budget holds as well"


def test_the_newest_is_kept_however_long_it_is() -> None:
    assert list(window(3, 50, 10, 99).since(0)) == [1]


@given(st.integers(1, 5), st.integers(1, 40), st.lists(st.integers(0, 20), max_size=12), st.integers(0, 12))
def test_a_mark_parts_what_is_kept(most: int, chars: int, sizes: list[int], mark: int) -> None:
    kept, mark = window(most, chars, *sizes), min(mark, len(sizes))
    assert [*kept.upto(mark), *kept.since(mark)] == list(kept.since(0))
    assert all(number < mark for number in kept.upto(mark))
    assert all(number >= mark for number in kept.since(mark))
    assert len(kept.since(0)) + kept.digest.total() == len(sizes)
