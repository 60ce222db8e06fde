"""Tools: what a player may use while it gathers information: a calculator and a notebook; the game says how often."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from agentsim.engine.capability import Capability, Refused
from agentsim.engine.options import Text
from agentsim.engine.wording import cut

Tool: TypeAlias = Literal["calculator", "notebook"]

MOST_CHARS = 200
MOST_NOTES = 20
NOTE_CHARS = 300

TOOLS: Mapping[Tool, tuple[Capability, ...]] = {
    "calculator": (
        Capability(
            "calculator",
            "works out an expression of numbers, + - * / // % ** and brackets, min, max, abs and round",
            {"expression": Text(MOST_CHARS, "what to work out")},
        ),
    ),
    "notebook": (
        Capability(
            "write_note",
            f"keeps a note under a key of your own ({MOST_NOTES} notes at most; an empty text removes one)",
            {"key": Text(40, "where it is kept"), "text": Text(NOTE_CHARS, "what to keep")},
            optional=("text",),
        ),
        Capability("read_notes", "shows your notes, the latest first"),
    ),
}


def use(name: str, given: Mapping[str, Any], notebook: dict[str, str]) -> dict[str, Any]:
    """What a tool answers a player, whose own notebook it is; `Refused` where it cannot."""
    capability = next(each for tools in TOOLS.values() for each in tools if each.name == name)
    values = capability.read(given)
    if name == "calculator":
        return {"result": calculate(values["expression"])}
    if name == "read_notes":
        return {"notes": dict(reversed(notebook.items()))}  # of too many the oldest are left out
    key, text = values["key"], cut(values.get("text", ""), NOTE_CHARS)
    if not text:
        notebook.pop(key, None)
        return {"notes": len(notebook)}
    if key not in notebook and len(notebook) >= MOST_NOTES:
        raise Refused(f"the notebook is full: {MOST_NOTES} notes")
    notebook.pop(key, None)
    notebook[key] = text
    return {"notes": len(notebook)}


# -- the calculator: arithmetic that a player typed, worked out without evaluating it as a program

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
    if digits is not None and abs(digits) > MOST_DIGITS:  # a whole number is divided by a power of ten that long
        raise Refused("that is rounded to too many digits")
    return round(number, digits)


_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs, "round": _rounded}


def calculate(expression: str) -> int | float:
    """The value of an expression; `Refused` where it is not arithmetic, or a number on the way is too large."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Refused("that is no expression") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise Refused("the expression is too long")
    try:
        value: int | float = _value(tree.body)
    except ZeroDivisionError:
        raise Refused("division by zero") from None
    except (OverflowError, TypeError, ValueError):
        raise Refused("that cannot be worked out") from None
    return value


def _value(node: ast.expr) -> Any:
    value: Any
    match node:
        case ast.Constant(value=bool()):
            raise Refused("only numbers can be worked out")
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
            raise Refused("only numbers, + - * / // % ** and brackets, min, max, abs and round")
    if isinstance(value, complex) or not abs(value) <= LARGEST:
        raise Refused("the number is too large")
    return value


def _applied(sign: type[ast.operator], left: Any, right: Any) -> Any:
    if sign is ast.Pow and (abs(right) > 64 or abs(left) > LARGEST):  # towers of powers are slow
        raise Refused("the number is too large")
    return _BINARY[sign](left, right)
