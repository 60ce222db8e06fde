"""What each action comes to: who hears it, what it moves, and every way in which it is rejected when its turn comes."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.event import Everyone
from agentsim.games.society.building import Contributed, ProjectBuilt
from agentsim.games.society.giving import Traded
from agentsim.games.society.life import AgentWoke, FellDormant
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.voting import Proposed, Reasoned, Voted
from agentsim.games.society.work import Worked
from tests.games.society.society import TERMS, held, law, play, pool, rejections, request, told

BUILD = law("A farm", TERMS["farm"], type_="infrastructure")


@pytest.mark.parametrize(
    ("hours", "made"), [(1, 2), (2, 3.8), (3, 5.4), (4, 6.8), (5, 8), (6, 9), (7, 10.08), (8, 11.2)]
)
def test_farming_makes_food_by_hours_rate_and_efficiency(hours: int, made: float) -> None:
    played = play({1: [f"work farm {hours}"]})
    assert held(played, 1) == (10 + made - 1, 10 - hours / 2 - 1, 5)


def test_work_is_told_to_its_author_alone() -> None:
    played = play({1: ["work gather 2"]})
    assert [entry.to for entry in told(played, Worked)] == [("agent1",)]
    (worked,) = played.events(Worked)
    assert (worked.made, worked.energy, worked.taxed) == (95, 200, 0)


def test_a_day_has_eight_hours_over_all_turns() -> None:
    played = play({1: ["work generate 5", "work generate 4", "work generate 3"]}, actions_per_day=3)
    assert rejections(played, 1) == ["only 3 of 8 hours are left today"]
    assert held(played, 1)[1] == 10 + 6 + 4.05 - 1


def test_hours_are_new_every_day() -> None:
    assert rejections(play({1: ["work generate 8", "work generate 8"]}, days=2)) == []


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"start_food": 0.99}, "work needs 1 food, and you hold 0.99"),
        ({"start_energy": 1.49}, "it takes 1.5 energy, and you hold 1.49"),
    ],
)
def test_work_needs_food_and_energy(config: dict[str, Any], reason: str) -> None:
    assert rejections(play({1: ["work farm 3"]}, **config)) == [reason]


def test_a_gift_moves_to_an_agent_or_to_the_pool() -> None:
    played = play({1: ["trade 2 food 2.5"], 3: ["trade 0 energy 0.01"]})
    assert (held(played, 1)[0], held(played, 2)[0]) == (6.5, 11.5)
    assert (held(played, 3)[1], pool(played, "energy")) == (8.99, 40.01)
    to = {entry.event.data()["recipient"]: entry.to for entry in told(played, Traded)}
    assert to == {2: ("agent1", "agent2"), 0: Everyone}


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("trade 2 food 10.01", "you hold 10 food, not 10.01"),
        ("trade 1 food 1", "that is yourself"),
        ("direct_message 1 hi", "that is yourself"),
        ("forum_reply 1 hi", "there is no post 1"),
        ("vote 1 yes", "there is no such proposal"),
        ("contribute 1 1", "project 1 needs no materials"),
        (law("L", type_="infrastructure"), "an infrastructure proposal has one term: "),
        (law("L", TERMS["tax"], type_="allocation"), "a proposal of type allocation cannot have the term tax"),
        (law("L", TERMS["farm"]), "a proposal of type law cannot have the term build"),
        (law("L", TERMS["tax"], type_="other"), "a proposal of type other cannot have the term tax"),
        (law("L", {"kind": "work_minimum", "hours": 9}), "nobody can work more than 8 hours a day"),
        (law("L", {"kind": "voting_rule", "threshold": 50, "quorum": 5}), "there are only 4 agents to vote"),
        (
            law("L", {"kind": "allocation", "resource": "food", "amount": 1, "agents": [5]}, type_="allocation"),
            "there is no agent #5",
        ),
    ],
)
def test_an_action_that_cannot_be_is_rejected_without_penalty(action: Any, reason: str) -> None:
    played = play({1: [action]}, days=2)
    (given,) = rejections(played)
    assert given.startswith(reason)
    assert held(played, 1) == (8, 8, 5)
    assert request(played, 1).you.notices[0].text == given
    assert request(played, 2).you.notices == ()


def test_what_is_gone_when_a_turn_comes_is_rejected() -> None:
    """Both see the project that needs 2; the first gives it all, the second comes too late."""
    turns: dict[int, Any] = {1: [BUILD, "idle", "contribute 1 2"], 2: ["vote 1 yes", "vote 1 yes", "contribute 1 1"]}
    played = play(turns, days=3, voting_days=2, farm_cost=2, order=[[1, 2, 3, 4]] * 3)
    assert rejections(played) == ["project 1 needs no materials"]
    assert [(gift.agent, gift.amount) for gift in played.events(Contributed)] == [(1, 200)]
    assert len(played.events(ProjectBuilt)) == 1


def test_a_project_takes_no_more_than_it_needs() -> None:
    turns: dict[int, Any] = {1: [BUILD, "idle", "contribute 1 5"], 2: ["idle", "vote 1 yes"]}
    played = play(turns, days=3, voting_days=2, farm_cost=1.5)
    assert held(played, 1)[2] == 3.5


def test_posts_and_replies_are_heard_by_all_and_known_by_number() -> None:
    played = play({1: ["post Hello #2 and #3, #3 and #99"], 2: ["idle", "forum_reply 1 Hi #1!"]}, days=3)
    first, second = played.events(Posted)
    assert (first.post, first.parent, first.mentions, first.text) == (1, None, (2, 3), "Hello #2 and #3, #3 and #99")
    assert (second.post, second.parent) == (2, 1)
    assert all(entry.to is Everyone for entry in told(played, Posted))
    assert [notice.kind for notice in request(played, 3, 1).you.notices] == ["mention"]
    assert [(notice.kind, notice.about) for notice in request(played, 1, 2).you.notices] == [("reply", 2)]


def test_a_direct_message_is_heard_by_two() -> None:
    played = play({1: ["direct_message 2 psst"]}, days=2)
    (entry,) = told(played, MessageSent)
    assert entry.to == ("agent1", "agent2")
    assert "psst" in request(played, 2).prompt().text()
    assert "psst" not in request(played, 3).prompt().text()


def test_a_vote_may_be_changed_and_counts_once() -> None:
    turns: dict[int, Any] = {1: [law()], 2: ["idle", "vote 1 yes because", "vote 1 no"]}
    played = play(turns, actions_per_day=3)
    assert [(vote.vote, vote.before, vote.yes, vote.no) for vote in played.events(Voted)] == [
        ("yes", None, 1, 0),
        ("no", "yes", 0, 1),
    ]
    (why,) = told(played, Reasoned)
    assert (why.to, why.event.content) == (("agent2",), "because")


def test_a_closed_proposal_takes_no_votes() -> None:
    played = play({1: [law()], 2: ["idle", "vote 1 yes"]}, days=2, voting_days=1)
    assert rejections(played) == ["proposal 1 is closed"]


def test_a_proposal_carries_its_terms_and_its_day() -> None:
    played = play({1: [law("Ten", TERMS["tax"])]}, voting_days=3)
    assert [entry.to for entry in told(played, Proposed)] == [Everyone]
    (proposed,) = played.events(Proposed)
    assert (proposed.closes, proposed.terms[0].kind, proposed.description) == (3, "tax", "About Ten.")


def test_a_name_is_one_line_and_known_to_all() -> None:
    played = play({1: [{"action": "set_name", "display_name": " Ada\n the  First "}]}, days=2)
    assert [event.name for event in played.events(Renamed)] == ["Ada the First"]
    assert request(played, 1).you.name == "Ada the First"


def test_who_is_given_enough_wakes_at_once_and_acts_in_the_next_turn() -> None:
    """Agent 2 sleeps after day 1; on day 2 two gifts bring it to 3 and 3, in the first of two turns."""
    turns = {2: ["trade 1 food 10", "idle"], 1: ["idle", "idle", "trade 2 food 3"]}
    played = play(turns, days=2, actions_per_day=2, start_food=10)
    assert [(event.day, event.agent) for event in played.events(FellDormant)] == [(1, 2)]
    assert [(event.day, event.agent) for event in played.events(AgentWoke)] == [(2, 2)]
    days = [(ask.request.world.day, ask.request.world.tick) for ask in played.asks("agent2")]  # type: ignore[attr-defined] # an Act
    assert days == [(1, 1), (1, 2), (2, 2)]
