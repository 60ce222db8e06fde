"""Landing odds: the chain is one, it says what a simulation of its own says, and what has been published."""

from __future__ import annotations

import pytest

from agentsim.engine.chance import Chance
from agentsim.games.monopoly.landing_odds import IN_JAIL, JailPolicy, long_run, transitions

ROLLS = 100_000
# Written down again from the rules, not taken from the package.
CHANCE = {0, 5, 11, 24, 39}
RAILROADS = (5, 15, 25, 35)
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


def drawn(deck: str, card: int, at: int) -> int:
    """Where the card (0 to 15) leaves a token; the order within a deck does not matter."""
    if deck == "chest":
        return {0: 0, 1: IN_JAIL}.get(card, at)
    if card < 5:
        return sorted(CHANCE)[card]
    if card < 7:
        return next((place for place in RAILROADS if place > at), 5)
    if card == 7:
        return 12 if at < 12 or at > 28 else 28
    return {8: at - 3, 9: IN_JAIL}.get(card, at)


def simulated(policy: JailPolicy) -> list[int]:
    """How often a token rests where, by playing."""
    luck = Chance(1).stream(policy)
    found = [0] * 41
    place = doubles = failed = 0
    for _ in range(ROLLS):
        first, second = luck.integer(1, 6), luck.integer(1, 6)
        double, was_jailed = first == second, place == IN_JAIL
        if was_jailed and policy == "stay" and not double and failed < 2:
            failed += 1
            found[IN_JAIL] += 1
            continue
        doubles = doubles + 1 if double and not (was_jailed and policy == "stay") else 0
        place = IN_JAIL if doubles == 3 else ((10 if was_jailed else place) + first + second) % 40
        if place in {7, 22, 36}:
            place = drawn("chance", luck.integer(0, 15), place)
        if place in {2, 17, 33}:
            place = drawn("chest", luck.integer(0, 15), place)
        if place in {30, IN_JAIL}:
            place, doubles, failed = IN_JAIL, 0, 0
        found[place] += 1
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_a_simulation_finds_the_same(policy: JailPolicy) -> None:
    """Chi-squared with 39 degrees of freedom: beyond 70 once in 600 times, and the seed is fixed."""
    expected = [chance * ROLLS for chance in long_run(policy)]
    chi = sum((seen - due) ** 2 / due for seen, due in zip(simulated(policy), expected, strict=True) if due)
    assert chi < 70


def test_leaving_jail_at_once_gives_the_published_odds() -> None:
    """As published by T. Collins for the US board, in percent of rolls."""
    odds = long_run("leave")
    published = {24: 3.1858, IN_JAIL: 3.9499, 10: 2.2695, 0: 3.0961, 25: 3.0659, 19: 3.0852, 7: 0.8650}
    for position, percent in published.items():
        assert 100 * odds[position] == pytest.approx(percent, abs=0.002)


def test_who_stays_in_jail_is_there_longer() -> None:
    leave, stay = long_run("leave"), long_run("stay")
    assert stay[IN_JAIL] > 2 * leave[IN_JAIL]
    assert stay[24] < leave[24]
