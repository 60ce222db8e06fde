"""Shows a batch while it is played, as lines of text or (`batch_progress`) as a panel. The counts are `tally`'s."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from agentsim.cli.display import Noting, drawn
from agentsim.cli.finish import money
from agentsim.cli.options import DisplayMode
from agentsim.cli.terminal_output import note, shortened
from agentsim.runner.batch.batch_game import GameEnd
from agentsim.runner.batch.tally import BatchWatcher, Tally

__all__ = ["NoBatch", "PlainBatch", "shown", "status_line"]

_EVERY_S = 5.0


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


class NoBatch(Noting, BatchWatcher):
    """Shows nothing but notes."""


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
            note(f"{end.name}: {end.status}: {shortened(end.error, 300)}")
        now = time.monotonic()
        assert self._tally is not None, "a game ends after the batch began"
        if now - self._said >= _EVERY_S or self._tally.done == self._tally.games:
            self._said = now
            note(status_line(self._tally))


@contextmanager
def shown(mode: DisplayMode, name: str) -> Iterator[BatchWatcher]:
    """The watcher for this mode, drawn while the block runs."""
    if mode is DisplayMode.none:
        yield NoBatch()
    elif drawn(mode):
        from agentsim.cli.batch_progress import RichBatch

        display = RichBatch(name)
        try:
            yield display
        finally:
            display.close()
    else:
        yield PlainBatch()
