"""The time of a decision in a game with next to no rules and bots that do not think: what the kernel takes.

Two players choose in turn, and each choice is told. The game is played in memory, and as a run with journal and
history; both in CPU time of one process, in which garbage is collected as in `agentsim run`. Beside them, in the same
turns, pyperformance's `richards`, if it is there: the figures of two machines compare in proportion to it.

    uv run --with pyperformance --with pyperf python -m benchmarks.kernel
    uv run python -m benchmarks.kernel --decisions 2000 --repeats 7 --json
"""

from __future__ import annotations

import argparse
import gc
import json
import runpy
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentsim import games
from agentsim.cli.app import GC_THRESHOLD
from agentsim.engine.simulate import simulate
from agentsim.games import find
from agentsim.scenario.load import load
from tests.playing import play_scenario

games.__path__.append(str(Path(__file__).parent / "games"))
GAME = "choices"
PLAYERS = ("A", "B")
MEMORY, WHOLE, YARDSTICK = "in memory", "journal and history", "richards"
RICHARDS = "data-files/benchmarks/bm_richards/run_benchmark.py"


@dataclass(frozen=True)
class Measured:
    """One turn: CPU seconds for so many decisions, or for one run of `richards`."""

    path: str
    decisions: int
    cpu_s: float

    @property
    def micros(self) -> float:
        """Microseconds of CPU per decision, or in all."""
        return 1e6 * self.cpu_s / max(1, self.decisions)


def in_memory(decisions: int) -> None:
    """Play with the kernel alone."""
    simulate(find(GAME), {"decisions": decisions}, PLAYERS, bot="first")


def whole(decisions: int, folder: Path) -> None:
    """Play a run from scenario to history."""
    config = folder / "choices.toml"
    players = "".join(f'[[players]]\nid = "{name}"\nmodel = "bot/first"\n' for name in PLAYERS)
    config.write_text(f'game = "{GAME}"\nseed = 1\n[game_config]\ndecisions = {decisions}\n{players}', "utf-8")
    result = play_scenario(load(config), folder, env={})
    assert result.status == "completed", result.error


def richards() -> Callable[[], Any] | None:
    """Return one run of pyperformance's `richards`, or None if it is not installed."""
    if (found := find_spec("pyperformance")) is None or found.origin is None:
        return None
    program: Mapping[str, Any] = runpy.run_path(str(Path(found.origin).parent / RICHARDS))
    return lambda: program["Richards"]().run(1)


def measure(decisions: int, repeats: int) -> Iterator[Measured]:
    """Measure all paths in turn, `repeats` times, after a turn that is not counted."""
    with tempfile.TemporaryDirectory() as scratch:
        paths: dict[str, tuple[int, Callable[[], Any]]] = {
            MEMORY: (decisions, lambda: in_memory(decisions)),
            WHOLE: (decisions, lambda: whole(decisions, Path(scratch))),
        }
        if (yardstick := richards()) is not None:
            paths[YARDSTICK] = (0, yardstick)
        for turn in range(repeats + 1):
            for path, (count, play) in paths.items():
                started = time.process_time()
                play()
                if turn:
                    yield Measured(path, count, time.process_time() - started)


def report(results: Sequence[Measured]) -> None:
    """Print medians, and the range over the turns."""
    for path in dict.fromkeys(each.path for each in results):
        own = [each.micros for each in results if each.path == path]
        scale, unit = (1e-3, "ms") if path == YARDSTICK else (1, "us a decision")
        low, middle, high = (scale * value for value in (min(own), statistics.median(own), max(own)))
        print(f"{path:22}{middle:8.1f} {unit} [{low:.1f}-{high:.1f}]")


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--decisions", type=int, default=5_000, help="of one game")
    parser.add_argument("--repeats", type=int, default=5, help="turns that are counted")
    parser.add_argument("--json", action="store_true", help="every turn as a line of JSON instead of a table")
    given = parser.parse_args(words)
    gc.set_threshold(*GC_THRESHOLD)
    results = list(measure(given.decisions, given.repeats))
    if given.json:
        for measured in results:
            print(json.dumps(asdict(measured)))
    else:
        report(results)


if __name__ == "__main__":
    main()
