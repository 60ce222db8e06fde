"""The forum: the newest posts, which prompts show to all agents."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agentsim.engine.prompt import Quoted, quoted
from agentsim.engine.wording import cut
from agentsim.games.society.config import SHOWN_CHARS


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
    """The newest posts: at most `window`, each cut to `SHOWN_CHARS` characters.

    `count` is the number of all posts so far; ids count from 1.
    """

    window: int = 20
    count: int = 0
    newest: deque[Post] = field(init=False)

    def __post_init__(self) -> None:
        self.newest = deque(maxlen=self.window)

    def post(self, day: int, author: int, name: str, parent: int | None, text: str) -> int:
        """Add a post and return its id."""
        self.count += 1
        self.newest.append(Post(self.count, day, author, name, parent, cut(text, SHOWN_CHARS)))
        return self.count
