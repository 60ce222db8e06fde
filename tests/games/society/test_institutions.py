"""Fines, suspended votes, exclusions, offices and groups: what each does, to whom, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.event import Everyone
from agentsim.games.society.groups import GroupMessage
from agentsim.games.society.laws import DividendPaid, FinePaid, LawEnacted, LawLapsed
from agentsim.games.society.offices import ElectionHeld, OfficePaid, Vetoed
from agentsim.games.society.voting import ProposalResolved
from tests.games.society.town import Town, dividend, law, message, minimum, propose, repeal, rule, tax, vote, work

FOUR = ["50 50 5"] * 4
DAY: dict[str, Any] = {"voting_days": 1, "actions_per_day": 2}


def fine(amount: Any, *agents: int, resource: str = "food", whom: str = "") -> dict[str, Any]:
    whom = whom or ("named" if agents else "work_minimum")
    return {"kind": "fine", "resource": resource, "amount": amount, "whom": whom, "agents": list(agents)}


def suspend(days: int, *agents: int) -> dict[str, Any]:
    return {"kind": "suspend_vote", "agents": list(agents), "days": days}


def exclude(days: int, *agents: int, what: str = "work", resource: str = "food") -> dict[str, Any]:
    return {"kind": "exclude", "agents": list(agents), "what": what, "resource": resource, "days": days}


def office(power: str = "allocate", amount: Any = 5, days: int = 2, title: str = "Purse") -> dict[str, Any]:
    return {
        "kind": "office",
        "title": title,
        "power": power,
        "amount": amount if power == "allocate" else 0,
        "days": days,
    }


def elect(agent: Any, number: Any = 1) -> dict[str, Any]:
    return {"action": "elect", "office_id": number, "candidate_agent_id": agent}


def paying(to: Any, amount: Any, resource: str = "food") -> dict[str, Any]:
    return {"action": "pay_out", "recipient_agent_id": to, "resource_type": resource, "amount": amount}


def veto(proposal: Any) -> dict[str, Any]:
    return {"action": "veto", "proposal_id": proposal, "reasoning": "No."}


def group(action: str, number: Any = 1, **more: Any) -> dict[str, Any]:
    return {"action": action, "group_id": number, **more}


def founding(name: str) -> dict[str, Any]:
    return {"action": "found_group", "group_name": name}


# what can be said


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (fine(2, whom="named"), 'a fine for "named" agents names 1 to 20 of them'),
        (fine(2, 1, whom="work_minimum"), "a fine for breaches of a work minimum names no agents"),
        (fine(2, 5), "there is no agent #5"),
        (fine(2, 1, 1), "a fine names every agent once"),
        (fine(0, 1), "terms.0.fine.amount: must be more than 0"),
        (suspend(0, 1), "greater than or equal to 1"),
        (suspend(31, 1), "less than or equal to 30"),
        (suspend(3), "at least 1 item"),
        (suspend(3, 1, 1), "a suspend_vote names every agent once"),
        (exclude(3, 9), "there is no agent #9"),
        (exclude(3, 1, what="talk"), "'work' or 'dividend'"),
        (office("allocate", 0), 'has an amount a day that is more than 0, one with "veto" has 0'),
        ({**office("veto"), "amount": 2}, 'has an amount a day that is more than 0, one with "veto" has 0'),
        (office("rule"), "'allocate' or 'veto'"),
        (office(title=""), "at least 1 character"),
    ],
    ids=str,
)
def test_bad_terms_are_rejected_with_the_reason_that_tells_what_is_valid(term: dict[str, Any], reason: str) -> None:
    ((_, said),) = Town(*FOUR).tick({1: propose("law", term)}).refused()
    assert reason in said


@pytest.mark.parametrize(
    "term", [fine(1, 1), suspend(1, 1), exclude(1, 1), office()], ids=lambda term: str(term["kind"])
)
def test_without_institutions_there_is_none_of_it(term: dict[str, Any]) -> None:
    """They are neither shown nor said, and an agent that says one is told what there is."""
    town = Town(*FOUR, institutions=False)
    schema, words = str(town.asked[1].schema()), town.asked[1].prompt().text()
    for name in (str(term["kind"]), "found_group", "pay_out", "veto", "elect"):
        assert f"'{name}'" not in schema
        assert f'"{name}"' not in words
    replies: dict[int, Any] = {1: propose("law", term), 2: founding("A"), 3: elect(1)}
    (_, first), *others = town.tick(replies).refused()
    assert "does not match any of the expected tags: 'tax', 'dividend'" in first
    assert term["kind"] not in first.partition("expected tags")[2]
    assert [why for _, why in others] == ["Unknown action: found_group", "Unknown action: elect"]


# fines


def test_a_fine_takes_from_the_named_what_they_hold_and_no_more() -> None:
    town = Town("50 50 5", "3 50 5", "50 50 5", "9 9 9 dead", **DAY, pool="0 0 0 0", permadeath=True)
    town.decree(propose("law", fine(2.5, 2, 3, 4)))
    ((told),) = town.told(FinePaid)
    assert (told.event.paid, told.event.lacking, told.to) == ({2: 100, 3: 250}, 150, Everyone)
    assert (town.held(2)[:2], town.pool) == ("1 ", "3.5 0 0 0")
    assert town.events(ProposalResolved)[0].note == "Agent #4 is dead."
    assert town.day().events(FinePaid) == [], "it is done once"


def test_a_fine_for_a_breach_is_paid_every_evening_by_who_broke_the_minimum_until_it_is_repealed() -> None:
    town = Town(
        *FOUR, **DAY, pool="0 0 0 0", laws=[law(minimum(2)), law(minimum(1)), law(fine(1.5, resource="materials"))]
    )
    town.day({1: work("farm", 2), 2: work("farm", 1)})
    assert town.events(FinePaid)[0].paid == {2: 150, 3: 150, 4: 150}
    assert (town.pool, town.state.yesterday and town.state.yesterday.fined) == ("0 0 4.5 0", {"materials": 450})
    town.day({1: propose("law", repeal(3))}, {1: vote(1)})
    assert (town.events(FinePaid), town.pool) == ([], "0 0 4.5 0"), "repealed first, and so not paid this evening"


@pytest.mark.parametrize(("constitution", "left"), [("entrenched", 3), ("open", 0)])
def test_a_fine_leaves_what_an_agent_consumes_until_it_can_be_repealed(constitution: str, left: int) -> None:
    """With voting days 2: this evening, the next one, and the one on which a repeal of tomorrow is counted."""
    town = Town(*["5 50 5"] * 3, **{**DAY, "voting_days": 2}, constitution=constitution)
    town.day({1: propose("law", fine(99, 1))}, {1: vote(1)}).day()
    assert town.events(FinePaid)[0].paid == {1: (4 - left) * 100}


def test_a_fine_is_for_breaches_of_laws_that_were_in_force_all_day() -> None:
    town = Town(*FOUR, **{**DAY, "actions_per_day": 3})
    town.day({1: propose("law", minimum(2)), 2: propose("law", fine(1))}, {1: vote(1)}, {1: vote(2)})
    assert town.events(FinePaid) == []
    assert town.day().events(FinePaid)[0].paid == {1: 100, 2: 100, 3: 100, 4: 100}


# suspended votes


def test_a_suspended_agent_votes_again_when_its_days_are_over() -> None:
    town = Town(*FOUR, **DAY).decree(propose("law", suspend(2, 2)))
    for day in (2, 3):
        town.day({1: propose("law", tax(day))}, {2: vote(day), 3: vote(day, "no")})
        assert town.refused() == [(2, "your vote is suspended until the evening of day 3")]
    assert [event.law for event in town.events(LawLapsed)] == [1]
    assert town.day({1: propose("law", tax(9))}, {2: vote(4)}).refused() == []


def test_a_suspended_agent_is_told_so_and_all_are() -> None:
    town = Town(*FOUR, **DAY).decree(propose("law", suspend(2, 2), title="Silence"))
    assert "Your vote is suspended until the evening of day 3." in town.asked[2].prompt().text()
    for agent in (1, 2):
        assert "3 who can vote on most" in town.asked[agent].prompt().text()
        assert '"until": "evening of day 3"' in town.asked[agent].prompt().text()
    assert town.events(LawEnacted)[0].content == "no vote: #2, for 2 days"


def test_votes_cast_before_a_suspension_count_and_a_quorum_is_of_those_who_can_vote() -> None:
    town = Town(*FOUR, **{**DAY, "voting_days": 2}, quorum_percent=50)
    town.day({1: propose("law", suspend(3, 2, 3)), 2: propose("law", tax(5))}, {1: vote(1), 2: vote(1)})
    town.day({2: vote(2)})
    (first, second) = town.events(ProposalResolved)
    assert (first.result, first.quorum) == ("passed", 2)
    assert (second.result, second.quorum, second.yes) == ("failed", 2, 1), (
        "both are counted by one evening's electorate"
    )
    town.day({1: propose("law", tax(6))}, {4: vote(3)}).day()
    assert [(event.result, event.quorum) for event in town.events(ProposalResolved)] == [("passed", 1)]


# exclusions


def test_excluded_agents_cannot_work_for_the_resource_until_their_days_are_over() -> None:
    town = Town(*FOUR, **DAY, laws=[law(exclude(1, 2), exclude(2, 3, resource="all"))])
    town.tick({1: work(), 2: work(), 3: work("gather", 1)})
    assert town.refused() == [
        (2, "a law excludes you from farm work until the evening of day 1"),
        (3, "a law excludes you from gather work until the evening of day 2"),
    ]
    assert "You are excluded from work for food until the evening of day 1." in town.asked[2].prompt().text()
    town.day({2: work("generate", 1)})
    assert (town.refused(), town.events(LawLapsed)) == ([], [])
    assert town.day({2: work(), 3: work()}).refused()[0][0] == 3
    assert len(town.events(LawLapsed)) == 1


def test_excluded_agents_get_no_dividends_and_others_get_theirs() -> None:
    laws = [
        law(dividend(1)),
        law(exclude(1, 2, what="dividend")),
        law(exclude(1, 3, what="dividend", resource="energy")),
    ]
    town = Town(*FOUR, **DAY, laws=laws).day()
    assert town.events(DividendPaid)[0].agents == (1, 3, 4)
    assert town.day().events(DividendPaid)[0].agents == (1, 2, 3, 4)


# offices


def test_an_office_is_held_from_the_day_after_the_election_for_its_days() -> None:
    town = Town(*FOUR, **DAY, laws=[law(office(days=2))])
    (told,) = town.day({1: elect(3), 2: elect(3), 4: elect(4)}, {2: elect(4), 1: elect(3)}).told(ElectionHeld)
    assert (told.event.ballots, told.event.tied, told.to) == ({3: 1, 4: 2}, (), Everyone)
    assert (told.event.agent, told.event.until) == (4, 3)
    assert "You hold office 1 and can still pay 5 today." in town.asked[4].prompt().text()
    assert '"holder": "#4"' in town.asked[1].prompt().text()
    assert town.day({1: elect(1)}).events(ElectionHeld) == []
    assert town.day().events(ElectionHeld)[0].agent == 1, "a ballot stands until the election"


def test_a_lot_decides_a_tie_and_without_votes_an_office_is_vacant() -> None:
    drawn = set()
    for luck in (2, 3):
        town = Town(*FOUR, **DAY, laws=[law(office(days=1))], chance={"elections": [luck]})
        (event,) = town.day({1: elect(3), 2: elect(2)}).events(ElectionHeld)
        assert event.tied == (2, 3)
        drawn.add(event.agent)
        (event,) = town.day().events(ElectionHeld)
        assert (event.agent, event.until, event.ballots) == (0, 0, {})
        assert town.day().events(ElectionHeld) == []
    assert drawn == {2, 3}


def test_a_holder_that_falls_dormant_makes_room_and_the_dormant_are_not_elected() -> None:
    town = Town("50 50 5", "1 1 0", "50 50 5", **DAY, laws=[law(office(days=9))], pool="0 0 0 0")
    assert town.day({1: elect(2), 3: elect(2)}).events(ElectionHeld)[0].agent == 2
    assert town.day({1: elect(3)}).status(2) == "dormant"
    assert town.day({3: elect(2)}).events(ElectionHeld)[0].agent == 3


def test_its_holder_pays_from_the_pool_up_to_its_amount_a_day_of_all_resources_together() -> None:
    town = Town(*FOUR, **DAY, laws=[law(office(amount=5, days=9))], pool="20 3 0 0").day({1: elect(2)})
    town.tick({2: paying(3, 4), 1: paying(1, 1)})
    (event,) = town.events(OfficePaid)
    assert (event.recipient, event.amount, event.left) == (3, 400, 100)
    assert town.refused() == [(1, "your offices let you pay 0 more today, not 1")]
    assert (town.pool, town.held(3)[:2]) == ("16 3 0 0", "53")
    assert town.tick({2: paying(3, 2, "energy")}).refused() == [(2, "your offices let you pay 1 more today, not 2")]
    assert town.tick({2: paying(2, 5, "energy")}).refused() == [(2, "the pool holds 3 energy")]
    assert town.tick({2: paying(2, 3, "energy")}).refused() == [], "to itself too"


def test_a_payment_wakes_the_dormant() -> None:
    town = Town("50 50 5", "2 9 0 dormant", **DAY, laws=[law(office(amount=5, days=9))]).day({1: elect(1)})
    assert town.tick({1: paying(2, 1.25)}).status(2) == "active"


def test_its_holder_vetoes_what_is_open_and_no_repeal() -> None:
    town = Town(*FOUR, **{**DAY, "actions_per_day": 3}, laws=[law(office("veto", days=9, title="Guard"))]).day(
        {1: elect(2)}
    )
    town.tick({1: propose("law", tax(5)), 3: propose("law", repeal(1)), 4: propose("law", repeal(1), tax(5))})
    town.tick({2: veto(1), 3: veto(1)})
    assert town.refused() == [(3, "you hold no office that can veto")]
    assert (town.events(Vetoed)[0].reasons, list(town.state.assembly.open)) == ("No.", [2, 3])
    (event,) = town.events(ProposalResolved)
    assert (event.result, event.note) == ("failed", "Vetoed by agent #2, Guard.")
    town.tick({2: veto(2), 3: vote(2)})
    assert town.refused() == [(2, "repeals and voting rules cannot be vetoed")]
    assert (list(town.state.assembly.laws), town.state.assembly.offices) == ([2], {}), "an office ends with its law"


def test_an_open_constitution_lets_a_veto_end_its_own_repeal() -> None:
    guard = law(office("veto", days=9))
    town = Town(*FOUR, **DAY, laws=[guard], constitution="open").day({1: elect(2)})
    town.day({1: propose("law", repeal(1))}, {2: veto(1)})
    assert town.refused() == []
    assert list(town.state.assembly.offices) == [1]


# groups


def test_members_alone_hear_what_is_written_to_a_group() -> None:
    town = (
        Town(*FOUR, **{**DAY, "actions_per_day": 4}).tick({1: founding(" The  Owls ")}).tick({2: group("join_group")})
    )
    town.tick({1: group("group_message", content="Hush."), 3: group("group_message", content="I too.")})
    (told,) = town.told(GroupMessage)
    assert (told.to, told.event.members, told.event.text) == (("p1", "p2"), (2,), "Hush.")
    assert town.refused() == [(3, "you are no member of group 1")]
    for agent, heard in ((1, True), (2, True), (3, False), (4, False)):
        text = town.asked[agent].prompt().text()
        assert ("Hush." in text) is heard
        assert '{"group": 1, "name": "The Owls", "founder": "#1", "members": "#1, #2"}' in text


def test_groups_are_joined_and_left_and_end_with_their_last_member() -> None:
    town = Town(*FOUR, **{**DAY, "actions_per_day": 9}).tick(
        {1: founding("Owls"), 2: founding("owls"), 3: founding("#2")}
    )
    assert town.refused() == [(2, "group 1 has that name"), (3, "that is the number of agent #2")]
    town.tick({1: group("join_group"), 2: group("leave_group"), 3: group("join_group", 2)})
    assert [reason for _, reason in town.refused()] == [
        "you are a member of group 1",
        "you are no member of group 1",
        "there is no group 2",
    ]
    assert town.tick({2: group("join_group"), 1: group("leave_group")}).state.groups.all[1].members == [2]
    assert town.tick({2: group("leave_group")}).state.groups.all == {}
    assert town.tick({2: founding("Owls")}).state.groups.all[2].founder == 2, "numbers are never used again"


def test_without_talk_groups_have_members_and_no_messages() -> None:
    town = Town(*FOUR, **DAY, talk=False).tick({1: founding("Owls")})
    assert town.tick({1: group("group_message", content="Hush.")}).refused() == [(1, "Unknown action: group_message")]
    assert message(2, "x")["action"] not in str(town.asked[1].schema())


# combinations that could lock all others out


@pytest.mark.parametrize("world", [{}, {"quorum_percent": 25}], ids=["classic", "with a quorum"])
def test_whatever_passed_a_majority_undoes_it(world: dict[str, Any]) -> None:
    """All votes suspended, all work forbidden, all fined, a veto that ends all: the others still repeal all of it."""
    six = ["90 90 5"] * 6
    everyone = tuple(range(1, 7))
    town = Town(*six, **{**DAY, "actions_per_day": 3}, **world)
    worst = [
        suspend(30, *everyone),
        exclude(30, *everyone, resource="all"),
        fine(90, resource="energy"),
        office("veto", days=30),
    ]
    ballots: dict[int, Any] = {agent: vote(1) for agent in (1, 2)}
    town.day({1: propose("law", *worst), 2: propose("law", minimum(8))}, ballots, {1: vote(2), 2: vote(2)})
    assert [event.result for event in town.events(ProposalResolved)] == ["passed", "passed"]
    assert town.tick({1: elect(1)}).refused() == [(1, "your vote is suspended until the evening of day 31")]
    town.tick({3: propose("law", repeal(1), repeal(2)), 4: work()})
    town.day({agent: vote(3) for agent in everyone[1:]} | {1: vote(3, "no")})
    assert town.events(ProposalResolved)[0].result == "passed"
    assert (list(town.state.assembly.laws), town.state.assembly.offices) == ([3], {})
    assert town.tick({1: work(), 2: propose()}).refused() == []


def test_an_open_constitution_lets_two_of_six_suspend_all_for_good() -> None:
    town = Town(*["90 90 5"] * 6, **{**DAY, "actions_per_day": 3}, constitution="open")
    town.day({1: propose("law", suspend(30, 3, 4, 5, 6))}, {1: vote(1), 2: vote(1)})
    town.day({3: propose("law", repeal(1))}, {agent: vote(2) for agent in (3, 4, 5, 6)})
    assert len(town.refused()) == 4
    assert list(town.state.assembly.laws) == [1]


def test_a_harder_rule_cannot_hide_behind_a_suspension_or_a_bundle() -> None:
    """Bundled with anything else, it still needs the consent of all living agents, those without a vote too."""
    town = Town(*["90 90 5"] * 6, **{**DAY, "actions_per_day": 3}, laws=[law(suspend(30, 3, 4, 5, 6))])
    town.day({1: propose("law", rule(99), tax(1))}, {1: vote(1), 2: vote(1)})
    assert town.events(ProposalResolved)[0].result == "failed"
