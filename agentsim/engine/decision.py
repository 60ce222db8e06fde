"""Decision: base of what players decide, whole numbers in it, how one was read, and what the reader asks of a question.

To ask again costs one call; a misread amount costs the game. So what could be two numbers, or none, is refused. Which
numbers are legal in a state is not decided here (`Request.check`), nor how JSON is found (`reading`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError


class Decision(BaseModel):
    """Base of what players decide: frozen, JSON both ways; keys it does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


D = TypeVar("D", bound=Decision)


@dataclass(frozen=True, slots=True)
class Reading(Generic[D]):
    """A decision, the stage that found it, and how many candidates the reply has.

    Stages: `json`, `fenced`, `embedded`, `repaired` (objects); `tag`, `label`, `bare`; `words` (prose that is the
    answer), `cut` (such prose, ended at its last whole sentence); `rejected` (a game's own verdict).
    `checked` says that the request has been asked already whether the decision is legal.
    """

    decision: D
    stage: str
    candidates: int = 1
    repaired: bool = False
    checked: bool = False


class Question(Protocol):
    """What the reader goes by, of a request."""

    kind: ClassVar[str]
    leading: ClassVar[bool]
    quotes: ClassVar[frozenset[str]]
    synonyms: ClassVar[Mapping[str, tuple[str, ...]]]
    any_text: ClassVar[bool]

    @property
    def player(self) -> str: ...
    @property
    def nothing(self) -> Mapping[str, Any]: ...
    @property
    def answer_fields(self) -> Any: ...
    def decision_of(self, said: Mapping[str, Any]) -> Decision: ...
    def knows(self, said: Mapping[str, Any]) -> bool: ...
    def fits(self, said: Mapping[str, Any]) -> bool: ...
    def counts(self, said: Mapping[str, Any]) -> bool: ...
    def check(self, decision: Any) -> None: ...
    def in_words(self, words: str) -> Decision | None: ...


def unanswerable(record: type[BaseModel]) -> str:
    """What is wrong with a record whose first field may be answered no, after which no other is asked; "" for none."""
    # the one value of a kind is known when its other fields are asked
    fields = [(name, part) for name, part in record.model_fields.items() if not _is_one_value(part.annotation)]
    if fields and fields[0][1].annotation is bool:
        needed = [name for name, part in fields[1:] if part.is_required()]
        if needed:
            return f"{record.__name__}.{needed[0]} needs a default: {fields[0][0]} may be answered no"
    parts = (inner for _, part in fields for inner in _records(part.annotation))
    return next((problem for part in parts if (problem := unanswerable(part))), "")


def _is_one_value(annotation: Any) -> bool:
    return get_origin(annotation) is Literal and len(get_args(annotation)) == 1


def _records(annotation: Any) -> Iterator[type[BaseModel]]:
    """The records that a field may be; of those in a list, the ones of several kinds: others are a line each."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    listed = get_origin(annotation) in {list, tuple}
    for inner in get_args(annotation):
        if not (listed and isinstance(inner, type)):
            yield from _records(inner)


MAX_DIGITS = 18  # the longest that always fit the signed 64 bits which Parquet, pandas and SQLite keep

_LIMIT = 10**MAX_DIGITS
_SEPARATOR = ",_'’ \u00a0\u2009\u202f"  # not the dot: `1.000` is one for some and a thousand for others
# one separator throughout, in groups of three; of a fraction one or two zeros, since three could be a group
_SPELLING = re.compile(
    rf"(?P<digits>[+-]?(?:0|[1-9][0-9]{{0,2}}(?:(?P<separator>[{_SEPARATOR}])[0-9]{{3}}(?:(?P=separator)[0-9]{{3}})*)?"
    r"|[1-9][0-9]+))(?:\.00?)?"
)
_REAL = re.compile(r"(?P<digits>-?[0-9]+)\.0+")


class Real(float):
    """A JSON number with a fraction or an exponent that remembers how it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Real:
        value = super().__new__(cls, text)
        value.text = text
        return value


def whole(value: Any) -> int:
    """The whole number that a JSON value says beyond doubt; a pydantic error, fit for the model, else.

    A float that has lost its spelling is none: it may have been `1000000000.0` or `1e9`.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number = int(value)
        if abs(number) < _LIMIT:
            return number
        raise _too_long()
    if isinstance(value, Real):
        spelling = _REAL.fullmatch(value.text)
    elif isinstance(value, str):
        spelling = _SPELLING.fullmatch(_without_currency(value.strip()))
    else:
        spelling = None
    if spelling is None:
        raise PydanticCustomError("whole_number", "must be a whole number, written in plain digits")
    digits = re.sub(f"[{_SEPARATOR}]", "", spelling["digits"])
    if len(digits.lstrip("+-")) > MAX_DIGITS:
        raise _too_long()
    return int(digits)


def _without_currency(text: str) -> str:
    """The text without its one currency sign, which stands first, behind a sign, or last."""
    sign, rest = (text[0], text[1:]) if text[:1] in {"+", "-"} else ("", text)
    if rest and unicodedata.category(rest[0]) == "Sc":
        return sign + rest[1:].lstrip()
    if rest and unicodedata.category(rest[-1]) == "Sc":
        return text[:-1].rstrip()
    return text


def _too_long() -> PydanticCustomError:
    return PydanticCustomError("whole_number", "must be a whole number of at most {most} digits", {"most": MAX_DIGITS})


WholeNumber: TypeAlias = Annotated[int, BeforeValidator(whole)]
"""An amount in a decision: a plain int, read from every spelling that is beyond doubt and from no other."""
