"""The tables of Society agree with the events and with the page."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from agentsim.engine.event import LoggedEvent
from agentsim.engine.panel import DataTable, Panel
from agentsim.engine.simulate import simulate
from agentsim.games.society import GAME
from agentsim.games.society.evening import DayEnded
from agentsim.games.society.shocks import LostToShock
from agentsim.games.society.talk import MessageSent, Posted
from agentsim.games.society.voting import DividendPaid, LawEnacted, ProposalResolved, Reasoned, Voted
from agentsim.games.society.work import Traded, Worked
from tests.games.society.test_panels import PLAYERS, log

Rows = list[dict[str, Any]]


@cache
def tables() -> dict[str, Rows]:
    return tables_of(log())


def tables_of(told: tuple[LoggedEvent, ...]) -> dict[str, Rows]:
    frames = GAME.tables(told, PLAYERS)
    return {name: [dict(zip(each.columns, row, strict=True)) for row in each.rows] for name, each in frames.items()}


def events(*kinds: type[Any]) -> list[Any]:
    return [told.event for told in log() if isinstance(told.event, kinds)]


def test_every_proposal_stands_with_its_outcome() -> None:
    resolved = {event.proposal: event for event in events(ProposalResolved)}
    assert resolved
    for row in tables()["proposals"]:
        end = resolved.get(row["proposal"])
        assert (row["result"], row["yes"]) == ((end.result, end.yes) if end else (None, None))
        assert row["player"] == f"agent{row['agent']}"


def test_the_votes_that_count_add_up_to_the_outcome() -> None:
    for end in events(ProposalResolved):
        counted = [row["vote"] for row in tables()["votes"] if row["proposal"] == end.proposal and row["counts"]]
        assert [counted.count(side) for side in ("yes", "no", "abstain")] == [end.yes, end.no, end.abstain]
    assert len(tables()["votes"]) == len(events(Voted))
    assert [row["reasoning"] for row in tables()["votes"] if row["reasoning"]] == [
        each.text for each in events(Reasoned)
    ]


def test_laws_stand_with_their_first_and_last_day() -> None:
    assert [(row["law"], row["from_day"]) for row in tables()["laws"]] == [
        (event.law, event.day) for event in events(LawEnacted)
    ]
    first = tables()["laws"][0]
    assert (first["proposal"], first["player"], first["terms"]) == (None, None, "tax: 30% of all work")


@pytest.mark.parametrize("resource", ["food", "energy", "materials"])
def test_transfers_are_all_that_the_pool_took_and_paid(resource: str) -> None:
    into = sum(row["amount"] for row in tables()["transfers"] if row["taker"] == 0 and row["resource"] == resource)
    out = sum(row["amount"] for row in tables()["transfers"] if row["giver"] == 0 and row["resource"] == resource)
    used = sum(row["amount"] for row in tables()["transfers"] if row["what"] in {"contribution", "upkeep"})
    held = {"food": 12, "energy": 120, "materials": 60}[resource]  # at the beginning, of twelve agents
    if resource == "materials":  # contributions go into projects
        into -= used
    now = events(DayEnded)[-1].totals[resource].pool / 100
    assert now == pytest.approx(held + into - out, abs=0.01)


def test_gifts_taxes_and_dividends_are_transfers_of_their_own() -> None:
    count = {
        what: [row for row in tables()["transfers"] if row["what"] == what] for what in ("gift", "tax", "dividend")
    }
    assert len(count["gift"]) == len(events(Traded))
    assert len(count["tax"]) == len([event for event in events(Worked) if event.taxed])
    assert len(count["dividend"]) == sum(len(event.agents) for event in events(DividendPaid))


def test_posts_and_messages_are_in_the_whole_log_and_messages_of_others_in_no_part() -> None:
    assert [(row["post"], row["text"], json.loads(row["mentions"])) for row in tables()["posts"]] == [
        (event.post, event.text, list(event.mentions)) for event in events(Posted)
    ]
    replies = sum(row["replies"] for row in tables()["posts"])
    assert replies == sum(event.parent is not None for event in events(Posted)) > 0
    assert [row["text"] for row in tables()["messages"]] == [event.text for event in events(MessageSent)]
    heard = tables_of(tuple(told for told in log() if told.heard_by("agent1")))
    assert heard["messages"]
    assert all("agent1" in {row["player"], row["recipient_player"]} for row in heard["messages"])


# -- the page


def panel(title: str, shown: list[Panel]) -> Rows:
    [found] = [each for each in shown if isinstance(each, DataTable) and each.title == title]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_the_page_says_who_voted_how() -> None:
    rows = panel("Proposals and who voted how", GAME.panels(log(), PLAYERS))
    assert len(rows) == len(tables()["proposals"])
    row = next(row for row in rows if row["yes"] != "–")
    voters = [f"#{each['agent']}" for each in tables()["votes"]
              if (each["proposal"], each["vote"], each["counts"]) == (row["proposal"], "yes", True)]  # fmt: skip
    assert sorted(str(row["yes"]).split(", ")) == sorted(voters)


def test_a_game_without_ranks_has_none_in_its_tables() -> None:
    assert {row["rank"] for row in tables()["agents"]} == {None}
    ranked = simulate(GAME, {"days": 1, "rank_by": "wealth"}, PLAYERS, bot="farmer", seed=1).log
    assert {row["rank"] for row in tables_of(tuple(ranked))["agents"]} == {1}


# -- shocks


def test_losses_are_transfers_and_make_up_what_the_pool_holds() -> None:
    shocks = [{"day": 3, "what": "pool", "percent": 10}, {"day": 4, "what": "held", "percent": 20}]
    config = {"days": 8, "shocks": shocks, "start_food": 30, "start_energy": 30}
    told = tuple(simulate(GAME, config, PLAYERS, bot="random", seed=3).log)
    rows = tables_of(told)["transfers"]
    happened = [each.event for each in told]
    assert {(row["taker"], row["taker_player"]) for row in rows if row["what"] == "loss"} == {(None, None)}
    lost = sum(len(event.lost) for event in happened if isinstance(event, LostToShock))
    assert len([row for row in rows if row["what"] == "loss" and row["giver"]]) == lost > 0
    food = [row for row in rows if row["resource"] == "food"]
    into, out = (sum(row["amount"] for row in food if row[side] == 0) for side in ("taker", "giver"))
    end = [event for event in happened if isinstance(event, DayEnded)][-1]
    assert end.totals["food"].pool / 100 == pytest.approx(2000 * len(PLAYERS) / 100 + into - out, abs=0.01)
