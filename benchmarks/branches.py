"""How long twelve branches of a run take beside one, when every call of a model takes its time.

A game of Agent Island is played by models behind a server on loopback, then forked at its second decision: one branch,
and twelve of them with `--jobs 12`, in turns. Each turn is a process of `agentsim fork`, from its start to its last
file. The figure is the ratio of the wall times; the goal is at most 1.3.

    uv run python -m benchmarks.branches
    uv run python -m benchmarks.branches --branches 12 --latency 1 --repeats 3 --json
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

AT = 2

SCENARIO = """
game = "agent_island"
seed = 3
[limits]
concurrency = 100
[game_config]
phases = ["pitches", "votes"]
[defaults]
model = "fake/m"
[providers.fake]
base_url = "{url}"
[[players]]
id = "p"
count = 6
"""


@dataclass(frozen=True)
class Turn:
    """One branch, and several at once: wall seconds, and calls of one branch."""

    one_s: float
    several_s: float
    calls: int

    @property
    def ratio(self) -> float:
        """How many times longer the several branches took."""
        return self.several_s / self.one_s


def command(folder: Path, *words: str) -> float:
    """Run a command of agentsim in a folder and return its wall seconds; CalledProcessError if it fails."""
    started = time.perf_counter()
    env = {**os.environ, "FAKE_API_KEY": "none"}
    where = ["--logs-dir", str(folder), "--display", "none"]
    program = [sys.executable, "-m", "agentsim"]
    subprocess.run([*program, *words, *where], env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def decisions(history: Path) -> int:
    """Return how many decisions a history holds."""
    return len(json.loads(history.read_text("utf-8"))["decisions"])


def measure(branches: int, latency_s: float, repeats: int) -> Iterator[Turn]:
    """Play the game once, and then fork it in turns."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        FakeServer(varied_by_schema, latency_s=latency_s).in_thread() as server,
    ):
        folder = Path(scratch)
        config = folder / "base.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        command(folder, "run", str(config), "--name", "base")
        for number in range(repeats):
            one, several = f"one{number}", f"several{number}"
            fork = ["fork", "base", "--at", str(AT), "--jobs", str(branches)]
            one_s = command(folder, *fork, "--name", one, "--branches", "1")
            several_s = command(folder, *fork, "--name", several, "--branches", str(branches))
            yield Turn(one_s, several_s, decisions(next(folder.glob(f"{one}*.json"))) - AT)


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--branches", type=int, default=12, help="at once, beside one")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of each call")
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument("--json", action="store_true", help="every turn as a line of JSON instead of a table")
    given = parser.parse_args(words)
    turns = []
    for turn in measure(given.branches, given.latency, given.repeats):
        turns.append(turn)
        if given.json:
            print(json.dumps({**asdict(turn), "branches": given.branches, "ratio": turn.ratio}))
        else:
            print(f"{turn.calls} calls: 1 branch {turn.one_s:.1f} s, {given.branches} branches {turn.several_s:.1f} s")
    if not given.json:
        print(f"ratio, median: {statistics.median(turn.ratio for turn in turns):.2f}")


if __name__ == "__main__":
    main()
