"""Walk: the game's own turns take a token where a chain written down from the rules says, over many rolls.

Of a million rolls each policy in jail has half. Where a token rests hangs on where it rested before, so that what is
summed up here is not quite chi-squared: by the chain its mean is 34.7 for who leaves jail and 36.3 for who stays, and
chances to pass 70 are 1 in 3,800 and 1 in 600.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from agentsim.games.monopoly.landing_odds import JailPolicy
from tests.amounts import amounts
from tests.games.monopoly.chain import CELL, Policy, expected
from tests.games.monopoly.walk import walk

MOST = 70  # 39 degrees of freedom: nobody rests on Go To Jail
POLICIES: tuple[JailPolicy, JailPolicy] = ("leave", "stay")

walked = cache(walk)


def chi_squared(found: Sequence[int], policy: Policy) -> float:
    rolls = sum(found)
    pairs = zip(found, expected(policy), strict=True)
    return sum((seen - rolls * due) ** 2 / (rolls * due) for seen, due in pairs if due)


@amounts("rolls", 40_000, 500_000)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_million_rolls_end_where_the_exact_chain_says(policy: JailPolicy, rolls: int) -> None:
    found = walked(policy, rolls, 1)
    assert rolls <= sum(found) <= rolls + 2
    assert [index for index in range(CELL + 1) if not found[index]] == [30]
    assert chi_squared(found, policy) < MOST


@amounts("rolls", 40_000, 500_000)
def test_a_million_rolls_tell_one_way_out_of_jail_from_another(rolls: int) -> None:
    for walks, other in (POLICIES, POLICIES[::-1]):
        assert chi_squared(walked(walks, rolls, 1), other) > MOST * rolls / 10_000


def test_the_same_seed_makes_the_same_walk() -> None:
    assert walk("stay", 2_000, 5) == walk("stay", 2_000, 5) != walk("stay", 2_000, 6)
