"""The bots: needs come before all else, votes and proposals follow values, and `random` also tries illegal actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.simulate import Simulation
from agentsim.games.society.assembly import (
    Allocation,
    Build,
    Dividend,
    Repeal,
    Tax,
    Term,
    VotingRule,
    WorkMinimum,
)
from agentsim.games.society.bots import (
    BOTS,
    CHARACTERS,
    DANGER_DAYS,
    asks_for,
    call_for_help,
    needed_work,
    opinion,
    proposal,
    scarcer,
)
from agentsim.games.society.building import ProjectBuilt
from agentsim.games.society.config import PERSONALITIES, Personality
from agentsim.games.society.evening import DayEnded
from agentsim.games.society.requests import ACTIONS, Act, Acted
from agentsim.games.society.talk import DirectMessage
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import CreateProposal, LawEnacted, LawRepealed, ProposalResolved, Vote
from agentsim.games.society.work import Trade, Traded, Work
from tests.games.society.society import law, play, request

DEFAULT: dict[str, Any] = {"days": 30, "actions_per_day": 3}
KINDS = {"tax", "dividend", "allocation", "work_minimum", "repeal", "voting_rule", "build"}


@cache
def _citizens(seed: int) -> Simulation:
    return play(bot="citizen", agents=25, seed=seed, **DEFAULT)


@cache
def _anything(seed: int) -> Simulation:
    return play(bot="random", agents=12, seed=seed, days=12, actions_per_day=3)


def _decided(*games: Simulation) -> Iterator[tuple[Act, Any]]:
    for played in games:
        for wave, decisions in played.waves:
            for ask, decision in zip(wave.asks, decisions, strict=True):
                assert isinstance(ask.request, Act)
                assert isinstance(decision, Acted)
                yield ask.request, decision.action


def _luck(name: str) -> Stream:
    return Chance(1).once(name, per_game="lasting")


# -- needs


@pytest.mark.parametrize("name", sorted(set(BOTS) - {"random"}))
def test_the_same_request_and_luck_make_the_same_decision(name: str) -> None:
    for number, (asked, _) in enumerate(_decided(_citizens(1))):
        if number % 200 == 0:
            first, again = (BOTS[name](asked, _luck(f"{number}")) for _ in range(2))
            assert first == again


def test_a_citizen_lives_by_the_personality_that_it_was_dealt() -> None:
    for number, (asked, _) in enumerate(_decided(_citizens(1))):
        if number % 50 == 0:
            own = CHARACTERS[asked.you.personality]
            decided = BOTS["citizen"](asked, _luck(f"{number}"))
            assert isinstance(decided, Acted)
            assert decided.action == own(asked, _luck(f"{number}"))


@pytest.mark.parametrize("name", ["citizen", "farmer"])
def test_in_danger_an_agent_works_or_calls_for_help_and_nothing_else(name: str) -> None:
    poor: dict[str, Any] = {
        "farm_rate": 0.25,
        "generate_rate": 0.25,
        "farm_energy": 0.1,
        "start_food": 2.5,
        "start_energy": 2.5,
    }
    seen: Counter[str] = Counter()
    for asked, action in _decided(play(bot=name, agents=10, actions_per_day=3, days=8, **poor)):
        if scarcer(asked)[1] < DANGER_DAYS:
            kind = action.action
            seen[kind] += 1
            spent = (
                asked.you.hours == asked.rules.hours_per_day or asked.you.stock["food"] < asked.rules.work_needs_food
            )
            assert kind == "work" or (kind == "forum_post" and asks_for(action.content)) or spent, action
    assert seen["work"] > 20
    assert ("forum_post" in seen) == (name == "citizen")


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"start_food": 1, "start_energy": 9}, ("farm", 3)),
        ({"start_food": 9, "start_energy": 1}, ("generate", 3)),
        ({"start_food": 9.5, "start_energy": 12}, ("farm", 1)),
        ({"start_food": 1, "start_energy": 0.4}, ("generate", 8)),  # the evening would make it dormant
        ({"start_food": 1.5, "start_energy": 0.4, "daily_energy": 0}, ("generate", 3)),  # no energy to farm with
    ],
)
def test_work_is_for_what_is_scarcer_and_no_longer_than_it_takes(held: dict[str, Any], expected: Any) -> None:
    asked = request(play(agents=2, actions_per_day=3, **held), 1, 0)
    found = needed_work(asked, 10)
    assert isinstance(found, Work)
    assert (found.work_type, found.hours) == expected


@pytest.mark.parametrize("held", [{"start_food": 10, "start_energy": 10}, {"start_food": 0.5, "start_energy": 5}])
def test_nobody_works_who_has_enough_or_who_cannot(held: dict[str, Any]) -> None:
    assert needed_work(request(play(agents=2, **held), 1), 10) is None


def test_a_call_for_help_is_heard_by_those_who_have_plenty() -> None:
    call = {"action": "forum_post", "content": call_for_help(1, "food")}
    played = play({1: [call]}, agents=6, bot="equality", days=3, actions_per_day=3, start_food=9)
    gifts = [event for event in played.events(Traded) if event.recipient == 1]
    assert gifts
    assert {gift.resource for gift in gifts} == {"food"}
    assert max(gift.amount for gift in gifts) == 300, "what wakes one who sleeps"


# -- values

VALUES: dict[Personality, dict[Term, int]] = {
    "efficiency": {WorkMinimum(kind="work_minimum", hours=2): 1, Build(kind="build", what="farm"): 1},
    "equality": {Tax(kind="tax", resource="food", percent=10): 1},
    "freedom": {Tax(kind="tax", resource="food", percent=10): -1, WorkMinimum(kind="work_minimum", hours=2): -1},
    "stability": {VotingRule(kind="voting_rule", threshold=60, quorum=3): 1},
    "neutral": {Tax(kind="tax", resource="food", percent=10): -1},
}


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_opinions_follow_values(personality: Personality) -> None:
    asked = request(play(agents=100), 1)
    for term, sign in VALUES[personality].items():
        assert opinion(asked, personality, [term]) * sign > 0


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_who_is_in_need_welcomes_what_brings_more(personality: Personality) -> None:
    dividend = Dividend.model_validate({"kind": "dividend", "resource": "food", "amount": 1, "to": "all"})
    named = Allocation.model_validate({"kind": "allocation", "resource": "food", "amount": 1, "agents": [1]})
    rich, poor = (request(play(agents=2, start_food=held), 1) for held in (10, 2))
    assert opinion(poor, personality, [dividend]) > max(0.0, opinion(rich, personality, [dividend]))
    assert opinion(rich, personality, [named]) > opinion(request(play(agents=2), 2), personality, [named])


def test_a_repeal_is_worth_the_opposite_of_its_law() -> None:
    laws = [{"title": "Tax", "terms": [{"kind": "tax", "resource": "food", "percent": 10}]}]
    asked = request(play(agents=2, laws=laws), 1)
    repeal = Repeal(kind="repeal", law=1)
    assert opinion(asked, "freedom", [repeal]) > 0 > opinion(asked, "equality", [repeal])
    assert opinion(asked, "freedom", [Repeal(kind="repeal", law=9)]) < 0, "a law that nobody sees is left alone"


def test_nothing_is_built_that_the_pool_cannot_keep_up() -> None:
    build = Build(kind="build", what="farm")
    kept, not_kept = (request(play(agents=100, pool_materials=held), 1) for held in (500, 10))
    assert opinion(kept, "efficiency", [build]) > opinion(not_kept, "efficiency", [build])


def test_votes_are_cast_by_values() -> None:
    """On a tax that feeds no agent, all agents of freedom vote no, those of equality yes."""
    tax = law("Tax", {"kind": "tax", "resource": "all", "percent": 50})
    votes: dict[str, Counter[str]] = {}
    for seed in (1, 2):
        played = play({1: [tax]}, agents=30, seed=seed, bot="citizen", days=2, actions_per_day=3)
        for asked, action in _decided(played):
            if isinstance(action, Vote) and action.proposal_id == 1 and asked.you.agent != 1:
                assert action.reasoning
                votes.setdefault(asked.you.personality, Counter())[action.vote] += 1
    assert set(votes["freedom"]) == {"no"}
    assert set(votes["equality"]) == {"yes"}


# -- the life of a society of citizens


def _laws() -> Counter[str]:
    proposed: Counter[str] = Counter()
    for _, action in _decided(*map(_citizens, (1, 2, 3, 4))):
        if isinstance(action, CreateProposal):
            proposed.update([str(term.kind) for term in action.terms] or ["words"])
    return proposed


def test_citizens_propose_what_every_part_of_the_vocabulary_can_say() -> None:
    assert set(_laws()) >= (KINDS - {"allocation"}) | {"words"}, "nobody is in need here, and nobody asks for food"


def test_who_asked_for_help_is_named_in_a_proposal() -> None:
    calls = {agent: [{"action": "forum_post", "content": call_for_help(agent, "energy")}] for agent in (2, 3)}
    asked = request(play(calls, agents=4, days=2), 1)
    drafts = [proposal(asked, "equality", _luck(f"{number}")) for number in range(20)]
    terms = {term for draft in drafts if draft is not None for term in draft.terms}
    named = {"kind": "allocation", "resource": "energy", "amount": 3, "agents": [2, 3]}
    assert Allocation.model_validate(named) in terms


def test_nobody_proposes_what_is_open_or_in_force() -> None:
    for asked, action in _decided(*map(_citizens, (1, 2, 3, 4))):
        if isinstance(action, CreateProposal):
            assert action.title not in {each.title for each in asked.world.proposals}
            assert action.title not in {each.title for each in asked.world.laws}


def test_laws_pass_and_fail_and_end_and_something_is_built() -> None:
    games = [_citizens(seed) for seed in (1, 2, 3, 4)]
    results = {event.result for played in games for event in played.events(ProposalResolved)}
    assert results == {"passed", "failed"}
    for kind in (LawEnacted, ProjectBuilt):
        assert any(played.events(kind) for played in games), kind


def test_citizens_do_all_that_can_be_done() -> None:
    """Their actions are rejected only if another action of the same turn came first."""
    games = [_citizens(seed) for seed in (1, 2, 3, 4)]
    done = Counter(action.action for _, action in _decided(*games))
    assert set(done) >= set(ACTIONS) - {"trade"}, set(ACTIONS) - set(done)
    rejected = sum(len(played.events(InvalidAction)) for played in games)
    assert rejected < sum(done.values()) / 200


def test_nobody_writes_to_itself() -> None:
    for asked, action in _decided(*map(_citizens, (1, 2, 3, 4))):
        if isinstance(action, DirectMessage | Trade):
            assert action.recipient_agent_id != asked.you.agent


def test_idle_does_nothing() -> None:
    assert {action.action for _, action in _decided(play(bot="idle", agents=3, days=2))} == {"idle"}


# -- anything


def test_anything_is_every_action_with_every_term() -> None:
    acts = [action for _, action in _decided(*map(_anything, range(4)))]
    assert {action.action for action in acts} == {*ACTIONS, "rejected"}
    proposals = [action for action in acts if isinstance(action, CreateProposal)]
    assert {term.kind for action in proposals for term in action.terms} == KINDS
    assert {len(action.terms) for action in proposals} == {0, 1, 2, 3, 4}
    assert {action.proposal_type for action in proposals} == {"law", "rule", "allocation", "infrastructure", "other"}


@pytest.mark.parametrize(
    "reason",
    [
        "is closed",
        "there is no such proposal",
        "there is no post",
        "needs no materials",
        "hours are left today",
        "that is yourself",
        "you hold",
        "cannot have the term",
        "there is no agent",
        "Failed to parse action",
    ],
)
def test_anything_is_what_cannot_be_as_well(reason: str) -> None:
    found = Counter(event.reason for seed in range(8) for event in _anything(seed).events(InvalidAction))
    assert [known for known in found if reason in known], sorted(found)


def test_anything_repeals_laws() -> None:
    assert any(_anything(seed).events(LawRepealed) for seed in range(12))


def test_a_society_of_anything_goes_on() -> None:
    assert all(_anything(seed).events(DayEnded) for seed in range(4))
