"""The notebook in docs/ is what it says: it runs from top to bottom on runs it has never seen, and draws."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli.command_line import ROOT, agentsim

NOTEBOOK = ROOT / "docs" / "auction.ipynb"
# In a process of its own: the notebook's libraries, and what they warn of, are none of ours.
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


def test_the_notebook_runs_on_auctions_of_several_formats(tmp_path: Path) -> None:
    for folder in ("configs", "items"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for seed, settings in enumerate(((), (), ("--set", 'game_config.format="sealed_second_price"'))):
        words = ("run", "--config", "configs/auction.toml", "--seed", str(seed), "--display", "none", *settings)
        assert agentsim(*words, cwd=tmp_path).code == 0
    copy = Path(shutil.copy(NOTEBOOK, tmp_path / "auction.ipynb"))
    environment = {**os.environ, "AGENTSIM_LOGS_DIR": str(tmp_path / "logs")}
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(copy)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not [output for output in outputs(copy) if output["output_type"] == "error"]
    assert "3 runs" in json.dumps(outputs(copy)), "it read other runs than these"
    assert pictures(copy) == 4


def test_the_notebook_is_kept_with_its_pictures_and_nothing_of_a_machine() -> None:
    assert pictures(NOTEBOOK) == 4
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not [word for word in (str(Path.home()), str(ROOT), "/tmp/") if word in text]
