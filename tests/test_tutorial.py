"""`docs/adding_a_game.md` is correct: its files, put together, are a game that passes the contract tests."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, agentsim
from tests.test_docs import blocks, commands

PAGE = (ROOT / "docs" / "adding_a_game.md").read_text(encoding="utf-8")
GROUP = "agentsim.games"


def files(page: str) -> dict[str, str]:
    """Return the blocks that begin with the name of a file, by name."""
    found = {}
    for block in blocks(page, "python", "toml"):
        named = re.match(r"# ([\w./]+\.(?:py|toml))\n", block)
        if named:
            assert named[1] not in found, f"{named[1]} is there twice"
            found[named[1]] = block
    return found


def test_the_page_says_how_long_the_game_is() -> None:
    modules = [text.partition("\n")[2] for name, text in files(PAGE).items() if re.match(r"prisoners/\w+\.py", name)]
    lines = [line for text in modules for line in text.splitlines() if line.strip()]
    assert len(modules) == 1
    assert len(lines) <= 80
    assert f"{len(lines)} lines of Python" in PAGE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files of the tutorial, with a `.dist-info` and entry points as an installation would leave."""
    top = tmp_path_factory.mktemp("tutorial")
    for name, text in files(PAGE).items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = tomllib.loads((top / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = top / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    points = "".join(f"{name} = {where}\n" for name, where in project["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}", encoding="utf-8")
    return top


@pytest.fixture
def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "prisoners"]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.mark.slow
def test_the_commands_at_its_end_run(on_path: Path) -> None:
    lines = commands(PAGE)
    assert len(lines) > 4
    for line in lines:
        said = agentsim(*line, cwd=on_path)
        assert (said.code, "agentsim: " in said.err) == (0, False), f"{line}: {said.err}"
        if line == ["games"]:
            assert "prisoners" in said.out
    assert (on_path / "logs" / "mirror.moves.csv").is_file()


def test_a_mistake_in_its_scenario_is_explained_like_any_other(on_path: Path, tmp_path: Path) -> None:
    text = (on_path / "mirror.toml").read_text(encoding="utf-8")
    for given, line in (
        (
            text + '\n[[players]]\nid = "x"\nmodel = "human"\n',
            "players: Prisoner's dilemma is for 2 players, found 3 (valid: 2)",
        ),
        (text + "\n[game_config]\nruonds = 2\n", "game_config.ruonds: unknown key (did you mean rounds?)"),
        (text.replace("bot/mirror", "bot/miror"), 'players.0.model: prisoners has no "bot/miror" (did you mean'),
    ):
        (tmp_path / "x.toml").write_text(given, encoding="utf-8")
        said = agentsim("run", "--config", "x.toml", cwd=tmp_path)
        assert said.code == 2
        assert said.line.startswith(f"x.toml: {line}")


@pytest.mark.slow
def test_the_game_passes_the_checks_and_its_own_tests(folder: Path) -> None:
    """The tests of the page, and those of this repository that need a fake server, run in a process."""
    words = [str(folder / "tests"), "tests/contract/test_rules.py", "tests/contract/test_runs.py", "-k", "prisoners"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    count = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    assert count is not None
    assert int(count[1]) > 20, done.stdout[-300:]
    assert "skipped" not in done.stdout
