"""Symmetry: the labels that the data do not tell apart, for which all estimates are the same.

Two labels are interchangeable if some exchange of labels takes the one to the other and leaves the data as they are: an
automorphism, found by refining colors (B. D. McKay and A. Piperno, Practical graph isomorphism II, 2014).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from agentsim.analysis.intervals import Array

_DIGITS = 9  # sums of the same shares in another order agree to this many digits
_MOST = 400_000  # the most rows times labels that are examined; larger data hardly have ties
_PATIENCE = 60  # the most refinements for one pair of labels

Orbits: TypeAlias = tuple[tuple[int, ...], ...]


def interchangeable(rows: Array, counts: Array, taken: Array) -> Orbits:
    """Return the groups of labels that the data do not tell apart, each label in one group.

    `rows` are rows by labels, each there `counts` times, in any order; `taken` has a number of each label.
    """
    size = rows.shape[1]
    if rows.size > _MOST:
        return tuple((label,) for label in range(size))
    data = _Data(rows, counts, taken)
    groups: list[list[int]] = []
    for label in range(size):
        same = next((group for group in groups if data.exchanges(group[0], label)), None)
        if same is None:
            groups.append([label])
        else:
            same.append(label)
    return tuple(map(tuple, groups))


class _Data:
    """Rows as a set, and colors of labels; equal colors are the same number in all of them."""

    def __init__(self, rows: Array, counts: Array, taken: Array) -> None:
        self._rows = Counter[tuple[float, ...]]()
        for row, count in zip(np.round(rows, _DIGITS).tolist(), counts.tolist(), strict=True):
            self._rows[tuple(row)] += count
        self._counts = {row: round(count, _DIGITS) for row, count in self._rows.items()}
        self._names: dict[object, int] = {}
        self._taken = [round(each, _DIGITS) for each in taken.tolist()]
        self._colors = self._refined([self._named(each) for each in self._taken])
        self._left = 0

    def exchanges(self, one: int, other: int) -> bool:
        """Return whether some exchange of labels takes one to the other; False too if that takes too long to find."""
        if self._colors[one] != self._colors[other]:
            return False
        swapped = list(range(len(self._colors)))
        swapped[one], swapped[other] = other, one
        if self._unchanged(swapped):
            return True
        self._left = _PATIENCE
        return self._leads(self._marked(self._colors, one), self._marked(self._colors, other))

    def _named(self, what: object) -> int:
        return self._names.setdefault(what, len(self._names))

    def _marked(self, colors: Sequence[int], label: int) -> list[int]:
        return self._refined([*colors[:label], self._named(("marked", colors[label])), *colors[label + 1 :]])

    def _refined(self, colors: list[int]) -> list[int]:
        """Return the colors told apart by the rows that labels are in, until they tell no more labels apart."""
        while True:
            seen: list[list[tuple[int, float]]] = [[] for _ in colors]
            for row, count in self._counts.items():
                there = [label for label, each in enumerate(row) if each]
                name = self._named((count, tuple(sorted((colors[label], row[label]) for label in there))))
                for label in there:
                    seen[label].append((name, row[label]))
            finer = [self._named((own, tuple(sorted(each)))) for own, each in zip(colors, seen, strict=True)]
            if len(set(finer)) == len(set(colors)):
                return colors
            colors = finer

    def _leads(self, here: list[int], there: list[int]) -> bool:
        """Return whether an exchange takes the colors of the one to those of the other."""
        self._left -= 1
        if self._left < 0 or sorted(here) != sorted(there):
            return False
        cells: dict[int, list[int]] = defaultdict(list)
        for label, color in enumerate(there):
            cells[color].append(label)
        several = [color for color in here if len(cells[color]) > 1]
        if not several:
            return self._unchanged([cells[color][0] for color in here])
        color = min(several, key=lambda each: len(cells[each]))
        marked = self._marked(here, here.index(color))
        return any(self._leads(marked, self._marked(there, label)) for label in cells[color])

    def _unchanged(self, to: Sequence[int]) -> bool:
        """Return whether the data are the same with each label `k` called `to[k]`."""
        if any(self._taken[label] != self._taken[other] for label, other in enumerate(to)):
            return False
        back = sorted(range(len(to)), key=to.__getitem__)
        return all(self._counts.get(tuple(row[at] for at in back)) == count for row, count in self._counts.items())
