"""Ratings with a posterior: exact where that is known, as the likelihood where data are plenty, checked by wins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentsim.analysis.finished_games import GameRecord
from agentsim.analysis.intervals import clusters
from agentsim.analysis.posterior import AGREED, ChoiceSets, choice_sets, credible_intervals, game_weight, posterior
from agentsim.analysis.standings import StandingsLine, standings
from agentsim.engine.panel import DataTable
from agentsim.studies.report_tables import panels
from benchmarks.inference_worlds import Array, entrants, runner_up, same_seed, tables

LOGS = np.log([8.0, 4.0, 2.0, 1.0, 0.5])


def ranked(games: int, *, seed: int, fewest: int | None = None, ties: bool = False) -> list[ChoiceSets]:
    """Games of five players of the strengths `LOGS`; with `ties` the second and third place of each are shared."""
    played = tables(np.random.default_rng(seed), LOGS, games, fewest)
    return [
        choice_sets([2.5 if ties and rank in {2, 3} else rank for rank in ranks], list(seated), len(LOGS))
        for seated, ranks in played
    ]


def records(games: int, *, seed: int) -> list[GameRecord]:
    return [
        GameRecord(
            f"g{number}", "any", number, entrants(["abcde"[each] for each in seated], ranks=list(ranks)), (), 0.0
        )
        for number, (seated, ranks) in enumerate(tables(np.random.default_rng(seed), LOGS, games))
    ]


def line_of(games: list[GameRecord], label: str) -> StandingsLine:
    (line,) = [line for line in standings(games).lines if line.label == f"{label}/x"]
    return line


@pytest.mark.parametrize(("fewest", "ties"), [(None, False), (2, False), (3, True)])
def test_of_many_games_it_says_what_the_likelihood_says(fewest: int | None, ties: bool) -> None:
    """At tables of all, at unequal ones, and with places that are shared."""
    from scipy.optimize import minimize

    games = ranked(1_500, seed=1, fewest=fewest, ties=ties)
    rows, taken = np.concatenate([own for own, _ in games]), np.sum([own for _, own in games], axis=0)

    def loss(logs: Array) -> float:
        return float(np.log(rows @ np.exp(logs)).sum() - taken @ logs + logs.sum() ** 2)

    most = minimize(loss, np.zeros(5), method="BFGS")
    chance = rows * np.exp(most.x) / (rows @ np.exp(most.x))[:, None]
    errors = np.sqrt(
        np.diag(np.linalg.pinv(np.diag(chance.sum(axis=0)) - chance.T @ chance, rcond=1e-9, hermitian=True))
    )
    found = posterior(games, 5).logs
    assert np.abs(found.mean(axis=0) - most.x + most.x.mean()).max() < 0.02
    assert found.std(axis=0) == pytest.approx(errors, rel=0.1)


def test_wins_at_one_table_have_the_posterior_that_is_known_exactly() -> None:
    """9, 3 and 0 wins of 12, each division of the wins as likely before: a Dirichlet distribution of 10, 4 and 1."""
    from scipy.stats import beta

    table = np.ones((1, 3))
    games = [(table, np.eye(3)[winner]) for winner in [0] * 9 + [1] * 3]
    for share, shape in zip(credible_intervals(posterior(games, 3).shares), (10, 4, 1), strict=True):
        exact = beta(shape, 15 - shape)
        assert share.value == pytest.approx(exact.mean(), abs=0.01)
        assert (share.low, share.high) == pytest.approx(tuple(exact.ppf([0.025, 0.975])), abs=0.02)


def test_before_any_game_each_chance_of_one_against_another_is_as_likely() -> None:
    logs = posterior([], 2).logs
    chance = 1 / (1 + np.exp(logs[:, 1] - logs[:, 0]))
    assert np.quantile(chance, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.04)


def test_the_same_games_give_the_same_draws() -> None:
    games = ranked(20, seed=2)
    assert np.array_equal(posterior(games, 5).logs, posterior(games, 5).logs)


def test_the_chains_agree_even_where_one_label_always_wins() -> None:
    generator = np.random.default_rng(3)
    games = [choice_sets([1.0, *(generator.permutation(3) + 2.0)], [0, 1, 2, 3], 4) for _ in range(150)]
    found = posterior(games, 4)
    assert found.scale_reduction < AGREED
    assert found.rank_probabilities[0].tolist() == [1, 0, 0, 0]


def test_chances_of_places_add_up_by_label_and_by_place() -> None:
    rank_probabilities = posterior(ranked(15, seed=4), 5).rank_probabilities
    assert rank_probabilities.sum(axis=0) == pytest.approx(np.ones(5))
    assert rank_probabilities.sum(axis=1) == pytest.approx(np.ones(5))
    assert rank_probabilities[0, 0] > rank_probabilities[4, 0]


def test_games_told_four_times_under_one_seed_are_no_further_evidence() -> None:
    once = records(24, seed=5)
    again = same_seed(once, 4)
    alike = [replace(game, seed=number) for number, game in enumerate(again)]

    def width(games: list[GameRecord]) -> float:
        strength = line_of(games, "c").strength
        assert strength.low is not None
        assert strength.high is not None
        return strength.high - strength.low

    assert width(again) == pytest.approx(width(once), rel=0.15)
    assert width(alike) < 0.65 * width(once)
    assert game_weight(ranked(24, seed=5), 5, clusters(range(24))) == 1


def test_one_without_a_win_in_150_games_has_hardly_a_chance_to_come_first() -> None:
    line = line_of(runner_up(np.random.default_rng(6), 150), "d")
    assert line.wins == 0
    assert line.first.value < 0.015


def test_a_constant_runner_ups_places_are_not_shown_as_a_chance_to_win() -> None:
    """It is ahead by its places, and these foretell some seventy wins of 150, of which it has none."""
    games = runner_up(np.random.default_rng(7), 150)
    found = standings(games)
    line = line_of(games, "d")
    assert line.strength.value == max(each.strength.value for each in found.lines)
    assert (found.wins_fail, line.wins, line.first_by_ranks) == (True, 0, None)
    assert line.wins_expected.low is not None
    assert line.wins_expected.low > 40
    shown = ratings_panel(games)
    assert {row[shown.columns.index("first by ranks")] for row in shown.rows} == {None}
    assert "no chance to come first follows" in shown.note


def test_where_places_foretell_the_wins_both_chances_are_shown_and_near() -> None:
    games = records(300, seed=8)
    found = standings(games)
    assert not found.wins_fail
    for line in found.lines:
        assert line.first_by_ranks == pytest.approx(line.first.value, abs=0.06)
        assert line.wins_expected.low is not None
        assert line.wins_expected.high is not None
        assert line.wins_expected.low <= line.wins <= line.wins_expected.high
    assert "first by ranks is what follows" in ratings_panel(games).note


def ratings_panel(games: list[GameRecord]) -> DataTable:
    (shown,) = [panel for panel in panels(standings(games), []) if panel.title == "Ratings"]
    assert isinstance(shown, DataTable)
    return shown


def test_a_shared_first_place_is_a_part_of_a_win() -> None:
    shared: Array = np.array([1.5, 1.5, 3.0])
    games = [
        GameRecord(f"g{number}", "any", number, entrants("abc", ranks=list(shared)), (), 0.0) for number in range(60)
    ]
    a, b, c = (line_of(games, label) for label in "abc")
    assert a.wins == b.wins == 30
    assert a.first.value == pytest.approx(31 / 63, abs=0.01)
    assert b.first.value == pytest.approx(31 / 63, abs=0.01)
    assert c.first.value == pytest.approx(1 / 63, abs=0.01)
