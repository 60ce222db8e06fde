"""Fitting: the lines of a prompt within a number of tokens: lists lose their least relevant lines, and say how many.

What is relevant is the game's; whether a model's own context is large enough is `models`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentsim.engine.prompt import size


@dataclass(frozen=True)
class Listed:
    """Lines under a title, oldest first, which counts them, `more` that are not there, and those that are left out.

    The oldest are left out first, or the last where `first` is set; `rest` says what those are. Among lists, the one is
    shortened that is longest for what it is `worth`.
    """

    title: str
    lines: Sequence[str]
    worth: int
    more: int = 0
    rest: str = "older ones"
    first: bool = False

    def shown(self, count: int) -> Iterator[str]:
        """The title and so many of the lines."""
        kept = self.lines[:count] if self.first else self.lines[len(self.lines) - count :]
        more = self.more + len(self.lines) - count
        yield (
            f"{self.title} ({count}{f', and {more} {self.rest}' if more else ''}):"
            if count + more
            else (f"{self.title}: none.")
        )
        yield from kept


Part: TypeAlias = str | Listed


def fitted(parts: Sequence[Part], room: int) -> list[str]:
    """The lines of all parts in order, in about so many bytes; lines that are no list's always stay."""
    lists = [part for part in parts if isinstance(part, Listed)]
    sizes = [[size(line) + 1 for line in part.lines] for part in lists]
    totals, counts = [sum(each) for each in sizes], [len(each) for each in sizes]
    titles = sum(size(part.title) + 30 for part in lists)
    excess = sum(totals) + titles + sum(size(part) + 1 for part in parts if isinstance(part, str)) - room
    while excess > 0 and any(counts):
        longest = max(filter(counts.__getitem__, range(len(lists))), key=lambda each: totals[each] / lists[each].worth)
        gone = counts[longest] - 1 if lists[longest].first else len(sizes[longest]) - counts[longest]
        counts[longest] -= 1
        totals[longest] -= sizes[longest][gone]
        excess -= sizes[longest][gone]
    shown = iter(zip(lists, counts, strict=True))
    return [line for part in parts for line in ([part] if isinstance(part, str) else _next(shown))]


def _next(shown: Iterator[tuple[Listed, int]]) -> Iterator[str]:
    part, count = next(shown)
    return part.shown(count)
