"""The theory of commons, with scripted agents: overuse, hunger, and remedies."""

from __future__ import annotations

from functools import cache
from statistics import fmean

import pytest

from benchmarks.society_commons import LAWS, MIXES, TAXED, Kept, played
from benchmarks.society_scarce import interval
from tests.test_benchmarks import printed


@cache
def kept(mix: str, law: str = "none", seed: int = 1) -> Kept:
    return played(MIXES[mix], LAWS[law], seed)


@pytest.mark.parametrize("mix", ["20 fair", "20 conditional"])
def test_fair_agents_keep_the_commons_and_so_do_those_who_do_as_others_do(mix: str) -> None:
    society = kept(mix)
    assert society.overuse < 0.1
    assert society.survival == 1
    assert society.efficiency == pytest.approx(1, abs=0.03)


def test_selfish_agents_ruin_the_commons_and_themselves() -> None:
    society = kept("20 selfish")
    assert society.overuse > 0.9
    assert society.survival < 0.3
    assert society.efficiency < 0.4


def test_few_selfish_agents_unravel_the_restraint_of_the_others() -> None:
    society = kept("18 conditional, 2 selfish")
    assert society.overuse > 0.9
    assert society.survival < 0.3
    assert society.gini > kept("20 conditional").gini


def test_a_tax_that_is_paid_back_saves_selfish_agents_and_neither_half_of_it_does() -> None:
    assert kept("20 selfish", TAXED).survival == 1
    assert kept("20 selfish", "the tax alone").survival < 0.3
    assert kept("20 selfish", "the dividend alone").survival < 0.3


def test_talk_heals_an_accident_among_those_who_do_as_others_do() -> None:
    """A shock makes the commons look overused; agents that may call for shares go on with theirs."""
    shock = [{"day": 5, "what": "commons", "percent": 60}]
    silent, talking = (played({"conditional": 20}, [], 1, talk=talk, shocks=shock) for talk in (False, True))
    assert silent.survival < 0.5
    assert talking.survival > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mix", "law", "low", "high"),
    [
        ("20 fair", "none", 1, 1),
        ("20 conditional", "none", 1, 1),
        ("10 conditional, 10 fair", "none", 1, 1),
        ("10 fair, 10 selfish", "none", 0.4, 0.6),
        ("18 conditional, 2 selfish", "none", 0.05, 0.2),
        ("20 selfish", "none", 0, 0.2),
        ("20 selfish", TAXED, 1, 1),
        ("18 conditional, 2 selfish", TAXED, 1, 1),
    ],
)
def test_survival_over_many_seeds_is_within_what_theory_says(mix: str, law: str, low: float, high: float) -> None:
    shares = [kept(mix, law, seed).survival for seed in range(1, 11)]
    least, most = interval(shares)
    assert low <= least <= fmean(shares) <= most <= high


@pytest.mark.slow
def test_every_row_of_the_table_is_played() -> None:
    rows = printed("society_commons", "--seeds", "1", "--days", "2")
    assert {row["agents"] for row in rows} == set(MIXES)
    assert [row["talk"] for row in rows].count(True) == 1
    assert all(len(row["survival"]) == 3 for row in rows)
