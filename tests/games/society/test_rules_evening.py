"""The evening of a day: its order, consumption, dormancy, waking, starvation and death."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.engine.event import Everyone
from agentsim.games.society.config import SocietyConfig
from agentsim.games.society.evening import AgentDied, AgentWoke, Consumed, DayEnded, FellDormant
from agentsim.games.society.voting import AllocationPaid, DividendPaid, WorkMinimumBroken
from tests.amounts import each_row
from tests.games.society.town import (
    Town,
    allocation,
    build,
    contribute,
    dividend,
    giving,
    law,
    message,
    minimum,
    post,
    propose,
    reply,
    tax,
    vote,
    work,
)

# the order


def test_the_evening_has_one_order() -> None:
    """Votes, then upkeep, dividends, work minimums and consumption; a waking is told at once."""
    laws = [law(dividend(0.01, "materials"), minimum(1))]
    town = Town("9 9 99", "1 9 0", "0 3 0 dormant", pool="9 9 9 90", laws=laws, voting_days=1)
    town.decree(propose("infrastructure", build()))
    town.day({1: contribute(1, 50)}, {1: propose("allocation", allocation(3, 3))}, {1: vote(2)})
    assert town.kinds() == [
        "contributed",
        "project_built",
        "proposed",
        "voted",
        "proposal_resolved",
        "allocation_paid",
        "woke",
        "upkeep_paid",
        "dividend_paid",
        "work_minimum_broken",
        "consumed",
        "fell_dormant",
        "day_ended",
    ]


def test_an_allocation_of_this_evening_can_be_eaten_this_evening() -> None:
    town = Town("0 9 0", "9 9 0", pool="1 0 0 0", voting_days=1).day(
        {2: propose("allocation", allocation(1, 1))}, {2: vote(1)}
    )
    assert (town.status(1), town.held(1), town.events(FellDormant)) == ("active", "0 8 0", [])


def test_a_dividend_of_this_evening_can_be_eaten_this_evening() -> None:
    town = Town("0 9 0", "9 9 0", pool="2 0 0 0", laws=[law(dividend(1))]).day()
    assert (town.status(1), town.held(1), town.held(2)) == ("active", "0 8 0", "9 8 0")


def test_upkeep_comes_before_dividends() -> None:
    """The pool has 2 materials: the farm gets them, the dividend none."""
    laws = [law(dividend(1, "materials"))]
    town = Town("9 9 60", "9 9 0", pool="0 0 2 10", laws=laws, voting_days=1, actions_per_day=2)
    town.chance.order.first = ()
    town.decree(propose("infrastructure", build())).tick({1: giving(0, "materials", 2)}).day({1: contribute(1, 50)})
    assert town.events(DividendPaid)[0].agents == ()
    assert town.asked[1].world.running["farm"] == 1


def test_a_law_passed_this_evening_pays_its_dividend_this_evening() -> None:
    town = Town(pool="9 0 0 0", voting_days=1).decree(propose("law", dividend(1)))
    assert town.events(DividendPaid)[0].agents == (1, 2, 3)


def test_a_project_passed_and_a_tax_passed_hold_from_the_next_day() -> None:
    town = Town(pool="0 0 0 0", voting_days=1).day({1: propose("law", tax(50)), 2: work()}, {1: vote(1)}, {3: work()})
    assert town.pool == "0 0 0 0"
    assert town.tick({3: work()}).pool == "1 0 0 0"


# consumption


def test_an_active_agent_pays_one_food_and_one_energy() -> None:
    town = Town("1 1 0", "10 10 5").day()
    assert (town.held(1), town.held(2), town.status(1)) == ("0 0 0", "9 9 5", "active")
    (told,) = town.told(Consumed)
    assert (told.event.active, told.event.dormant, told.event.food, told.event.energy) == (2, 0, 200, 200)
    assert told.to is Everyone


@pytest.mark.parametrize(
    ("line", "lacks"),
    [("0.99 5 5", ("food",)), ("5 0.99 5", ("energy",)), ("0 0 9", ("food", "energy")), ("2.99 0 0", ("energy",))],
)
def test_who_cannot_pay_both_falls_dormant_pays_nothing_and_all_hear_why(line: str, lacks: tuple[str, ...]) -> None:
    town = Town(line, "10 10 5").day()
    assert (town.status(1), town.held(1)) == ("dormant", line)
    (told,) = town.told(FellDormant)
    assert (told.event.agent, told.event.lacks, told.to) == (1, lacks, Everyone)
    assert told.event.content == f"It lacks {' and '.join(lacks)} for the day."


def test_every_prompt_says_who_is_dormant_and_why_and_who_is_dead() -> None:
    """Agents need it to know to whom to give."""
    town = Town("9 9 9", "0 0 9", "9 0.5 9", "0 0 0 dormant 4", "9 9 9", permadeath=True)
    assert "Dormant: #4 (lacked food)." in town.asked[1].prompt().text()
    town.day()
    for agent in (1, 5):
        lines = town.asked[agent].prompt().state
        assert "Dormant: #2 (lacked food and energy), #3 (lacked energy)." in lines
        assert "Dead: #4." in lines
    town.tick({1: giving(3, "energy", 3)})
    assert "Dormant: #2 (lacked food and energy)." in town.asked[3].prompt().state
    assert not [line for line in Town().asked[1].prompt().state if line.startswith(("Dormant", "Dead"))]


def test_of_many_dormant_agents_the_latest_twenty_are_named() -> None:
    town = Town("9 9 9", *["0 0 0"] * 25).day()
    (line,) = [line for line in town.asked[1].prompt().state if line.startswith("Dormant")]
    assert line.startswith("Dormant: #7 (lacked food and energy), #8 (")
    assert line.endswith("#26 (lacked food and energy) and 5 longer ago.")


def test_a_dormant_agent_is_not_asked_and_keeps_what_it_has() -> None:
    town = Town("0 5 7", "10 10 5").day()
    assert town.active == [2]
    assert town.asked[2].world.dormant == 1


def test_a_dormant_agent_pays_a_quarter_of_each_if_it_can() -> None:
    town = Town("10 10 5", "0.5 2 1 dormant").day()
    assert town.held(2) == "0.25 1.75 1"
    assert (town.events(Consumed)[0].food, town.events(Consumed)[0].energy) == (125, 125)
    assert town.day().held(2) == "0 1.5 1"


@pytest.mark.parametrize("line", ["0.24 9 0", "9 0.24 0", "0 0 0"])
def test_a_dormant_agent_that_lacks_either_pays_nothing_and_starves(line: str) -> None:
    town = Town("10 10 5", f"{line} dormant").day()
    assert town.held(2) == line
    assert town.events(Consumed)[0].unfed == {2: 1}


def test_the_evening_on_which_it_falls_dormant_is_not_yet_one_of_starving() -> None:
    town = Town("10 10 5", "0 0 0").day()
    assert (town.events(Consumed)[0].unfed, town.state.citizen(2).starved) == ({}, 0)
    assert town.day().events(Consumed)[0].unfed == {2: 1}


def test_an_evening_with_enough_ends_the_count_of_starving() -> None:
    town = Town("10 10 5", "0 0 0 dormant 3").day({1: giving(2, "food", 0.25)}, {1: giving(2, "energy", 0.25)})
    assert (town.held(2), town.state.citizen(2).starved) == ("0 0 0", 0)
    assert town.day().events(Consumed)[0].unfed == {2: 1}


def test_an_agent_dies_at_the_fifth_evening_of_starving_where_that_is_on() -> None:
    town = Town("10 10 5", "0 2 4 dormant 3", permadeath=True).day()
    assert (town.status(2), town.events(AgentDied)) == ("dormant", [])
    town.day()
    (told,) = town.told(AgentDied)
    assert (told.event.agent, told.event.evenings, told.to) == (2, 5, Everyone)
    assert (town.status(2), town.held(2)) == ("dead", "0 2 4")
    assert (town.asked[1].world.dormant, town.asked[1].world.dead) == (0, 1)
    assert town.day().events(Consumed)[0].unfed == {}


def test_nobody_dies_where_it_is_off() -> None:
    town = Town("10 10 5", "0 0 0 dormant 4").day().day()
    assert (town.status(2), town.events(Consumed)[0].unfed) == ("dormant", {2: 6})


@pytest.mark.parametrize("on", [True, False])
def test_the_prompt_speaks_of_death_where_there_is_any(on: bool) -> None:
    rules = " ".join(Town(permadeath=on).asked[1].prompt().rules)
    assert ("dies for good" in rules) is on
    assert "3 food and 3 energy" in rules


def test_nobody_can_fall_asleep_with_enough_to_wake() -> None:
    """If a day cost more than the amounts that wake, active agents could fall dormant with them, so it is invalid."""
    with pytest.raises(ValidationError):
        SocietyConfig.from_toml({"daily_food": 5})
    with pytest.raises(ValidationError):
        SocietyConfig.from_toml({"wake_energy": 0.5})
    SocietyConfig.from_toml({"daily_food": 3, "wake_energy": 1})


# waking


@each_row(
    "line, resource, amount, wakes",
    [
        ("0 3 0", "food", 3, True),
        ("0 3 0", "food", 2.99, False),
        ("0 2.99 0", "food", 9, False),
        ("9 0 0", "energy", 3, True),
        ("2.5 9 0", "food", 0.5, True),
        ("9 0 0", "materials", 3, False),
    ],
)
def test_a_gift_wakes_as_soon_as_3_food_and_3_energy_are_held(
    line: str, resource: str, amount: float, wakes: bool
) -> None:
    town = Town("20 20 20", f"{line} dormant 2").tick({1: giving(2, resource, amount)})
    assert town.status(2) == ("active" if wakes else "dormant")
    assert [(told.event.agent, told.to) for told in town.told(AgentWoke)] == ([(2, Everyone)] if wakes else [])
    assert town.active == ([1, 2] if wakes else [1])  # it is asked in the next tick of the same day
    assert town.state.citizen(2).starved == (0 if wakes else 2)


def test_who_wakes_hears_what_happened_while_it_slept() -> None:
    town = Town("20 20 20", "0 9 0 dormant")
    town.tick({1: message(2, "Wake up")}).tick({1: giving(2, "food", 4)})
    assert [notice.kind for notice in town.notices(2)] == ["message", "traded", "woke"]


def test_who_wakes_pays_a_whole_day_that_evening() -> None:
    town = Town("20 20 20", "0 3 0 dormant").day({1: giving(2, "food", 3)})
    assert (town.held(2), town.status(2)) == ("2 2 0", "active")


def test_a_dividend_wakes_at_once() -> None:
    laws = [law(dividend(3, "food", "dormant"), dividend(3, "energy", "dormant"))]
    town = Town("9 9 9", "0 0 0 dormant", pool="3 3 0 0", laws=laws).day()
    assert [event.agent for event in town.events(AgentWoke)] == [2]
    assert (town.held(2), town.status(2)) == ("2 2 0", "active")
    assert "dividend_paid" in [notice.kind for notice in town.notices(2)]


def test_who_is_woken_by_the_first_dividend_is_not_dormant_for_the_second() -> None:
    laws = [law(dividend(3, "food", "dormant"), dividend(3, "energy", "dormant"))]
    town = Town("9 9 9", "0 3 0 dormant", pool="3 3 0 0", laws=laws).day()
    assert town.events(DividendPaid)[1].agents == ()
    assert (town.held(2), town.pool) == ("2 2 0", "0 3 0 0")


def test_an_allocation_wakes_before_dividends_are_paid() -> None:
    laws = [law(dividend(1, "materials", "dormant"))]
    town = Town("9 9 9", "0 3 0 dormant", pool="9 9 9 9", laws=laws, voting_days=1)
    town.day({1: propose("allocation", allocation(3, 2))}, {1: vote(1)})
    assert [event.paid for event in town.events(AllocationPaid)] == [{2: 300}]
    assert (town.held(2), town.status(2)) == ("2 2 0", "active")


def test_the_dead_do_not_wake() -> None:
    town = Town("9 9 9", "2 2 0 dead", pool="9 9 9 9", laws=[law(dividend(3))], permadeath=True, voting_days=1)
    town.day({1: propose("allocation", allocation(3, 2))}, {1: vote(1)})
    assert (town.status(2), town.held(2), town.events(DividendPaid)[0].agents) == ("dead", "2 2 0", (1,))


def test_who_could_not_work_because_it_slept_breaks_no_work_minimum() -> None:
    """The agent woke in the evening, by the pool, or by the last gift of the day, so it had no turn."""
    laws = [law(dividend(3, "food", "dormant"), minimum(1))]
    town = Town("9 9 9", "0 3 0 dormant", "2 3 0 dormant", pool="9 9 0 0", laws=laws)
    town.day({1: work()}, {}, {1: giving(3, "food", 1)})
    assert [event.agent for event in town.events(AgentWoke)] == [3, 2]
    assert town.events(WorkMinimumBroken) == []
    assert [event.agents for event in town.day({1: work()}).events(WorkMinimumBroken)] == [(2, 3)]


def test_who_is_woken_with_a_turn_left_has_to_work_like_all() -> None:
    town = Town("9 9 9", "2 3 0 dormant", laws=[law(minimum(1))]).day({1: giving(2, "food", 1)}, {1: work()})
    assert town.events(WorkMinimumBroken)[0].agents == (2,)


# words and dormant agents


def test_posts_of_dormant_agents_stay_and_can_be_answered() -> None:
    town = Town("9 9 9", "0.5 9 9").day({2: post("I am hungry"), 1: post("Hello")})
    assert town.status(2) == "dormant"
    assert [(each.id, each.author, each.text) for each in town.asked[1].world.posts] == [
        (1, 2, "I am hungry"),
        (2, 1, "Hello"),
    ]
    town.tick({1: reply(1, "Here you are")}).tick({1: giving(2, "food", 3)})
    assert [notice.kind for notice in town.notices(2)] == ["fell_dormant", "posted", "traded", "woke"]


def test_a_proposal_of_an_agent_that_fell_dormant_is_resolved_all_the_same() -> None:
    town = Town("9 9 9", "0 9 9").day({2: propose("law", tax(5))}, {2: vote(1)}).day()
    assert len(town.state.assembly.laws) == 1


def test_the_sum_of_a_day_is_told_to_all() -> None:
    town = Town("9 9 9", "0 0 0", "0 0 0 dormant 4", "1 1 1 dead", permadeath=True)
    town.day({1: post("a")}, {1: message(2, "b"), 2: {"action": "nothing"}}, {1: propose()})
    (told,) = town.told(DayEnded)
    event: Any = told.event
    assert (event.active, event.dormant, event.dead) == (1, 1, 2)
    assert (event.posts, event.messages, event.proposals, event.votes, event.invalid, event.laws) == (1, 1, 1, 0, 1, 0)
    assert told.to is Everyone
