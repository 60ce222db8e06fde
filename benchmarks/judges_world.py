"""Simulated studies with a judge of known errors: how often intervals of corrected rates hold the true rate.

Each game has a rate of its own; the judge codes all units, a person a random sample of them.

    python -m benchmarks.judges_world --studies 2000
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import numpy as np

from agentsim.analysis.agreement import plain_share, prediction_powered, rogan_gladen
from agentsim.analysis.intervals import Array, Interval

RATE = 1 / 3
ERRORS = ((0.95, 0.97), (0.9, 0.9), (0.75, 0.85))
"""Sensitivity and specificity of the judges."""
GAMES, UNITS, CODED = 40, 10, 150
SPREAD = 8.0
"""The sum of the parameters of the beta distribution of the games' rates."""


def study(generator: np.random.Generator, sensitivity: float, specificity: float) -> tuple[Array, Array, list[int]]:
    """Return what the judge said of each unit, what the person did or NaN, and the units' games."""
    rates = generator.beta(RATE * SPREAD, (1 - RATE) * SPREAD, size=GAMES)
    truth = generator.random((GAMES, UNITS)) < rates[:, None]
    drawn = generator.random(truth.shape)
    judged = np.where(truth, drawn < sensitivity, drawn >= specificity).ravel().astype(np.float64)
    person = np.full(truth.size, np.nan)
    sample = generator.choice(truth.size, CODED, replace=False)
    person[sample] = truth.ravel()[sample]
    return judged, person, list(np.repeat(np.arange(GAMES), UNITS))


def coverage(
    estimate: Callable[[Array, Array, list[int]], Interval | None],
    errors: tuple[float, float],
    studies: int,
    seed: int = 1,
) -> float:
    """Return the share of studies whose interval holds the true rate; a study without an interval does not."""
    generator = np.random.default_rng(seed)
    held = 0
    for _ in range(studies):
        found = estimate(*study(generator, *errors))
        held += found is not None and found.low is not None and not found.excludes(RATE)
    return held / studies


def uncorrected(judged: Array, person: Array, games: list[int]) -> Interval:
    """Return the judge's share as it is."""
    return plain_share(judged, games)


ESTIMATES = {"rogan-gladen": rogan_gladen, "prediction-powered": prediction_powered, "uncorrected": uncorrected}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    for errors in ERRORS:
        found = {name: coverage(estimate, errors, words.studies) for name, estimate in ESTIMATES.items()}
        line = {"sensitivity": errors[0], "specificity": errors[1], "studies": words.studies, **found}
        print(json.dumps(line) if words.json else line)


if __name__ == "__main__":
    main()
