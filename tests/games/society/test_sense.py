"""The balance of the numbers: idle agents fall dormant, working agents live, and a law saves the scarce world."""

from __future__ import annotations

from functools import cache

import pytest

from agentsim.games.society.evening import DayEnded
from benchmarks.society_scarce import Ended, played, scarce
from tests.amounts import some_of
from tests.games.society.society import play

SEEDS = (1, 2, 3)
AGENTS = 50


def _active(bot: str, agents: int, seed: int = 1) -> list[int]:
    """Return the number of active agents by evening, in the default world."""
    return [day.active for day in play(bot=bot, agents=agents, seed=seed, days=30, actions_per_day=3).events(DayEnded)]


def test_who_does_nothing_is_dormant_by_the_evening_of_day_11() -> None:
    assert _active("idle", 20) == [20] * 10 + [0]


@some_of("seed", {str(seed): seed for seed in SEEDS}, "1")
def test_the_default_world_lives(seed: int) -> None:
    """All agents are active on all thirty evenings."""
    assert _active("citizen", 40, seed) == [40] * 30


@pytest.mark.parametrize("personality", ["farmer", "efficiency", "equality", "freedom", "stability", "neutral"])
def test_no_personality_starves_alone(personality: str) -> None:
    assert _active(personality, 10) == [10] * 30


@cache
def _poor(law: str, seed: int) -> Ended:
    return played(law, seed, votes=False, agents=AGENTS)


def test_in_the_scarce_world_some_and_not_all_are_awake_on_day_30() -> None:
    shares = [_poor("no law", seed).active for seed in SEEDS]
    assert all(0.1 < share < 0.9 for share in shares), shares


@pytest.mark.slow
def test_a_tax_and_a_dividend_keep_more_of_them_awake() -> None:
    moved = [_poor("a tax and a dividend", seed).active - _poor("no law", seed).active for seed in SEEDS]
    assert min(moved) > 0.2, moved


def test_a_tax_that_nobody_gets_anything_of_keeps_fewer_awake() -> None:
    assert _poor("the tax alone", 1).active < _poor("no law", 1).active


def test_in_the_scarce_world_nothing_that_is_proposed_can_pass() -> None:
    config, agents = scarce()
    assert config["quorum"] == agents
    assert _poor("no law", 1).laws == 0


def test_work_alone_feeds_nobody_for_long_in_the_scarce_world() -> None:
    """Even agents that only work, from the first day on, are all dormant by day 40."""
    config, _ = scarce(60)
    assert len(play(bot="farmer", agents=10, actions_per_day=3, **config).events(DayEnded)) < 40
