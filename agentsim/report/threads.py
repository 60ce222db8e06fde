"""A discussion laid out: each post beneath the one that it answers. The markup is `templates/people.html.j2`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentsim.engine.panel import Post, Threads
from agentsim.report.tones import tone_of

__all__ = ["PostView", "ThreadsView", "threads"]

DEEPEST = 5
"""Answers to answers beyond this stand no further to the right: there is no room."""


@dataclass(frozen=True, slots=True)
class PostView:
    """A post, `depth` answers below the beginning of its thread."""

    post: Post
    depth: int
    tone: str
    answers: int  # in the whole thread, told of its first post


@dataclass(frozen=True, slots=True)
class ThreadsView:
    """All threads in the order in which they began, each with its answers in order."""

    title: str
    note: str
    threads: tuple[tuple[PostView, ...], ...]
    posts: int
    shape: str = "threads"


def threads(panel: Threads, players: Mapping[str, int]) -> ThreadsView:
    """A post that answers what is not there, or what came later, begins a thread of its own."""
    home: dict[int, tuple[int, int]] = {}  # of each number: its thread and depth
    below: dict[int, list[int]] = {}
    roots: list[list[tuple[Post, int]]] = []
    posts: dict[int, Post] = {}
    for post in panel.posts:
        above = home.get(post.answers) if post.answers is not None else None
        if above is None:
            home[post.number] = (len(roots), 0)
            roots.append([])
        else:
            assert post.answers is not None, "it has a place"
            home[post.number] = (above[0], above[1] + 1)
            below.setdefault(post.answers, []).append(post.number)
        posts[post.number] = post
    for number, (thread, depth) in home.items():
        if depth == 0:
            roots[thread] = _walk(number, posts, below)
    return ThreadsView(
        title=panel.title,
        note=panel.note,
        threads=tuple(
            tuple(
                PostView(post, min(depth, DEEPEST), tone_of(post.author, players), len(found) - 1 if depth == 0 else 0)
                for post, depth in found
            )
            for found in roots
        ),
        posts=len(panel.posts),
    )


def _walk(first: int, posts: Mapping[int, Post], below: Mapping[int, list[int]]) -> list[tuple[Post, int]]:
    """A post and all under it, depth first; by a list of our own, since a thread may be deeper than the call stack."""
    found: list[tuple[Post, int]] = []
    waiting = [(first, 0)]
    while waiting:
        number, depth = waiting.pop()
        found.append((posts[number], depth))
        waiting += [(answer, depth + 1) for answer in reversed(below.get(number, []))]
    return found
