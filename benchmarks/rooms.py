"""The number of modules that one decision crosses, and one wave of three, from the rules' questions to the next ones.

    python -m benchmarks.rooms                      # also lines and modules of each package
    python -m benchmarks.rooms --before 54fadc42    # compared with a commit

A module counts if Python calls a function of it; a change is a call or a return that leads from one module to another.
The wave is one of three votes in the middle of a game, answered by a server on loopback. A decision is what happens
while `Decider.decide` runs: from the request to its record in the journal. The core is all packages but games,
`testing` and `server`. `tests/test_benchmarks.py` checks the number of modules.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import agentsim
from agentsim.engine.request import Wave
from agentsim.runs.decide import Decider
from agentsim.runs.watcher import Watcher
from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario

PACKAGE = Path(agentsim.__file__).parent
OUTSIDE = {"games", "testing", "server"}
SCENARIO = """
game = "agent_island"
seed = 1
[defaults]
model = "fake/echo"
[game_config]
phases = ["pitches", "votes"]
[providers.fake]
base_url = "{url}"
[[players]]
id = "p"
count = 4
"""


class _Walk(Watcher):
    """Profiles the one wave of three decisions."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.of_decisions: Counter[str] = Counter()
        self.changes = 0
        self._here = ""
        self._deciding = 0  # frames of `Decider.decide` on the stack

    def wave(self, wave: Wave, round_title: str) -> None:
        if self.calls:
            sys.setprofile(None)
        elif len(wave.asks) == 3:
            sys.setprofile(self._step)

    def _step(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in {"call", "return"}:
            return
        file = frame.f_code.co_filename
        if frame.f_code is Decider.decide.__code__:
            self._deciding += 1 if event == "call" else -1
        if event == "return":
            file = frame.f_back.f_code.co_filename if frame.f_back is not None else file
        if not file.startswith(str(PACKAGE)):
            return
        self.calls[file] += event == "call"
        self.of_decisions[file] += event == "call" and self._deciding > 0
        self.changes += bool(self._here) and self._here != file
        self._here = file


class Crossed(NamedTuple):
    """The modules that are crossed, relative to `agentsim/`, and the number of changes of module in the wave."""

    wave: list[str]
    decision: list[str]
    changes: int


def crossed() -> Crossed:
    """Play the game; return what its wave of three and the decisions in it crossed."""
    walk = _Walk()
    with tempfile.TemporaryDirectory() as scratch, FakeServer(varied_by_schema).in_thread() as server:
        config = Path(scratch) / "game.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        assert play_scenario(load(config), Path(scratch), env={}, stem="run", watcher=walk).status == "completed"
    return Crossed(_named(walk.calls), _named(walk.of_decisions), walk.changes)


def _named(calls: Counter[str]) -> list[str]:
    return sorted(Path(name).relative_to(PACKAGE).as_posix() for name, count in calls.items() if count)


def _package(path: str) -> str:
    """Return the package of a file that is relative to `agentsim/`, or `.` for a top-level module."""
    first, slash, _ = path.partition("/")
    return first if slash else "."


def _now() -> dict[str, int]:
    """Return the number of lines of every module."""
    found = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): len(path.read_text("utf-8").splitlines()) for path in found}


def _at(commit: str) -> dict[str, int]:
    """Return the number of lines of every module at a commit."""
    command = ("git", "grep", "--count", "", commit, "--", f"{PACKAGE.name}/*.py")
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    lines = (line.removeprefix(f"{commit}:{PACKAGE.name}/").rpartition(":") for line in done.stdout.splitlines())
    return {name: int(count) for name, _, count in lines}


def _sizes(files: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return modules and lines by package, and of the core."""
    rows: dict[str, list[int]] = {}
    for name, lines in files.items():
        rows.setdefault(_package(name), []).append(lines)
    core = [lines for name, row in rows.items() if name not in OUTSIDE for lines in row]
    return {name: (len(row), sum(row)) for name, row in [*sorted(rows.items()), ("core", core)]}


def _print_by_package(names: list[str]) -> None:
    for package, count in Counter(map(_package, names)).items():
        print(f"  {package:10} {count:3}: {', '.join(each for each in names if _package(each) == package)}")


def main() -> None:
    """Play the game and print the walk; then the size of each package."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", metavar="COMMIT")
    before = parser.parse_args().before
    found = crossed()
    print(f"one decision: {len(found.decision)} modules")
    _print_by_package(found.decision)
    print(f"one wave of three: {len(found.wave)} modules, {found.changes} changes of module")
    _print_by_package(found.wave)
    then = _sizes(_at(before)) if before else {}
    for name, (count, lines) in _sizes(_now()).items():
        was = f"   before: {then[name][0]:4} modules {then[name][1]:7,} lines" if name in then else ""
        print(f"{name:10} {count:4} modules {lines:7,} lines{was}")


if __name__ == "__main__":
    main()
