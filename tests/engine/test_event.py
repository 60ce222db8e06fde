"""Event: its words, its data, the way through JSON, who heard it, and what an event that points at another finds."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from agentsim.engine.event import (
    AGAINST,
    Audience,
    Event,
    Everyone,
    Interaction,
    InteractionRule,
    LoggedEvent,
    Nobody,
    Past,
)
from tests.engine.small import Spoke


class Sold(Event, kind="lot_sold", content="Lot {lot} goes."):
    lot: int
    bids: dict[str, int]
    order: tuple[str, ...] = ()


def test_content_is_exactly_the_words_and_data_is_everything_else() -> None:
    spoke = Spoke("A", "  <b>\n")
    assert spoke.content == "  <b>\n"
    assert spoke.data() == {"player": "A"}
    assert Sold(3, {"A": 5}, ("B", "A")).data() == {"lot": 3, "bids": {"A": 5}, "order": ["B", "A"]}


def test_the_heading_comes_from_the_kind() -> None:
    assert Sold(1, {}).heading == "Lot sold"


def test_an_event_without_words_must_say_its_content_when_its_class_is_made() -> None:
    with pytest.raises(TypeError, match="Mute must say its content or words"):
        type("Mute", (Event,), {})
    base = type("Base", (Event,), {}, base=True)
    with pytest.raises(TypeError, match="Mute must say its content or words"):
        type("Mute", (base,), {})
    assert type("Said", (base,), {"content": "said"})().content == "said"


@pytest.mark.parametrize("event", [Spoke("A", "hi"), Spoke("A", ""), Sold(3, {"A": 5}, ("B",))], ids=repr)
def test_an_event_survives_json(event: Event) -> None:
    assert type(event).restore(json.loads(json.dumps(event.data())), event.content) == event


@pytest.mark.parametrize(
    "data",
    [{"lot": 1}, {"lot": "x", "bids": {}}, {"lot": 1, "bids": {}, "buyer": "A"}],
    ids=["missing", "wrong type", "unknown"],
)
def test_data_that_does_not_fit_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"bids|lot|unknown fields \['buyer'\]"):
        Sold.restore(data, "")


def test_events_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Spoke("A", "hi").text = "ho"  # type: ignore[misc] # the point of this test


@pytest.mark.parametrize(
    ("to", "hearers"),
    [(Everyone, "ABC"), (("A", "C"), "AC"), (("B",), "B"), (Nobody, "")],
    ids=["everyone", "two", "one", "the log alone"],
)
def test_heard_by_is_the_audience(to: Audience, hearers: str) -> None:
    told = LoggedEvent(Spoke("A", "hi"), to, 0)
    assert "".join(player for player in "ABC" if told.heard_by(player)) == hearers


def test_everyone_has_a_name() -> None:
    assert repr(Everyone) == "Everyone"


class Asked(Event, content=""):
    number: int
    player: str


def test_the_last_of_its_kind_with_those_fields_is_found() -> None:
    past = Past()
    first, second, again = Asked(1, "A"), Asked(2, "B"), Asked(1, "B")
    assert past.last(Asked, number=1) is None
    for event in (first, Spoke("A", "hi"), second):
        past.add(event)
    assert past.last(Asked, number=1) is first
    past.add(again)
    assert past.last(Asked, number=1) is again
    assert past.last(Asked, number=1, player="A") is first
    assert past.last(Asked) is again
    assert past.last(Asked, number=3) is None


def test_an_event_declares_no_dealing_by_itself() -> None:
    assert list(Spoke("A", "B!").interactions(Past())) == []


class Voted(Event, content="All voted.", interactions=(InteractionRule("votes", "votes", "voted against", AGAINST),)):
    votes: dict[str, str]


def test_a_deed_of_many_is_one_of_each_to_the_one_that_it_chose() -> None:
    done = [Interaction("A", "B", "voted against", AGAINST), Interaction("B", "A", "voted against", AGAINST)]
    assert list(Voted({"A": "B", "B": "A"}).interactions(Past())) == done


def test_a_kind_of_event_has_a_label_which_by_default_is_its_class_in_words() -> None:
    class TradeProposed(Event, heading="A trade", content=""):
        pass

    class Voted(Event, label="vote", content=""):
        pass

    assert [TradeProposed.label, Voted.label, Voted().heading] == ["trade proposed", "vote", "Voted"]
