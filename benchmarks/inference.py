"""What `agentsim report` says of worlds whose truth is known, as one table: what is true, and what is said.

Each row is a rate over simulations. Each simulation has random numbers of its own, from a seed that is fixed here, so
that the table is the same each time. What is estimated, and how, is docs/inference.md.

    uv run python -m benchmarks.inference
    uv run python -m benchmarks.inference --simulations 200 --only ratings
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from agentsim.analysis.beliefs import belief_lines
from agentsim.analysis.conditions import by_condition, differences
from agentsim.analysis.finished_games import labelled
from agentsim.analysis.intervals import Interval, clusters, paired_intervals, ratio_intervals
from agentsim.analysis.positions import ballots, position_p_value
from agentsim.analysis.posterior import ChoiceSets, choice_sets, posterior, wins_check
from agentsim.analysis.preference import OwnMaker, own_makers
from agentsim.studies.influence import ALL
from benchmarks import arms_world, belief_world, design_world
from benchmarks.inference_worlds import Array, Jury, elimination_votes, jury_votes, placed, tables, treated
from benchmarks.influence_world import persuasion, true_effect
from benchmarks.rate_world import Pool
from benchmarks.rate_world import placed as placement

SEED = 20_261_123
FALSE, COVERED = (0.03, 0.07), (0.93, 0.97)
CHAINS = 10
"""A quarter of a report's chains, for speed; the ends of intervals are less exact."""
WIDTH = 0.6
"""The width of an interval at which a placement may stop."""
TRUE_WIN, TRUE_RANK = 0.16813, -0.32452
"""The true effects on win and rank of a score that is 0.7 higher and spread 1.5 times as far
(`inference_worlds.treated`)."""
FAR_APART = np.log(4.0) * np.array([1.5, 0.5, -0.5, -1.5])


@dataclass(frozen=True)
class Said:
    """One figure of one simulation. `hit` counts towards the rate of `what`, which should be in `within`."""

    what: str
    hit: float
    within: tuple[float, float] | None


