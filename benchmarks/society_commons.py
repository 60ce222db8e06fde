"""The commons of `preset = "commons"`: what selfish, conditional and fair agents make of them, and a law that helps.

    uv run python -m benchmarks.society_commons --seeds 50

Each society has twenty agents, thirty days and, unless stated, no talk. Overuse is the share of days that end with less
than 90% of half the capacity in the commons, before the night's growth. Survival is the share of agents active at the
end, Gini that of their wealth. Efficiency is the harvest as a share of the most that can be farmed with half of the
capacity left on every evening: capacity / 2 on the first day and r capacity / 4 on each day after. Intervals are of the
mean over seeds, 95%, by the percentiles of 10,000 bootstrap samples. Effects of a law or of talk on survival are paired
by seed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import fmean
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.request import Request
from agentsim.engine.simulate import simulate
from agentsim.games.society import GAME
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.evening import DayEnded, Regrown, SocietyEnded
from benchmarks.society_scarce import interval

DAYS = 30
MIXES: Mapping[str, Mapping[str, int]] = {
    "20 fair": {"fair": 20},
    "20 conditional": {"conditional": 20},
    "10 conditional, 10 fair": {"conditional": 10, "fair": 10},
    "18 conditional, 2 selfish": {"conditional": 18, "selfish": 2},
    "10 fair, 10 selfish": {"fair": 10, "selfish": 10},
    "20 selfish": {"selfish": 20},
}
LAW = [
    {"kind": "tax", "resource": "food", "percent": 90},
    {"kind": "dividend", "resource": "food", "amount": 1.2, "to": "all"},
]
TAXED = "the tax and the dividend"
LAWS: Mapping[str, list[dict[str, Any]]] = {
    "none": [],
    TAXED: LAW,
    "the tax alone": LAW[:1],
    "the dividend alone": LAW[1:],
}


@dataclass(frozen=True)
class Kept:
    """The results for the commons and the agents, as shares of 1."""

    overuse: float
    survival: float
    gini: float
    efficiency: float


def played(
    mix: Mapping[str, int], terms: Sequence[Mapping[str, Any]], seed: int, days: int = DAYS, **more: Any
) -> Kept:
    """Play one society with so many agents of each bot under one founding law. `more` are other settings.

    Agents are silent unless `more` sets `talk`.
    """
    bots = [name for name, count in mix.items() for _ in range(count)]
    policy = {f"agent{number}": GAME.bots[name] for number, name in enumerate(bots, start=1)}

    def each_its_own(asked: Request[Any], rng: Stream) -> Decision:
        return policy[asked.player](asked, rng)

    laws = [{"title": "The commons are kept", "terms": list(terms)}] if terms else []
    given = {"preset": "commons", "days": days, "laws": laws, "talk": False, **more}
    game = simulate(GAME, given, list(policy), {}, bot=each_its_own, seed=seed)
    config = GAME.config.from_toml(given)
    capacity, growth = config.capacity(len(bots)), config.commons_regrowth / UNIT
    evenings = game.events(Regrown)
    (ended,) = game.events(SocietyEnded)
    most = capacity / 2 + (days - 1) * growth * capacity / 4
    return Kept(
        overuse=fmean(each.stock - each.regrown < 0.45 * capacity for each in evenings),
        survival=game.events(DayEnded)[-1].active / len(bots),
        gini=ended.gini,
        efficiency=sum(each.harvest for each in evenings) / most,
    )


def main(words: Sequence[str] | None = None) -> None:
    """Play every mix without a law, and some with laws or talk; print a table of means with intervals."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--json", action="store_true", help="every mean and interval as a line of JSON instead")
    given = parser.parse_args(words)
    last = "18 conditional, 2 selfish"
    plain = [(mix, "none", False) for mix in MIXES if mix != last]
    changed = [("20 selfish", law, False) for law in list(LAWS)[1:]]
    without: list[Kept] = []
    for mix, law, talk in [*plain, *changed, (last, "none", False), (last, TAXED, False), (last, "none", True)]:
        own = [played(MIXES[mix], LAWS[law], seed, given.days, talk=talk) for seed in range(1, given.seeds + 1)]
        base = law == "none" and not talk
        without = own if base else without
        moved = [one.survival - before.survival for one, before in zip(own, without, strict=True)]
        means = {field.name: _with_interval([getattr(one, field.name) for one in own]) for field in fields(Kept)}
        means |= {"moved": _with_interval(moved)} if not base else {}
        if given.json:
            print(json.dumps({"agents": mix, "law": law, "talk": talk, **means, "first": asdict(own[0])}))
        else:
            shown = " | ".join(f"{mean:.2f} [{low:.2f}, {high:.2f}]" for mean, low, high in means.values())
            print(f"| {mix} | {law}{', with talk' if talk else ''} | {shown} |")


def _with_interval(values: Sequence[float]) -> tuple[float, float, float]:
    return (fmean(values), *interval(values))


if __name__ == "__main__":
    main()
