"""Forum: the posts, of which the newest are shown to all."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agentsim.engine.prompt import TOKEN_BYTES, Quoted, quoted, size
from agentsim.engine.wording import cut


@dataclass(frozen=True, slots=True)
class Post:
    """One post; `parent` is the post it replies to, `name` what its author was called then, `text` as it is shown."""

    id: int
    day: int
    author: int
    name: str
    parent: int | None
    text: str

    @property
    def line(self) -> Quoted:
        """The post in a prompt."""
        name = {"name": self.name} if self.name else {}
        reply = {} if self.parent is None else {"reply_to": self.parent}
        return quoted(post=self.id, day=self.day, **{"from": f"#{self.author}"}, **name, **reply, text=self.text)


@dataclass
class Forum:
    """The newest posts. At most `window` of them are shown in `tokens` (0: no limit), and of each so many `chars`.

    `count` is how many posts there are; ids count from 1.
    """

    window: int = 20
    tokens: int = 0
    chars: int = 1_000
    count: int = 0
    newest: deque[Post] = field(init=False)

    def __post_init__(self) -> None:
        self.newest = deque(maxlen=self.window)

    def post(self, day: int, author: int, name: str, parent: int | None, text: str) -> int:
        """Put a post up and return its id."""
        self.count += 1
        self.newest.append(Post(self.count, day, author, name, parent, cut(text, self.chars)))
        return self.count

    def shown(self) -> tuple[Post, ...]:
        """Return the posts that are shown, oldest first."""
        return tuple(self._fitting())[::-1]

    def numbers(self, shown: Iterable[Post]) -> frozenset[int]:
        """Return the ids of the posts shown, or none if a prompt may leave some of them out."""
        return frozenset(post.id for post in shown) if self.tokens else frozenset()

    def _fitting(self) -> Iterator[Post]:
        """Yield the newest posts as far as there is room for them, newest first."""
        room = self.tokens * TOKEN_BYTES or math.inf
        for post in reversed(self.newest):
            room -= size(post.line) + 1 if self.tokens else 0
            if room < 0:
                return
            yield post
