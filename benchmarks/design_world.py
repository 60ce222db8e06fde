"""A simulated world of designs with known effects, to measure `report`, `plan` and `--until-width` over many batches.

There are three factors of two levels, so eight cells. The games of a block share their luck, and every player draws of
its own in each game, as a model's sampling does. `a` and `b` make the first of four players better, and more so
together; `c` has no effect. The measures are the first player's rank and win, a score with a long tail, a common
interaction and a rare one. The truth of each is the mean of `TRUTH_BLOCKS` blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.special import stdtrit

from agentsim.analysis.intervals import UPPER, Array, paired_intervals
from agentsim.runs.batch.manifest import DesignTable
from agentsim.studies.batches import FEWEST_BLOCKS
from agentsim.studies.designs import factorial
from agentsim.studies.effects import contrast_of, freedom_of
from agentsim.studies.plan import PILOT, blocks_needed

SEED = 20_261_123
TRUTH_BLOCKS = 1_000_000
BLOCKS = 30
PLAYERS = 4
MEASURES = ("rank", "win", "score", "deed", "rare deed")
MAIN, TOGETHER = 0.5, 0.5
MOST_BLOCKS = 1_200
WIDTHS = {"rank": 0.3, "win": 0.12, "score": 2.2, "deed": 0.7, "rare deed": 0.2}
"""The widths at which batches stop. Each is reached after 20 to 500 blocks."""
DESIGN = factorial(DesignTable(factors={"a": (0, 1), "b": (0, 1), "c": (0, 1)}, interactions=(("a", "b"), ("a", "c"))))
CONTRASTS = {",".join(each.factors): each for each in DESIGN.contrasts()}


def blocks(generator: np.random.Generator, number: int) -> Array:
    """Return blocks by cells by measures of the first player."""
    size = len(DESIGN.cells)
    better = np.array([MAIN * a + MAIN * b + TOGETHER * a * b for a, b, _ in DESIGN.cells])
    luck = generator.normal(size=(number, 1, PLAYERS))
    skill = luck + generator.normal(size=(number, size, PLAYERS))
    skill[:, :, 0] += better
    rank = (skill > skill[:, :, :1]).sum(axis=2) + 1.0
    own = luck[:, :, 0]
    score = 10 * np.exp(0.5 * own + better / 4 + 0.3 * generator.normal(size=(number, size)))
    deed, rare = (generator.poisson(rate * np.exp(0.3 * own + better / 2)) for rate in (1.5, 0.15))
    return np.stack([rank, rank == 1, score, deed, rare], axis=2).astype(np.float64)


@cache
def truth() -> dict[str, Array]:
    """Return the true effect on each measure, by contrast."""
    generator = np.random.default_rng(SEED)
    parts = [blocks(generator, 10_000).mean(axis=0) for _ in range(TRUTH_BLOCKS // 10_000)]
    means = np.mean(parts, axis=0)[None]
    found = {name: contrast_of(means, each)[0] for name, each in CONTRASTS.items()}
    return {name: each * (0.0 if "c" in name else 1.0) for name, each in found.items()}


def reported(generator: np.random.Generator) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield for one batch (contrast, measure, whether the interval holds the truth, whether all do together)."""
    played = blocks(generator, BLOCKS)
    differences = np.hstack([contrast_of(played, each) for each in CONTRASTS.values()])
    _, low, high, low_adj, high_adj = paired_intervals(differences, draws=500)
    true = np.concatenate([truth()[name] for name in CONTRASTS])
    missed = bool(((low_adj > true) | (high_adj < true)).any())
    for index, (name, measure) in enumerate((name, measure) for name in CONTRASTS for measure in MEASURES):
        if not np.isnan(low[index]):
            yield name, measure, bool(low[index] <= true[index] <= high[index]), not missed


def planned(generator: np.random.Generator, pilot: int = PILOT) -> Iterator[tuple[str, str, bool]]:
    """Yield (contrast, measure, whether the effect is found) for studies of the size that a new pilot asks for.

    Each effect has a study of its own, planned for its true size.
    """
    first = blocks(generator, pilot)
    for name in ("a", "b", "a,b"):
        seen = contrast_of(first, CONTRASTS[name])
        for index, measure in enumerate(MEASURES):
            size = abs(float(truth()[name][index]))
            sd = float(seen[:, index].std(ddof=1))
            if not sd or (needed := blocks_needed(size, sd, freedom_of(seen[:, index]))) > 20_000:
                continue
            study = contrast_of(blocks(generator, needed), CONTRASTS[name])[:, [index]]
            _, low, high, *_ = paired_intervals(study, draws=0)[:, 0]
            yield name, measure, bool(low > 0 or high < 0)


def stopped(generator: np.random.Generator) -> Iterator[tuple[str, str, bool, int, float]]:
    """Yield (contrast, measure, covered, blocks, blocks that a fixed study needs) of batches that stop at a width.

    The width is checked after every block.
    """
    played = blocks(generator, MOST_BLOCKS)
    counts = np.arange(1, MOST_BLOCKS + 1, dtype=np.float64)
    reach = stdtrit(np.maximum(counts - 1, 1), UPPER) / np.sqrt(counts)
    for name in ("a", "a,b", "c"):
        seen = contrast_of(played, CONTRASTS[name])
        mean = seen.cumsum(axis=0) / counts[:, None]
        squares = np.maximum((seen**2).cumsum(axis=0) - counts[:, None] * mean**2, 0.0)
        sd = np.sqrt(squares / np.maximum(counts - 1, 1)[:, None])
        widths = 2 * sd * reach[:, None]
        for index, measure in enumerate(MEASURES):
            narrow = (widths[:, index] < WIDTHS[measure]) & (counts >= FEWEST_BLOCKS) & (sd[:, index] > 0)
            end = int(narrow.argmax()) + 1 if narrow.any() else MOST_BLOCKS
            _, low, high, *_ = paired_intervals(seen[:end, [index]], draws=0)[:, 0]
            once = max(float(FEWEST_BLOCKS), (2 * 1.96 * float(sd[-1, index]) / WIDTHS[measure]) ** 2)
            yield name, measure, bool(low <= truth()[name][index] <= high), end, once
