"""What labels did for or against each other; whom the head to head shades; ranks of games of different sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.analysis.finished_games import Entrant, GameRecord, PairCounts
from agentsim.analysis.preference import Relation, relations
from agentsim.analysis.standings import standings
from agentsim.engine.panel import DataTable, Panel
from agentsim.studies.report_tables import MOST_RELATIONS, panels
from tests.cli.command_line import agentsim
from tests.studies.test_folder_report import batch, reported

pytestmark = pytest.mark.usefixtures("few_draws")


def game(seed: int, *ranked: tuple[str, float], pair_counts: tuple[PairCounts, ...] | None = ()) -> GameRecord:
    """Players A, B, ... of these labels with these ranks."""
    entrants = tuple(
        Entrant(chr(65 + seat), label, label, rank, seat + 1, None, 1, 0, 0, 0, 0.0)
        for seat, (label, rank) in enumerate(ranked)
    )
    return GameRecord(f"g{seed}", "any", seed, entrants, (), 0.0, pair_counts=pair_counts)


def shown(games: list[GameRecord], title: str) -> DataTable:
    some: list[Panel] = panels(standings(games), [], relations(games))
    (found,) = [panel for panel in some if isinstance(panel, DataTable) and panel.title == title]
    return found


def test_deeds_are_summed_by_label_over_all_games() -> None:
    pair_counts = (PairCounts("A", "B", 2, 1, 0, 1), PairCounts("A", "C", 1, 0, 0, 0), PairCounts("C", "A", 0, 3, 0, 0))
    first = game(1, ("x", 1), ("y", 2), ("y", 3), pair_counts=pair_counts)
    second = game(2, ("y", 1), ("x", 2), pair_counts=(PairCounts("A", "B", 0, 1, 1, 0),))
    assert relations([first, second]) == [
        Relation("x", "y", 2, 3, 3, 1, 0, 1),
        Relation("y", "x", 2, 3, 0, 4, 1, 0),
        Relation("y", "y", 1, 2, 0, 0, 0, 0),
    ]


def test_games_whose_events_cannot_be_read_are_not_counted_as_peaceful() -> None:
    known = game(1, ("x", 1), ("y", 2), pair_counts=(PairCounts("A", "B", 1, 0, 0, 0),))
    unknown = game(2, ("x", 1), ("y", 2), pair_counts=None)
    assert [relation.games for relation in relations([known, unknown])] == [1, 1]
    assert relations([unknown]) == []


def test_where_nobody_is_for_or_against_anybody_there_is_no_table() -> None:
    games = [game(1, ("x", 1), ("y", 2))]
    assert relations(games) == []
    assert not [panel for panel in panels(standings(games), []) if panel.title.startswith("For and against")]


def test_of_very_many_pairs_of_labels_the_busiest_are_shown() -> None:
    labels = [f"m{n}" for n in range(10)]
    pair_counts = tuple(PairCounts("A", chr(65 + n), n, 0, 0, 0) for n in range(1, 10))
    table = shown([game(1, *((label, 1.0) for label in labels), pair_counts=pair_counts)], "For and against each other")
    assert len(table.rows) == MOST_RELATIONS
    assert sum(int(str(row[3])) for row in table.rows) == 45, "nobody who did anything is left out"
    assert f"The {MOST_RELATIONS} busiest of 90" in table.note


def test_the_report_sums_what_the_exports_say(tmp_path: Path) -> None:
    folder = batch(tmp_path, 5)
    assert agentsim("export", str(folder), "--format", "jsonl", cwd=tmp_path).code == 0

    rows: list[dict[str, Any]] = [
        json.loads(line) for line in (folder / "b.pairs.jsonl").read_text("utf-8").splitlines()
    ]
    found = reported(folder)["relations"]
    for sign, name in ((1, "done_for"), (-1, "done_against")):
        assert sum(each[name] for each in found) == sum(row["times"] for row in rows if row["sign"] == sign)
    turned = sum(each["turned_for"] + each["turned_against"] for each in found)
    assert turned == sum(row["turned"] for row in rows)
    assert sum(each["done_against"] for each in found) > 0
    assert "\nFor and against each other\n" in agentsim("report", str(folder), "--exploratory", cwd=tmp_path).out


def cell(games: list[GameRecord], row: str, column: str) -> float | None:
    table = shown(games, "Head to head")
    (at,) = [index for index, cells in enumerate(table.rows) if cells[0] == row]
    return table.shade[at][table.columns.index(column)]


def test_a_lead_is_shaded_by_its_distance_from_even_where_it_is_none_of_chance() -> None:
    sure = [game(seed, ("x", 1), ("y", 2)) for seed in range(20)]
    assert (cell(sure, "x", "y"), cell(sure, "y", "x"), cell(sure, "x", "x")) == (1.0, None, None)
    mostly = [game(seed, ("x", 1 + (seed % 5 == 0)), ("y", 2 - (seed % 5 == 0))) for seed in range(40)]
    assert cell(mostly, "x", "y") == pytest.approx(0.6)
    assert cell(mostly, "y", "x") is None
    assert "excludes 50%" in shown(mostly, "Head to head").note


def test_what_may_be_chance_is_not_shaded() -> None:
    close = [game(seed, ("x", 1 + (seed % 25 < 12)), ("y", 2 - (seed % 25 < 12))) for seed in range(100)]
    table = shown(close, "Head to head")
    assert sorted(str(value) for row in table.rows for value in row[1:]) == ["48", "52", "None", "None"]
    assert (cell(close, "x", "y"), cell(close, "y", "x")) == (None, None)
    assert "No entry is shaded" in table.note
    few = [game(seed, ("x", 1), ("y", 2)) for seed in range(4)]
    assert cell(few, "x", "y") is None


def test_the_shares_of_a_pair_are_each_others_rest() -> None:
    games = [game(seed, ("x", 1 + seed % 3), ("y", 2), ("x", 4)) for seed in range(12)]
    found = standings(games)
    (one, other) = found.ahead[0][1], found.ahead[1][0]
    assert one is not None
    assert other is not None
    assert one.low is not None
    assert one.high is not None
    assert (one.value, one.low, one.high) == pytest.approx(
        (1 - other.value, 1 - (other.high or 0), 1 - (other.low or 0))
    )
    for a, b in ((0, 1), (1, 0)):
        share, (won, met) = found.ahead[a][b], found.beats[a][b]
        assert share is not None
        assert share.value == pytest.approx(won / met)
    assert found.ahead[0][0] is None


def test_in_games_of_different_sizes_ranks_are_the_share_of_the_others_who_came_before() -> None:
    four, two = game(1, ("x", 1), ("y", 2), ("y", 3), ("y", 4)), game(2, ("y", 1), ("x", 2))
    found = standings([four, two])
    assert found.relative
    lines = {line.label: line for line in found.lines}
    assert lines["x"].mean_rank.value == pytest.approx((0 + 1) / 2)
    assert lines["y"].mean_rank.value == pytest.approx((1 / 3 + 2 / 3 + 1 + 0) / 4)
    assert (lines["x"].wins, lines["y"].wins) == (1, 1)
    table = shown([four, two], "Standings")
    assert table.columns[-2] == "mean relative rank"
    assert "different numbers of players" in table.note
    assert shown([four, two], "Seats").columns[-1] == "mean relative rank"


def test_in_games_of_one_size_ranks_are_ranks() -> None:
    games = [game(1, ("x", 1), ("y", 2)), game(2, ("y", 1), ("x", 2))]
    assert not standings(games).relative
    assert shown(games, "Standings").columns[-2] == "mean rank"
