"""Amounts: quantities of a resource, kept as whole hundredths so that nothing is ever lost to binary fractions.

Outside (in TOML, replies, events, JSON) an amount is a decimal of at most two places; inside it is an int. What may be
done with amounts is `state`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from agentsim.engine.decision import Real
from agentsim.engine.wording import Worded

UNIT = 100
"""Hundredths in one."""
MOST = 10**9 * UNIT
"""The most that a config or a reply may say: summed over all agents there can be, it is still written and read."""

_DECIMAL = re.compile(r"(?P<whole>[0-9]{1,15})(?:\.(?P<part>[0-9]{1,2})0*)?")


def amount(value: Any) -> int:
    """The hundredths in a number or in its spelling; a pydantic error where it has more places, a sign, or is none.

    A float stands for the shortest decimal that it is printed as: 0.1 is a tenth.
    """
    text = ""
    if isinstance(value, Real):
        text = value.text
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        text = repr(value)
    elif isinstance(value, str):
        text = value.strip()
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise PydanticCustomError("amount", "must be a number from 0 in plain digits, with at most 2 decimals")
    return int(found["whole"]) * UNIT + int((found["part"] or "").ljust(2, "0"))


def number(hundredths: int) -> int | float:
    """The amount as a JSON number: whole where it is whole."""
    whole, rest = divmod(hundredths, UNIT)
    return hundredths / UNIT if rest else whole


def shown(hundredths: int) -> str:
    """The amount in digits: `12`, `0.5`, `3.25`."""
    return str(number(hundredths))


def share(hundredths: int, part: int, whole: int) -> int:
    """`part`/`whole` of an amount, rounded to the nearest hundredth, halves up."""
    return (2 * hundredths * part + whole) // (2 * whole)


def bounded(hundredths: int) -> int:
    """The amount, where it is no more than a config or a reply may say; else `ValueError`."""
    if hundredths > MOST:
        raise ValueError(f"must be at most {MOST // UNIT:,}")
    return hundredths


Amount: TypeAlias = Annotated[
    int,
    BeforeValidator(amount),
    PlainSerializer(number),
    WithJsonSchema({"type": "number", "minimum": 0}),
    Worded(shown),
]
"""Hundredths in memory, a decimal on paper: a model built with 2.5 holds 250 and is written as 2.5."""
Quantity: TypeAlias = Annotated[Amount, AfterValidator(bounded)]
"""An amount that a config may say."""
