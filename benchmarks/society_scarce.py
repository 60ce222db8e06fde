"""The poor world of `configs/society_scarce.toml`: how many agents are active at its end, under which laws.

Every condition is played with the same seeds. To keep a founding law the only one, passing another requires the votes
of all agents, which never happens. Intervals are of the mean over seeds, 95%, by the percentiles of 10,000 bootstrap
samples; differences are paired by seed.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from agentsim.games.society import GAME
from agentsim.games.society.evening import DayEnded
from benchmarks.society import waves

CONFIG = Path(__file__).parent.parent / "configs" / "society_scarce.toml"
SAMPLES = 10_000
NOTHING_PASSES = "nothing can pass"
PERCENT, SHARE = 10, 0.2
BOTH = ("food", "energy")
TAXES = [{"kind": "tax", "resource": resource, "percent": PERCENT} for resource in BOTH]
DIVIDENDS = [{"kind": "dividend", "resource": resource, "amount": SHARE, "to": "all"} for resource in BOTH]
ASLEEP = [{"kind": "dividend", "resource": resource, "amount": 3, "to": "dormant"} for resource in BOTH]
LAWS: Mapping[str, list[dict[str, Any]]] = {
    "no law": [],
    "a tax and a dividend": [*TAXES, *DIVIDENDS],
    "the dividend alone": DIVIDENDS,
    "the tax alone": TAXES,
    "enough to wake, to all who sleep": ASLEEP,
    "a work minimum": [{"kind": "work_minimum", "hours": 6}],
}


@dataclass(frozen=True)
class Ended:
    """One society on its last evening. `active` is a share of all agents, `laws` a count."""

    condition: str
    law: str
    seed: int
    active: float
    laws: int


def scarce(days: int = 30, agents: int = 0) -> tuple[dict[str, Any], int]:
    """Return the config for so many days, and the number of agents, which is the config's own if `agents` is 0."""
    written = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    count = agents or sum(player.get("count", 1) for player in written["players"])
    return {**written["game_config"], "days": days}, count


def played(law: str, seed: int, *, votes: bool, days: int = 30, agents: int = 0) -> Ended:
    """Play one society of citizens under one founding law. With `votes` they can pass others."""
    config, count = scarce(days, agents)
    if LAWS[law]:
        config["laws"] = [{"title": law, "terms": LAWS[law]}]
    config["quorum"] = 0 if votes else count
    ((play, _),) = deque(waves(config, count, GAME.bots["citizen"], seed), maxlen=1)
    last = [told.event for told in play.log if isinstance(told.event, DayEnded)][-1]
    return Ended("citizens vote" if votes else NOTHING_PASSES, law, seed, last.active / count, last.laws)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% interval of the mean, by the percentiles of bootstrap samples."""
    rng = random.Random(1)
    means = sorted(fmean(rng.choices(values, k=len(values))) for _ in range(SAMPLES))
    return means[SAMPLES * 25 // 1_000], means[SAMPLES * 975 // 1_000 - 1]


def main(seeds: int, days: int, *, as_json: bool) -> None:
    """Play every condition and print the results."""
    results = [
        played(law, seed, votes=votes, days=days)
        for votes in (False, True)
        for law in (LAWS if not votes else tuple(LAWS)[:2])
        for seed in range(1, seeds + 1)
    ]
    if as_json:
        for each in results:
            print(json.dumps(asdict(each)))
        return
    print(f"active on day {days}, {seeds} seeds")
    for condition in dict.fromkeys(each.condition for each in results):
        without: list[float] = []
        for law in LAWS:
            own = [each for each in results if (each.condition, each.law) == (condition, law)]
            if own:
                without = without or [each.active for each in own]
                _line(own, without)


def _line(own: Sequence[Ended], without: Sequence[float]) -> None:
    shares = [each.active for each in own]
    text = f"{own[0].condition}, {own[0].law}:"
    print(f"{text:54}{_percent(shares)}, {100 * min(shares):.0f} to {100 * max(shares):.0f}", end="")
    moved = [share - before for share, before in zip(shares, without, strict=True)]
    print(f"; moved by {_percent(moved)}" if own[0].law != "no law" else "")


def _percent(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{100 * fmean(values):.1f}% [{100 * low:.1f}, {100 * high:.1f}]"
