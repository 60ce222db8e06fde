"""A project with a finished run and broken files beside it, made once and copied for each test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.command_line import agentsim, trio


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("project")
    trio(project)
    played = agentsim("run", "--config", "trio.toml", "--name", "done", "--display", "none", cwd=project)
    assert played.code == 0, played.err
    logs = project / "logs"
    lines = (logs / "done.jsonl").read_bytes().splitlines(keepends=True)
    (logs / "cut.jsonl").write_bytes(b"".join(lines[:4]))
    (logs / "corrupt.jsonl").write_bytes(b"".join([*lines[:3], b'{"record": "decision"}\n', *lines[4:]]))
    (logs / "empty.jsonl").write_bytes(b"")
    (logs / "lonely.json").write_bytes((logs / "done.json").read_bytes())
    (logs / "list.json").write_text("[]", encoding="utf-8")
    (logs / "torn.json").write_text("{", encoding="utf-8")
    (project / "outside.json").write_bytes((logs / "done.json").read_bytes())
    (logs / "link.json").symlink_to("../outside.json")
    (project / "file").write_text("not a folder", encoding="utf-8")
    (project / "latin.env").write_bytes(b"OPENAI_API_KEY=\xe9\n")
    (project / "broken.jsonl").write_text("no JSON\n", encoding="utf-8")
    (project / "folder").mkdir()
    (project / "designs").mkdir()
    for name, table in {"hot": "factors", "misspelt": "factor"}.items():
        design = f'config = "../trio.toml"\nreplicates = 2\n[{table}]\nplayers.0.temperature = [0.2, 1.2]\n'
        (project / "designs" / f"{name}.toml").write_text(design, encoding="utf-8")
    later = {"format": "agentsim-history/9", "volatile": {"versions": {"agentsim": "9.1"}}}
    (project / "folder" / "later.json").write_text(json.dumps(later), encoding="utf-8")
    return project


@pytest.fixture
def project(_template: Path, tmp_path: Path) -> Path:
    """Return a copy of the project: `trio.toml`, and in `logs/` a finished run, a cut one and other files."""
    return Path(shutil.copytree(_template, tmp_path / "project", symlinks=True))
