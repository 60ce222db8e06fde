"""Panels of Society: what they say is what happened, reckoned from events alone; as one agent heard it, no more."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from agentsim.engine.event import Event, LogEntry
from agentsim.engine.panel import Chart, DataTable, Network, Panel, PlayerProfile, PlayerProfiles, Threads
from agentsim.engine.simulate import simulate
from agentsim.games.society import GAME
from agentsim.games.society.amounts import UNIT, number
from agentsim.games.society.evening import SocietyEnded
from agentsim.games.society.laws import LawEnacted
from agentsim.games.society.pages import MOST_PAGES, fortunes
from agentsim.games.society.talk import MessageSent, Posted
from agentsim.games.society.work import Traded, Worked

PLAYERS = tuple(f"agent{place}" for place in range(1, 13))
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
def log(seed: int = 1, permadeath: bool = True, institutions: bool = False) -> tuple[LogEntry, ...]:
    """Twelve random agents for fourteen hard days."""
    config = {
        "days": 14,
        "start_food": 4,
        "start_energy": 4,
        "permadeath": permadeath,
        "starvation_days": 2,
        "laws": LAWS,
        "pool_food": 100,
        "institutions": institutions,
    }
    return tuple(simulate(GAME, config, PLAYERS, bot="random", seed=seed).log)


def events() -> list[Event]:
    return [told.event for told in log()]


def panels(heard_by: str | None = None) -> list[Panel]:
    heard = [told for told in log() if heard_by is None or told.heard_by(heard_by)]
    return GAME.panels(heard, PLAYERS)


def table(title: str, shown: list[Panel]) -> list[dict[str, object]]:
    [found] = [panel for panel in shown if isinstance(panel, DataTable) and panel.title == title]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def pages(shown: list[Panel]) -> dict[str, PlayerProfile]:
    [found] = [panel for panel in shown if isinstance(panel, PlayerProfiles)]
    return {page.name: page for page in found.people}


def test_what_an_agent_holds_is_reckoned_to_the_hundredth() -> None:
    [ended] = [event for event in events() if isinstance(event, SocietyEnded)]
    statuses = Counter(result.status for result in ended.results)
    assert len(statuses) > 1, "some fell dormant or died, or this would prove little"
    last = fortunes(events())[-1]
    assert last == {
        result.agent: {"food": result.food, "energy": result.energy, "materials": result.materials}
        for result in ended.results
    }


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("permadeath", [False, True])
def test_the_books_balance_on_every_evening(seed: int, permadeath: bool) -> None:
    for institutions in (False, True):
        told = [each.event for each in log(seed, permadeath, institutions)]
        days = {event.day for event in told if isinstance(event, Worked)}
        assert len(fortunes(told)) >= max(days)


def test_there_are_no_fortunes_of_what_was_not_all_heard() -> None:
    missing = next(place for place, event in enumerate(events()) if isinstance(event, Worked))
    assert fortunes([event for place, event in enumerate(events()) if place != missing]) == []


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
    assert {name: row["agents"] for name, row in rows.items()} == Counter(
        page.facts[1][1] for page in pages(panels()).values()
    )
    posts = sum(isinstance(event, Posted) for event in events())
    assert sum(float(str(row["posts"])) * int(str(row["agents"])) for row in rows.values()) == pytest.approx(
        posts, abs=0.1
    )


def test_messages_replies_and_gifts_are_the_ties() -> None:
    [web] = [panel for panel in panels() if isinstance(panel, Network)]
    weights = Counter[str]()
    for tie in web.ties:
        weights[tie.kind] += int(tie.weight)
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


def test_every_agent_has_a_page_with_its_fortunes_and_what_it_did_and_met() -> None:
    shown = pages(panels())
    assert list(shown) == list(PLAYERS)
    message = next(event for event in events() if isinstance(event, MessageSent))
    for agent, what in ((message.agent, "writes to"), (message.recipient, "hears from")):
        lines = shown[f"agent{agent}"].lines
        assert [line for line in lines if line.what.startswith(what) and line.text == message.text]
    [ended] = [event for event in events() if isinstance(event, SocietyEnded)]
    for result in ended.results:
        page = shown[result.player]
        assert isinstance(page.chart, Chart)
        assert [series.values[-1] for series in page.chart.series] == [
            result.food / UNIT,
            result.energy / UNIT,
            result.materials / UNIT,
        ]
        assert dict(page.facts)["wealth"] == number(result.wealth)


def test_as_one_agent_heard_it_there_is_nothing_private_of_others() -> None:
    mine = pages(panels("agent1"))
    sent = [event for event in events() if isinstance(event, MessageSent)]
    assert [event for event in sent if 1 not in {event.agent, event.recipient}], "there are private messages of others"
    assert mine["agent1"].chart is None, "the others worked unseen, so the books cannot balance"
    for name, page in mine.items():
        if name != "agent1":
            assert not [line for line in page.lines if re.match(r"works \d|thinks|is rejected", line.what)]
            assert not [line for line in page.lines if line.what.startswith("writes to") and "#1" not in line.what]


def test_of_a_multitude_the_first_have_pages() -> None:
    crowd = [f"a{place}" for place in range(MOST_PAGES + 1)]
    big = simulate(GAME, {"days": 1, "actions_per_day": 1}, crowd, bot="random", seed=1).log
    [found] = [panel for panel in GAME.panels(big, crowd) if isinstance(panel, PlayerProfiles)]
    assert len(found.people) == MOST_PAGES
    assert found.note == "The first 200 of 201 agents."


def test_before_the_beginning_there_is_nothing_to_show() -> None:
    assert GAME.panels([], PLAYERS) == []
