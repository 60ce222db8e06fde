"""Wording: cut, counted, listed, and made a sentence."""

from __future__ import annotations

import pytest

from agentsim.engine.wording import CUT, counted, cut, listed, sentence


def test_what_is_cut_says_so_within_its_limit() -> None:
    assert cut(" as it is ", 8) == "as it is"
    assert cut("one word too many", 14) == f"one word{CUT}"


@pytest.mark.parametrize(("count", "words"), [(0, "0 votes"), (1, "1 vote"), (2, "2 votes"), (21, "21 votes")])
def test_only_one_is_singular(count: int, words: str) -> None:
    assert counted(count, "vote") == words


@pytest.mark.parametrize(("names", "words"), [("", ""), ("A", "A"), ("AB", "A and B"), ("ABC", "A, B and C")])
def test_the_last_name_follows_an_and(names: str, words: str) -> None:
    assert listed(tuple(names)) == words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("jury vote", "Jury vote."),
        ("Out of time!", "Out of time!"),
        ("that is agent #7", "That is agent #7."),
        ("", ""),
    ],
)
def test_a_sentence_has_a_capital_and_an_end(words: str, said: str) -> None:
    assert sentence(words) == said
