"""Wording: what is cut, counted, listed, ranked, misspelt, or made a sentence; and which words are players."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from agentsim.engine.wording import CUT, Naming, aligned, counted, cut, first_place, listed, near, sentence
from tests.amounts import each_row


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


PLAYERS = ("A", "I", "B", "Ada", "Ada Lovelace", "agent1", "agent12", "x.y")


@each_row(
    "text, named",
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


@each_row(
    "names, text, named",
    [
        (["Ana", "Ana Maria"], "Ana Maria, and Ana; not Anabel or Ana-Maria.", ["Ana Maria", "Ana"]),
        (["Ana", "Maria", "Ana Maria"], "Maria left. Ana Maria stays.", ["Maria", "Ana Maria"]),
        (["José", "Jos"], "I trust José, not Jos.", ["José", "Jos"]),
        (["Zespół 1", "Zespół 12"], "Zespół 12 i Zespół 1.", ["Zespół 12", "Zespół 1"]),
        (["李雷", "李"], "我投给李雷。李说得对。", ["李雷", "李"]),
        (["Ana", "A李"], "我投给Ana，不是A李。Anabel也行", ["Ana", "A李"]),
        (["アン", "太郎"], "アンケートではなく、アンは太郎さんと話した。", ["アン", "太郎"]),
        (["민수"], "민수는 오늘 간다.", ["민수"]),
        (["राम"], "राम ने कहा; रामा और श्रीराम नहीं।", ["राम"]),
        (["นารี"], "ฉันชอบนารีมาก", ["นารี"]),
        (["علی"], "علی گفت؛ نه علی‌رضا.", ["علی"]),
        (["Ομάδα", "Ана"], "Ομάδα και Ана. Ομάδας;", ["Ομάδα", "Ана"]),
    ],
)
def test_names_of_several_words_and_other_scripts_are_found(names: list[str], text: str, named: list[str]) -> None:
    assert list(Naming((name, name) for name in names).named(text)) == named


def test_a_name_stands_for_its_player() -> None:
    naming = Naming([("p1", "p1"), ("The Shark", "p1"), ("The", "p2")])
    assert list(naming.named("The Shark and The Whale, said p1")) == ["p1", "p2", "p1"]


def test_a_name_without_a_word_is_never_found() -> None:
    assert list(Naming([("!!", "p1")]).named("!! what")) == []


def test_a_column_is_as_wide_as_a_terminal_shows_its_letters() -> None:
    rows = [("Ana Maria", "1"), ("李雷", "2"), ("Ольга", "3"), ("เต้", "4"), ("김철수", "5"), ("José", "6")]
    lines = aligned(rows)
    assert {cell_len(line[: line.rindex(" ") + 1]) for line in lines} == {11}
    assert aligned([("Ana", "x"), ("B", "y")], " ") == ["Ana x", "B   y"]
