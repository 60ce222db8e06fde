"""Displays of a run and of a batch on stderr: none, plain lines (here) or a panel (`panels`)."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from agentsim.cli.finish import MOST_STANDINGS, money, spent
from agentsim.cli.shared_options import DisplayMode
from agentsim.cli.terminal_output import columns, moves, note, shortened
from agentsim.engine.event import Event, EveryoneType, LoggedEvent
from agentsim.engine.panel import Progress
from agentsim.engine.request import Ask
from agentsim.engine.wording import counted
from agentsim.players.terminal import cut
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.runs.batch.tally import BatchWatcher, GameEnd, Tally
from agentsim.runs.limits import Budget
from agentsim.runs.watcher import Watcher

_EVERY_S = 5.0
CROWD = 20
"""With more players than this, their events are counted instead of shown."""


def public_lines(events: Sequence[LoggedEvent], width: int) -> list[tuple[str, str]]:
    """Return (heading, content) of the public events. Private ones are hidden, since a player may be at this screen."""
    return [
        (shortened(told.event.heading, width), shortened(_in_one_line(told.event), width))
        for told in events
        if isinstance(told.to, EveryoneType)
    ]


def _in_one_line(event: Event) -> str:
    """Return the event's content on one line.

    Lines of the game are joined with semicolons; players' words stay as they are.
    """
    return event.content if event.words else event.content.replace("\n", "; ")


class Noting:
    """Mixin of all displays that writes notes to stderr."""

    def noted(self, line: str) -> None:
        note(shortened(line, 600))


class Following(Noting, Watcher):
    """The state of a run for its display: progress, standings, cost and fallbacks."""

    def __init__(self) -> None:
        self._progress: Callable[[], Progress] | None = None
        self._budget: Budget | None = None
        self._limits: Callable[[], Sequence[str]] = list
        self._models: Mapping[str, str] = {}
        self._players: dict[str, int] = {}  # the seat of each, which determines its color
        self._first: tuple[float, int] | None = None  # time and progress at this session's first wave
        self.now: Progress | None = None
        self.asked, self.fallbacks, self.unsaid = Counter[str](), Counter[str](), Counter[str]()

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        self._players = {player: index for index, player in enumerate(players)}

    def seated(self, models: Mapping[str, str]) -> None:
        self._models = models

    def budgeted(self, budget: Budget) -> None:
        self._budget = budget

    def limited_by(self, notes: Callable[[], Sequence[str]]) -> None:
        self._limits = notes

    def show_progress(self, progress: Callable[[], Progress] | None) -> None:
        self._progress = progress

    def look(self) -> None:
        """Update the progress from the game. Call it only between waves, when the state does not change."""
        if self._progress is not None:
            self.now = self._progress()
            self._first = self._first or (time.monotonic(), self.now.done)

    def decided(self, record: DecisionRecord) -> None:
        model = (record.attempts and record.attempts[-1].model) or self._models.get(record.player, "")
        self.asked[model] += bool(model)
        if record.source == "fallback":
            self.fallbacks[model] += 1
            self.said_fallback(f"{record.player} ({record.kind}): fallback: {record.fallback_reason}")

    def fell_back(self) -> None:
        self.fallbacks[""] += 1

    def said_fallback(self, line: str) -> None:
        """Show that a decision is a fallback."""

    def public(self, events: Sequence[LoggedEvent]) -> Iterator[LoggedEvent]:
        """Yield the public events to show.

        With more than `CROWD` players, those of a single player are counted instead.
        """
        for told in events:
            if isinstance(told.to, EveryoneType):
                if told.by is not None and len(self._players) > CROWD:
                    self.unsaid[told.event.kind] += 1
                else:
                    yield told

    def words_of_the_unsaid(self) -> str:
        """Return the events counted since the last call, in words: `12 posted, 3 voted`, and reset the counts."""
        words = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in self.unsaid.most_common())
        self.unsaid.clear()
        return words

    def whereabouts(self) -> list[str]:
        """Return the progress of the game, and the most time it may still take at this session's pace."""
        if (now := self.now) is None:
            return []
        parts = [f"{now.unit} {now.done} of {now.of}", *now.facts]
        if self._first is not None and now.done > self._first[1]:
            since, done = self._first
            left = int((time.monotonic() - since) / (now.done - done) * max(0, now.of - now.done + 1))
            parts.append(f"at most {left // 60}:{left % 60:02d} left")
        return parts

    def standings(self, most: int) -> list[tuple[str, str, bool]]:
        """Return (id, words, still in the game) of the first `most` players."""
        return list((self.now.players if self.now else ())[:most])

    def cost(self, totals: Totals) -> str:
        """Return the cost in words, with the limit and the amount reserved for calls in flight."""
        words = f"cost {money(totals.known_usd, totals.unpriced_calls)}"
        if self._budget is None or self._budget.max_cost_usd is None:
            return words
        reserved = f", {money(self._budget.reserved_usd)} reserved" if self._budget.reserved_usd else ""
        return f"{words} of ${self._budget.max_cost_usd:g}{reserved}"

    def fallback_words(self) -> str:
        """Return the fallbacks by model: `2 fallbacks (lab/a 2 of 14)`, or "" if there are none."""
        if not (total := self.fallbacks.total()):
            return ""
        named = [f"{shortened(model, 60)} {n} of {self.asked[model]}" for model, n in self.fallbacks.items() if model]
        return counted(total, "fallback") + (f" ({', '.join(named)})" if named else "")


