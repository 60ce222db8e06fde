"""Memories: what touched an agent, made of what it heard; looking at them changes nothing."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from agentsim.engine.simulate import Simulation
from agentsim.games.society.memory import Memories
from agentsim.games.society.view import own, world
from tests.games.society.society import law, play
from tests.games.society.town import Town, message

AGENTS = 8


@cache
def _anything(seed: int) -> Simulation:
    return play(bot="random", agents=AGENTS, seed=seed, days=10, actions_per_day=3, laws=LAWS)


LAWS = [{"title": "Bread", "terms": [{"kind": "dividend", "resource": "food", "amount": 1, "to": "all"}]}]


@pytest.mark.parametrize("agent", range(1, AGENTS + 1))
def test_what_an_agent_remembers_follows_from_what_it_heard(agent: int) -> None:
    """One reader of all events keeps apart what each agent would make of its own."""
    log = _anything(1).log
    together, alone = (Memories(room=10_000, chars=100) for _ in range(2))
    for entry in log:
        together.hear(entry)
        if entry.heard_by(f"agent{agent}"):
            alone.hear(entry)
    assert alone.of(agent) == together.of(agent)
    assert alone.of(agent).notices


def test_every_kind_of_notice_is_remembered_in_some_society() -> None:
    memories = Memories(room=10_000, chars=100)
    for entry in (entry for seed in (1, 2, 3) for entry in _anything(seed).log):
        memories.hear(entry)
    kinds = Counter(notice.kind for agent in range(1, AGENTS + 1) for notice in memories.of(agent).notices)
    talk = {"message", "reply", "mention", "gift"}
    assert set(kinds) == talk | {"payment", "proposal_passed", "proposal_failed", "rejected", "dormant", "woke"}


def test_there_is_room_for_the_newest_and_the_rest_is_counted() -> None:
    memories = Memories(room=2, chars=100)
    for entry in play({1: [message(2, str(n)) for n in range(5)]}, agents=2, actions_per_day=5).log:
        memories.hear(entry)
    memory = memories.of(2)
    assert ([notice.said["text"] for notice in memory.notices], memory.missed) == (["3", "4"], 3)
    memory.forget()
    assert (list(memory.notices), memory.missed) == ([], 0)


def test_making_a_view_changes_nothing() -> None:
    town, memories = Town(), Memories(room=5, chars=100)
    town.tick({1: message(2, "Hello"), 3: law("Tax")})
    for entry in town.play.log:
        memories.hear(entry)
    citizen = town.state.citizen(2)
    first, again = (own(town.state, citizen, world(town.state), memories.of(2)) for _ in range(2))
    assert first == again
    assert [notice.said["text"] for notice in again.notices] == ["Hello"]
    assert world(town.state) == world(town.state)
