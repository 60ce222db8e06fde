"""Beliefs of many games: scores, the decomposition of the Brier score, calibration and its test, and the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentsim.analysis.beliefs import belief_lines, reliability_bins
from agentsim.analysis.finished_games import GameRecord, game_record
from agentsim.records.load import load_history
from agentsim.scenario.load import load
from agentsim.studies.folder_report import compared
from benchmarks import belief_world
from benchmarks.inference import measured
from tests.playing import play_scenario


def games(seed: int, many: int = 40, power: float = 1.0) -> list[GameRecord]:
    return belief_world.believed(np.random.default_rng(seed), many, power)


def test_scores_are_means_over_beliefs_with_intervals_by_game() -> None:
    played = games(1)
    (line,) = belief_lines(played)
    beliefs = [belief for game in played for belief in game.beliefs]
    assert line.beliefs == len(beliefs) == 40 * 16
    assert line.brier.value == pytest.approx(np.mean([each.brier for each in beliefs]))
    assert line.log_score.value == pytest.approx(np.mean([each.log_score for each in beliefs]))
    assert line.uniform == pytest.approx(0.75)
    assert line.brier.low is not None
    assert line.brier.high is not None
    independent = 1.96 * np.std([each.brier for each in beliefs]) / len(beliefs) ** 0.5
    assert line.brier.width / 2 > 1.5 * independent, "beliefs about one game are no independent evidence"


def test_the_brier_score_is_uncertainty_less_resolution_plus_reliability() -> None:
    """Murphy (1973): exactly so if all probabilities of a bin are the same, but for the correction of the bias."""
    shares = (0.05, 0.15, 0.25, 0.55)
    rng, played = np.random.default_rng(3), []
    for game in games(3, 2_000):
        happened = int(rng.choice(4, p=(0.1, 0.2, 0.2, 0.5)))
        score = sum((share - (index == happened)) ** 2 for index, share in enumerate(shares))
        belief = replace(game.beliefs[0], probabilities=shares, happened=happened, brier=score)
        played.append(replace(game, beliefs=(belief,)))
    (line,) = belief_lines(played)
    assert line.uncertainty - line.resolution + line.reliability == pytest.approx(line.brier.value, abs=0.003)
    assert line.reliability == pytest.approx(0.05**2 + 0.05**2 + 0.05**2 + 0.05**2, abs=0.004)


def test_bins_hold_all_probabilities_and_how_often_they_came_true() -> None:
    played = games(5, 200)
    bins = reliability_bins(played)
    assert {each.label for each in bins} == {"all"}, "one label alone is not shown twice"
    assert sum(each.stated for each in bins) == 200 * 16 * 4
    assert all(each.low <= each.mean < each.high for each in bins)
    ends = [(each.mean, each.happened.low, each.happened.high) for each in bins]
    held = [low <= mean <= high for mean, low, high in ends if low is not None and high is not None]
    assert sum(held) >= len(held) - 1


def test_players_that_are_over_or_underconfident_are_found_and_calibrated_ones_are_not() -> None:
    """The rates over 2,000 simulations are `benchmarks/inference.py --only beliefs`; these are 40."""
    rates = {what: rate for what, _, rate, _ in measured("beliefs", 40)}
    assert rates["beliefs, calibrated, 30 games: not calibrated, false positives"] <= 0.15
    assert rates["beliefs, overconfident, 30 games: not calibrated, found"] >= 0.3
    assert rates["beliefs, calibrated, 30 games: Brier score, covered"] >= 0.85
    assert rates["beliefs, calibrated, 30 games: miscalibration"] < 0.02


def test_few_games_give_scores_without_intervals_and_no_test() -> None:
    (line,) = belief_lines(games(7, 3))
    assert (line.brier.low, line.p) == (None, None)


VOTERS: dict[str, Any] = {
    "game": "werewolf",
    "game_config": {"werewolves": 1},
    "defaults": {"model": "bot/random"},
    "players": [{"id": "Ann"}, {"id": "Bea", "model": "bot/candid"}, {"id": "Cyd"}, {"id": "Dan"}, {"id": "Eve"}],
    "interviews": [{"before": "vote", "battery": ["roles", "who_wins"]}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logs = tmp_path_factory.mktemp("games")
    for seed in range(8):
        assert play_scenario(load({**VOTERS, "seed": seed}), logs, env={}, stem=f"g{seed}").status == "completed"
    return logs


def test_a_report_scores_beliefs_by_model_and_as_a_measure_of_conditions(folder: Path) -> None:
    report = compared([folder])
    titles = [panel.title for panel in report.main]
    assert {"Beliefs", "Calibration of beliefs"} <= {*titles}
    frame = report.frames["beliefs"]
    rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]
    assert {(row["question"], row["label"]) for row in rows} == {
        (question, label) for question in ("role", "wins") for label in ("bot/random", "bot/candid")
    }
    assert report.frames["reliability"].rows
    measures = {row[report.frames["scores"].columns.index("measure")] for row in report.frames["scores"].rows}
    assert {"brier_role", "brier_wins"} <= measures
    assert "Brier score" in str(report)
    assert json.dumps(report.sentences())


def test_a_games_beliefs_are_of_facts_that_not_all_know(folder: Path) -> None:
    history = load_history(folder / "g0.json")
    record = game_record("g0", history)
    assert record is not None
    dead = {event.data["victim"]: event.seq for part in history.rounds for event in part.events if event.kind == "died"}
    asked = [each for each in history.decisions if each.survey is not None]
    roles = 0
    for decision in asked:
        assert decision.survey is not None
        known = [victim for victim, seq in dead.items() if victim and seq <= (decision.survey.events or 0)]
        roles += 4 - len([victim for victim in known if victim != decision.player])
    assert len([each for each in record.beliefs if each.question == "role"]) == roles


def test_a_report_of_games_without_beliefs_has_no_table_of_them(tmp_path: Path) -> None:
    play_scenario(load({**VOTERS, "seed": 1, "interviews": []}), tmp_path, env={}, stem="g")
    assert "Beliefs" not in [panel.title for panel in compared([tmp_path]).main]
