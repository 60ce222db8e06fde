"""The assembly: proposals, votes, counts, and the effects of proposals of each type."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.event import Everyone
from agentsim.games.society.building import ProjectBegan
from agentsim.games.society.voting import AllocationPaid, LawEnacted, ProposalResolved, Proposed, Voted
from tests.games.society.town import Town, allocation, build, minimum, propose, repeal, rule, tax, vote

LAWFUL = [tax(10), minimum(2), repeal(1), rule(60, 1), allocation(1, 1)]
TYPES = ["law", "rule", "allocation", "infrastructure", "other"]


def outcome(*votes: str | None, **config: Any) -> tuple[str, int, int, int]:
    """Return the result and counts of a law on which each agent votes once, in one tick."""
    town = Town(*["10 10 5"] * len(votes), voting_days=1, **config)
    cast = {number: vote(1, said) for number, said in enumerate(votes, start=1) if said is not None}
    (event,) = town.day({1: propose()}, cast).events(ProposalResolved)
    assert (event.result == "passed") is bool(town.state.assembly.laws)
    return event.result, event.yes, event.no, event.abstain


# proposing


def test_a_proposal_is_told_to_all_and_shown_with_what_a_vote_needs() -> None:
    town = Town().tick({2: propose("law", tax(10), title=" A   tax ", description=" For all. ")})
    (told,) = town.told(Proposed)
    event: Any = told.event
    assert (event.proposal, event.agent, event.type, event.title, event.description) == (
        1,
        2,
        "law",
        "A tax",
        "For all.",
    )
    assert (event.day, event.closes, told.to) == (1, 2, Everyone)
    (shown,) = town.asked[1].world.proposals
    assert (shown.id, shown.author, shown.title, [*shown.counts.values()]) == (1, 2, "A tax", [0, 0, 0])
    assert [term.kind for term in shown.terms] == ["tax"]


@pytest.mark.parametrize("type_", ["decree", "", None, 3, ["law", "rule"]])
def test_a_proposal_has_one_of_five_types(type_: Any) -> None:
    town = Town().tick({1: propose(type_)})
    assert ([agent for agent, _ in town.refused()], town.state.assembly.open) == ([1], {})


@pytest.mark.parametrize("type_", ["Law", ["law"], " law ", {"type": "law"}])
def test_a_type_in_other_letters_or_alone_in_a_list_is_read(type_: Any) -> None:
    (proposal,) = Town().tick({1: propose(type_)}).state.assembly.open.values()
    assert proposal.type == "law"


@pytest.mark.parametrize(
    ("title", "description", "holds"),
    [
        ("x" * 200, "y" * 5_000, True),
        ("x" * 201, "y", False),
        ("x", "y" * 5_001, False),
        ("x" * 10_000, "y" * 10_000, False),
        ("", "y", False),
        ("  ", "y", False),
        ("\u200b", "y", False),
        (5, "y", False),
        ("x", None, False),
        ("x", 5, False),
    ],
)
def test_titles_are_200_and_descriptions_5000_characters_at_most(title: Any, description: Any, holds: bool) -> None:
    town = Town().tick({1: propose(title=title, description=description)})
    assert (len(town.state.assembly.open), len(town.refused())) == ((1, 0) if holds else (0, 1))


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("term", [*LAWFUL, build()], ids=lambda term: str(term["kind"]))
def test_each_type_has_its_terms(type_: str, term: dict[str, Any]) -> None:
    town = Town().tick({1: propose(type_, term)})
    allowed = {
        "law": term["kind"] != "build",
        "rule": term["kind"] != "build",
        "allocation": term["kind"] == "allocation",
        "infrastructure": term["kind"] == "build",
        "other": False,
    }[type_]
    assert (len(town.state.assembly.open), len(town.refused())) == ((1, 0) if allowed else (0, 1))


@pytest.mark.parametrize(
    "term",
    [
        tax(0),
        tax(101),
        tax(1.5),
        tax(-5),
        tax("ten"),
        tax(10, "land"),
        {"kind": "tax", "resource": "food"},
        {"kind": "dividend", "resource": "food", "amount": 1, "to": "me"},
        {"kind": "dividend", "resource": "food", "amount": 0, "to": "all"},
        {"kind": "dividend", "resource": "land", "amount": 1, "to": "all"},
        {"kind": "dividend", "resource": "food", "amount": 0.001, "to": "all"},
        {"kind": "dividend", "resource": "food", "amount": -1, "to": "all"},
        allocation(1),
        allocation(0, 1),
        allocation(1.005, 1),
        allocation(1, 0),
        allocation(1, 4),
        allocation(1, 1, 1),
        allocation(1, "you"),
        allocation(1, 1, resource="land"),
        minimum(0),
        minimum(9),
        minimum(2.5),
        repeal(0),
        repeal("all"),
        rule(49, 0),
        rule(100, 0),
        rule(60, -1),
        rule(60, 4),
        rule(60.5, 0),
        {"kind": "gift"},
        {"kind": None},
        {},
        "tax",
        [],
        None,
    ],
    ids=str,
)
def test_terms_have_a_closed_vocabulary(term: Any) -> None:
    town = Town().tick({1: propose("law", term)})
    assert ([agent for agent, _ in town.refused()], town.state.assembly.open) == ([1], {})


def test_four_terms_are_the_most() -> None:
    assert Town().tick({1: propose("law", *[tax(1)] * 4)}).refused() == []
    assert len(Town().tick({1: propose("law", *[tax(1)] * 5)}).refused()) == 1


def test_no_terms_can_be_said_in_any_way() -> None:
    nothing: list[Any] = [[], None]
    for terms in nothing:
        assert Town().tick({1: {**propose(), "terms": terms}}).refused() == []


# votes


@pytest.mark.parametrize("cast", ["yes", "no", "abstain"])
def test_a_vote_is_counted_and_told_to_all(cast: Any) -> None:
    town = Town().tick({1: propose()}).tick({2: vote(1, cast)})
    (told,) = town.told(Voted)
    event: Any = told.event
    assert (event.proposal, event.agent, event.vote, event.before, told.to) == (1, 2, cast, None, Everyone)
    counted = {"yes": 0, "no": 0, "abstain": 0, cast: 1}
    assert {"yes": event.yes, "no": event.no, "abstain": event.abstain} == counted
    shown = town.asked[3].world.proposals[0]
    assert (shown.counts, shown.votes) == (counted, {})
    assert (town.asked[2].you.votes, town.asked[3].you.votes) == ({1: cast}, {})


def test_a_vote_may_be_changed_and_counts_once() -> None:
    town = Town(voting_days=2).tick({1: propose()}).tick({2: vote(1, "yes")}).tick({2: vote(1, "no")})
    (event,) = town.events(Voted)
    assert (event.before, event.yes, event.no) == ("yes", 0, 1)
    town.tick({2: vote(1, "abstain"), 1: vote(1, "yes")}).day()
    (resolved,) = town.events(ProposalResolved)
    assert (resolved.result, resolved.yes, resolved.no, resolved.abstain) == ("passed", 1, 0, 1)


def test_an_agent_votes_on_its_own_proposal_like_anybody() -> None:
    assert outcome("yes", None) == ("passed", 1, 0, 0)
    assert outcome(None, None) == ("failed", 0, 0, 0)


@pytest.mark.parametrize("proposal", [2, 0, -1, 10**17, None, "one", 1.5])
def test_a_vote_needs_a_proposal(proposal: Any) -> None:
    town = Town().tick({1: propose()}).tick({2: vote(proposal)})
    assert ([agent for agent, _ in town.refused()], town.events(Voted)) == ([2], [])


@pytest.mark.parametrize("cast", ["maybe", "", None, True, 1, ["yes", "no"]])
def test_a_vote_is_yes_no_or_abstain(cast: Any) -> None:
    town = Town().tick({1: propose()}).tick({2: vote(1, cast)})
    assert ([agent for agent, _ in town.refused()], town.events(Voted)) == ([2], [])


@pytest.mark.parametrize("cast", ["Yes", ["yes"], "**yes**"])
def test_a_vote_in_other_letters_or_alone_in_a_list_is_read(cast: Any) -> None:
    (voted,) = Town().tick({1: propose()}).tick({2: vote(1, cast)}).events(Voted)
    assert voted.vote == "yes"


def test_there_are_no_votes_on_closed_proposals() -> None:
    town = Town(voting_days=1).day({1: propose()}).tick({2: vote(1)})
    assert town.refused() == [(2, "proposal 1 is closed")]


def test_a_proposal_of_the_same_tick_can_be_voted_on_where_it_comes_first() -> None:
    assert Town().tick({1: propose(), 2: vote(1)}).refused() == []
    assert Town().tick({2: vote(1), 1: propose()}).refused() == [(2, "there is no such proposal")]


def test_votes_of_who_falls_dormant_still_count() -> None:
    town = Town("0 9 9", "9 9 9").tick({2: propose()}).tick({1: vote(1)}).day().day()
    assert (town.status(1), town.events(ProposalResolved)[0].result) == ("dormant", "passed")


# counting


@pytest.mark.parametrize("days", [1, 2, 4])
def test_a_proposal_is_open_for_the_voting_days_its_own_included(days: int) -> None:
    town = Town(voting_days=days)
    town.day({1: propose()}, {1: vote(1)})
    for _ in range(days - 1):
        assert (town.events(ProposalResolved), list(town.state.assembly.open)) == ([], [1])
        town.day({2: vote(1)})
    (event,) = town.events(ProposalResolved)
    assert (event.day, event.result, event.yes) == (days, "passed", 1 if days == 1 else 2)


def test_a_proposal_of_the_last_tick_is_open_on_the_next_day() -> None:
    town = Town().day({}, {}, {1: propose()}).day({1: vote(1)})
    assert town.events(ProposalResolved)[0].result == "passed"


@pytest.mark.parametrize(
    ("votes", "result"),
    [
        (("yes", None, None), "passed"),
        (("yes", "no", None), "failed"),
        (("yes", "yes", "no"), "passed"),
        (("yes", "no", "no"), "failed"),
        (("yes", "abstain", "abstain"), "passed"),
        (("abstain", "abstain", "abstain"), "failed"),
        (("no", "abstain", "abstain"), "failed"),
        ((None, None, None), "failed"),
    ],
)
def test_more_yes_than_no_passes_and_a_tie_or_no_votes_fail(votes: tuple[Any, ...], result: str) -> None:
    counted = tuple(votes.count(cast) for cast in ("yes", "no", "abstain"))
    assert outcome(*votes) == (result, *counted)


@pytest.mark.parametrize(
    ("votes", "quorum", "result"),
    [
        (("yes", None, None), 1, "passed"),
        (("yes", None, None), 2, "failed"),
        (("yes", "abstain", None), 2, "passed"),
        (("yes", "yes", "no"), 3, "passed"),
        (("abstain", "abstain", "abstain"), 3, "failed"),
    ],
)
def test_a_quorum_counts_all_votes_cast_abstentions_too(votes: tuple[Any, ...], quorum: int, result: str) -> None:
    assert outcome(*votes, quorum=quorum)[0] == result


@pytest.mark.parametrize(
    ("yes", "no", "threshold", "result"),
    [(2, 1, 66, "passed"), (2, 1, 67, "failed"), (3, 1, 75, "failed"), (4, 1, 75, "passed"), (4, 0, 99, "passed")],
)
def test_a_threshold_is_a_percentage_of_yes_and_no_to_be_exceeded(
    yes: int, no: int, threshold: int, result: str
) -> None:
    assert outcome(*["yes"] * yes, *["no"] * no, "abstain", threshold=threshold)[0] == result


def test_its_author_and_its_voters_are_told_what_came_of_a_proposal() -> None:
    town = Town(*["10 10 5"] * 4, voting_days=1)
    town.day({1: propose(title="Bread")}, {2: vote(1, "no")}, {3: vote(1, "abstain")})
    failed = '{"round": "Day 1", "event": "Proposal 1 has failed: Bread", "fact": "0 yes, 1 no, 1 abstain."}'
    assert [[notice.line for notice in town.notices(agent)] for agent in (1, 2, 3)] == [[failed]] * 3
    assert town.notices(4) == []


def test_proposals_are_resolved_in_the_order_in_which_they_were_made() -> None:
    town = Town(voting_days=1)
    town.day({2: propose(title="a"), 1: propose(title="b")}, {1: vote(2), 2: vote(1)})
    assert [(event.proposal, event.title) for event in town.events(ProposalResolved)] == [(1, "a"), (2, "b")]
    assert [(each.id, each.title) for each in town.state.assembly.laws.values()] == [(1, "a"), (2, "b")]


# what proposals become


@pytest.mark.parametrize("type_", ["law", "rule"])
def test_a_passed_law_or_rule_is_in_force_words_too(type_: str) -> None:
    town = Town(voting_days=1).decree(propose(type_, title="Be kind", description="Please."))
    (told,) = town.told(LawEnacted)
    assert (told.event.law, told.event.proposal, told.event.agent, told.to) == (1, 1, 1, Everyone)
    (shown,) = town.asked[2].world.laws
    assert (shown.id, shown.day, shown.author, shown.title) == (1, 1, 1, "Be kind")
    assert shown.description == "Please."
    assert town.state.assembly.laws[1].type == type_


@pytest.mark.parametrize("type_", ["allocation", "other"])
def test_a_passed_allocation_or_other_is_recorded_and_no_law(type_: str) -> None:
    town = Town(voting_days=1).decree(propose(type_))
    assert town.events(ProposalResolved)[0].result == "passed"
    assert (town.events(LawEnacted), town.state.assembly.laws, town.pool) == ([], {}, "2000 1000 500 1000")


def test_an_infrastructure_proposal_builds_one_structure_or_is_words() -> None:
    town = Town().tick({1: propose("infrastructure", build(), build())})
    ((_, reason),) = town.refused()
    assert '"kind": "build"' in reason
    town = Town(voting_days=1).decree(propose("infrastructure", title="A road"))
    assert [event.result for event in town.events(ProposalResolved)] == ["passed"]
    assert (town.events(ProjectBegan), town.pool) == ([], "2000 1000 500 1000")


def test_what_failed_does_nothing() -> None:
    town = Town(voting_days=1, actions_per_day=4)
    town.day(
        {1: propose("law", tax(50)), 2: propose("allocation", allocation(5, 1)), 3: propose("infrastructure", build())}
    )
    assert [event.result for event in town.events(ProposalResolved)] == ["failed"] * 3
    assert town.events(LawEnacted) == town.events(AllocationPaid) == town.events(ProjectBegan) == []
    assert town.asked[1].world.rules_in_force.taxes == {}
