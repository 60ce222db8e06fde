"""Naming: which words of a text are players."""

from __future__ import annotations

import pytest

from agentsim.engine.wording import Naming

PLAYERS = ("A", "I", "B", "Ada", "Ada Lovelace", "agent1", "agent12", "x.y")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("B and B's friend, not B-2, DB or b", ["B", "B"]),
        ("agent12, agent123, agent1.", ["agent12", "agent1"]),
        ("Ada Lovelace and Ada", ["Ada Lovelace", "Ada"]),
        ("Adam, ada, ADA", []),
        ("A vote for me! A vote. 'A man.' I am kind, and I know it.", []),
        ("I like A. Vote A, then B: A said so; player A, Player I", ["A", "A", "B", "A", "I"]),
        ("x.y is not x", ["x.y"]),
        ("", []),
    ],
)
def test_who_is_named(text: str, named: list[str]) -> None:
    assert list(Naming((player, player) for player in PLAYERS).named(text)) == named


def test_a_name_stands_for_its_player() -> None:
    naming = Naming([("p1", "p1"), ("The Shark", "p1"), ("The", "p2")])
    assert list(naming.named("The Shark and The Whale, said p1")) == ["p1", "p2", "p1"]


def test_a_name_without_a_word_is_never_found() -> None:
    assert list(Naming([("!!", "p1")]).named("!! what")) == []
