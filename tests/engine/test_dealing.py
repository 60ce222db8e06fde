"""Past: what an event that points at another finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event, Past
from tests.engine.small import Spoke


@dataclass(frozen=True)
class Asked(Event):
    kind: ClassVar[str] = "asked"
    number: int
    player: str


def test_the_last_of_its_kind_with_those_fields_is_found() -> None:
    past = Past()
    first, second, again = Asked(1, "A"), Asked(2, "B"), Asked(1, "B")
    assert past.last(Asked, number=1) is None
    for event in (first, Spoke("A", "hi"), second):
        past.add(event)
    assert past.last(Asked, number=1) is first
    past.add(again)
    assert past.last(Asked, number=1) is again
    assert past.last(Asked, number=1, player="A") is first
    assert past.last(Asked) is again
    assert past.last(Asked, number=3) is None


def test_an_event_declares_no_dealing_by_itself() -> None:
    assert list(Spoke("A", "B!").interactions(Past())) == []
