"""Games and artifacts of other distributions: a broken one is reported by name, and the others work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, agentsim, program, real, trio

CALLED = "of chess-for-all 1.2"


def installed(
    site: Path, source: str, entry: str = "chess = chess_for_all:GAME", group: str = "agentsim.games"
) -> Path:
    """Add a distribution to a folder of packages: a module, and the metadata of its installation."""
    info = site / "chess_for_all-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chess-for-all\nVersion: 1.2\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n", encoding="utf-8")
    (site / "chess_for_all.py").write_text(source, encoding="utf-8")
    return site


BROKEN = {
    "a module that is missing": ("import a_module_that_nobody_has", "ModuleNotFoundError: No module named 'a_module"),
    "an exit": ("import sys\nsys.exit(5)", "SystemExit: 5"),
    "a mistake": ("1 / 0", "ZeroDivisionError: division by zero"),
    "no Python": ("this is no Python", "SyntaxError: invalid syntax"),
    "without the game": ("", "AttributeError: module 'chess_for_all' has no attribute 'GAME'"),
    "something else": ("GAME = 5", "is no game: its class does not inherit agentsim.engine.Game"),
    "another name": ("from agentsim.games.auction import GAME", "calls itself 'auction'"),
    "an error of many lines": ("raise ValueError('one\\n\\x1b[31mtwo')", "ValueError: one two"),
}


@pytest.mark.parametrize(("source", "why"), BROKEN.values(), ids=BROKEN)
def test_a_broken_game_is_named_with_its_distribution_and_the_others_are_listed(
    source: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed(tmp_path / "site", source))
    monkeypatch.delitem(sys.modules, "chess_for_all", raising=False)
    said = agentsim("games", "--json", cwd=tmp_path)
    assert said.code == 0
    assert said.line.startswith(f"chess is left out: game: chess {CALLED} (chess_for_all:GAME) ")
    assert why in said.line
    names = ["agent_island", "auction", "market", "monopoly", "society", "werewolf"]
    assert [row["name"] for row in json.loads(said.out)] == names
    schema = agentsim("schema", cwd=tmp_path)
    assert (schema.code, schema.line) == (0, said.line)
    assert json.loads(schema.out)["properties"]["game"]["enum"] == names


def test_a_game_whose_code_cannot_be_parsed_is_named_with_its_whole_path_and_line(tmp_path: Path) -> None:
    site = installed(tmp_path / "site", "GAME = (\n  5")
    (tmp_path / "x.toml").write_text('game = "chess"\n[[players]]\nid = "A"\nmodel = "bot/random"\n', "utf-8")
    said = real("validate", "x.toml", cwd=tmp_path, env={"PYTHONPATH": str(site)})
    assert said.code == 2
    assert f"SyntaxError: '(' was never closed ({site}/chess_for_all.py, line 1)" in said.line


@pytest.mark.parametrize("source", ["import sys\nsys.exit(5)", "1 / 0"])
def test_a_scenario_of_a_broken_game_is_a_line_that_names_its_distribution(source: str, tmp_path: Path) -> None:
    site = installed(tmp_path / "site", source)
    (tmp_path / "x.toml").write_text('game = "chess"\n[[players]]\nid = "A"\nmodel = "bot/random"\n', "utf-8")
    said = real("run", "--config", "x.toml", cwd=tmp_path, env={"PYTHONPATH": str(site)})
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith(f"x.toml: game: chess {CALLED} (chess_for_all:GAME) cannot be loaded: ")
    assert not (tmp_path / "logs").exists()


_LEAST = """
from agentsim.engine import Game
from agentsim.games.auction import GAME as AUCTION

class Chess(Game):
    name, title, summary = "chess", "Chess", "It says what has no default."
    config, requests, events = AUCTION.config, AUCTION.requests, AUCTION.events
    play = AUCTION.play

GAME = Chess()
"""


def test_a_game_of_another_distribution_need_not_say_what_has_a_default(tmp_path: Path) -> None:
    site = installed(tmp_path / "site", _LEAST)
    seats = "".join(f'[[players]]\nid = "{player}"\n' for player in "ABC")
    settings = '[defaults]\nmodel = "bot/random"\n[game_config]\nitems = "random"\n'
    (tmp_path / "x.toml").write_text(f'game = "chess"\n{settings}{seats}', "utf-8")
    env = {"PYTHONPATH": str(site)}
    listed = json.loads(real("games", "--json", cwd=tmp_path, env=env).out)
    (row,) = (row for row in listed if row["name"] == "chess")
    assert (row["bots"], row["staff"], row["rules_version"]) == (["random"], [], 1)
    played = real("run", "--config", "x.toml", cwd=tmp_path, env=env)
    assert (played.code, "Chess, 3 players" in played.err) == (0, True)
    models = (tmp_path / "x.toml").read_text("utf-8").replace("bot/random", "openai/gpt-4o-mini")
    (tmp_path / "x.toml").write_text(models, "utf-8")
    assert real("validate", "--config", "x.toml", cwd=tmp_path, env=env | {"OPENAI_API_KEY": "x"}).code == 0


def test_a_broken_artifact_is_named_with_its_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = "chess = chess_for_all:Chess"
    monkeypatch.syspath_prepend(installed(tmp_path / "site", "import sys\nsys.exit(5)", entry, "agentsim.artifacts"))
    monkeypatch.delitem(sys.modules, "chess_for_all", raising=False)
    text = trio(tmp_path).read_text("utf-8").replace("agent_island", "market")
    trio(tmp_path, f'{text}\n[game_config]\nartifacts = ["chess"]\n'.replace("bot/grudge", "bot/random"))
    said = agentsim("validate", "--config", "trio.toml", cwd=tmp_path)
    assert said.code == 2
    assert f"chess {CALLED} (chess_for_all:Chess) cannot be loaded: SystemExit: 5" in said.line


_WAITS = """
import signal, sys
try:
    sys.stdout.write("importing\\n")
    sys.stdout.flush()
    signal.pause()
except KeyboardInterrupt:
    raise RuntimeError("as what is written in C calls it") from None
"""


@pytest.mark.parametrize("module", ["typer", "chess_for_all"], ids=["of the program", "of a command"])
def test_ctrl_c_during_an_import_ends_the_program_without_a_word(module: str, tmp_path: Path) -> None:
    """A traceback would add nothing, and an exception raised in an import may become any other error."""
    site = installed(tmp_path / "site", _WAITS)
    if module == "typer":
        (site / "typer.py").write_text(_WAITS, encoding="utf-8")
    with subprocess.Popen(
        program("games"), cwd=tmp_path, env={"PYTHONPATH": str(site)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"importing\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_the_command_begins_where_the_module_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"agentsim": "agentsim.__main__:main"}
