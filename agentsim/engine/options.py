"""Options: the legal values of a decision, with a class for each kind.

An option owns all that follows from its legal values: the JSON Schema, the check, the words in a prompt, the meaning of
JSON in a reply, the field of a form, the meaning of a person's text, and random values. A new kind of option is one
more class. A game declares `Choice`, `Number`, `Text`, `Subset`, `Order`, `PerKey` and `Variant`, a survey also
`Probabilities`; the others follow from the types of a decision's fields. At the end stand the fields of a whole answer:
of its types, of a request, and as a state narrows them. `Request.check` decides what is legal beyond options.

The keywords of a schema have one order, so that equal options are sent as equal bytes: `type` first, then `enum`,
`items` or `properties`, then limits, the lower before the upper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from pydantic_core import PydanticCustomError

from agentsim.engine.chance import Stream
from agentsim.engine.decision import whole
from agentsim.engine.probabilities import Stated, normalized, stated_in
from agentsim.engine.wording import counted, cut, either, listed
from agentsim.errors import UnreadableReply
from agentsim.patterns import Pattern

if TYPE_CHECKING:
    from agentsim.engine.reading.shaping import Shape
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType

from agentsim.engine.decision import Decision

Schema: TypeAlias = Mapping[str, Any]
Value: TypeAlias = str | int | None
Kind: TypeAlias = Literal["choice", "number", "yes_no", "list", "words", "record", "variant", "other"]
"""The kind of an option, as the reader of replies distinguishes them."""
Synonyms: TypeAlias = Mapping[str, tuple[str, ...]]
"""Other words for choices, by value."""

MISSING: Final = object()
"""A sentinel for no value, because None may be one. It has two uses:

