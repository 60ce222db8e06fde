"""Forum: the posts that all agents read, and the window on the newest of them. Posting is `talk`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_MENTIONED = 10
_MENTION = re.compile(r"#([1-9][0-9]{0,5})(?![0-9])")


@dataclass(frozen=True, slots=True)
class Post:
    """One post; `parent` is the post it replies to, `name` what its author was called then."""

    id: int
    day: int
    author: int
    name: str
    parent: int | None
    text: str


@dataclass
class Forum:
    """All posts by number, of which only the newest `window` are kept in words."""

    window: int
    authors: list[int] = field(default_factory=list)
    recent: deque[Post] = field(default_factory=deque)

    @property
    def count(self) -> int:
        """Posts so far."""
        return len(self.authors)

    def post(self, day: int, author: int, name: str, parent: int | None, text: str) -> Post:
        """Put a post up; ids count from 1."""
        self.authors.append(author)
        post = Post(self.count, day, author, name, parent, text)
        self.recent.append(post)
        if len(self.recent) > self.window:
            self.recent.popleft()
        return post

    def author_of(self, post: int) -> int | None:
        """The author of a post; None where there is no such post."""
        return self.authors[post - 1] if 1 <= post <= self.count else None


def mentioned(text: str, agents: int) -> Iterator[int]:
    """The first few agents that a text names by number, such as #7, each once."""
    if "#" not in text:
        return iter(())
    found = dict.fromkeys(int(match[1]) for match in _MENTION.finditer(text))
    return iter([agent for agent in found if agent <= agents][:MOST_MENTIONED])
