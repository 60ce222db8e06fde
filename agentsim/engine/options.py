"""Options: the legal values of a single field. Each says its JSON Schema, and why a value is not legal.

Also the shape of an answer in words, derived from its schema and options.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.wording import counted, either, listed

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
        """Identifies the option in fingerprints, as JSON values."""
        return ("Number", self.low, self.high)

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
    words is asked for again, and so is an empty field of a form; space around them is left out.
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


@cache
def _marks(answer: type[Decision]) -> Mapping[str, Any]:
    marks = ((name, mark) for name, field in answer.model_fields.items() for mark in field.metadata)
    return {name: mark for name, mark in marks if isinstance(mark, FunctionType) or hasattr(mark, "why_not")}


def options_in(answer: type[Decision], request: object) -> dict[str, Any]:
    """The options in the annotations of a decision, as they are or made of the request by a function."""
    marks = _marks(answer).items()
    found = {name: mark(request) if isinstance(mark, FunctionType) else mark for name, mark in marks}
    for name in (name for name, option in found.items() if not hasattr(option, "why_not")):
        what = f"{type(request).__name__}: the function in the annotation of {name}"
        raise TypeError(f"{what} returns {found[name]!r}, which is no option")
    return found


def form_of(schema: Schema, options: Mapping[str, Any], path: str = "") -> str:
    """An object of this schema with its legal values in words: `{"reasoning": "<why>", "vote": "<C or D>"}`."""
    option = options.get(path)
    if (own := getattr(option, "form", None)) is not None:  # of several values, or an object
        return str(own())
    if "anyOf" in schema:
        return " or ".join(form_of(branch, options, path) for branch in schema["anyOf"])
    if "properties" in schema:
        return _form_of_object(schema["properties"], options, path)
    if "enum" in schema:
        return f'"<{option.about}>"' if isinstance(option, Choice) and option.about else _one_of(schema["enum"])
    kinds = schema.get("type")
    if isinstance(kinds, list):  # what may be null too
        named = [each for each in kinds if each != "null"]
        return form_of({**schema, "type": named[0]}, options, path) if len(named) == 1 else '"<words or a number>"'
    if kinds == "array":
        return f"[{form_of(schema.get('items', {}), options, path)}, ...]"
    if kinds == "integer":
        return _form_of_number(schema, option)
    if kinds in {"boolean", "object", "number"}:
        return {"boolean": "<true or false>", "object": "{...}", "number": "<a number>"}[str(kinds)]
    reasons = {"explanation", "reasoning", "private_thought"}
    about = getattr(option, "about", "") or ("why" if path.rpartition(".")[2] in reasons else "words")
    most = schema.get("maxLength")
    return f'"<{about}>"' if most is None else f'"<{about}, at most {counted(most, "character")}>"'


def _form_of_number(schema: Schema, option: Any) -> str:
    low, high = schema.get("minimum", 0), schema.get("maximum")
    about = f", {option.about}" if isinstance(option, Number) and option.about else ""
    if option is not None and option.nothing is not None:
        return f"<a whole number{'' if high is None else f' up to {high}'}, {option.nothing} to pass{about}>"
    return f"<a whole number{f', {low} or more' if high is None else f' from {low} to {high}'}{about}>"


def _form_of_object(inner: Mapping[str, Schema], options: Mapping[str, Any], path: str) -> str:
    parts = [f"{json.dumps(key)}: {form_of(part, options, f'{path}.{key}'.lstrip('.'))}" for key, part in inner.items()]
    first, kind = next(((key, part.get("type")) for key, part in inner.items()), ("", ""))
    if kind == "boolean" and len(parts) > 1:  # what may be answered no, after which nothing else is asked
        return f'{{"{first}": true, {", ".join(parts[1:])}}} or {{"{first}": false}}'
    return f"{{{', '.join(parts)}}}"


def _one_of(values: Sequence[Any]) -> str:
    if len(values) == 1:
        return json.dumps(values[0], ensure_ascii=False)
    named = ["null" if value is None else str(value) for value in values]
    return f'"<{either(named)}>"' if any(isinstance(value, str) for value in values) else f"<{either(named)}>"


def _together(values: tuple[Value, ...]) -> str:
    return ", ".join(map(str, values))


def _type_of(values: tuple[Value, ...]) -> str | list[str]:
    """The JSON type of a choice; a list where its values have several, such as a name or null."""
    names = {str: "string", int: "integer", type(None): "null"}
    kinds = set(map(type, values))
    found = [name for kind, name in names.items() if kind in kinds]
    return found[0] if len(found) == 1 else found


def or_null(legal: Schema) -> Schema:
    """A schema of the same, or null."""
    kinds = legal["type"] if isinstance(legal["type"], list) else [legal["type"]]
    return {**legal, "type": [*kinds, "null"], **({"enum": [*legal["enum"], None]} if "enum" in legal else {})}


def wider(one: Schema, other: Schema) -> Schema:
    """A schema of whatever either allows."""
    kinds = [each["type"] if isinstance(each["type"], list) else [each["type"]] for each in (one, other)]
    if kinds[0] != kinds[1]:
        return {"type": list(dict.fromkeys([*kinds[0], *kinds[1]]))}
    widest = {"minimum": min, "maximum": max, "maxLength": max}
    limits = {key: pick(one[key], other[key]) for key, pick in widest.items() if key in one and key in other}
    enum = {"enum": list(dict.fromkeys([*one["enum"], *other["enum"]]))} if "enum" in one and "enum" in other else {}
    return {"type": one["type"], **limits, **enum}


def first_reason(path: str, legal: Mapping[str, Option], given: Mapping[str, Any]) -> str:
    """The first thing that is wrong with the values of an object."""
    for key, value in given.items():
        if key not in legal:
            return f"{path} must have no keys but {', '.join(legal)}" if legal else f"{path} must be empty"
        option = legal[key]
        unsaid = isinstance(option, Text) and option.spoken(value) is None
        if reason := "must be words" if unsaid else option.why_not(value):
            return f"{path}.{key} {reason}"
    return ""
