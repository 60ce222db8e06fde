"""The ratio of a game's wall time to its critical path: seven players, 200 ms per call, pitches and votes.

Rounds have 7, 6, ... 2 pitches, one after another, and one wave of votes each: 27 + 6 = 33 latencies. Seconds depend on
the machine; compare the ratio.

    uv run python -m benchmarks.critical_path
    uv run python -m benchmarks.critical_path --repeats 5 --json
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario

LATENCY_S = 0.2
WAVES = 33
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
count = 7
"""


def measure(repeats: int) -> Iterator[float]:
    """Play the game so many times, and yield the wall seconds of each."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        FakeServer(varied_by_schema, latency_s=LATENCY_S).in_thread() as server,
    ):
        config = Path(scratch) / "game.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        for number in range(repeats):
            started = time.perf_counter()
            result = play_scenario(load(config), Path(scratch), env={}, stem=f"run{number}")
            seconds = time.perf_counter() - started
            waves = result.history["decisions"][-1]["wave"]
            assert (result.status, waves) == ("completed", WAVES)
            yield seconds


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print each wall time over the ideal."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3, help="games")
    parser.add_argument("--json", action="store_true", help="every game as a line of JSON instead of a table")
    given = parser.parse_args(words)
    ideal = WAVES * LATENCY_S
    ratios = []
    for seconds in measure(given.repeats):
        ratios.append(seconds / ideal)
        if given.json:
            print(json.dumps({"wall_s": seconds, "ideal_s": ideal, "ratio": ratios[-1]}))
        else:
            print(f"{seconds:.3f} s, {ratios[-1]:.3f} of the ideal {ideal:.1f} s ({WAVES} waves)")
    if not given.json:
        print(f"median: {statistics.median(ratios):.3f} of the ideal")


if __name__ == "__main__":
    main()
