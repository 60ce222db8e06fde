"""Watcher: what a run shows of itself while it runs. Drawing it belongs to the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentsim.engine.event import EveryoneType, LoggedEvent
from agentsim.engine.panel import Progress
from agentsim.engine.play import Ask, Wave
from agentsim.history.journal import DecisionRecord
from agentsim.history.record import Totals
from agentsim.runner.limits import Budget


class Watcher:
    """What a run lets others see of itself while it runs; a display overrides what it shows.

    A watcher only looks: nothing it does may change the game, and what it is shown is foreign text as it came.
    """

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        """The run has its name and journal."""

    def noted(self, line: str) -> None:
        """What a person must know whatever else is shown: which key goes where, what this machine holds back."""

    def limited_by(self, notes: Callable[[], Sequence[str]]) -> None:
        """Where to ask, at any time, what holds calls back: `8 of 16 slots at openrouter`."""

    def seated(self, models: Mapping[str, str]) -> None:
        """The model of each player, as the scenario names it."""

    def budgeted(self, budget: Budget) -> None:
        """What the run may spend and has spent, to be looked at at any time."""

    def stands(self, progress: Callable[[], Progress] | None) -> None:
        """How far the game is and how its players stand, to be asked between waves; None where it does not say."""

    def wave(self, wave: Wave, round_title: str) -> None:
        """A wave of requests is about to be decided."""
        self.playing(round_title)

    def playing(self, round_title: str) -> None:
        """A wave of this round is about to be decided; all that may be known of it where a player looks on."""

    def held(self, ask: Ask) -> None:
        """A call for this request has been waiting for its turn for a while: see `limited_by`."""

    def calling(self, ask: Ask) -> None:
        """A call for this request goes out."""

    def called(self, ask: Ask, totals: Totals) -> None:
        """That call is over; `totals` are the run's so far."""
        self.counted(totals)

    def counted(self, totals: Totals) -> None:
        """Some call is over; `totals` are the run's so far."""

    def decided(self, entry: DecisionRecord) -> None:
        """A decision is on record."""
        if entry.source == "fallback":
            self.fell_back()

    def fell_back(self) -> None:
        """Some decision on record is a fallback."""

    def told(self, events: Sequence[LoggedEvent]) -> None:
        """Events the rules have told since the last call of this."""

    def person(self, *, asked: bool) -> None:
        """A person at this terminal is asked now, or has answered."""

    def waiting(self, ask: Ask, reason: str) -> None:
        """A call failed and may be made again after a wait."""

    def warned(self, message: str) -> None:
        """Something about a model's answers looks wrong; said once for each thing and model."""


class PublicWatcher(Watcher):
    """Shows another watcher what a player at the screen may see: public events, round titles and sums.

    Who is asked what would betray private approaches; so would who has trouble, and with which provider.
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
