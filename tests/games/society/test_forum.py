"""The forum: the newest posts that fit, each shown once in a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request
from agentsim.games.society import GAME
from agentsim.games.society.requests import Act
from tests.games.society.society import acted
from tests.games.society.town import Town, post, reply


def chatter(request: Request[Any], rng: Stream) -> Decision:
    """Post texts of every length, some as replies."""
    assert isinstance(request, Act)
    words, posts = "word " * rng.integer(1, 150), request.world.posts
    if posts and rng.random() < 0.5:
        return acted({"action": "forum_reply", "parent_message_id": rng.pick(posts).id, "content": words})
    return acted("idle") if rng.random() < 0.3 else acted({"action": "forum_post", "content": words})


def asked(**config: Any) -> Iterator[Act]:
    """Yield every request of a game of twelve agents that post, in order."""
    settings = {"days": 6, "start_food": 4, "start_energy": 4, **config}
    play = GamePlay(GAME, GAME.config.from_toml(settings), [f"p{each}" for each in range(1, 13)], 5)
    wave = play.start()
    while wave is not None:
        yield from (ask.request for ask in wave.asks if isinstance(ask.request, Act))
        wave = play.answer([chatter(ask.request, play.bot_rng(ask)) for ask in wave.asks])


def test_the_posts_shown_are_the_newest_that_fit_into_their_room() -> None:
    shown = [act.world.posts for act in asked(feed_tokens=1_000) if act.you.agent == 1]
    for posts in shown:
        assert [each.id for each in posts] == list(range(posts[0].id, posts[-1].id + 1)) if posts else True
    assert 0 < max(map(len, shown)) < 20, "the room of the posts was too small for all"
    assert max(len(act.world.posts) for act in asked(feed_tokens=0)) == 20, "without a limit of their own"


def test_posts_that_stand_in_the_forum_are_named_elsewhere() -> None:
    town = Town().tick({1: post("A long story")}).tick({2: reply(1, "Well told, #1")})
    text = town.asked[1].prompt().text()
    assert text.count("A long story") == 1
    assert text.count("Well told") == 1
    assert '"event": "Agent #2: post 2, a reply to 1"}' in text


def test_where_a_prompt_may_leave_posts_out_none_is_named_instead_of_shown() -> None:
    town = Town(feed_tokens=0).tick({1: post("A story")})
    assert town.asked[1].prompt().text().count("A story") == 2
