"""quick: a frozen dataclass made quickly is the same dataclass."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any, ClassVar

import pytest

from agentsim.engine.codec import adapter, values
from agentsim.engine.quick import quick


@dataclass(frozen=True)
class Slow:
    kind: ClassVar[str] = "pair"
    first: int
    second: str = "b"
    third: tuple[int, ...] = field(default=(), kw_only=True)


@quick
@dataclass(frozen=True)
class Quick:
    kind: ClassVar[str] = "pair"
    first: int
    second: str = "b"
    third: tuple[int, ...] = field(default=(), kw_only=True)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        *(((1,), {}), ((1, "x"), {}), ((), {"first": 1, "second": "y"}), ((1,), {"third": (2,)})),
        ((), {"third": (2,), "second": "y", "first": 1}),
    ],
)
def test_it_holds_what_it_is_given(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    assert vars(Quick(*given, **named)) == vars(Slow(*given, **named))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        *(((), {}), ((1, "x", (2,)), {}), ((1,), {"first": 2}), ((1,), {"fourth": 2})),
        ((), {"first": 1, "second": "x", "fourth": 2}),
    ],
)
def test_it_takes_nothing_else(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as slow:
        Slow(*given, **named)
    with pytest.raises(TypeError) as made:
        Quick(*given, **named)
    assert str(made.value) == str(slow.value).replace("Slow", "Quick")


def test_what_is_given_stands_in_the_order_of_the_fields_when_it_is_read() -> None:
    assert list(values(Quick(third=(), second="x", first=1))) == ["first", "second", "third"]


def test_it_is_frozen_compared_copied_and_read_as_before() -> None:
    one = Quick(1, "x", third=(2,))
    with pytest.raises(FrozenInstanceError):
        one.first = 2  # type: ignore[misc] # that is what is tried
    assert one == Quick(1, "x", third=(2,)) != replace(one, first=2) == Quick(2, "x", third=(2,))
    assert hash(one) == hash(Quick(1, "x", third=(2,)))
    assert adapter(Quick).validate_python(values(one)) == one


def test_a_field_may_have_any_name() -> None:
    @quick
    @dataclass(frozen=True)
    class Named:
        held: int
        fields: int = 2
        cls: int = 3

    assert vars(Named(1)) == {"held": 1, "fields": 2, "cls": 3}


def test_a_class_that_makes_its_own_fields_is_left_as_it_is() -> None:
    @dataclass(frozen=True)
    class Listed:
        items: list[int] = field(default_factory=list)

    @dataclass(frozen=True)
    class Counted:
        items: tuple[int, ...]
        count: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "count", len(self.items))

    @dataclass(frozen=True, slots=True)
    class Slotted:
        first: int

    assert quick(Listed)().items is not quick(Listed)().items
    assert quick(Counted)((1, 2)).count == 2
    assert quick(Slotted)(3).first == 3
