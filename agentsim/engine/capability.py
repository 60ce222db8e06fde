"""Capability: a thing that a player may name in an answer, such as an action or a tool, with parameters of its own.

From its parameters follow what a player reads of it (`described`), how an answer is read, and the schema (`variant`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

from agentsim.engine.decision import whole
from agentsim.engine.options import Choice, Number, Option, Text
from agentsim.engine.schema import Variant
from agentsim.engine.wording import cut, listed


class Refused(ValueError):
    """What comes to nothing, in words fit for the player who asked for it; nothing has changed."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What a player may name; of its parameters those in `optional` may be left out."""

    name: str
    description: str
    parameters: Mapping[str, Option] = field(default_factory=dict)
    optional: tuple[str, ...] = ()

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Its parameters in what was given, whatever else that holds; `Refused` where one is missing or wrong."""
        out: dict[str, Any] = {}
        for name, option in self.parameters.items():
            value = given.get(name)
            if value is not None and not (name in self.optional and value == ""):
                out[name] = _read(name, option, value)
            elif name not in self.optional:
                raise Refused(f"{self.name} needs {name}")
        return out

    @property
    def shape(self) -> str:
        """Its name with those of its parameters: `write_note(key, text)`."""
        return f"{self.name}({', '.join(self.parameters)})"


def described(capabilities: Iterable[Capability]) -> Iterator[str]:
    """What a player reads of these, a line each; then their parameters, of which a shared one is said once."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in capabilities:
        yield f"- {each.shape}: {each.description}"
        for name, option in each.parameters.items():
            may = ", may be left out" if name in each.optional else ""
            what = f"always {option.low}" if isinstance(option, Number) and option.low == option.high else _what(option)
            found.setdefault((name, "; ".join(filter(None, (f"{what}{may}", option.about)))), []).append(each.name)
    names = [name for name, _ in found]
    for (name, what), users in found.items():
        of = f" of {listed(users)}" if names.count(name) > 1 else ""
        yield f"    {name}{of}: {what}"


def variant(by: str, capabilities: Iterable[Capability]) -> Variant:
    """The parameters of whichever of these a player names: a menu, since `Capability.read` judges them."""
    return Variant(by, {each.name: each.parameters for each in capabilities}, menu=True)


def _what(option: Option) -> str:
    match option:
        case Choice(choices):
            return f"one of {', '.join(map(str, choices))}"
        case Number(low, high):
            return f"whole number, {low} {'or more' if high is None else f'to {high}'}"
        case Text(limit):
            return f"text, at most {limit} characters"


def _read(name: str, option: Option, given: Any) -> Any:
    """The value in what was given; `Refused` where there is none."""
    if isinstance(option, Number):
        try:
            number = whole(given)
        except PydanticCustomError:
            raise Refused(f"{name} must be a whole number") from None
        if not option.holds(number):
            raise Refused(f"{name} must be a {_what(option)}")
        return number
    if not isinstance(given, str) or not given.strip():
        raise Refused(f"{name} must {'not be empty' if isinstance(given, str) else 'be a text'}")
    if isinstance(option, Text):
        return cut(given, option.limit)
    if given not in option.values:
        raise Refused(f"{name} must be {_what(option).replace('one of', 'one of:')}")
    return given