- as a result, JSON or a text means none of the legal values (`read`, the reader's `chosen` and `amount`);
- as a default or an argument, there is no such value: null has no meaning (`if_null`), more than one value is legal
  (`only`), or the answer lacks the field (`converted`).
"""
LOWEST: Final = -(10**18)
"""The `low` of a `Number` without a lower end."""
LONGEST: Final = 10**9
"""The `limit` of a `Text` of any length."""

_REASONS = frozenset({"explanation", "reasoning", "private_thought"})
_BEYOND = 100  # drawn up to so much above the lower end of a number without an upper end
_MOST_DRAWN = 3  # entries of a list
_DRAWN_WORDS = ("Good morning.", "I am not sure.", "Let us see.", "Why not?", "We should talk.", "Not today.")
_PLAIN_NUMBER = Pattern(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")  # digits that a float holds exactly
_TYPED_YES, _TYPED_NO = {"y", "yes", "true"}, {"n", "no", "false"}
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


class LegalValues:
    """The base of options: any JSON value is legal, none is read from words, and a form takes JSON."""

    __slots__ = ()

    kind: ClassVar[Kind] = "other"
    entry: ClassVar[str] = "words"
    """The form's description of such an entry in a list."""
    is_needed: ClassVar[bool] = False
    """True if a form's field with this option must not be empty."""
    lacking: ClassVar[str] = "value"
    """The name of a missing value in the errors of a `PerKey`."""
    values: Sequence[Any] = ()
    """The legal values, if they are few; for a list, those of its entries."""
    if_null: Any = None
    """The value that null, "pass" or "nobody" stand for, or None."""
    parts: Mapping[str, Any] | None = None
    """The options of the fields of an object, or None."""
    kinds: Mapping[str, JsonObject] | None = None
    """The kinds of records that a field may hold, by their tag, or None."""
    items: LegalValues | None = None
    """The option of a list's entries, or None."""
    only: Any = MISSING
    """The only legal value, for which an empty field of a form can stand, or `MISSING`."""

    # -- what is legal

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {}

    def within(self, typed: LegalValues) -> LegalValues:
        """Return this option for a field whose type allows `typed`."""
        return self

    def why_not(self, value: Any) -> str:
        """Return what a value must be if it is not legal, or ""."""
        return ""

    def why_not_part(self, value: Any) -> str:
        """Return what a value of a `PerKey` or a `Variant` must be if it is not legal, or ""."""
        return self.why_not(value)

    def objection(self, path: str, given: Mapping[str, Any]) -> str:
        """Return what is wrong with the value at a path of a decision, or ""; `given` has its values by path."""
        reason = self.why_not(given[path])
        return reason and f"{path} {reason}"

    def by_path(self, path: str) -> Mapping[str, LegalValues]:
        """Return the options of single values by path; a request's fingerprint contains their identities."""
        return {path: self}

    def leaves(self, path: str) -> Mapping[str, LegalValues]:
        """Return the options at the paths of an answer; the path "" is an answer that is only this value."""
        return {path: self}

    @property
    def is_in_fingerprint(self) -> bool:
        """True if `by_path` determines all legal values."""
        return True

    @property
    def fallback_value(self) -> Any:
        """The value of a fallback that says nothing, or `MISSING`."""
        return self.if_null

    # -- in words

    def words(self, name: str) -> str:
        """Return the value's words in the shape of an answer, for a field with this name."""
        return f'"<{"why" if name in _REASONS else "words"}>"'

    # -- in a reply

    def read(self, given: Any, if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
        """Return the legal value that JSON or a text means, or `MISSING`; null means `if_null`."""
        return MISSING

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        """Return the value in the schema's spelling if it is clear, else unchanged."""
        return given

    def fits(self, value: Any) -> bool:
        """Return whether JSON has the keys and the choices of this option in their exact spelling."""
        return True

    def knows(self, value: Any) -> bool:
        """Return whether the objects in JSON have only keys of this option."""
        return True

    def spoken(self, value: Any) -> Any:
        """Return a value within an object as it counts, such as a text without blanks around it; None if empty."""
        return value

    def converted(self, given: Any, beside: Mapping[str, Any]) -> Any:
        """Return the field of a decision from an answer, which may be `MISSING`. Raises `UnreadableReply`."""
        return given

    def taken(self, given: Any, beside: Mapping[str, Any]) -> Any:
        """Return a given value without the parts that have no meaning, given the fields `beside` it in its object."""
        return given

    # -- at random, and by example

    def random(self, rng: Stream) -> Any:
        """Draw a value that the schema allows."""
        return None

    def redrawn(self, drawn: Any, beside: Mapping[str, Any], rng: Stream) -> Any:
        """Return a value that was drawn by the schema, or another if its legality depends on more than the schema."""
        return drawn

    @property
    def example(self) -> Any:
        """A value to show how to type an answer, or None."""
        return None

    # -- in a form

    def given(self, answered: Mapping[str, Any]) -> LegalValues:
        """Return the option of a form's field after the answers beside it."""
        return self

    @property
    def range(self) -> str:
        """The values that may be typed, in words."""
        return ""

    def parse(self, text: str, hint: str = "") -> Any:
        """Return the meaning of a person's text. Raises `ValueError` with words for that person, or the `hint`."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text


def called_value(value: Any) -> str:
    """Return the label of a value in a choice."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nobody" if value is None else str(value) or "none"


# -- what a game declares


@dataclass(frozen=True, slots=True)
class Choice(LegalValues):
    """Exactly one of these values; `if_null` is the one that null, "pass" or "nobody" stand for, or None.

    `about` describes it in the shape of an answer.
    """

    values: tuple[Value, ...] = field()  # without the default of the base class
    if_null: Value = None
    about: str = ""

    kind = "choice"
    is_needed = True

    @property
    def identity(self) -> tuple[object, ...]:
        """The option in fingerprints, as JSON values."""
        return ("Choice", self.values)

    def schema(self) -> dict[str, Any]:
        return {"type": _type_of(self.values), "enum": list(self.values)}

    def within(self, typed: LegalValues) -> LegalValues:
        """Return this option, or for the tag of a kind of record that tag, or no value if the tag is not legal."""
        if typed.kind == "choice" and len(typed.values) == 1:
            return typed if typed.values[0] in self.values else Choice(())
        return self

    def why_not(self, value: Any) -> str:
        return "" if value in self.values else f"must be one of: {_together(self.values)}"

    def words(self, name: str) -> str:
        return f'"<{self.about}>"' if self.about else _one_of(self.values)

    @property
    def summary(self) -> str:
        """A description for a list of parameters."""
        return f"one of {_together(self.values)}"

    def accepted(self, given: Any) -> Any:
        """Return a parameter. Raises `ValueError` with what it must be."""
        if reason := _no_text(given) or self.why_not(given):
            raise ValueError(reason)
        return given

    def read(self, given: Any, if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
        from agentsim.engine.reading.fields import chosen

        return chosen(given, self.values, if_null, synonyms)

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.value(given, self, path)

    def fits(self, value: Any) -> bool:
        return value in self.values

    def random(self, rng: Stream) -> Any:
        return rng.pick(self.values)

    @property
    def example(self) -> Any:
        return self.values[0] if self.values else None

    @property
    def entry(self) -> str:  # type: ignore[override] # here it follows from the values
        return "/".join(map(str, self.values))

    def parse(self, text: str, hint: str = "") -> Any:
        for same in (str.strip, _without_case):  # first in the exact spelling, then in any case
            for value in self.values:
                if same(called_value(value)) == same(text):
                    return value
        raise ValueError(f"One of these, please: {', '.join(map(called_value, self.values))}.")


@dataclass(frozen=True, slots=True)
class Number(LegalValues):
    """A whole number in low..high, both included; no upper end if `high` is None.

    `if_null` is the number that null or "pass" stand for, or None; `about` describes it in words. `also` are further
    keywords of the schema, from the type of a field.
    """

    low: int
    high: int | None
    if_null: int | None = None
    about: str = ""
    also: tuple[tuple[str, Any], ...] = field(default=(), kw_only=True)

    kind = "number"
    entry = "number"
    is_needed = True

    @property
    def identity(self) -> tuple[object, ...]:
        """The option in fingerprints, as JSON values."""
        return ("Number", self.low, self.high)

    def schema(self) -> dict[str, Any]:
        least = {} if self.low == LOWEST else {"minimum": self.low}
        return {"type": "integer", **least, **({} if self.high is None else {"maximum": self.high}), **dict(self.also)}

    def within(self, typed: LegalValues) -> LegalValues:
        """Return this option with a lower end of at least that of the type."""
        return replace(self, low=max(self.low, typed.low)) if isinstance(typed, Number) else self

    def holds(self, value: Any) -> bool:
        """Return whether `value` is a whole number in the range; True and False are not."""
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and self.low <= value and (self.high is None or value <= self.high)

    def why_not(self, value: Any) -> str:
        return "" if self.holds(value) else f"must be {self}"

    def __str__(self) -> str:
        if self.high is None:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"

    def words(self, name: str) -> str:
        about = f", {self.about}" if self.about else ""
        if self.if_null is not None:
            upto = "" if self.high is None else f" up to {self.high}"
            span = upto if self.if_null == self.low else f" from {self.low}{upto and f' to {self.high}'}"
            return f"<a whole number{span}, {self.if_null} to pass{about}>"
        return f"<{replace(self, low=0 if self.low == LOWEST else self.low)}{about}>"

    @property
    def summary(self) -> str:
        """A description for a list of parameters."""
        return f"always {self.low}" if self.low == self.high else self._span

    @property
    def _span(self) -> str:
        return f"whole number, {self.low} {'or more' if self.high is None else f'to {self.high}'}"

    def accepted(self, given: Any) -> int:
        """Return a parameter. Raises `ValueError` with what it must be."""
        try:
            number = whole(given)
        except PydanticCustomError:
            raise ValueError("must be a whole number") from None
        if not self.holds(number):
            raise ValueError(f"must be a {self._span}")
        return number

    def read(self, given: Any, if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
        from agentsim.engine.reading.fields import amount

        return amount(given, if_null)

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.value(given, self, path)

    def random(self, rng: Stream) -> int:
        low = 0 if self.low == LOWEST else self.low
        return rng.integer(low, low + _BEYOND if self.high is None else self.high)

    @property
    def example(self) -> int:
        return max(self.low, 1)

    @property
    def only(self) -> Any:
        return self.low if self.low == self.high else MISSING

    @property
    def range(self) -> str:
        if self.low == LOWEST:
            return ""
        return (
            f"{self.low} or more"
            if self.high is None
            else f"{self.low} to {self.high}"
            if self.low != self.high
            else f"{self.low}"
        )

    def parse(self, text: str, hint: str = "") -> int:
        """Return the number, in any unambiguous spelling."""
        with suppress(ValueError):
            if self.holds(value := whole(text)):
                return value
        if hint:
            raise ValueError(f"A whole number, please: {hint}.")
        least = "" if self.low == LOWEST else f" from {self.low}" if self.high is not None else f", {self.low} or more"
        raise ValueError(f"A whole number{least}{'' if self.high is None else f' to {self.high}'}, please.")


@dataclass(frozen=True, slots=True)
class Text(LegalValues):
    """Free words; the rules cut more than `limit` characters, visibly.

    `about` describes them in the shape of an answer: "your pitch". If they may not be `empty`, a reply without words is
    asked for again, an empty field of a form is refused, and surrounding space is stripped. `also` are further keywords
    of the schema, from the type of a field. `usual` is the number of characters with which a forecast reckons: half of
    the limit if None.
    """

    limit: int
    about: str = ""
    if_null: None = None
    empty: bool = True
    usual: int | None = field(default=None, kw_only=True)
    also: tuple[tuple[str, Any], ...] = field(default=(), kw_only=True)

    kind = "words"
    lacking = "line"

    @property
    def identity(self) -> tuple[object, ...]:
        """The option in fingerprints, as JSON values."""
        return ("Text", self.limit)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", **({} if self.limit == LONGEST else {"maxLength": self.limit}), **dict(self.also)}

    def why_not_part(self, value: Any) -> str:
        return "must be words" if self.spoken(value) is None else ""

    @property
    def fallback_value(self) -> str:
        return ""

    def words(self, name: str) -> str:
        about = self.about or ("why" if name in _REASONS else "words")
        return f'"<{about}{"" if self.limit == LONGEST else f", at most {self._most}"}>"'

    @property
    def _most(self) -> str:
        return counted(self.limit, "character")

    @property
    def summary(self) -> str:
        """A description for a list of parameters."""
        return f"text, at most {self._most}"

    def accepted(self, given: Any) -> str:
        """Return a parameter, cut to the limit. Raises `ValueError` with what it must be."""
        if reason := _no_text(given):
            raise ValueError(reason)
        return cut(given, self.limit)

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.spoken(given, path, beside)

    def spoken(self, value: Any) -> str | None:
        """Return the words of an answer, or None if they are missing."""
        if self.empty:
            return value if isinstance(value, str) else None
        return (value.strip() or None) if isinstance(value, str) else None

    def converted(self, given: Any, beside: Mapping[str, Any]) -> Any:
        if self.empty or not isinstance(given, str):
            return given
        if (words := self.spoken(given)) is None:
            raise UnreadableReply("The reply says nothing.")
        return words

    def random(self, rng: Stream) -> str:
        return rng.pick(_DRAWN_WORDS)[: self.limit]

    @property
    def example(self) -> str:
        return "some words"

    @property
    def is_needed(self) -> bool:  # type: ignore[override] # here it follows from a field
        return not self.empty

    def parse(self, text: str, hint: str = "") -> str:
        if not text and not self.empty:
            raise ValueError("An empty answer says nothing. Some words, please.")
        if len(text) > self.limit:
            raise ValueError(f"That is {counted(len(text), 'character')}, and {self.limit} fit. Shorter, please.")
        return text


class List(LegalValues):
    """The base of options whose values are lists of `least` to `upto` entries; `items` is the option of an entry."""

    __slots__ = ()

    least: int
    items: LegalValues

    @property
    def upto(self) -> int | None:
        """The maximum number of entries, or None."""
        raise NotImplementedError

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.value(given, self, path) if self.kind == "list" else given

    def read(self, given: Any, if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
        from agentsim.engine.reading.fields import several

        return several(given, self.values, if_null, synonyms) if self.kind == "list" else MISSING

    def knows(self, value: Any) -> bool:
        return not isinstance(value, list) or all(map(self.items.knows, value))

    def random(self, rng: Stream) -> list[Any]:
        most = _MOST_DRAWN if self.upto is None else min(self.upto, _MOST_DRAWN)
        return [self.items.random(rng) for _ in range(rng.integer(self.least, max(self.least, most)))]

    @property
    def range(self) -> str:
        return f"{self.items.entry}, ...{'' if self.least else '; empty for none'}"

    def parse(self, text: str, hint: str = "") -> list[Any]:
        """Return the entries between commas; spaces also separate numbers."""
        is_spaced = re.fullmatch(r"[\d,\s]*", text) and self.items.kind == "number"
        entries = [part.split() for part in re.split(r"[,\s]" if is_spaced else ",", text) if part.strip()]
        return self._bounded([self._entry(words) for words in entries])

    def picked(self, texts: Sequence[str]) -> list[Any]:
        """Return the entries that a person chose. Raises `ValueError` if they are too few or too many."""
        return self._bounded([self.items.parse(text) for text in texts])

    def _entry(self, words: list[str]) -> Any:
        try:
            return self.items.parse(" ".join(words))
        except ValueError as error:
            raise ValueError(f"{' '.join(words)}: {error}") from None

    def _bounded(self, found: list[Any]) -> list[Any]:
        if len(found) < self.least:
            raise ValueError(f"At least {self.least}, please.")
        if self.upto is not None and len(found) > self.upto:
            raise ValueError(f"At most {self.upto}, please.")
        return found


@dataclass(frozen=True, slots=True)
class Subset(List):
    """Some of these values, each at most once, in any order: `least` to `most` of them (None: all).

    It belongs to a field of type `tuple`. If `least` is 0, null and "pass" mean no value. `about` describes one of the
    values.
    """

    values: tuple[str | int, ...] = field()
    least: int = 0
    most: int | None = None
    about: str = ""

    kind = "list"

    @property
    def items(self) -> Choice:  # type: ignore[override] # here it follows from the values
        return Choice(self.values)

    @property
    def if_null(self) -> tuple[()] | None:
        return None if self.least else ()

    @property
    def upto(self) -> int:
        return len(self.values) if self.most is None else min(self.most, len(self.values))

    @property
    def _many(self) -> str:
        return f"{self.least} to {self.upto}" if self.least < self.upto else str(self.upto)

    @property
    def identity(self) -> tuple[object, ...]:
        """The option in fingerprints, as JSON values."""
        return (type(self).__name__, self.values, self.least, self.upto)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema without `uniqueItems`, which some providers refuse."""
        return {"type": "array", "items": self.items.schema(), "minItems": self.least, "maxItems": self.upto}

    def why_not(self, value: Any) -> str:
        if not isinstance(value, tuple | list) or not self.least <= len(value) <= self.upto:
            return f"must be {self}"
        if unknown := [each for each in value if each not in self.values]:
            return f"must be {self}; {unknown[0]} is not among them"
        twice = next((each for each in value if value.count(each) > 1), None)
        return "" if twice is None else f"must be {self}; {twice} stands twice"

    def words(self, name: str) -> str:
        """Return the list in the shape of an answer: `[<0 to 2 of A, B and C>]`."""
        about = f", {self.about}" if self.about else ""
        return f"[<{self._many} of {listed([str(value) for value in self.values])}{about}>]"

    def __str__(self) -> str:
        return f"{self._many} of: {_together(self.values)}"

    def redrawn(self, drawn: Any, beside: Mapping[str, Any], rng: Stream) -> list[Any]:
        """Draw distinct entries."""
        count = rng.integer(self.least, self.upto)
        return rng.shuffled(self.values)[:count]


class Order(Subset):
    """All of these values, each once, in an order: `Order(("A", "B", "C"), about="the best first")`."""

    __slots__ = ()

    def __init__(self, values: tuple[str | int, ...], about: str = "") -> None:
        super().__init__(values, len(values), len(values), about)

    def words(self, name: str) -> str:
        """Return the list in the shape of an answer: `[<all of A, B and C, the best first>]`."""
        return f"[<all of {listed([str(value) for value in self.values])}, {self.about or 'in your order'}>]"

    def __str__(self) -> str:
        return f"all of these, each once, in your order: {_together(self.values)}"


@dataclass(frozen=True, slots=True)
class Amount(LegalValues):
    """A number of `Probabilities`: a number from 0 in JSON, and any spelling of it in a form."""

    is_needed = True

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": 0}

    def words(self, name: str) -> str:
        return "<percent>"

    def random(self, rng: Stream) -> int:
        return rng.integer(0, 100)

    @property
    def range(self) -> str:
        return "percent"

    @property
    def example(self) -> int:
        return 1

    def parse(self, text: str, hint: str = "") -> Stated:
        """Return the number, or the text of another spelling, which is judged with all numbers of the answer."""
        return json.loads(text) if _PLAIN_NUMBER.fullmatch(text) else text


@dataclass(frozen=True, slots=True)
class Probabilities(LegalValues):
    """An object that has a number for each of these values, which `normalized` turns into their probabilities."""

    values: tuple[str, ...] = field()

    kind = "record"
    lacking = "probabilities"

    @property
    def identity(self) -> tuple[object, ...]:
        """The option in fingerprints, as JSON values."""
        return ("Probabilities", self.values)

    @property
    def parts(self) -> Mapping[str, LegalValues]:  # type: ignore[override] # here it follows from the values
        return dict.fromkeys(self.values, Amount())

    def schema(self) -> dict[str, Any]:
        return closed_object({name: part.schema() for name, part in self.parts.items()})

    def why_not(self, value: Any) -> str:
        if not isinstance(value, Mapping):
            return f"must be an object with a number for each of: {_together(self.values)}"
        if strange := [name for name in value if name not in self.values]:
            return f"must have no names but {_together(self.values)}; {cut(str(strange[0]), 40)} is not among them"
        if missing := [name for name in self.values if name not in value]:
            return f"must have a number for each of: {_together(self.values)}; there is none for {missing[0]}"
        for name, said in value.items():
            if isinstance(said, bool) or not isinstance(said, int | float | str):
                return f"must be numbers such as 60 (percent), found another value for {name}"
        try:
            normalized(value)
        except ValueError as error:
            return str(error)
        return ""

    def words(self, name: str) -> str:
        """Return the object in the shape of an answer: `{"Ann": <percent>, "Bea": <percent>}`."""
        return f"{{{', '.join(f'{json.dumps(value, ensure_ascii=False)}: <percent>' for value in self.values)}}}"

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        if isinstance(given, str) and (said := stated_in(given)):
            given = said
        return reader.record(given, self, path)

    def fits(self, value: Any) -> bool:
        return isinstance(value, Mapping) and value.keys() == {*self.values}

    def knows(self, value: Any) -> bool:
        return not isinstance(value, Mapping) or value.keys() <= {*self.values}

    def spoken(self, value: Any) -> Any:
        """Return the numbers as they were stated, as plain values. Raises `UnreadableReply` if they are refused."""
        if value is None or value == {}:
            return None
        said = value
        if isinstance(value, Mapping):
            said = {name: float(each) if isinstance(each, float) else each for name, each in value.items()}
        if reason := self.why_not(said):
            raise UnreadableReply(f"The probabilities {reason}.")
        return said

    def random(self, rng: Stream) -> dict[str, int]:
        """Draw whole percentages that add up to 100."""
        ends = sorted(rng.integer(0, 100) for _ in self.values[1:])
        parts = (high - low for low, high in zip([0, *ends], [*ends, 100], strict=True))
        return dict(zip(self.values, parts, strict=True))


Option: TypeAlias = Choice | Number | Text
"""The option of one value of a `PerKey`, a `Variant` or a `MenuItem`."""


@dataclass(frozen=True, slots=True)
class PerKey(LegalValues):
    """An object that has one value for each of these keys and no other: `PerKey(("A", "B"), Text(80, "one line"))`.

    If each key has its own option, `keys` maps keys to options:
    `PerKey({"price": Number(1, 9), "when": Choice(DAYS)})`.
    A reply has all keys; other decisions, such as a fallback, may leave some out. It belongs to an outermost field of
    type `dict`. If that is a decision's only field, the answer is the object itself: `{"A": "<one line>", "B": "<one
    line>"}`. Options by key are in the request's fingerprint; one option for all keys is not, so
    `Request.fingerprint_fields` must identify it.
    """

    keys: tuple[str, ...] | Mapping[str, Option | Probabilities]
    value: Option | None = None

    kind = "record"

    def __post_init__(self) -> None:
        if isinstance(self.keys, Mapping) == (self.value is not None):
            raise TypeError("PerKey has one option for all its keys, or a mapping of an option for each")

    @property
    def parts(self) -> Mapping[str, Option | Probabilities]:  # type: ignore[override] # here it follows from the keys
        if isinstance(self.keys, Mapping):
            return self.keys
        assert self.value is not None, "see `__post_init__`"
        return dict.fromkeys(self.keys, self.value)

    def within(self, typed: LegalValues) -> LegalValues:
        return JsonObject(self.parts)

    def objection(self, path: str, given: Mapping[str, Any]) -> str:
        return _first_objection(path, self.parts, given[path])

    def by_path(self, path: str) -> Mapping[str, LegalValues]:
        return self.leaves(path) if self.is_in_fingerprint else {}

    def leaves(self, path: str) -> Mapping[str, LegalValues]:
        return {f"{path}.{key}" if path else key: part for key, part in self.parts.items()}

    @property
    def is_in_fingerprint(self) -> bool:
        return self.value is None

    @property
    def fallback_value(self) -> dict[str, Any]:
        return {}

    def converted(self, given: Any, beside: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the keys, without others in a reply. Raises `UnreadableReply` if one is missing."""
        said = given if isinstance(given, Mapping) else {}
        found = {key: option.spoken(said[key]) for key, option in self.parts.items() if key in said}
        if missing := [key for key in self.parts if found.get(key) is None]:
            raise UnreadableReply(f"There is no {self.parts[missing[0]].lacking} about: {', '.join(missing)}.")
        return found


@dataclass(frozen=True)
class Variant(LegalValues):
    """An object whose fields depend on the decision's field `by`; `fields` are its fields by the value of that.

    Other values have no fields. A schema has the fields of all values, and those that are not asked for are null. It
    belongs to an outermost field of type `dict`, in which a decision has exactly the fields for its value.

    For a `menu`, the prompt describes the fields elsewhere: the shape of an answer has only their names. They are not
    checked: the rules read them (`MenuItem.read`), and tell the player what they refuse. A field that the value does
    not take stays as it came, because nothing depends on it.
    """

    by: str
    fields: Mapping[str, Mapping[str, Option]]
    menu: bool = False

    kind = "record"

    @cached_property
    def parts(self) -> Mapping[str, LegalValues]:  # type: ignore[override] # here it follows from the fields
        """The fields of all values, each nullable; a shared name allows what any of them does."""
        found: dict[str, dict[str, Any]] = {}
        for name, option in self._every():
            legal = option.schema()
            found[name] = _wider(found[name], legal) if name in found else legal
        return {name: Nullable(of_schema(legal)) for name, legal in found.items()}

    def _every(self) -> Iterator[tuple[str, Option]]:
        return (each for fields in self.fields.values() for each in fields.items())

    def asked(self, value: Any) -> Mapping[str, Option]:
        """Return the fields for a value."""
        return self.fields.get(str(value), MappingProxyType({}))

    def schema(self) -> dict[str, Any]:
        return JsonObject(self.parts).schema()

    def objection(self, path: str, given: Mapping[str, Any]) -> str:
        asked, said = self.asked(given[self.by]), given[path]
        if self.menu:
            return ""
        missing = next((name for name in asked if name not in said), None)
        return _first_objection(path, asked, said) if missing is None else f"{path}.{missing} is missing"

    def by_path(self, path: str) -> Mapping[str, LegalValues]:
        """Return the closed choices among the fields; for a shared name, the last one."""
        return {f"{path}.{name}": option for name, option in self._every() if option.kind == "choice"}

    @property
    def fallback_value(self) -> Any:
        return MISSING

    def words(self, name: str) -> str:
        """Return the fields by value: `{<of buy or sell: "price": <a whole number, 1 or more>; else none>}`."""
        alike: dict[str, list[str]] = {}
        for value, fields in self.fields.items():
            each = (
                json.dumps(name) + ("" if self.menu else f": {option.words(name)}") for name, option in fields.items()
            )
            if named := ", ".join(each):
                alike.setdefault(named, []).append(value)
        of = (f"of {either(values)}: {names}" for names, values in alike.items())
        return f"{{<{'; '.join([*of, 'else none'])}>}}"

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        taken = self.taken(given, beside)
        if taken is given:
            return reader.record(given, self, path)
        shaped = reader.record(taken, self, path)
        whole = shaped | {name: part for name, part in given.items() if name not in taken}
        return {name: whole[name] for name in (*given, *shaped) if name in whole}  # in the order of the reply

    def taken(self, given: Any, beside: Mapping[str, Any]) -> Any:
        value = beside.get(self.by)
        if not self.menu or not isinstance(given, Mapping) or not isinstance(value, str) or value not in self.fields:
            return given
        of_other_values = {name for name, _ in self._every()} - self.fields[value].keys()
        return {name: part for name, part in given.items() if name not in of_other_values}

    def fits(self, value: Any) -> bool:
        choices = self.by_path("").items()
        return all(
            (value.get(path[1:]) if isinstance(value, Mapping) else None) in each.values for path, each in choices
        )

    def knows(self, value: Any) -> bool:
        return JsonObject(self.parts).knows(value)

    def converted(self, given: Any, beside: Mapping[str, Any]) -> Any:
        """Return an object without nulls for fields that are not asked for, and any other value unchanged."""
        if self.menu or not isinstance(given, Mapping):
            return given
        asked = self.asked(beside.get(self.by))
        return {name: part for name, part in given.items() if part is not None or name in asked}

    def random(self, rng: Stream) -> dict[str, Any]:
        return JsonObject(self.parts).random(rng)

    def redrawn(self, drawn: Any, beside: Mapping[str, Any], rng: Stream) -> dict[str, Any]:
        return JsonObject(self.asked(beside[self.by])).random(rng)

    def given(self, answered: Mapping[str, Any]) -> JsonObject:
        return JsonObject(self.asked(answered.get(self.by)))


# -- what follows from the types of a decision's fields


@dataclass(frozen=True, slots=True)
class YesNo(LegalValues):
    """True or false."""

    kind = "yes_no"
    is_needed = True
    values = (True, False)

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def words(self, name: str) -> str:
        return "<true or false>"

    def read(self, given: Any, if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
        from agentsim.engine.reading.fields import yes_or_no

        return yes_or_no(given)

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.value(given, self, path)

    def random(self, rng: Stream) -> bool:
        return rng.below(2) == 1

    @property
    def example(self) -> bool:
        return True

    def parse(self, text: str, hint: str = "") -> bool:
        if text.casefold() not in _TYPED_YES | _TYPED_NO:
            raise ValueError("Yes or no, please.")
        return text.casefold() in _TYPED_YES


@dataclass(frozen=True, slots=True)
class RealNumber(LegalValues):
    """A number, with a fraction or without; no lower end if `low` is None.

    `also` are further keywords of the schema.
    """

    low: float | None = None
    also: tuple[tuple[str, Any], ...] = field(default=(), kw_only=True)

    is_needed = True

    def schema(self) -> dict[str, Any]:
        return {"type": "number", **({} if self.low is None else {"minimum": self.low}), **dict(self.also)}

    def words(self, name: str) -> str:
        return "<a number>"

    def random(self, rng: Stream) -> int:
        low = int(self.low or 0)
        return rng.integer(low, low + _BEYOND)

    @property
    def range(self) -> str:
        return "" if self.low is None else f"{self.low} or more"

    def parse(self, text: str, hint: str = "") -> Any:
        if not _PLAIN_NUMBER.fullmatch(text) or (self.low is not None and float(text) < self.low):
            least = "" if self.low is None else f" from {self.low}"
            raise ValueError(f"A number in plain digits{least}, such as 2.5, please.")
        return json.loads(text)


@dataclass(frozen=True, slots=True)
class Several(List):
    """A list of entries of one option, `least` to `upto` of them (None: no maximum).

    `also` are further keywords of the schema.
    """

    items: LegalValues = field()
    least: int = 0
    upto: int | None = None
    also: tuple[tuple[str, Any], ...] = field(default=(), kw_only=True)

    @property
    def kind(self) -> Kind:  # type: ignore[override] # here it follows from the entries
        return "list" if self.items.kind == "choice" else "other"

    @property
    def values(self) -> Sequence[Any]:  # type: ignore[override] # here it follows from the entries
        return self.items.values if self.items.kind == "choice" else ()

    def schema(self) -> dict[str, Any]:
        least = {"minItems": self.least} if self.least else {}
        most = {} if self.upto is None else {"maxItems": self.upto}
        return {"type": "array", "items": self.items.schema(), **least, **most, **dict(self.also)}

    def words(self, name: str) -> str:
        return f"[{self.items.words(name)}, ...]"

    def _entry(self, words: list[str]) -> Any:
        parts = self.items.parts
        if parts is None:
            return List._entry(self, words)
        if len(words) != len(parts):
            raise ValueError(f"{' '.join(words)}: each entry is {self.items.entry}, please; commas between entries.")
        return {name: part.parse(word) for word, (name, part) in zip(words, parts.items(), strict=True)}


@dataclass(frozen=True, slots=True)
class JsonObject(LegalValues):
    """An object that has exactly these fields."""

    parts: Mapping[str, LegalValues] = field()

    kind = "record"

    def schema(self) -> dict[str, Any]:
        return closed_object({name: part.schema() for name, part in self.parts.items()})

    def words(self, name: str) -> str:
        inner = {part: option.words(part) for part, option in self.parts.items()}
        said = [f"{json.dumps(part)}: {words}" for part, words in inner.items()]
        first = next(iter(self.parts), "")
        if len(said) > 1 and self.parts[first].kind == "yes_no":  # after a no, nothing else is asked
            return f'{{"{first}": true, {", ".join(said[1:])}}} or {{"{first}": false}}'
        return f"{{{', '.join(said)}}}"

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.record(given, self, path)

    def fits(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        return value.keys() == self.parts.keys() and all(part.fits(value[name]) for name, part in self.parts.items())

    def knows(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        return value.keys() <= self.parts.keys() and all(self.parts[name].knows(part) for name, part in value.items())

    def random(self, rng: Stream) -> dict[str, Any]:
        return {name: part.random(rng) for name, part in self.parts.items()}

    @property
    def entry(self) -> str:  # type: ignore[override] # here it follows from the fields
        return " ".join(f"{name} ({part.entry})" for name, part in self.parts.items())


@dataclass(frozen=True, slots=True)
class Either(LegalValues):
    """A value that any of these options allows."""

    options: tuple[LegalValues, ...]

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [option.schema() for option in self.options]}

    def words(self, name: str) -> str:
        return " or ".join(option.words(name) for option in self.options)

    def knows(self, value: Any) -> bool:
        return any(option.knows(value) for option in self.options)

    def random(self, rng: Stream) -> Any:
        return rng.pick(self.options).random(rng)

    @property
    def example(self) -> Any:
        last = self.options[-1]
        return last.example if last.kind == "number" else None


@dataclass(frozen=True, slots=True)
class Kinds(LegalValues):
    """A record of one of several kinds, distinguished by the field `tag`."""

    tag: str
    kinds: Mapping[str, JsonObject] = field()

    kind = "variant"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [record.schema() for record in self.kinds.values()]}

    def words(self, name: str) -> str:
        return " or ".join(record.words(name) for record in self.kinds.values())

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return reader.variant(given, self, path, beside)

    def knows(self, value: Any) -> bool:
        return any(record.knows(value) for record in self.kinds.values())

    def random(self, rng: Stream) -> Any:
        return rng.pick(tuple(self.kinds.values())).random(rng)


@dataclass(frozen=True, slots=True)
class Nullable(LegalValues):
    """A value that an option allows, or null."""

    option: LegalValues

    @property
    def kind(self) -> Kind:  # type: ignore[override] # here it follows from the option
        return self.option.kind

    @property
    def values(self) -> Sequence[Any]:  # type: ignore[override] # here it follows from the option
        return (*self.option.values, None) if self.kind == "choice" else ()

    def schema(self) -> dict[str, Any]:
        legal = self.option.schema()
        types = legal["type"] if isinstance(legal["type"], list) else [legal["type"]]
        return {**legal, "type": [*types, "null"], **({"enum": [*legal["enum"], None]} if "enum" in legal else {})}

    def read(self, given: Any, if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
        return (Choice(tuple(self.values)) if self.kind == "choice" else self.option).read(given, if_null, synonyms)

    def shape(self, given: Any, path: str, beside: Mapping[str, Any], reader: Shape) -> Any:
        return (
            self.option.shape(given, path, beside, reader)
            if self.kind == "words"
            else (reader.value(given, self, path) if self.kind in {"choice", "number"} else given)
        )

    def random(self, rng: Stream) -> Any:
        if self.kind == "choice":
            return rng.pick(self.values)
        options = self.option.options if isinstance(self.option, Types) else (self.option,)
        return rng.pick((*options, LegalValues())).random(rng)


@dataclass(frozen=True, slots=True)
class Types(Either):
    """Any value of these types."""

    def schema(self) -> dict[str, Any]:
        return {"type": [option.schema()["type"] for option in self.options]}


@dataclass(frozen=True, slots=True)
class Anything(LegalValues):
    """A value that no other option describes: `typed` is its JSON Schema; a person's text is JSON or a string."""

    typed: Schema

    def schema(self) -> dict[str, Any]:
        return dict(self.typed)

    def words(self, name: str) -> str:
        return "{...}" if self.typed.get("type") == "object" else LegalValues.words(self, name)


@dataclass(frozen=True, slots=True)
class Fixed(LegalValues):
    """A value that a form does not ask for."""

    value: Any


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form: its option, a `hint` that replaces its range, and the `preset` value of an empty field."""

    option: LegalValues
    hint: str = ""
    preset: Any = MISSING

    @property
    def empty(self) -> Any:
        """The value of an empty field, or `MISSING`."""
        return self.option.only if self.preset is MISSING else self.preset

    def parse(self, text: str) -> Any:
        """Return the meaning of a person's text. Raises `ValueError` with words for that person."""
        return self.option.parse(text, self.hint) if text or self.empty is MISSING else self.empty


def of_schema(node: Schema) -> LegalValues:
    """Return the option for a portable JSON Schema."""
    if "enum" in node:
        return Choice(tuple(node["enum"]))
    if "anyOf" in node:
        return _of_several([of_schema(branch) for branch in node["anyOf"]])
    types = node.get("type")
    if not isinstance(types, list):
        return _of_type(types, node)
    if len(types) == 2 and types[1] == "null":
        return Nullable(_of_type(types[0], node))
    return Types(tuple(_of_type(each, {}) for each in types))


def _of_type(name: str | None, node: Schema) -> LegalValues:
    match name:
        case "object" if "properties" in node:
            return JsonObject({name: of_schema(part) for name, part in node["properties"].items()})
        case "array":
            also = _but(node, "items", "minItems", "maxItems")
            return Several(of_schema(node.get("items", {})), node.get("minItems", 0), node.get("maxItems"), also=also)
        case "boolean":
            return YesNo()
        case "integer":
            least, most = node.get("minimum", LOWEST), node.get("maximum")
            above, below = node.get("exclusiveMinimum", least - 1), node.get("exclusiveMaximum")
            highs = [high for high in (most, None if below is None else below - 1) if high is not None]
            also = _but(node, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            return Number(max(least, above + 1), min(highs, default=None), also=also)
        case "number":
            return RealNumber(node.get("minimum"), also=_but(node, "minimum"))
        case "string":
            also = _but(node, "maxLength")
            return Text(node.get("maxLength", LONGEST), empty=not node.get("minLength"), also=also)
    return Anything(node)


def _but(node: Schema, *owned: str) -> tuple[tuple[str, Any], ...]:
    """Return the keywords of a schema without its type and those that a field of an option owns."""
    return tuple((keyword, value) for keyword, value in node.items() if keyword not in {"type", *owned})


def _of_several(options: Sequence[LegalValues]) -> LegalValues:
    records = [option for option in options if isinstance(option, JsonObject)]
    first = records[0].parts.items() if records and len(records) == len(options) else ()
    tag = next((name for name, part in first if part.kind == "choice" and len(part.values) == 1), None)
    if tag is None:
        return Either(tuple(options))
    return Kinds(tag, {record.parts[tag].values[0]: record for record in records})


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object with exactly these keys, all required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _first_objection(path: str, legal: Mapping[str, Option | Probabilities], given: Mapping[str, Any]) -> str:
    """Return the first problem of the values of an object, or ""."""
    for key, value in given.items():
        if key not in legal:
            return f"{path} must have no keys but {', '.join(legal)}" if legal else f"{path} must be empty"
        if reason := legal[key].why_not_part(value):
            return f"{path}.{key} {reason}"
    return ""


def _wider(one: Schema, other: Schema) -> dict[str, Any]:
    """Return a schema that allows what either does."""
    types = [each["type"] if isinstance(each["type"], list) else [each["type"]] for each in (one, other)]
    if types[0] != types[1]:
        return {"type": list(dict.fromkeys([*types[0], *types[1]]))}
    widest = {"minimum": min, "maximum": max, "maxLength": max}
    limits = {key: pick(one[key], other[key]) for key, pick in widest.items() if key in one and key in other}
    enum = {"enum": list(dict.fromkeys([*one["enum"], *other["enum"]]))} if "enum" in one and "enum" in other else {}
    return {"type": one["type"], **limits, **enum}


def _no_text(given: Any) -> str:
    if isinstance(given, str) and given.strip():
        return ""
    return "must not be empty" if isinstance(given, str) else "must be a text"


def _without_case(word: str) -> str:
    """Return a word without case, with blanks for underscores: `Pay fine` equals `pay_fine`."""
    return " ".join(word.replace("_", " ").casefold().split())


def _one_of(values: Sequence[Any]) -> str:
    if len(values) == 1:
        return json.dumps(values[0], ensure_ascii=False)
    named = ["null" if value is None else str(value) for value in values]
    return f'"<{either(named)}>"' if any(isinstance(value, str) for value in values) else f"<{either(named)}>"


def _together(values: Sequence[Value]) -> str:
    return ", ".join(map(str, values))


def _type_of(values: Sequence[Value]) -> str | list[str]:
    """Return the JSON type of a choice, or a list if its values have several, such as a name or null."""
    kinds = set(map(type, values))
    found = [name for kind, name in _JSON_TYPES.items() if kind in kinds]
    return found[0] if len(found) == 1 else found


Options: TypeAlias = Mapping[str, Choice | Number | Text | Subset | PerKey | Variant]
"""The legal values of a decision, by field (`action.bid` is a field of a field); other fields are limited by type only.

If a field may be one of several kinds of record, an option applies to the kinds that have the path; a kind whose tag is
not in its `Choice` is left out of the schema.
"""


@dataclass(frozen=True, slots=True)
class FieldOverride:
    """A state's limits on a field: a narrower option for people or for models; otherwise as in `FormField`.

    A changed schema invalidates a provider's cache, so `for_models` is for options that rarely change. A model's answer
    outside of it is read nevertheless.
    """

    hint: str = ""
    preset: Any = MISSING
    for_people: LegalValues | None = None
    for_models: LegalValues | None = None


def options_in(answer: type[Decision], request: object) -> dict[str, Any]:
    """Return the options in the annotations of a decision, calling functions with the request.

    Raises `TypeError` if a function does not return an option.
    """
    if not (marks := _marks(answer)):
        return {}
    found = {name: mark(request) if isinstance(mark, FunctionType) else mark for name, mark in marks.items()}
    for name in (name for name, option in found.items() if not isinstance(option, LegalValues)):
        what = f"{type(request).__name__}: the function in the annotation of {name}"
        raise TypeError(f"{what} returns {found[name]!r}, which is no option")
    return found


@cache
def _marks(answer: type[Decision]) -> Mapping[str, Any]:
    marks = ((name, mark) for name, field in answer.model_fields.items() for mark in field.metadata)
    return {name: mark for name, mark in marks if isinstance(mark, FunctionType | LegalValues)}


def checked(answer: type[Decision], options: Options, by: str) -> Options:
    """Check and return the options that a request states. Raises `TypeError` for a path that its answer lacks."""
    paths = _paths_of(answer)
    for path in options:
        if path not in paths:
            raise TypeError(f"{by}.options: {answer.__name__} has no {path}; it has {', '.join(paths)}")
    return options


@cache
def _paths_of(answer: type[Decision]) -> Mapping[str, None]:
    """Return every path that options of a decision may have: its fields, and the fields of those."""
    return dict.fromkeys(_paths(typed_record(answer)))


def _paths(option: LegalValues, prefix: str = "") -> Iterator[str]:
    for record in (option.kinds or {}).values():
        yield from _paths(record, prefix)
    for name, part in (option.parts or {}).items():
        yield f"{prefix}{name}"
        yield from _paths(part, f"{prefix}{name}.")


def record_of(answer: type[Decision], options: Options) -> JsonObject:
    """Return the fields of an answer within these options; if `PerKey` is its only field, the keys of that."""
    record: LegalValues = typed_record(answer)
    for path, option in options.items():
        record = changed(record, path, option.within)
    bare = bare_field(answer, options)
    found = record.parts[bare] if bare and record.parts else record
    assert isinstance(found, JsonObject)
    return found


def bare_field(answer: type[Decision], options: Options) -> str | None:
    """Return the only field of a decision if an answer is the object in it, or None."""
    names = tuple(answer.model_fields)
    return names[0] if len(names) == 1 and isinstance(options.get(names[0]), PerKey) else None


def leaves(answer: type[Decision], options: Options) -> Mapping[str, LegalValues]:
    """Return the options by the paths of an answer; an option for several keys is repeated at every key."""
    bare = bare_field(answer, options)
    found: dict[str, LegalValues] = {}
    for path, option in options.items():
        found |= option.leaves("" if path == bare else path)
    return found


@cache
def typed_record(answer: type[Decision]) -> JsonObject:
    """Return the fields of an answer as its types allow them, shared by all requests."""
    base = answer.model_json_schema()
    definitions = base.get("$defs", {})
    return JsonObject({name: of_schema(_portable(part, definitions)) for name, part in base["properties"].items()})


def _portable(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema without `$ref`, `oneOf`, `const`, titles and defaults, which some providers refuse."""
    if isinstance(part, list):
        return [_portable(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _portable(definitions[part["$ref"].rsplit("/", 1)[1]], definitions)
    if part.get("type") == "object" and "properties" in part:  # a part of a decision: as complete and closed
        return closed_object({name: _portable(inner, definitions) for name, inner in part["properties"].items()})
    if "oneOf" in part:  # several kinds of record, distinguished by a field with one value
        return {"anyOf": [_portable(branch, definitions) for branch in part["oneOf"]]}
    if "const" in part:
        return {"type": part["type"], "enum": [part["const"]]}
    return {
        key: _portable(value, definitions)
        for key, value in part.items()
        if key not in {"title", "default", "description"}
    }


def changed(option: Any, path: str, change: Callable[[Any], Any]) -> Any:
    """Return a copy with the field at the path changed in each kind of record, without impossible kinds."""
    if not path:
        return change(option)
    if isinstance(option, Kinds):
        kinds = {tag: changed(record, path, change) for tag, record in option.kinds.items()}
        return replace(option, kinds={tag: record for tag, record in kinds.items() if _can_be(record)})
    name, _, rest = path.partition(".")
    if not option.parts or name not in option.parts:
        return option
    return JsonObject({**option.parts, name: changed(option.parts[name], rest, change)})


def _can_be(record: JsonObject) -> bool:
    return all(part.values for part in record.parts.values() if part.kind == "choice")


def asked_for(
    record: JsonObject, overrides: Mapping[str, FieldOverride | None], *, closely: bool = False
) -> JsonObject:
    """Return the record without the fields for which `overrides` has None; `closely` applies the options for models."""
    for path, more in overrides.items():
        if more is None:
            inner, _, name = path.rpartition(".")
            record = changed(record, inner, partial(_without, name))
        elif closely and more.for_models is not None:
            record = changed(record, path, partial(_replaced, more.for_models))
    return record


def _replaced(closer: LegalValues, option: LegalValues) -> LegalValues:
    return closer


def _without(name: str, option: Any) -> Any:
    """Return an object without a field, in each kind of record that has it."""
    if isinstance(option, Kinds):
        return replace(option, kinds={tag: _without(name, record) for tag, record in option.kinds.items()})
    if option.parts is None:
        return option
    return JsonObject({each: part for each, part in option.parts.items() if each != name})