class PlainDisplay(Following):
    """A display of one line per public event, and a summary at the end of each round, for logs and pipes."""

    def __init__(self) -> None:
        super().__init__()
        self._round = self._used = ""
        self._said_held = False

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        super().began(name, game, players)
        self._line(f"{shortened(name, 200)}: {shortened(game, 200)}, {counted(len(players), 'player')}")

    def delayed(self, ask: Ask) -> None:
        if not self._said_held and (limits := self._limits()):
            self._said_held = True  # said once, as a whole wave may wait; the next call sent resets it
            self._line(f"held back: {shortened(', '.join(limits), 200)}")

    def calling(self, ask: Ask) -> None:
        self._said_held = False

    def told(self, events: Sequence[LoggedEvent]) -> None:
        for heading, content in public_lines(list(self.public(events)), 200):
            self._line(f"{heading}: {content}" if content else heading)

    def counted(self, totals: Totals) -> None:
        failed = f" ({totals.failed_calls} failed)" if totals.failed_calls else ""
        said = f"{counted(totals.calls, 'call')}{failed}; {spent(totals)}; {self.cost(totals)}"
        self._used = said if totals.calls else ""  # games of bots make no calls

    def playing(self, round_title: str) -> None:
        if round_title != self._round:
            self.look()
            if unsaid := self.words_of_the_unsaid():
                self._line(f"{shortened(self._round, 60)}: {unsaid}")
            if self._used:
                standings = [f"{who} {words}" for who, words, _ in self.standings(MOST_STANDINGS)]
                parts = (self._used, self.fallback_words(), *self.whereabouts(), *standings)
                self._line(f"so far: {'; '.join(filter(None, parts))}")
                self._used = ""  # nothing to add in a round without calls
        self._round = round_title

    def said_fallback(self, line: str) -> None:
        self._line(shortened(line, 200))

    def waiting(self, ask: Ask, reason: str) -> None:
        self._line(f"{ask.request.player} ({ask.request.kind}): {shortened(reason, 200)}")

    def warned(self, message: str) -> None:
        self._line(f"warning: {shortened(message, 400)}")

    def _line(self, text: str) -> None:
        # Keep it to one row of a terminal: a second row would begin with words that the speaker chooses.
        width = columns(sys.stderr)
        note(text if width is None else cut(text, width))


def status_line(tally: Tally) -> str:
    """Return the progress of a batch in one line.

    For example `12 of 20 done, 2 running, 1 failed · cost $0.0100, about $0.0200 in all · 0:40 left`.
    """
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
    """Return a line for a game of a batch that ended without a result."""
    return f"{end.name}: {end.status}: {shortened(error, 300)}"


class PlainBatch(Noting, BatchWatcher):
    """A display of one line per game without a result, and a status line every few seconds."""

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
    """A display of notes only."""


class _NoBatch(Noting, BatchWatcher):
    """A display of notes only."""


def _drawn(mode: DisplayMode) -> bool:
    """Return whether this mode draws a panel on this terminal."""
    return mode == "rich" or (mode == "auto" and moves(sys.stderr))


class PlainCoding(Noting, Watcher):
    """A display of judges at work: a line every `_EVERY_S` seconds, of so many `units` that are to be coded."""

    def __init__(self, units: int) -> None:
        self._units, self._coded, self._last = units, 0, time.monotonic()

    def decided(self, record: DecisionRecord) -> None:
        self._coded += 1
        if (now := time.monotonic()) - self._last >= _EVERY_S:
            self._last = now
            note(f"{self._coded:,} of {counted(self._units, 'unit', form=',')} coded")

    def warned(self, message: str) -> None:
        note(shortened(f"warning: {message}", 600))


@contextmanager
def shown(mode: DisplayMode) -> Iterator[Watcher]:
    """Context manager that draws a run's progress in the given mode, and yields its watcher."""
    if _drawn(mode):
        from agentsim.cli.panels import RichDisplay

        with closing(RichDisplay()) as display:
            yield display
    else:
        yield _NoDisplay() if mode == "none" else PlainDisplay()


@contextmanager
def shown_batch(mode: DisplayMode, name: str) -> Iterator[BatchWatcher]:
    """Context manager that draws a batch's progress in the given mode, and yields its watcher."""
    if _drawn(mode):
        from agentsim.cli.panels import RichBatch

        with closing(RichBatch(name)) as display:
            yield display
    else:
        yield _NoBatch() if mode == "none" else PlainBatch()
