"""Dataclasses and patterns that are compiled when they are first used do what the standard library's do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, field, fields, replace
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

import pytest

import agentsim
from agentsim import lazy

Maker = Callable[..., Any]


def classes(dataclass: Maker) -> dict[str, type[Any]]:
    """Return classes of all kinds, made by this decorator."""

    @dataclass
    class Plain:
        one: int
        two: list[int] = field(default_factory=list)
        _: KW_ONLY
        three: str = "3"

    @dataclass(frozen=True)
    class Frozen:
        """A class with words of its own."""

        one: int
        two: str = field(default="2", compare=False)
        three: tuple[int, ...] = field(default=(), hash=False, repr=False)

        @property
        def double(self) -> int:
            return 2 * self.one

    @dataclass(frozen=True)
    class Below(Frozen):
        four: float = 4.0
        two: str = "two"

    @dataclass(frozen=True, slots=True)
    class Slots:
        one: int
        two: dict[str, int] = field(default_factory=dict)
        length: int = field(init=False, default=7)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class BelowSlots(Slots):
        three: int = 3

    @dataclass(slots=True, eq=False)
    class Counted:
        one: int
        count: int = field(init=False)

        def __post_init__(self) -> None:
            self.count = self.one + 1

    @dataclass(frozen=True, order=True)
    class Ordered:
        one: int
        two: str = ""

    @dataclass(frozen=True, repr=False)
    class Own:  # noqa: PLW1641 - the decorator adds the hash
        one: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

    @dataclass(frozen=True)
    class Hashed:
        one: Any
        __hash__ = object.__hash__

    @dataclass
    class Empty:
        pass

    found = (Plain, Frozen, Below, Slots, BelowSlots, Counted, Ordered, Own, Hashed, Empty)
    return {each.__name__: each for each in found}


OURS, THEIRS = classes(vars(lazy)["dataclass"]), classes(dataclasses.dataclass)
CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((1,), {}),
    ((2, "b"), {}),
    ((), {"one": 1, "three": 5}),
    ((1, {"x": 1}, 3), {}),
    ((1,), {"four": 1}),
)


def told(act: Callable[..., Any], *args: Any, **given: Any) -> Any:
    """Return what a call gives, or its error."""
    try:
        return act(*args, **given)
    except (TypeError, AttributeError) as error:
        return type(error), re.sub(r"\S*\.", "", str(error))


def compared(one: Any, other: Any) -> tuple[bool, ...]:
    return one == other, one < other, one <= other, one > other, one >= other


def behavior(cls: type[Any]) -> Iterator[Any]:
    """Yield what can be seen of a class and of its records."""
    yield [(each.name, each.type, each.kw_only) for each in fields(cls)], cls.__match_args__, cls.__name__
    made = [told(cls, *args, **given) for args, given in CALLS]
    for one in made:
        if isinstance(one, tuple):  # an error
            yield one
            continue
        yield repr(one).rpartition(".")[2], one == copy.copy(one), one == copy.deepcopy(one), one == object()
        yield [one == other for other in made], [told(compared, one, other) for other in made]
        yield [getattr(one, each.name) for each in fields(one)]
        hashed = told(hash, one)
        yield "of the object" if hashed == object.__hash__(one) else hashed
        yield repr(told(replace, one, one=5)).rpartition(".")[2]
        yield told(setattr, one, "one", 1), hasattr(one, "__dict__")
        if hasattr(one, "__dict__"):
            yield told(setattr, one, "another", 1)
        yield told(delattr, copy.copy(one), "one")


@pytest.mark.parametrize("name", OURS)
def test_a_dataclass_is_as_the_standard_librarys(name: str) -> None:
    assert [*behavior(OURS[name])] == [*behavior(THEIRS[name])]
    assert (OURS["Frozen"].__doc__, OURS["Empty"].__doc__) == ("A class with words of its own.", "Empty")


@lazy.dataclass(frozen=True, slots=True)
class Sent:
    """A record that is pickled, for which its module must have it."""

    one: int
    two: tuple[str, ...] = ()


def test_a_method_is_compiled_at_its_first_call() -> None:
    stubs = {name: vars(Sent)[name] for name in ("__init__", "__repr__", "__eq__", "__hash__")}
    assert all(isinstance(each, FunctionType) for each in stubs.values())
    first = Sent(1)
    assert vars(Sent)["__init__"] is not stubs["__init__"]
    assert [vars(Sent)[name] is stub for name, stub in stubs.items()] == [False, True, True, True]
    assert (first, hash(first)) == (Sent(1), hash(Sent(1)))
    assert pickle.loads(pickle.dumps(Sent(2, ("a",)))) == Sent(2, ("a",))
    assert vars(Sent)["__repr__"] is stubs["__repr__"]


def test_a_pattern_is_as_the_standard_librarys() -> None:
    text, ours, theirs = "a1 b22 c333", lazy.Pattern(r"[A-Z](\d+)", re.IGNORECASE), re.compile(r"[A-Z](\d+)", re.I)
    assert "_compiled" not in vars(ours)
    for name in ("search", "match", "fullmatch"):
        found, expected = (getattr(each, name)(text, 3, 6) for each in (ours, theirs))
        assert (found and found.span()) == (expected and expected.span())
    assert [each.span() for each in ours.finditer(text, 2)] == [each.span() for each in theirs.finditer(text, 2)]
    assert (ours.findall(text), ours.sub("x", text, 1)) == (theirs.findall(text), theirs.sub("x", text, 1))
    assert (ours.split(text, 1), ours.pattern) == (theirs.split(text, 1), theirs.pattern)


def test_all_patterns_of_the_package_can_be_compiled() -> None:
    for module in walk_packages(agentsim.__path__, "agentsim."):
        if not module.name.endswith(("__main__", "on_dask", "test_game")):
            import_module(module.name)
    modules = [each for name, each in sys.modules.copy().items() if name.startswith("agentsim")]
    patterns = [each for module in modules for each in vars(module).values() if isinstance(each, lazy.Pattern)]
    assert len(patterns) > 50
    for each in patterns:
        each.search("")
