"""The notebooks in docs/: each runs from top to bottom on new runs, and draws its figures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import ROOT, agentsim

NOTEBOOK = ROOT / "docs" / "auction.ipynb"
PYTHON = ROOT / "docs" / "python.ipynb"
# In its own process, since the notebook's libraries emit warnings.
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=120).execute()
nbformat.write(notebook, sys.argv[1])
"""


def outputs(path: Path) -> list[dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [output for cell in notebook["cells"] for output in cell.get("outputs", ())]


def pictures(path: Path) -> int:
    return sum("image/png" in output.get("data", {}) for output in outputs(path))


def execute(copy: Path, **variables: str) -> None:
    """Run all cells in the notebook's folder, and save their outputs in it."""
    command = [sys.executable, "-c", EXECUTE, str(copy)]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=copy.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not [output for output in outputs(copy) if output["output_type"] == "error"]


@pytest.mark.slow
def test_the_notebook_runs_on_auctions_of_several_formats(tmp_path: Path) -> None:
    for folder in ("configs", "items"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for seed, settings in enumerate(((), (), ("--set", 'game_config.format="sealed_second_price"'))):
        words = ("run", "--config", "configs/auction.toml", "--seed", str(seed), "--display", "none", *settings)
        assert agentsim(*words, cwd=tmp_path).code == 0
    copy = Path(shutil.copy(NOTEBOOK, tmp_path / "auction.ipynb"))
    execute(copy, AGENTSIM_LOGS_DIR=str(tmp_path / "logs"))
    assert "3 runs" in json.dumps(outputs(copy)), "it read other runs than these"
    assert pictures(copy) == 4


@pytest.mark.slow
def test_five_lines_play_a_game_and_twenty_an_experiment(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    (tmp_path / "docs").mkdir()
    copy = Path(shutil.copy(PYTHON, tmp_path / "docs" / PYTHON.name))
    execute(copy)
    assert [output.get("text") for output in outputs(copy)] == [output.get("text") for output in outputs(PYTHON)]
    assert pictures(copy) == 1
    cells = [cell for cell in json.loads(copy.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    game, experiment = ([line for line in cell["source"] if line.strip()] for cell in cells)
    assert len(game) <= 5
    assert len(experiment) <= 20
    (folder,) = (tmp_path / "logs").glob("batch_agent_island_*")
    assert len([*folder.glob("game_*.json")]) == 60


@pytest.mark.parametrize(("notebook", "drawn"), [(NOTEBOOK, 4), (PYTHON, 1)], ids=["auction", "python"])
def test_a_notebook_is_kept_with_its_pictures_and_nothing_of_a_machine(notebook: Path, drawn: int) -> None:
    assert pictures(notebook) == drawn
    text = notebook.read_text(encoding="utf-8")
    assert not [word for word in (str(Path.home()), str(ROOT), "/tmp/") if word in text]
