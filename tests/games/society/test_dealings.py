"""Interactions: gifts, votes on others' proposals, messages, replies and mentions, with players for numbers."""

from __future__ import annotations

from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.games.society.founding import Being, SocietyBegan
from agentsim.games.society.talk import MessageSent, Posted
from agentsim.games.society.voting import Proposed, Voted
from agentsim.games.society.work import Traded
from agentsim.records.events import pairs
from tests.engine.small import done

BEGAN = SocietyBegan(3, tuple(Being(n, f"p{n}", "neutral") for n in (1, 2, 3)), 0, 0, 0, {})
PROPOSED = Proposed(1, 1, 2, "rule", "Share", (), 3, "Let us share.")


def test_a_gift_is_for_another_and_to_the_pool_for_nobody() -> None:
    log = [BEGAN, Traded(1, 1, 2, "food", 250), Traded(1, 1, 0, "food", 250)]
    assert done(log)[0] == ("p1", "p2", "gave food", 1, 2.5)
    assert len(pairs([LoggedEvent(event, Everyone, 1) for event in log], ["p1", "p2", "p3"], {})) == 1


def test_a_vote_is_towards_who_proposed() -> None:
    votes = [Voted(2, 1, 1, "yes", None, 1, 0, 0), Voted(2, 1, 3, "no", "yes", 0, 1, 0)]
    votes.append(Voted(2, 1, 3, "abstain", "no", 0, 0, 1))
    assert done([BEGAN, PROPOSED, *votes]) == [
        ("p1", "p2", "voted yes", 1, None),
        ("p3", "p2", "voted no", -1, None),
        ("p3", "p2", "abstained", 0, None),
    ]
    assert done([BEGAN, *votes]) == [], "who proposed it is not known"


def test_messages_replies_and_mentions_are_talk() -> None:
    log = [
        BEGAN,
        Posted(1, 1, 1, None, (), "Hello."),
        Posted(1, 2, 2, 1, (3,), "Hello, and #3."),
        MessageSent(1, 3, 1, "Psst."),
    ]
    assert done(log) == [
        ("p2", "p1", "replied to", 0, None),
        ("p2", "p3", "named", 0, None),
        ("p3", "p1", "wrote to", 0, None),
    ]


def test_before_the_beginning_nobody_has_a_number() -> None:
    assert done([Traded(1, 1, 2, "food", 1), MessageSent(1, 1, 2, "x"), Posted(1, 1, 1, None, (2,), "#2")]) == []
