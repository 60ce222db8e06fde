"""Displays of a run on stderr: none, plain lines (here) or a panel (`progress`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agentsim.cli.finish import money, spent
from agentsim.cli.options import DisplayMode
from agentsim.cli.terminal_output import columns, moves, note, shortened
from agentsim.engine.event import Event, EveryoneType, LogEntry
from agentsim.engine.play import Ask
from agentsim.history.totals import Totals
from agentsim.players.terminal import cut
from agentsim.runner.watch import Watcher

__all__ = ["NoDisplay", "Noting", "PlainDisplay", "drawn", "public_lines", "shown"]


def public_lines(events: Sequence[LogEntry], width: int) -> list[tuple[str, str]]:
    """(heading, content) of the public events. Private ones stay off the screen, since a player may sit at it."""
    return [
        (shortened(told.event.heading, width), shortened(_in_one_line(told.event), width))
        for told in events
        if isinstance(told.to, EveryoneType)
    ]


def _in_one_line(event: Event) -> str:
    """The event's content on one line: a game's list keeps its items apart; a player's words stay as they are."""
    return event.content if event.words else event.content.replace("\n", "; ")


class Noting:
    """Writes notes to stderr; every display does, of a run or of a batch."""

    def noted(self, line: str) -> None:
        note(shortened(line, 600))


class NoDisplay(Noting, Watcher):
    """Shows notes alone."""


class PlainDisplay(Noting, Watcher):
    """One line for each public event, and what has been used by the end of each round; for logs and pipes."""

    def __init__(self) -> None:
        self._round = self._used = ""
        self._limits: Callable[[], Sequence[str]] = list
        self._said_held = False

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        self._line(f"{shortened(name, 200)}: {shortened(game, 200)}, {len(players)} players")

    def limited_by(self, notes: Callable[[], Sequence[str]]) -> None:
        self._limits = notes

    def held(self, ask: Ask) -> None:
        if not self._said_held and (limits := self._limits()):
            self._said_held = True  # a whole wave may be waiting; the next call that goes out ends that
            self._line(f"held back: {shortened(', '.join(limits), 200)}")

    def calling(self, ask: Ask) -> None:
        self._said_held = False

    def told(self, events: Sequence[LogEntry]) -> None:
        for heading, content in public_lines(events, 200):
            self._line(f"{heading}: {content}")

    def counted(self, totals: Totals) -> None:
        cost = money(totals.cost_usd, totals.unpriced_calls)
        failed = f" ({totals.failed_calls} failed)" if totals.failed_calls else ""
        self._used = f"{totals.calls} calls{failed}; {spent(totals)}; cost: {cost}"

    def playing(self, round_title: str) -> None:
        if round_title != self._round and self._used:
            self._line(f"so far: {self._used}")
            self._used = ""  # a round without a call has nothing to add
        self._round = round_title

    def waiting(self, ask: Ask, reason: str) -> None:
        self._line(f"{ask.request.player} ({ask.request.kind}): {shortened(reason, 200)}")

    def chose(self, model: str, mode: str) -> None:
        self._line(f"{shortened(model, 100)}: structured output: {mode}")

    def warned(self, message: str) -> None:
        self._line(f"warning: {shortened(message, 400)}")

    def _line(self, text: str) -> None:
        # On a terminal it stays one row: a second would begin with whatever the speaker chose.
        width = columns(sys.stderr)
        note(text if width is None else cut(text, width))


def drawn(mode: DisplayMode) -> bool:
    """Whether this mode draws a panel on this terminal."""
    return mode is DisplayMode.rich or (mode is DisplayMode.auto and moves(sys.stderr))


@contextmanager
def shown(mode: DisplayMode) -> Iterator[Watcher]:
    """The watcher for this mode, drawn while the block runs."""
    if mode is DisplayMode.none:
        yield NoDisplay()
    elif drawn(mode):
        from agentsim.cli.progress import RichDisplay

        display = RichDisplay()
        try:
            yield display
        finally:
            display.close()
    else:
        yield PlainDisplay()
