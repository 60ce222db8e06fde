"""The panels of Society: they agree with the events, and show one agent's events alone if made from them."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from agentsim.engine.event import Event, LoggedEvent
from agentsim.engine.panel import DataTable, Network, Panel, Threads
from agentsim.engine.simulate import simulate
from agentsim.games.society import GAME
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.evening import SocietyEnded
from agentsim.games.society.talk import MessageSent, Posted
from agentsim.games.society.voting import LawEnacted
from agentsim.games.society.work import Traded, Worked

PLAYERS = tuple(f"agent{index}" for index in range(1, 13))
LAWS = [
    {"title": "A share for all", "terms": [{"kind": "tax", "resource": "all", "percent": 30}]},
    {
        "title": "Bread for everybody",
        "terms": [
            {"kind": "dividend", "resource": "food", "amount": 0.3, "to": "all"},
            {"kind": "work_minimum", "hours": 8},
        ],
    },
]


@cache
def log() -> tuple[LoggedEvent, ...]:
    """Return the log of twelve random agents for fourteen hard days."""
    config = {
        "days": 14,
        "start_food": 4,
        "start_energy": 4,
        "permadeath": True,
        "starvation_days": 2,
        "laws": LAWS,
        "pool_food": 100,
    }
    return tuple(simulate(GAME, config, PLAYERS, bot="random", seed=1).log)


def events() -> list[Event]:
    return [told.event for told in log()]


def panels() -> list[Panel]:
    return GAME.panels(log(), PLAYERS)


def table(title: str, shown: list[Panel]) -> list[dict[str, object]]:
    [found] = [panel for panel in shown if isinstance(panel, DataTable) and panel.title == title]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_laws_stand_with_what_they_do_and_when() -> None:
    enacted = [event for event in events() if isinstance(event, LawEnacted)]
    rows = table("Laws", panels())
    assert [row["law"] for row in rows] == [event.law for event in enacted]
    assert rows[0]["what it does"] == "tax: 30% of all work"
    assert rows[1]["from day"] == 0


def test_before_and_after_compares_five_days_with_five_days() -> None:
    [ended] = [event for event in events() if isinstance(event, SocietyEnded)]
    law = next(event for event in events() if isinstance(event, LawEnacted) and 5 <= event.day < ended.day - 1)
    made = Counter[int]()
    for event in events():
        if isinstance(event, Worked) and event.resource == "food":
            made[event.day] += event.made
    rows = table("Before and after each law", panels())
    row = next(row for row in rows if row["measure"] == "food made" and row["law"] == f"{law.law} {law.title}")
    before = [made[day] / UNIT for day in range(law.day - 4, law.day + 1)]
    after = [made[day] / UNIT for day in range(law.day + 1, min(law.day + 5, ended.day) + 1)]
    assert len(after) > 1
    assert row["before"] == pytest.approx(sum(before) / 5, abs=0.001)
    assert row["after"] == pytest.approx(sum(after) / len(after), abs=0.001)


def test_a_law_of_the_first_day_has_no_before() -> None:
    assert not [row for row in table("Before and after each law", panels()) if str(row["law"]).startswith("1 A share")]


def test_deeds_are_counted_by_personality() -> None:
    rows = {row["personality"]: row for row in table("By personality", panels())}
    [ended] = [event for event in events() if isinstance(event, SocietyEnded)]
    assert {name: row["agents"] for name, row in rows.items()} == Counter(each.personality for each in ended.results)
    posts = sum(isinstance(event, Posted) for event in events())
    assert sum(float(str(row["posts"])) * int(str(row["agents"])) for row in rows.values()) == pytest.approx(
        posts, abs=0.1
    )


def test_messages_replies_and_gifts_are_the_ties() -> None:
    [web] = [panel for panel in panels() if isinstance(panel, Network)]
    weights = Counter[str]()
    for edge in web.edges:
        weights[edge.kind] += int(edge.weight)
    assert weights["messages"] == sum(isinstance(event, MessageSent) for event in events())
    assert weights["gifts"] == sum(isinstance(event, Traded) and event.recipient > 0 for event in events())
    assert weights["replies"] == sum(isinstance(event, Posted) and event.parent is not None for event in events())
    assert len(web.nodes) == len(PLAYERS)


def test_the_forum_has_every_post_beneath_what_it_answers() -> None:
    [forum] = [panel for panel in panels() if isinstance(panel, Threads)]
    posts = [event for event in events() if isinstance(event, Posted)]
    assert [(post.number, post.answers, post.text) for post in forum.posts] == [
        (event.post, event.parent, event.text) for event in posts
    ]


def test_before_the_beginning_there_is_nothing_to_show() -> None:
    assert GAME.panels([], PLAYERS) == []
