"""The wheel is typed: a game and a provider of another distribution pass mypy's strict mode and play."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, built_wheel

EXAMPLE = ROOT / "tests" / "thirdparty" / "nim"
PLAY = "from pathlib import Path; from nim.provider import play; print(play(Path('logs')))"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of a fresh environment with the wheel and the example, which borrows the libraries."""
    folder = tmp_path_factory.mktemp("typed")
    venv.create(folder / "venv")
    site = folder / "venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    with zipfile.ZipFile(built_wheel(folder)) as wheel:
        assert "agentsim/py.typed" in wheel.namelist()
        wheel.extractall(site)
    shutil.copytree(EXAMPLE, site / "nim", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / "nim-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nim\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[agentsim.games]\nnim = nim:GAME\n", encoding="utf-8")
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "borrowed.pth").write_text("\n".join(sorted(borrowed)), encoding="utf-8")
    return folder / "venv" / "bin" / "python"


def done(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY"))}
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=170)


@pytest.mark.slow
def test_a_game_and_a_provider_of_others_pass_strict_mypy(python: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "nim", ignore=shutil.ignore_patterns("__pycache__"))
    strict = ("--strict", "--config-file", os.devnull, "--python-executable", str(python), "nim")
    said = done(sys.executable, "-m", "mypy", *strict, cwd=tmp_path)
    assert (said.returncode, said.stdout) == (0, "Success: no issues found in 3 source files\n"), said.stdout
    game = tmp_path / "nim" / "game.py"
    source = game.read_text(encoding="utf-8")
    game.write_text(source.replace("Number(1, min(3, self.left))", 'Number("1", 3)'), encoding="utf-8")
    said = done(sys.executable, "-m", "mypy", *strict, cwd=tmp_path)
    assert 'Argument 1 to "Number" has incompatible type "str"; expected "int"' in said.stdout


def test_the_example_plays(python: Path, tmp_path: Path) -> None:
    said = done(str(python), "-c", PLAY, cwd=tmp_path)
    assert (said.returncode, said.stdout.strip() in {"A", "B"}) == (0, True), said.stderr
