"""Number: whole numbers as replies write them, and which spellings leave no doubt about the value.

To ask again costs one call; a misread amount costs the game. So what could be two numbers, or none, is refused.
Which numbers are legal in a state is not decided here (`Request.check`), nor how JSON is found (`reading`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

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
