"""Decision: the base of players' decisions, whole numbers in them, and the result and the protocol of reading one.

Asking again costs one call, a misread amount costs the game: text that could be two numbers, or none, is refused.
`Request.check` decides which numbers are legal; `reading` finds JSON in replies.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from agentsim.errors import DecisionError
from agentsim.patterns import Pattern


class Decision(BaseModel):
    """The base of players' decisions: frozen, convertible to JSON and back; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


D = TypeVar("D", bound=Decision)


@dataclass(frozen=True, slots=True)
class Reading(Generic[D]):
    """A decision, the stage of the reader that found it, and the number of candidates in the reply.

    Stages: `json`, `fenced`, `embedded`, `repaired` (objects); `tag`, `label`, `bare`; `words` (prose that is the
    answer), `cut` (such prose, ended at its last whole sentence); `rejected` (a game's own verdict). `checked` is True
    if the request has already checked that the decision is legal. `rejection` is set if the reply is lost and the game
    has a decision of its own for it, such as a rejected action: while the scenario allows it, the player is asked
    again, and then that decision is the fallback.
    """

    decision: D
    stage: str
    candidates: int = 1
    repaired: bool = False
    checked: bool = False
    rejection: DecisionError | None = None


class ReadableRequest(Protocol):
    """The part of a request that the reader depends on."""

    kind: ClassVar[str]
    object_first: ClassVar[bool]
    quotes: ClassVar[frozenset[str]]
    synonyms: ClassVar[Mapping[str, tuple[str, ...]]]
    any_text: ClassVar[bool]

    @property
    def player(self) -> str: ...
    @property
    def null_values(self) -> Mapping[str, Any]: ...
    @property
    def answer_fields(self) -> Any: ...
    def decision_of(self, said: Mapping[str, Any]) -> Decision: ...
    def knows(self, said: Mapping[str, Any]) -> bool: ...
    def fits(self, said: Mapping[str, Any]) -> bool: ...
    def may_be_answer(self, said: Mapping[str, Any]) -> bool: ...
    def check(self, decision: Any) -> None: ...
    def in_private(self, said: Mapping[str, Any]) -> bool: ...
    def decision_of_prose(self, words: str) -> Decision | None: ...


def unanswerable(record: type[BaseModel]) -> str:
    """Return the problem of a record whose first field may be answered no, after which no other is asked, or ""."""
    # a field with one value is known already when the other fields are asked
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
    """Yield the records that a field may be; in lists, only those of several kinds, since others are one line each."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    listed = get_origin(annotation) in {list, tuple}
    for inner in get_args(annotation):
        if not (listed and isinstance(inner, type)):
            yield from _records(inner)


MAX_DIGITS = 18  # the most that always fit the signed 64 bits of Parquet, pandas and SQLite

_LIMIT = 10**MAX_DIGITS
_SEPARATOR = ",_'’ \u00a0\u2009\u202f"  # not the dot: `1.000` is one in some languages and a thousand in others
# one kind of separator, in groups of three; a fraction of only one or two zeros, since three could be a group
_SPELLING = Pattern(
    rf"(?P<digits>[+-]?(?:0|[1-9][0-9]{{0,2}}(?:(?P<separator>[{_SEPARATOR}])[0-9]{{3}}(?:(?P=separator)[0-9]{{3}})*)?"
    r"|[1-9][0-9]+))(?:\.00?)?"
)
_REAL = Pattern(r"(?P<digits>-?[0-9]+)\.0+")


class Real(float):
    """A JSON number with a fraction or an exponent that keeps its spelling."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Real:
        value = super().__new__(cls, text)
        value.text = text
        return value


def whole(value: Any) -> int:
    """Return the whole number that a JSON value means unambiguously. Raises a pydantic error with words for the model.

    A plain float is refused: its spelling is lost, which may have been `1000000000.0` or `1e9`.
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
    """Return the text without its one currency sign, which comes first, after a plus or minus, or last."""
    sign, rest = (text[0], text[1:]) if text[:1] in {"+", "-"} else ("", text)
    if rest and unicodedata.category(rest[0]) == "Sc":
        return sign + rest[1:].lstrip()
    if rest and unicodedata.category(rest[-1]) == "Sc":
        return text[:-1].rstrip()
    return text


def _too_long() -> PydanticCustomError:
    return PydanticCustomError("whole_number", "must be a whole number of at most {most} digits", {"most": MAX_DIGITS})


WholeNumber: TypeAlias = Annotated[int, BeforeValidator(whole)]
"""An amount in a decision: an int, read from every unambiguous spelling and no other."""
