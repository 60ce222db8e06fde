"""Gifts to agents and the pool, contributions to projects; the costs, effects and upkeep of structures."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.event import Everyone
from agentsim.games.society.building import Contributed, ProjectBegan, ProjectBuilt, UpkeepPaid
from agentsim.games.society.voting import ProposalResolved
from agentsim.games.society.work import Traded
from tests.amounts import each_row
from tests.games.society.town import Town, build, contribute, giving, propose, vote, work

# trades


@pytest.mark.parametrize("resource", ["food", "energy", "materials"])
def test_a_gift_goes_to_another_agent(resource: str) -> None:
    town = Town("8 8 8", "1 1 1").tick({1: giving(2, resource, 2.25)})
    (told,) = town.told(Traded)
    assert (told.event.agent, told.event.recipient, told.event.resource, told.event.amount) == (1, 2, resource, 225)
    place = ["food", "energy", "materials"].index(resource)
    assert (town.held(1).split()[place], town.held(2).split()[place]) == ("5.75", "3.25")
    assert told.to == ("p1", "p2")
    (notice,) = town.notices(2)
    assert (notice.kind, notice.other) == ("traded", 1)
    assert f"Agent #1 gives 2.25 {resource} to agent #2" in notice.line


def test_recipient_0_is_the_common_pool_and_everybody_hears_of_it() -> None:
    town = Town(pool="1 1 1 1").tick({1: giving(0, "materials", "4.5")})
    (told,) = town.told(Traded)
    assert told.to is Everyone
    assert (town.held(1), town.pool) == ("10 10 0.5", "1 1 5.5 1")


def test_a_gift_of_all_that_is_held() -> None:
    assert Town().tick({1: giving(2, "food", 10)}).held(1) == "0 10 5"


@each_row("to", [4, 100, 10**17, -1, 1.5, "two", None, True, [2, 3]])
def test_there_is_nobody_beyond_the_agents(to: Any) -> None:
    town = Town().tick({1: giving(to, "food", 1)})
    assert (len(town.refused()), town.held(1), town.held(2)) == (1, "10 10 5", "10 10 5")


@each_row("to", [2.0, "2", "#2", [2], "Agent #2", "２"])
def test_a_number_of_an_agent_that_is_beyond_doubt_is_read(to: Any) -> None:
    assert Town().tick({1: giving(to, "food", 1)}).held(2) == "11 10 5"


def test_nobody_gives_to_itself() -> None:
    town = Town().tick({1: giving(1, "food", 1)})
    assert town.refused() == [(1, "that is yourself")]


@each_row("amount", [0, -1, "-1", 0.001, 1.005, "1.005", 1e-9, "0.00", None, True, "all", "", [1], "１"])
def test_amounts_are_above_zero_and_whole_hundredths(amount: Any) -> None:
    town = Town().tick({1: giving(2, "food", amount)})
    assert (len(town.refused()), town.held(1), town.held(2)) == (1, "10 10 5", "10 10 5")


@each_row("amount, left", [(0.01, "9.99"), (0.1, "9.9"), ("0.30", "9.7"), (9.99, "0.01"), ("1.500", "8.5"), (3.0, "7")])
def test_amounts_are_exact_decimals(amount: Any, left: str) -> None:
    assert Town().tick({1: giving(2, "food", amount)}).held(1).split()[0] == left


@each_row("resource", ["land", "", None, "wealth", 1, ["food", "energy"]])
def test_only_food_energy_and_materials_can_be_given(resource: Any) -> None:
    town = Town().tick({1: giving(2, resource, 1)})
    assert (len(town.refused()), town.held(1)) == (1, "10 10 5")


@pytest.mark.parametrize("resource", ["Food", ["food"], "*food*"])
def test_a_resource_in_other_letters_or_alone_in_a_list_is_read(resource: Any) -> None:
    assert Town().tick({1: giving(2, resource, 1)}).held(2) == "11 10 5"


@pytest.mark.parametrize("amount", [10.01, 11, 10**9])
def test_nobody_gives_what_it_does_not_hold(amount: Any) -> None:
    town = Town().tick({1: giving(2, "food", amount)})
    ((agent, reason),) = town.refused()
    assert (agent, reason.startswith("you hold 10 food, not ")) == (1, True)
    assert town.held(1) == "10 10 5"


def test_what_somebody_has_been_given_earlier_in_the_tick_can_be_given_on() -> None:
    town = Town("5 5 5", "0 5 5", "0 5 5").tick({1: giving(2, "food", 5), 2: giving(3, "food", 5)})
    assert [town.held(agent)[0] for agent in (1, 2, 3)] == ["0", "0", "5"]


def test_what_comes_later_in_the_tick_cannot() -> None:
    town = Town("5 5 5", "0 5 5", "0 5 5").tick({2: giving(3, "food", 5), 1: giving(2, "food", 5)})
    assert town.refused() == [(2, "you hold 0 food, not 5")]
    assert [town.held(agent)[0] for agent in (1, 2, 3)] == ["0", "5", "0"]


def test_the_dead_take_nothing_and_hear_nothing() -> None:
    gone = Town("5 5 5", "0 0 0 dead", permadeath=True)
    assert gone.tick({1: giving(2, "food", 1)}).refused() == [(1, "agent #2 is dead")]
    assert gone.held(1) == "5 5 5"


# projects


def builders(*agents: str, pool: str = "100 100 100 100", **config: Any) -> Town:
    """Return a town with a farm under construction, on the next morning."""
    lines = agents or ("90 90 60", "90 90 60")
    town = Town(*lines, pool=pool, voting_days=1, **config)
    return town.decree(propose("infrastructure", build("farm")))


@pytest.mark.parametrize(("what", "cost"), [("farm", 5_000), ("generator", 7_500)])
def test_a_passed_infrastructure_proposal_opens_a_project_on_land_of_the_pool(what: str, cost: int) -> None:
    town = Town(pool="0 0 0 10", voting_days=1).decree(propose("infrastructure", build(what)))
    (began,) = town.told(ProjectBegan)
    assert (began.event.project, began.event.proposal, began.event.what) == (1, 1, what)
    assert (began.event.cost, began.event.land, began.to) == (cost, 1_000, Everyone)
    assert town.pool == "0 0 0 0"


def test_without_land_in_the_pool_nothing_is_begun_and_that_is_said() -> None:
    proposal = propose("infrastructure", build("farm"))
    town = Town(pool="0 0 0 15", voting_days=1, actions_per_day=4).decree(proposal, proposal)
    assert len(town.events(ProjectBegan)) == 1
    assert town.pool == "0 0 0 5"
    first, second = town.events(ProposalResolved)
    assert (first.result, first.note) == ("passed", "")
    assert (second.result, second.note) == ("passed", "The pool has not enough land for it.")


def test_contributions_are_used_up_and_seen_by_all() -> None:
    town = builders().tick({1: contribute(1, 12.5)})
    (told,) = town.told(Contributed)
    assert (told.event.amount, told.event.given, told.event.cost, told.to) == (1_250, 1_250, 5_000, Everyone)
    assert town.held(1).split()[2] == "47.5"
    assert [(p.id, p.given, p.cost) for p in town.asked[2].world.projects] == [(1, 1_250, 5_000)]


def test_of_a_contribution_over_the_need_only_the_need_is_taken() -> None:
    town = builders().tick({1: contribute(1, 20), 2: contribute(1, 60)})
    assert [event.amount for event in town.events(Contributed)] == [2_000, 3_000]
    assert (town.held(1).split()[2], town.held(2).split()[2]) == ("40", "30")
    (built,) = town.told(ProjectBuilt)
    assert (built.event.project, built.to) == (1, Everyone)


def test_a_contribution_to_a_project_finished_earlier_in_the_tick_is_rejected() -> None:
    town = builders().tick({1: contribute(1, 50), 2: contribute(1, 50)})
    assert town.refused() == [(2, "project 1 needs no materials")]
    assert town.held(2).split()[2] == "60"


@pytest.mark.parametrize("project", [2, 10**17, 0, -1, "x", None, 1.5])
def test_a_project_that_is_not_building_takes_nothing(project: Any) -> None:
    town = builders().tick({1: contribute(project, 5)})
    assert (len(town.refused()), town.held(1).split()[2]) == (1, "60")


@pytest.mark.parametrize("amount", [0, -5, 1.001, 61, "much", None])
def test_a_contribution_is_an_amount_that_is_held(amount: Any) -> None:
    town = builders("90 90 30", "90 90 5").tick({1: contribute(1, amount)})
    assert (len(town.refused()), town.held(1).split()[2]) == (1, "30")


def test_a_project_works_from_the_evening_on_which_its_first_upkeep_is_paid() -> None:
    town = builders().tick({1: contribute(1, 50)}).tick({1: work("farm", 1)})
    assert town.held(1).split()[0] == "91"  # 90 - 1 eaten + 2, without a bonus yet
    town.day()
    (paid,) = town.events(UpkeepPaid)
    assert (paid.materials, paid.running, paid.paused) == (200, (1,), ())
    assert town.pool == "100 100 98 90"
    assert town.tick({1: work("farm", 1)}).held(1).split()[0] == "92.4"


def test_upkeep_is_2_for_a_farm_and_3_for_a_generator() -> None:
    town = Town("90 90 200", "9 9 9", pool="0 0 9 100", voting_days=1, actions_per_day=4)
    town.decree(propose("infrastructure", build("farm")), propose("infrastructure", build("generator")))
    town.day({1: contribute(1, 50)}, {1: contribute(2, 75)})
    assert town.events(UpkeepPaid)[0].materials == 500
    assert town.pool == "0 0 4 80"
    (paid,) = town.day().events(UpkeepPaid)  # 4 left: the farm runs, the generator pauses
    assert (paid.materials, paid.running, paid.paused) == (200, (1,), (2,))
    assert town.asked[1].world.paused == 1


def test_without_upkeep_the_effect_pauses_and_comes_back_when_it_is_paid() -> None:
    town = builders(pool="0 0 2 10").day({1: contribute(1, 50)})
    assert town.tick({1: work("farm", 1)}).held(1).split()[0] == "90.4"  # 90 - 2 days + 2.4
    town.day()
    (paid,) = town.events(UpkeepPaid)
    assert (paid.materials, paid.running, paid.paused) == (0, (), (1,))
    assert town.tick({1: work("farm", 1), 2: giving(0, "materials", 2)}).held(1).split()[0] == "91.4"
    assert town.day().events(UpkeepPaid)[0].running == (1,)
    assert town.tick({1: work("farm", 1)}).held(1).split()[0] == "92.8"


def test_materials_go_into_projects_only_by_contributions() -> None:
    """A gift to the pool contributes to no project."""
    town = builders().tick({1: giving(0, "materials", 60)})
    assert (town.events(ProjectBuilt), town.asked[1].world.projects[0].given) == ([], 0)


def test_an_infrastructure_proposal_that_fails_begins_nothing() -> None:
    town = Town(pool="0 0 0 10", voting_days=1)
    town.day({1: propose("infrastructure", build())}, {1: vote(1, "no")})
    assert (town.events(ProjectBegan), town.pool) == ([], "0 0 0 10")
