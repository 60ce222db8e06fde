"""Memory: windows on what a player has heard: the newest entries within a number and a budget of characters.

Which events become entries, and in what words, is a game's. How they are heard is `hearing`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")


class Window(Generic[T]):
    """The newest of what was added: at most so many, and of so many characters; the newest one is kept in any case.

    `added` counts all that ever was, and `digest` by kind those that are kept no more.
    """

    __slots__ = ("_chars", "_entries", "_room", "added", "digest", "most")

    def __init__(self, most: int, chars: int) -> None:
        self.most = most
        self.added = 0
        self.digest: Counter[Hashable] = Counter()
        self._room = chars
        self._chars = 0
        self._entries: deque[tuple[T, int, Hashable]] = deque()

    def add(self, entry: T, chars: int, kind: Hashable) -> None:
        """Take in an entry of so many characters; the oldest go where there is no room."""
        self.added += 1
        self._chars += chars
        entries = self._entries
        entries.append((entry, chars, kind))
        while len(entries) > self.most or (self._chars > self._room and len(entries) > 1):
            _, gone, of = entries.popleft()
            self._chars -= gone
            self.digest[of] += 1

    def upto(self, mark: int) -> Sequence[T]:
        """What was kept of the first `mark` that were added, oldest first."""
        return [entry for entry, _, _ in islice(self._entries, max(0, len(self._entries) - (self.added - mark)))]

    def since(self, mark: int) -> Sequence[T]:
        """What was kept of those added after the first `mark`, oldest first."""
        return [entry for entry, _, _ in islice(self._entries, max(0, len(self._entries) - (self.added - mark)), None)]
