"""Mistakes at the command line: exit code 2, one line that names the mistake and its place, no file written."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import installed_by
from agentsim.models.profiles import BUILT_IN
from tests.amounts import one_in, some_of
from tests.cli.command_line import TRIO, agentsim, program, real, snapshot

PLAYED = ("run", "--config", "trio.toml")
LAB = '\n[providers.lab]\nbase_url = "http://127.0.0.1:9/v1"\n'
NO_NAME = "is not the name of a run (valid: A-Z a-z 0-9 . _ -, no path)"
MODEL_SHAPE = (
    "must be provider/model such as openai/gpt-5-mini, bot/<policy>, human, web, script:<file> or local/<model>; "
    "--provider P puts P/ before every model name"
)
PROVIDERS = f"{', '.join(BUILT_IN)}, local, bot"


def third(model: str) -> str:
    """The trio with another model for player C."""
    return TRIO.replace("bot/loyal", model)


# Another text for trio.toml, and the beginning of the line.
FILES: dict[str, tuple[str, str]] = {
    "broken TOML": ("game = \n", "trio.toml: not TOML: Invalid value (at line 1, column 8)"),
    "a dictionary in JSON's words": (
        TRIO.replace("seed = 7", 'limits = {"max_calls": 5}'),
        "...trio.toml: not TOML: ...; = stands between a key and its value in {...} too",
    ),
    "players in one pair of brackets": (
        TRIO.replace("[[players]]", "[players]", 1),
        "...trio.toml: not TOML: ...: [[players]]; an earlier table is [players]: write [[players]] each time",
    ),
    "a comma in a number": (f"{TRIO}[limits]\nmax_cost_usd = 1,50", "...max_cost_usd = 1,50; decimals have a point"),
    "a number with a unit": (f"{TRIO}[limits]\nmax_wall_s = 70%", "...max_wall_s = 70%; a number has no unit"),
    "a setting of the game at the top": (
        f"pitch_chars = 200\n{TRIO}",
        "trio.toml: pitch_chars: unknown key; it belongs below [game_config]",
    ),
    "nothing in it": ("", "trio.toml: game: is missing; give it here or as --game (valid: "),
    "unknown game": (
        TRIO.replace("agent_island", "agent_iland"),
        "trio.toml: game: there is no game 'agent_iland' (did you mean agent_island?)",
    ),
    "unknown key": (
        f"{TRIO}temprature = 1",
        "trio.toml: players.2.temprature: unknown key (did you mean temperature?)",
    ),
    "no vote": (
        f'{TRIO}[game_config]\nphases = ["pitches"]',
        'trio.toml: game_config.phases: a round has exactly one "votes" phase, since one player leaves by it, '
        'found ["pitches"]',
    ),
    "one round twice": (
        f"{TRIO}[game_config]\nround_overrides = [{{round = 1}}, {{round = 2}}, {{round = 2}}]",
        "trio.toml: game_config.round_overrides: round = 2 is there twice; one table holds all of a round",
    ),
    "a provider that nobody uses, mistyped": (
        f"{TRIO}[providers.opnai]\nspacing_ms = 100",
        "trio.toml: providers.opnai.base_url: a provider of your own needs a base_url (did you mean openai?)",
    ),
    "a provider that nobody uses, of one's own": (
        f"{TRIO}[providers.lab]\nspacing_ms = 100",
        "trio.toml: providers.lab.base_url: a provider of your own needs a base_url",
    ),
    "too many rounds": (
        f"{TRIO}[game_config]\nrounds = 99",
        "trio.toml: game_config.rounds: 3 players can play 2 rounds at most, found 99",
    ),
    "a round that is not played": (
        f"{TRIO}[[game_config.round_overrides]]\nround = 9",
        'trio.toml: game_config.round_overrides: there is no round 9 with 3 players (valid: 1 to 2, or "final")',
    ),
    "nine at a board": (
        'game = "monopoly"\n[[players]]\nid = "p"\ncount = 9\nmodel = "bot/shark"\n',
        "trio.toml: players: Monopoly is for 2 to 8 players, found 9 (valid: 2 to 8)",
    ),
    "items of another kind": (
        'game = "auction"\n[game_config]\nitems = "trio.toml"\n',
        "trio.toml: game_config.items: must be a .json file or \"random\", found 'trio.toml'",
    ),
    "items that cannot be sold": (
        'game = "auction"\n[game_config]\nitems = "logs/list.json"\n',
        "trio.toml: game_config.items: list.json: must be a list of 1 to 500 items, found an empty list",
    ),
    "two players": (
        TRIO.partition('[[players]]\nid = "C"')[0],
        "trio.toml: players: Agent Island: Deliberations is for 3 or more players, found 2 (valid: 3 or more)",
    ),
    "prompt file outside": (
        f'{TRIO}prompt_file = "../../etc/passwd"',
        "trio.toml: players.2.prompt_file: ../../etc/passwd leads out of {cwd} (valid: a file below it, "
        "or --allow-dir DIR)",
    ),
    "no OpenAI key": (
        third("openai/gpt-5-mini"),
        "trio.toml: players.2.model: openai needs a key: set OPENAI_API_KEY in the environment or in ./.env",
    ),
    "no Gemini key": (
        third("gemini/gemini-2.5-flash"),
        "trio.toml: players.2.model: gemini needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY in the environment or "
        "in ./.env",
    ),
    "no key of one's own provider": (
        f'{third("lab/x")}{LAB}api_key_env = "LAB_KEY"',
        "trio.toml: players.2.model: lab needs a key: set LAB_KEY in the environment or in ./.env",
    ),
    "a key in the file": (
        f'{third("lab/x")}{LAB}api_key = "sk-abcdefgh12345678"',
        "trio.toml: providers.lab.api_key: looks like a key or password; keys come from the environment",
    ),
    "unknown provider": (
        third("opnai/gpt-5-mini"),
        "trio.toml: players.2.model: there is no provider 'opnai'; did you mean openai? "
        f"(valid: {PROVIDERS}, or a [providers.opnai] table with a base_url)",
    ),
    "no such embedded model": (
        third("local/smollm9"),
        "...trio.toml: players.2.model: there is no embedded model...smollm9...local/smollm2-135m",
    ),
    "script of something else": (
        third("script:broken.jsonl"),
        "trio.toml: players.2.model: {cwd}/broken.jsonl: is not a JSON file of replies: ",
    ),
}

# The arguments, and the beginning of the line.
WORDS: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown command": (("rnu",), "No such command 'rnu'. Did you mean 'run'?"),
    "unknown command like none": (("help",), "No such command 'help' (`agentsim --help` says what is valid)"),
    "a command in capitals": (("RUN",), "No such command 'RUN' (`agentsim --help` says what is valid)"),
    "unknown option": ((*PLAYED, "--sede", "1"), "No such option: --sede (Possible options: --seed"),
    "unknown option like none": (("runs", "-x"), "No such option: -x (`agentsim runs --help` says what is valid)"),
    "unknown option of all": (("--loud",), "No such option: --loud (`agentsim --help` says what is valid)"),
    "a word too many": (
        (*PLAYED, "more"),
        "--config trio.toml: more is given as well; leave one of them out",
    ),
    "a value too many": ((*PLAYED, "--json=1"), "Option '--json' does not take a value"),
    "no value of an option": ((*PLAYED, "--game"), "Option '--game' requires an argument"),
    "two words too many": (
        (*PLAYED, "more", "still"),
        "Got unexpected extra argument(s) (still) (`agentsim run --help` says what is valid)",
    ),
    "no config": (("run",), "FILE: is missing: the scenario's TOML file (`agentsim init DIR` writes some)"),
    "a name that is taken": (
        (*PLAYED, "--name", "done"),
        "logs: there is a run called done already; give it another name",
    ),
    "config of nothing": (("run", "--config", ""), "Invalid value for '--config': must be a path, found ''"),
    "config with a NUL": (("run", "--config", "a\0b"), "Invalid value for '--config': must be a path, found 'a\\x00b'"),
    "config of 5,000 letters": (("run", "--config", "x" * 5000), "xxxxxxxx"),
    "config missing": (("run", "--config", "no.toml"), "no.toml: no such file"),
    "config misspelt": (("run", "trioo.toml"), "trioo.toml: no such file (did you mean trio.toml?)"),
    "config by its stem": (("validate", "trio"), "trio: no such file (did you mean trio.toml?)"),
    "config a folder": (("run", "--config", "folder"), "folder: is a folder"),
    "config a folder with a scenario": (("run", "."), ".: is a folder; name one in it, as trio.toml"),
    "config a device": (("run", "--config", "/dev/zero"), "/dev/zero: is no regular file"),
    "config with an escape": (("run", "--config", "\x1b[31mno\n.toml"), "no .toml: no such file"),
    "no such game": ((*PLAYED, "--game", "chess"), "trio.toml: game: there is no game 'chess' (valid: "),
    "a value for a table": ((*PLAYED, "--set", "seed.x=3"), "trio.toml: --set seed.x: seed is 7, not a table"),
    "no such player": (
        (*PLAYED, "--set", "players.7.temperature=1"),
        "trio.toml: --set players.7.temperature: there is no such player (valid: 0 to 2, or A, B, C)",
    ),
    "no value": ((*PLAYED, "--set", "seed"), "trio.toml: --set seed: must be KEY=VALUE"),
    "a wrong value": (
        (*PLAYED, "--set", "limits.concurrency=none"),
        'trio.toml: limits.concurrency: must be a whole number from 1 to 10000, found "none"',
    ),
    "provider with a space": (
        (*PLAYED, "--provider", "a b"),
        "trio.toml: --provider: must be a provider's name, such as openrouter",
    ),
    "seed below zero": ((*PLAYED, "--seed", "-1"), "Invalid value for '--seed': must be "),
    "seed a fraction": ((*PLAYED, "--seed", "1.5"), "Invalid value for '--seed': must be a valid integer"),
    "seed too large": ((*PLAYED, "--seed", "9" * 30), "trio.toml: seed: must be "),
    "cost below zero": ((*PLAYED, "--max-cost", "-1"), "Invalid value for '--max-cost': must be "),
    "cost not a number": ((*PLAYED, "--max-cost", "nan"), "Invalid value for '--max-cost': must be "),
    "cost without end": (
        (*PLAYED, "--max-cost", "inf"),
        "trio.toml: limits.max_cost_usd: must be a finite number, found inf",
    ),
    "no such display": (
        (*PLAYED, "--display", "loud"),
        "Invalid value for '--display' (env var: 'AGENTSIM_DISPLAY'): 'loud' is not one of ",
    ),
    "name with a path": ((*PLAYED, "--name", "../done"), f"'../done' {NO_NAME}"),
    "no name": ((*PLAYED, "--name", ""), f"'' {NO_NAME}"),
    "name of a device": ((*PLAYED, "--name", "con"), f"'con' {NO_NAME}"),
    "name too long": ((*PLAYED, "--name", "x" * 300), f"'{'x' * 80}' {NO_NAME}"),
    "recorded over a file": (
        (*PLAYED, "--record", "file"),
        "file: already exists; replies are recorded into a new file",
    ),
    "recorded nowhere": ((*PLAYED, "--record", "nope/x.jsonl"), "nope/x.jsonl: there is no directory nope"),
    "recorded into nothing": ((*PLAYED, "--record", ""), "Invalid value for '--record': must be a path, found ''"),
    "replies not there": (
        (*PLAYED, "--replay-replies", "no.jsonl"),
        "no.jsonl: cannot be read: No such file or directory",
    ),
    "replies of something else": (
        (*PLAYED, "--replay-replies", "broken.jsonl"),
        "broken.jsonl: line 1: is not a recorded reply: ",
    ),
    "recorded and replayed": (
        (*PLAYED, "--record", "new.jsonl", "--replay-replies", "broken.jsonl"),
        "--record and --replay-replies exclude each other",
    ),
    "logs in nothing": (
        (*PLAYED, "--logs-dir", ""),
        "Invalid value for '--logs-dir' (env var: 'AGENTSIM_LOGS_DIR'): must be a path, found ''",
    ),
    "env file of nothing": ((*PLAYED, "--env-file", ""), "Invalid value for '--env-file': must be a path, found ''"),
    "allowed nothing": ((*PLAYED, "--allow-dir", ""), "Invalid value for '--allow-dir': must be a path, found ''"),
    "env file missing": ((*PLAYED, "--env-file", "no.env"), "--env-file no.env: there is no such file"),
    "env file a folder": ((*PLAYED, "--env-file", "folder"), "--env-file folder: there is no such file"),
    "env file not UTF-8": ((*PLAYED, "--env-file", "latin.env"), "latin.env: cannot be read as UTF-8 text"),
    "logs a file": ((*PLAYED, "--logs-dir", "file"), "file: cannot write logs there: File exists"),
    "logs below a file": ((*PLAYED, "--logs-dir", "file/x"), "file/x: cannot write logs there: Not a directory"),
    "list a file": (("runs", "--logs-dir", "file"), "file: is not a directory"),
    "page of a path": (
        ("logs", "--filename", "../../etc/passwd"),
        "../../etc/passwd: there is no such file or folder, neither here nor in logs",
    ),
    "page of a path with an ending": (
        ("logs", "--filename", "../outside.json"),
        "..: there is no run called 'outside' (`agentsim runs` lists them)",
    ),
    "page of an absolute path": (
        ("logs", "--filename", "/etc/passwd"),
        "/etc: there is no run called 'passwd' (`agentsim runs` lists them)",
    ),
    "page of a NUL": (("logs", "--filename", "done\0"), f"'done\\x00' {NO_NAME}"),
    "page of an escape": (("logs", "--filename", "\x1b]0;x\x07"), f"'\\x1b]0;x\\x07' {NO_NAME}"),
    "page of a line break": (("logs", "--filename", "done\n"), f"'done\\n' {NO_NAME}"),
    "page through a link": (("logs", "--filename", "link"), "logs/link.json: leads out of logs"),
    "page of nobody": (("logs", "--filename", "nope"), "logs: there is no run called 'nope' (`agentsim runs` lists"),
    "page without history": (
        ("logs", "--filename", "cut"),
        "cut: has a journal but no history yet; `agentsim resume cut` ends the run",
    ),
    "page of a list": (
        ("logs", "--filename", "list"),
        "logs/list.json: is not an agentsim history: the file: must be an object",
    ),
    "page of half a file": (("logs", "--filename", "torn"), "logs/torn.json: is not an agentsim history: the file: "),
    "seen by a stranger": (
        ("logs", "--filename", "done", "--as-seen-by", "Zoe"),
        "no player of this game is called 'Zoe' (valid: A, B, C)",
    ),
    "allowed nowhere": (
        ("run", "--config", "trio.toml", "--allow-dir", "nope"),
        "--allow-dir nope: there is no such directory",
    ),
    "allowed a file": (
        ("validate", "--config", "trio.toml", "--allow-dir", "file"),
        "--allow-dir file: there is no such directory",
    ),
    "resume without a name": (("resume",), "Missing argument 'NAME|DIR' (`agentsim resume --help` says what is valid)"),
    "resume two": (("resume", "cut", "done"), "Got unexpected extra argument(s) (done) (`agentsim resume --help`"),
    "resume with calls below zero": (
        ("resume", "cut", "--max-calls", "-1"),
        "Invalid value for '--max-calls': must be",
    ),
    "resume without time": (("resume", "cut", "--max-wall", "0"), "--max-wall: must be a number above 0, found 0.0"),
    "resume without end": (("resume", "cut", "--max-cost", "inf"), "--max-cost: must be a finite number, found inf"),
    "a page without a name": (
        ("logs",),
        "NAME: is missing (`agentsim runs` lists the runs)",
    ),
    "a page with two names": (
        ("logs", "done", "--filename", "done"),
        "NAME: is given twice (`agentsim runs` lists the runs)",
    ),
    "a page of a later format": (
        ("logs", "--filename", "later", "--logs-dir", "folder"),
        "folder/later.json: was written by agentsim 9.1, and that version plays it; this is agentsim ",
    ),
    "export nobody": (("export", "nope"), "logs: there is no run called 'nope' (`agentsim runs` lists them)"),
    "page of a run without a beginning": (
        ("logs", "empty"),
        "empty: has no history, and no journal that can be read: empty.jsonl: the run ended before its journal began",
    ),
    "export into what": (
        ("export", "done", "--format", "xls"),
        "Invalid value for '--format': 'xls' is not one of 'csv',",
    ),
    "export a file": (("export", "file"), "file: is neither a run in logs nor a directory"),
    "export a folder of another version": (
        ("export", "folder"),
        "folder/later.json: was written by agentsim 9.1, and that version plays it; this is agentsim ",
    ),
    "export an unfinished run": (
        ("export", "cut"),
        "cut: has a journal but no history yet; `agentsim resume cut` ends",
    ),
    "scenarios over a file": (
        ("gen-items", "--configs", "file"),
        "file: exists and is not a directory; nothing was written",
    ),
    "items into nothing": (("gen-items", "--out", ""), "Invalid value for '--out': must be a path, found ''"),
    "init nowhere": (("init",), "Missing argument 'DIR' (`agentsim init --help` says what is valid)"),
    "init nothing": (("init", ""), "Invalid value for 'DIR': must be a path, found ''"),
    "init below a file": (("init", "file/x"), "file: exists and is not a directory; nothing was written"),
    "init too long": (("init", "x" * 300), "xxxxxxxx"),
    "init two": (
        ("init", "a", "b"),
        "Got unexpected extra argument(s) (b) (`agentsim init --help` says what is valid)",
    ),
    "resume nobody": (("resume", "nope"), "logs: there is no run called 'nope' (`agentsim runs` lists them)"),
    "resume misspelt": (("resume", "dnoe"), "logs: there is no run called 'dnoe' (did you mean done?)"),
    "resume a path": (("resume", "../outside"), "..: there is no run called 'outside' (`agentsim runs` lists them)"),
    "resume elsewhere": (
        ("resume", "done", "--logs-dir", "nowhere"),
        "{cwd}/nowhere (no such folder): there is no run called 'done'",
    ),
    "resume a corrupt journal": (("resume", "corrupt"), "...line 4...corrupt.jsonl...was changed"),
    "resume an empty journal": (
        ("resume", "empty"),
        "empty.jsonl: the run ended before its journal began; there is nothing to resume",
    ),
    "resume without a journal": (
        ("resume", "lonely"),
        "logs/lonely.jsonl: cannot be opened: No such file or directory",
    ),
    "replay nobody": (("replay", "nope"), "logs: there is no run called 'nope' (`agentsim runs` lists them)"),
    "replay without history": (
        ("replay", "cut"),
        "cut: there is no history to prove; `agentsim resume cut` ends the run",
    ),
    "replay a corrupt journal": (("replay", "corrupt"), "...line 4...corrupt.jsonl...was changed"),
    "replay a batch": (
        ("replay", "folder"),
        "folder: is a folder of runs, not a run; name one of them",
    ),
    "replay a scenario": (("replay", "trio.toml"), "trio.toml: is a scenario or a design, not a run; `agentsim runs`"),
    "report a file": (("report", "trio.toml"), "trio.toml: is not a directory; name the folder that holds the games"),
    "a batch of a design's file": (
        ("batch", "designs/hot.toml"),
        "designs/hot.toml: is a design, not a scenario: `agentsim batch --design designs/hot.toml` plays it",
    ),
    "a design with a misspelt table": (
        ("validate", "designs/misspelt.toml"),
        "designs/misspelt.toml: factor: unknown key (did you mean factors?)",
    ),
    "report a run": (
        ("report", "done"),
        "done: is one run, not a folder of runs (`agentsim logs done`",
    ),
    "a batch of unknown length": (("batch", "trio.toml"), "--games: is missing: how many games to play"),
    "a model without a provider in turn": (
        ("batch", "trio.toml", "--games", "2", "--models", "gpt-5,bot/loyal"),
        '--models "gpt-5": must be provider/model such as openai/gpt-5-mini',
    ),
    "replay without a journal": (("replay", "lonely"), "logs/lonely.jsonl: cannot be read: No such file or directory"),
}


def _matches(line: str, expected: str, cwd: Path) -> None:
    """Check that the line begins with the text, or, if that begins with dots, that it has each part between dots."""
    if expected.startswith("..."):
        assert [word for word in expected.split("...") if word not in line] == [], line
    else:
        expected = expected.replace("{cwd}", str(cwd))
        assert line[: len(expected)] == expected


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize(("text", "line"), FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_played(command: str, text: str, line: str, project: Path) -> None:
    (project / "trio.toml").write_text(text, encoding="utf-8")
    before = snapshot(project)
    said = agentsim(command, "--config", "trio.toml", cwd=project)
    _matches(said.line, line, project)
    assert (said.code, said.out) == (2, "")
    assert snapshot(project) == before


@pytest.mark.parametrize(("words", "line"), WORDS.values(), ids=WORDS)
def test_words_that_cannot_be_followed(words: tuple[str, ...], line: str, project: Path) -> None:
    before = snapshot(project)
    said = agentsim(*words, cwd=project)
    _matches(said.line, line, project)
    assert (said.code, said.out) == (2, "")
    assert snapshot(project) == before


REAL = [
    "config missing",
    "unknown option",
    "seed below zero",
    "logs a file",
    "page of a path",
    "page through a link",
    "resume a corrupt journal",
]


@some_of("row", REAL, "config missing", "resume a corrupt journal")
def test_a_process_of_its_own_says_the_same(row: str, project: Path) -> None:
    words, line = WORDS[row]
    before = snapshot(project)
    said = real(*words, cwd=project)
    _matches(said.line, line, project)
    assert (said.code, said.out) == (2, "")
    assert snapshot(project) == before


def test_a_pipe_in_place_of_a_config_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trio.toml")
    said = real("run", "--config", "trio.toml", cwd=tmp_path)
    assert (said.code, said.out, said.line) == (2, "", "trio.toml: is no regular file")


def test_debug_shows_where_and_no_values(project: Path) -> None:
    """The last line is the same; before it is a traceback that names functions but no local variables."""
    (project / "trio.toml").write_text(f'{TRIO}prompt = "s3cret-words ${{x}}"', encoding="utf-8")
    said = agentsim("--debug", "run", "--config", "trio.toml", cwd=project)
    *trace, line = said.err.splitlines()
    assert said.code == 2
    assert line.startswith("agentsim: trio.toml: players.2.prompt: has an unknown placeholder ${x}")
    assert trace[0] == "Traceback (most recent call last):"
    assert "s3cret-words" not in said.err
    assert agentsim("run", "--config", "trio.toml", "--debug", cwd=project).err == said.err


def test_a_mistake_of_ours_is_one_line_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise ZeroDivisionError("by \x1b[31mnothing\nat all")

    monkeypatch.setattr("agentsim.records.load.list_runs", broken)
    said = agentsim("runs", cwd=project)
    assert re.fullmatch(
        rf"{re.escape(__file__)}:\d+, in broken: ZeroDivisionError: by nothing at all "
        r"\(a bug in agentsim or in a game; --debug prints the traceback\)",
        said.line,
    )
    assert (said.code, said.out) == (1, "")


@pytest.mark.parametrize(
    ("prefix", "origin", "command"),
    [
        ("cache/archive-v0/x", {}, "uvx --from 'agentsim-games[analysis]' agentsim ..."),
        ("share/uv/tools/agentsim-games", {}, "uv tool install --force 'agentsim-games[analysis]'"),
        ("share/pipx/venvs/agentsim-games", {}, "pipx install --force 'agentsim-games[analysis]'"),
        ("env", {}, "pip install 'agentsim-games[analysis]'"),
        ("uv-env", {}, "uv pip install 'agentsim-games[analysis]'"),
        ("env", {"url": "file:///w.whl"}, "pip install 'agentsim-games[analysis] @ file:///w.whl'"),
        (
            "env",
            {"url": "https://h/a.git", "vcs_info": {"vcs": "git"}},
            "pip install 'agentsim-games[analysis] @ git+https://h/a.git'",
        ),
    ],
)
def test_a_missing_extra_is_told_for_the_way_agentsim_was_installed(
    prefix: str, origin: dict[str, Any], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, _name: str) -> str | None:
            return json.dumps(origin) if origin else None

    (tmp_path / prefix).mkdir(parents=True)
    (tmp_path / prefix / "pyvenv.cfg").write_text("home = /usr\n" + "uv = 0.9\n" * (prefix == "uv-env"), "utf-8")
    monkeypatch.setattr("sys.prefix", str(tmp_path / prefix))
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: Installed())
    assert installed_by("analysis") == f"`{command}`"


def test_a_name_of_a_run_that_was_killed_says_how_to_go_on_with_it(project: Path) -> None:
    said = agentsim("run", "trio.toml", "--name", "cut", cwd=project)
    assert said.code == 2
    assert said.line == (
        "logs: there is a run called cut already; give it another name, or go on with it: `agentsim resume cut`"
    )


def test_a_full_disk_is_nobodys_mistake(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device", "logs/done.html")

    monkeypatch.setattr("agentsim.results.write_whole", full)
    said = agentsim("logs", "--filename", "done", cwd=project)
    assert (said.code, said.out, said.line) == (1, "", "logs/done.html: No space left on device")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("words", [("games",), ("schema",), ("--version",)], ids=" ".join)
@one_in(3)
def test_output_to_a_full_disk_names_where_it_went_and_does_not_pass_for_written(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        said = subprocess.run(program(*words), stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (said.returncode, said.stderr) == (1, "agentsim: standard output (/dev/full): No space left on device\n")
