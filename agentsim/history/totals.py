"""Totals: sums of calls, tokens and dollars, of a run and of its players; `models.prices` knows what one call costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agentsim.history.contents import Entry
from agentsim.history.record import TotalsRecord
from agentsim.models.base import Attempt, Usage

_WHERE_COUNTED = {"repaired", "cut", "takeovers"}  # absent in histories of earlier versions, and where they are 0


def usage_of(entry: Entry) -> Usage:
    """The tokens and dollars of all calls of one decision; the cost is None where any call's is."""
    calls = [attempt.usage for attempt in entry.tries if attempt.usage is not None]

    def added(name: str) -> int | None:
        known = [count for call in calls if (count := getattr(call, name)) is not None]
        return sum(known) if known else None

    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    tokens = {name: added(name) for name in ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")}
    return Usage(**tokens, cost_usd=round(sum(costs), 10) if len(costs) == len(calls) else None)


def cached_share(usages: Iterable[Usage | None]) -> float | None:
    """The part of the prompt tokens that came from a provider's cache, 0 to 1; None where no provider says.

    What is used without a word about a cache is left out: no word is not none.
    """
    said = [usage for usage in usages if usage is not None and usage.cached_tokens is not None and usage.prompt_tokens]
    prompt = sum(usage.prompt_tokens or 0 for usage in said)
    return min(1.0, sum(usage.cached_tokens or 0 for usage in said) / prompt) if prompt else None


class Totals:
    """A running sum over decisions."""

    def __init__(self) -> None:
        self.calls = self.failed_calls = self.reasks = self.fallbacks = self.unpriced_calls = 0
        self.repaired = self.cut = self.takeovers = 0
        self.prompt_tokens = self.cached_tokens = self.completion_tokens = self.reasoning_tokens = 0
        self.cost_usd = 0.0
        self._cacheable = [0, 0]  # prompt and cached tokens of the calls whose provider says what was cached

    @property
    def cached_share(self) -> float | None:
        """The measured part of the prompt tokens that was cached, as `cached_share` counts it."""
        return cached_share([Usage(*self._cacheable)])

    def add(self, entry: Entry) -> None:
        """Count one decision; a person's costs no calls."""
        self.fallbacks += entry.source == "fallback"
        self.repaired += entry.parse is not None and entry.parse.repaired
        self.cut += entry.parse is not None and entry.parse.stage == "cut"
        if not entry.tries:
            return
        bad = [attempt for attempt in entry.tries if attempt.completion is not None and attempt.code is not None]
        self.reasks += len(bad) - (entry.source == "fallback" and bool(bad) and entry.tries[-1] is bad[-1])
        if entry.source != "human":
            for attempt in entry.tries:
                self.add_call(attempt)

    def add_call(self, attempt: Attempt) -> None:
        self.calls += 1
        self.takeovers += attempt.takeover
        self.failed_calls += attempt.completion is None
        usage = attempt.usage
        if usage is None:
            return
        self.prompt_tokens += usage.prompt_tokens or 0
        self.cached_tokens += usage.cached_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.reasoning_tokens += usage.reasoning_tokens or 0
        self.cost_usd += usage.cost_usd or 0.0
        self.unpriced_calls += usage.cost_usd is None
        if usage.cached_tokens is not None:
            self._cacheable[0] += usage.prompt_tokens or 0
            self._cacheable[1] += usage.cached_tokens

    def to_json(self) -> dict[str, Any]:
        """As the history keeps it: the cost is None where the price of any call is unknown."""
        found = {name: getattr(self, name) for name in TotalsRecord.model_fields if name != "by_player"}
        found["cost_usd"] = None if self.unpriced_calls else round(self.cost_usd, 10)
        return {name: count for name, count in found.items() if count or name not in _WHERE_COUNTED}


def totals(
    entries: Sequence[Entry], players: Sequence[str], undecided: Sequence[tuple[str, Attempt]] = ()
) -> dict[str, Any]:
    """The history's `usage`; players (and `@role` staff) in the order given, those without calls too.

    `undecided` are attempts at requests that have no decision yet.
    """
    everything = Totals()
    by_player = {player: Totals() for player in players}
    for entry in entries:
        everything.add(entry)
        by_player[entry.player].add(entry)
    for player, attempt in undecided:
        everything.add_call(attempt)
        by_player[player].add_call(attempt)
    return {**everything.to_json(), "by_player": {player: part.to_json() for player, part in by_player.items()}}
