"""Capability: a thing that a player may name in an answer, such as an action or a tool, with parameters of its own.

From its parameters follow what a player reads of it (`described`), how an answer is read, and the schema (`variant`).
Where methods of an object are such things, each is `marked` with its description and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pydantic_core import PydanticCustomError

from agentsim.engine.decision import whole
from agentsim.engine.options import Choice, Number, Option, Text
from agentsim.engine.schema import Variant
from agentsim.engine.wording import cut, listed

F = TypeVar("F", bound=Callable[..., Any])
Stated: TypeAlias = Option | Callable[[Any], Option]
"""The legal values of a parameter, where they follow from the state as a function of the object that has the method."""


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


class Mark(NamedTuple):
    """What a method is marked as; `means` is what it comes to, where its name does not say it."""

    kind: str
    description: str
    parameters: Mapping[str, Stated]
    means: str = ""


def marked(kind: str, description: str, parameters: Mapping[str, Stated], means: str = "") -> Callable[[F], F]:
    """Marks a method as a capability of a kind, of the method's name."""

    def mark(method: F) -> F:
        method._capability = Mark(kind, description, parameters, means)  # type: ignore[attr-defined] # it carries the mark
        return method

    return mark


def mark_of(method: Any) -> Mark | None:
    """The mark of a method; None where it has none."""
    found: Mark | None = getattr(method, "_capability", None)
    return found


def capabilities(of: object, kind: str) -> dict[str, Capability]:
    """The methods of an object that are marked as this kind, by name, those of its bases first."""
    found = {}
    for cls in reversed(type(of).__mro__):
        for name, member in vars(cls).items():
            if (mark := mark_of(member)) and mark.kind == kind:
                options = {key: each(of) if callable(each) else each for key, each in mark.parameters.items()}
                found[name] = Capability(name, mark.description, options)
    return found


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
