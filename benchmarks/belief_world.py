"""Games whose players believe what they should, or too much or too little, of an outcome that chance decides.

A game is an urn with a ball of each of four outcomes. In each round a ball is drawn and put back with another like it;
the outcome is one more draw. The share of each outcome in the urn is its probability, given what was drawn.
"""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np

from agentsim.analysis.finished_games import BeliefRecord, Entrant, GameRecord

OUTCOMES, ROUNDS = 4, 4
PLAYERS = ("knows 1", "knows 2", "late 1", "late 2")
"""Two players know every draw, two all but the last."""


def _mean_brier() -> float:
    """Return the expected Brier score of the calibrated beliefs.

    After n draws it is 1 less the sum of squares of the shares, whose counts are Dirichlet-multinomial.
    """
    scores = []
    for draws in (*range(1, ROUNDS + 1), *range(ROUNDS)):
        mean, variance = 1 + draws / OUTCOMES, draws * 3 / 16 * (OUTCOMES + draws) / (OUTCOMES + 1)
        scores.append(1 - OUTCOMES * (mean**2 + variance) / (OUTCOMES + draws) ** 2)
    return float(sum(scores) / len(scores))


TRUE_BRIER = _mean_brier()


def believed(generator: np.random.Generator, games: int, power: float) -> list[GameRecord]:
    """Return games whose players state the shares that they know, raised to a power and divided by their sum.

    A power of 1 is calibrated, above 1 is overconfident, below 1 is underconfident.
    """
    return [_game(generator, number, power) for number in range(games)]


def _game(generator: np.random.Generator, seed: int, power: float) -> GameRecord:
    urn, known = [1] * OUTCOMES, list[tuple[tuple[float, ...], tuple[float, ...]]]()
    drawn = generator.random(ROUNDS + 1)
    for draw in drawn[:-1]:
        late = _shares(urn, power)
        urn[_ball(urn, draw)] += 1
        known.append((_shares(urn, power), late))
    happened = _ball(urn, drawn[-1])
    beliefs = []
    for now, late in known:
        for shares, players in ((now, PLAYERS[:2]), (late, PLAYERS[2:])):
            brier = sum(share**2 for share in shares) - 2 * shares[happened] + 1
            beliefs += [
                BeliefRecord(player, "outcome", shares, happened, brier, -math.log(shares[happened]))
                for player in players
            ]
    entrants = tuple(Entrant(each, "m", "m", 1.0, 1, None, 0, 0, 0, 0, None) for each in PLAYERS)
    return GameRecord(f"g{seed}", "urn", seed, entrants, (), None, beliefs=tuple(beliefs))


def _shares(urn: list[int], power: float) -> tuple[float, ...]:
    raised = [balls**power for balls in urn]
    return tuple(each / sum(raised) for each in raised)


def _ball(urn: list[int], draw: float) -> int:
    return next(index for index, up_to in enumerate(accumulate(urn)) if draw * sum(urn) < up_to)
