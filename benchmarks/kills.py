"""SIGKILL and SIGSTOP at random moments of everything that writes: no decision lost, none paid twice, the same history.

Models behind a loopback server play the smallest scenario of every game; the server records each request and each
answer that it has sent whole. Each command runs in its own process, gets signals at moments drawn evenly over the time
that it takes undisturbed (imports and last writes included), and is started again as a person would, until it is done.
A SIGSTOP lasts a random while; SIGCONT, SIGKILL or both follow.

    uv run python -m benchmarks.kills
    uv run python -m benchmarks.kills --signals 100 --games society --commands fork batch
    uv run python -m benchmarks.kills --timeout 0.3 --stop 1     # stops that outlast the deadline of a call

The counts, compared with an undisturbed play of the same command:

- lost: decisions that the journal held as a whole line when the process was killed, and that are missing or changed
  later.
- twice: prompts sent again although the journal (or that of a fork's parent) held their answer at the kill, and prompts
  sent twice by one process.
- in flight: calls that had left and whose answer was not in the journal at the kill, at most as many as the concurrency
  allows. `arrived` are those of them whose answer the server had handed to the kernel whole: it was in the socket, or
  read and not yet written. The longest time from there to the kill is the window in which such an answer can be lost.
- same: histories that equal those of the undisturbed play byte for byte, except `volatile`; for `bundle` and `export`,
  the files. After each kill a file is absent or complete.

Exits with 1 if there is any other difference; its folder is kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from pathlib import Path
from random import Random

from agentsim import games
from benchmarks.lane import COMMANDS, Cell, Lane
from benchmarks.witness import witness

_NOTED_EVERY = 100
_SUMS = [each.name for each in fields(Cell) if each.type == "int"]


class Book:
    """All cells, and which of them are in use. It tells lanes which one is next."""

    def __init__(self, cells: Sequence[Cell], signals: int) -> None:
        self.cells, self._wanted = cells, signals
        self._lock, self._taken, self._noted = threading.Lock(), Counter[int](), 0

    def next(self, rng: Random) -> tuple[Cell, int] | None:
        """Return the cell that is next, and how many signals are left, or None if there are enough.

        It is one that the fewest lanes use, and of these one with the fewest signals.
        """
        with self._lock:
            done = sum(cell.signals for cell in self.cells)
            if done >= self._noted + _NOTED_EVERY:
                self._noted = done
                print(f"{done} signals", file=sys.stderr, flush=True)
            if done >= self._wanted:
                return None
            cell = min(self.cells, key=lambda each: (self._taken[id(each)], each.signals, rng.random()))
            self._taken[id(cell)] += 1
            return cell, self._wanted - done

    def back(self, cell: Cell) -> None:
        """Release a cell that a lane has used."""
        with self._lock:
            self._taken[id(cell)] -= 1


def strike(book: Book, folder: Path, rng: Random, timeout_s: float, longest_stop_s: float) -> None:
    """Run one lane until there are enough signals."""
    folder.mkdir()
    with witness(folder) as server:
        lane = Lane(server, folder, rng, timeout_s, longest_stop_s)
        while (found := book.next(rng)) is not None:
            cell, left = found
            try:
                lane.strike(cell, left)
            finally:
                book.back(cell)


def summed(cells: Sequence[Cell], command: str, game: str) -> Cell:
    """Return the sum of all counts."""
    whole = Cell(command, game, window_ms=max((cell.window_ms for cell in cells), default=0.0))
    for name in _SUMS:
        setattr(whole, name, sum(getattr(cell, name) for cell in cells))
    return whole


def report(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a row for every command and game, one for each command, and one for all."""
    yield (
        f"{'command':9}{'game':14}{'kills':>7}{'stops':>7}{'again':>7}{'lost':>7}{'twice':>7}"
        f"{'in flight':>11}{'arrived':>9}{'window':>9}{'same':>13}{'leftovers':>11}"
    )
    rows = []
    for command in dict.fromkeys(cell.command for cell in cells):
        own = [cell for cell in cells if cell.command == command]
        rows += [*own, summed(own, command, "all")]
    for cell in [*rows, summed(cells, "all", "all")]:
        same = f"{cell.same} of {cell.of}"
        yield (
            f"{cell.command:9}{cell.game:14}{cell.kills:7}{cell.stops:7}{cell.again:7}{cell.lost:7}{cell.twice:7}"
            f"{cell.in_flight:11}{cell.arrived:9}{cell.window_ms:6.1f} ms{same:>13}{cell.leftovers:11}"
        )


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the report, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--signals", type=int, default=1_000, help="that meet a process alive")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", nargs="+", default=list(games.names()), choices=games.names(), metavar="GAME")
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("--lanes", type=int, default=2, help="processes at once, each with a server of its own")
    parser.add_argument("--timeout", type=float, default=60.0, help="timeout_s of a call")
    parser.add_argument("--stop", type=float, default=0.5, help="seconds that a SIGSTOP lasts at most")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each row instead of a table")
    given = parser.parse_args(words)
    cells = [Cell(command, game) for command in given.commands for game in given.games]
    book, folder = Book(cells, given.signals), Path(tempfile.mkdtemp(prefix="agentsim-kills-"))
    count = min(given.lanes, len(cells))  # so that no two lanes count in one cell
    with ThreadPoolExecutor(count) as pool:
        lanes = [
            pool.submit(strike, book, folder / f"lane{n}", Random(f"{given.seed}/{n}"), given.timeout, given.stop)
            for n in range(1, count + 1)
        ]
    for lane in lanes:
        lane.result()
    for line in [json.dumps(asdict(cell)) for cell in cells] if given.json else report(cells):
        print(line)
    violations = [violation for cell in cells for violation in cell.violations]
    for violation in violations:
        print(f"VIOLATION: {violation}", file=sys.stderr)
    if not violations:
        shutil.rmtree(folder)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
