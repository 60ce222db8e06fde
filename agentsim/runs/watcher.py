"""Watcher: the events of a run for a display, which the command line draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentsim.engine.event import EveryoneType, LoggedEvent
from agentsim.engine.panel import Progress
from agentsim.engine.request import Ask, Wave
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.runs.limits import Budget


class Watcher:
    """A receiver of a run's events that ignores them all; a display overrides the methods that it shows.

    A watcher never changes the game. The texts that it gets are untrusted and not escaped.
    """

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        """Handle the start of the run, which has its name and journal."""

    def noted(self, line: str) -> None:
        """Show a line that every display must show: which key goes where, what this machine holds back."""

    def limited_by(self, notes: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns, at any time, what holds calls back: `8 of 16 slots at openrouter`."""

    def seated(self, models: Mapping[str, str]) -> None:
        """Take the model of each player, as the scenario names it."""

    def budgeted(self, budget: Budget) -> None:
        """Take the run's budget, which may be read at any time."""

    def show_progress(self, progress: Callable[[], Progress] | None) -> None:
        """Take a function that returns the game's progress between waves, or None if the game does not report it."""

    def wave(self, wave: Wave, round_title: str) -> None:
        """Handle a wave of requests that is about to be decided."""
        self.playing(round_title)

    def playing(self, round_title: str) -> None:
        """Handle a wave of this round, without anything that a player at the screen may not know."""

    def delayed(self, ask: Ask) -> None:
        """Handle a call for this request that has waited for more than `limits.NOTICEABLE_S`: see `limited_by`."""

    def calling(self, ask: Ask) -> None:
        """Handle a call for this request that is about to be sent."""

    def called(self, ask: Ask, totals: Totals) -> None:
        """Handle the end of that call; `totals` are the run's so far."""
        self.counted(totals)

    def counted(self, totals: Totals) -> None:
        """Handle the end of any call; `totals` are the run's so far."""

    def decided(self, record: DecisionRecord) -> None:
        """Handle a decision that is on record."""
        if record.source == "fallback":
            self.fell_back()

    def fell_back(self) -> None:
        """Handle a recorded decision that is a fallback, without saying which."""

    def told(self, events: Sequence[LoggedEvent]) -> None:
        """Handle the events that the rules have told since the last call."""

    def person(self, *, asked: bool) -> None:
        """Handle the start (`asked`) or end of a question to a person at this terminal."""

    def waiting(self, ask: Ask, reason: str) -> None:
        """Handle a failed call, which may be made again after a wait."""

    def warned(self, message: str) -> None:
        """Handle a warning about a model's answers; each is given once per model."""


class PublicWatcher(Watcher):
    """A filter that passes to another watcher only what players may see: public events, round titles and sums.

    The players of requests would betray private conversations; so would failed calls and their providers.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        self._watcher.began(name, game, players)

    def noted(self, line: str) -> None:
        self._watcher.noted(line)

    def budgeted(self, budget: Budget) -> None:
        self._watcher.budgeted(budget)

    def playing(self, round_title: str) -> None:
        self._watcher.playing(round_title)

    def counted(self, totals: Totals) -> None:
        self._watcher.counted(totals)

    def fell_back(self) -> None:
        self._watcher.fell_back()

    def told(self, events: Sequence[LoggedEvent]) -> None:
        if public := [told for told in events if isinstance(told.to, EveryoneType)]:
            self._watcher.told(public)

    def person(self, *, asked: bool) -> None:
        self._watcher.person(asked=asked)

    def warned(self, message: str) -> None:
        self._watcher.warned(message)
