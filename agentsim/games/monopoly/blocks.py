"""Blocks: the minutes of `memory = "blocks"`, which earlier games kept, and journals of theirs need."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.games.monopoly.minutes import Minutes
from agentsim.games.monopoly.talk import Heard, Remembered, Summarized


@dataclass(slots=True)
class _Block:
    """Some turns (10, as a rule), and how many remarks were made in them."""

    first: int
    last: int
    said: int = 0


class Blocks(Minutes):
    """Turns are summed up by blocks, and what there is no room for until then is not shown."""

    def __init__(self, listener: PlayerId, *, entries: int, **room: Any) -> None:
        super().__init__(listener, **room)
        self._entries = entries
        self._blocks = [_Block(1, self._turns)]
        self._remarks: deque[int] = deque()  # the characters of each that counts as shown
        self._skipped = 0  # remarks at the front of the first block, and maybe the next, that do not

    def hear(self, entry: LogEntry) -> None:
        super().hear(entry)
        if isinstance(entry.event, Summarized):
            said = self._blocks.pop(0).said
            for _ in range(said - self._skipped):
                self._remarks.popleft()
            self._skipped = max(0, self._skipped - said)
        elif isinstance(entry.event, Remembered):
            self._reach(entry.round)
            self._blocks[-1].said += 1
            self._remarks.append(entry.event.weight)
            if sum(self._remarks) > self._chars:
                while self._remarks and sum(self._remarks) > self._chars // 2:
                    self._remarks.popleft()
                    self._skipped += 1

    def leaving(self, turn: int) -> Sequence[LogEntry]:
        self._reach(turn)
        oldest, *others = self._blocks
        unseen = oldest.said and self._skipped >= oldest.said
        full = len(others) > 1 and sum(block.said for block in self._blocks) > self._entries
        due = others and (unseen or full)
        return (
            [entry for entry, _ in takewhile(lambda heard: heard[0].round <= oldest.last, self._heard)] if due else ()
        )

    def shown(self) -> Heard:
        earlier, told = super().shown()
        room, count = self._chars, 0
        for line in reversed(told):
            room -= line.size
            count += room >= 0
        return earlier, told[len(told) - count :]

    def _reach(self, turn: int) -> None:
        """It is this turn by now."""
        while turn > (last := self._blocks[-1].last):
            self._blocks.append(_Block(last + 1, last + self._turns))
