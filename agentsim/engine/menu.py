"""MenuItem: something that a player may name in an answer, such as an action or a tool, with its own parameters.

Its parameters determine the description for players (`described`), the reading of an answer, and the schema
(`variant`). Methods of an object that are capabilities are `marked` with description and parameters. `TOOLS` are a
calculator and a notebook; the game limits their use.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from agentsim.engine.options import Option, Text, Variant
from agentsim.engine.wording import cut, listed
from agentsim.lazy import dataclass

F = TypeVar("F", bound=Callable[..., Any])
Stated: TypeAlias = Option | Callable[[Any], Option]
"""The legal values of a parameter, or a function that computes them from the object that has the method."""


class ActionRefused(ValueError):
    """A refusal in words for the player who asked; nothing has changed."""


@dataclass(frozen=True, slots=True)
class MenuItem:
    """Something that a player may name; its parameters in `optional` may be left out."""

    name: str
    description: str
    parameters: Mapping[str, Option] = field(default_factory=dict)
    optional: tuple[str, ...] = ()

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return its parameters among the given values. Raises `ActionRefused` if one is missing or wrong."""
        out: dict[str, Any] = {}
        for name, option in self.parameters.items():
            value = given.get(name)
            if value is not None and not (name in self.optional and value == ""):
                try:
                    out[name] = option.accepted(value)
                except ValueError as error:
                    raise ActionRefused(f"{name} {error}") from None
            elif name not in self.optional:
                raise ActionRefused(f"{self.name} needs {name}")
        return out

    @property
    def shape(self) -> str:
        """The signature: `write_note(key, text)`."""
        return f"{self.name}({', '.join(self.parameters)})"


class Mark(NamedTuple):
    """The mark of a method; `means` is its meaning, if its name does not say it."""

    kind: str
    description: str
    parameters: Mapping[str, Stated]
    means: str = ""


def marked(kind: str, description: str, parameters: Mapping[str, Stated], means: str = "") -> Callable[[F], F]:
    """Mark a method as a capability of a kind, with the method's name."""

    def mark(method: F) -> F:
        method._capability = Mark(kind, description, parameters, means)  # type: ignore[attr-defined] # it carries the mark
        return method

    return mark


def mark_of(method: Any) -> Mark | None:
    """Return the mark of a method, or None."""
    found: Mark | None = getattr(method, "_capability", None)
    return found


def capabilities(of: object, kind: str) -> dict[str, MenuItem]:
    """Return the methods of an object with a mark of this kind, by name, those of its bases first."""
    found = {}
    for cls in reversed(type(of).__mro__):
        for name, member in vars(cls).items():
            if (mark := mark_of(member)) and mark.kind == kind:
                options = {key: each(of) if callable(each) else each for key, each in mark.parameters.items()}
                found[name] = MenuItem(name, mark.description, options)
    return found


def described(capabilities: Iterable[MenuItem]) -> Iterator[str]:
    """Yield a line for each capability, then one for each parameter; shared parameters are described once."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in capabilities:
        yield f"- {each.shape}: {each.description}"
        for name, option in each.parameters.items():
            may = ", may be left out" if name in each.optional else ""
            found.setdefault((name, "; ".join(filter(None, (f"{option.summary}{may}", option.about)))), []).append(
                each.name
            )
    names = [name for name, _ in found]
    for (name, what), users in found.items():
        of = f" of {listed(users)}" if names.count(name) > 1 else ""
        yield f"    {name}{of}: {what}"


def variant(by: str, capabilities: Iterable[MenuItem]) -> Variant:
    """Return the parameters of the capability that a player names, as a menu: `MenuItem.read` checks them."""
    return Variant(by, {each.name: each.parameters for each in capabilities}, menu=True)


Tool: TypeAlias = Literal["calculator", "notebook"]

MOST_CHARS = 200
MOST_NOTES = 20
NOTE_CHARS = 300

TOOLS: Mapping[Tool, tuple[MenuItem, ...]] = {
    "calculator": (
        MenuItem(
            "calculator",
            "evaluates an arithmetic expression: numbers, + - * / // % **, brackets, min, max, abs and round",
            {"expression": Text(MOST_CHARS, "what to evaluate")},
        ),
    ),
    "notebook": (
        MenuItem(
            "write_note",
            f"keeps a note under a key of your own ({MOST_NOTES} notes at most; an empty text removes one)",
            {"key": Text(40, "where it is kept"), "text": Text(NOTE_CHARS, "what to keep")},
            optional=("text",),
        ),
        MenuItem("read_notes", "shows your notes, the latest first"),
    ),
}


def use_tool(name: str, given: Mapping[str, Any], notebook: dict[str, str]) -> dict[str, Any]:
    """Return a tool's answer to the player with this notebook. Raises `ActionRefused`."""
    capability = next(each for tools in TOOLS.values() for each in tools if each.name == name)
    values = capability.read(given)
    if name == "calculator":
        return {"result": calculate(values["expression"])}
    if name == "read_notes":
        return {"notes": dict(reversed(notebook.items()))}  # callers leave out the oldest if there are too many
    key, text = values["key"], cut(values.get("text", ""), NOTE_CHARS)
    if not text:
        notebook.pop(key, None)
        return {"notes": len(notebook)}
    if key not in notebook and len(notebook) >= MOST_NOTES:
        raise ActionRefused(f"the notebook is full: {MOST_NOTES} notes")
    notebook.pop(key, None)
    notebook[key] = text
    return {"notes": len(notebook)}


# -- the calculator: arithmetic as a player typed it, without evaluating it as a program

MOST_NODES = 60
LARGEST = 10**15
MOST_DIGITS = 15

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def _rounded(number: Any, digits: Any = None) -> Any:
    if digits is not None and abs(digits) > MOST_DIGITS:  # `round` computes a power of ten with that many digits
        raise ActionRefused("that is rounded to too many digits")
    return round(number, digits)


_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs, "round": _rounded}


def calculate(expression: str) -> int | float:
    """Return the value of an expression. Raises `ActionRefused` if it is no arithmetic or a number is too large."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ActionRefused("that is no expression") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise ActionRefused("the expression is too long")
    try:
        value: int | float = _value(tree.body)
    except ZeroDivisionError:
        raise ActionRefused("division by zero") from None
    except (OverflowError, TypeError, ValueError):
        raise ActionRefused("that cannot be worked out") from None
    return value


def _value(node: ast.expr) -> Any:
    value: Any
    match node:
        case ast.Constant(value=bool()):
            raise ActionRefused("only numbers can be worked out")
        case ast.Constant(value=int() | float() as number):
            value = number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            value = _value(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            value = _applied(type(sign), _value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            value = _FUNCTIONS[name](*map(_value, args))
        case _:
            raise ActionRefused("only numbers, + - * / // % ** and brackets, min, max, abs and round")
    if isinstance(value, complex) or not abs(value) <= LARGEST:
        raise ActionRefused("the number is too large")
    return value


def _applied(sign: type[ast.operator], left: Any, right: Any) -> Any:
    if sign is ast.Pow and (abs(right) > 64 or abs(left) > LARGEST):  # large powers are slow
        raise ActionRefused("the number is too large")
    return _BINARY[sign](left, right)