def _holds(found: Interval, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def _preference(found: list[OwnMaker], what: str, *, points: float | None, log_odds: float | None) -> Iterator[Said]:
    """Yield false positives if the truth is 0, coverage otherwise. Estimates without an interval do not count."""
    for each in found:
        if each.points.low is None or each.log_odds.low is None:
            continue
        whose = "" if each.maker is None else ", by maker"
        for name, estimate, truth in (("points", each.points, points), ("log odds", each.log_odds, log_odds)):
            if truth is None:
                continue
            if whose and name == "log odds":
                if truth:
                    yield Said(f"{what}: log odds of maker {each.maker}, covered", _holds(estimate, truth), None)
                continue
            if truth:
                yield Said(f"{what}: {name}{whose}, covered", _holds(estimate, truth), COVERED)
            else:
                yield Said(f"{what}: {name}{whose}, false positives", not _holds(estimate, truth), FALSE)


def own_maker(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate jurors and voters who judge by merit alone, and with a planted preference."""
    merit = own_makers(jury_votes(generator, Jury(games=60)))
    yield from _preference(merit, "jury, merit alone", points=0.0, log_odds=0.0)
    added = own_makers(jury_votes(generator, Jury(games=60, bonus=0.10)))
    yield from _preference(added, "jury, +10 points", points=0.10, log_odds=None)
    odds = own_makers(jury_votes(generator, Jury(games=60, log_odds=0.8)))
    yield from _preference(odds, "jury, log odds +0.8", points=None, log_odds=0.8)
    out = own_makers(elimination_votes(generator, games=40))
    yield from _preference(out, "votes to go, merit alone", points=0.0, log_odds=0.0)
    spared = own_makers(elimination_votes(generator, games=40, log_odds=-0.8))
    yield from _preference(spared, "votes to go, log odds -0.8", points=None, log_odds=-0.8)


def _played(
    generator: np.random.Generator, logs: Array, games: int, fewest: int | None
) -> tuple[list[ChoiceSets], list[ChoiceSets]]:
    """Return the games for the rank fit, and for the fit of wins alone."""
    size = len(logs)
    played = tables(generator, logs, games, fewest)
    ranked = [choice_sets(list(ranks), list(seated), size) for seated, ranks in played]
    won = [
        (
            np.bincount(seated, minlength=size)[None].astype(np.float64),
            (np.arange(size) == seated[ranks.argmin()]) * 1.0,
        )
        for seated, ranks in played
    ]
    return ranked, won


def ratings(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate strengths from the prior, four to nine models at tables of three to all, and strengths far apart."""
    for games in (20, 60, 200):
        size = int(generator.integers(4, 10))
        logs = np.log(generator.standard_gamma(1.0, size=size))
        yield from _rated(generator, logs - logs.mean(), games, f"drawn from the prior, {games} games", fewest=3)
    yield from _rated(generator, FAR_APART, 60, "each four times the next, 60 games", fewest=None)


def _rated(generator: np.random.Generator, logs: Array, games: int, what: str, *, fewest: int | None) -> Iterator[Said]:
    within = None if fewest is None else COVERED
    ranked, won = _played(generator, logs, games, fewest)
    seed = int(generator.integers(2**31))
    ranks, wins = (posterior(each, len(logs), chains=CHAINS, seed=seed) for each in (ranked, won))
    truth = np.exp(logs) / np.exp(logs).sum()
    for true_log, strength in zip(logs, ranks.strengths, strict=True):
        yield Said(f"{what}: log strength, covered", _holds(strength, true_log), within)
    for share, first in zip(truth, wins.first, strict=True):
        yield Said(f"{what}: chance to come first, covered", _holds(first, share), within)
    tables_, taken = (
        np.array([each.reshape(-1, len(logs)).sum(axis=0) for each in sides]) for sides in zip(*won, strict=True)
    )
    check = wins_check(ranks, tables_, taken.sum(axis=0), seed=seed)
    yield Said(f"{what}: check of wins fails", check.fails, (0.0, 0.07))


def no_wins(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate 150 games of four to nine models in which one model is always second."""
    size = int(generator.integers(4, 10))
    ranked, won = [], []
    for _ in range(150):
        ranks = np.append(generator.permutation(np.array([1.0, *range(3, size + 1)])), 2.0)
        ranked.append(choice_sets(list(ranks), list(range(size)), size))
        won.append((np.ones((1, size)), (ranks == 1.0) * 1.0))
    seed = int(generator.integers(2**31))
    first = posterior(won, size, chains=CHAINS, seed=seed).first[-1]
    yield Said("0 wins of 150, always second: chance to come first below 1.5%", first.value < 0.015, (1.0, 1.0))
    ranks_fit = posterior(ranked, size, chains=CHAINS, seed=seed)
    by_ranks = ranks_fit.first[-1].value
    yield Said("0 wins of 150, always second: the rank fit alone would say", by_ranks, None)
    check = wins_check(ranks_fit, np.ones((150, size)), np.sum([wins for _, wins in won], axis=0), seed=seed)
    yield Said("0 wins of 150, always second: check of wins fails", check.fails, (0.95, 1.0))


def means(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate mean ranks and win rates of four players, each twice or four times as strong as the next."""
    for games, times in product((5, 8, 20, 60), (2, 4)):
        logs = np.log(times) * np.array([1.5, 0.5, -0.5, -1.5])
        ranks, won, counts = _ranks(generator, logs, games), np.zeros((games, 4)), np.ones((games, 4))
        won[ranks == 1] = 1.0
        what = f"{games} games, each {'twice' if times == 2 else 'four times'} the next"
        ends = ratio_intervals(ranks, counts, within=(1, 4)), ratio_intervals(won, counts, centre=0.5, within=(0, 1))
        for measure, each, truth in zip(("mean rank", "win rate"), ends, true_means(times), strict=True):
            held_by_player = (each[:, 0] <= truth) & (truth <= each[:, 1])
            for held, width in zip(held_by_player, each[:, 1] - each[:, 0], strict=True):
                yield Said(f"{what}: {measure}, covered", held, (0.93, 1.0))
                yield Said(f"{what}: {measure}, width", width, None)


def shared_seeds(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate mean ranks of games that share seeds, four per seed, with luck that favors a player."""
    for seeds in (6, 15):
        ranks = _lucky(generator, seeds)
        together, counts = clusters(np.repeat(np.arange(seeds), 4).tolist()), np.ones((4 * seeds, 4))
        by_seed, alone = ratio_intervals(together @ ranks, together @ counts), ratio_intervals(ranks, counts)
        for how, ends, within in (("by seed", by_seed, (0.93, 1.0)), ("by single games", alone, None)):
            for held in (ends[:, 0] <= true_lucky()) & (true_lucky() <= ends[:, 1]):
                yield Said(f"{seeds} seeds of four games: mean rank, covered {how}", held, within)


def _lucky(generator: np.random.Generator, seeds: int) -> Array:
    luck = np.repeat(1.5 * generator.normal(size=(seeds, 4)), 4, axis=0)
    return _ranks(generator, np.log(2) * np.array([1.5, 0.5, -0.5, -1.5]) + luck, 4 * seeds)


@cache
def true_lucky() -> Array:
    """Return the mean ranks of a million games."""
    return np.asarray(_lucky(np.random.default_rng(SEED), 250_000).mean(axis=0), dtype=np.float64)


def _ranks(generator: np.random.Generator, logs: Array, games: int) -> Array:
    """Return ranks by games and players. `logs` are the log strengths, for all games or by game."""
    waits: Array = generator.exponential(size=(games, 4)) / np.exp(logs)
    ranks: Array = waits.argsort(axis=1).argsort(axis=1).astype(np.float64) + 1.0
    return ranks


@cache
def true_means(times: int) -> tuple[Array, Array]:
    """Return the mean ranks and win rates over a million games of four players, each `times` as strong as the next."""
    ranks = _ranks(np.random.default_rng(SEED), np.log(times) * np.array([1.5, 0.5, -0.5, -1.5]), 1_000_000)
    return ranks.mean(axis=0), (ranks == 1).mean(axis=0)


def conditions(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate a condition without effect, and one that moves a score, its spread and wins; 12 to 30 games per side."""
    for games, paired in (((12, 12), True), ((12, 30), False), ((30, 30), True)):
        how = f"{games[0]} and {games[1]} games, {'the same' if paired else 'other'} seeds"
        null = treated(generator, games, effect=0.0, scale=1.0, paired=paired)
        found = differences(by_condition(labelled(null, "model"), models=False))
        missed = False
        for each in found:
            missed = missed or not _holds(each.simultaneous, 0.0)
            if each.label is None or each.label == "a/x":
                measure = f"{each.measure}{' of all' if each.label is None else ''}"
                hit = not _holds(each.difference, 0.0)
                yield Said(f"condition without effect, {how}: {measure}, false positives", hit, FALSE)
        yield Said(f"condition without effect, {how}: any of all rows, false positives", missed, (0.0, 0.07))
        moved = treated(generator, games, effect=0.7, scale=1.5, paired=paired)
        for each in differences(by_condition(labelled(moved, "model"), models=False)):
            if each.label == "a/x":
                truth = {"score": 0.7, "win": TRUE_WIN, "rank": TRUE_RANK}[each.measure]
                yield Said(f"condition +0.7, {how}: {each.measure}, covered", _holds(each.difference, truth), COVERED)


def positions(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate turns by lot, rotating seats, and ballots by lot, all without effect, among players who differ."""
    for games, times in ((24, 1), (24, 2)):
        how = f"{games * times} games" + (", two a seed" if times > 1 else "")
        world = labelled(placed(generator, games, by_lot=True, times=times), "model")
        seed = int(generator.integers(2**31))
        turn = position_p_value(world, lambda each: each.turn, seed=seed, draws=200)
        seat = position_p_value(world, lambda each: each.seat, balanced=True, seed=seed, draws=200)
        read = ballots(world, final=False, seed=seed, draws=200)
        assert turn is not None, "all have a turn"
        assert seat is not None, "seats rotate"
        assert read is not None, "all ballots are by lot"
        assert read.p is not None, "there are games enough"
        yield Said(f"turns by lot without effect, {how}: false positives", turn <= 0.05, FALSE)
        yield Said(f"seats without effect, {how}: false positives", seat <= 0.05, FALSE)
        yield Said(f"ballots without effect, {how}: false positives", read.p <= 0.05, FALSE)


def designs(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate effects of factors, the power that a plan promises, and batches that stop at a width."""
    kinds = {"a": "main effect", "b": "main effect", "a,b": "interaction"}
    batch = list(design_world.reported(generator))
    for name, measure, held, _ in batch:
        if name in kinds:
            yield Said(f"design, planted {kinds[name]} on {measure}: covered", held, COVERED)
        else:
            yield Said(f"design, no effect on {measure}: false positives", not held, FALSE)
    yield Said("design: any of the intervals that hold together misses", not batch[0][3], (0.0, 0.07))
    for name, measure, told in design_world.planned(generator):
        yield Said(f"plan, {kinds[name]} on {measure}: found, promised are 80%", told, (0.76, 0.84))
    for _, measure, held, taken, once in design_world.stopped(generator):
        yield Said(f"until a width, {measure}: covered", held, (0.93, 1.0))
        yield Said("until a width: blocks, of those for one look", taken / once, None)


def arms(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate arms of a fork that equal their control, and one in which a player is better, with correlated rows."""
    for pairs, effect in product((12, 40), (0.0, 0.4)):
        true = truth(effect)
        _, low, high, low_adj, high_adj = paired_intervals(arms_world.differences(generator, pairs, effect))
        what = f"arm, {'planted effect' if effect else 'no effect'}, {pairs} pairs"
        for row in np.flatnonzero(~np.isnan(low)):
            held = low[row] <= true[row] <= high[row]
            measure = arms_world.MEASURES[row // arms_world.PLAYERS]
            right = "covered" if effect else "false positives"
            yield Said(f"{what}: {right}", held if effect else not held, COVERED if effect else FALSE)
            if effect and row % arms_world.PLAYERS == 0:
                yield Said(f"{what}: {measure} of the player who is better, covered", held, None)
        yield Said(
            f"{what}: any that hold together, wrong", bool(((low_adj > true) | (high_adj < true)).any()), (0.0, 0.07)
        )


@cache
def truth(effect: float) -> Array:
    """Return the true effects: means over a million pairs of another seed."""
    if not effect:
        return np.zeros(arms_world.PLAYERS * len(arms_world.MEASURES))
    generator = np.random.default_rng(arms_world.SEED)
    parts = [arms_world.differences(generator, arms_world.TRUTH_PAIRS // 20, effect).mean(axis=0) for _ in range(20)]
    return np.asarray(np.mean(parts, axis=0), dtype=np.float64)


def influence(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate a message that persuades, and one without effect, with 20 (the default) and 40 branches per side."""
    for pairs, added in product((20, 40), (0.25, 0.0)):
        found = persuasion(generator, pairs=pairs, added=added)
        what = f"message, {'+25 points' if added else 'no effect'}, {pairs} pairs"
        right = ("covered", COVERED) if added else ("false positives", FALSE)
        missed = False
        for each in (*found.listeners, *found.outcome):
            true = true_effect(each.measure, added)
            if each.low is None or each.high is None or each.low_adj is None or each.high_adj is None:
                continue
            held = each.low <= true <= each.high
            missed = missed or not each.low_adj <= true <= each.high_adj
            kind = "outcome" if each.measure == "votes" else each.measure.partition(" ")[0]
            whose = {"A": "score", ALL: "mean of all listeners"}.get(each.player, "each listener")
            yield Said(f"{what}: {kind}, {whose}, {right[0]}", held if added else not held, right[1])
        yield Said(f"{what}: any that hold together, wrong", missed, (0.0, 0.07))


FOUR, SEVEN = Pool(4, games=1_000, most=100, entries=2), Pool(7, games=500, most=75, entries=3)


def rate(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate a model from the prior, rated against a pool of eight."""
    yield from _placed(generator, FOUR, "in 100 games of four", promised=True)
    yield from _placed(generator, SEVEN, "in 75 games of seven", promised=True)


def rate_beside(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate one seat per game, a small pool, strengths that are far off, and luck that a block shares."""
    yield from _placed(generator, replace(FOUR, entries=1), "in 100 games of four, one seat in each")
    yield from _placed(generator, replace(FOUR, games=100), "in 100 games of four, a pool of 100 games")
    yield from _placed(generator, replace(FOUR, above=3.0), "in 100 games of four, 3 above the pool's mean")
    yield from _placed(generator, replace(FOUR, above=-3.0), "in 100 games of four, 3 below the pool's mean")
    yield from _placed(generator, replace(FOUR, luck=0.5), "in 100 games of four, luck that a block shares")


def _placed(generator: np.random.Generator, world: Pool, what: str, *, promised: bool = False) -> Iterator[Said]:
    found, covered = placement(generator, world, width=WIDTH, chains=CHAINS), COVERED if promised else None
    yield Said(
        f"{what}: within 0.3", abs(found.end.strength.value - found.truth) <= 0.3, (0.95, 1.0) if promised else None
    )
    yield Said(f"{what}: log strength, covered", _holds(found.end.strength, found.truth), covered)
    assert found.end.dispersion is not None, "there are enough blocks"
    yield Said(f"{what}: varies too much", found.end.dispersion.too_much, (0.0, 0.07) if promised else None)
    if found.first is not None:
        yield Said(f"{what}, stopped at {WIDTH}: covered", _holds(found.first.strength, found.truth), covered)
        yield Said(f"{what}, stopped at {WIDTH}: share of the games", found.games / world.most, None)


class World(NamedTuple):
    """A world, the number that is part of its seeds, and the most simulations if one takes long."""

    key: int
    simulate: Callable[[np.random.Generator], Iterator[Said]]
    most: int | None = None


def beliefs(generator: np.random.Generator) -> Iterator[Said]:
    """Simulate 30 games of players who state what they should believe, or are over- or underconfident."""
    for power, what in ((1.0, "calibrated"), (2.0, "overconfident"), (0.5, "underconfident")):
        (line,) = belief_lines(belief_world.believed(generator, 30, power))
        named = f"beliefs, {what}, 30 games"
        if line.p is not None:
            found = "false positives" if power == 1 else "found"
            yield Said(f"{named}: not calibrated, {found}", line.p <= 0.05, FALSE if power == 1 else None)
        if power == 1:
            yield Said(f"{named}: Brier score, covered", _holds(line.brier, belief_world.TRUE_BRIER), COVERED)
            yield Said(f"{named}: miscalibration", line.reliability, None)
            yield Said(f"{named}: resolution", line.resolution, None)


WORLDS: dict[str, World] = {
    "own_maker": World(0, own_maker),
    "ratings": World(1, ratings),
    "no_wins": World(2, no_wins),
    "influence": World(3, influence),
    "arms": World(6, arms),
    "rate": World(3, rate, 500),
    "rate_beside": World(4, rate_beside, 50),
    "designs": World(3, designs),
    "means": World(7, means),
    "shared_seeds": World(8, shared_seeds),
    "conditions": World(3, conditions),
    "positions": World(4, positions),
    "beliefs": World(9, beliefs),
}


def measured(name: str, simulations: int) -> list[tuple[str, int, float, tuple[float, float] | None]]:
    """Return (name, count, rate, range that it should be in) for all figures of a world."""
    counts: Counter[str] = Counter()
    hits: dict[str, float] = {}
    within: dict[str, tuple[float, float] | None] = {}
    world = WORLDS[name]
    for number in range(simulations):
        for said in world.simulate(np.random.default_rng([SEED, world.key, number])):
            counts[said.what] += 1
            hits[said.what] = hits.get(said.what, 0.0) + said.hit
            within[said.what] = said.within
    return [(what, many, hits[what] / many, within[what]) for what, many in counts.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--only", choices=list(WORLDS), action="append")
    options = parser.parse_args()
    print("| what is true: what is said | figures | rate | should be | |")
    print("|---|---|---|---|---|")
    for name in options.only or WORLDS:
        began = time.perf_counter()
        simulations = min(options.simulations, WORLDS[name].most or options.simulations)
        for what, many, found, within in measured(name, simulations):
            should = "" if within is None else f"{within[0]:.0%} to {within[1]:.0%}"
            verdict = "" if within is None else "yes" if within[0] <= found <= within[1] else "no"
            print(f"| {what} | {many:,} | {found:.1%} | {should} | {verdict} |", flush=True)
        print(f"<!-- {name}: {simulations:,} simulations in {time.perf_counter() - began:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
