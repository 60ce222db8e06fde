"""The forum: it keeps the newest posts, which prompts show to all agents."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agentsim.engine.prompt import TOKEN_BYTES, Quoted, quoted, size
from agentsim.engine.wording import cut


@dataclass(frozen=True, slots=True)
class Post:
    """One post: `parent` is the post it replies to, `name` the author's name then, `text` is cut."""

    id: int
    day: int
    author: int
    name: str
    parent: int | None
    text: str

    @property
    def line(self) -> Quoted:
        """The line of the post in a prompt."""
        name = {"name": self.name} if self.name else {}
        reply = {} if self.parent is None else {"reply_to": self.parent}
        return quoted(post=self.id, day=self.day, **{"from": f"#{self.author}"}, **name, **reply, text=self.text)


@dataclass
class Forum:
    """The newest posts: at most `window`, in at most `tokens` tokens (0: no limit), each cut to `chars` characters.

    `count` is the number of all posts so far; ids count from 1.
    """

    window: int = 20
    tokens: int = 0
    chars: int = 1_000
    count: int = 0
    newest: deque[Post] = field(init=False)

    def __post_init__(self) -> None:
        self.newest = deque(maxlen=self.window)

    def post(self, day: int, author: int, name: str, parent: int | None, text: str) -> int:
        """Add a post and return its id."""
        self.count += 1
        self.newest.append(Post(self.count, day, author, name, parent, cut(text, self.chars)))
        return self.count

    def shown(self) -> tuple[Post, ...]:
        """Return the posts that are shown, oldest first."""
        return tuple(self._fitting())[::-1]

    def numbers(self, shown: Iterable[Post]) -> frozenset[int]:
        """Return the ids of the posts shown, or an empty set if a prompt may leave some of them out."""
        return frozenset(post.id for post in shown) if self.tokens else frozenset()

    def _fitting(self) -> Iterator[Post]:
        """Yield the newest posts as far as there is room for them, newest first."""
        room = self.tokens * TOKEN_BYTES or math.inf
        for post in reversed(self.newest):
            room -= size(post.line) + 1 if self.tokens else 0
            if room < 0:
                return
            yield post
