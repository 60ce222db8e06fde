"""Shows a batch on a terminal by Rich: a bar, counts, cost and its forecast, the time that is left."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from agentsim.cli.batch_display import status_line
from agentsim.cli.display import Noting
from agentsim.cli.progress import screen
from agentsim.cli.terminal_output import shortened
from agentsim.runner.batch.batch_game import GameEnd
from agentsim.runner.batch.tally import BatchWatcher, Tally

__all__ = ["RichBatch"]


class RichBatch(Noting, BatchWatcher):
    """Redraws one panel at the bottom by the clock; games without a result scroll by above it."""

    def __init__(self, name: str) -> None:
        self._name = shortened(name, 200)
        self._console = screen()
        self._live: Live | None = None
        self._tally: Tally | None = None

    def began(self, tally: Tally) -> None:
        self._tally = tally
        self._live = Live(get_renderable=self._panel, console=self._console, refresh_per_second=4, transient=True)
        self._live.start(refresh=True)

    def ended(self, end: GameEnd) -> None:
        if end.error is not None:
            line = f"{end.name}: {end.status}: {shortened(end.error, 300)}"
            self._console.print(Text(line, style="yellow"))

    def close(self) -> None:
        """Take the panel off the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _panel(self) -> RenderableType:
        assert self._tally is not None, "it is drawn from the beginning on"
        tally = self._tally
        rows = Table.grid(expand=True)  # a bar by itself does not end its line
        rows.add_row(ProgressBar(total=tally.games, completed=tally.done + tally.failed))
        rows.add_row(Text(status_line(tally), style="dim"))
        return Group(Rule(Text(self._name), style="dim"), rows)
