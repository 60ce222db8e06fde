"""CPU of games of bots beside an earlier commit, in turns: batches by one worker, journal and history written.

The other commit's package and configs are taken out of git into a folder of temporary files, and run by this
interpreter. What starting a batch takes is measured with one game, and does not count.

    uv run python -m benchmarks.before
    uv run python -m benchmarks.before --commit HEAD~5 --config monopoly_bots --repeats 5 --json
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = "7e133d4"
"""The first commit with all six games."""
GAMES: Mapping[str, int] = {"monopoly_bots": 20, "society_bots": 10, "agent_island_bots": 200}
"""Games of one turn, by config."""


@dataclass(frozen=True)
class Turn:
    """CPU seconds of one game, here and at the other commit."""

    config: str
    games: int
    here_s: float
    before_s: float

    @property
    def speed_up(self) -> float:
        """How many times as fast as the other commit."""
        return self.before_s / self.here_s


def checkout(commit: str, folder: Path) -> None:
    """Write the files of a commit that a batch needs. Raises `CalledProcessError` if git does not know it."""
    packed = subprocess.run(
        ["git", "archive", commit, "agentsim", "configs", "prompts", "items"], cwd=ROOT, check=True, capture_output=True
    )
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def cpu_of_batch(package: Path, config: str, games: int) -> float:
    """Return the CPU seconds of a batch by one worker, with all its processes."""
    with tempfile.TemporaryDirectory() as scratch:
        words = ["batch", "--config", f"configs/{config}.toml", "--games", str(games), "--jobs", "1"]
        program = [sys.executable, "-m", "agentsim", *words, "--out", f"{scratch}/games"]
        process = subprocess.Popen(program, cwd=package, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, program)
        return used.ru_utime + used.ru_stime


def measure(commit: str, configs: Sequence[str], repeats: int) -> Iterator[Turn]:
    """Measure both packages in turns."""
    with tempfile.TemporaryDirectory() as scratch:
        checkout(commit, Path(scratch))
        packages = (ROOT, Path(scratch))
        for config in configs:
            games = GAMES.get(config, 20)
            starts = [cpu_of_batch(package, config, 1) for package in packages]
            for _ in range(repeats):
                here, before = (
                    (cpu_of_batch(package, config, games + 1) - start) / games
                    for package, start in zip(packages, starts, strict=True)
                )
                yield Turn(config, games, here, before)


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--commit", default=FIRST, help="the commit to compare with")
    parser.add_argument("--config", nargs="+", default=[*GAMES], help="names of scenarios of bots in configs/")
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument("--json", action="store_true", help="every turn as a line of JSON instead of a table")
    given = parser.parse_args(words)
    turns = list(measure(given.commit, given.config, given.repeats))
    for turn in turns if given.json else ():
        print(json.dumps({**asdict(turn), "speed_up": turn.speed_up}))
    for config in () if given.json else given.config:
        here, before, ratio = (
            statistics.median(getattr(turn, name) for turn in turns if turn.config == config)
            for name in ("here_s", "before_s", "speed_up")
        )
        print(
            f"{config:20} {1e3 * here:8.1f} ms a game, {1e3 * before:8.1f} at {given.commit}: {ratio:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
