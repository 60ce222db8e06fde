"""How near a forecast comes to the number of calls that a game then takes.

    uv run python -m benchmarks.forecast --seeds 10

Six societies are played by ten scripted personas (`benchmarks.personas`), which are not bots of the game: the forecast
should be within 10% of their calls. Six shipped configs of bots are played by their own bots: the interval should
contain the calls in five of them. No model is called: a call is a decision of a seat that has a model.

The scenario names its seed, or with `--untold` only the game that is played has it. The first seed is the first row;
over all seeds the table counts how many forecasts are within 10% and how many intervals contain the calls.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

from agentsim.engine.game import Bot, bots_of
from agentsim.games import find
from agentsim.runs.forecast import forecast
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from benchmarks.personas import persona

ROOT = Path(__file__).parent.parent
CONFIGS = ROOT / "configs"
SOCIETIES: Mapping[str, tuple[int, str]] = {
    "classic": (100, "days = 30"),
    "commons": (20, 'preset = "commons"\ndays = 30'),
    "scarcity": (20, 'preset = "scarcity"\ndays = 30'),
    "inequality": (20, 'preset = "inequality"\ndays = 30'),
    "frontier": (20, 'preset = "frontier"\ndays = 30'),
    "open": (60, 'days = 20\nconstitution = "open"'),
}
OTHERS = ("agent_island_bots", "auction", "monopoly_bots", "market_bots", "werewolf_bots", "society_scarce")
"""The shipped configs of bots."""
SEED = 1_000_003


@dataclass(frozen=True)
class Foreseen:
    """The forecast of calls with its interval, and the calls that the game took."""

    name: str
    expected: int
    least: int
    most: int
    real: int

    @property
    def off(self) -> float:
        """The error of the forecast, as a share of the calls."""
        return abs(self.expected - self.real) / self.real

    @property
    def contained(self) -> bool:
        """True if the calls are within the interval."""
        return self.least <= self.real <= self.most


def foreseen(
    name: str, config: str, policy: Callable[[str], Bot], seed: int = SEED, *, untold: bool = False
) -> Foreseen:
    """Forecast a scenario with models in all seats, then play it with the policy of each seat."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(ROOT / "items", Path(scratch) / "items")
        path = Path(scratch) / "configs" / "scenario.toml"
        path.parent.mkdir()
        path.write_text(re.sub(r'"bot/\w+"', '"ollama/any"', config), encoding="utf-8")
        scenario = replace(load(path), seed=seed)
    game = find(scenario.game)
    told = replace(scenario, seed=None) if untold else scenario
    expected = forecast(told, game, most_decisions=1_000_000, most_seconds=600)
    play, real = new_play(scenario, game), 0
    wave = play.start()
    while wave is not None:
        real += len(wave.asks)
        wave = play.answer([policy(ask.request.player)(ask.request, play.bot_rng(ask)) for ask in wave.asks])
    return Foreseen(name, expected.total().calls, expected.least, expected.most, real)


def society(agents: int, settings: str) -> str:
    """Return a scenario of so many models."""
    players = f'[[players]]\nid = "agent"\ncount = {agents}\nmodel = "ollama/any"\n'
    return f'game = "society"\n[game_config]\n{settings}\n{players}'


def of_config(config: str) -> Callable[[str], Bot]:
    """Return the policy of each seat of a shipped config of bots."""
    scenario = load(CONFIGS / f"{config}.toml")
    bots = bots_of(find(scenario.game))
    return {plan.id: bots[plan.name.rest] for plan in scenario.seats}.__getitem__


def main(words: Sequence[str] | None = None) -> None:
    """Forecast and play each scenario, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="+", help="some of the scenarios, by name")
    parser.add_argument("--json", action="store_true", help="every scenario as a line of JSON instead")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--untold", action="store_true", help="the forecast does not know the seed")
    parser.add_argument("--agents", type=int, help="so many in each society")
    given = parser.parse_args(words)
    for name in (*SOCIETIES, *OTHERS):
        if given.only and name not in given.only:
            continue
        policy: Callable[[str], Bot]
        if name in SOCIETIES:
            agents, settings = SOCIETIES[name]
            config, policy = society(given.agents or agents, settings), lambda _: persona
        else:
            config, policy = (CONFIGS / f"{name}.toml").read_text(encoding="utf-8"), of_config(name)
        seeds = range(SEED, SEED + given.seeds)
        found = [foreseen(name, config, policy, seed, untold=given.untold) for seed in seeds]
        if given.json:
            for each in found:
                print(json.dumps({**asdict(each), "off": each.off, "contained": each.contained}))
        else:
            _print_row(found)


def _print_row(found: Sequence[Foreseen]) -> None:
    first = found[0]
    words = [first.name, f"{first.expected:,}", f"{first.least:,} to {first.most:,}", f"{first.real:,}"]
    near, held = sum(each.off <= 0.1 for each in found), sum(each.contained for each in found)
    mean = fmean(each.expected for each in found) / fmean(each.real for each in found) - 1
    words += [f"{first.off:.1%}", f"{near} of {len(found)}", f"{mean:+.1%}", f"{held} of {len(found)}"]
    print(f"| {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    main()
