"""How an event looks in the prompts of those who heard it."""

from __future__ import annotations

from agentsim.engine.event import Event, Everyone, LoggedEvent, MemoryLimit
from agentsim.engine.memory import RecentEvents, line_of
from tests.engine.small import Spoke


class Rained(Event, heading="Rain", content="It rains."): ...


def test_an_event_is_a_line_that_tells_words_from_facts_and_is_cut_visibly() -> None:
    rounds = ["Set-up", "Day 1"]
    said = {"round": "Day 1", "event": "Spoke", "words": f"{'x' * 14} [cut]"}
    assert line_of(LoggedEvent(Spoke("A", "x" * 90), Everyone, 1), rounds, 20).value == said
    rain = {"round": "Set-up", "event": "Rain", "fact": "It rains."}
    assert line_of(LoggedEvent(Rained(), Everyone, 0), rounds).value == rain


class Whistled(Event, heading="{who} whistles", words="tune"):
    memory_limit = MemoryLimit(3, chars=10, of=("who",))
    who: str
    tune: str


def test_the_latest_events_are_kept_as_far_as_their_class_gives_them_room() -> None:
    kept = RecentEvents("A")
    for who, tune in (("A", "la"), ("B", "do"), ("A", "le"), ("A", "li"), ("A", "lo")):
        kept.hear(LoggedEvent(Whistled(who, tune), Everyone, 1))
    kept.hear(LoggedEvent(Rained(), Everyone, 1))
    assert [told.event.content for told in kept.of(Whistled.memory_limit, "A")] == ["le", "li", "lo"]
    assert [told.event.content for told in kept.of(Whistled.memory_limit, "B")] == ["do"]
    kept.hear(LoggedEvent(Whistled("A", "l" * 7), Everyone, 1))
    assert [told.event.content for told in kept.of(Whistled.memory_limit, "A")] == ["lo", "l" * 7], (
        "there is room for 10 letters"
    )
    kept.hear(LoggedEvent(Whistled("A", "l" * 70), Everyone, 1))
    assert [told.event.content for told in kept.of(Whistled.memory_limit, "A")] == ["l" * 70], "the newest one stays"
    assert kept.of(Whistled.memory_limit, "C") == ()
