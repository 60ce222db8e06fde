"""What a game of Monopoly between the four personalities costs, and what such games are like.

A whole game is a real run: the scenario is loaded, every decision checked and journaled, the history written. In turn
with it the same game is played in memory. Both are measured in CPU time of one process, which is one core.

    uv run python -m benchmarks.monopoly
    uv run python -m benchmarks.monopoly --games 40 --repeats 7 --profile
    uv run python -m benchmarks.monopoly --distribution 60
    uv run python -m benchmarks.monopoly --distribution 1000 --four professor

`--distribution` plays so many seeds in memory, each in all 24 seatings, and reports the length of games, the wins by
player and by seat, and the trades; with `--four`, four players of one personality, which have one seating. Intervals of
95% are Student's, of the mean over seeds, since games of one seed share their dice.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.bots import BOTS
from agentsim.games.monopoly.match import GameEnded
from agentsim.games.monopoly.trade import TradeAccepted, TradeProposed
from agentsim.scenario.load import load
from tests.playing import play_scenario

PLAYERS = ("shark", "professor", "hustler", "turtle")
CAP = 1_000
WHOLE, MEMORY = "journal and history", "in memory"
PACKAGE = "agentsim"


@dataclass(frozen=True)
class Measured:
    """One turn. `cpu_s` is that of all its games."""

    path: str
    games: int
    decisions: int
    cpu_s: float

    @property
    def rate(self) -> float:
        """Games per second on one core."""
        return self.games / self.cpu_s


def seated(seed: int) -> tuple[str, ...]:
    """Return the players in seat order. The first seat rotates with the seed."""
    first = seed % len(PLAYERS)
    return PLAYERS[first:] + PLAYERS[:first]


def in_memory(seed: int, seats: Sequence[str] | None = None, policy: str | None = None) -> Simulation:
    """Play with the kernel, the rules and the bots alone. Each plays its own personality, or all play `policy`."""

    def each_its_own(request: Request[Any], rng: Stream) -> Decision:
        return BOTS[policy or request.player](request, rng)

    return simulate(GAME, {"max_turns": CAP}, seats or seated(seed), bot=each_its_own, seed=seed)


def whole(seed: int, folder: Path) -> int:
    """Play a run from scenario to history, and return the number of its decisions."""
    config = folder / "monopoly.toml"
    players = "".join(f'[[players]]\nid = "{name}"\nmodel = "bot/{name}"\n' for name in seated(seed))
    config.write_text(f'game = "monopoly"\nseed = {seed}\n[game_config]\nmax_turns = {CAP}\n{players}', "utf-8")
    result = play_scenario(load(config), folder, env={})
    assert result.status == "completed", result.error
    return len(result.typed_history.decisions)


def _timed(path: str, seeds: Sequence[int], play: Callable[[int], int]) -> Measured:
    started = time.process_time()
    decisions = sum(play(seed) for seed in seeds)
    return Measured(path, len(seeds), decisions, time.process_time() - started)


def measure(games: int, repeats: int) -> Iterator[Measured]:
    """Measure both paths in turn, `repeats` times with the same games, after one game of each that is not counted."""
    seeds = range(games)
    with tempfile.TemporaryDirectory() as scratch:
        play_whole = partial(whole, folder=Path(scratch))
        for turn in range(repeats + 1):
            for path, play in ((WHOLE, play_whole), (MEMORY, lambda seed: len(in_memory(seed).waves))):
                measured = _timed(path, seeds if turn else seeds[:1], play)
                if turn:
                    yield measured


def report(results: Sequence[Measured]) -> None:
    """Print medians, and the range over the turns."""
    for path in (WHOLE, MEMORY):
        own = [each for each in results if each.path == path]
        rates = [each.rate for each in own]
        micros = statistics.median(1e6 * each.cpu_s / each.decisions for each in own)
        print(
            f"{path:22}{statistics.median(rates):7.1f} games/s [{min(rates):.1f}-{max(rates):.1f}]"
            f"{own[0].decisions / own[0].games:8.0f} decisions a game{micros:8.1f} us a decision"
        )


def profiled(games: int) -> None:
    """Print the time of whole games by module: its own time, without the functions that it calls."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as scratch:
        whole(0, Path(scratch))
        profile.enable()
        for seed in range(games):
            whole(seed, Path(scratch))
        profile.disable()
    by_module: defaultdict[str, float] = defaultdict(float)
    stats: dict[tuple[str, int, str], tuple[int, int, float, float, Any]] = pstats.Stats(profile).stats  # type: ignore[attr-defined] # typeshed leaves it out
    for (file, _, function), (_, _, own, _, _) in stats.items():
        _, found, rest = file.rpartition(f"/{PACKAGE}/")
        by_module[rest.removesuffix(".py") if found else function if file == "~" else f"({Path(file).stem})"] += own
    total = sum(by_module.values())
    print(f"{'of its own time':>20}  module, under the profiler")
    for module, seconds in sorted(by_module.items(), key=lambda entry: -entry[1])[:30]:
        print(f"{100 * seconds / total:19.1f}%  {module}")


