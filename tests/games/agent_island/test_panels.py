"""Panels: what a reader is shown, from the whole log or from the part that one player heard."""

from __future__ import annotations

from typing import Any

from agentsim.engine.panel import Chart, DataTable, Panel
from agentsim.engine.simulate import Simulation
from agentsim.games.agent_island import GAME
from agentsim.games.agent_island.view import Speech
from tests.games.agent_island.island import play

VOTES = {"A": "D C", "B": "D C", "C": "D B B", "D": "A B"}


def _panels(played: Simulation, seen_by: str | None = None) -> dict[str, Panel]:
    log = [told for told in played.log if seen_by is None or told.heard_by(seen_by)]
    return {panel.title: panel for panel in GAME.panels(log, list("ABCD"))}


def _table(panels: dict[str, Panel], title: str) -> DataTable:
    panel = panels[title]
    assert isinstance(panel, DataTable)
    return panel


def _chart(panels: dict[str, Panel], title: str) -> Chart:
    panel = panels[title]
    assert isinstance(panel, Chart)
    return panel


def test_votes_are_a_row_a_voter_and_a_column_a_count_with_what_came_of_it() -> None:
    votes = _table(_panels(play("ABCD", VOTES)), "Votes")
    assert votes.columns == ("voter", "round 1", "round 2", "jury")
    assert votes.rows == (
        ("A", "D", "C", None),
        ("B", "D", "C", None),
        ("C", "D", "B", "B"),
        ("D", "A", None, "B"),
        ("counted", "D\u00a03, A\u00a01", "C\u00a02, B\u00a01", "B\u00a02"),
        ("outcome", "D leaves", "C leaves", "B wins"),
    )
    assert "jury" in votes.note


def test_a_lot_and_an_abstention_are_said() -> None:
    played = play("ABCD", {"A": "B", "B": "A", "C": "-", "D": "-"}, rounds=2)
    first = [row[:2] for row in _table(_panels(played), "Votes").rows]
    assert first[2:5] == [("C", "(abstains)"), ("D", "(abstains)"), ("counted", "A\u00a01, B\u00a01")]
    assert first[5][1] in {"A leaves, by lot", "B leaves, by lot"}


def test_the_jury_table_gives_votes_and_reasons() -> None:
    assert sorted(map(str, _table(_panels(play("ABCD", VOTES)), "The jury").rows)) == [
        "('C', 'B', 'C explains B')",
        "('D', 'B', 'D explains B')",
    ]


def test_survival_counts_the_rounds_each_has_survived() -> None:
    chart = _chart(_panels(play("ABCD", VOTES)), "Survival")
    assert chart.x == ("A", "B", "C", "D")
    assert chart.series[0].values == (3.0, 3.0, 1.0, 0.0)
    assert chart.note == "B won."


def test_words_are_counted_by_round_and_speaker() -> None:
    played = play("ABCD", VOTES, answers={"pitch": {"A": Speech(text="one two  three\nfour")}})
    series = {series.name: series.values for series in _chart(_panels(played), "Words spoken in public").series}
    assert list(series) == ["round 1", "round 2", "round 3"]
    assert series["round 1"] == (4.0, 6.0, 6.0, 6.0)
    assert series["round 2"] == (4.0, 6.0, 6.0, 0.0)


def test_mentions_count_whole_names_of_others() -> None:
    speech = {"pitch": {"A": Speech(text="B and B's friend, not C-3 or DB; D!")}}
    mentions = _table(_panels(play("ABCD", {"A": "D", "B": "D", "C": "D"}, answers=speech, rounds=2)), "Mentions")
    assert mentions.rows[0] == ("A", None, 4, 0, 2), "two rounds of it"


def test_the_word_a_is_no_mention_of_player_a() -> None:
    speech = {
        "pitch": {"B": Speech(text="A vote for me. I like A. Player A, and player I."), "C": Speech(text="I am A!")}
    }
    mentions = _table(_panels(play("ABCD", {"A": "D", "B": "D", "C": "D"}, answers=speech, rounds=2)), "Mentions")
    assert [row[1] for row in mentions.rows] == [None, 4, 2, 0], "two rounds of it"
    assert "beginning of a sentence" in mentions.note


def test_a_game_that_has_not_begun_has_nothing_to_show() -> None:
    assert GAME.panels([], list("ABCD")) == []


def test_an_unfinished_game_shows_what_there_is() -> None:
    log = play("ABCD", VOTES).log
    for cut in range(len(log) + 1):
        titles = [panel.title for panel in GAME.panels(log[:cut], list("ABCD"))]
        assert len(set(titles)) == len(titles)
    first = [told for told in log if told.round < 2]
    panels: dict[str, Any] = {panel.title: panel for panel in GAME.panels(first, list("ABCD"))}
    assert "The jury" not in panels
    assert panels["Survival"].note == ""


def test_a_player_sees_its_own_votes_and_the_public_tally_alone() -> None:
    panels = _panels(play("ABCD", VOTES), seen_by="A")
    own, counted, outcome = _table(panels, "Votes").rows
    assert own == ("A", "D", "C", None)
    assert (counted[1], outcome[1]) == ("D\u00a03, A\u00a01", "D leaves")
    assert "The jury" not in panels
    text = repr(panels)
    assert not any(f"{other} explains" in text for other in "BCD")
