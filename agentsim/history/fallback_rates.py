"""FallbackRates: how many decisions of a run, a player and a model are fallbacks, and how many the game turned away.

They follow from what is recorded of a run, so a replay finds the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import reduce
from operator import add
from typing import Any

from agentsim import games
from agentsim.engine.event import Event
from agentsim.engine.wording import few
from agentsim.errors import ScenarioError
from agentsim.history.causes import CAUSES, Cause, cause_of
from agentsim.history.record import History

LEAST_DECISIONS = 10
"""Decisions of one player from which on its own share says something."""
NOTABLE = 0.05
"""Above this share there is a warning: that many fallbacks may have decided a game."""
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class FallbackRate:
    """So many decisions of models, people and scripts, and of those the fallbacks, and what the game turned away."""

    decisions: int = 0
    fallbacks: int = 0
    turned_away: int = 0
    host: int = 0
    model: int = 0
    person: int = 0
    deadline: int = 0

    @property
    def causes(self) -> dict[Cause, int]:
        """The fallbacks by cause, without those that lost none."""
        counts: dict[Cause, int] = {cause: getattr(self, cause) for cause in CAUSES}
        return {cause: count for cause, count in counts.items() if count}

    @property
    def causes_in_words(self) -> str:
        """`host 3, model 2`, or nothing if no cause is known."""
        return ", ".join(f"{cause} {count:,}" for cause, count in self.causes.items())

    @property
    def rate(self) -> float:
        """The share of fallbacks, 0 to 1."""
        return self.fallbacks / self.decisions if self.decisions else 0.0

    @property
    def percent(self) -> str:
        """The rate as a reader takes it; one that is not 0 is never said to be."""
        return "under 1%" if 0 < self.rate < 0.01 else f"{self.rate:.0%}"

    def __add__(self, other: FallbackRate) -> FallbackRate:
        return FallbackRate(*map(add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        return f"{self.fallbacks:,} of {self.decisions:,} ({self.percent})"

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        counts = {"decisions": self.decisions, "fallbacks": self.fallbacks, "share": round(self.rate, 4)}
        causes = {cause: getattr(self, cause) for cause in CAUSES}
        return {**counts, "causes": causes, "turned_away": self.turned_away}


@dataclass(frozen=True, slots=True)
class FallbackRates:
    """The share of a whole run, and of each player and model that decided anything; bots are none of them."""

    whole: FallbackRate
    by_player: Mapping[str, FallbackRate]
    by_model: Mapping[str, FallbackRate]

    @property
    def worst(self) -> float:
        """The largest share: the run's, or that of a player with enough decisions (`LEAST_DECISIONS`)."""
        rates = [share.rate for share in self.by_player.values() if share.decisions >= LEAST_DECISIONS]
        return max(self.whole.rate, *rates, 0.0)

    @property
    def notable(self) -> bool:
        return self.worst > NOTABLE

    @property
    def warning(self) -> str | None:
        """A line where the share is notable, with the players and models that fell back."""
        if not self.notable:
            return None
        return f"fallbacks decided {self.in_words}; the result says less about the players"

    @property
    def short(self) -> str:
        """`27%`, with the player of the largest share where that is another one."""
        if not self.whole.decisions:
            return "-"
        most, share = max(self.by_player.items(), key=lambda entry: entry[1].rate)
        said = self.whole.percent
        return said if share.rate == self.whole.rate else f"{said} ({most} {share.percent})"

    @property
    def in_words(self) -> str:
        """`115 of 213 (54%); by cause: ...; by player: ...; by model: ...`; names stand only where shares differ."""
        parts = [str(self.whole)]
        if self.whole.causes:
            parts.append(f"by cause: {self.whole.causes_in_words}")
        for what, found in (("player", self.by_player), ("model", self.by_model)):
            if named := _named(found):
                parts.append(f"by {what}: {named}")
        if self.whole.turned_away:
            parts.append(f"the game also turned away {self.whole.turned_away:,}")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        by_player = {who: share.to_json() for who, share in self.by_player.items()}
        by_model = {who: share.to_json() for who, share in self.by_model.items()}
        return {**self.whole.to_json(), "by_player": by_player, "by_model": by_model}


def fallback_rates(
    decisions: Iterable[tuple[int, str, str]],
    models: Mapping[str, str] | None = None,
    turned_away: Iterable[int] = (),
    reasons: Mapping[int, str | None] | None = None,
) -> FallbackRates:
    """The shares of decisions given as (index, player, source); `turned_away` are the indices of those that were.

    A decision may have been turned away in several parts, and counts so often. `reasons` are the reasons of fallbacks,
    by index.
    """
    own = {index: (player, source) for index, player, source in decisions if source != "bot"}
    made = Counter(player for player, _ in own.values())
    fell = Counter(player for player, source in own.values() if source == "fallback")
    lost: Counter[tuple[str, Cause]] = Counter()
    for index, (player, source) in own.items():
        if source == "fallback" and (reason := (reasons or {}).get(index)) is not None:
            lost[player, cause_of(reason)] += 1
    # what comes of a fallback, such as a forfeit, is counted once
    asked = (own[index] for index in turned_away if index in own)
    refused = Counter(player for player, source in asked if source != "fallback")
    by_player = {
        player: FallbackRate(count, fell[player], refused[player], *(lost[player, cause] for cause in CAUSES))
        for player, count in made.items()
    }
    by_model = _grouped(((models or {}).get(player, ""), share) for player, share in by_player.items())
    return FallbackRates(_sum(by_player.values()), by_player, by_model)


def fallback_rates_in(history: History) -> FallbackRates:
    """The shares of what the run itself decided: neither a branch's parent's decisions nor surveys are among them."""
    own = [each for each in history.decisions if not (each.survey or history.inherits(each))]
    return fallback_rates(
        [(each.index, each.player, each.source) for each in own],
        {player.id: player.model for player in history.players},
        _turned_away(history),
        {each.index: each.fallback_reason for each in own},
    )


def summed(parts: Collection[FallbackRates]) -> FallbackRates:
    by_player = _grouped(item for part in parts for item in part.by_player.items())
    by_model = _grouped(item for part in parts for item in part.by_model.items())
    return FallbackRates(_sum(part.whole for part in parts), by_player, by_model)


def _grouped(shares: Iterable[tuple[str, FallbackRate]]) -> dict[str, FallbackRate]:
    found: dict[str, FallbackRate] = {}
    for name, share in shares:
        found[name] = found.get(name, FallbackRate()) + share
    return found


def _sum(parts: Iterable[FallbackRate]) -> FallbackRate:
    return reduce(add, parts, FallbackRate())


def _turned_away(history: History) -> Iterator[int]:
    """The decisions behind events by which a game turns something away; none of a game that is not there."""
    try:
        events = games.find(history.game).events
    except ScenarioError:
        return
    kinds = {kind.kind: kind for kind in events if kind.turned_away is not Event.turned_away}
    for event in (event for part in history.rounds for event in part.events if event.kind in kinds):
        decision = event.metadata.get("decision")
        with suppress(ValueError):  # an event of other rules than those that are installed
            if isinstance(decision, int) and kinds[event.kind].restore(event.data, event.content).turned_away:
                yield decision


def _named(found: Mapping[str, FallbackRate]) -> str:
    if len({share.rate for share in found.values()}) < 2:
        return ""
    most = sorted(found.items(), key=lambda entry: -entry[1].rate)
    return few([f"{who} {share.percent}" for who, share in most], _MOST_NAMED)
