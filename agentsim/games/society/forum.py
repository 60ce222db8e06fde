"""Forum: the posts, and which of them each agent is shown: a feed of bounded size that is kept as they are written.

What an agent was shown is worked out again from the events alone (`tables.exposure`), by the same forum.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from agentsim.engine.prompt import TOKEN_BYTES, Quoted, quoted, size
from agentsim.engine.wording import cut

Feed: TypeAlias = Literal["all", "neighbours", "ranked"]
RANKED_AMONG = 5
"""A ranked feed is chosen among so many windows of the newest posts."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post; `parent` is the post it replies to, `name` what its author was called then, `text` as it is shown.

    `replies` are those that it has, where the feed goes by them.
    """

    id: int
    day: int
    author: int
    name: str
    parent: int | None
    text: str
    replies: int = 0

    @property
    def line(self) -> Quoted:
        """The post in a prompt."""
        name = {"name": self.name} if self.name else {}
        reply = {} if self.parent is None else {"reply_to": self.parent}
        replies = {"replies": self.replies} if self.replies else {}
        return quoted(
            post=self.id, day=self.day, **{"from": f"#{self.author}"}, **name, **reply, **replies, text=self.text
        )


@dataclass(frozen=True)
class Seen:
    """What an agent is shown: at most `window` posts in `tokens` (0: no limit), and of each so many `chars`."""

    feed: Feed = "all"
    window: int = 20
    tokens: int = 0
    chars: int = 1_000


@dataclass
class Forum:
    """How many posts there are by `count`, of which the newest are kept; ids count from 1.

    `kept` are those by readers: under `EVERYONE` where there are no `neighbours`, else under each agent's number those
    of its neighbours. `replies` counts the replies to posts.
    """

    seen: Seen
    neighbours: Mapping[int, Sequence[int]] = field(default_factory=dict)
    count: int = 0
    kept: dict[int, deque[Post]] = field(default_factory=dict)
    replies: Counter[int] = field(default_factory=Counter)

    def post(self, day: int, author: int, name: str, parent: int | None, text: str) -> int:
        """Put a post up, for those who are shown posts of its author; its number."""
        self.count += 1
        new = Post(self.count, day, author, name, parent, cut(text, self.seen.chars))
        if parent is not None:
            self.replies[parent] += 1
        for reader in self.neighbours[author] if self.neighbours else (EVERYONE,):
            self.kept.setdefault(reader, deque(maxlen=self.most)).append(new)
        return new.id

    @property
    def most(self) -> int:
        """How many posts are kept for a reader."""
        return self.seen.window * (RANKED_AMONG if self.seen.feed == "ranked" else 1)

    def shown(self, reader: int, day: int) -> tuple[Post, ...]:
        """What a reader is shown on that day: the newest posts, or those of the highest score, which comes last."""
        kept: Iterable[Post] = reversed(self.kept.get(reader if self.neighbours else EVERYONE, ()))
        if self.seen.feed == "ranked":
            counted = [replace(post, replies=self.replies[post.id]) for post in kept]
            kept = sorted(counted, key=lambda post: score(post, day), reverse=True)
        return tuple(self._fitting(kept))[::-1]

    def numbers(self, shown: Iterable[Post]) -> frozenset[int]:
        """The numbers of what a reader is shown; none where its prompt may leave some of that out."""
        return frozenset(post.id for post in shown) if self.seen.tokens else frozenset()

    def _fitting(self, posts: Iterable[Post]) -> Iterator[Post]:
        """The first of the posts, as far as there is room for them."""
        room = self.seen.tokens * TOKEN_BYTES or math.inf
        for place, post in enumerate(posts):
            room -= size(post.line) + 1 if self.seen.tokens else 0
            if place == self.seen.window or room < 0:
                return
            yield post


EVERYONE = 0
"""The reader that stands for all, where all are shown the same."""


def score(post: Post, day: int) -> float:
    """The logarithm to base 2 of 1 and the number of its replies, halved for each day of its age.

    That is the hot score of forums with replies in the place of votes: Z. Yang and others, OASIS: Open Agent Social
    Interaction Simulations, 2024.
    """
    return math.log2(1 + post.replies) - (day - post.day)
