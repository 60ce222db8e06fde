"""Terms: the effects of laws in force, payments of the pool and their limits, and founding laws."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from pydantic import ValidationError

from agentsim.engine.event import Everyone
from agentsim.engine.simulate import simulate
from agentsim.errors import ScenarioError
from agentsim.games.society import GAME
from agentsim.games.society.amounts import MOST, UNIT
from agentsim.games.society.config import SocietyConfig
from agentsim.games.society.voting import (
    AllocationPaid,
    DividendPaid,
    LawEnacted,
    LawRepealed,
    ProposalResolved,
    WorkMinimumBroken,
)
from tests.games.society.town import (
    Town,
    allocation,
    build,
    dividend,
    giving,
    law,
    minimum,
    propose,
    repeal,
    rule,
    tax,
    vote,
    work,
)

FOUR = ["10 10 5"] * 4

# dividends


def test_a_dividend_goes_to_every_living_agent_every_evening() -> None:
    lines = ["9 9 0", "9 9 0", "0 0 0 dormant", "0 0 0 dead"]
    town = Town(*lines, pool="10 0 0 0", laws=[law(dividend(1.5))], permadeath=True).day()
    (told,) = town.told(DividendPaid)
    assert (told.event.law, told.event.resource, told.event.amount, told.to) == (1, "food", 150, Everyone)
    assert (told.event.agents, told.event.last, told.event.missing) == ((1, 2, 3), 150, 0)
    assert town.pool == "5.5 0 0 0"
    assert [town.held(agent).split()[0] for agent in (1, 2, 3, 4)] == ["9.5", "9.5", "1.5", "0"]
    assert town.day().pool == "1 0 0 0"


def test_a_dividend_to_dormant_agents_goes_to_no_others() -> None:
    lines = ["9 9 0", "0 0 0 dormant", "0 0 0 dead"]
    town = Town(*lines, pool="0 10 0 0", laws=[law(dividend(0.2, "energy", "dormant"))], permadeath=True).day()
    assert (town.events(DividendPaid)[0].agents, town.pool) == ((2,), "0 9.8 0 0")


def test_a_dividend_that_the_pool_cannot_pay_stops_where_it_is_empty_and_says_so() -> None:
    town = Town(*FOUR, pool="2.5 0 0 0", laws=[law(dividend(1))]).day()
    (event,) = town.events(DividendPaid)
    assert (len(event.agents), event.last, event.missing) == (3, 50, 150)
    gains = sorted(Decimal(town.held(agent).split()[0]) - 9 for agent in (1, 2, 3, 4))
    assert gains == [Decimal(0), Decimal("0.5"), Decimal(1), Decimal(1)]
    assert town.pool == "0 0 0 0"
    assert "1.5 food could not be paid" in event.content


def test_who_comes_short_is_drawn_anew() -> None:
    town = Town(*["90 90 0"] * 4, pool="1 0 0 0", laws=[law(dividend(1))])
    lucky: set[int] = set()
    for _ in range(20):
        town.day({1: giving(0, "food", 1)})
        lucky.update(town.events(DividendPaid)[0].agents)
    assert lucky == {1, 2, 3, 4}


def test_a_dividend_of_an_empty_pool_pays_nobody_and_says_so() -> None:
    town = Town(*FOUR, pool="0 9 9 9", laws=[law(dividend(0.5))]).day()
    (event,) = town.events(DividendPaid)
    assert (event.agents, event.missing) == ((), 200)
    assert [town.held(agent) for agent in (1, 2, 3, 4)] == ["9 9 5"] * 4


def test_several_dividends_are_paid_one_after_the_other_the_oldest_law_first() -> None:
    laws = [law(dividend(1)), law(dividend(2), dividend(1, "energy"))]
    town = Town("9 9 0", "9 9 0", pool="4 9 0 0", laws=laws).day()
    assert [(event.law, event.resource, event.missing) for event in town.events(DividendPaid)] == [
        (1, "food", 0),
        (2, "food", 200),
        (2, "energy", 0),
    ]


def test_who_gets_a_dividend_is_told() -> None:
    town = Town(*FOUR, pool="9 0 0 0", laws=[law(dividend(1))]).day()
    assert ["Law 1 pays 1 food each to 4 agents" in notice.line for notice in town.notices(2)] == [True]


# allocations


def test_an_allocation_is_paid_once_to_each_named() -> None:
    town = Town(*FOUR, pool="10 0 0 0", voting_days=1).decree(propose("allocation", allocation(2.5, 3, 2)))
    (told,) = town.told(AllocationPaid)
    assert (told.event.proposal, told.event.paid, told.event.missing) == (1, {3: 250, 2: 250}, 0)
    assert told.to is Everyone
    assert (town.held(3), town.pool, town.events(ProposalResolved)[0].note) == ("11.5 9 5", "5 0 0 0", "")
    assert "allocation_paid" in [notice.kind for notice in town.notices(3)]
    assert town.day().pool == "5 0 0 0"


def test_an_allocation_is_paid_in_the_order_of_its_names_as_far_as_the_pool_goes() -> None:
    town = Town(*FOUR, pool="0 0 7 0", voting_days=1)
    town.decree(propose("allocation", allocation(4, 4, 2, 1, resource="materials")))
    (event,) = town.events(AllocationPaid)
    assert (event.paid, event.missing) == ({4: 400, 2: 300}, 500)
    assert "The pool lacked 5." in event.content
    assert town.events(ProposalResolved)[0].note == "The pool could not pay all of it."
    assert town.pool == "0 0 0 0"


def test_an_allocation_of_an_empty_pool_passes_and_pays_nothing() -> None:
    town = Town(*FOUR, pool="0 0 0 0", voting_days=1).decree(propose("allocation", allocation(4, 1)))
    assert (town.events(AllocationPaid)[0].paid, town.events(AllocationPaid)[0].missing) == ({}, 400)
    assert town.events(ProposalResolved)[0].result == "passed"


def test_nothing_is_allocated_to_the_dead_and_that_is_said() -> None:
    town = Town("9 9 9", "0 0 0 dead", "9 9 9", pool="9 0 0 0", permadeath=True, voting_days=1)
    town.decree(propose("allocation", allocation(2, 2, 3)))
    assert (town.events(AllocationPaid)[0].paid, town.held(2)) == ({3: 200}, "0 0 0")
    assert town.events(ProposalResolved)[0].note == "Agent #2 is dead."


def test_a_law_may_allocate_too_once() -> None:
    town = Town(*FOUR, pool="9 0 0 0", voting_days=1).decree(propose("law", allocation(1, 2), tax(10)))
    assert (town.pool, town.day().pool, len(town.state.assembly.laws)) == ("8 0 0 0", "8 0 0 0", 1)


# the work minimum


def test_a_work_minimum_is_shown_and_who_broke_it_is_named_and_counted() -> None:
    town = Town(*FOUR, laws=[law(minimum(3))], days=1)
    assert town.asked[1].world.rules_in_force.work_minimum == 3
    town.day({1: work("generate", 3), 2: work("generate", 2)}, {3: work("farm", 2)}, {3: work("gather", 1)})
    (told,) = town.told(WorkMinimumBroken)
    assert (told.event.law, told.event.hours, told.event.agents, told.to) == (1, 3, (2, 4), Everyone)
    results = {each.agent: each for each in town.play.log[-1].event.results}  # type: ignore[attr-defined] # the end
    assert [results[agent].breaches for agent in (1, 2, 3, 4)] == [0, 1, 0, 1]
    assert [results[agent].status for agent in (2, 4)] == ["active", "active"]


def test_where_all_worked_enough_nobody_is_named() -> None:
    town = Town("9 9 9", "9 9 9", laws=[law(minimum(1))]).day({1: work(), 2: work()})
    assert town.events(WorkMinimumBroken) == []


def test_dormant_agents_break_no_work_minimum() -> None:
    town = Town("9 9 9", "0 0 0 dormant", laws=[law(minimum(1))]).day({1: work()})
    assert town.events(WorkMinimumBroken) == []


def test_of_several_work_minimums_the_greatest_is_shown_and_each_is_counted() -> None:
    town = Town("9 9 9", "9 9 9", laws=[law(minimum(1)), law(minimum(2), minimum(4))])
    assert town.asked[1].world.rules_in_force.work_minimum == 4
    town.day({1: work("generate", 1)})
    assert [(event.law, event.hours, event.agents) for event in town.events(WorkMinimumBroken)] == [
        (1, 1, (2,)),
        (2, 4, (1, 2)),
    ]


# repeal


def test_a_repeal_ends_a_law_and_all_that_it_does() -> None:
    laws = [law(tax(50, "food"), dividend(1), minimum(8), rule(60, 2)), law(tax(10, "food"))]
    town = Town(*FOUR, pool="0 0 0 0", laws=laws, voting_days=1)
    town.day({1: propose("law", repeal(1), title="No more")}, {1: vote(1), 2: vote(1)})
    (told,) = town.told(LawRepealed)
    assert (told.event.law, told.event.proposal, told.to) == (1, 1, Everyone)
    assert list(town.state.assembly.laws) == [2], "a repeal is no law in force"
    assert (town.events(LawEnacted), town.state.assembly.passed) == ([], 0)
    left = town.asked[1].world.rules_in_force
    assert (dict(left.taxes), left.work_minimum, left.threshold, left.quorum) == ({"food": 10}, 0, 50, 0)
    assert [event.agents for event in town.events(DividendPaid)] == []  # it was repealed before
    assert town.tick({1: work()}).pool == "0.2 0 0 0"


def test_repealing_one_of_two_taxes_above_a_hundred_percent_leaves_the_other() -> None:
    town = Town(*FOUR, pool="0 0 0 0", laws=[law(tax(70)), law(tax(60))], voting_days=1)
    assert dict(town.asked[1].world.rules_in_force.taxes) == {"food": 100, "energy": 100, "materials": 100}
    town.decree(propose("rule", repeal(2)))
    assert town.tick({1: work()}).pool == "1.4 0 0 0"


@pytest.mark.parametrize(("number", "why"), [(9, "never there"), (1, "repealed on the same evening")])
def test_a_repeal_of_a_law_that_is_not_in_force_passes_and_says_so(number: int, why: str) -> None:
    town = Town(*FOUR, laws=[law(tax(10))], voting_days=1, actions_per_day=4)
    town.decree(propose("rule", repeal(1)), propose("rule", repeal(number)))
    first, second = town.events(ProposalResolved)
    assert (first.note, second.note) == ("", f"Law {number} was not in force."), why
    assert [(event.result, len(town.events(LawRepealed))) for event in (first, second)] == [("passed", 1)] * 2


def test_a_law_can_repeal_itself() -> None:
    town = Town(*FOUR, pool="0 0 0 0", voting_days=1).decree(propose("law", tax(10), repeal(1)))
    assert (len(town.events(LawEnacted)), len(town.events(LawRepealed)), town.state.assembly.laws) == (1, 1, {})
    assert town.asked[1].world.rules_in_force.taxes == {}


def test_numbers_of_laws_are_never_used_again() -> None:
    town = Town(*FOUR, laws=[law(tax(10))], voting_days=1).decree(propose("law", repeal(1)))
    town.decree(propose("law", tax(5)))
    assert list(town.state.assembly.laws) == [2]


# the voting rule


def test_a_voting_rule_holds_from_the_next_count_of_votes() -> None:
    """Both proposals are counted on one evening: the rule passes first and does not apply to the other."""
    town = Town(*FOUR, voting_days=1, constitution="open").day(
        {1: propose("rule", rule(75, 3)), 2: propose("law", tax(1))}, {1: vote(1), 2: vote(2)}
    )
    assert [(e.result, e.threshold, e.quorum) for e in town.events(ProposalResolved)] == [("passed", 50, 0)] * 2
    assert (town.asked[1].world.rules_in_force.threshold, town.asked[1].world.rules_in_force.quorum) == (75, 3)
    town.day({1: propose("law", tax(2))}, {1: vote(3), 2: vote(3)})
    (event,) = town.events(ProposalResolved)
    assert (event.result, event.threshold, event.quorum) == ("failed", 75, 3)


def test_a_voting_rule_binds_proposals_that_were_open_before_it() -> None:
    town = Town(*FOUR, voting_days=2, constitution="open").day({1: propose("rule", rule(50, 4))}, {1: vote(1)})
    town.day({1: propose("law", tax(2))}, {1: vote(2)})
    assert town.events(ProposalResolved)[0].result == "passed"
    assert town.day().events(ProposalResolved)[0].result == "failed"


def test_of_several_voting_rules_the_newest_holds_and_after_its_end_the_one_before() -> None:
    laws = [law(rule(60, 1)), law(rule(70, 0))]
    town = Town(*FOUR, laws=laws, voting_days=1, threshold=55, constitution="open")
    assert town.asked[1].world.rules_in_force.threshold == 70
    assert town.decree(propose("law", repeal(2))).asked[1].world.rules_in_force.threshold == 60
    assert town.decree(propose("law", repeal(1))).asked[1].world.rules_in_force.threshold == 55


# founding laws


def test_founding_laws_hold_from_the_first_day_and_are_nobodys() -> None:
    town = Town(*FOUR, laws=[law(tax(10), title="Ten"), law(title="Words")])
    shown = town.asked[1].world.laws
    assert [(each.id, each.day, each.author, each.title) for each in shown] == [(1, 0, 0, "Ten"), (2, 0, 0, "Words")]
    assert town.tick({1: work()}).pool == "2000.2 1000 500 1000"


@pytest.mark.parametrize("term", [build(), allocation(1, 1), repeal(1)], ids=lambda term: str(term["kind"]))
def test_founding_laws_do_nothing_once_so_they_cannot_say_that_they_do(term: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SocietyConfig.from_toml({"laws": [law(term)]})


@pytest.mark.parametrize("term", [minimum(9), rule(40, 0), tax(0), {"kind": "gift"}], ids=str)
def test_founding_laws_are_held_to_the_vocabulary(term: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SocietyConfig.from_toml({"laws": [law(term)]})


def test_a_founding_quorum_beyond_the_agents_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"game_config\.laws\.0\.terms"):
        GAME.admit(SocietyConfig.from_toml({"laws": [law(rule(50, 5))]}), ["a", "b"])


def test_a_quorum_beyond_the_agents_is_refused() -> None:
    """No proposal could ever pass."""
    with pytest.raises(ScenarioError):
        GAME.admit(SocietyConfig.from_toml({"quorum": 3}), ["a", "b"])
    GAME.admit(SocietyConfig.from_toml({"quorum": 2}), ["a", "b"])


def test_a_society_of_bots_with_every_term_from_the_first_day_is_played_through() -> None:
    laws = [law(tax(33), dividend(0.33)), law(dividend(1, "energy", "dormant"), minimum(2), rule(66, 2))]
    played = simulate(GAME, {"days": 6, "laws": laws}, [f"p{n}" for n in range(1, 13)], bot="random")
    assert played.outcome.reason


def test_what_the_greatest_dividend_leaves_unpaid_can_be_written_and_read_again() -> None:
    players = [f"agent{number}" for number in range(1, 1_101)]

    def paid(amount: float) -> DividendPaid:
        greatest = {"kind": "dividend", "resource": "food", "amount": amount, "to": "all"}
        config = {"days": 1, "actions_per_day": 1, "laws": [{"title": "All", "terms": [greatest]}]}
        (event,) = simulate(GAME, config, players, bot="idle").events(DividendPaid)
        assert isinstance(event, DividendPaid)
        return event

    event = paid(MOST // UNIT)
    assert event.missing > 10**12 * UNIT
    written = json.loads(json.dumps(event.data()))
    assert DividendPaid.restore(written, event.content) == event
    with pytest.raises(ValidationError, match="at most 1,000,000,000"):
        paid(MOST // UNIT + 0.01)
