"""Options: the legal values of a single field. Each says its JSON Schema, and why a value is not legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentsim.engine.wording import listed

Schema: TypeAlias = Mapping[str, Any]
Value: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of these values; `nothing` is the one that null, "pass" or "nobody" stand for, if there is one.

    `about` is what it is, in words, for the shape of an answer.
    """

    values: tuple[Value, ...]
    nothing: Value = None
    about: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values."""
        return ("Choice", self.values)

    def schema(self, node: Schema) -> Schema:
        """The JSON Schema of the field; `node` is that of its type."""
        if len(tag := node.get("enum", ())) == 1:  # of a kind of record: no value is left of one that is not legal
            return node if tag[0] in self.values else {**node, "enum": []}
        return {"type": _type_of(self.values), "enum": list(self.values)}

    def why_not(self, value: Any) -> str:
        """What the value must be, where it is not legal; "" where it is."""
        return "" if value in self.values else f"must be one of: {_together(self.values)}"


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number in low..high, both included; no upper end where `high` is None.

    `nothing` is the number that null or "pass" stand for, None for no such number; `about` is what it is, in words.
    """

    low: int
    high: int | None
    nothing: int | None = None
    about: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values; "Range" is its name in old journals."""
        return ("Range", self.low, self.high)

    def schema(self, node: Schema) -> Schema:
        """The JSON Schema of the field; `node` is that of its type, whose minimum holds as well."""
        upto = {} if self.high is None else {"maximum": self.high}
        return {"type": "integer", "minimum": max(self.low, node.get("minimum", self.low)), **upto}

    def holds(self, value: Any) -> bool:
        """Whether `value` is a whole number in the range; True and False are none."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.low <= value and (self.high is None or value <= self.high)

    def why_not(self, value: Any) -> str:
        """What the value must be, where it is not legal; "" where it is."""
        return "" if self.holds(value) else f"must be {self}"

    def __str__(self) -> str:
        if self.high is None:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Text:
    """Free words; more than `limit` characters are cut by the rules, visibly.

    `about` is what they are, for the shape of an answer: "your pitch". Where they may not be `empty`, a reply without
    words is asked for again, and so is a person's empty line; space around them is left out.
    """

    limit: int
    about: str = ""
    nothing: None = None
    empty: bool = True

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values."""
        return ("Text", self.limit)

    def schema(self, node: Schema) -> Schema:
        """The JSON Schema of the field."""
        return {"type": "string", "maxLength": self.limit}

    def why_not(self, value: Any) -> str:
        """Any words are legal."""
        return ""

    def spoken(self, given: Any) -> str | None:
        """The words of an answer; None where there are none and must be."""
        if self.empty:
            return given if isinstance(given, str) else None
        return (given.strip() or None) if isinstance(given, str) else None


@dataclass(frozen=True, slots=True)
class Subset:
    """Some of these values, each at most once, in any order: `least` to `most` of them (None: all).

    It belongs to a field of type `tuple`. Where none is legal, null and "pass" stand for none. `about` is what one of
    them is, in words.
    """

    values: tuple[str | int, ...]
    least: int = 0
    most: int | None = None
    about: str = ""

    @property
    def nothing(self) -> tuple[()] | None:
        """What null stands for."""
        return None if self.least else ()

    @property
    def upto(self) -> int:
        """How many there may be."""
        return len(self.values) if self.most is None else min(self.most, len(self.values))

    @property
    def _many(self) -> str:
        return f"{self.least} to {self.upto}" if self.least < self.upto else str(self.upto)

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values."""
        return (type(self).__name__, self.values, self.least, self.upto)

    def schema(self, node: Schema) -> Schema:
        """The JSON Schema of the field, without `uniqueItems`, which some providers refuse."""
        items = {"type": _type_of(self.values), "enum": list(self.values)}
        return {"type": "array", "items": items, "minItems": self.least, "maxItems": self.upto}

    def why_not(self, value: Any) -> str:
        """What the value must be, where it is not legal; "" where it is."""
        if not isinstance(value, tuple | list) or not self.least <= len(value) <= self.upto:
            return f"must be {self}"
        if unknown := [each for each in value if each not in self.values]:
            return f"must be {self}; {unknown[0]} is not among them"
        twice = next((each for each in value if value.count(each) > 1), None)
        return "" if twice is None else f"must be {self}; {twice} stands twice"

    def form(self) -> str:
        """The list in the shape of an answer: `[<0 to 2 of A, B and C>]`."""
        about = f", {self.about}" if self.about else ""
        return f"[<{self._many} of {listed([str(value) for value in self.values])}{about}>]"

    def __str__(self) -> str:
        return f"{self._many} of: {_together(self.values)}"


class Order(Subset):
    """All of these values, each once, in an order: `Order(("A", "B", "C"), about="the best first")`."""

    __slots__ = ()

    def __init__(self, values: tuple[str | int, ...], about: str = "") -> None:
        super().__init__(values, len(values), len(values), about)

    def form(self) -> str:
        """The list in the shape of an answer: `[<all of A, B and C, the best first>]`."""
        return f"[<all of {listed([str(value) for value in self.values])}, {self.about or 'in your order'}>]"

    def __str__(self) -> str:
        return f"all of these, each once, in your order: {_together(self.values)}"


Option: TypeAlias = Choice | Number | Text
"""An option with a single value."""


def _together(values: tuple[Value, ...]) -> str:
    return ", ".join(map(str, values))


def _type_of(values: tuple[Value, ...]) -> str | list[str]:
    """The JSON type of a choice; a list where its values have several, such as a name or null."""
    names = {str: "string", int: "integer", type(None): "null"}
    kinds = set(map(type, values))
    found = [name for kind, name in names.items() if kind in kinds]
    return found[0] if len(found) == 1 else found
