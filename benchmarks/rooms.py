"""How many modules one wave of three decisions crosses, from the rules' questions to the next ones, and how often.

    python -m benchmarks.rooms            # also lines and modules of each package

A module counts when Python calls a function of it; a change is a call or a return that leads from one module to
another. The wave is one of three votes in the middle of a game, answered by a server on loopback.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import agentsim
from agentsim.engine.play import Wave
from agentsim.runner.session import begin
from agentsim.runner.watch import Watcher
from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

PACKAGE = Path(agentsim.__file__).parent
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
        self.changes = 0
        self._here = ""

    def wave(self, wave: Wave, round_title: str) -> None:
        if self.calls:
            sys.setprofile(None)
        elif len(wave.asks) == 3:
            sys.setprofile(self._step)

    def _step(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in {"call", "return"}:
            return
        file = frame.f_code.co_filename
        if event == "return":
            file = frame.f_back.f_code.co_filename if frame.f_back is not None else file
        if not file.startswith(str(PACKAGE)):
            return
        self.calls[file] += event == "call"
        self.changes += bool(self._here) and self._here != file
        self._here = file


def main() -> None:
    """Play the game and print the walk; then the size of each package."""
    walk = _Walk()
    with tempfile.TemporaryDirectory() as scratch, FakeServer(varied_by_schema).in_thread() as server:
        config = Path(scratch) / "game.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        assert begin(load(config), Path(scratch), env={}, stem="run", watcher=walk).status == "completed"
    crossed = [name for name, calls in walk.calls.items() if calls]
    print(f"one wave of three: {len(crossed)} modules, {walk.changes} changes of module")
    rows: dict[str, list[int]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).parts
        row = rows.setdefault(part[0] if len(part) > 1 else ".", [0, 0])
        row[0] += 1
        row[1] += len(path.read_text(encoding="utf-8").splitlines())
    outside = [row for name, row in rows.items() if name != "games"]
    for name, (count, lines) in [
        *rows.items(),
        ("without games", [sum(column) for column in zip(*outside, strict=True)]),
    ]:
        print(f"{name:14} {count:4} modules {lines:7,} lines")


if __name__ == "__main__":
    main()
