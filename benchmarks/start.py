"""How long a command takes to start: wall time to `import agentsim`, to the help, and to a game's first decision.

Each is a process of its own, in turns with an interpreter that does nothing; the least of `--repeats` counts. The
first decision of a game of bots is there when the command prints what a player did.

    uv run python -m benchmarks.start
    uv run python -m benchmarks.start --repeats 20 --json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

CONFIG = "configs/agent_island_bots.toml"
BARE = "an interpreter"


@dataclass(frozen=True)
class Start:
    """The least wall time of one thing that starts, in milliseconds."""

    what: str
    wall_ms: float


def until_the_end(*words: str) -> float:
    """Return the wall seconds of a process."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def until_the_first_decision() -> float:
    """Return the seconds from the start of `agentsim run` to the line about the first decision."""
    with tempfile.TemporaryDirectory() as scratch:
        words = ["-m", "agentsim", "run", CONFIG, "--name", "game", "--logs-dir", scratch, "--display", "plain"]
        began = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            assert any(line.startswith("Player ") for line in process.stderr), "no player did anything"
            seconds = time.perf_counter() - began
            process.stderr.read()
            assert process.wait() == 0, f"exit code {process.returncode}"
        return seconds


STARTS: Mapping[str, Callable[[], float]] = {
    BARE: lambda: until_the_end("-c", "pass"),
    "import agentsim": lambda: until_the_end("-c", "import agentsim"),
    "agentsim --help": lambda: until_the_end("-m", "agentsim", "--help"),
    "agentsim run, first decision": until_the_first_decision,
}


def measure(repeats: int) -> Iterator[Start]:
    """Measure all starts in turns."""
    turns = [{what: took() for what, took in STARTS.items()} for _ in range(repeats)]
    for what in STARTS:
        yield Start(what, 1e3 * min(turn[what] for turn in turns))


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=10, help="turns")
    parser.add_argument("--json", action="store_true", help="every measurement as a line of JSON instead of a table")
    given = parser.parse_args(words)
    for start in measure(given.repeats):
        print(json.dumps(asdict(start)) if given.json else f"{start.what:32}{start.wall_ms:8.0f} ms")


if __name__ == "__main__":
    main()
