"""Dataclasses and patterns whose code is compiled when it is first used.

A command imports some hundreds of them and uses few: to compile all takes a quarter of the time from the start of
`agentsim run` to the first decision.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cached_property
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["Pattern", "dataclass"]


class Pattern:
    """A regular expression with the methods of `re.Pattern`, compiled at the first call of one of them."""

    def __init__(self, pattern: str, flags: int | re.RegexFlag = 0) -> None:
        self.pattern, self._flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.match(text, start, end)

    def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.fullmatch(text, start, end)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text, start, end)

    def findall(self, text: str, start: int = 0, end: int = sys.maxsize) -> list[Any]:
        return self._compiled.findall(text, start, end)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self._compiled.sub(new, text, count)

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        return self._compiled.split(text, maxsplit)


def _dataclass(
    cls: type[Any] | None = None,
    /,
    *,
    repr: bool = True,  # noqa: A002 - as `dataclasses` calls it
    eq: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
    order: bool = False,
    slots: bool = False,
) -> Any:
    """Make a class a dataclass, as `dataclasses.dataclass` does; a method is compiled at its first call.

    All frozen classes share the methods that refuse to change a record. `InitVar` is not supported.
    """

    def made(cls: type[Any]) -> type[Any]:
        own = {name for name, value in vars(cls).items() if value is not None}  # a class with `__eq__` has no hash
        cls.__doc__ = cls.__doc__ or cls.__name__  # `dataclasses` would work out the signature for it
        cls = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(cls)
        methods: dict[str, Any] = {"__init__": _init_of(frozen, slots)}
        if repr:
            methods["__repr__"] = _repr_of
        if eq:
            methods |= {"__eq__": _comparison("=="), "__hash__": _hash_of if frozen else None}
        if order:
            methods |= {name: _comparison(sign) for name, sign in _ORDER.items()}
        shared = {**(_FROZEN if frozen else {}), **(_PICKLED if frozen and slots else {})}
        compiled = {name: method and _at_first_call(cls, name, method) for name, method in methods.items()}
        for name, method in {**shared, **compiled}.items():
            if name not in own:
                setattr(cls, name, method)
        return cls

    return made if cls is None else made(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


def _at_first_call(cls: type[Any], name: str, compiled: Callable[[type[Any]], Any]) -> Callable[..., Any]:
    """Return a method that compiles the one of this name, puts it in its own place, and calls it."""

    def compile_and_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        method = compiled(cls)
        method.__name__, method.__qualname__, method.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, method)
        return method(self, *args, **kwargs)

    return compile_and_call


def _function(parameters: str, body: str, names: Mapping[str, Any]) -> Any:
    """Compile a function whose globals are `names`."""
    found: dict[str, Any] = {}
    exec(f"def method({parameters}):\n {body}", dict(names), found)  # noqa: S102 - as `dataclasses` does
    return found["method"]


def _init_of(frozen: bool, slots: bool) -> Callable[[type[Any]], Any]:
    """Return a function that compiles the `__init__` of such a class."""

    def compiled(cls: type[Any]) -> Any:
        names: dict[str, Any] = {"_not_given": MISSING, "_set": object.__setattr__}
        in_order: list[str] = []
        by_keyword: list[str] = []
        body: list[str] = []
        for each in fields(cls):
            name, value = each.name, each.name
            if each.default_factory is not MISSING:
                names[f"_new_{name}"] = each.default_factory
                value = f"_new_{name}() if {name} is _not_given else {name}" if each.init else f"_new_{name}()"
            elif each.default is not MISSING:
                names[f"_default_{name}"] = each.default
                value = name if each.init else f"_default_{name}"
            elif not each.init:
                continue  # `__post_init__` sets it
            if each.init:
                (by_keyword if each.kw_only else in_order).append(name + _default_of(each))
            if not frozen:
                body.append(f"self.{name} = {value}")
            elif slots:
                names[f"_set_{name}"] = getattr(cls, name).__set__
                body.append(f"_set_{name}(self, {value})")
            else:
                body.append(f"_set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        parameters = ["self", *in_order, *(["*", *by_keyword] if by_keyword else ())]
        return _function(", ".join(parameters), "; ".join(body) or "pass", names)

    return compiled


def _default_of(each: Field[Any]) -> str:
    if each.default_factory is not MISSING:
        return "=_not_given"
    return "" if each.default is MISSING else f"=_default_{each.name}"


def _repr_of(cls: type[Any]) -> Any:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in fields(cls) if each.repr)
    return recursive_repr()(_function("self", f'return f"{{type(self).__qualname__}}({shown})"', {}))


_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _comparison(sign: str) -> Callable[[type[Any]], Any]:
    """Return a function that compiles the comparison of a class by this operator."""

    def compiled(cls: type[Any]) -> Any:
        own, others = (_tuple_of(who, [each for each in fields(cls) if each.compare]) for who in ("self", "other"))
        body = f"return {own} {sign} {others} if other.__class__ is self.__class__ else NotImplemented"
        return _function("self, other", body, {})

    return compiled


def _hash_of(cls: type[Any]) -> Any:
    hashed = [each for each in fields(cls) if (each.compare if each.hash is None else each.hash)]
    return _function("self", f"return hash({_tuple_of('self', hashed)})", {})


def _tuple_of(who: str, those: list[Field[Any]]) -> str:
    return f"({''.join(f'{who}.{each.name}, ' for each in those)})"


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


_FROZEN = {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
_PICKLED = {"__getstate__": _state, "__setstate__": _set_state}
