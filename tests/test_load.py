"""`agentsim.load`: a run, a file or a folder as DataFrames, and the low cost of `import agentsim`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import agentsim
from agentsim.engine.panel import Frame
from agentsim.errors import AgentsimError, UsageError
from agentsim.records import folders
from agentsim.records.tables import BASE
from agentsim.results import RecordedRun, RecordedRuns
from tests.cli.command_line import agentsim as command
from tests.cli.command_line import trio

TABLES = ["events", "decisions", "standings", "usage", "pairs", "survey", "beliefs", "votes", "tallies"]
LEADING = ["run", "game", "seed", "status"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play three runs of bots."""
    project = tmp_path_factory.mktemp("project")
    trio(project)
    for name, seed in (("first", 1), ("second", 2), ("third", 3)):
        words = ("--name", name, "--seed", str(seed), "--display", "none", "--no-html")
        assert command("run", "--config", "trio.toml", *words, cwd=project).code == 0
    return project / "logs"


def one(logs: Path) -> RecordedRun:
    loaded = agentsim.load("first", logs_dir=logs)
    assert isinstance(loaded, RecordedRun)
    return loaded


def all_of(source: Path) -> RecordedRuns:
    loaded = agentsim.load(source)
    assert isinstance(loaded, RecordedRuns)
    return loaded


def test_a_runs_tables_have_exactly_their_columns(logs: Path) -> None:
    run = one(logs)
    assert run.name == "first"
    assert list(run.tables) == TABLES
    assert len(run.tables) == len(TABLES)
    assert run.history == json.loads((logs / "first.json").read_text(encoding="utf-8"))
    for table in ("events", "decisions", "usage", "pairs"):
        assert list(run.tables[table].columns) == list(BASE[table])
    votes = run.tables["votes"]
    assert isinstance(votes, pd.DataFrame)
    assert list(votes.columns) == [
        "round",
        "final",
        "voter",
        "choice",
        "explanation",
        "ballot",
        "position",
        "voter_model",
        "choice_model",
    ]
    assert len(run.tables["events"]) == sum(len(part["events"]) for part in run.history["rounds"])


def test_columns_have_the_types_of_what_they_hold(logs: Path) -> None:
    tables = one(logs).tables
    assert {name: str(kind) for name, kind in tables["events"].dtypes.items()} == {
        **dict.fromkeys(("kind", "heading", "role", "content", "round_title"), str(pd.Series([""]).dtype)),
        **dict.fromkeys(("visibility", "data"), "object"),
        **dict.fromkeys(("round", "seq"), "int64"),
        "decision": "Int64",
    }
    decisions = tables["decisions"]
    assert [str(decisions[name].dtype) for name in ("index", "prompt_tokens", "repaired", "cost_usd")] == [
        *("int64", "Int64", "boolean", "float64")
    ]
    assert decisions["fallback_reason"].dtype == decisions["kind"].dtype, "a column without words is one of words"
    assert decisions[["prompt_tokens", "cost_usd", "fallback_reason", "reply_model"]].isna().all(axis=None)
    assert str(tables["standings"]["winner"].dtype) == "bool"
    assert tables["standings"].loc[tables["standings"]["winner"], "rank"].tolist() == [1]


def test_json_columns_hold_objects(logs: Path) -> None:
    run = one(logs)
    events = [event for part in run.history["rounds"] for event in part["events"]]
    assert run.tables["events"]["data"].tolist() == [event["data"] for event in events]
    assert run.tables["events"]["visibility"].tolist() == [event["visibility"] for event in events]
    assert run.tables["decisions"]["decision"].tolist() == [taken["decision"] for taken in run.history["decisions"]]


def test_a_table_is_made_once_and_an_unknown_one_names_those_there_are(logs: Path) -> None:
    tables = one(logs).tables
    assert tables["votes"] is tables["votes"]
    assert "votes" in tables
    assert "vote" not in tables
    assert tables.get("vote") is None
    with pytest.raises(KeyError, match=r"vote: there is no such table \(events, decisions, .*, tallies\)"):
        tables["vote"]


def test_what_is_loaded_says_what_it_is(logs: Path) -> None:
    run = one(logs)
    assert repr(run) == "<RecordedRun first: agent_island, seed 1, completed>"
    assert "tables" not in vars(run), "tables are made when they are asked for, not to print a line"
    sizes = f"events {len(run.tables['events'])}x10, decisions {len(run.tables['decisions'])}x22, standings 3x8"
    assert repr(run.tables).startswith(f"<Tables {sizes}, usage 3x12, pairs ")
    assert repr(all_of(logs)).startswith(f"<RecordedRuns {logs}: 3 of 3 runs; <Tables events, decisions, ")


