"""Wording: what is cut, counted, listed, ranked, misspelt, or made a sentence."""

from __future__ import annotations

import pytest

from agentsim.engine.wording import CUT, counted, cut, first_place, listed, near, sentence


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


def test_the_first_place_may_be_shared() -> None:
    assert first_place(["A"]) == "A wins"
    assert first_place(["A"], "comes first") == "A comes first"
    assert first_place(["A", "B"], "comes first") == "A, B share the first place"


def test_a_misspelt_name_is_guessed_where_one_is_near() -> None:
    assert near("monoply", ["auction", "monopoly"]) == " (did you mean monopoly?)"
    assert near("chess", ["auction", "monopoly"]) == ""
