"""Landing odds: the chain is one, it says what another hand's says, and what has been published. See also `walk`."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.landing_odds import IN_JAIL, JailPolicy, long_run, stops, transitions
from tests.games.monopoly import chain

POLICIES: tuple[JailPolicy, JailPolicy] = ("leave", "stay")


@pytest.mark.parametrize("policy", POLICIES)
def test_every_row_and_the_long_run_sum_to_one(policy: JailPolicy) -> None:
    rows = transitions(policy)
    assert len(rows) == 41 * 3
    for row in rows.values():
        assert sum(row.values()) == pytest.approx(1, abs=1e-12)
        assert set(row) <= set(rows)
    assert len(long_run(policy)) == 41
    assert sum(long_run(policy)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_nobody_rests_on_go_to_jail_and_everywhere_else_somebody(policy: JailPolicy) -> None:
    odds = long_run(policy)
    assert [position for position, chance in enumerate(odds) if not chance] == [30]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_second_chain_from_the_rules_alone_says_the_same(policy: JailPolicy) -> None:
    assert long_run(policy) == pytest.approx(chain.expected(policy), abs=1e-9)


def test_stops_in_a_turn_are_those_of_the_second_chain() -> None:
    assert stops() == pytest.approx(chain.stops(), abs=1e-9)


def test_leaving_jail_at_once_gives_the_published_odds() -> None:
    """As published by T. Collins for the US board, in percent of rolls."""
    odds = long_run("leave")
    published = {24: 3.1858, IN_JAIL: 3.9499, 10: 2.2695, 0: 3.0961, 25: 3.0659, 19: 3.0852, 7: 0.8650}
    for position, percent in published.items():
        assert 100 * odds[position] == pytest.approx(percent, abs=0.002)


def test_the_published_long_stay_is_of_players_whose_freeing_double_rolls_again() -> None:
    """T. Collins again, in percent; by the rules that double just moves, which takes 0.07 points off the cell."""
    published = {40: 9.4569, 10: 2.1392, 24: 2.9929, 0: 2.9143}
    again, stay = chain.expected("again"), long_run("stay")
    for position, percent in published.items():
        assert 100 * again[position] == pytest.approx(percent, abs=0.0002)
    assert 100 * (again[IN_JAIL] - stay[IN_JAIL]) == pytest.approx(0.0714, abs=0.0002)


def test_who_stays_in_jail_is_there_longer() -> None:
    leave, stay = long_run("leave"), long_run("stay")
    assert stay[IN_JAIL] > 2 * leave[IN_JAIL]
    assert stay[24] < leave[24]
