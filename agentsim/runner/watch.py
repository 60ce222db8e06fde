"""Watcher: what a run lets others see of itself while it runs. Showing it belongs to the command line.

A watcher only looks: nothing it does may change the game, and what it is shown is foreign text as it came.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Told
from agentsim.engine.play import Ask, Wave
from agentsim.history.entry import Entry
from agentsim.history.totals import Totals

__all__ = ["Watcher"]


class Watcher:
    """Sees nothing; a display overrides what it shows."""

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        """The run has its name and journal."""

    def wave(self, wave: Wave, round_title: str) -> None:
        """A wave of requests is about to be decided."""

    def calling(self, ask: Ask) -> None:
        """A call for this request goes out."""

    def called(self, ask: Ask, totals: Totals) -> None:
        """That call is over; `totals` are the run's so far."""

    def decided(self, entry: Entry) -> None:
        """A decision is on record."""

    def told(self, events: Sequence[Told]) -> None:
        """Events the rules have told since the last call of this."""

    def person(self, *, asked: bool) -> None:
        """A person at this terminal is asked now, or has answered."""

    def waiting(self, ask: Ask, reason: str) -> None:
        """A call failed and may be made again after a wait."""
