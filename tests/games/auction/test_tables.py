"""The two tables that notebooks rely on: their columns [contract], and one small game row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.games.auction import GAME
from agentsim.games.auction.panels import tables
from tests.games.auction.auction import FORMATS, SEALED, play, rows

DETAILED_LOGS = """ScenarioID RoundID ItemName ItemQuality IsRequired IterationID TeamName BidAmount IsValid FailReason
CurrentHighBidBefore"""
RESULTS = "ScenarioID TeamName CollectedItems Score_Count Score_Quality Score_Budget FinalRank"


@pytest.mark.parametrize("format_", FORMATS)
def test_the_columns_are_those_of_the_specification(format_: str) -> None:
    found = GAME.tables(play(format=format_).log, [])
    assert list(found) == ["detailed_logs", "results"]
    assert found["detailed_logs"].columns == tuple(DETAILED_LOGS.split())
    assert found["results"].columns == tuple(RESULTS.split())


def test_a_small_game_row_by_row() -> None:
    """B overbids A and takes the compass; the kettle is lost; A takes the second compass for its last money."""
    played = play(
        "Compass 60, Kettle -5, Compass 50",
        {"A": [30, 0, 30, 0, 100, 0], "B": [20, 40, 0, 61, 0, 0], "C": [30, 101, None, 0, 0, 0]},
        ["ABC", "CAB", "BCA", "CBA", "ABC", "CBA"],
        budget=100,
        names={"A": "zespół 1"},
    )
    compass, kettle, second = (1, "Compass", 60, True), (2, "Kettle", 5, False), (3, "Compass", 50, True)
    expected = [
        (*compass, 1, "zespół 1", 30, True, "", 0),
        (*compass, 1, "B", 20, False, "LowerThanHighBid", 30),
        (*compass, 1, "C", 30, False, "LowerThanHighBid", 30),
        (*compass, 2, "C", 101, False, "OverBudget", 30),
        (*compass, 2, "zespół 1", 0, False, "Pass", 30),
        (*compass, 2, "B", 40, True, "", 30),
        (*compass, 3, "B", 0, False, "Pass", 40),
        (*compass, 3, "C", 0, False, "Unreadable", 40),
        (*compass, 3, "zespół 1", 30, False, "LowerThanHighBid", 40),
        (*kettle, 1, "C", 0, False, "Pass", 0),
        (*kettle, 1, "B", 61, False, "OverBudget", 0),
        (*kettle, 1, "zespół 1", 0, False, "Pass", 0),
        (*second, 1, "zespół 1", 100, True, "", 0),
        (*second, 1, "B", 0, False, "Pass", 100),
        (*second, 1, "C", 0, False, "Pass", 100),
        (*second, 2, "C", 0, False, "Pass", 100),
        (*second, 2, "B", 0, False, "Pass", 100),
        (*second, 2, "zespół 1", 0, False, "Pass", 100),
    ]
    found = GAME.tables(played.log, [])
    assert found["detailed_logs"].rows == tuple(("tested", *row) for row in expected)
    assert found["results"].rows == (
        ("tested", "B", '["Compass"]', 1, 60, 60, 1),
        ("tested", "zespół 1", '["Compass"]', 1, 50, 0, 2),
        ("tested", "C", "[]", 0, 0, 100, 3),
    )


@pytest.mark.parametrize("format_", SEALED)
def test_the_high_bid_before_a_sealed_bid_is_that_of_those_processed_before(format_: str) -> None:
    """No event may say it, since its team hears the event; the table does, for who studies the whole game."""
    played = play(
        "Compass 60, Kettle -5", {"A": [50], "B": [20], "C": [5_000], "D": [70]}, ["ABCD", "ABCD"], format=format_
    )
    first = [(row["TeamName"], row["CurrentHighBidBefore"]) for row in rows(played, "detailed_logs")]
    assert first[:4] == [("A", 0), ("B", 50), ("C", 50), ("D", 50)]
    assert first[4:] == [("A", 0), ("B", 0), ("C", 0), ("D", 0)]


def test_shared_ranks_go_1_1_3_best_first() -> None:
    played = play("Kettle -5", {"A": [], "B": [10], "C": []})
    assert [(row["TeamName"], row["FinalRank"]) for row in rows(played, "results")] == [("A", 1), ("C", 1), ("B", 3)]


def test_collected_items_is_a_json_list_of_all_names_in_the_order_of_buying() -> None:
    played = play('Compass 60, "Łuk, złoty" -5, Compass 9'.replace(", z", " z"), {"A": [1, 0, 1, 0, 1], "B": []})
    (first, _) = rows(played, "results")
    assert json.loads(first["CollectedItems"]) == ["Compass", '"Łuk złoty"', "Compass"]
    assert "Ł" in first["CollectedItems"]
    assert first["Score_Count"] == 1


def test_a_game_that_has_not_begun_has_tables_without_rows() -> None:
    assert {name: frame.rows for name, frame in tables([]).items()} == {"detailed_logs": (), "results": ()}


@pytest.mark.parametrize("format_", FORMATS)
def test_an_unfinished_game_has_the_rows_so_far(format_: str) -> None:
    log = play("Compass 60, Kettle -5", {"A": [30, 50], "B": [40], "C": []}, format=format_).log
    whole = tables(log)["detailed_logs"].rows
    seen: list[Any] = []
    for cut in range(len(log) + 1):
        found = tables(log[:cut])
        assert found["detailed_logs"].rows == whole[: len(found["detailed_logs"].rows)]
        assert bool(found["results"].rows) == (cut == len(log))
        seen.append(len(found["detailed_logs"].rows))
    assert seen == sorted(seen)
    assert seen[-1] == len(whole)
