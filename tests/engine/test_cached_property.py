"""Keeping: worked out once for each record."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentsim.engine.cached_property import cached_property

MADE: list[int] = []


@dataclass(frozen=True)
class Side:
    length: int

    @cached_property
    def square(self) -> int:
        """Its area."""
        MADE.append(self.length)
        return self.length**2


def test_what_is_cached_property_is_worked_out_once_for_each_record() -> None:
    MADE.clear()
    side, other = Side(3), Side(4)
    assert [side.square, side.square, other.square, side.square] == [9, 9, 16, 9]
    assert MADE == [3, 4]


def test_a_changed_copy_works_it_out_anew() -> None:
    side = Side(3)
    assert side.square == 9
    assert replace(side, length=5).square == 25


def test_a_record_is_no_other_for_what_is_cached_property_with_it() -> None:
    asked = Side(3)
    assert asked.square == 9
    assert asked == Side(3)
    assert repr(asked) == repr(Side(3))
    assert Side.square.__doc__ == "Its area."
