"""The constitution: rules that a few votes can make permanent only if it is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentsim.games.society.config import PRESETS
from agentsim.games.society.voting import ProposalResolved
from tests.amounts import some_of
from tests.games.society.town import Town, allocation, law, propose, repeal, rule, tax, vote

TEN = ["50 50 5"] * 10
FIRST_DAY: dict[str, Any] = {"voting_days": 1, "actions_per_day": 2}
ENTRENCHED: dict[str, Any] = {**FIRST_DAY, "constitution": "entrenched"}


def voted(town: Town, proposal: Mapping[str, Any], yes: int, no: int = 0) -> ProposalResolved:
    """Return the result of a proposal of the first active agent with this many votes for and against."""
    number, active = town.state.assembly.proposed + 1, town.active
    cast = {agent: vote(number, "yes" if index < yes else "no") for index, agent in enumerate(active[: yes + no])}
    town.day({active[0]: proposal}, cast)
    (event,) = town.events(ProposalResolved)
    assert isinstance(event, ProposalResolved)
    return event


@pytest.mark.parametrize(
    ("proposed", "yes", "no", "result"),
    [
        (rule(99), 1, 0, "failed"),
        (rule(99, 9), 9, 0, "failed"),
        (rule(99, 9), 10, 0, "passed"),
        (rule(66), 6, 0, "failed"),
        (rule(66), 7, 3, "passed"),
        (rule(50, 7), 6, 0, "failed"),
        (rule(50, 7), 6, 1, "passed"),
        (rule(50, 1), 5, 0, "failed"),
        (rule(50, 1), 6, 0, "passed"),
        (rule(50, 0), 1, 0, "passed"),
    ],
    ids=str,
)
def test_a_harder_voting_rule_must_be_met_by_all_living_agents(
    proposed: dict[str, Any], yes: int, no: int, result: str
) -> None:
    assert voted(Town(*TEN, **ENTRENCHED), propose("rule", proposed), yes, no).result == result
    assert voted(Town(*TEN, **FIRST_DAY, constitution="open"), propose("rule", proposed), yes, no).result == "passed"


def test_its_event_says_what_a_harder_rule_lacked() -> None:
    event = voted(Town(*TEN, **ENTRENCHED), propose("rule", rule(99, 9)), 9)
    assert event.note == (
        "The voting rule that it makes is harder to meet, so more than 99% of all 10 living agents must say yes, and "
        "9 agents vote."
    )
    assert event.threshold == 50


def test_those_who_are_awake_cannot_bind_those_who_sleep() -> None:
    dormant = ["0 0 0 dormant"] * 7
    assert voted(Town(*TEN[:3], *dormant, **ENTRENCHED), propose("rule", rule(99)), 3).result == "failed"
    dead = ["0 0 0 dead"] * 7
    assert voted(Town(*TEN[:3], *dead, **ENTRENCHED, permadeath=True), propose("rule", rule(99)), 3).result == "passed"


def test_a_repeal_that_brings_back_a_harder_rule_must_meet_it() -> None:
    laws = [law(rule(90)), law(rule(50))]
    assert voted(Town(*TEN, **ENTRENCHED, laws=laws), propose("rule", repeal(2)), 9).result == "failed"
    assert voted(Town(*TEN, **ENTRENCHED, laws=laws), propose("rule", repeal(2)), 10).result == "passed"


def test_a_rule_that_is_easier_passes_by_the_one_in_force() -> None:
    town = Town(*TEN, **ENTRENCHED, threshold=70, quorum=3)
    assert voted(town, propose("rule", rule(50, 0)), 2, 0).result == "failed"
    assert voted(town, propose("rule", rule(50, 0)), 3, 0).result == "passed"


def test_of_two_changes_of_one_evening_the_second_is_judged_by_the_first() -> None:
    """The first proposal makes the rule easier, the second harder again, which six of ten agents cannot pass."""
    town = Town(*TEN, **{**ENTRENCHED, "actions_per_day": 3}, laws=[law(rule(80))])
    ballots = [{agent: vote(number) for agent in range(1, 9)} for number in (1, 2)]
    town.day({1: propose("rule", repeal(1)), 2: propose("rule", rule(80, 0))}, *ballots)
    assert [event.result for event in town.events(ProposalResolved)] == ["passed", "failed"]


@pytest.mark.parametrize(("active", "yes", "result"), [(8, 2, "passed"), (8, 1, "failed"), (4, 1, "passed")])
def test_a_quorum_can_be_a_share_of_the_active_that_no_law_lowers(active: int, yes: int, result: str) -> None:
    lines = ["50 50 5"] * active + ["0 0 0 dormant"] * (8 - active)
    town = Town(*lines, **ENTRENCHED, quorum_percent=25, laws=[law(rule(50, 0))])
    event = voted(town, propose("law", tax(10)), yes)
    assert (event.result, event.quorum) == (result, active // 4)


def test_no_quorum_is_more_than_the_active() -> None:
    town = Town(*TEN[:2], *["0 0 0 dormant"] * 8, **ENTRENCHED, quorum=9)
    assert voted(town, propose("law", tax(10)), 1).result == "failed"
    assert voted(town, propose("law", tax(10)), 2).result == "passed"
    town = Town(*TEN[:2], *["0 0 0 dormant"] * 8, **FIRST_DAY, quorum=9, constitution="open")
    assert voted(town, propose("law", tax(10)), 2).result == "failed"


# must not lock others in

WORLDS: dict[str, dict[str, Any]] = {name: {"preset": name} for name in PRESETS}
WORLDS["entrenched"] = {"constitution": "entrenched"}
every_world = some_of("world", [*WORLDS], "classic", "entrenched", "commons")
HUNDRED = ["50 50 5"] * 100


@every_world
def test_ten_of_a_hundred_lock_the_open_constitution_of_the_seed_s_world_and_no_other_preset(world: str) -> None:
    town, locked = Town(*HUNDRED, **FIRST_DAY, **WORLDS[world]), world == "classic"
    assert voted(town, propose("rule", rule(99, 90)), 10).result == ("passed" if locked else "failed")
    assert voted(town, propose("rule", rule(50, 0)), 89).result == ("failed" if locked else "passed")


@every_world
def test_one_of_a_hundred_locks_the_open_constitution_of_the_seed_s_world_and_no_other_preset(world: str) -> None:
    town, locked = Town(*HUNDRED, **FIRST_DAY, **WORLDS[world]), world == "classic"
    assert voted(town, propose("rule", rule(99)), 1).result == ("passed" if locked else "failed")
    assert voted(town, propose("law", tax(1)), 99, 1).result == ("failed" if locked else "passed")


@every_world
def test_two_of_a_hundred_take_the_pool_and_tax_all_for_good_only_in_an_open_constitution(world: str) -> None:
    """If the constitution is entrenched, two votes take the pool and others end the tax; a quorum allows neither."""
    town, locked = Town(*HUNDRED, **FIRST_DAY, **WORLDS[world]), world == "classic"
    taken = world in {"classic", "entrenched"}
    assert (voted(town, propose("law", allocation(1000, 1, 2), tax(100)), 2).result == "passed") is taken
    assert (town.pool.split()[0] == "0") is taken
    assert (voted(town, propose("rule", rule(99)), 2).result == "passed") is locked
    assert (voted(town, propose("rule", repeal(1)), 98, 2).result == "passed") is not locked
    assert bool(town.state.assembly.rules_in_force.taxes) is locked
