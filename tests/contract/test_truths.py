"""Facts of every game: declared, in the order of their events, and what the log and the outcome say."""

from __future__ import annotations

from collections import Counter

import pytest

from agentsim.engine.simulate import simulate
from tests.contract.harness import GAMES, case, some_bot


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", GAMES)
def test_truths_are_declared_facts_in_the_order_of_their_events(name: str, seed: int) -> None:
    of = case(name)
    course = simulate(of.game, of.config, of.players, bot=some_bot(of.game), seed=seed, staff=of.staff)
    truths = [*of.game.truths(course.log, of.players)]
    assert {each.name for each in truths} <= of.game.facts.keys()
    assert of.game.facts, "a game declares facts"
    assert [each.at for each in truths] == sorted(each.at for each in truths)
    for each in truths:
        assert 0 <= each.at <= len(course.log)
        assert each.public is None or each.at <= each.public <= len(course.log)
        assert each.about is None or each.about in of.players
    kinds = Counter((each.name, each.lasting) for each in truths)
    assert len(kinds) == len({name for name, _ in kinds}), "a fact lasts or occurs"
    for part in (course.log[: len(course.log) // 2], course.log[:1], ()):
        [*of.game.truths(part, of.players)]  # of a game in progress, too
