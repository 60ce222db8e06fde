"""options: the legal values of a decision, field by field. What else makes one legal is `Request.check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Choice", "Options", "Range", "Text"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of these values."""

    values: tuple[str | int | None, ...]

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from other options, as JSON values."""
        return ("Choice", self.values)


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number in low..high, both included; no upper end where `high` is None."""

    low: int
    high: int | None

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from other options, as JSON values."""
        return ("Range", self.low, self.high)

    def holds(self, value: Any) -> bool:
        """Whether `value` is a whole number in the range; True and False are none."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.low <= value and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Text:
    """Free words; more than `limit` characters are cut by the rules, visibly."""

    limit: int

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from other options, as JSON values."""
        return ("Text", self.limit)


Options: TypeAlias = Mapping[str, Choice | Range | Text]
"""The legal values of a decision, by field (`action.bid` is a field of a field); others are as free as their type.

Where a field may be one of several kinds of record, those without a field of a field are not concerned by its options.
"""
