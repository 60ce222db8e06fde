"""Games that rank no player: what is said of them, and that they are in no table of ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import agentsim, trio
from tests.studies.test_folder_report import QUIET, batch, reported

pytestmark = pytest.mark.usefixtures("without_workers")

SOCIETY = """game = "society"
seed = 3
[game_config]
days = 1
actions_per_day = 1
[[players]]
id = "agent"
count = 4
model = "bot/random"
"""


def test_games_that_rank_no_player_have_no_standings_and_keep_their_counts(tmp_path: Path) -> None:
    folder = batch(tmp_path, 3, text=SOCIETY)
    said = agentsim("report", str(folder), "--html", cwd=tmp_path).out
    page = (folder / "index.html").read_text("utf-8")
    for text in (said, page):
        assert "These games rank no player" in text
        assert not [word for word in ("came first", "ean rank", "Ratings", "Head to head", "Seats") if word in text]
        assert "Calls and cost" in text
    found = reported(folder)
    assert (found["unranked"], found["lines"], found["seats"], found["beats"]) == (3, [], [], [])
    assert [(line["label"], line["games"]) for line in found["played"]] == [(f"agent{n}", 3) for n in range(1, 5)]
    assert not found["tables"]["standings"]
    assert not found["tables"]["seats"]
    assert [row["decisions"] for row in found["tables"]["calls-and-cost"]] == [
        sum(decision["player"] == f"agent{n}" for path in folder.glob("game_*.json")
            for decision in json.loads(path.read_text("utf-8"))["decisions"]) for n in range(1, 5)
    ]  # fmt: skip


def test_standings_are_of_the_games_that_rank_players(tmp_path: Path) -> None:
    folder = batch(tmp_path, 3, text=SOCIETY)
    other = tmp_path / "other"
    other.mkdir()
    wealth = batch(other, 4, text=SOCIETY.replace("days = 1", 'days = 1\nrank_by = "wealth"'))
    words = ("report", str(folder), str(wealth), "--pool")
    found = json.loads(agentsim(*words, "--json", cwd=tmp_path).out)
    assert (found["games"], found["unranked"]) == (7, 3)
    assert {(line["games"], line["entries"]) for line in found["lines"]} == {(4, 4)}
    assert {line["games"] for line in found["played"]} == {7}
    alone = reported(wealth)
    assert [found[key] for key in ("lines", "beats", "seats", "null_p")] == [
        alone[key] for key in ("lines", "beats", "seats", "null_p")
    ]
    assert "Not counted: 3 games without a ranking." in agentsim(*words, cwd=tmp_path).out


def test_games_that_rank_no_player_make_no_pool(tmp_path: Path) -> None:
    said = agentsim("pool", batch(tmp_path, 2, text=SOCIETY).name, "--out", "pool.json", cwd=tmp_path)
    assert (said.code, said.line) == (2, "b: holds games alone that rank no player; a pool is of ranks"), said.err


def test_a_width_without_a_measure_is_of_the_first_score_where_no_player_is_ranked(tmp_path: Path) -> None:
    design = tmp_path / "design.toml"
    design.write_text('replicates = 40\n[factors]\n"game_config.days" = [1, 2]\n', "utf-8")
    words = ("--config", str(trio(tmp_path, SOCIETY)), "--design", str(design), "--out", "b", "--until-width", "1e6")
    said = agentsim("batch", *words, *QUIET, cwd=tmp_path)
    assert (said.code, "no more are needed: wealth of " in said.out) == (0, True), said.err
