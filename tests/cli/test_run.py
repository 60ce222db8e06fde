"""`agentsim run`: its output, files and exit codes, for any terminal, locale and environment."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.history import History
from tests.amounts import some_of
from tests.cli.command_line import ROOT, TRIO, Said, agentsim, program, real, snapshot, trio
from tests.cli.processes import CommandProcess
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw

pytestmark = pytest.mark.usefixtures("without_workers")

PLAYED = ("run", "--config", "trio.toml", "--display", "none")
KEYS = [*("name", "status", "game", "seed", "winner", "standings", "usage", "history", "journal", "html"), "fallbacks"]
ISLANDERS = "".join(f'\n[[players]]\nid = "{name}"\n' for name in "ABC")


def only_line(said: Said) -> dict[str, Any]:
    """Return the one line of JSON on stdout."""
    assert said.out.endswith("\n")
    assert said.out.count("\n") == 1
    line: dict[str, Any] = json.loads(said.out)
    return line


def history(directory: Path, name: str = "game") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((directory / "logs" / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def steady(loaded: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in loaded.items() if key != "volatile"}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(varied_by_schema).in_thread() as running:
        yield running


def lab(server: FakeServer, scenario: str = "ok", *, more: str = "", key: str = "") -> str:
    """Return a scenario of three players on a fake provider."""
    provider = f'[providers.lab]\nbase_url = "{server.url(scenario)}"\n'
    provider += f'api_key_env = "{key}"\n' if key else ""
    return f'game = "agent_island"\nseed = 7\n{more}\n[defaults]\nmodel = "lab/echo"\n\n{provider}{ISLANDERS}'


# --------------------------------------------------------------------------- what is printed


def test_json_is_exactly_one_line_with_exactly_the_keys_of_the_contract(tmp_path: Path) -> None:
    trio(tmp_path)
    said = agentsim(*PLAYED, "--json", "--name", "game", cwd=tmp_path)
    line = only_line(said)
    assert (said.code, said.err) == (0, "")
    assert list(line) == KEYS
    loaded = history(tmp_path)
    assert (line["name"], line["status"], line["game"], line["seed"]) == ("game", "completed", "agent_island", 7)
    assert (line["winner"], line["standings"]) == (loaded["outcome"]["winner"], loaded["outcome"]["standings"])
    assert line["usage"] == loaded["usage"]
    assert [line[key] for key in ("history", "journal", "html")] == [
        f"logs/game.{ending}" for ending in ("json", "jsonl", "html")
    ]
    assert said.out.isascii()


def test_the_result_is_for_people_without_json(tmp_path: Path) -> None:
    trio(tmp_path)
    said = agentsim(*PLAYED, "--name", "game", cwd=tmp_path)
    first, winner, *places, where, page = said.out.splitlines()
    outcome = history(tmp_path)["outcome"]
    assert first == "game: completed, agent_island, seed 7"
    assert winner == f"winner: {outcome['winner']} (jury vote)"
    assert [re.split("  +", place.strip())[0] for place in places] == [
        f"{place['rank']}. {place['player']}" for place in outcome["standings"]
    ]
    assert (where, page) == ("history: logs/game.json", "page:    logs/game.html")


def test_of_many_players_the_first_are_shown(tmp_path: Path) -> None:
    players = '[[players]]\nid = "agent"\ncount = 23\nmodel = "bot/idle"\n'
    config = f'game = "society"\nseed = 1\n[game_config]\ndays = 1\n{players}'
    (tmp_path / "many.toml").write_text(config, encoding="utf-8")
    said = agentsim("run", "--config", "many.toml", "--display", "none", cwd=tmp_path)
    assert said.code == 0, said.err
    rows = said.out.splitlines()[2:]
    assert rows[7].startswith("  agent8 ")
    assert rows[8] == "  and 15 more, in the history"
    assert len(only_line(agentsim("run", "--config", "many.toml", "--json", cwd=tmp_path))["standings"]) == 23


def test_calls_tokens_and_cost_are_in_the_result_where_there_were_any(tmp_path: Path, server: FakeServer) -> None:
    trio(tmp_path, lab(server))
    said = agentsim(*PLAYED, "--name", "game", cwd=tmp_path)
    usage = history(tmp_path)["usage"]
    assert said.code == 0, said.err
    assert usage["calls"] == len(server.received) > 0
    assert (
        f"calls: {usage['calls']} (0 failed, 0 re-asked, 0 fallbacks); {usage['prompt_tokens']} tokens in, "
        f"{usage['completion_tokens']} out; cost: unknown; "
    ) in said.out


DISPLAYS = {
    "none": "",
    "plain": "game: Agent Island: Deliberations, 3 players\nThe game begins: ",
    "rich": "The game begins: ",
    "auto": "game: Agent Island: Deliberations, 3 players\nThe game begins: ",  # stdin is a pipe
}


@pytest.mark.parametrize("mode", DISPLAYS)
def test_the_display_is_on_stderr_and_changes_nothing_else(mode: str, tmp_path: Path) -> None:
    trio(tmp_path)
    words = ("run", "--config", "trio.toml", "--name", "game")
    said = agentsim(*words, "--display", mode, cwd=tmp_path)
    plain = agentsim(*words, "--display", "none", "--logs-dir", "other/logs", cwd=tmp_path)
    assert said.code == 0
    assert said.err.startswith(DISPLAYS[mode])
    assert bool(said.err) == (mode != "none")
    assert said.out == plain.out.replace("other/", "")
    assert steady(history(tmp_path)) == steady(history(tmp_path / "other"))


def test_the_display_can_be_chosen_for_good(tmp_path: Path) -> None:
    trio(tmp_path)
    assert agentsim("run", "--config", "trio.toml", cwd=tmp_path, env={"AGENTSIM_DISPLAY": "none"}).err == ""


# --------------------------------------------------------------------------- what is written


def test_a_run_leaves_journal_history_and_page_named_by_the_hour(tmp_path: Path) -> None:
    trio(tmp_path, TRIO.replace("seed = 7", 'seed = 7\nname = "trio-1"'))
    before = datetime.now(UTC)
    line = only_line(agentsim(*PLAYED, "--json", cwd=tmp_path))
    stamp = re.fullmatch(r"gameplay_(\d{8}_\d{6})_trio-1", line["name"])
    assert stamp is not None
    when = datetime.strptime(stamp[1], "%Y%m%d_%H%M%S").replace(tzinfo=UTC)
    assert before.replace(microsecond=0) <= when <= datetime.now(UTC)
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == sorted(
        f"{line['name']}.{ending}" for ending in ("jsonl", "json", "html")
    )
    History.model_validate_json((tmp_path / line["history"]).read_bytes())
    for row in (tmp_path / line["journal"]).read_text(encoding="utf-8").splitlines():
        assert isinstance(json.loads(row), dict)
    assert (tmp_path / line["html"]).read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_no_html(tmp_path: Path) -> None:
    trio(tmp_path)
    assert only_line(agentsim(*PLAYED, "--no-html", "--json", "--name", "a", cwd=tmp_path))["html"] is None
    assert "page:" not in agentsim(*PLAYED, "--no-html", "--name", "b", cwd=tmp_path).out
    assert not list((tmp_path / "logs").glob("*.html"))


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    trio(tmp_path)
    assert only_line(agentsim(*PLAYED, "--json", "--name", "game", cwd=tmp_path))["name"] == "game"
    before = snapshot(tmp_path)
    for name in ("game", "game.json"):
        said = agentsim(*PLAYED, "--json", "--name", name, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
        assert said.line == "logs: there is a run called game already; give it another name"
    assert snapshot(tmp_path) == before


def test_a_lone_page_keeps_its_name_too(tmp_path: Path) -> None:
    trio(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "game.html").write_text("mine", encoding="utf-8")
    assert agentsim(*PLAYED, "--json", "--name", "game", cwd=tmp_path).code == 2
    assert (tmp_path / "logs" / "game.html").read_text(encoding="utf-8") == "mine"


def test_where_runs_are_kept(tmp_path: Path) -> None:
    trio(tmp_path)
    env = {"AGENTSIM_LOGS_DIR": "by/environment"}
    by_environment = only_line(agentsim(*PLAYED, "--json", "--name", "game", cwd=tmp_path, env=env))
    words = (*PLAYED, "--json", "--name", "game", "--logs-dir", "by option")
    by_option = only_line(agentsim(*words, cwd=tmp_path, env=env))
    assert by_environment["history"] == "by/environment/game.json"
    assert by_option["history"] == "by option/game.json"
    assert not (tmp_path / "logs").exists()


# --------------------------------------------------------------------------- what the words change


def test_seed(tmp_path: Path) -> None:
    trio(tmp_path)
    for name, words in {"file": (), "same": ("--seed", "7"), "other": ("--seed", "8")}.items():
        agentsim(*PLAYED, *words, "--name", name, cwd=tmp_path)
    file, same, other = (steady(history(tmp_path, name)) for name in ("file", "same", "other"))
    assert file == same
    assert (other["seed"], other["rounds"] == file["rounds"]) == (8, False)


def test_a_seed_that_nobody_gave_is_drawn_and_recorded(tmp_path: Path) -> None:
    trio(tmp_path, TRIO.replace("seed = 7\n", ""))
    seeds = {only_line(agentsim(*PLAYED, "--json", "--name", name, cwd=tmp_path))["seed"] for name in "abc"}
    assert len(seeds) == 3
    drawn = history(tmp_path, "a")
    agentsim(*PLAYED, "--seed", str(drawn["seed"]), "--name", "again", cwd=tmp_path)
    assert steady(history(tmp_path, "again")) == steady(drawn)


def test_set_changes_any_key_and_the_last_word_counts(tmp_path: Path) -> None:
    trio(tmp_path)
    changes = ("players.1.temperature=0.25", "game_config.rounds=1", "game_config.rounds=2", "seed=3", "name=set-1")
    words = [word for change in changes for word in ("--set", change)]
    line = only_line(agentsim(*PLAYED, "--json", *words, "--seed", "4", cwd=tmp_path))
    loaded = history(tmp_path, line["name"])
    assert line["name"].endswith("_set-1")
    assert [player["temperature"] for player in loaded["players"]] == [None, 0.25, None]
    assert loaded["scenario"]["game_config"]["rounds"] == 2
    assert loaded["seed"] == 4, "an option of its own comes after --set"


def test_game_stands_in_for_a_line_of_the_file(tmp_path: Path) -> None:
    trio(tmp_path, TRIO.replace('game = "agent_island"\n', ""))
    assert agentsim(*PLAYED, cwd=tmp_path).code == 2
    line = only_line(agentsim(*PLAYED, "--json", "--game", "agent_island", cwd=tmp_path))
    assert line["game"] == "agent_island"


def test_provider_lets_the_player_file_of_agent_island_play(tmp_path: Path, server: FakeServer) -> None:
    config = ROOT / "configs" / "player_config.toml"
    words = ("--config", str(config), "--game", "agent_island", "--provider", "openrouter", "--display", "none")
    env = {"OPENROUTER_BASE_URL": server.url(), "OPENROUTER_API_KEY": "sk-or-canary-0123456789"}
    line = only_line(agentsim("run", *words, "--json", cwd=tmp_path, env=env))
    players = history(tmp_path, line["name"])["players"]
    assert [player["model"] for player in players] == [
        "openrouter/google/gemini-2.5-flash",
        "openrouter/openai/gpt-5-mini",
        "openrouter/meta-llama/llama-3.3-70b-instruct",
    ]
    assert {received.body["model"] for received in server.received} == {
        player["model"].removeprefix("openrouter/") for player in players
    }
    # The provider's key is not sent to other addresses.
    assert not [received for received in server.received if "canary" in json.dumps(received.headers)]
    assert not [path for path in (tmp_path / "logs").iterdir() if b"canary" in path.read_bytes()]


TWO_FILES = ("--config", "players.toml", "--game-config", "rules.toml", "--game", "agent_island")


def two_files(folder: Path) -> None:
    """Write a player file and a `[game]` file with the keys of the Agent Island project."""
    seats = (("A", "random", "none"), ("B", "grudge", "summarization"), ("C", "loyal", "none"))
    tables = [
        f'[[players]]\nplayer_id = "{player}"\nmodel = "bot/{bot}"\n'
        f'character_prompt = "x"\nmemory_strategy = "{memory}"\n'
        for player, bot, memory in seats
    ]
    (folder / "players.toml").write_text("".join(tables), encoding="utf-8")
    (folder / "rules.toml").write_text(
        "[game]\nnum_players = 3\nnum_rounds = 2\nrules_prompt = 'Three begin.'\nlogs_dir = ''\n"
        'phases = ["sidebars", "pitches", "votes", "elimination", "consolidate_memory"]\n'
        "[game.phase_config.sidebars]\nnum_exchanges = 2\n"
        '[[game.round_overrides]]\nround = 2\nround_type = "final"\nphases = ["pitches", "votes", "opponent_quips"]\n',
        encoding="utf-8",
    )


def test_a_game_file_and_a_player_file_of_agent_island_play_and_replay(tmp_path: Path) -> None:
    two_files(tmp_path)
    said = agentsim("run", *TWO_FILES, "--seed", "3", "--name", "game", "--display", "none", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    kinds = Counter(decision["kind"] for decision in history(tmp_path)["decisions"])
    assert kinds == {"approach": 6, "whisper": 12, "pitch": 5, "vote": 4, "summary": 1, "quips": 3}
    assert agentsim("replay", "game", cwd=tmp_path).code == 0


def test_validate_and_batch_take_two_files_too(tmp_path: Path) -> None:
    two_files(tmp_path)
    said = agentsim("validate", *TWO_FILES, cwd=tmp_path)
    assert said.out.startswith("players.toml: agent_island, 3 players, can be played")
    words = ("--games", "2", "--jobs", "1", "--display", "none", "--out", "many")
    assert agentsim("batch", *TWO_FILES, *words, cwd=tmp_path).code == 0
    assert len([*(tmp_path / "many").rglob("*.jsonl")]) == 2


def test_bots_stay_bots_under_a_provider(tmp_path: Path) -> None:
    trio(tmp_path)
    said = agentsim(*PLAYED, "--provider", "openrouter", "--name", "game", cwd=tmp_path)
    assert said.code == 0
    assert {player["model"] for player in history(tmp_path)["players"]} == {"bot/random", "bot/grudge", "bot/loyal"}


def test_files_elsewhere_need_leave(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "persona.txt").write_text("You are ${player}.", encoding="utf-8")
    trio(tmp_path / "here", f'{TRIO}prompt_file = "../there/persona.txt"')
    assert agentsim(*PLAYED, cwd=tmp_path / "here").code == 2
    assert agentsim(*PLAYED, "--allow-dir", "../there", "--name", "game", cwd=tmp_path / "here").code == 0
    assert history(tmp_path / "here")["scenario"]["players"][2]["prompt"] == "You are C."


def test_the_page_holds_what_was_asked_for(tmp_path: Path, server: FakeServer) -> None:
    def thoughtful(body: dict[str, Any]) -> Raw:
        message = {"role": "assistant", "content": varied_by_schema(body), "reasoning": "because of the weather"}
        return Raw(body=envelope(None, message=message))

    server.reply = thoughtful
    trio(tmp_path, f'{lab(server)}prompt = "You never swim."\n')
    marks = {"prompts": "You never swim.", "reasoning": "because of the weather", "usage": 'id="usage"'}
    shown = {}
    for name, words in {
        "bare": (),
        "prompts": ("--include-prompts",),
        "reasoning": ("--include-reasoning",),
        "usage": ("--include-usage",),
        "all": ("--include-prompts", "--include-reasoning", "--include-usage"),
    }.items():
        assert agentsim(*PLAYED, *words, "--name", name, cwd=tmp_path).code == 0
        shown[name] = (tmp_path / "logs" / f"{name}.html").read_text(encoding="utf-8")
    for name, page in shown.items():
        for part, mark in marks.items():
            assert (mark in page) == (name in {part, "all"}), f"{part} on the page with {name}"


# --------------------------------------------------------------------------- where keys come from

# The environment, use of --env-file, presence of ./.env, and the key that is sent.
KEY_SOURCES: dict[str, tuple[dict[str, str], bool, bool, str | None]] = {
    "environment before all": ({"LAB_KEY": "from-environment"}, True, True, "from-environment"),
    "then the file that is named": ({}, True, True, "from-env-file"),
    "then ./.env": ({}, False, True, "from-dot-env"),
    "an empty variable is none": ({"LAB_KEY": ""}, False, False, None),
    "no parent is searched": ({}, False, False, None),
}


@pytest.mark.parametrize("case", KEY_SOURCES.values(), ids=KEY_SOURCES)
def test_where_keys_come_from(
    case: tuple[dict[str, str], bool, bool, str | None], tmp_path: Path, server: FakeServer
) -> None:
    env, named, here, sent = case
    project = tmp_path / "project"
    (project / "configs").mkdir(parents=True)
    (tmp_path / ".env").write_text("LAB_KEY=from-parent\n", encoding="utf-8")
    (project / "configs" / ".env").write_text("LAB_KEY=from-beside-the-config\n", encoding="utf-8")
    if here:
        (project / ".env").write_text("LAB_KEY=from-dot-env\n", encoding="utf-8")
    (project / "my.env").write_text("LAB_KEY=from-env-file\n", encoding="utf-8")
    trio(project / "configs", lab(server, key="LAB_KEY", more=""))
    words = ("--config", "configs/trio.toml", "--display", "none", "--set", "limits.max_calls=1", "--no-html")
    said = agentsim("run", *words, *(("--env-file", "my.env") if named else ()), cwd=project, env=env)
    if sent is None:
        assert (said.code, server.received) == (2, [])
        assert (
            said.line
            == "configs/trio.toml: defaults.model: lab needs a key: set LAB_KEY in the environment or in ./.env"
        )
    else:
        assert said.code == 5
        assert [received.headers["authorization"] for received in server.received] == [f"Bearer {sent}"]
        assert not [path for path in (project / "logs").iterdir() if sent.encode() in path.read_bytes()]


# --------------------------------------------------------------------------- surroundings


def test_it_works_in_the_c_locale_and_from_another_directory(tmp_path: Path) -> None:
    (tmp_path / "proj é" / "configs").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    persona = tmp_path / "proj é" / "persona.txt"
    persona.write_bytes("You are Zoë ☃, and this is ${player}.\r\n".encode())
    config = trio(tmp_path / "proj é" / "configs", f'{TRIO}prompt_file = "../persona.txt"')
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANG": "", "LANGUAGE": ""}
    words = ("run", "--config", str(config), "--logs-dir", "lögs")
    for mode, name in {"plain": "game", "rich": "other"}.items():
        said = real(*words, "--name", name, "--display", mode, cwd=tmp_path / "elsewhere", env=env)
        assert said.code == 0, said.err
        assert "history: l" in said.out
    loaded = json.loads((tmp_path / "elsewhere" / "lögs" / "game.json").read_text(encoding="utf-8"))
    assert loaded["scenario"]["players"][2]["prompt"] == "You are Zoë ☃, and this is C.\n"
    assert real("schema", cwd=tmp_path, env=env).code == 0


def test_a_reader_who_reads_one_byte_is_no_error(tmp_path: Path) -> None:
    trio(tmp_path)
    command = shlex.join(program(*PLAYED, "--name", "game"))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -c 1"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.stdout, done.stderr) == (b"g", b"")
    assert history(tmp_path)["status"] == "completed"


# The stream without a reader or never opened, the display, and the exit code.
LOST = {
    "stdout without reader": ("stdout", "broken", "plain"),
    "stdout without reader, json": ("stdout", "broken", "none"),
    "stderr without reader": ("stderr", "broken", "plain"),
    "stderr without reader, rich": ("stderr", "broken", "rich"),
    "stdout closed": ("stdout", "closed", "plain"),
    "stderr closed": ("stderr", "closed", "plain"),
    "stderr closed, rich": ("stderr", "closed", "rich"),
}


def _with_lost(stream: str, how: str, words: tuple[str, ...], cwd: Path) -> Said:
    """Run a process with one of its two output streams lost, and capture the other."""
    command = program(*words)
    other = "stderr" if stream == "stdout" else "stdout"
    if how == "closed":
        number = 1 if stream == "stdout" else 2
        command = ["bash", "-c", f"{shlex.join(command)} {number}>&-"]
        done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    else:
        reading, writing = os.pipe()
        os.close(reading)
        streams: dict[str, Any] = {stream: writing, other: subprocess.PIPE}
        done = subprocess.run(command, cwd=cwd, check=False, **streams)
        os.close(writing)
    return Said(done.returncode, (done.stdout or b"").decode("utf-8"), (done.stderr or b"").decode("utf-8"))


@some_of("lost", LOST, "stdout without reader", "stderr without reader, rich", "stderr closed")
def test_a_run_goes_on_without_a_stream(lost: tuple[str, str, str], tmp_path: Path) -> None:
    stream, how, mode = lost
    trio(tmp_path)
    words = ("run", "--config", "trio.toml", "--name", "game", "--display", mode)
    said = _with_lost(stream, how, words, tmp_path)
    loaded = history(tmp_path)
    assert loaded["status"] == "completed"
    assert said.code == 0, said.err
    if stream == "stderr":  # stdout has the result and no display
        assert said.out.splitlines()[0] == "game: completed, agent_island, seed 7"
        assert said.out.count("\n") == 7
    else:
        assert "Traceback" not in said.err
        assert "Error" not in said.err
    for row in (tmp_path / "logs" / "game.jsonl").read_text(encoding="utf-8").splitlines():
        assert isinstance(json.loads(row), dict), "what is meant for the screen is in the journal"


@pytest.mark.parametrize("how", ["broken", "closed"])
def test_an_error_that_nobody_reads_has_its_code(how: str, tmp_path: Path) -> None:
    assert _with_lost("stderr", how, ("run", "--config", "no.toml"), tmp_path) == Said(2, "", "")


# --------------------------------------------------------------------------- exit codes


def test_0_is_done_even_with_fallbacks_where_the_limit_lets_them_be(tmp_path: Path, server: FakeServer) -> None:
    server.reply = lambda body: "no"
    trio(tmp_path, lab(server))
    said = agentsim(*PLAYED, "--json", "--set", "limits.max_fallback_rate=1", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert only_line(said)["usage"]["fallbacks"] > 0


def test_3_is_a_provider_that_cannot_be_used_and_the_run_can_be_resumed(tmp_path: Path, server: FakeServer) -> None:
    trio(tmp_path, lab(server, "bad_key~x"))
    said = agentsim(*PLAYED, "--json", "--name", "game", cwd=tmp_path)
    assert said.code == 3
    assert "lab" in said.line
    assert said.line.endswith("; go on with: agentsim resume game")
    line = only_line(said)
    assert (line["status"], line["winner"], line["standings"]) == ("stopped_provider", None, [])
    assert history(tmp_path)["outcome"] is None


@pytest.mark.parametrize(("limit", "above"), [((), "20%"), (("--set", "limits.max_fallback_rate=0.25"), "25%")])
def test_4_is_degraded_by_default_and_where_a_limit_says_so(
    tmp_path: Path, server: FakeServer, limit: tuple[str, ...], above: str
) -> None:
    server.reply = lambda body: "no"
    trio(tmp_path, lab(server))
    said = agentsim(*PLAYED, "--json", *limit, cwd=tmp_path)
    whose = "4 of 9 (44%); by cause: model 4; by player: A 67%, B 33%, C 33%"
    assert (said.code, said.line) == (4, f"degraded: fallbacks decided more than {above}: {whose}")
    line = only_line(said)
    assert line["status"] == "degraded"
    assert (line["fallbacks"]["share"], line["fallbacks"]["by_player"]["A"]["fallbacks"]) == (0.4444, 2)
    shown = agentsim(*PLAYED, *limit, cwd=tmp_path).out.splitlines()
    assert f"warning: fallbacks decided {whose}; the result says less about the players" in shown
    winner = next(row for row in shown if row.startswith("  1. "))
    assert re.search(r"fallbacks \d of 3 \(\d\d%\)$", winner)


def test_5_is_a_budget_and_resume_goes_on_with_another(tmp_path: Path, server: FakeServer) -> None:
    trio(tmp_path, lab(server))
    said = agentsim(*PLAYED, "--json", "--set", "limits.max_calls=3", "--logs-dir", "my logs", cwd=tmp_path)
    assert said.code == 5
    again = f"agentsim resume {only_line(said)['name']} --logs-dir 'my logs' --max-calls N"
    assert said.line == f"limits.max_calls = 3 is reached; a higher limit is needed; go on with: {again}"
    assert (only_line(said)["status"], only_line(said)["usage"]["calls"]) == ("stopped_budget", 3)
    words = shlex.split(again.removesuffix(" N"))[1:]
    gone_on = agentsim(*words, "100", "--json", "--display", "none", cwd=tmp_path)
    assert (gone_on.code, only_line(gone_on)["status"]) == (0, "completed")
    assert len(server.received) == only_line(gone_on)["usage"]["calls"], "nothing was asked twice"


def test_5_names_the_option_for_the_limit_that_was_met(tmp_path: Path, server: FakeServer) -> None:
    trio(tmp_path, lab(server, more='[prices."lab/echo"]\ninput = 1.0\noutput = 1.0\n'))
    said = agentsim(*PLAYED, "--max-cost", "0", "--name", "game", cwd=tmp_path)
    assert said.code == 5
    assert said.line.endswith("; a higher limit is needed; go on with: agentsim resume game --max-cost USD")


@pytest.mark.parametrize(("limit", "code"), [("1000", 0), ("3", 5)])
def test_a_page_that_cannot_be_written_takes_nothing_from_the_run(
    limit: str, code: int, tmp_path: Path, server: FakeServer
) -> None:
    trio(tmp_path, lab(server))
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "logs.css").write_bytes(b"\xff")
    said = agentsim(*PLAYED, "--json", "--name", "game", "--set", f"limits.max_calls={limit}", cwd=tmp_path)
    assert said.code == code
    assert only_line(said)["html"] is None
    assert only_line(said)["usage"]["calls"] > 0
    note, *more = said.err.splitlines()
    assert note == (
        "agentsim: there is no page: logs/logs.css: is not UTF-8 (byte 0); write it with: agentsim logs --filename game"
    )
    assert len(more) == (code != 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["130 is Ctrl-C", "143 is SIGTERM"])
def test_a_signal_stops_the_run_and_says_how_to_go_on(number: int, tmp_path: Path, server: FakeServer) -> None:
    server.latency_s = 0.2
    trio(tmp_path, lab(server))
    words = (*PLAYED, "--json", "--name", "game")
    process = CommandProcess(*words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(server.received) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)  # waits for another process
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode is not None
    said = Said(process.returncode, out, err)
    assert said.code == 128 + number
    assert only_line(said)["status"] == "interrupted"
    assert said.line.endswith("; go on with: agentsim resume game")
    server.latency_s = 0.0
    gone_on = agentsim("resume", "game", "--json", "--display", "none", cwd=tmp_path)
    assert (gone_on.code, only_line(gone_on)["status"]) == (0, "completed")
