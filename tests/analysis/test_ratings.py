"""What is found in simulated batches whose truth is known: planted strengths, and names without a difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentsim.analysis.finished_games import Entrant, GameRecord
from agentsim.analysis.intervals import FEWEST, Array, clusters, ratio_intervals, sign_flip_p
from agentsim.analysis.posterior import choice_sets, game_weight, posterior
from agentsim.analysis.standings import standings
from agentsim.studies.report_tables import panels
from tests.amounts import amounts

TRUE: Array = np.array([1.0397, 0.3466, -0.3466, -1.0397])
"""Each twice as strong as the next."""


def played(logs: Array, games: int, generator: np.random.Generator) -> Array:
    """Ranks (games by players) of players of these strengths: the order of exponential arrivals is Plackett-Luce's."""
    arrivals = generator.exponential(size=(games, len(logs))) / np.exp(logs)
    return arrivals.argsort(axis=1).argsort(axis=1).astype(np.float64) + 1.0


def records(ranks: Array, labels: list[str]) -> list[GameRecord]:
    return [
        GameRecord(f"game_{number}", "any", number, tuple(_entrants(row, labels)), (), 0.0)
        for number, row in enumerate(ranks)
    ]


def _entrants(row: Array, labels: list[str]) -> list[Entrant]:
    return [
        Entrant(f"p{seat}", label, label, float(rank), seat, seat, 1, 0, 0, 0, 0.0)
        for seat, (rank, label) in enumerate(zip(row, labels, strict=True), start=1)
    ]


def test_strengths_are_those_that_were_planted() -> None:
    ranks = played(TRUE, 4000, np.random.default_rng(1))
    found = posterior([choice_sets(list(row), [0, 1, 2, 3], 4) for row in ranks], 4)
    logs = found.logs.mean(axis=0)
    assert np.abs(logs - TRUE).max() < 0.06
    assert sum(share.value for share in found.first) == pytest.approx(1)
    assert list(logs.argsort()) == list(TRUE.argsort())


@pytest.mark.parametrize(
    ("games", "players", "ratio"),
    [
        *((5, 4, 4), (60, 4, 2)),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((5, 4, 2), (8, 4, 2), (20, 4, 2), (20, 7, 1.3))),
    ],
)
def test_intervals_of_mean_ranks_and_win_rates_cover_the_truth(games: int, players: int, ratio: float) -> None:
    """500 batches, each player `ratio` times as strong as the next; who wins one game in a hundred is among them."""
    generator = np.random.default_rng(1)
    logs = np.log(ratio) * (np.arange(players)[::-1] - (players - 1) / 2)
    many = played(logs, 100_000, generator)
    rank, win = many.mean(axis=0), (many == 1).mean(axis=0)
    ranks, wins, counts = np.zeros(players), np.zeros(players), np.ones((games, players))
    for _ in range(500):
        found = played(logs, games, generator)
        ends = ratio_intervals(found, counts, within=(1, players))
        ranks += (ends[:, 0] <= rank) & (ends[:, 1] >= rank)
        won = (found == 1).astype(np.float64)
        ends = ratio_intervals(won, counts, centre=0.5, within=(0, 1))
        wins += (ends[:, 0] <= win) & (ends[:, 1] >= win)
    assert (ranks / 500 >= 0.93).all(), ranks / 500
    assert (wins / 500 >= 0.92).all(), wins / 500
    assert games < 60 or (ranks / 500).mean() <= 0.98, "and they are no wider than need be"


def test_an_interval_holds_its_estimate_and_nothing_that_cannot_be() -> None:
    always = np.array([[1.0, 2.0, 3.0, 4.0]] * FEWEST)
    ends = ratio_intervals(always, np.ones_like(always), within=(1, 4))
    assert ends[0].tolist() == [1.0, pytest.approx(2.5, abs=0.6)]
    assert ends[3].tolist() == [pytest.approx(2.5, abs=0.6), 4.0]
    assert (ends[1][0] <= 2.0 <= ends[1][1], ends[2][0] <= 3.0 <= ends[2][1]) == (True, True)
    same = np.zeros((FEWEST, 2))
    assert np.isnan(ratio_intervals(same, np.ones_like(same), centre=0.0)).all(), "where nothing differs, none is known"


