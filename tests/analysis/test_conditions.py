"""Conditions and positions in worlds whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentsim.analysis.conditions import by_condition, difference_intervals, differences, measured
from agentsim.analysis.finished_games import GameRecord, labelled
from agentsim.analysis.positions import ballots, position_p_value
from benchmarks.inference_worlds import entrants, placed, treated


def world(effect: float = 0.0, *, paired: bool = False, games: int = 60) -> list[GameRecord]:
    found = treated(np.random.default_rng(7), (games, games), effect=effect, scale=1.0, paired=paired)
    return labelled(found, "model")


def test_a_condition_has_its_games_and_is_named() -> None:
    found = by_condition(world(), models=False)
    assert [(each.name, len(each.games)) for each in found] == [
        ("game_config.on=false", 60),
        ("game_config.on=true", 60),
    ]
    assert [(each.name, len(each.games)) for each in by_condition(world(), models=False, pool=True)] == [("", 120)]


def test_a_planted_effect_is_found_and_what_is_not_there_is_not() -> None:
    rows = {(each.measure, each.label): each for each in differences(by_condition(world(1.0), models=False))}
    score, other = rows["score", "a/x"].difference, rows["score", "b/x"].difference
    assert score.low is not None
    assert other.low is not None
    assert other.high is not None
    assert score.low > 0.3
    assert other.low < 0 < other.high
    together = rows["score", "a/x"].simultaneous
    assert together.low is not None
    assert together.low < score.low


def test_a_difference_is_that_of_the_means_and_games_of_one_seed_share_their_luck() -> None:
    conditions = by_condition(world(paired=True), models=False)
    means = {(each.measure, each.label, each.condition): each.mean.value for each in measured(conditions)}
    (found,) = (each for each in differences(conditions) if (each.measure, each.label) == ("score", "a/x"))
    off, on = (means["score", "a/x", each.name] for each in conditions)
    assert found.difference.value == pytest.approx(on - off)
    games = [
        [replace(game, seed=game.seed + 1000 * side) for game in each.games] for side, each in enumerate(conditions)
    ]
    apart = by_condition([game for side in games for game in side], models=False)
    (alone,) = (each for each in differences(apart) if (each.measure, each.label) == ("score", "a/x"))
    width, wide = ((each.difference.high or 0) - (each.difference.low or 0) for each in (found, alone))
    assert 0 < width < wide, "half of the luck is the seed's"


def test_folders_are_a_level_where_their_games_are_alike_and_copies_count_once_where_pooled() -> None:
    one = [replace(game, folder="one", certain=game.name) for game in world()]
    other = [replace(game, folder="other") for game in one]
    off = [game for game in one if not game.scenario["game_config"]["on"]]
    on = [game for game in other if game.scenario["game_config"]["on"]]
    assert [each.name for each in by_condition([*off, *on], models=False)] == [
        "game_config.on=false",
        "game_config.on=true",
    ]
    assert [each.name for each in by_condition([*off, *other], models=False)] == [
        "game_config.on=false, folder=one",
        "game_config.on=false, folder=other",
        "game_config.on=true, folder=other",
    ]
    (pooled,) = by_condition([*one, *other], models=False, pool=True)
    assert len(pooled.games) == len(one)


def test_places_that_mean_nothing_are_not_found_and_those_that_do_are() -> None:
    games = labelled(placed(np.random.default_rng(3), 40, by_lot=True), "model")
    assert (position_p_value(games, lambda each: each.turn, draws=200) or 0) > 0.05
    assert (position_p_value(games, lambda each: each.seat, balanced=True, draws=200) or 0) > 0.05
    first = [
        replace(game, entrants=tuple(replace(each, rank=float(each.turn or 0)) for each in game.entrants))
        for game in games
    ]
    assert position_p_value(first, lambda each: each.turn, draws=200) == pytest.approx(1 / 201)


def test_seats_that_never_change_have_no_test() -> None:
    fixed = [GameRecord(f"g{n}", "any", n, entrants("abc", ranks=[1.0, 2.0, 3.0]), (), 0.0) for n in range(6)]
    assert position_p_value(fixed, lambda each: each.seat, balanced=True) is None
    assert position_p_value(fixed, lambda each: each.turn) is None


def test_ballots_are_tested_where_chance_ordered_them() -> None:
    games = placed(np.random.default_rng(4), 30, by_lot=True)
    found = ballots(games, final=False, draws=200)
    assert found is not None
    assert (found.votes, (found.p or 0) > 0.05, ballots(games, final=True)) == (120, True, None)
    assert sum(each.chosen for each in found.positions) == 120
    first = [replace(game, votes=tuple(replace(vote, choice=vote.ballot[0]) for vote in game.votes)) for game in games]
    early = ballots(first, final=False, draws=200)
    assert early is not None
    assert (early.p, early.positions[0].share.value) == (1 / 201, 1.0)
    assert early.positions[0].expected == pytest.approx(1 / 3)
    by_rule = [replace(game, votes=tuple(replace(vote, by_lot=False) for vote in game.votes)) for game in first]
    assert ballots(by_rule, final=False) is None


@pytest.mark.parametrize(
    ("here", "there", "known"),
    [
        ([1] * 20, [2] * 20, False),
        ([1, 2] * 10, [3, 4] * 10, False),
        ([1, 2] * 10, [1, 2] * 10, True),
        ([*range(8), *[0] * 29], [*range(10, 18), *[10] * 29], False),
        ([*range(20)], [*range(20, 40)], True),
    ],
    ids=["a seed each", "two seeds each", "the same seeds", "nearly all games of one seed", "as many seeds as games"],
)
def test_a_difference_has_an_interval_where_its_seeds_tell_how_far_luck_goes(
    here: list[int], there: list[int], known: bool
) -> None:
    seeds = [*here, *there]
    sums = np.random.default_rng(3).normal(size=(len(seeds), 1))
    arm = np.arange(len(seeds)) < len(here)
    row = difference_intervals(sums, np.ones_like(sums), arm, seeds, np.array([False]))
    assert bool(np.isfinite(row).all()) is known


@pytest.mark.parametrize(("games", "tested"), [(6, False), (12, True)])
def test_seats_have_no_test_if_labels_leave_too_few_degrees_of_freedom(games: int, tested: bool) -> None:
    """Of four players two are new in each game: six games leave 18 - 13 degrees of freedom, and seats take 3."""
    generator = np.random.default_rng(5)
    played = []
    for number in range(games):
        seated = generator.permutation(["a", "b", f"c{number}", f"d{number}"]).tolist()
        ranks = [*map(float, generator.permutation(4) + 1.0)]
        played.append(GameRecord(f"g{number}", "any", number, entrants(seated, ranks=ranks), (), 0.0))
    assert (position_p_value(played, lambda each: each.seat, balanced=True) is not None) is tested


def test_seats_have_no_test_where_games_leave_nothing_to_judge_them_by() -> None:
    games = labelled(placed(np.random.default_rng(2), 24, by_lot=True, times=1), "model")
    assert position_p_value(games[:1], lambda each: each.seat, balanced=True, draws=50) is None
    assert position_p_value(games, lambda each: each.seat, balanced=True, draws=50) is not None
