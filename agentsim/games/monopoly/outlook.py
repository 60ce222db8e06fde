"""Outlook: what the next roll of a player may bring: where it rests how likely, and the highest rent there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import prod

from agentsim.games.monopoly.board import DECKS, GROUPS, JAIL, SPACES, destination
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.landing_odds import IN_JAIL, transitions

_THROWN = 12  # the highest throw, which a card may ask for a utility's rent
UTILITY_DICE_TIMES = 10  # of the card


@cache
def visits(position: int, doubles: int = 0) -> Mapping[str, float]:
    """By group: how likely a token that is about to roll here comes to rest on it before its turn is over.

    `doubles` were rolled in this turn before. `IN_JAIL` stands for the cell, which is left at once.
    """
    found = dict.fromkeys(GROUPS, 0.0)
    for (to, again), chance in transitions("leave")[position, doubles].items():
        further = visits(to, again) if again else {}
        here = SPACES[to].group if to != IN_JAIL else ""
        for group in GROUPS:
            found[group] += chance * (1.0 if group == here else further.get(group, 0.0))
    return found


def any_visit(group: str, starts: Sequence[int]) -> float:
    """How likely at least one of the tokens that stand there rests on the group in its next turn."""
    return 1 - prod(1 - visits(start)[group] for start in starts)


def worst_rent(estate: Estate, seat: int, position: int) -> tuple[int, int]:
    """The highest rent that the seat may owe after one roll from here, in dollars, and where; (0, 0) for none."""
    start = JAIL if position == IN_JAIL else position
    found = ((rent, place) for total in range(2, _THROWN + 1) for place, rent in _rents(estate, start, total))
    return max(((rent, place) for rent, place in found if estate.owner[place] != seat and rent), default=(0, 0))


def _rents(estate: Estate, start: int, total: int) -> Iterator[tuple[int, int]]:
    """Where such a throw may end, by itself or by a card, and what a visitor owes there."""
    target = (start + total) % len(SPACES)
    yield target, estate.rent(target, total)
    for deck, cards in DECKS.items():
        for card in cards if SPACES[target].kind == deck else ():
            if (to := destination(card, target)) is not None:
                rent = estate.rent(to, total)
                sent = {"nearest_railroad": 2 * rent, "nearest_utility": UTILITY_DICE_TIMES * _THROWN if rent else 0}
                yield to, sent.get(card.effect, rent)