def paired(logs: Array, seeds: int, generator: np.random.Generator) -> Array:
    """Four games a seed, which is kind to some labels and not to others: all four say much the same of them."""
    rng = np.repeat(generator.normal(size=(seeds, len(logs))) * 1.5, 4, axis=0)
    arrivals = generator.exponential(size=rng.shape) / np.exp(logs + rng)
    return arrivals.argsort(axis=1).argsort(axis=1).astype(np.float64) + 1.0


def test_games_of_one_seed_are_no_independent_ones() -> None:
    """12 seeds of 4 games: taken for 48 games, four intervals of five would hold the truth, and not nineteen of 20."""
    generator = np.random.default_rng(8)
    means = paired(TRUE, 4000, generator).mean(axis=0)
    together, counts = clusters([number // 4 for number in range(48)]), np.ones((48, 4))
    as_they_are, as_if_alone = np.zeros(4), np.zeros(4)
    for _ in range(100):
        ranks = paired(TRUE, 12, generator)
        ends = ratio_intervals(together @ ranks, together @ counts)
        alone = ratio_intervals(ranks, counts)
        as_they_are += (ends[:, 0] <= means) & (ends[:, 1] >= means)
        as_if_alone += (alone[:, 0] <= means) & (alone[:, 1] >= means)
    assert as_they_are.mean() / 100 == pytest.approx(0.95, abs=0.04)
    assert as_if_alone.mean() / 100 < 0.88


@amounts("batches", 20, 100)
def test_strengths_of_games_that_share_seeds_hold_the_truth(batches: int) -> None:
    generator = np.random.default_rng(9)
    many = [choice_sets(list(row), [0, 1, 2, 3], 4) for row in paired(TRUE, 1_000, generator)]
    logs, together = posterior(many, 4).logs.mean(axis=0), clusters([number // 4 for number in range(48)])
    held: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(batches):
        games = [choice_sets(list(row), [0, 1, 2, 3], 4) for row in paired(TRUE, 12, generator)]
        for by_seed, weight in ((True, game_weight(games, 4, together)), (False, 1.0)):
            low, high = np.quantile(posterior(games, 4, weight=weight).logs, [0.025, 0.975], axis=0)
            held[by_seed].append(float(((low <= logs) & (logs <= high)).mean()))
    assert np.mean(held[True]) == pytest.approx(0.95, abs=0.06)
    assert np.mean(held[False]) < 0.88


def test_standings_leave_out_the_games_of_one_seed_together() -> None:
    ranks = np.repeat(played(TRUE, 8, np.random.default_rng(9)), 4, axis=0)
    games = records(ranks, ["a", "b", "c", "d"])
    alike = [replace(game, seed=number // 4) for number, game in enumerate(games)]
    once = standings(records(ranks[::4], ["a", "b", "c", "d"]))
    for line, again, alone in zip(standings(alike).lines, once.lines, standings(games).lines, strict=True):
        assert line.mean_rank == again.mean_rank, "a game that is told four times is one game"
        assert line.mean_rank.low is not None
        assert alone.mean_rank.low is not None
        assert line.mean_rank.low < alone.mean_rank.low


def test_of_few_seeds_each_game_counts_by_itself() -> None:
    assert clusters([7, 7, 7]).tolist() == np.eye(3).tolist()
    assert clusters([1, 2, 3, 4, 5, 1]).shape == (FEWEST, 6)


def test_few_games_have_no_intervals() -> None:
    """Of four games an interval would hold nearly all that is possible."""
    for games in (FEWEST - 1, FEWEST):
        found = standings(records(played(TRUE, games, np.random.default_rng(1)), ["a", "b", "c", "d"]))
        assert {line.mean_rank.low is None for line in found.lines} == {games < FEWEST}


def test_labels_that_never_change_seats_are_told_to() -> None:
    ranks = played(np.zeros(2), 6, np.random.default_rng(1))
    still, turned = records(ranks, ["a", "b"]), records(ranks[:1], ["b", "a"])
    for games, fixed in (
        (still, True),
        (still + turned, False),
        (still[:1], False),
        (records(ranks, ["a"] * 2), False),
    ):
        found = standings(games)
        assert found.seats_fixed is fixed
        assert ("changed its seat" in panels(found, [])[0].note) is fixed


def test_identical_models_under_different_names_are_not_told_apart() -> None:
    """Of 500 such batches about 5% must seem different at 5%: more would be false alarms, fewer a blind test."""
    generator = np.random.default_rng(5)
    alarms = 0
    for number in range(500):
        alarms += (sign_flip_p(played(np.zeros(4), 30, generator) - 2.5, seed=number, draws=199) or 0) <= 0.05
    assert 0.02 <= alarms / 500 <= 0.08


def test_models_that_differ_are_told_apart_and_too_few_games_have_no_test() -> None:
    ranks = played(TRUE, 30, np.random.default_rng(6))
    assert (standings(records(ranks, ["a", "b", "c", "d"])).null_p or 1) < 0.01
    assert standings(records(ranks[: FEWEST + 1], ["a", "b", "c", "d"])).null_p is not None
    assert standings(records(ranks[:FEWEST], ["a", "b", "c", "d"])).null_p is None, "five have 16 patterns of signs"


def test_one_that_always_wins_has_a_finite_strength() -> None:
    logs = posterior([choice_sets([1, 2], [0, 1], 2)] * 30, 2).logs
    assert np.isfinite(logs).all()
    assert logs.mean(axis=0)[0] - logs.mean(axis=0)[1] > 3
    assert logs.std(axis=0)[0] > 0.3, "and nobody knows it well"


def test_ties_are_between_winning_and_losing() -> None:
    one, other, last = posterior([choice_sets([1.5, 1.5, 3], [0, 1, 2], 3)] * 40, 3).strengths
    assert one == other
    assert last.value < one.value


def test_who_ties_stands_for_the_next_place_with_the_part_that_would_still_be_there() -> None:
    """Efron: for the second of two tied places, half of each of them is left; the last place is nobody's choice."""
    rows, wins = choice_sets([1.5, 1.5, 3], [0, 1, 2], 3)
    assert rows.tolist() == [[1.0, 1.0, 1.0], [0.5, 0.5, 1.0]]
    assert wins.tolist() == [1.0, 1.0, 0.0]


def test_several_of_one_label_in_a_game_make_it_no_stronger() -> None:
    """Three equal players under one name against one of another: a fourth of the wins is that one's fair part."""
    ranks = played(np.zeros(4), 3000, np.random.default_rng(7))
    found = posterior([choice_sets(list(row), [0, 0, 0, 1], 2) for row in ranks], 2)
    assert np.abs(found.logs.mean(axis=0)).max() < 0.06


def test_standings_count_wins_ranks_and_who_beats_whom() -> None:
    games = records(np.array([[1.0, 2.0, 3.0], [1.5, 1.5, 3.0], [2.0, 1.0, 3.0]]), ["a", "b", "c"])
    found = standings(games)
    lines = {line.label: line for line in found.lines}
    assert [line.label for line in found.lines] == ["a", "b", "c"]
    assert (lines["a"].wins, lines["b"].wins, lines["c"].wins) == (1.5, 1.5, 0.0)
    assert (lines["a"].mean_rank.value, lines["c"].mean_rank.value) == (1.5, 3.0)
    assert found.beats[0][1] == (1.5, 3)
    assert found.beats[2][0] == (0.0, 3)
    assert [(place.position, place.mean_rank.value) for place in found.seats] == [(1, 1.5), (2, 1.5), (3, 3.0)]


def test_a_single_game_has_standings_and_no_intervals() -> None:
    (first, *_) = standings(records(np.array([[1.0, 2.0]]), ["a", "b"])).lines
    assert (first.mean_rank.value, first.mean_rank.low, first.mean_rank.high) == (1.0, None, None)
