"""The Markov chain of one token, written down from the rules of the reference and from nothing of the package.

A state is (place, count): on a space with so many doubles rolled before in this turn, or in the `CELL` with so many
rolls that have failed. A step is one roll with all that it brings about, each card drawn from a full deck.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias

CELL = 40
State: TypeAlias = tuple[int, int]
Row: TypeAlias = Mapping[State, float]
Policy: TypeAlias = Literal["leave", "stay", "again"]
"""Pay before the first roll; roll for doubles; the same where the double that opens the jail rolls again (no rule)."""

# Of 16 Chance cards ten move a token, of 16 Community Chest cards two; the others leave it where it is.
_ANYWHERE = (0, 5, 11, 24, 39, CELL)  # GO, Reading, St. Charles, Illinois, Boardwalk, jail
_RAILROAD, _UTILITY, _BACK = {7: 15, 22: 25, 36: 5}, {7: 12, 22: 28, 36: 12}, {7: 4, 22: 19, 36: 33}
_CHEST = (2, 17, 33)


def _rests(place: int) -> Iterator[tuple[int, float]]:
    """(where a token that comes here rests, how likely)."""
    if place == 30:
        yield CELL, 1.0
    elif place in _CHEST:
        yield from ((0, 1 / 16), (CELL, 1 / 16), (place, 14 / 16))
    elif place in _BACK:
        yield from ((target, 1 / 16) for target in (*_ANYWHERE, _RAILROAD[place], _RAILROAD[place], _UTILITY[place]))
        yield from ((target, chance / 16) for target, chance in _rests(_BACK[place]))
        yield place, 6 / 16
    else:
        yield place, 1.0


def _thrown(state: State, policy: Policy, first: int, second: int) -> Iterator[tuple[State, float]]:
    (place, count), double = state, first == second
    if place == CELL and policy != "leave":
        if not double and count < 2:
            yield (CELL, count + 1), 1.0
            return
        double = double and policy == "again"
    elif double and place != CELL and count == 2:
        yield (CELL, 0), 1.0
        return
    start, doubles = (10, 0) if place == CELL else (place, count)
    for end, chance in _rests((start + first + second) % 40):
        yield (end, doubles + 1 if double and end != CELL else 0), chance


@cache
def rows(policy: Policy) -> Mapping[State, Row]:
    """From every state that a token comes to, the chances of the next."""
    found: dict[State, Row] = {}
    new: list[State] = [(0, 0)]
    while new:
        state = new.pop()
        row: dict[State, float] = defaultdict(float)
        for throw in range(36):
            for end, chance in _thrown(state, policy, throw // 6 + 1, throw % 6 + 1):
                row[end] += chance / 36
        found[state] = dict(row)
        new += [end for end in row if end not in found and end not in new]
    return found


@cache
def shares(policy: Policy) -> Mapping[State, float]:
    """The share of all rolls that end in each state: by elimination of one state after the other, without a limit."""
    states = list(rows(policy))
    number = {state: index for index, state in enumerate(states)}
    flow = [[0.0] * len(states) for _ in states]
    for state, row in rows(policy).items():
        for end, chance in row.items():
            flow[number[state]][number[end]] = chance
    for last in range(len(states) - 1, 0, -1):
        out = sum(flow[last][:last])
        for index in range(last):
            flow[index][last] = share = flow[index][last] / out
            if share:
                flow[index][:last] = [way + share * on for way, on in zip(flow[index], flow[last][:last], strict=False)]
    weights = [1.0]
    for last in range(1, len(states)):
        weights.append(sum(weights[index] * flow[index][last] for index in range(last)))
    return {state: weight / sum(weights) for state, weight in zip(states, weights, strict=True)}


@cache
def expected(policy: Policy) -> Sequence[float]:
    """The share of rolls after which the token is on each of the 40 spaces, then in the cell."""
    found = [0.0] * (CELL + 1)
    for (place, _), share in shares(policy).items():
        found[place] += share
    return found


def stops() -> Sequence[float]:
    """By space: how often in a turn a token that leaves jail at once comes there by dice, or rests there by a card."""
    visits, turns = [0.0] * CELL, 0.0
    for (place, count), share in shares("leave").items():
        turns += 0 if count else share
        for first in range(1, 7):
            for second in range(1, 7):
                if count == 2 and first == second:
                    continue
                space = ((10 if place == CELL else place) + first + second) % 40
                visits[space] += share / 36
                for end, chance in _rests(space):
                    visits[end % CELL] += share / 36 * chance if end not in {space, CELL} else 0
    return [visit / turns for visit in visits]
