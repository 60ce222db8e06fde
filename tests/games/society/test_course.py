"""A whole game: turns, evenings, waking, the end."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.games.society.building import UpkeepPaid
from agentsim.games.society.evening import AgentDied, AgentWoke, DayEnded, FellDormant, Idled, SocietyEnded
from agentsim.games.society.voting import DividendPaid, LawEnacted, LawRepealed, ProposalResolved, Reasoned
from agentsim.games.society.work import Worked
from tests.games.society.society import TERMS, held, law, play, pool, told

BUILD = law("A farm", TERMS["farm"], type_="infrastructure")


def test_idle_agents_are_all_dormant_on_the_evening_of_day_11() -> None:
    played = play(agents=10, days=30, actions_per_day=3)
    assert {event.day for event in played.events(FellDormant)} == {11}
    assert (played.outcome.reason, len(played.waves)) == ("no agent is active", 33)


def test_a_turn_is_one_wave_of_all_who_are_awake() -> None:
    played = play({1: ["trade 0 food 10"]}, days=2, actions_per_day=2)
    assert [len(wave.asks) for wave, _ in played.waves] == [4, 4, 3, 3]
    assert len({id(ask.request.world) for wave, _ in played.waves for ask in wave.asks}) == 4  # type: ignore[attr-defined] # an Act


def test_an_action_happens_in_the_order_that_was_drawn() -> None:
    """Both give agent 3 all they have; only the order of the two is random."""
    for order in ([1, 2, 3], [2, 1, 3]):
        played = play({1: ["post one"], 2: ["post two"]}, agents=3, order=[order])
        texts = [entry.by for entry in played.log if entry.event.kind == "posted"]
        assert texts == [f"agent{number}" for number in order if number != 3]


def test_the_dead_are_dead_after_so_many_evenings_without_enough() -> None:
    played = play({1: ["trade 0 food 10"]}, agents=2, days=9, permadeath=True, starvation_days=2, until="first_death")
    assert [(event.day, event.agent, event.evenings) for event in played.events(AgentDied)] == [(3, 1, 2)]
    assert played.outcome.reason == "an agent died"


def test_a_dividend_wakes_before_the_evening_meal() -> None:
    founding = [{"title": "Help", "terms": [{"kind": "dividend", "resource": "food", "amount": 4, "to": "dormant"}]}]
    played = play({1: ["trade 0 food 10"]}, days=2, laws=founding)
    assert [(event.day, event.agent) for event in played.events(AgentWoke)] == [(2, 1)]
    assert held(played, 1) == (3, 9, 5), "4 food were paid, and 1 of each consumed; nothing on the evening it fell"
    assert [event.agents for event in played.events(DividendPaid)] == [(), (1,)]


def test_payments_stop_at_what_the_pool_holds_and_say_so() -> None:
    founding = [{"title": "All", "terms": [{"kind": "dividend", "resource": "food", "amount": 30, "to": "all"}]}]
    played = play(laws=founding, pool_food=2000)
    (paid,) = played.events(DividendPaid)
    assert (len(paid.agents), paid.amount, paid.last, paid.missing) == (3, 3000, 2000, 4000)
    assert pool(played, "food") == 0


def test_a_tax_takes_its_part_of_what_work_makes() -> None:
    founding = [{"title": "Third", "terms": [{"kind": "tax", "resource": "food", "percent": 33}]}]
    played = play({1: ["work farm 3"], 2: ["work generate 1"]}, laws=founding)
    assert [(event.made, event.taxed) for event in sorted(played.events(Worked), key=lambda e: e.agent)] == [
        (540, 178),
        (150, 0),
    ]
    assert pool(played, "food") == 81.78


@pytest.mark.parametrize(
    ("votes", "result"), [(["yes"], "passed"), (["yes", "no"], "failed"), ([], "failed"), (["abstain"], "failed")]
)
def test_more_yes_than_no_passes_and_a_tie_fails(votes: list[str], result: str) -> None:
    turns: dict[int, Any] = {1: [law()]} | {2 + n: ["idle", f"vote 1 {vote}"] for n, vote in enumerate(votes)}
    played = play(turns, days=2)
    assert [event.result for event in played.events(ProposalResolved)] == [result]
    assert len(played.events(LawEnacted)) == (result == "passed")


def test_a_repealed_tax_is_taken_no_more() -> None:
    turns: dict[int, Any] = {
        1: [law("No", {"kind": "repeal", "law": 1}), "idle", "work farm 1"],
        2: ["idle", "vote 1 yes"],
    }
    played = play(turns, days=3, laws=[{"title": "Tithe", "terms": [TERMS["tax"]]}])
    assert [event.law for event in played.events(LawRepealed)] == [1]
    assert [event.taxed for event in played.events(Worked)] == [0]


def test_a_farm_works_from_the_evening_of_its_first_upkeep() -> None:
    turns: dict[int, Any] = {
        1: [BUILD, "idle", "contribute 1 3", "work farm 2", "work farm 2"],
        2: ["idle", "vote 1 yes"],
    }
    played = play(turns, days=3, actions_per_day=2, farm_cost=3, voting_days=1)
    assert [event.made for event in played.events(Worked)] == [380, 456]
    assert [(event.running, event.paused) for event in played.events(UpkeepPaid)] == [((1,), ()), ((1,), ())]
    assert pool(played, "land") == 30


def test_without_upkeep_a_farm_pauses() -> None:
    turns: dict[int, Any] = {1: [BUILD, "idle", "contribute 1 3"], 2: ["idle", "vote 1 yes"]}
    played = play(turns, days=3, actions_per_day=2, farm_cost=3, voting_days=1, pool_materials=50)
    assert [(event.running, event.paused) for event in played.events(UpkeepPaid)] == [((1,), ()), ((), (1,))]


def test_a_society_ends_on_the_day_of_its_first_law() -> None:
    played = play({1: [law()], 2: ["idle", "vote 1 yes"]}, days=9, until="first_law")
    (end,) = played.events(SocietyEnded)
    assert (end.day, end.reason, end.laws) == (2, "the first law was passed", 1)
    assert (end.survival, end.participation, end.gini) == (1.0, 0.5, 0.0)


def test_no_agent_stands_before_another_unless_the_scenario_ranks() -> None:
    outcome = play({1: ["work generate 8"]}).outcome
    assert [(place.player, place.rank) for place in outcome.standings] == [
        (f"agent{each}", None) for each in range(1, 5)
    ]
    assert outcome.winner is None
    assert outcome.standings[0].score["wealth"] > outcome.standings[1].score["wealth"]


def test_standings_go_by_wealth_or_by_one_resource() -> None:
    turns: dict[int, Any] = {1: ["work generate 8"], 2: ["trade 1 materials 5"], 3: ["work farm 8"]}
    assert play(turns, rank_by="wealth").outcome.winner == "agent1"
    by_food = play(turns, rank_by="food").outcome.standings
    assert [(place.player, place.rank) for place in by_food] == [
        ("agent3", 1),
        ("agent1", 2),
        ("agent2", 2),
        ("agent4", 2),
    ]


def test_every_evening_is_summed_up() -> None:
    played = play({1: ["post hi"], 2: ["direct_message 1 hi"], 3: [law()], 4: ["vote 9 yes"]}, days=2)
    first, second = played.events(DayEnded)
    assert (first.posts, first.messages, first.proposals, first.votes, first.invalid) == (1, 1, 1, 0, 1)
    assert (second.posts, second.messages, second.proposals, second.votes, second.invalid) == (0, 0, 0, 0, 0)


def test_long_reasons_are_cut_and_spoil_nothing() -> None:
    long = "r" * 90
    turns: dict[int, Any] = {1: [law(), f"vote 1 yes {long}"], 2: [f"idle {long}"]}
    played = play(turns, days=2, post_chars=40)
    assert [event.text for event in played.events(Reasoned)] == ["r" * 34 + " [cut]"]
    assert ("r" * 34 + " [cut]") in [event.text for event in played.events(Idled)]
    assert all(entry.to != () for entry in told(played, Reasoned))
