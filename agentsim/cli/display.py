"""Displays of a run and of a batch on stderr: none, plain lines (here) or a panel (`panels`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from agentsim.cli.finish import money, spent
from agentsim.cli.options import DisplayMode
from agentsim.cli.terminal_output import columns, moves, note, shortened
from agentsim.engine.event import Event, EveryoneType, LogEntry
from agentsim.engine.play import Ask
from agentsim.history.fold import Totals
from agentsim.players.terminal import cut
from agentsim.runner.batch.batch_game import GameEnd
from agentsim.runner.batch.tally import BatchWatcher, Tally
from agentsim.runner.watch import Watcher

_EVERY_S = 5.0


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
            self._line(f"{heading}: {content}" if content else heading)

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


def status_line(tally: Tally) -> str:
    """How far a batch is: `12 of 20 done, 2 running, 1 failed · cost $0.0100, about $0.0200 in all · 0:40 left`."""
    counts = [f"{tally.done} of {tally.games} done"]
    counts += [f"{tally.running} running"] if tally.running else []
    counts += [f"{tally.failed} without a result"] if tally.failed else []
    parts = [", ".join(counts)]
    if spent := tally.spent():
        whole = tally.forecast_usd()
        expected = f", about {money(whole)} in all" if whole is not None else ""
        parts.append(f"cost {money(spent, tally.unpriced_calls)}{expected}")
    left = tally.left_s()
    if left is not None and tally.done + tally.failed < tally.games:
        parts.append(f"{int(left) // 60}:{int(left) % 60:02d} left")
    return " · ".join(parts)


def without_result(end: GameEnd, error: str) -> str:
    """A line for a game of a batch that came to no result."""
    return f"{end.name}: {end.status}: {shortened(error, 300)}"


class PlainBatch(Noting, BatchWatcher):
    """Writes a line for every game without a result, and every few seconds one for how far the batch is."""

    def __init__(self) -> None:
        self._tally: Tally | None = None
        self._said = time.monotonic()

    def began(self, tally: Tally) -> None:
        self._tally = tally
        note(status_line(tally))

    def ended(self, end: GameEnd) -> None:
        if end.error is not None:
            note(without_result(end, end.error))
        now = time.monotonic()
        assert self._tally is not None, "a game ends after the batch began"
        if now - self._said >= _EVERY_S or self._tally.done == self._tally.games:
            self._said = now
            note(status_line(self._tally))


class _NoDisplay(Noting, Watcher):
    """Shows notes alone."""


class _NoBatch(Noting, BatchWatcher):
    """Shows notes alone."""


def _drawn(mode: DisplayMode) -> bool:
    """Whether this mode draws a panel on this terminal."""
    return mode == "rich" or (mode == "auto" and moves(sys.stderr))


@contextmanager
def shown(mode: DisplayMode) -> Iterator[Watcher]:
    """The watcher of a run for this mode, drawn while the block runs."""
    if _drawn(mode):
        from agentsim.cli.panels import RichDisplay

        with closing(RichDisplay()) as display:
            yield display
    else:
        yield _NoDisplay() if mode == "none" else PlainDisplay()


@contextmanager
def shown_batch(mode: DisplayMode, name: str) -> Iterator[BatchWatcher]:
    """The watcher of a batch of this name for this mode, drawn while the block runs."""
    if _drawn(mode):
        from agentsim.cli.panels import RichBatch

        with closing(RichBatch(name)) as display:
            yield display
    else:
        yield _NoBatch() if mode == "none" else PlainBatch()
