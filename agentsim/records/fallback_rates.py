"""FallbackRates: the shares of fallbacks among the decisions of a run, a player and a model.

They follow from the records of a run, so a replay computes the same. Decisions that the game turned away are counted
beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple
from functools import reduce
from operator import add
from typing import Any

from agentsim import games
from agentsim.engine.event import Event
from agentsim.engine.wording import few
from agentsim.errors import ScenarioError
from agentsim.lazy import dataclass
from agentsim.records.causes import CAUSES, Cause, cause_of
from agentsim.records.history import History

LEAST_DECISIONS = 10
"""The number of decisions from which on a player's own share counts for `FallbackRates.worst`."""
NOTABLE = 0.05
"""The share above which there is a warning: so many fallbacks may have decided a game."""
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class FallbackRate:
    """The number of decisions of models, people and scripts, and of the fallbacks among them.

    `turned_away` counts those that were read and that the rules gave no effect (`Event.turned_away`), the other fields
    the fallbacks by cause.
    """

    decisions: int = 0
    fallbacks: int = 0
    turned_away: int = 0
    host: int = 0
    model: int = 0
    person: int = 0
    deadline: int = 0

    @property
    def causes(self) -> dict[Cause, int]:
        """The fallbacks by cause, without causes of none."""
        counts: dict[Cause, int] = {cause: getattr(self, cause) for cause in CAUSES}
        return {cause: count for cause, count in counts.items() if count}

    @property
    def causes_in_words(self) -> str:
        """The fallbacks by cause, as `host 3, model 2`, or "" if no cause is known."""
        return ", ".join(f"{cause} {count:,}" for cause, count in self.causes.items())

    @property
    def rate(self) -> float:
        """The share of fallbacks, 0 to 1."""
        return self.fallbacks / self.decisions if self.decisions else 0.0

    @property
    def percent(self) -> str:
        """The rate in percent; a small one is `under 1%` rather than `0%`."""
        return "under 1%" if 0 < self.rate < 0.01 else f"{self.rate:.0%}"

    def __add__(self, other: FallbackRate) -> FallbackRate:
        return FallbackRate(*map(add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        return f"{self.fallbacks:,} of {self.decisions:,} ({self.percent})"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON value that `--json` prints."""
        counts = {"decisions": self.decisions, "fallbacks": self.fallbacks, "share": round(self.rate, 4)}
        causes = {cause: getattr(self, cause) for cause in CAUSES}
        return {**counts, "causes": causes, "turned_away": self.turned_away}


@dataclass(frozen=True, slots=True)
class FallbackRates:
    """The rates of a whole run, and of each player and model that decided anything; bots are left out."""

    whole: FallbackRate
    by_player: Mapping[str, FallbackRate]
    by_model: Mapping[str, FallbackRate]

    @property
    def worst(self) -> float:
        """The largest rate: the run's, or that of a player with at least `LEAST_DECISIONS` decisions."""
        rates = [share.rate for share in self.by_player.values() if share.decisions >= LEAST_DECISIONS]
        return max(self.whole.rate, *rates, 0.0)

    @property
    def notable(self) -> bool:
        return self.worst > NOTABLE

    @property
    def warning(self) -> str | None:
        """A line with the players and models that fell back if the worst rate is notable, or None."""
        if not self.notable:
            return None
        return f"fallbacks decided {self.in_words}; the result says less about the players"

    @property
    def short(self) -> str:
        """The run's rate as `27%`, with the player of the highest rate if that differs."""
        if not self.whole.decisions:
            return "-"
        most, share = max(self.by_player.items(), key=lambda entry: entry[1].rate)
        said = self.whole.percent
        return said if share.rate == self.whole.rate else f"{said} ({most} {share.percent})"

    @property
    def in_words(self) -> str:
        """The rates as `115 of 213 (54%); by cause: ...; by player: ...; by model: ...`; equal rates are not listed."""
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
        """Return the JSON value that `--json` prints."""
        by_player = {who: share.to_json() for who, share in self.by_player.items()}
        by_model = {who: share.to_json() for who, share in self.by_model.items()}
        return {**self.whole.to_json(), "by_player": by_player, "by_model": by_model}


def fallback_rates(
    decisions: Iterable[tuple[int, str, str]],
    models: Mapping[str, str] | None = None,
    turned_away: Iterable[int] = (),
    reasons: Mapping[int, str | None] | None = None,
) -> FallbackRates:
    """Return the rates of decisions given as (index, player, source), without bots.

    `turned_away` are the indices of decisions that the game turned away, once for each part. `reasons` are the reasons
    of fallbacks, by index.
    """
    own = {index: (player, source) for index, player, source in decisions if source != "bot"}
    made = Counter(player for player, _ in own.values())
    fell = Counter(player for player, source in own.values() if source == "fallback")
    lost: Counter[tuple[str, Cause]] = Counter()
    for index, (player, source) in own.items():
        if source == "fallback" and (reason := (reasons or {}).get(index)) is not None:
            lost[player, cause_of(reason)] += 1
    # a fallback's own consequences, such as a forfeit, are counted once
    asked = (own[index] for index in turned_away if index in own)
    refused = Counter(player for player, source in asked if source != "fallback")
    by_player = {
        player: FallbackRate(count, fell[player], refused[player], *(lost[player, cause] for cause in CAUSES))
        for player, count in made.items()
    }
    by_model = _grouped(((models or {}).get(player, ""), share) for player, share in by_player.items())
    return FallbackRates(_sum(by_player.values()), by_player, by_model)


def fallback_rates_in(history: History) -> FallbackRates:
    """Return the rates of the decisions of the run itself, without those of a branch's parent and without surveys."""
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
    """Yield the decisions behind events with which the game turns something away; none if the game is not installed."""
    try:
        events = games.find(history.game).events
    except ScenarioError:
        return
    kinds = {kind.kind: kind for kind in events if kind.turned_away is not Event.turned_away}
    for event in (event for part in history.rounds for event in part.events if event.kind in kinds):
        decision = event.metadata.get("decision")
        with suppress(ValueError):  # the event does not fit the installed rules
            if isinstance(decision, int) and kinds[event.kind].restore(event.data, event.content).turned_away:
                yield decision


def _named(found: Mapping[str, FallbackRate]) -> str:
    if len({share.rate for share in found.values()}) < 2:
        return ""
    most = sorted(found.items(), key=lambda entry: -entry[1].rate)
    return few([f"{who} {share.percent}" for who, share in most], _MOST_NAMED)
