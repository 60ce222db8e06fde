"""How many games of bots a batch plays in a second, and what a second worker is worth.

Every shipped scenario in which only bots play (or those of `--config`) is played as a batch by one worker process and
by two, in turn; the best of `--repeats` counts, including the start of the workers. In the same turns a loop of plain
Python runs in one process and in two, which measures the speed-up that the machine allows. Games are written to
`--out`; in memory (`/dev/shm`) two workers do not wait for one disk.

    uv run python -m benchmarks.batch
    uv run python -m benchmarks.batch --config configs/monopoly_bots.toml --games 40 --repeats 3 --json
    uv run python -m benchmarks.batch --out /dev/shm
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from agentsim.runs.batch.manifest import Design, planned, plays_alone
from agentsim.runs.batch.run_batch import Batch
from agentsim.scenario.load import load

CONFIGS = Path("configs")
LOOP = "for _ in range(10_000_000): pass"


@dataclass(frozen=True)
class Measured:
    """One scenario: games per second with one and two workers.

    `machine` is the speed-up of two independent processes.
    """

    config: str
    games: int
    one: float
    two: float
    machine: float

    @property
    def speed_up(self) -> float:
        """The ratio of the rates with two workers and with one."""
        return self.two / self.one


def of_bots() -> list[str]:
    """Return the shipped scenarios that need no model."""
    scenarios = {
        path: load(path) for path in sorted(CONFIGS.glob("*.toml")) if 'model = "bot/' in path.read_text("utf-8")
    }
    return [str(path) for path, scenario in scenarios.items() if plays_alone(planned(Design(1, 1), [scenario]))]


def rate(config: Path, games: int, jobs: int, out: str | None) -> float:
    """Return the games per second of one batch, from the first worker's start to the last game's end."""
    manifest = planned(Design(1, games), [load(config)])
    with tempfile.TemporaryDirectory(prefix="agentsim-", dir=out) as folder:
        manifest.write(Path(folder))
        began = time.perf_counter()
        result = Batch(manifest, Path(folder), env={}, jobs=jobs).run()
        assert result.complete, f"{config}: {result.tally.statuses}"
        return games / (time.perf_counter() - began)


def loops(processes: int) -> float:
    """Return the loops per second of so many processes at once, each of which runs about a quarter of a second."""
    began = time.perf_counter()
    running = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(processes)]
    codes = [process.wait() for process in running]
    assert not any(codes), codes
    return processes / (time.perf_counter() - began)


def measured(config: str, games: int, repeats: int, out: str | None) -> Measured:
    """Return the best rates of the repeats, with one and two workers in turn."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    plain: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeats):
        for jobs, found in rates.items():
            plain[jobs].append(loops(jobs))
            found.append(rate(Path(config), games, jobs, out))
    return Measured(config, games, max(rates[1]), max(rates[2]), max(plain[2]) / max(plain[1]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--config", action="append", help="a scenario of bots; repeatable")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", help="the folder for the games; that of temporary files if not given")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for config in given.config or of_bots():
        found = measured(config, given.games, given.repeats, given.out)
        if given.json:
            print(json.dumps({**asdict(found), "speed_up": found.speed_up}), flush=True)
        else:
            print(
                f"{found.config}: {found.one:.1f} games/s with one worker, {found.two:.1f} with two: "
                f"{found.speed_up:.2f} times as fast (two processes that share nothing: {found.machine:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
