"""The help of the command line, and the few modules that it loads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from agentsim import __version__
from agentsim.cli.app import app
from tests.amounts import each_row
from tests.cli.command_line import agentsim

COMMANDS: Mapping[str, Any] = cast("Any", typer.main.get_command(app)).commands

# The options that each command must have; more are allowed.
CONTRACT: dict[str, str] = {
    "run": "--config --seed --name --logs-dir --set --game --max-cost --display --json --no-html --env-file "
    "--provider --allow-dir --allow-key --include-prompts --include-reasoning --include-usage --game-config",
    "batch": "FILE --config --games --jobs --seed --models --rotate --paired --out --logs-dir --set --game --max-cost "
    "--abort-after --executor --scheduler --display --json --html --env-file --provider --allow-dir --allow-key "
    "--game-config --design --until-width --measure --player --factor",
    "plan": "--design --effect --pilot --measure --player --factor --json --logs-dir",
    "resume": "NAME|DIR --jobs --logs-dir --display --json --allow-key",
    "fork": "NAME --at --instead --set --arm --branches --jobs --paired --logs-dir --display --json --allow-key",
    "influence": "NAME --at --swap --words --each --branches --jobs --max-cost --logs-dir --display --json --allow-key",
    "interview": "NAME --at --ask --battery --player --model --label --max-cost --logs-dir --display --json",
    "code": "NAME|DIR --codebook --judge --human --sample --set --seed --max-cost --max-calls --record "
    "--replay-replies --port --logs-dir --json --env-file --allow-key",
    "rm": "NAME --yes --logs-dir",
    "diff": "A B --json --logs-dir",
    "compare": "NAME --at --control --effect --measure --player --all --json --logs-dir",
    "pool": "DIR --out --json --logs-dir",
    "rate": "--model --pool --games --width --entries --set --seed --out --logs-dir --jobs --max-cost --display --json "
    "--env-file --allow-key",
    "report": "DIR --by --html --json --logs-dir",
    "watch": "NAME --logs-dir --display",
    "bundle": "NAME|DIR --out --cassette --logs-dir",
    "replay": "NAME|FILE --logs-dir",
    "logs": "NAME --filename --include-prompts --include-reasoning --include-usage --as-seen-by --open --logs-dir",
    "runs": "NAME|DIR --json --logs-dir",
    "export": "NAME|DIR --format --logs-dir",
    "validate": "FILE --config --show-prompts --ping --game-config --allow-key",
    "check": "GAME --golden --update --seeds",
    "init": "DIR",
    "gen-items": "--kind --seed --extra --out --overwrite --configs",
    "games": "",
    "models": "PROVIDER --config --env-file --allow-key --json",
    "schema": "",
}
HEAVY = (
    *(
        "openai",
        "pydantic",
        "rich",
        "jinja2",
        "genai_prices",
        "xllamacpp",
        "httpx2",
        "aiohttp",
        "asyncio",
        "agentsim.runs",
    ),
    *("pandas", "pyarrow", "numpy", "agentsim.analysis", "agentsim.studies", "agentsim.records"),
)


def test_the_contract_names_every_command_there_is() -> None:
    assert set(CONTRACT) <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does_and_what_each_option_is(name: str, tmp_path: Path) -> None:
    command = COMMANDS[name]
    assert command.help.strip()
    for parameter in command.params:
        assert (getattr(parameter, "help", None) or "").strip(), f"{name} {parameter.name} has no help"
    said = agentsim(name, "--help", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert "{" not in said.out.splitlines()[0], "the usage names arguments as the help does"
    for parameter in command.params:
        word = parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar
        assert word in said.out
    assert not re.search(
        r"<(str|path|int|float|list)", re.sub(r"(NAME|DIR|A|B|PROVIDER)\S* <(str|path|list\[str\])>", "", said.out)
    ), "a type, not a name"


@each_row("name", CONTRACT)
def test_a_command_takes_what_the_contract_says(name: str) -> None:
    takes = {
        word
        for parameter in COMMANDS[name].params
        for word in (*parameter.opts, *parameter.secondary_opts, parameter.metavar)
    }
    assert set(CONTRACT[name].split()) <= takes


@pytest.mark.parametrize("words", [("--help",), ()], ids=["asked for", "no words at all"])
def test_the_overview_lists_every_command_with_a_whole_sentence(words: tuple[str, ...], tmp_path: Path) -> None:
    said = agentsim(*words, cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    listed = dict(re.findall(r"^  ([a-z-]+) +(\S.*)$", said.out.partition("Play:")[2], re.MULTILINE))
    assert set(listed) == set(COMMANDS)
    assert not [name for name, sentence in listed.items() if not sentence.endswith(".") or sentence.endswith("...")]


def test_the_overview_groups_commands_by_what_they_are_for(tmp_path: Path) -> None:
    said = agentsim("--help", cwd=tmp_path)
    assert re.findall(r"^(\w+):$", said.out, re.MULTILINE) == [
        "Options",
        *("Play", "Look", "Compare", "Study", "Make", "More"),
    ]
    assert said.out.index("More:") < said.out.index("  schema ")


@pytest.mark.parametrize("name", ["run", "batch"])
def test_what_most_need_of_a_command_fits_on_a_screen_and_the_rest_has_a_heading(name: str, tmp_path: Path) -> None:
    said = agentsim(name, "--help", cwd=tmp_path, env={"COLUMNS": "80"})
    first, heading, rest = said.out.partition("Advanced options:\n")
    assert heading
    assert len(first.rstrip().splitlines()) <= 30
    assert "--allow-dir" in rest
    assert "--config" in first, "the owner asked for it"


def test_options_that_several_commands_have_mean_the_same_in_all_of_them() -> None:
    helps: dict[str, dict[str, set[str]]] = {}
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if parameter.opts[0] in {"--max-calls", "--max-cost", "--max-wall", "--json", "--html", "--logs-dir"}:
                helps.setdefault(parameter.opts[0], {}).setdefault(parameter.help, set()).add(name)
    assert {name: len(said) for name, said in helps.items()} == {
        "--max-calls": 1,
        "--max-cost": 1,
        "--max-wall": 1,
        "--json": 1,
        "--logs-dir": 1,
        "--html": 3,  # `resume` has another default for a batch, and a report's page is that of a folder
    }
    for limit in ("--max-calls", "--max-cost", "--max-wall"):
        assert {"run", "batch", "resume", "fork", "influence"} <= set.union(*helps[limit].values())


def test_a_shell_completes_the_names_of_runs_and_batches(tmp_path: Path) -> None:
    for name in ("logs/first.jsonl", "logs/first.json", "logs/other.jsonl", "logs/lot/manifest.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "logs/lot/game_1.json").touch()
    words = {"agentsim logs f": "first", "agentsim export l": "lot", "agentsim replay lot/": "lot/game_1"}
    for typed, expected in words.items():
        env = {"_AGENTSIM_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": "2"}
        assert agentsim(cwd=tmp_path, env=env).out.split() == [expected]


def test_version(tmp_path: Path) -> None:
    said = agentsim("--version", cwd=tmp_path)
    assert (said.code, said.out, said.err) == (0, f"agentsim {__version__}\n", "")


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import json, sys\n"
        "sys.argv = ['agentsim', '--help']\n"
        "from agentsim.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit as ended:\n    assert ended.code == 0\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stderr))
    assert "typer" in loaded
    assert not loaded & set(HEAVY)
    assert not [name for name in loaded if re.match(r"agentsim\.(games|models|scenario|history|report)\.[^.]+\.", name)]
