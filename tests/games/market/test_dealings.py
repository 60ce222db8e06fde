"""Dealings: a trade is neither for nor against, a transfer is for, a message to all is to nobody by himself."""

from __future__ import annotations

from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.games.market.artifacts.dialogue import Messaged
from agentsim.games.market.order_book import Traded
from agentsim.games.market.world import Transferred
from agentsim.records.events import pairs
from tests.engine.small import done


def test_a_trade_is_both_sides_deed_at_its_price() -> None:
    assert done([Traded("wheat", 5, 3, "A", "B", 1, 2, "buy", 1)]) == [
        ("A", "B", "bought from", 0, 15),
        ("B", "A", "sold to", 0, 15),
    ]


def test_a_transfer_between_agents_is_for_the_one_and_with_an_artifact_for_nobody() -> None:
    log = [Transferred("A", "B", "wheat", 3, "a gift"), Transferred("A", "@bank", "capital", 3, "a deposit")]
    assert done(log)[0] == ("A", "B", "gave wheat", 1, 3)
    assert [
        (pair.who, pair.whom) for pair in pairs([LoggedEvent(each, Everyone, 1) for each in log], ["A", "B"], {})
    ] == [("A", "B")]


def test_messages_are_to_those_who_are_named_in_them() -> None:
    assert done([Messaged("A", ("B", "C"), "x"), Messaged("A", None, "x")]) == [
        ("A", "B", "wrote to", 0, None),
        ("A", "C", "wrote to", 0, None),
    ]
