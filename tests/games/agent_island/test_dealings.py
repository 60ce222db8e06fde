"""Dealings: votes, approaches, whispers and quips are for, against or neither."""

from __future__ import annotations

from agentsim.engine.event import LoggedEvent
from agentsim.games.agent_island.sidebars import Approached, TakenAside, Whispered
from agentsim.games.agent_island.speeches import Quipped
from agentsim.games.agent_island.view import LastRoundBegan, RoundBegan
from agentsim.games.agent_island.votes import Voted
from agentsim.records.events import pairs
from tests.engine.small import done
from tests.games.agent_island.island import play


def test_a_vote_sends_away_and_in_the_final_round_it_crowns() -> None:
    def began(number: int) -> RoundBegan:
        return RoundBegan(number, 2, ("A", "B"), ("C",), ("votes",))

    vote = Voted("C", "A", ("A", "B"), "so")
    assert done([began(1), vote]) == [("C", "A", "voted to eliminate", -1, None)]
    assert done([began(1), began(2), vote]) == [("C", "A", "voted for", 1, None)]
    assert done([began(1), Voted("C", None, ("A",), "")]) == []
    assert done([vote]) == [], "nobody knows what it was for"


def test_a_vote_of_a_last_round_without_a_final_sends_away() -> None:
    last = LastRoundBegan(2, 2, ("A", "B"), ("C",), ("votes",))
    assert done([last, Voted("A", "B", ("B",), "so")]) == [("A", "B", "voted to eliminate", -1, None)]


def test_who_is_taken_aside_and_may_not_decline_has_agreed_to_nothing() -> None:
    assert done([TakenAside("A", "B")]) == [("A", "B", "approached", 0, None)]


def test_a_private_word_is_asked_for_and_granted_or_not() -> None:
    assert done([Approached("A", "B", True), Approached("A", "B", False), Approached("A", None, False)]) == [
        ("A", "B", "approached", 0, None),
        ("B", "A", "agreed to talk", 1, None),
        ("A", "B", "approached", 0, None),
        ("B", "A", "declined to talk", -1, None),
    ]


def test_words_to_or_about_somebody_are_neither_and_silence_is_nothing() -> None:
    said = [Whispered("A", "B", "psst"), Whispered("A", "B", ""), Quipped("A", "B", "Ha."), Quipped("A", "B", "")]
    assert done(said) == [("A", "B", "whispered", 0, None), ("A", "B", "named", 0, None)]


def test_the_table_of_a_game_has_every_vote() -> None:
    log: list[LoggedEvent] = list(play("ABCD", {"A": "D C", "B": "D C", "C": "D B B", "D": "A B"}).log)
    found = {(pair.who, pair.whom): pair for pair in pairs(log, list("ABCD"), {})}
    votes = {both: (pair.times(1), pair.times(-1)) for both, pair in found.items()}
    assert {both: count for both, count in votes.items() if any(count)} == {
        **{(voter, "D"): (0, 1) for voter in "ABC"},
        **{(voter, "C"): (0, 1) for voter in "AB"},
        ("D", "A"): (0, 1),
        ("C", "B"): (1, 1),
        ("D", "B"): (1, 0),
    }
    assert [both for both, pair in found.items() if pair.turns] == [("C", "B")], "voted out by C, then crowned by C"