def test_a_run_is_found_by_name_by_path_and_by_the_environment(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = one(logs).tables["votes"]
    monkeypatch.chdir(logs.parent)
    for source in ("first", "first.json", "logs/first.json", logs / "first.json"):
        loaded = agentsim.load(source)
        assert loaded.tables["votes"].equals(votes)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTSIM_LOGS_DIR", str(logs))
    assert agentsim.load("first").tables["votes"].equals(votes)
    with pytest.raises(UsageError, match="there is no run called 'first'"):
        agentsim.load("first", logs_dir=tmp_path)


def test_a_folder_is_one_table_over_all_runs(logs: Path) -> None:
    runs = all_of(logs)
    assert (runs.names, dict(runs.skipped)) == (("first", "second", "third"), {})
    assert list(runs.tables) == TABLES
    for table in TABLES:
        frame = runs.tables[table]
        assert list(frame.columns[:4]) == LEADING
        alone = one(logs).tables[table]
        of_first = frame[frame["run"] == "first"].drop(columns=LEADING).reset_index(drop=True)
        assert of_first.equals(alone)
    assert runs.tables["standings"].groupby("run")["seed"].first().to_dict() == {"first": 1, "second": 2, "third": 3}


def test_what_cannot_be_read_of_a_folder_is_a_warning_that_names_it(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "good.json").write_bytes((logs / "first.json").read_bytes())
    (tmp_path / "torn.json").write_text("{", encoding="utf-8")
    with pytest.warns(UserWarning, match="left out, without a readable history: torn$") as caught:
        runs = all_of(tmp_path)
    assert caught[0].filename == __file__, "the warning points at the line that loads"
    assert runs.names == ("good",)
    assert runs.skipped["torn"].startswith(f"{tmp_path}/torn.json: is not an agentsim history")
    assert ": 1 of 2 runs; " in repr(runs)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("nosuch", "there is no run called 'nosuch'"),
        ("no/such.json", "^no/such.json: there is no such file or folder, neither here nor in logs$"),
        ("first.jsonl", "is not an agentsim history"),
        ("", "is not the name of a run"),
        ("empty", "empty: holds no run with a readable history"),
        ("logs/cut.jsonl", "is not an agentsim history"),
        ("cut", "^cut: has a journal but no history yet; `agentsim resume cut` ends the run$"),
    ],
)
def test_what_cannot_be_loaded_is_an_error_of_one_line(
    source: str, problem: str, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first.jsonl").write_bytes((logs / "first.jsonl").read_bytes())
    (tmp_path / "empty").mkdir()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "cut.jsonl").write_bytes((logs / "first.jsonl").read_bytes())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=problem) as caught:
        agentsim.load(source)
    assert "\n" not in str(caught.value)


def test_without_pandas_the_extra_is_named_and_the_history_is_there(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    run = one(logs)
    assert run.history["game"] == "agent_island"
    line = r"^pandas is not installed: `uv sync --extra data` or `pip install '\.\[data\]'` in the checkout$"
    with pytest.raises(AgentsimError, match=line):
        run.tables["votes"]


def test_importing_agentsim_loads_nothing_of_it_and_nothing_heavy(tmp_path: Path) -> None:
    script = "import json, sys, agentsim; dir(agentsim); print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert [name for name in loaded if name.startswith("agentsim.")] == []
    assert not loaded & {"pandas", "numpy", "pyarrow", "pydantic"}


def test_a_history_is_read_and_exported_without_pandas(logs: Path) -> None:
    """The extra is needed for DataFrames and Parquet only."""
    script = (
        "import sys; sys.modules['pandas'] = sys.modules['pyarrow'] = sys.modules['numpy'] = None\n"
        "sys.argv = ['agentsim', 'export', 'first', '--logs-dir', sys.argv[1]]\n"
        "from agentsim.cli.app import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(logs)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_s_tables_are_made_when_they_are_asked_for(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Frame] = []
    united = folders._united

    def counted(parts: Any, settings: Any) -> Frame:
        made.append(united(parts, settings))
        return made[-1]

    monkeypatch.setattr(folders, "_united", counted)
    runs = all_of(logs)
    assert (made, "votes" in runs.tables, len(runs.tables)) == ([], True, len(TABLES))
    assert "votes" in repr(runs)
    assert made == []
    assert len(runs.tables["standings"]) > 0
    assert len(made) == 1, "and no other one with it"
