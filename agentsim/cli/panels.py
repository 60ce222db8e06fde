"""Live displays on a terminal: a run's round, phase, speakers, calls and cost, or a batch's progress.

Foreign text reaches Rich only as `Text` of safe strings, so that markup in it is not interpreted.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TextIO, cast

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.spinner import Spinner
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agentsim.cli.display import CROWD, Following, Noting, public_lines, status_line, without_result
from agentsim.cli.finish import MOST_STANDINGS, money, spent
from agentsim.cli.terminal_output import shortened
from agentsim.engine.event import LoggedEvent
from agentsim.engine.request import Ask, Wave
from agentsim.engine.wording import counted, few
from agentsim.players.terminal import GUTTER, rows
from agentsim.records.journal import Totals
from agentsim.runs.batch.tally import BatchWatcher, GameEnd, Tally

_SHOWN_AT_ONCE = 6
_DRAWN_A_SECOND = 8


class _Lasting:
    """A stream that drops output after its reader is gone, so that the game continues."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Console(Console):
    """A console with a lock: Rich computes the position of the panel when a print begins.

    If two prints overlapped and the first changed the panel's height, the second would start at the wrong row.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=stream, markup=False, emoji=False, highlight=False)
        self.turn = threading.RLock()

    def print(self, *objects: Any, **options: Any) -> None:
        with self.turn:
            super().print(*objects, **options)


class _Panel(Noting):
    """A panel at the bottom of the screen that is redrawn regularly. Printed lines scroll by above it."""

    def __init__(self) -> None:
        self._console = _Console(cast("TextIO", _Lasting(sys.stderr)))  # has all methods of a stream that Rich uses
        self._live: Live | None = None
        self._closed = threading.Event()

    def _show(self) -> None:
        if self._live is None:
            self._live = Live(get_renderable=self._panel, console=self._console, auto_refresh=False, transient=True)
            self._closed = threading.Event()
            with self._console.turn:
                self._live.start(refresh=True)
            threading.Thread(target=self._draw, args=(self._live, self._closed), daemon=True).start()

    def _draw(self, live: Live, closed: threading.Event) -> None:
        while not closed.wait(1 / _DRAWN_A_SECOND):
            with self._console.turn:
                if not closed.is_set():
                    live.refresh()

    def close(self) -> None:
        """Remove the panel from the screen."""
        if self._live is not None:
            with self._console.turn:
                self._closed.set()
                self._live.stop()
            self._live = None

    def _panel(self) -> RenderableType:
        raise NotImplementedError


HUES = ("cyan", "magenta", "green", "blue", "bright_yellow", "bright_cyan", "bright_magenta", "bright_green")
"""The colors of players, in seat order. Red and yellow are reserved for problems."""


class RichDisplay(_Panel, Following):
    """A display of scrolling public events above a panel with progress, standings, calls, cost and time."""

    def __init__(self) -> None:
        _Panel.__init__(self)
        Following.__init__(self)
        self._started = time.monotonic()
        self._name = self._round = self._phase = ""
        self._speaking: Counter[str] = Counter()
        self._totals = Totals.zero()
        self._spinner = Spinner("dots")
        self._look_at, self._late = 0.0, False

    def close(self) -> None:
        """Draw the panel a last time, with the progress as it is now, and remove it."""
        if self._live is not None:
            self.look()
        super().close()

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        super().began(name, game, players)
        self._name = f"{shortened(game, 200)} · {shortened(name, 200)}"
        self._started = time.monotonic()
        self._show()

    def wave(self, wave: Wave, round_title: str) -> None:
        self.playing(round_title)
        kinds = dict.fromkeys(ask.request.kind for ask in wave.asks)
        self._phase = shortened(", ".join(kinds).replace("_", " "), 200)

    def playing(self, round_title: str) -> None:
        if self._round and round_title != self._round and (unsaid := self.words_of_the_unsaid()):
            self._say(self._round, unsaid, Style(bold=True), Style(dim=True))
        self._round = shortened(round_title, 200)
        self._late = time.monotonic() < self._look_at  # limits the rate: bots may play a thousand waves a second
        if not self._late:
            self._look_at = time.monotonic() + 0.1
            self.look()

    def calling(self, ask: Ask) -> None:
        if self._late:  # a model is slow, so show the progress of the bots before it now
            self._late = False
            self.look()
        self._speaking[ask.request.player] += 1

    def called(self, ask: Ask, totals: Totals) -> None:
        self._speaking[ask.request.player] -= 1
        self._speaking += Counter()  # removes players with no call in flight
        self.counted(totals)

    def counted(self, totals: Totals) -> None:
        self._totals = totals

    def said_fallback(self, line: str) -> None:
        self._say(shortened(line, 200), "", Style(color="red"), Style(color="red"))

    def told(self, events: Sequence[LoggedEvent]) -> None:
        for told in self.public(events):
            ((heading, content),) = public_lines([told], max(40, self._console.width * 2))
            self._say(heading, content, Style.combine((Style(bold=True), self._hue(told.by))), Style(dim=True))

    def _hue(self, player: str | None) -> Style:
        seat = None if len(self._players) > CROWD else self._players.get(player or "")
        return Style() if seat is None else Style(color=HUES[seat % len(HUES)])

    def person(self, *, asked: bool) -> None:
        if asked:
            self.close()
        else:
            self._show()

    def waiting(self, ask: Ask, reason: str) -> None:
        yellow = Style(color="yellow")
        self._say(shortened(ask.request.player, 200), shortened(reason, 200), yellow, yellow)

    def warned(self, message: str) -> None:
        yellow = Style(color="yellow")
        self._say("warning", shortened(message, 400), yellow, yellow)

    def _say(self, heading: str, content: str, head: Style, words: Style) -> None:
        # Wrap here: Rich could begin a row with a word that the speaker chooses.
        lines = rows(f"{heading}: {content}" if content else heading, self._console.width, GUTTER)
        shown = Text("\n".join(lines), style=words)
        shown.stylize(Style.combine((Style(dim=False), head)), 0, min(len(heading) + 1, len(lines[0])))
        self._console.print(shown)

    def _panel(self) -> RenderableType:
        totals, seconds = self._totals, int(time.monotonic() - self._started)
        names = few(list(self._speaking), _SHOWN_AT_ONCE)
        where = Table.grid(padding=(0, 2))
        where.add_row(
            self._spinner,
            Text(self._round, style="bold"),
            Text(self._phase),
            Text(f"asking {shortened(names, 200)}" if names else "", style="cyan"),
        )
        counts = (
            *self.whereabouts(),
            counted(totals.calls, "call"),
            *([f"{totals.failed_calls} failed"] if totals.failed_calls else ()),
            *([counted(totals.takeovers, "takeover")] if totals.takeovers else ()),
            *filter(None, [self.fallback_words()]),
            spent(totals),
            self.cost(totals),
            f"{seconds // 60}:{seconds % 60:02d}",
            *(shortened(limit, 100) for limit in self._limits()),
        )
        width = self._console.width
        below = Text("\n".join(_packed(counts, width)), style="dim")
        if fallbacks := self.fallback_words():
            below.highlight_words([fallbacks], Style(color="red", dim=False))
        standings = Text("\n".join(_packed(self._standing_words(), width)))
        for player, words, inside in self.standings(MOST_STANDINGS):
            # another player's name may begin alike
            name = rf"(?m)(?:^|(?<= · )){re.escape(player)}(?= {re.escape(words[:20])})"
            standings.highlight_regex(name, self._hue(player) if inside else Style(strike=True))
        parts = [standings] if standings.plain else []
        return Group(Rule(Text(self._name), style="dim"), where, *parts, below)

    def _standing_words(self) -> Iterator[str]:
        for player, words, inside in self.standings(MOST_STANDINGS):
            yield shortened(
                f"{player} {words}{'' if inside or 'bankrupt' in words or 'dead' in words else ', out'}", 100
            )
        if self.now is not None and (more := len(self.now.players) - MOST_STANDINGS) > 0:
            yield f"and {more:,} more"


def _packed(parts: Iterable[str], width: int) -> list[str]:
    """Join the parts in rows of this width, with breaks only between parts."""
    packed: list[str] = []
    for part in parts:
        if packed and cell_len(packed[-1]) + cell_len(part) + len(" ·  ·") <= width:
            packed[-1] += f" · {part}"
        else:
            packed.append(part)
    return [*(f"{row} ·" for row in packed[:-1]), *packed[-1:]]


class RichBatch(_Panel, BatchWatcher):
    """A display of a bar, counts, cost with forecast, and time left. Games without a result scroll by above."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = shortened(name, 200)
        self._tally: Tally | None = None

    def began(self, tally: Tally) -> None:
        self._tally = tally
        self._show()

    def ended(self, end: GameEnd) -> None:
        if end.error is not None:
            self._console.print(Text(without_result(end, end.error), style="yellow"))

    def _panel(self) -> RenderableType:
        assert self._tally is not None, "it is drawn from the beginning on"
        tally = self._tally
        rows = Table.grid(expand=True)  # a bar alone does not end its line
        rows.add_row(ProgressBar(total=tally.games, completed=tally.done + tally.failed))
        rows.add_row(Text(status_line(tally), style="dim"))
        playing = [
            f"{name} {counted(totals.calls, 'call')}, {money(totals.known_usd, totals.unpriced_calls)}"
            if totals.calls
            else name
            for name, totals in tally.playing()
        ]
        if playing:
            more = [f"and {len(playing) - _SHOWN_AT_ONCE} more"] * (len(playing) > _SHOWN_AT_ONCE)
            packed = _packed(["playing", *playing[:_SHOWN_AT_ONCE], *more], self._console.width)
            rows.add_row(Text("\n".join(packed), style="dim"))
        return Group(Rule(Text(self._name), style="dim"), rows)
