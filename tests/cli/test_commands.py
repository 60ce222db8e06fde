"""The commands around a run: list, show, resume, replay; and the lists of games and models."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agentsim import games as all_games
from agentsim.engine.codec import text_id
from agentsim.models.profiles import BUILT_IN
from agentsim.records.journal import Journal
from agentsim.studies.coding import codebook_names
from tests.cli.command_line import ROOT, TRIO, agentsim, snapshot, trio
from tests.cli.json_schema import complaints
from tests.fakes.journals import change_line

pytestmark = pytest.mark.usefixtures("without_workers")

FINISHED = "done is finished already: nothing was played\n"


def outcome(project: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((project / "logs" / "done.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = loaded["outcome"]
    return found


# --------------------------------------------------------------------------- runs


def test_runs_lists_what_is_there_whatever_it_is(project: Path) -> None:
    before = snapshot(project)
    said = agentsim("runs", cwd=project)
    assert (said.code, said.err) == (0, "")
    head, *rows = [re.split("  +", row) for row in said.out.splitlines()]
    winner = outcome(project)["winner"]
    assert head == [
        "name",
        "started",
        "status",
        "game",
        "seed",
        "players",
        "winner",
        "fallbacks",
        "lost to",
        "cost",
        "models",
    ]
    three = "1 bot/random, 1 bot/grudge, 1 bot/loyal"
    nothing, finished = (
        ["unreadable", *"-------"],
        ["completed", "agent_island", "7", "3", winner, "-", "-", "-", three],
    )
    when = json.loads((project / "logs" / "done.json").read_text())["volatile"]["started_at"][:16].replace("T", " ")
    troubles = [row.pop() for row in rows if row[2] == "unreadable"]
    assert len([words for words in troubles if len(words) > 10]) == 4
    assert sorted(rows) == sorted(
        [
            ["corrupt", "-", *nothing],
            ["cut", when, "interrupted", "agent_island", "7", "3", "-", "-", "-", "-", three],
            ["done", when, *finished],
            ["empty", "-", *nothing],
            ["link", when, *finished],
            ["list", "-", *nothing],
            ["lonely", when, *finished],
            ["torn", "-", *nothing],
        ]
    )
    assert snapshot(project) == before


def test_runs_json_says_the_same_in_one_line(project: Path) -> None:
    said = agentsim("runs", "--json", cwd=project)
    rows = {row["name"]: row for row in json.loads(said.out)}
    assert (said.code, said.err, said.out.count("\n")) == (0, "", 1)
    first = ["name", "status", "game", "seed", "winner", "cost_usd", "started_at", "models", "trouble", "fallbacks"]
    assert list(rows["done"]) == [*first, "shared", "fork", "winner_model", "config"]
    assert rows["done"]["models"] == {"bot/random": 1, "bot/grudge": 1, "bot/loyal": 1}
    done = rows["done"]
    assert (done["winner_model"], done["config"]) == (
        {"A": "bot/random", "B": "bot/grudge", "C": "bot/loyal"}[done["winner"]],
        "trio.toml",
    )
    assert (done["status"], done["seed"], done["winner"]) == ("completed", 7, outcome(project)["winner"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", done["started_at"])
    assert {name: row["status"] for name, row in rows.items() if row["status"] != "completed"} == {
        "corrupt": "unreadable",
        "cut": "interrupted",
        "empty": "unreadable",
        "list": "unreadable",
        "torn": "unreadable",
    }


def test_runs_are_listed_oldest_first(tmp_path: Path) -> None:
    trio(tmp_path)
    for name in ("zebra", "apple"):
        agentsim("run", "--config", "trio.toml", "--display", "none", "--no-html", "--name", name, cwd=tmp_path)
    assert [row["name"] for row in json.loads(agentsim("runs", "--json", cwd=tmp_path).out)] == ["zebra", "apple"]


def test_a_run_that_is_being_played_is_running(project: Path) -> None:
    journal = Journal.reopen(project / "logs" / "cut.jsonl")
    try:
        rows = {row["name"]: row["status"] for row in json.loads(agentsim("runs", "--json", cwd=project).out)}
        assert rows["cut"] == "running"
        said = agentsim("resume", "cut", cwd=project)
        assert (said.code, said.line) == (2, "cut.jsonl: another process is playing this run")
    finally:
        journal.close()


def test_a_batch_without_a_recorded_game_is_named_as_one(project: Path) -> None:
    assert agentsim("batch", "trio.toml", "--games", "1", "--out", "some", cwd=project).code == 0
    for file in (project / "some").glob("game_*"):
        file.unlink()
    said = agentsim("runs", "some", cwd=project)
    assert said.out == "no game of the batch some is recorded yet: agentsim resume some plays it\n"


@pytest.mark.parametrize("there", [True, False], ids=["empty folder", "no folder"])
def test_no_runs_is_no_error(there: bool, tmp_path: Path) -> None:
    if there:
        (tmp_path / "logs").mkdir()
    said = agentsim("runs", cwd=tmp_path)
    assert said.out == (f"no runs in {tmp_path / 'logs'} (--logs-dir DIR or AGENTSIM_LOGS_DIR names another folder)\n")
    assert agentsim("runs", "--json", cwd=tmp_path).out == "[]\n"
    assert (tmp_path / "logs").exists() == there


def test_a_hostile_file_name_cannot_drive_the_terminal(project: Path) -> None:
    (project / "logs" / "\x1b]0;owned\x07\x1b[31mred.json").write_text("{}", encoding="utf-8")
    said = agentsim("runs", cwd=project)
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\nred " in said.out


def test_a_journal_that_is_garbage_is_listed_as_such(project: Path) -> None:
    (project / "logs" / "junk.jsonl").write_bytes(b"\xff\x00 not a journal\n")
    (project / "logs" / "done.jsonl").write_bytes(b"garbage\n")
    said = agentsim("runs", cwd=project)
    assert re.search(
        r"^junk +- +unreadable.* line 1: junk.jsonl: was changed, or is not the line",
        said.out,
        re.MULTILINE,
    )
    assert re.search(r"^done .* bot/loyal; the journal cannot be read; the history can$", said.out, re.MULTILINE)


# --------------------------------------------------------------------------- logs


def test_logs_writes_the_page_that_run_wrote(project: Path) -> None:
    page = project / "logs" / "done.html"
    first = page.read_bytes()
    page.unlink()
    before = snapshot(project)
    said = agentsim("logs", "--filename", "done", cwd=project)
    assert (said.code, said.out, said.err) == (0, "logs/done.html\n", "")
    assert snapshot(project) == {**before, "logs/done.html": first}


@pytest.mark.parametrize("ending", ["", ".json", ".jsonl", ".html"])
def test_a_name_may_have_its_ending(ending: str, project: Path) -> None:
    assert agentsim("logs", "--filename", f"done{ending}", cwd=project).out == "logs/done.html\n"


def test_logs_elsewhere(project: Path) -> None:
    (project / "logs").rename(project / "kept")
    assert agentsim("logs", "--filename", "done", "--logs-dir", "kept", cwd=project).out == "kept/done.html\n"
    env = {"AGENTSIM_LOGS_DIR": "kept"}
    assert agentsim("logs", "--filename", "done", cwd=project, env=env).out == "kept/done.html\n"


def test_logs_and_export_write_where_out_says_and_json_names_the_files(project: Path) -> None:
    before = snapshot(project)
    page = agentsim("logs", "done", "--out", "../pages/new/page.html", "--as-seen-by", "A", "--json", cwd=project)
    assert json.loads(page.out) == {"name": "done", "as_seen_by": "A", "html": "../pages/new/page.html"}
    assert "as seen by A" in (project.parent / "pages" / "new" / "page.html").read_text("utf-8")
    tables = agentsim("export", "done", "--out", "../tables", "--json", cwd=project)
    rows = json.loads(tables.out)
    assert rows["../tables/done.standings.csv"] == 3
    assert {path.name for path in (project.parent / "tables").iterdir()} == {Path(each).name for each in rows}
    assert snapshot(project) == before
    assert agentsim("export", "done", "--out", "trio.toml", cwd=project).line == "--out trio.toml: is not a directory"
    assert (
        agentsim("logs", "done", "--out", "trio.toml/x.html", cwd=project).line
        == "trio.toml: cannot be made: File exists"
    )


def test_logs_with_every_flag(project: Path) -> None:
    page = project / "logs" / "done.html"
    bare = page.read_text(encoding="utf-8")
    assert 'id="usage"' not in bare
    flags = ("--include-prompts", "--include-reasoning", "--include-usage")
    assert agentsim("logs", "--filename", "done", *flags, cwd=project).code == 0
    assert 'id="usage"' in page.read_text(encoding="utf-8")
    assert agentsim("logs", "--filename", "done", cwd=project).code == 0
    assert page.read_text(encoding="utf-8") == bare


def test_logs_as_seen_by_a_player_hides_the_votes_of_the_others(project: Path) -> None:
    loaded = json.loads((project / "logs" / "done.json").read_text(encoding="utf-8"))
    events = [event for part in loaded["rounds"] for event in part["events"]]
    secret = {event["content"] for event in events if event["visibility"] == ["B"]}
    own = {event["content"] for event in events if event["visibility"] == ["A"]} - secret
    assert secret
    assert own
    page = project / "logs" / "done.html"
    assert agentsim("logs", "done", cwd=project).code == 0
    whole = page.read_text(encoding="utf-8")
    assert agentsim("logs", "done", "--as-seen-by", "A", cwd=project).out == "logs/done.A.html\n"
    seen = page.with_name("done.A.html").read_text(encoding="utf-8")
    everything = snapshot(project)
    assert page.read_text(encoding="utf-8") == whole, "the whole page is left as it was"
    assert [words for words in secret if words in whole]
    assert not [words for words in secret if words in seen]
    assert [words for words in own if words in seen]
    assert everything["logs/done.json"] == snapshot(project)["logs/done.json"]


def test_logs_open(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("typer.launch", opened.append)
    agentsim("logs", "--filename", "done", cwd=project)
    assert opened == []
    agentsim("logs", "--filename", "done", "--open", cwd=project)
    assert opened == ["logs/done.html"]


def test_a_page_that_is_a_link_is_replaced_not_followed(project: Path) -> None:
    page = project / "logs" / "done.html"
    page.unlink()
    page.symlink_to(project / "file")
    assert agentsim("logs", "--filename", "done", cwd=project).code == 0
    assert (project / "file").read_text(encoding="utf-8") == "not a folder"
    assert not page.is_symlink()


# --------------------------------------------------------------------------- resume and replay


def test_resuming_a_finished_run_changes_nothing(project: Path) -> None:
    before = snapshot(project)
    for words in ((), ("--json",), ("--include-prompts", "--include-usage", "--max-calls", "1")):
        said = agentsim("resume", "done", *words, cwd=project)
        assert (said.code, said.err) == (0, FINISHED)
        if "--json" in words:
            assert json.loads(said.out)["status"] == "completed"
        else:
            assert said.out.startswith("done: completed, agent_island, seed 7\n")
    assert snapshot(project) == before


def test_resuming_a_degraded_run_is_no_failure_and_its_page_is_named(project: Path) -> None:
    history = project / "logs" / "done.json"
    text = history.read_text(encoding="utf-8").replace('"completed"', '"degraded"')
    history.write_text(text, encoding="utf-8")
    stopped = {"status": "degraded", "history": text_id(text)}
    change_line(project / "logs" / "done.jsonl", '"record":"stop"', lambda line: line.update(stopped))
    before = snapshot(project)
    said = agentsim("resume", "done", "--json", cwd=project)
    assert (said.code, said.err) == (0, FINISHED)
    assert (json.loads(said.out)["status"], json.loads(said.out)["html"]) == ("degraded", "logs/done.html")
    assert "page:    logs/done.html\n" in agentsim("resume", "done", cwd=project).out
    assert snapshot(project) == before
    (project / "logs" / "done.html").unlink()
    assert json.loads(agentsim("resume", "done", "--json", cwd=project).out)["html"] is None


def test_resuming_a_run_whose_history_and_journal_are_damaged_is_one_line(project: Path) -> None:
    (project / "logs" / "done.json").write_text("{", encoding="utf-8")
    journal = project / "logs" / "done.jsonl"
    change_line(journal, '"record":"decision"', None)
    before = snapshot(project)
    said = agentsim("resume", "done", cwd=project)
    assert (said.code, said.out, snapshot(project) == before) == (1, "", True)
    assert "done" in said.line


def test_logs_and_replay_say_that_a_run_is_being_played(project: Path) -> None:
    logs = project / "logs"
    (logs / "both.jsonl").write_bytes((logs / "done.jsonl").read_bytes())
    (logs / "both.json").write_bytes((logs / "done.json").read_bytes())
    journals = [Journal.reopen(logs / f"{name}.jsonl") for name in ("cut", "both")]
    try:
        for words in (("logs", "--filename", "cut"), ("replay", "cut"), ("replay", "both")):
            said = agentsim(*words, cwd=project)
            assert said.code == 2
            assert said.line.startswith(f"{words[-1]}: is being played now; ")
        said = agentsim("logs", "--filename", "both", cwd=project)
        assert (said.code, said.out) == (0, "logs/both.html\n")
        assert said.line == "both: is being played now; the page shows it as it last stopped"
    finally:
        for journal in journals:
            journal.close()


def test_hints_find_runs_that_are_kept_elsewhere(project: Path) -> None:
    (project / "logs").rename(project / "my logs")
    for words in (("logs", "--filename", "cut"), ("replay", "cut")):
        said = agentsim(*words, "--logs-dir", "my logs", cwd=project)
        assert said.code == 2
        assert said.line.endswith("; `agentsim resume cut --logs-dir 'my logs'` ends the run")


def test_resuming_a_cut_run_ends_it_as_it_would_have_ended(project: Path) -> None:
    whole = json.loads((project / "logs" / "done.json").read_text(encoding="utf-8"))
    said = agentsim("resume", "cut", "--display", "none", "--json", cwd=project)
    assert (said.code, said.err) == (0, "")
    line = json.loads(said.out)
    assert (line["status"], line["html"]) == ("completed", "logs/cut.html")
    resumed = json.loads((project / "logs" / "cut.json").read_text(encoding="utf-8"))
    assert {**resumed, "volatile": None} == {**whole, "volatile": None}
    assert agentsim("replay", "cut", cwd=project).code == 0


def test_resume_and_replay_take_their_scenario_from_the_journal(project: Path) -> None:
    (project / "trio.toml").unlink()
    assert agentsim("resume", "cut", "--display", "none", "--no-html", cwd=project).code == 0
    assert agentsim("replay", "cut", cwd=project).code == 0


def test_replay_proves_and_changes_nothing(project: Path) -> None:
    before = snapshot(project)
    said = agentsim("replay", "done", cwd=project)
    assert (said.code, said.err) == (0, "")
    decisions = len(json.loads((project / "logs" / "done.json").read_text(encoding="utf-8"))["decisions"])
    assert said.out == f"done: {decisions} decisions replayed to the end of the game; the history is identical\n"
    line = json.loads(agentsim("replay", "done", "--json", cwd=project).out)
    assert line == {
        "name": "done",
        "identical": True,
        "decisions": decisions,
        "complete": True,
    }
    assert snapshot(project) == before


def test_replay_finds_what_was_changed(project: Path) -> None:
    path = project / "logs" / "done.json"
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["outcome"]["winner"] = "B"
    path.write_text(json.dumps(changed), encoding="utf-8")
    said = agentsim("replay", "done", cwd=project)
    assert (said.code, said.out) == (1, "")
    assert said.line == f'done: outcome.winner: "B" in the history, "{outcome_of_replay(project)}" in the replay'


def outcome_of_replay(project: Path) -> str:
    """Return the true winner, from the untouched copy of the history."""
    loaded = json.loads((project / "logs" / "lonely.json").read_text(encoding="utf-8"))
    return str(loaded["outcome"]["winner"])


# --------------------------------------------------------------------------- validate, games, models, schema


def test_validate_says_who_would_play(project: Path) -> None:
    before = snapshot(project)
    said = agentsim("validate", "--config", "trio.toml", cwd=project)
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        "trio.toml: agent_island, 3 players, can be played\n  A: bot/random\n  B: bot/grudge\n  C: bot/loyal\n"
    )
    assert snapshot(project) == before


def test_validate_json_says_the_same_in_one_line(project: Path) -> None:
    said = agentsim("validate", "trio.toml", "--games", "3", "--show-prompts", "--json", cwd=project)
    assert (said.code, said.err, said.out.count("\n")) == (0, "", 1)
    found = json.loads(said.out)
    assert (found["file"], found["game"], found["games"]) == ("trio.toml", "agent_island", 3)
    assert found["players"][0] == {"id": "A", "model": "bot/random"}
    assert (found["forecast"]["calls"], found["warnings"], found["ping"]) == (0, [], [])
    assert [message["role"] for message in found["prompts"]["A"]] == ["system", "user"]


def test_validate_shows_the_first_question_to_each_player(project: Path) -> None:
    text = TRIO.replace('model = "bot/loyal"', 'model = "lab/m"\nprompt = "You are a cheerful islander."')
    text += '[providers.lab]\nbase_url = "http://127.0.0.1:9/v1"\n'
    (project / "prompts.toml").write_text(text, encoding="utf-8")
    said = agentsim("validate", "prompts.toml", "--show-prompts", cwd=project)
    assert said.code == 0, said.err
    titles = re.findall(r"^=== the first question to (\w+): (\w+)", said.out, re.MULTILINE)
    assert titles == [("C", "pitch")], "bots get no prompts"
    assert "You are a cheerful islander." in said.out
    assert re.findall(r"^--- (\w+)$", said.out, re.MULTILINE)[0] == "system"
    of_bots = agentsim("validate", "trio.toml", "--show-prompts", cwd=project).out
    assert [name for name, _ in re.findall(r"^=== the first question to (\w+): (\w+)", of_bots, re.MULTILINE)] == [
        *("A", "B", "C")
    ]


def test_validate_takes_what_run_takes(project: Path) -> None:
    text = TRIO.replace('game = "agent_island"\n', "").replace("bot/loyal", "google/gemini-2.5-flash")
    trio(project, text)
    (project / "my.env").write_text("OPENROUTER_API_KEY=sk-or-canary-0123456789\n", encoding="utf-8")
    words = ("--game", "agent_island", "--provider", "openrouter", "--env-file", "my.env", "--set", "players.0.id=Z")
    said = agentsim("validate", "--config", "trio.toml", *words, cwd=project)
    assert (said.code, said.err) == (0, "")
    assert "  Z: bot/random\n" in said.out
    assert "  C: openrouter/google/gemini-2.5-flash\n" in said.out
    assert "canary" not in said.out


def test_games_lists_every_game_with_its_bots(tmp_path: Path) -> None:
    said = agentsim("games", cwd=tmp_path)
    rows = json.loads(agentsim("games", "--json", cwd=tmp_path).out)
    assert (said.code, said.err) == (0, "")
    assert [row["name"] for row in rows] == all_games.names()
    for row in rows:
        assert list(row) == ["name", "title", "summary", "bots", "staff", "rules_version"]
        assert f"{row['name']}: {row['summary']}\n" in said.out
        assert ", ".join(f"bot/{bot}" for bot in row["bots"]) in said.out


def test_models_lists_providers_and_never_a_key(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENROUTER_API_KEY=sk-or-canary-0123456789\n", encoding="utf-8")
    env = {"OLLAMA_HOST": "127.0.0.1:9999", "GOOGLE_API_KEY": "AIza-canary-0123456789"}
    said = agentsim("models", cwd=tmp_path, env=env)
    rows = {row["name"]: row for row in json.loads(agentsim("models", "--json", cwd=tmp_path, env=env).out)}
    assert (said.code, said.err) == (0, "")
    keys = {name: row["key"] for name, row in rows.items() if "key" in row}
    assert list(keys) == [f"{provider}/<model>" for provider in BUILT_IN]
    assert {name.partition("/")[0] for name, key in keys.items() if key == "set"} == {"openrouter", "gemini"}
    free = {name.partition("/")[0] for name, key in keys.items() if key == "not needed"}
    assert free == {"sglang", "ollama", "vllm", "lmstudio", "llama-server"}
    assert "azure/<model>: (an address of your own), key missing (AZURE_OPENAI_API_KEY)\n" in said.out
    assert rows["ollama/<model>"]["base_url"] == "http://127.0.0.1:9999/v1"
    assert "local/smollm2-135m" in rows
    assert "canary" not in said.out + json.dumps(rows)
    assert "openai/<model>: https://api.openai.com/v1, key missing (OPENAI_API_KEY)\n" in said.out


def test_models_says_that_an_address_of_the_environment_is_none(tmp_path: Path) -> None:
    said = agentsim("models", cwd=tmp_path, env={"OPENAI_BASE_URL": "junk"})
    assert (said.code, said.out) == (2, "")
    assert said.line == "the environment variable OPENAI_BASE_URL must look like http://host:port/v1"


def test_schema_is_a_json_schema(tmp_path: Path) -> None:
    said = agentsim("schema", cwd=tmp_path)
    loaded = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert loaded["properties"]["game"]["enum"] == all_games.names()
    references = re.findall(r'"\$ref": "#/\$defs/([^"]+)"', said.out)
    assert references
    assert set(references) <= set(loaded["$defs"])
    assert not list(tmp_path.iterdir())


def test_the_help_of_code_names_each_codebook_that_comes_along(tmp_path: Path) -> None:
    words = re.findall(r"[a-z]+", agentsim("code", "--help", cwd=tmp_path, env={"COLUMNS": "200"}).out)
    assert {*codebook_names()} <= {*words}


def test_each_codebook_that_comes_along_fits_the_schema_of_codebooks_and_a_misspelt_key_does_not(
    tmp_path: Path,
) -> None:
    said = agentsim("schema", "--codebook", cwd=tmp_path)
    found = json.loads(said.out)
    for path in (ROOT / "agentsim" / "studies" / "codebooks").glob("*.toml"):
        book = tomllib.loads(path.read_text("utf-8"))
        assert complaints(book, found) == []
        assert complaints(book | {"contxt": 2}, found)
    assert found["properties"]["unit"]["description"].startswith("The units: each event")


# --------------------------------------------------------------------------- names of runs


@pytest.fixture(scope="module")
def _with_batch(_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = shutil.copytree(_template, tmp_path_factory.mktemp("batch") / "project", symlinks=True)
    words = ("batch", "trio.toml", "--games", "2", "--out", "logs/lot", "--display", "none")
    assert agentsim(*words, cwd=made).code == 0
    return made


@pytest.fixture
def batch(_with_batch: Path, tmp_path: Path) -> Path:
    """Return a copy of the project with a batch `lot`, which is played once."""
    return Path(shutil.copytree(_with_batch, tmp_path / "with batch", symlinks=True))


@pytest.mark.parametrize("name", ["lot/game_0001", "logs/lot/game_0001", "logs/lot/game_0001.json"])
@pytest.mark.parametrize(
    "words",
    [
        *(("logs", "{}"), ("logs", "--filename", "{}"), ("replay", "{}"), ("resume", "{}"), ("runs", "{}")),
        *(("export", "{}"), ("bundle", "{}"), ("watch", "{}"), ("diff", "{}", "{}"), ("fork", "{}", "--at", "2")),
    ],
    ids=" ".join,
)
def test_a_run_of_a_batch_is_named_by_its_folder_or_path_in_every_command(
    words: tuple[str, ...], name: str, batch: Path
) -> None:
    assert agentsim(*(word.format(name) for word in words), cwd=batch).code == 0


def test_a_run_that_is_in_a_batch_is_found_for_one_who_forgets_the_folder(batch: Path) -> None:
    said = agentsim("logs", "game_0001", cwd=batch)
    assert said.line == "logs: there is no run called 'game_0001' (did you mean lot/game_0001?)"


def test_the_folder_that_was_looked_into_is_named_where_it_is_missing(tmp_path: Path) -> None:
    said = agentsim("logs", "first", cwd=tmp_path)
    assert said.line.startswith(f"{tmp_path / 'logs'} (no such folder): there is no run called 'first'")


def test_runs_lists_the_batches_and_the_runs_of_one(batch: Path) -> None:
    last = agentsim("runs", cwd=batch).out.splitlines()[-1]
    assert last == "batch lot: agent_island, 2 of 2 games (agentsim runs lot)"
    *_, told = json.loads(agentsim("runs", "--json", cwd=batch).out)
    models = ["bot/random", "bot/grudge", "bot/loyal"]
    assert told == {"batch": "lot", "game": "agent_island", "games": 2, "done": 2, "models": models}
    for folder in ("lot", "logs/lot"):
        inside = agentsim("runs", folder, cwd=batch).out.splitlines()[1:]
        assert sorted(row.split()[0] for row in inside) == ["game_0001", "game_0002"]


@pytest.mark.parametrize("name", ["done", "cut"])
def test_runs_of_a_run_lists_the_numbers_that_fork_takes(name: str, project: Path) -> None:
    said = agentsim("runs", name, cwd=project)
    rows = said.out.splitlines()[1:]
    assert [int(row.split()[0]) for row in rows] == list(range(1, len(rows) + 1))
    assert f"agentsim fork {name} --at N" in said.err
    entries = json.loads(agentsim("runs", name, "--json", cwd=project).out)
    assert [entry["index"] for entry in entries] == list(range(1, len(rows) + 1))
    assert {"player", "kind", "decision", "source"} <= set(entries[0])


def test_diff_says_where_to_fork(project: Path) -> None:
    assert agentsim("fork", "done", "--at", "2", "--name", "other", "--branches", "1", cwd=project).code == 0
    (made,) = (project / "logs").glob("other*.json")
    said = agentsim("diff", "done", made.stem, cwd=project).out
    assert re.search(r"the first decision that differs is number (\d+) \(`agentsim fork done --at \1` plays on", said)


def test_rm_deletes_the_files_of_a_run_and_of_no_other(project: Path) -> None:
    assert agentsim("export", "done", cwd=project).code == 0
    logs = project / "logs"
    (logs / "done.2.jsonl").write_bytes((logs / "done.jsonl").read_bytes())
    (logs / "done.2.html").write_text("a page", encoding="utf-8")
    before = snapshot(logs)
    said = agentsim("rm", "done", "--yes", cwd=project)
    assert said.code == 0
    gone = before.keys() - snapshot(logs).keys()
    assert {"done.json", "done.jsonl", "done.html", "done.events.csv"} <= gone
    assert not {"done.2.jsonl", "done.2.html"} & gone
    assert said.out == f"done: {len(gone)} files deleted\n"


def test_rm_asks_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(project / "logs")
    said = agentsim("rm", "done", cwd=project)
    assert (said.code, said.line) == (
        2,
        "done: --yes deletes these files without a question; nothing was deleted",
    )
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert agentsim("rm", "done", cwd=project).out.endswith("nothing was deleted\n")
    assert snapshot(project / "logs") == before
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert agentsim("rm", "done", cwd=project).code == 0
    assert not (project / "logs" / "done.json").exists()


class Terminal(io.StringIO):
    """A standard input at which a person sits."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("command", ["run", "batch"])
def test_limits_of_the_command_line_hold(command: str, project: Path) -> None:
    words = {"run": ("--name", "limited", "--no-html"), "batch": ("--games", "1", "--out", "logs/limited")}[command]
    said = agentsim(
        command, "trio.toml", *words, "--max-calls", "7", "--max-wall", "99", "--display", "none", cwd=project
    )
    assert said.code == 0, said.err
    (head,) = {
        path.read_text("utf-8").splitlines()[0]
        for path in (project / "logs").rglob("*.jsonl")
        if "limited" in str(path)
    }
    limits = json.loads(head)["run"]["limits"]
    assert (limits["max_calls"], limits["max_wall_s"]) == (7, 99)
