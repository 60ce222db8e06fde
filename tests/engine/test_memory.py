"""How an event looks in the prompts of those who heard it."""

from __future__ import annotations

from agentsim.engine.event import Event, Everyone, LogEntry
from agentsim.engine.memory import line_of
from tests.engine.small import Spoke


class Rained(Event, heading="Rain", content="It rains."): ...


def test_an_event_is_a_line_that_tells_words_from_facts_and_is_cut_visibly() -> None:
    rounds = ["Set-up", "Day 1"]
    said = {"round": "Day 1", "event": "Spoke", "words": f"{'x' * 14} [cut]"}
    assert line_of(LogEntry(Spoke("A", "x" * 90), Everyone, 1), rounds, 20).value == said
    rain = {"round": "Set-up", "event": "Rain", "fact": "It rains."}
    assert line_of(LogEntry(Rained(), Everyone, 0), rounds).value == rain
