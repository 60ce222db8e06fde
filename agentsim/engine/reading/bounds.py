"""Bounds: how much of a reply is looked at, counted in work and not in time, so that a replay comes to the same.

A reply that blows one of them says too much to mean one thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import maxsize
from typing import TypeVar

from agentsim.errors import AmbiguousReply, UnreadableReply

__all__ = [
    "MOST_CLAIMS",
    "MOST_MARKS",
    "MOST_MEMBERS",
    "MOST_OBJECTS",
    "Work",
    "bounded",
    "of_few_lines",
    "of_few_tags",
]

MOST_CLAIMS = 150  # of a reply: each is looked at with all around it
MOST_OBJECTS = 300
_MOST_LINES = 3_000  # that are not empty
_MOST_TAGS, _MOST_FENCES = 2_000, 500  # of what was not thought
MOST_MARKS = 1_000  # of thinking
MOST_MEMBERS = 1_000  # of an object
_MOST_VALUES = 4_000  # in all objects
_MOST_STEPS = 3_000  # of mending: a member, a comment, a quote

T = TypeVar("T")


class Work:
    """What is left to do for the objects of a reply."""

    def __init__(self) -> None:
        self._left, self._values = _MOST_STEPS, _MOST_VALUES
        self.unclosed = maxsize
        """Behind this place no comment ends."""

    def take(self, values: int = 1) -> None:
        """Count values; `AmbiguousReply` where there are more than any answer has."""
        self._values -= values
        if self._values < 0:
            raise _over_and_over()

    def step(self) -> None:
        """Count a step of mending; `UnreadableReply` where none is left."""
        self._left -= 1
        if self._left < 0:
            raise UnreadableReply("The JSON of the reply is too broken to be read. Answer with one whole JSON object.")


def bounded(found: Iterable[T], most: int) -> Iterator[T]:
    """All of them; `AmbiguousReply` where there are so many that none can be meant."""
    for count, each in enumerate(found):
        if count >= most:
            raise _over_and_over()
        yield each


def of_few_lines(text: str) -> str:
    """The text; `AmbiguousReply` where it has so many lines that none can be meant."""
    if text.count("\n") >= _MOST_LINES and sum(map(bool, text.split("\n"))) > _MOST_LINES:
        raise _over_and_over()
    return text


def of_few_tags(text: str) -> str:
    """The text; `AmbiguousReply` where it has so many tags or fences that none can be meant."""
    if text.count("<") > _MOST_TAGS or text.count("```") > _MOST_FENCES:
        raise _over_and_over()
    return text


def _over_and_over() -> AmbiguousReply:
    return AmbiguousReply("The reply says the same thing over and over. Answer with the decision alone.")
