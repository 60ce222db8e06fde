"""Probabilities: the numbers that a player states for the members of a set, and the distribution that they mean.

A number may be a decimal (0.6), a percentage (60%), a fraction (3/5), a chance ("3 in 5"), odds in favor (3:2) or a
part (3 of 3, 1 and 1). `normalized` decides what the numbers of one answer mean together, and refuses those that could
mean two things.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from agentsim.patterns import Pattern

Stated: TypeAlias = int | float | str
"""A number as it was stated."""

SUM = (0.9, 1.1)
"""Decimals, or percentages divided by 100, add up to a number in this range; they are divided by their sum."""
ODDS_SUM = (0.5, 2.0)
"""Chances of which one is stated as odds may add up to a number in this range, as those of bookmakers do."""
WORST_LOG_SCORE = math.log(1000)
"""The log score of a probability of 0.1% or less: one answer of 0 must not make every mean infinite."""
_GREATEST = 1e12
_ROUNDING = 1e-9
_LONGEST = 10_000  # characters of a text of numbers
_ABOUT = r"(?:about |around |approx\.? |~ ?|≈ ?)?"
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,15}|,[0-9]{1,2})?"  # 1,000 is one in some languages and a thousand in others
_PERCENT = Pattern(rf"{_ABOUT}({_NUMBER}) ?(?:%|％|percent|per cent|pct\.?)", re.IGNORECASE)
_CHANCE = Pattern(rf"({_NUMBER}) ?(?:/|in|out of) ?({_NUMBER})", re.IGNORECASE)
_ODDS = Pattern(rf"({_NUMBER}) ?(?::|to) ?({_NUMBER})(?: on|(?P<against> against))?", re.IGNORECASE)
_PLAIN = Pattern(rf"{_ABOUT}({_NUMBER})", re.IGNORECASE)
_REST = Pattern(r"(?:all )?(?:the )?(?:rest|remainder)\.?", re.IGNORECASE)
_COMMA = Pattern(r",\s(?=[^:=,]+[:=])")
"""A comma before a name, which is not one within a number"""
_SIGN = Pattern("[:=]")


class _Amount:
    """One stated number: `plain`, or a `chance` that its spelling determines; `odds` if it was stated as odds."""

    def __init__(self, value: float, *, plain: bool = False, whole: bool = False, odds: bool = False) -> None:
        self.value, self.plain, self.whole, self.odds = value, plain, whole, odds


def normalized(stated: Mapping[str, Stated]) -> dict[str, float]:
    """Return the distribution over the names, which adds up to 1. Raises `ValueError` with a reason in words.

    - Numbers that are marked (60%, 3/5, 3:2) are chances. Plain numbers beside them are decimals or percentages,
      whichever makes the sum about 1.
    - Plain numbers are decimals if they add up to about 1, percentages if they add up to about 100, and parts of their
      sum if all are whole or at least 1. Decimals beside numbers above 1 are refused: 0.6 and 40 mean nothing together.
    - One of them may be "the rest" of marked chances.
    """
    if rest := [name for name, each in stated.items() if isinstance(each, str) and _REST.fullmatch(each.strip())]:
        return _with_rest(stated, rest)
    amounts = {name: _amount(name, each) for name, each in stated.items()}
    plain = [each for each in amounts.values() if each.plain and each.value]
    total = sum(each.value for each in amounts.values())
    if total == 0:
        raise ValueError("must not all be zero")
    if len(plain) == sum(each.value > 0 for each in amounts.values()):
        parts = all(each.whole or each.value > 1 for each in plain)
        if not (_in(total, SUM) or _in(total / 100, SUM) or parts):
            raise ValueError(f"must add up to 100 percent, and add up to {total:.6g}")
        scale = 1.0
    else:
        bounds = ODDS_SUM if any(each.odds for each in amounts.values()) else SUM
        marked = total - sum(each.value for each in plain)
        fit = [scale for scale in (1.0, 0.01) if _in(marked + scale * sum(each.value for each in plain), bounds)]
        if not fit or (len(fit) > 1 and plain):
            raise ValueError(f"must add up to 100 percent, all in the same unit, found {_listed(stated)}")
        scale = fit[0]
    scaled = {name: each.value * (scale if each.plain else 1.0) for name, each in amounts.items()}
    total = math.fsum(scaled.values())
    return {name: value / total for name, value in scaled.items()}


def _with_rest(stated: Mapping[str, Stated], rest: Sequence[str]) -> dict[str, float]:
    chances = {name: _amount(name, each) for name, each in stated.items() if name not in rest}
    left = 1 - math.fsum(each.value for each in chances.values())
    if len(rest) > 1 or any(each.plain and each.value for each in chances.values()) or left < -_ROUNDING:
        raise ValueError(
            f"must give the rest of marked percentages, once, and it must be there, found {_listed(stated)}"
        )
    return {name: max(0.0, left) if name in rest else chances[name].value for name in stated}


def brier_score(probabilities: Mapping[str, float], happened: str) -> float:
    """Return the sum of squared errors over all outcomes, from 0 to 2 (G. W. Brier, 1950)."""
    return math.fsum((each - (name == happened)) ** 2 for name, each in probabilities.items())


def log_score(probabilities: Mapping[str, float], happened: str) -> float:
    """Return the negative natural logarithm of the probability of what happened, at most `WORST_LOG_SCORE`."""
    return min(WORST_LOG_SCORE, -math.log(max(probabilities[happened], math.exp(-WORST_LOG_SCORE))))


def stated_in(text: str) -> dict[str, str]:
    """Return the numbers by name in a text such as `Ann: 60%; Bea: 40%` (or a line for each).

    It is empty if the text has none, or anything else, or two numbers for a name.
    """
    text = text.strip().strip("{}")
    if len(text) > _LONGEST:
        return {}
    found: dict[str, str] = {}
    for entry in filter(str.strip, re.split("[;\n]", _COMMA.sub(";", text))):
        sign = _SIGN.search(entry)
        name, stated = (entry[: sign.start()], entry[sign.end() :]) if sign else ("", "")
        name, stated = (part.strip().strip("\"'") for part in (name, stated))
        if not name or not stated or name in found:
            return {}  # a name with two numbers has none
        found[name] = stated
    return found


def _amount(name: str, stated: Stated) -> _Amount:
    """Return the amount that was stated. Raises `ValueError` with a reason in words."""
    if isinstance(stated, str):
        return _spelled(name, stated.strip())
    value = float(stated) if abs(stated) <= _GREATEST else math.nan
    if not value >= 0:  # nor NaN
        raise ValueError(f"must be numbers from 0, found {_excerpt(stated)} for {name}")
    return _Amount(value, plain=True, whole=isinstance(stated, int))


def _spelled(name: str, text: str) -> _Amount:
    if found := _PLAIN.fullmatch(text):
        return _Amount(_float(found[1]), plain=True, whole=found[1].isdecimal())
    if found := _PERCENT.fullmatch(text):
        return _Amount(_float(found[1]) / 100)
    chance, odds = _CHANCE.fullmatch(text), _ODDS.fullmatch(text)
    if found := chance or odds:
        one, other = _float(found[1]), _float(found[2])
        if odds is not None and odds["against"]:
            one, other = other, one
        whole = other if chance else one + other
        if whole and one <= whole:
            return _Amount(one / whole, odds=chance is None)
    raise ValueError(f"must be numbers such as 60 (percent) or 0.6, found {_excerpt(text)} for {name}")


def _excerpt(stated: Stated) -> str:
    """Return what was stated for a message, at most 40 characters of it."""
    text = f"{stated!r}" if isinstance(stated, str) else str(stated)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _float(digits: str) -> float:
    return float(digits.replace(",", "."))


def _in(value: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9


def _listed(stated: Mapping[str, Stated]) -> str:
    named = [f"{name} {_excerpt(each)}" for name, each in stated.items()]
    return ", ".join(named[:4]) + (", ..." if len(named) > 4 else "")
