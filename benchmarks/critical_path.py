"""The ratio of a game's wall time to its critical path: seven players, 200 ms per call, pitches and votes.

Rounds have 7, 6, ... 2 pitches, one after another, and one wave of votes each: 27 + 6 = 33 latencies. Run it as `uv run
python -m benchmarks.critical_path`. Seconds depend on the machine; compare the ratio.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario

LATENCY_S = 0.2
WAVES = 33
RUNS = 3
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


def main() -> None:
    """Play the game a few times and print each wall time over the ideal."""
    ideal = WAVES * LATENCY_S
    ratios = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        FakeServer(varied_by_schema, latency_s=LATENCY_S).in_thread() as server,
    ):
        config = Path(scratch) / "game.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        for number in range(RUNS):
            started = time.perf_counter()
            result = play_scenario(load(config), Path(scratch), env={}, stem=f"run{number}")
            seconds = time.perf_counter() - started
            waves = result.history["decisions"][-1]["wave"]
            assert (result.status, waves) == ("completed", WAVES)
            ratios.append(seconds / ideal)
            print(f"run {number + 1}: {seconds:.3f} s, {seconds / ideal:.3f} x the ideal {ideal:.1f} s ({WAVES} waves)")
    print(f"median: {statistics.median(ratios):.3f} x the ideal; the goal is at most 1.1 x")


if __name__ == "__main__":
    main()
