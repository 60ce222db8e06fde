"""Agreement beside published examples, and corrected rates beside what is planted."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from agentsim.analysis.agreement import (
    LEAST_CODED,
    Agreement,
    agreement,
    alpha_of,
    clusters_of,
    confusion,
    plain_share,
    prediction_powered,
    rogan_gladen,
    value_counts,
)
from agentsim.analysis.intervals import FEWEST, Interval
from benchmarks.judges_world import ERRORS, coverage, study, uncorrected

NONE = -1
FOUR_OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3),
    (NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE),
)
"""Twelve units of four observers: K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section C."""
CODERS = [np.array([value - 1 if value > 0 else NONE for value in row]) for row in FOUR_OBSERVERS]
GAMES = [f"g{number}" for number in range(12)]


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_is_that_of_the_published_example_and_of_the_library(scale: str, alpha: float) -> None:
    found = agreement(CODERS, 5, GAMES, scale)  # type: ignore[arg-type]
    assert found.alpha is not None
    assert found.alpha.value == pytest.approx(alpha, abs=0.0006)
    given = np.array([[np.nan if value < 0 else value for value in row] for row in FOUR_OBSERVERS])
    assert found.alpha.value == pytest.approx(
        krippendorff.alpha(reliability_data=given, level_of_measurement=scale)  # type: ignore[arg-type]
    )
    assert found.units == 11, "the last unit has one coder"
    assert found.alpha.low is not None
    assert found.alpha.high is not None
    assert found.alpha.low < alpha < found.alpha.high


def test_the_interval_of_alpha_holds_it_in_most_studies() -> None:
    generator = np.random.default_rng(5)
    held, many = 0, 200
    for _ in range(many):
        truth = generator.random(200) < 0.4
        coders = [np.where(generator.random(200) < 0.9, truth, ~truth).astype(np.int64) for _ in range(2)]
        found = agreement(coders, 2, [number // 10 for number in range(200)])
        assert found.alpha is not None
        # two coders that each err with 0.1 agree in 0.82, and by chance in 0.42^2 + 0.58^2
        chance = 0.42**2 + 0.58**2
        held += not found.alpha.excludes((0.82 - chance) / (1 - chance))
    assert 0.9 <= held / many <= 0.99


def test_coders_who_all_give_one_level_have_no_alpha_and_no_reliable_number() -> None:
    same = [np.zeros(8, dtype=np.int64)] * 2
    found = agreement(same, 2, GAMES[:8])
    assert (found.alpha, found.same) == (None, 1.0)
    assert found.doubt == "alpha is undefined: all gave one level"
    assert alpha_of(value_counts(same, 2)) is None


def test_an_alpha_below_two_thirds_is_a_doubt_and_units_of_one_coder_are_none() -> None:
    assert Agreement(9, Interval(0.5), 0.8).doubt == "alpha 0.50 is below 0.67"
    assert not Agreement(9, Interval(0.7), 0.9).doubt
    alone = agreement([np.array([0, 1, NONE]), np.array([NONE, NONE, 1])], 2, GAMES[:3])
    assert (alone.units, alone.alpha, alone.doubt) == (0, None, "")


def test_the_confusion_table_counts_units_of_both_coders() -> None:
    table = confusion(np.array([0, 0, 1, 1, NONE]), np.array([0, 1, 1, 1, 1]), 2)
    assert table.tolist() == [[1, 1], [0, 2]]


def test_few_games_leave_units_out_and_many_leave_games_out() -> None:
    assert clusters_of(["a", "a", "b"]).tolist() == [0, 1, 2]
    assert clusters_of([*"abcde", "a"]).tolist() == [0, 1, 2, 3, 4, 0]
    assert FEWEST == 5


def test_a_judge_without_errors_is_not_corrected() -> None:
    judged, person, games = study(np.random.default_rng(3), 1.0, 1.0)
    found = rogan_gladen(judged, person, games)
    assert found is not None
    assert found.value == pytest.approx(judged.mean())


def test_a_rate_is_corrected_by_the_errors_in_the_persons_sample() -> None:
    # of 50 units with the code the judge finds 40, of 50 without it calls 10 so: of 200 units, 90 are judged
    person = np.array([1.0] * 50 + [0.0] * 50 + [np.nan] * 100)
    judged = np.array([1.0] * 40 + [0.0] * 10 + [1.0] * 10 + [0.0] * 40 + [1.0] * 40 + [0.0] * 60)
    games = [number % 20 for number in range(200)]
    found = rogan_gladen(judged, person, games)
    assert found is not None
    assert found.value == pytest.approx((90 / 200 + 0.8 - 1) / (0.8 + 0.8 - 1))
    assert found.low is not None
    assert found.low < found.value


def test_a_sample_without_enough_of_both_kinds_corrects_nothing() -> None:
    judged = np.ones(50)
    person = np.array([1.0] * 40 + [0.0] * (LEAST_CODED - 1) + [np.nan] * (11 - LEAST_CODED))
    assert rogan_gladen(judged, person, list(range(50))) is None
    assert prediction_powered(judged, np.array([1.0] * 4 + [np.nan] * 46), list(range(50))) is None
    no_better = np.array([1.0, 0.0] * 25)
    assert rogan_gladen(no_better, np.array([1.0, 1.0, 0.0, 0.0] * 12 + [np.nan] * 2), list(range(50))) is None


def test_of_a_person_who_coded_all_the_mean_is_the_persons() -> None:
    person = np.array([1.0, 0.0] * 20)
    found = prediction_powered(np.zeros(40), person, list(range(40)))
    assert found is not None
    assert found.value == pytest.approx(0.5)


def test_a_useless_judge_costs_little_and_a_good_one_narrows_the_interval() -> None:
    generator = np.random.default_rng(9)
    truth = (generator.random(1_000) < 0.3).astype(np.float64)
    person = np.where(np.arange(1_000) < 150, truth, np.nan)
    games = [number % 50 for number in range(1_000)]
    widths = {}
    for name, judged in (("good", truth), ("useless", (generator.random(1_000) < 0.5).astype(np.float64))):
        found = prediction_powered(judged, person, games)
        assert found is not None
        widths[name] = found.width
    alone = plain_share(truth[:150], games[:150]).width
    assert widths["good"] < 0.6 * alone
    assert widths["useless"] < 1.1 * alone


@pytest.mark.parametrize("errors", ERRORS)
def test_corrected_rates_hold_the_truth_in_most_of_some_studies(errors: tuple[float, float]) -> None:
    for estimate in (rogan_gladen, prediction_powered):
        assert 0.91 <= coverage(estimate, errors, 250) <= 0.985


def test_uncorrected_rates_of_a_judge_that_errs_one_way_do_not() -> None:
    assert coverage(uncorrected, (0.9, 0.9), 250) < 0.88


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
def test_corrected_rates_hold_the_truth_in_95_of_100_studies(errors: tuple[float, float]) -> None:
    for estimate in (rogan_gladen, prediction_powered):
        assert 0.93 <= coverage(estimate, errors, 2_000) <= 0.97
