"""What a report of a folder of games takes: CPU, wall time and memory of `agentsim report`, without and with its page.

    uv run python -m benchmarks.reports
    uv run python -m benchmarks.reports --games 1000 --config configs/agent_island_bots.toml --json

The games are played first, into a temporary folder or `--out`, and do not count. The first page of a folder writes
those of its games, too; the second finds them there. Each report is a process of its own; CPU is that of the process
beside that of `agentsim --version`, which is the part of it that every command takes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

AGENTSIM = (sys.executable, "-m", "agentsim")


@dataclass(frozen=True)
class Measurement:
    """CPU and wall time in seconds and peak memory in MiB of a command on so many games."""

    command: str
    games: int
    cpu_s: float
    wall_s: float
    peak_mib: float


def measured(name: str, games: int, *words: str) -> Measurement:
    """Run a command in a process and return what it took. Raises `CalledProcessError` if it fails."""
    began = time.perf_counter()
    process = subprocess.Popen([*AGENTSIM, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    wall = time.perf_counter() - began
    return Measurement(name, games, used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def reports(config: Path, games: int, out: Path) -> list[Measurement]:
    """Play the games into a folder that does not exist yet, and measure its reports."""
    batch = [*AGENTSIM, "batch", "--config", str(config), "--games", str(games), "--rotate", "--out", str(out)]
    subprocess.run(batch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [
        measured("--version", 0, "--version"),
        measured("report", games, "report", str(out)),
        measured("report --exploratory", games, "report", str(out), "--exploratory"),
        measured("report --html", games, "report", str(out), "--html"),
        measured("report --html, again", games, "report", str(out), "--html"),
    ]


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--config", type=Path, default=Path("configs/agent_island_bots.toml"))
    parser.add_argument("--games", type=int, default=1_000)
    parser.add_argument("--out", type=Path, help="a new folder for the games; a temporary one if not given")
    parser.add_argument("--json", action="store_true", help="every measurement as a line of JSON instead of a table")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as scratch:
        for each in reports(given.config, given.games, given.out or Path(scratch, "games")):
            if given.json:
                print(json.dumps(asdict(each)))
            else:
                took = f"{each.cpu_s:.2f} s of CPU, {each.wall_s:.2f} s, {each.peak_mib:.0f} MiB"
                print(f"{each.command} ({each.games:,} games): {took}", flush=True)


if __name__ == "__main__":
    main()
