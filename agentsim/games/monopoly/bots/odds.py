"""Odds: how often tokens stop on a space, in the long run and at the next roll. What that is worth is `worth`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from agentsim.games.monopoly.board import JAIL, SPACES
from agentsim.games.monopoly.cards import DECKS, destination

__all__ = ["THROWS", "stops"]

THROWS: tuple[float, ...] = tuple(max(0, 6 - abs(7 - total)) / 36 for total in range(13))
"""How likely two dice make a total, by that total."""
_ROUNDS = 60  # of the power iteration; what is left of an error then is below a millionth
_MOST_DOUBLES = 3


@cache
def stops() -> tuple[float, ...]:
    """By position: how often a token stops there in one turn of a player, in the long run (doubles roll again).

    The exact chain over position and doubles so far, cards drawn with replacement, of players who leave jail at once.
    A space that sends a token on counts as a stop, and so does the one that it is sent to.
    """
    count = len(SPACES)
    ways = [_ways(position) for position in range(count)]
    weight = [[0.0] * count for _ in range(_MOST_DOUBLES)]
    weight[0][0] = 1.0
    for _ in range(_ROUNDS):
        found = [[0.0] * count for _ in range(_MOST_DOUBLES)]
        for start, steps, double, doubles, here in _rolls(weight):
            if double and doubles == _MOST_DOUBLES - 1:
                found[0][JAIL] += here
                continue
            again = doubles + 1 if double else 0
            for chance, end, jailed in ways[(start + steps) % count]:
                found[0 if jailed else again][end] += here * chance
        weight = found
    visits = [0.0] * count
    for start, steps, double, doubles, here in _rolls(weight):
        if not (double and doubles == _MOST_DOUBLES - 1):
            target = (start + steps) % count
            visits[target] += here
            for chance, end, jailed in ways[target]:
                visits[end] += here * chance if end != target and not jailed else 0.0
    turns = sum(weight[0])
    return tuple(visit / turns for visit in visits)


def _rolls(weight: list[list[float]]) -> Iterator[tuple[int, int, bool, int, float]]:
    """(start, steps, whether a double, doubles before, how likely) of every roll from every state."""
    for doubles, places in enumerate(weight):
        for start, here in enumerate(places):
            if not here:
                continue
            for total in range(2, 13):
                double = total % 2 == 0
                if single := THROWS[total] - double / 36:
                    yield start, total, False, doubles, here * single
                if double:
                    yield start, total, True, doubles, here / 36


@cache
def _ways(position: int) -> tuple[tuple[float, int, bool], ...]:
    """(how likely, where, whether in jail) of a token that comes to this space."""
    kind = SPACES[position].kind
    if kind == "go_to_jail":
        return ((1.0, JAIL, True),)
    if kind not in DECKS:
        return ((1.0, position, False),)
    found: dict[tuple[int, bool], float] = defaultdict(float)
    cards = DECKS[kind]
    for card in cards:
        to = destination(card, position)
        if card.effect == "go_to_jail":
            found[JAIL, True] += 1 / len(cards)
        elif to is None:
            found[position, False] += 1 / len(cards)
        else:
            for chance, end, jailed in _ways(to):
                found[end, jailed] += chance / len(cards)
    return tuple((chance, end, jailed) for (end, jailed), chance in found.items())
