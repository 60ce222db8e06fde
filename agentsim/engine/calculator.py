"""Calculator: arithmetic that a player typed, worked out without evaluating it as a program."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from agentsim.engine.capability import Refused

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