def distribution(seeds: int, policy: str | None = None) -> None:
    """Print statistics of games over so many seeds, in all seatings, or of four players of one personality."""
    turns: list[int] = []
    wins, seats = np.zeros((seeds, len(PLAYERS))), np.zeros((seeds, len(PLAYERS)))
    proposed: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    seatings = list(permutations(PLAYERS)) if policy is None else [PLAYERS]
    for seed in range(seeds):
        for seating in seatings:
            played = in_memory(seed, seating, policy)
            (end,) = played.events(GameEnded)
            turns.append(end.turns)
            wins[seed, PLAYERS.index(end.results[0].player)] += 1 / len(seatings)
            seats[seed, seating.index(end.results[0].player)] += 1 / len(seatings)
            proposed.update(event.target for event in played.events(TradeProposed))
            accepted.update(event.target for event in played.events(TradeAccepted))
    tenths, games = statistics.quantiles(turns, n=10), len(turns)
    capped = sum(each >= CAP for each in turns)
    print(
        f"{games} games: median {statistics.median(turns):.0f} turns, {tenths[0]:.0f} to {tenths[-1]:.0f} in eight of"
    )
    print(f"ten, {max(turns)} at most; {capped} at the cap of {CAP} ({100 * capped / games:.1f}%)")
    if policy is None:
        print("wins: " + ", ".join(map(_share, PLAYERS, wins.T)))
    print("wins by seat: " + ", ".join(map(_share, ("1", "2", "3", "4"), seats.T)))
    print(f"trades a game: {proposed.total() / games:.1f} proposed, {accepted.total() / games:.1f} accepted")
    if policy is None:
        rates = (f"{name} {100 * accepted[name] / max(1, proposed[name]):.0f}%" for name in PLAYERS)
        print("accepted: " + ", ".join(rates))


def _share(name: str, by_seed: NDArray[np.float64]) -> str:
    reach = student.ppf(0.975, len(by_seed) - 1) * by_seed.std(ddof=1) / len(by_seed) ** 0.5
    mean = by_seed.mean()
    return f"{name} {100 * mean:.1f}% ({100 * (mean - reach):.1f} to {100 * (mean + reach):.1f})"


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--games", type=int, default=20, help="of one turn")
    parser.add_argument("--repeats", type=int, default=5, help="turns that are counted")
    parser.add_argument("--profile", action="store_true", help="also what the time goes to")
    parser.add_argument("--distribution", type=int, default=0, help="seeds to say what games are like, no timing")
    parser.add_argument("--four", choices=PLAYERS, help="with --distribution: four of this personality")
    parser.add_argument("--json", action="store_true", help="every turn as a line of JSON instead of a table")
    given = parser.parse_args(words)
    if given.distribution:
        distribution(given.distribution, given.four)
        return
    results = list(measure(given.games, given.repeats))
    if given.json:
        for measured in results:
            print(json.dumps(asdict(measured)))
    else:
        report(results)
    if given.profile:
        profiled(given.games)


if __name__ == "__main__":
    main()
