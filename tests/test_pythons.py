"""The same game, byte for byte, in every supported Python on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = """
import hashlib, sys
from agentsim import games
from agentsim.testing import case_of
for name in games.names():
    played = case_of(name, seeds=1).games[0]
    digest = hashlib.sha256("\\n".join(map(str, played.log)).encode()).hexdigest()
    print(name, digest)
"""


def interpreter(version: str) -> str | None:
    """Return the path of a Python of this version, or None."""
    asked = [shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for path in filter(None, asked):
        program = "import sys; print(*sys.version_info[:2], sep='.')"
        told = subprocess.run([path, "-c", program], check=False, capture_output=True)
        if told.stdout.decode().strip() == version:
            return path
    return None


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_games_are_the_same_to_the_byte_under_every_python(version: str, tmp_path: Path) -> None:
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    env = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(tmp_path / "venv")}
    env.pop("VIRTUAL_ENV", None)
    there = subprocess.run(
        ["uv", "run", "--quiet", "--no-dev", "--python", found, "python", "-c", PROGRAM],
        cwd=ROOT, env=env, check=False, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    here = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, check=False, capture_output=True, text=True, timeout=120
    )
    assert (there.returncode, here.returncode) == (0, 0), there.stderr + here.stderr
    assert there.stdout == here.stdout
    assert len(here.stdout.splitlines()) == 6
