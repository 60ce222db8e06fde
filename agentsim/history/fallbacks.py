"""Fallbacks: which share of the decisions are fallbacks, in a run, by player and by model. Bots are left out.

Each share also counts how often the game turned a decision away, such as an action that is not possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from agentsim import games
from agentsim.engine.event import Event
from agentsim.errors import ScenarioError
from agentsim.history.record import History

__all__ = ["NOTABLE", "Share", "Shares", "shares", "shares_in", "summed"]

LEAST_DECISIONS = 10
"""Decisions of one player from which on its own share says something."""
NOTABLE = 0.05
"""Above this share there is a warning: that many fallbacks may have decided a game."""
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Share:
    """So many decisions of models, people and scripts, and of those the fallbacks, and what the game turned away."""

    decisions: int = 0
    fallbacks: int = 0
    turned_away: int = 0

    @property
    def rate(self) -> float:
        """The share of fallbacks, 0 to 1."""
        return self.fallbacks / self.decisions if self.decisions else 0.0

    @property
    def percent(self) -> str:
        """The rate as a reader takes it; one that is not 0 is never said to be."""
        return "under 1%" if 0 < self.rate < 0.01 else f"{self.rate:.0%}"

    def __add__(self, other: Share) -> Share:
        return Share(
            self.decisions + other.decisions,
            self.fallbacks + other.fallbacks,
            self.turned_away + other.turned_away,
        )

    def __str__(self) -> str:
        return f"{self.fallbacks:,} of {self.decisions:,} ({self.percent})"

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        counts = {"decisions": self.decisions, "fallbacks": self.fallbacks, "share": round(self.rate, 4)}
        return {**counts, "turned_away": self.turned_away}


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of a whole run, and of each player and model that decided anything; bots are none of them."""

    whole: Share
    by_player: Mapping[str, Share]
    by_model: Mapping[str, Share]

    @property
    def worst(self) -> float:
        """The largest share: the run's, or that of a player with enough decisions (`LEAST_DECISIONS`)."""
        rates = [share.rate for share in self.by_player.values() if share.decisions >= LEAST_DECISIONS]
        return max(self.whole.rate, *rates, 0.0)

    @property
    def notable(self) -> bool:
        """Whether the share is large enough for a warning."""
        return self.worst > NOTABLE

    @property
    def warning(self) -> str | None:
        """A line where the share is notable, with the players and models that fell back."""
        if not self.notable:
            return None
        return f"fallbacks decided {self.in_words}: what came of it says so much less about the players"

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
        """`115 of 213 (54%); by player: ...; by model: ...`; names stand only where shares differ."""
        parts = [str(self.whole)]
        for what, found in (("player", self.by_player), ("model", self.by_model)):
            if named := _named(found):
                parts.append(f"by {what}: {named}")
        if self.whole.turned_away:
            parts.append(f"the game turned away {self.whole.turned_away:,} besides")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        parts = (("by_player", self.by_player), ("by_model", self.by_model))
        return {**self.whole.to_json(), **{key: {who: each.to_json() for who, each in of.items()} for key, of in parts}}


def shares(
    decisions: Iterable[tuple[int, str, str]], models: Mapping[str, str] | None = None, turned_away: Iterable[int] = ()
) -> Shares:
    """The shares of decisions given as (index, player, source); `turned_away` are the indices of those that were.

    A decision may have been turned away in several parts, and counts so often.
    """
    own = {index: (player, source) for index, player, source in decisions if source != "bot"}
    made = Counter(player for player, _ in own.values())
    fell = Counter(player for player, source in own.values() if source == "fallback")
    # what comes of a fallback, such as a forfeit, is counted once
    asked = (own[index] for index in turned_away if index in own)
    refused = Counter(player for player, source in asked if source != "fallback")
    by_player = {player: Share(count, fell[player], refused[player]) for player, count in made.items()}
    by_model: dict[str, Share] = {}
    for player, share in by_player.items():
        model = (models or {}).get(player, "")
        by_model[model] = by_model.get(model, Share()) + share
    return Shares(_sum(by_player.values()), by_player, by_model)


def shares_in(history: History) -> Shares:
    """The shares of what the run itself decided: of a branch's, the parent's decisions are not among them."""
    own = [(each.index, each.player, each.source) for each in history.decisions if not history.inherits(each)]
    events = (event for part in history.rounds for event in part.events)
    told = ((event.kind, event.data, event.content, event.metadata.get("decision")) for event in events)
    return shares(own, {player.id: player.model for player in history.players}, _turned_away(history.game, told))


def summed(parts: Collection[Shares]) -> Shares:
    """The shares of several runs together."""
    by_player, by_model = (
        {who: _sum(each[who] for each in found if who in each) for who in dict.fromkeys(w for f in found for w in f)}
        for found in ([part.by_player for part in parts], [part.by_model for part in parts])
    )
    return Shares(_sum(part.whole for part in parts), by_player, by_model)


def _sum(parts: Iterable[Share]) -> Share:
    return reduce(add, parts, Share())


def _turned_away(name: str, told: Iterable[tuple[str, Mapping[str, Any], str, Any]]) -> Iterator[int]:
    """The decisions behind events by which a game turns something away; none of a game that is not there."""
    try:
        events = games.find(name).events
    except ScenarioError:
        return
    kinds = {kind.kind: kind for kind in events if kind.turned_away is not Event.turned_away}
    for kind, data, content, decision in told:
        if kind in kinds and isinstance(decision, int):
            try:
                refused = kinds[kind].restore(data, content).turned_away
            except ValueError:
                continue  # of other rules than those that are installed
            if refused:
                yield decision


def _named(found: Mapping[str, Share]) -> str:
    if len({share.rate for share in found.values()}) < 2:
        return ""
    most = sorted(found.items(), key=lambda entry: -entry[1].rate)
    more = f" and {len(most) - _MOST_NAMED} more" if len(most) > _MOST_NAMED else ""
    return ", ".join(f"{who} {share.percent}" for who, share in most[:_MOST_NAMED]) + more
