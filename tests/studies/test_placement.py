"""A new label against a reference pool: its posterior, what a game teaches, and which tables come next."""

from __future__ import annotations

import numpy as np
import pytest

from agentsim.analysis.intervals import Array
from agentsim.analysis.posterior import ChoiceSets, choice_sets, posterior
from agentsim.studies.placement import information, next_tables, placement
from benchmarks.inference_worlds import arrivals
from benchmarks.rate_world import MEMBERS, Pool, placed

LOGS = np.array([2.0, 1.0, 0.0, -1.0, -2.0, 1.0])
"""A pool of five whose mean is 0, and a new one that is as strong as its second."""
NEW = 5


def played(games: int, tables: Array, *, seed: int, luck: float = 0.0) -> list[ChoiceSets]:
    """So many games at each table in turn; `luck` is the standard deviation of what each four add to the new one."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(games):
        if number % 4 == 0:
            logs = LOGS + luck * generator.normal() * (np.arange(6) == NEW)
        table = tables[number % len(tables)].astype(int)
        found.append(choice_sets(list(arrivals(generator, logs[table])), list(table), 6))
    return found


POOL = played(1_500, np.array([[0, 1, 2, 3], [1, 2, 3, 4], [4, 0, 1, 2], [3, 4, 0, 1], [2, 3, 4, 0]]), seed=1)
TABLE = np.array([[NEW, NEW, 1, 2]])


def test_the_scale_is_the_pools_and_its_mean_is_zero() -> None:
    found = placement(POOL, played(600, TABLE, seed=2), 6, block=4)
    assert found.strength.value == pytest.approx(1.0, abs=0.15)
    assert [each.value for each in found.members] == pytest.approx(LOGS[:NEW], abs=0.15)
    assert sum(each.value for each in found.members) == pytest.approx(0.0)
    assert found.stronger[0] < 0.01
    assert min(found.stronger[2:]) > 0.99
    assert found.rank_probabilities[1] + found.rank_probabilities[2] > 0.99


def test_what_is_uncertain_about_the_pool_is_in_the_interval() -> None:
    games = played(100, TABLE, seed=3)
    narrow, wide = (placement(pool, games, 6, block=4).strength.width for pool in (POOL, POOL[:60]))
    assert wide > 1.2 * narrow
    assert placement(POOL[:60], games, 6, block=4, weight=0.25).strength.width > 1.2 * wide, (
        "games that share their luck"
    )


@pytest.mark.parametrize(("seats", "own", "expected"), [(4, 1, 0.479), (4, 2, 0.639), (7, 1, 0.630)])
def test_a_game_among_equals_teaches_what_is_known_exactly(seats: int, own: int, expected: float) -> None:
    """1 - H(n) / n for one seat of n, where H is the harmonic number; the third is the sum of its three stages."""
    table = [0] * own + list(range(1, seats - own + 1))
    assert information(np.zeros(seats), table)[0, 0] == pytest.approx(expected, abs=0.03)


def test_the_next_tables_seat_those_who_are_near_and_change_with_what_they_will_teach() -> None:
    found = posterior([*POOL, *played(60, TABLE, seed=4)], 6)
    tables = next_tables(found, 3, most=1, played=40, blocks=100)
    met = np.bincount(np.array(tables).ravel(), minlength=6)
    assert len(tables) == 10, "a quarter of those that are played"
    assert met[NEW] == 10
    assert met[1] + met[2] + met[0] > 15, "those who are far off teach little"
    unsure = posterior(POOL[:40], 6)
    tables = next_tables(unsure, 3, most=1, played=40, blocks=100)
    assert len(set(tables)) > 1, "the tenth table knows what the first nine will teach"
    assert next_tables(found, 3, most=1, played=99, blocks=100) == next_tables(found, 3, most=1, played=0, blocks=1)


def test_half_of_the_seats_teach_more_than_one_where_they_are_allowed() -> None:
    found = posterior([*POOL, *played(60, TABLE, seed=4)], 6)
    assert next_tables(found, 4, most=2, played=0, blocks=9)[0].count(NEW) == 2
    assert next_tables(found, 4, most=1, played=0, blocks=9)[0].count(NEW) == 1


def test_results_that_vary_more_than_strengths_explain_are_found_and_count_for_less() -> None:
    plain, lucky = (placement(POOL, played(200, TABLE, seed=5, luck=luck), 6, block=4) for luck in (0.0, 1.0))
    assert plain.dispersion is not None
    assert lucky.dispersion is not None
    assert not plain.dispersion.too_much
    assert (lucky.dispersion.too_much, lucky.dispersion.factor > 1.5) == (True, True)
    assert lucky.strength.width > 1.2 * plain.strength.width
    assert placement(POOL, played(16, TABLE, seed=5, luck=1.0), 6, block=4).dispersion is None, "too few blocks"


@pytest.mark.slow
def test_placements_hold_what_is_true_and_have_each_seat_equally_often() -> None:
    """Ten of the worlds of `benchmarks.inference`, which has the rates."""
    said = [
        placed(np.random.default_rng([6, number]), Pool(4, games=200, most=40, entries=2), width=0.9, chains=5)
        for number in range(10)
    ]
    ends = [(each.end.strength.low, each.truth, each.end.strength.high) for each in said]
    assert sum(low is not None and high is not None and low < truth < high for low, truth, high in ends) >= 8
    assert all(len(set(each.seats)) == 1 and each.seats.sum() >= 40 for each in said)
    assert all(each.first is None or each.first.strength.width < 0.9 for each in said)
    assert all(len(each.end.stronger) == MEMBERS for each in said)
