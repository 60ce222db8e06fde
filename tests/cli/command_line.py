"""The command line as a person uses it, in this process or, if a test needs it, in a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentsim.cli.app import main

__all__ = ["ROOT", "TRIO", "Said", "agentsim", "built_wheel", "program", "real", "snapshot", "trio"]

ROOT = Path(__file__).parents[2]

TRIO = """\
game = "agent_island"
seed = 7

[[players]]
id = "A"
model = "bot/random"

[[players]]
id = "B"
model = "bot/grudge"

[[players]]
id = "C"
model = "bot/loyal"
"""


@dataclass(frozen=True)
class Said:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The only line on stderr, without the name of the program before it."""
        assert self.err.startswith("agentsim: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, f"more than one line: {self.err}"
        return self.err.removeprefix("agentsim: ").removesuffix("\n")


def agentsim(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> Said:
    """Run the command in this process: the same `main`, with its own arguments, directory and streams."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["agentsim", *words])
        patch.chdir(cwd)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    return Said(ended.value.code, out.getvalue(), err.getvalue())


def program(*words: str) -> list[str]:
    """Return the command line of a separate process."""
    return [sys.executable, "-m", "agentsim", *words]


def real(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> Said:
    """Run the command in a separate process."""
    done = subprocess.run(
        program(*words), cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, check=False, timeout=60
    )
    return Said(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def snapshot(directory: Path) -> dict[str, bytes | str | None]:
    """Return the contents of files and the targets of links below a directory; None is a directory."""
    return {
        path.relative_to(directory).as_posix(): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in sorted(directory.rglob("*"))
    }


def trio(directory: Path, text: str = TRIO) -> Path:
    """Write a scenario of three bots into a directory, and return its path."""
    path = directory / "trio.toml"
    path.write_text(text, encoding="utf-8")
    return path


def built_wheel(folder: Path) -> Path:
    """Build the wheel of the package into this folder without a network, and return its path."""
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True, timeout=120)
    (wheel,) = folder.glob("agentsim_games-*.whl")
    return wheel
