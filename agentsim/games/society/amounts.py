"""Amounts of a resource: integers in hundredths, so that sums are exact.

In TOML, replies, events and JSON an amount is a decimal of at most two places.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from agentsim.engine.decision import Real
from agentsim.engine.wording import Worded
from agentsim.patterns import Pattern

UNIT = 100
"""Hundredths in one."""
MOST = 10**9 * UNIT
"""The largest amount in a config or a reply, in hundredths: its sum over all agents can still be written and read."""

_DECIMAL = Pattern(r"(?P<whole>[0-9]{1,15})(?:\.(?P<part>[0-9]{1,2})0*)?")


def amount(value: Any) -> int:
    """Parse a number or its decimal text into hundredths.

    A float stands for its shortest decimal: 0.1 is 10. Raises `PydanticCustomError` if the value has a sign, an
    exponent or more than two places, or is no number.
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
    """Return the amount as a JSON number: an int if it is whole, else a float."""
    whole, rest = divmod(hundredths, UNIT)
    return hundredths / UNIT if rest else whole


def shown(hundredths: int) -> str:
    """Return the amount as text: `12`, `0.5`, `3.25`."""
    return str(number(hundredths))


def share(hundredths: int, part: int, whole: int) -> int:
    """Return `part`/`whole` of an amount, rounded to the nearest hundredth, halves up."""
    return (2 * hundredths * part + whole) // (2 * whole)


def bounded(hundredths: int) -> int:
    """Return the amount. Raises `ValueError` if it is more than `MOST`."""
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
"""Hundredths in memory, a decimal in JSON: a model built with 2.5 holds 250 and is written as 2.5."""
Quantity: TypeAlias = Annotated[Amount, AfterValidator(bounded)]
"""An amount of at most `MOST`."""
