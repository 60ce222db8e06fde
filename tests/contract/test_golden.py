"""Golden playthroughs and journals: a leak, a changed text or a changed rule is a diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsim import games
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import BASE, run_tables
from agentsim.runs.replay import prove
from agentsim.testing import CHECKS
from tests.contract.golden import GOLDEN
from tests.contract.harness import GAMES, case

JOURNALS = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))


@pytest.mark.parametrize("name", GAMES)
def test_the_playthrough_is_the_golden_one(name: str) -> None:
    report = CHECKS["golden_files"](case(name), golden=GOLDEN)
    assert not report.findings, f"if this is meant: python -m tests.contract.golden, and review the diff: {report}"


@pytest.mark.parametrize("name", GAMES)
def test_there_is_a_golden_journal_of_todays_rules(name: str) -> None:
    history = load_history(GOLDEN / f"{name}.json")
    assert history.rules_version == games.find(name).rules_version


@pytest.mark.parametrize("name", JOURNALS)
def test_the_golden_journal_replays(name: str, tmp_path: Path) -> None:
    proof = prove(RunFiles(GOLDEN, name))
    assert proof.complete
    assert proof.decisions == len(proof.history["decisions"])


@pytest.mark.parametrize("name", JOURNALS)
def test_the_golden_journal_holds_nothing_of_the_machine_that_made_it(name: str) -> None:
    head = json.loads((GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").split("\n", 1)[0])
    assert head["run"]["paths"] == {"config": "/tiny.toml", "models": {}, "allow_dirs": []}


@pytest.mark.parametrize("name", JOURNALS)
def test_the_golden_history_becomes_tables_with_rows(name: str) -> None:
    history = load_history(GOLDEN / f"{name}.json")
    tables = run_tables(history)
    seats = [player.id for player in history.players if not player.id.startswith("@")]
    assert set(tables) >= {*BASE, *games.find(history.game).tables([], seats)}
    assert tables["events"].rows
    assert tables["standings"].rows
