"""The questions of two papers: their designs are played, and their tables are computed from the records."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

import agentsim
from agentsim.studies.designs import read_design
from benchmarks import society_questions
from benchmarks.society_questions import Games, first_of, games_in, less, table
from benchmarks.society_scarce import interval
from tests.cli.command_line import ROOT

DESIGNS = {"talk": "govsim", "attitudes": "agentsociety"}
CONDITIONS = {
    "talk": [
        *("silence, all are conditional", "silence, two are selfish"),
        *("talk, all are conditional", "talk, two are selfish"),
    ],
    "attitudes": ["no shock", "Storm"],
}


@pytest.mark.slow
@pytest.mark.parametrize("question", DESIGNS)
def test_a_design_is_played_and_ends_in_one_table(
    question: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ROOT / "configs" / "society" / f"{DESIGNS[question]}.toml"
    cells = len(read_design(path).factorial.cells)
    asyncio.run(agentsim.batch(design=path, games=2 * cells, out=tmp_path / "games"))
    games = games_in(tmp_path / "games", question)
    assert [*games] == CONDITIONS[question]
    assert all(len(own) == 2 for own in games.values())
    society_questions.main([question, str(tmp_path / "games")])
    first, head, _, *rows = capsys.readouterr().out.splitlines()
    assert first == "2 seeds"
    assert head.count("difference: ") == len(games) - sum(each in society_questions.BASES for each in games)
    assert all(row.count("[") == head.count("|") - 2 for row in rows), "every cell has its interval"
    if question == "attitudes":
        for name in ("security", "trust", "sharing"):
            assert less(games, "Storm", f"{name}, day 9") == [0, 0], "it has not come yet"
        assert max(less(games, "Storm", "security, day 11", "security, day 9") or []) < 0


def test_a_planted_change_of_attitudes_is_recovered_as_a_difference_in_differences() -> None:
    """Societies differ, drift, and are unequal before the shock, which moves trust by 8 points."""
    draw, covered = random.Random(7), 0
    for _ in range(40):
        games: dict[str, dict[int, dict[str, float]]] = {"no shock": {}, "Storm": {}}
        for seed in range(25):
            society, drift = draw.gauss(50, 10), draw.gauss(3, 2)
            for condition, moved, unlike in (("no shock", 0.0, 0.0), ("Storm", 8.0, 5.0)):
                before = society + unlike + draw.gauss(0, 1)
                after = before + drift + moved + draw.gauss(0, 3)
                games[condition][seed] = {"trust, day 9": before, "trust, day 11": after}
        found = less(games, "Storm", "trust, day 11", first_of("trust, day 11", ["trust, day 9", "trust, day 11"]))
        assert found is not None
        low, high = interval(found)
        covered += low <= 8 <= high
        assert low > 0
    assert covered >= 35, "of 40, by intervals of 95%"


def test_conditions_are_compared_with_those_that_differ_in_the_first_part_alone() -> None:
    games: Games = {
        "silence, all are conditional": {1: {"awake": 0.1}},
        "silence, two are selfish": {1: {"awake": 0.3}},
        "talk, two are selfish": {1: {"awake": 0.4}},
    }
    assert less(games, "talk, two are selfish", "awake") == pytest.approx([0.1])
    assert less(games, "silence, two are selfish", "awake") is None
    *_, row = table("talk", games)
    assert row.startswith("| awake | 0.10 [0.10, 0.10] | 0.30 [0.30, 0.30] | 0.40 [0.40, 0.40] | +0.10 [")


def test_a_folder_without_whole_seeds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no seed with a game of each condition"):
        games_in(tmp_path, "talk")
