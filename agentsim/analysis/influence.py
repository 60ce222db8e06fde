"""Influence: what one message did, branches in which it was said beside branches in which it was not.

Branch k of both sides has the same chance up to what players draw of their own; intervals are `paired`. Shares
count a listener who did no such thing as one who did not choose it, so that every pair counts; of amounts, only pairs
count in which both sides have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from agentsim.analysis.arms import PairedEffect, effects
from agentsim.analysis.game_records import Column
from agentsim.analysis.inference import Array
from agentsim.analysis.responses import Responses

ALL = "(all)"
"""In place of a listener: the mean of those who did such a thing in any branch."""


@dataclass(frozen=True, slots=True)
class Followed:
    """One finished branch: what listeners did next, what the outcome gives players; `rest` tells branches apart."""

    responses: Responses
    results: Mapping[Column, float]
    rest: object = None


@dataclass(frozen=True, slots=True)
class Swapped:
    """A message of the run `of`: the words of decision `at`, who heard them, and what is there in place of them."""

    of: str
    at: int
    game: str
    speaker: str
    kind: str
    round: int
    words: str
    swap: str
    instead: str
    listeners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Influence:
    """What a message did: the mean of said less swapped, over pairs of branches.

    `listeners` has the effects on what each listener did next, `outcome` those on ranks, wins and scores; in an
    `Effect`, `player` is the listener. The ends that hold together (`low_adj`, `high_adj`) do so for all of both, of
    all messages that were asked about at once. `unpaired` are branches without a finished partner. `identical` says
    that in every pair all that followed is the same: the message did nothing.
    """

    message: Swapped
    pairs: int
    unpaired: int
    identical: bool
    listeners: tuple[PairedEffect, ...]
    outcome: tuple[PairedEffect, ...]

    def to_json(self) -> dict[str, Any]:
        """As `agentsim influence --json` prints it."""
        return asdict(self)


Sides: TypeAlias = tuple[Mapping[int, Followed], Mapping[int, Followed]]
"""Finished branches by number: with the message, and with what is swapped for it."""


def influences(found: Sequence[tuple[Swapped, Sides]]) -> list[Influence]:
    """What each message did; the intervals that hold together are of all messages."""
    paired = [sorted(said.keys() & swapped.keys()) for _, (said, swapped) in found]
    most = max(map(len, paired), default=0)
    columns: list[Column] = []
    blocks: list[Array] = []
    ends: list[tuple[int, int]] = []  # of each message, how many columns are of listeners, and how many in all
    for (message, sides), both in zip(found, paired, strict=True):
        named, values, own = _table(message, [[side[key] for key in both] for side in sides])
        filled = np.full((2, most, len(named)), np.nan)
        filled[:, : len(both)] = values
        known = ~np.isnan(filled[0] - filled[1]).all(axis=0)  # `effects` leaves out the others
        columns += [column for column, there in zip(named, known, strict=True) if there]
        blocks.append(filled[:, :, known])
        ends.append((int(known[:own].sum()), int(known.sum())))
    each = effects(columns, np.concatenate(blocks, axis=2)) if columns else iter(())
    return [
        Influence(
            message=message,
            pairs=len(both),
            unpaired=len(said.keys() ^ swapped.keys()),
            identical=bool(both) and all(said[key].rest == swapped[key].rest for key in both),
            listeners=tuple(islice(each, own)),
            outcome=tuple(islice(each, every - own)),
        )
        for (message, (said, swapped)), both, (own, every) in zip(found, paired, ends, strict=True)
    ]


def _table(message: Swapped, sides: Sequence[Sequence[Followed]]) -> tuple[list[Column], Array, int]:
    """The columns, their values by side, branch and column, and how many columns are of listeners."""
    branches = [branch for side in sides for branch in side]
    rows = list(_rows(message, [branch.responses for branch in branches]))
    results = list(dict.fromkeys(column for branch in branches for column in branch.results))
    values = [
        [
            [*(row.value(branch.responses) for row in rows), *(branch.results.get(each, np.nan) for each in results)]
            for branch in side
        ]
        for side in sides
    ]
    columns = [row.column for row in rows] + results
    return columns, np.array(values, dtype=np.float64).reshape(2, -1, len(columns)), len(rows)


@dataclass(frozen=True, slots=True)
class _Row:
    """One measure of these listeners: the share who chose a value, or where there is none the mean of their amounts."""

    what: str
    chosen: str | None
    listeners: tuple[str, ...]

    @property
    def column(self) -> Column:
        measure = self.what if self.chosen is None else f"{self.what} = {self.chosen}"
        return measure, self.listeners[0] if len(self.listeners) == 1 else ALL

    def value(self, found: Responses) -> float:
        keys = [(self.what, listener) for listener in self.listeners]
        if self.chosen is not None:
            return sum(found.chosen.get(key) == self.chosen for key in keys) / len(keys)
        amounts = [found.amounts[key] for key in keys if key in found.amounts]
        return sum(amounts) / len(amounts) if amounts else np.nan


def _rows(message: Swapped, found: Sequence[Responses]) -> Iterator[_Row]:
    """Every measure of all who have it, then of each of them; of a choice the speaker first."""
    choices = {(what, chosen) for each in found for (what, _), chosen in each.chosen.items() if chosen}
    amounts = {(what, None) for each in found for what, _ in each.amounts}
    did = {key for each in found for key in (*each.chosen, *each.amounts)}
    for what, chosen in (
        *sorted(choices, key=lambda each: (each[0], each[1] != message.speaker, each)),
        *sorted(amounts),
    ):
        who = tuple(listener for listener in message.listeners if (what, listener) in did)
        if len(who) > 1:
            yield _Row(what, chosen, who)
        yield from (_Row(what, chosen, (listener,)) for listener in who)
