"""Landing odds in the long run, from one exact Markov chain over position, doubles and jail.

One step is one roll and all that it causes until the token rests: cards, Go To Jail, three doubles. The chain leaves
out the decks' memory (each draw is uniform, as if cards were shuffled in again), Get Out of Jail Free cards, and what
players owe or own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, TypeAlias

from agentsim.games.monopoly.board import DECKS, JAIL, SPACES, destination

JailPolicy: TypeAlias = Literal["leave", "stay"]
"""`leave` pays before the first roll; `stay` rolls for doubles, and pays after the third failure."""
State: TypeAlias = tuple[int, int]
"""(position, doubles rolled in a row so far: 0 to 2), or (`IN_JAIL`, failed rolls for doubles: 0 to 2)."""
IN_JAIL = len(SPACES)
"""The jail itself; position 10 is Just Visiting."""
THROWS: tuple[float, ...] = tuple(max(0, 6 - abs(7 - total)) / 36 for total in range(13))
"""The probability of each total of two dice, by total."""
_ROLLS = 3  # in jail, and doubles in a row that lead to jail
_ENOUGH = 1e-12  # largest change of a probability at which iteration ends
_FACES = range(1, 7)


@cache
def long_run(policy: JailPolicy) -> tuple[float, ...]:
    """Return the share of rolls after which a token rests on each of the 40 spaces, then in jail (`IN_JAIL`).

    The shares sum to 1. No token rests on Go To Jail, and the start does not matter.
    """
    odds = [0.0] * (IN_JAIL + 1)
    for (position, _), weight in _limit(policy).items():
        odds[position] += weight
    return tuple(odds)


@cache
def stops() -> tuple[float, ...]:
    """Return the expected stops on each space in one turn of a player who leaves jail at once; doubles roll again.

    A space that sends a token on counts as a stop, and so does the space where it ends; jail does not.
    """
    visits, turns = [0.0] * len(SPACES), 0.0
    for (position, doubles), weight in _limit("leave").items():
        start = JAIL if position == IN_JAIL else position
        turns += weight * (doubles == 0)  # every turn begins without doubles
        for total in range(2, 13):
            jailing = 1 / 36 if doubles == _ROLLS - 1 and total % 2 == 0 else 0.0
            here, target = weight * (THROWS[total] - jailing), (start + total) % len(SPACES)
            visits[target] += here
            for end, chance in _rests(target).items():
                if end not in {target, IN_JAIL}:
                    visits[end] += here * chance
    return tuple(visit / turns for visit in visits)


@cache
def _limit(policy: JailPolicy) -> Mapping[State, float]:
    """Return the share of rolls that are made from each state."""
    rows = transitions(policy)
    number = {state: index for index, state in enumerate(rows)}
    moves = [[(number[to], chance) for to, chance in row.items()] for row in rows.values()]
    weights = [1 / len(rows)] * len(rows)
    change = 1.0
    while change > _ENOUGH:
        following = [0.0] * len(rows)
        for weight, row in zip(weights, moves, strict=True):
            for to, chance in row:
                following[to] += weight * chance
        change = max(abs(now - before) for now, before in zip(following, weights, strict=True))
        weights = following
    return dict(zip(rows, weights, strict=True))


@cache
def transitions(policy: JailPolicy) -> Mapping[State, Mapping[State, float]]:
    """Return, for every state, the probabilities of the state after the next roll; each row sums to 1."""
    states = [(position, count) for position in range(IN_JAIL + 1) for count in range(_ROLLS)]
    return {state: _row(state, policy) for state in states}


def _row(state: State, policy: JailPolicy) -> dict[State, float]:
    position, count = state
    if position == IN_JAIL and policy == "leave":
        position, count = JAIL, 0
    row: dict[State, float] = {}
    for first in _FACES:
        for second in _FACES:
            for to, chance in _rolled(position, count, first + second, first == second).items():
                row[to] = row.get(to, 0.0) + chance / len(_FACES) ** 2
    return row


def _rolled(position: int, count: int, steps: int, double: bool) -> dict[State, float]:
    """Return the states after one throw; doubles that open the jail give no further roll, so they do not count."""
    if position == IN_JAIL:
        if not double and count < _ROLLS - 1:
            return {(IN_JAIL, count + 1): 1.0}
        position, double = JAIL, False
    if double and count == _ROLLS - 1:
        return {(IN_JAIL, 0): 1.0}
    doubles = count + 1 if double else 0
    rests = _rests((position + steps) % len(SPACES))
    return {(to, 0 if to == IN_JAIL else doubles): chance for to, chance in rests.items()}


@cache
def _rests(position: int) -> dict[int, float]:
    """Return the probabilities of the spaces on which a token that comes here comes to rest."""
    kind = SPACES[position].kind
    if kind == "go_to_jail":
        return {IN_JAIL: 1.0}
    if kind not in {"chance", "community_chest"}:
        return {position: 1.0}
    rests: dict[int, float] = {}
    deck = DECKS["chance" if kind == "chance" else "community_chest"]
    for card in deck:
        target = destination(card, position)
        ends = {IN_JAIL: 1.0} if card.effect == "go_to_jail" else {position: 1.0} if target is None else _rests(target)
        for to, chance in ends.items():
            rests[to] = rests.get(to, 0.0) + chance / len(deck)
    return rests
