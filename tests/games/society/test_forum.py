"""The forum: each of the newest posts is shown once in a prompt."""

from __future__ import annotations

from tests.games.society.town import Town, post, reply


def test_posts_that_stand_in_the_forum_are_named_elsewhere() -> None:
    town = Town().tick({1: post("A long story")}).tick({2: reply(1, "Well told, #1")})
    text = town.asked[1].prompt().text()
    assert text.count("A long story") == 1
    assert text.count("Well told") == 1
    assert '"event": "Agent #2: post 2, a reply to 1"}' in text


def test_a_post_that_has_left_the_forum_is_shown_where_it_is_remembered() -> None:
    town = Town(shown_posts=1, actions_per_day=4).tick({1: post("A story")}).tick({2: post("Another")})
    assert town.asked[1].prompt().text().count("A story") == 1
    assert town.asked[3].prompt().text().count("A story") == 0
