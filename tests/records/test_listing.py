"""The list of runs says of each what can be known of it, and stumbles over nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.reading import READER_VERSION
from agentsim.records.fallback_rates import fallback_rates
from agentsim.records.load import RunSummary, list_runs
from agentsim.records.run_files import RunFiles
from agentsim.records.versions import HISTORY_FORMAT
from tests.records.sample import journal

COUNTS = ("calls", "failed_calls", "reasks", "fallbacks", "prompt_tokens", "cached_tokens", "completion_tokens")
HISTORY: dict[str, Any] = {
    "format": HISTORY_FORMAT,
    "status": "completed",
    "game": "agent_island",
    "rules_version": 1,
    "reader": READER_VERSION,
    "seed": 7,
    "scenario": {},
    "players": [{"id": "B", "model": "bot/random"}],
    "rounds": [],
    "decisions": [],
    "outcome": {"reason": "jury vote", "standings": [{"player": "B", "rank": 1}]},
    "usage": {
        **dict.fromkeys((*COUNTS, "reasoning_tokens"), 0),
        "cost_usd": 0.5,
        "known_usd": 0.5,
        "unpriced_calls": 0,
    },
    "texts": [],
    "volatile": {"started_at": "2026-01-02"},
}


def history(folder: Path, name: str, **changes: Any) -> None:
    """A history in which parts of its records are others."""
    parts = {key: {**HISTORY.get(key, {}), **part} if isinstance(part, dict) else part for key, part in changes.items()}
    RunFiles(folder, name).history.write_text(json.dumps({**HISTORY, **parts}), encoding="utf-8")


def only(folder: Path) -> RunSummary:
    (run,) = list_runs(folder)
    return run


@pytest.mark.parametrize("there", [True, False], ids=["empty", "missing"])
def test_a_folder_without_runs_has_none(tmp_path: Path, there: bool) -> None:
    assert list_runs(tmp_path if there else tmp_path / "nosuch") == []


@pytest.mark.parametrize(
    "status", ["completed", "degraded", "interrupted", "stopped_provider", "stopped_budget", "failed"]
)
def test_a_run_with_a_history_has_its_status(tmp_path: Path, status: str) -> None:
    journal(tmp_path).close()
    history(tmp_path, "run", status=status, volatile={"run": {"paths": {"config": "/home/me/a.toml"}}})
    models = {"bot/random": 1}
    assert only(tmp_path) == RunSummary(
        "run", status, "agent_island", 7, "B", 0.5, "2026-01-02", fallback_rates(()), models, "bot/random", "a.toml"
    )
    assert only(tmp_path).to_json()["cost_usd"] == 0.5


def test_a_shared_first_place_an_unknown_cost_and_no_outcome_are_none(tmp_path: Path) -> None:
    history(tmp_path, "shared", outcome={"standings": []}, usage={"cost_usd": None})
    history(tmp_path, "stopped", outcome=None)
    shared, stopped = list_runs(tmp_path)
    assert (shared.winner, shared.cost_usd, stopped.winner) == (None, None, None)


def test_a_run_that_a_process_plays_is_running_whatever_history_it_had(tmp_path: Path) -> None:
    book = journal(tmp_path)
    assert only(tmp_path) == RunSummary("run", "running", "agent_island", 7, None, None, "2026-01-01T00:00:00.000Z")
    history(tmp_path, "run", status="interrupted")
    assert only(tmp_path).status == "running"
    book.close()
    assert only(tmp_path).status == "interrupted"


def test_a_run_that_was_killed_is_interrupted(tmp_path: Path) -> None:
    book = journal(tmp_path)
    book.close()
    with book.path.open("ab") as file:
        file.write(b'{"record":"decis')
    assert only(tmp_path).status == "interrupted"


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"5", b"{}", b"{", b"\xff", b"[" * 100_000, b'{"status": "completed"}', b'{"outcome": "x"}'],
    ids=lambda content: repr(content[:12]),
)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_what_is_no_run_is_unreadable_and_hides_nothing(tmp_path: Path, content: bytes, suffix: str) -> None:
    (tmp_path / f"odd{suffix}").write_bytes(content)
    history(tmp_path, "run")
    assert [(run.name, run.status) for run in list_runs(tmp_path)] == [("odd", "unreadable"), ("run", "completed")]


def test_other_files_and_folders_are_no_runs(tmp_path: Path) -> None:
    for name in ("notes.txt", "style.css", ".run.json.abc.tmp", "run.html"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "folder.json").mkdir()
    assert list_runs(tmp_path) == []


def test_exported_tables_are_no_runs(tmp_path: Path) -> None:
    history(tmp_path, "run")
    for name, content in (
        ("run.events.jsonl", '{"round":0}\n'),
        ("run.standings.jsonl", ""),
        ("run.events.csv", "a\n"),
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert only(tmp_path).name == "run"
    journal(tmp_path, "run.votes").close()
    assert [run.name for run in list_runs(tmp_path)] == ["run.votes", "run"], "a run may be called so"


def test_the_oldest_comes_first_and_one_run_is_one_line(tmp_path: Path) -> None:
    for name, day in (("c", 1), ("a", 3), ("b", 2), ("d", 2)):
        journal(tmp_path, name).close()
        history(tmp_path, name, volatile={"started_at": f"2026-01-0{day}"})
    assert [run.name for run in list_runs(tmp_path)] == ["c", "b", "d", "a"]


def test_a_shared_first_place_says_how_it_came_about_and_a_branch_of_which_run_it_is(tmp_path: Path) -> None:
    players = [{"id": name, "model": "bot/random"} for name in "AB"]
    standings = [{"player": name, "rank": 1} for name in "AB"]
    outcome = {"reason": "The werewolves won", "standings": standings}
    history(tmp_path, "team", players=players, outcome=outcome)
    history(tmp_path, "trunk_at2_mad_b1", fork={"of": "trunk", "at": 2, "wave": 2, "arm": "mad", "branch": 1})
    team, branch = list_runs(tmp_path)
    assert (team.winner, team.first, team.to_json()["shared"]) == (
        None,
        "shared (The werewolves won)",
        "The werewolves won",
    )
    assert branch.first == "B"
    assert branch.branch_of == "branch 1 of arm mad of trunk at 2"
    assert branch.to_json()["fork"] == {"of": "trunk", "at": 2, "arm": "mad", "branch": 1}
