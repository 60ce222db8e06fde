"""The live displays on a terminal: of a run its round, phase, speakers, calls and cost; of a batch how far it is.

Foreign text reaches Rich only as `Text` of safe strings, so that markup in it is not interpreted.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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

from agentsim.cli.display import Noting, public_lines, status_line, without_result
from agentsim.cli.finish import money, spent
from agentsim.cli.terminal_output import shortened
from agentsim.engine.event import LogEntry
from agentsim.engine.play import Ask, Wave
from agentsim.engine.wording import counted
from agentsim.history.fold import Totals
from agentsim.players.terminal import MARK, rows
from agentsim.runner.batch.batch_game import GameEnd
from agentsim.runner.batch.tally import BatchWatcher, Tally
from agentsim.runner.watch import Watcher

_SHOWN_AT_ONCE = 6


class _Lasting:
    """A stream that drops output when its reader is gone, so that the game goes on."""

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


class _Panel(Noting):
    """A panel at the bottom of the screen, drawn again by the clock; what is printed scrolls by above it."""

    def __init__(self) -> None:
        stream = cast("TextIO", _Lasting(sys.stderr))  # all of a stream that Rich asks for
        self._console = Console(file=stream, markup=False, emoji=False, highlight=False)
        self._live: Live | None = None

    def _show(self) -> None:
        if self._live is None:
            self._live = Live(get_renderable=self._panel, console=self._console, refresh_per_second=8, transient=True)
            self._live.start(refresh=True)

    def close(self) -> None:
        """Take the panel off the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _panel(self) -> RenderableType:
        raise NotImplementedError


class RichDisplay(_Panel, Watcher):
    """Public events scroll by; below them one panel says round, phase, speakers, calls, tokens, cost, time."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.monotonic()
        self._name = self._round = self._phase = ""
        self._speaking: Counter[str] = Counter()
        self._totals = Totals()
        self._fallbacks = 0
        self._limits: Callable[[], Sequence[str]] = list
        self._spinner = Spinner("dots")

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        self._name = f"{shortened(game, 200)} · {shortened(name, 200)}"
        self._started = time.monotonic()
        self._show()

    def limited_by(self, notes: Callable[[], Sequence[str]]) -> None:
        self._limits = notes

    def wave(self, wave: Wave, round_title: str) -> None:
        self.playing(round_title)
        kinds = dict.fromkeys(ask.request.kind for ask in wave.asks)
        self._phase = shortened(", ".join(kinds).replace("_", " "), 200)

    def playing(self, round_title: str) -> None:
        self._round = shortened(round_title, 200)

    def calling(self, ask: Ask) -> None:
        self._speaking[ask.request.player] += 1

    def called(self, ask: Ask, totals: Totals) -> None:
        self._speaking[ask.request.player] -= 1
        self._speaking += Counter()  # drops those who are done
        self.counted(totals)

    def counted(self, totals: Totals) -> None:
        self._totals = totals

    def fell_back(self) -> None:
        self._fallbacks += 1

    def told(self, events: Sequence[LogEntry]) -> None:
        for heading, content in public_lines(events, max(40, self._console.width * 2)):
            self._say(heading, content, Style(bold=True), Style(dim=True))

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
        # Rich would begin the next row with whatever word comes next, which the speaker chooses.
        lines = rows(f"{heading}: {content}" if content else heading, self._console.width, MARK)
        shown = Text("\n".join(lines), style=words)
        shown.stylize(Style.combine((Style(dim=False), head)), 0, min(len(heading) + 1, len(lines[0])))
        self._console.print(shown)

    def _panel(self) -> RenderableType:
        totals, seconds = self._totals, int(time.monotonic() - self._started)
        speaking = list(self._speaking)
        names = ", ".join(speaking[:_SHOWN_AT_ONCE]) + (
            f" and {len(speaking) - _SHOWN_AT_ONCE} more" * (len(speaking) > _SHOWN_AT_ONCE)
        )
        where = Table.grid(padding=(0, 2))
        where.add_row(
            self._spinner,
            Text(self._round, style="bold"),
            Text(self._phase),
            Text(f"asking {shortened(names, 200)}" if names else "", style="cyan"),
        )
        counts = (
            counted(totals.calls, "call"),
            *([f"{totals.failed_calls} failed"] if totals.failed_calls else ()),
            *([counted(totals.takeovers, "takeover")] if totals.takeovers else ()),
            *([counted(self._fallbacks, "fallback")] if self._fallbacks else ()),
            spent(totals),
            f"cost {money(totals.cost_usd, totals.unpriced_calls)}",
            f"{seconds // 60}:{seconds % 60:02d}",
            *(shortened(limit, 100) for limit in self._limits()),
        )
        below = "\n".join(_packed(counts, self._console.width))
        return Group(Rule(Text(self._name), style="dim"), where, Text(below, style="dim"))


def _packed(parts: Iterable[str], width: int) -> list[str]:
    """The parts in rows of this width, broken between them as far as they are no longer than a row themselves."""
    packed: list[str] = []
    for part in parts:
        if packed and cell_len(packed[-1]) + cell_len(part) + len(" ·  ·") <= width:
            packed[-1] += f" · {part}"
        else:
            packed.append(part)
    return [*(f"{row} ·" for row in packed[:-1]), *packed[-1:]]


class RichBatch(_Panel, BatchWatcher):
    """A bar, counts, cost and its forecast, the time that is left; games without a result scroll by above them."""

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
        rows = Table.grid(expand=True)  # a bar by itself does not end its line
        rows.add_row(ProgressBar(total=tally.games, completed=tally.done + tally.failed))
        rows.add_row(Text(status_line(tally), style="dim"))
        return Group(Rule(Text(self._name), style="dim"), rows)
