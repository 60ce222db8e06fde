"""What the players of each model did: per player, and only where that compares anything."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentsim.history.record import History
from agentsim.report.page import PageOptions, render
from agentsim.report.redaction import as_seen_by
from agentsim.report.tables import MOST_KINDS, model_table
from tests.report.sample import document, sample


def of_models(*models: str, **changes: Any) -> History:
    doc = document() | changes
    for record, model in zip(doc["players"][:4], models, strict=True):
        record["model"] = model
    return History.model_validate(doc)


def rows(history: History, deeds: dict[str, Counter[str]]) -> dict[str, dict[str, Any]]:
    table = model_table(history, deeds)
    assert table is not None
    return {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


DEEDS = {"A": Counter(pitch=3, vote=3), "B": Counter(pitch=1), "C": Counter(pitch=4), "D": Counter(vote=1)}


def test_deeds_are_means_over_the_players_of_a_model() -> None:
    found = rows(of_models("x", "x", "x", "y"), DEEDS)
    assert found["x"] | {"fallbacks": None} == {
        "model": "x", "players": 3, "mean rank": 2.0, "pitch": 2.67, "vote": 1.0, "fallbacks": None,
    }  # fmt: skip
    assert (found["y"]["pitch"], found["y"]["vote"], found["y"]["mean rank"]) == (0.0, 1.0, 4.0)


def test_fallbacks_are_a_share_of_decisions() -> None:
    history = of_models("x", "y", "y", "y")
    asked = [decision for decision in history.decisions if decision.player == "B"]
    others = [decision for decision in history.decisions if decision.player in "CD"]
    fell = sum(decision.source == "fallback" for decision in (*asked, *others))
    assert fell
    found = rows(history, DEEDS)
    assert found["y"]["fallbacks"] == round(fell / (len(asked) + len(others)), 3)
    assert found["x"]["fallbacks"] == 0


def test_one_model_or_one_player_each_compares_nothing() -> None:
    assert model_table(of_models("x", "x", "x", "x"), DEEDS) is None
    assert model_table(sample(), DEEDS) is None, "the cards of the players say it"


def test_as_one_player_saw_it_no_models_are_told() -> None:
    seen = as_seen_by(of_models("x", "x", "y", "y"), "A")
    assert "By model" not in render(seen, [], PageOptions(as_seen_by="A"), name="run", css="")


def test_without_an_end_there_are_no_ranks() -> None:
    found = rows(of_models("x", "x", "x", "y", outcome=None, status="interrupted"), DEEDS)
    assert found["x"]["mean rank"] is None


def test_rare_kinds_stay_in_the_cards() -> None:
    many = {player: Counter({f"kind{place}": 20 - place for place in range(20)}) for player in "ABCD"}
    table = model_table(of_models("x", "x", "y", "y"), many)
    assert table is not None
    assert table.columns[3:-1] == tuple(f"kind{place}" for place in range(MOST_KINDS))


def test_the_page_has_it() -> None:
    assert "By model" in render(of_models("x", "x", "x", "y"), [], PageOptions(), name="run", css="")
