"""Prompt: the order of segments, and the two rules about foreign words."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.markup import FORMS
from agentsim.engine.wording import Prompt, cleaned, in_quotes, quoted
from tests.amounts import each_row

ANY = st.text(st.characters(), max_size=60)  # with surrogates
NASTY = st.text(
    st.sampled_from(
        "\x1b[]\\\x07P0;31mA\r\n\u2028\u0085\ud83d\ude00\ud800\u202e\u0301e\x00\x9b\u200b\ufeff"
        "\u200c\u200d\ufe0f\ufe01\U000e0100\U000e0067\U0001f3f4\U0001f469یක්क葛\u0654"
    ),
    max_size=40,
)


def test_text_runs_from_what_never_changes_to_what_is_new() -> None:
    prompt = Prompt(rules=("r1", "r2"), history=("h1",), state=("s",), question=("q",))
    assert prompt.text() == "r1\nr2\nh1\ns\nq"


CLEANED = {
    "plain": ("Hello, Ünïcode 五 👍", "Hello, Ünïcode 五 👍"),
    "newline and tab stay": ("a\n\tb", "a\n\tb"),
    "windows line ends": ("a\r\nb", "a\nb"),
    "old line ends": ("a\rb", "a\nb"),
    "line separator": ("a\u2028b\u2029c", "a\nb\nc"),
    "next line, form feed, vertical tab": ("a\u0085b\x0cc\x0bd", "a\nb\nc\nd"),
    "nul": ("a\x00b", "ab"),
    "bell and delete": ("a\x07b\x7fc", "abc"),
    "colour": ("\x1b[31mred\x1b[0m", "red"),
    "cursor": ("a\x1b[2J\x1b[1;1Hb", "ab"),
    "title": ("a\x1b]0;owned\x07b", "ab"),
    "link": ("\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"),
    "device control": ("a\x1bPq#0\x1b\\b", "ab"),
    "lone escape": ("a\x1b", "a"),
    "escape put together by removal": ("\x1b\x1b[0m[31mx", "[31mx"),
    "eight-bit introducer": ("a\x9bb", "ab"),
    "bidi override": ("a\u202egnp.exe", "agnp.exe"),
    "bidi isolates": ("\u2066a\u2069", "a"),
    "zero width": ("a\u200bb\u200d\u2060c\ufeff", "abc"),
    "soft hyphen": ("pass\u00adword", "password"),
    "tag block": ("a\U000e0041\U000e0042", "a"),
    "surrogate pair": ("\ud83d\ude00", "😀"),
    "lone surrogate": ("a\ud800b", "a\ufffdb"),
    "swapped surrogates": ("\ude00\ud83d", "\ufffd\ufffd"),
    "nfc": ("e\u0301", "é"),
    "nfc after removal": ("e\u200b\u0301", "é"),
    "empty": ("", ""),
    "a Persian half-space": ("می\u200cخواهم", "می\u200cخواهم"),
    "a half-space among controls": ("می\u202e\u200c\u00adخواهم", "می\u200cخواهم"),
    "two half-spaces": ("می\u200c\u200cخواهم", "میخواهم"),
    "a half-space at the end of a word": ("می\u200c ", "می "),
    "a Sinhala conjunct": ("ශ්\u200dරී", "ශ්\u200dරී"),
    "a joiner behind a virama": ("ന്\u200d.", "ന്\u200d."),
    "a joiner between two scripts": ("ම\u200dم", "මم"),
    "a joiner in Latin": ("é\u200dé", "éé"),
    "a family": ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    "a flag of a rainbow": ("\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f3f3\ufe0f\u200d\U0001f308"),
    "a joiner behind an emoji": ("\U0001f468\u200dx", "\U0001f468x"),
    "a flag of England": (flag := "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", flag),
    "tags behind a flag": ("\U0001f3f4\U000e0041\U000e0042\U000e007f", "\U0001f3f4"),
    "a variant of a Chinese character": ("葛\U000e0100", "葛\U000e0100"),
    "a text in variation selectors": ("\U0001f600\ufe0f\ufe01\ufe02\U000e0110\U000e0111", "\U0001f600\ufe0f"),
    "a space without width between Thai words": ("กา\u200bดำ", "กา\u200bดำ"),
    "a Mongolian separator": ("ᠠ\u180eᠠ\u180e", "ᠠ\u180eᠠ"),
    "selectors around a space without width": ("\u3042\ufe00\u200b\ufe00", "\u3042\ufe00"),
    "composed around a joiner": ("e\u200d\u0301", "é"),
}


@each_row("text, expected", CLEANED.values())
def test_cleaned(text: str, expected: str) -> None:
    assert cleaned(text) == expected


@given(st.one_of(ANY, NASTY))
def test_cleaned_is_idempotent_nfc_and_valid_utf8(text: str) -> None:
    once = cleaned(text)
    assert cleaned(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert once.encode().decode() == once


@given(st.one_of(ANY, NASTY))
def test_cleaned_leaves_no_control_but_newline_and_tab(text: str) -> None:
    assert {char for char in cleaned(text) if unicodedata.category(char) == "Cc"} <= {"\n", "\t"}
    assert "\n".join(cleaned(text).splitlines()) == cleaned(text).removesuffix("\n")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="\u3164"), max_size=40))
def test_cleaned_changes_visible_words_no_further_than_nfc(text: str) -> None:
    assert cleaned(text) == unicodedata.normalize("NFC", text)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TRICKY = st.text(st.sampled_from('<>[]/INST_sys"\\\u2028\u2029\u0085\n\x1c|{}u0~!b◁＜｜'), max_size=40)
FIELDS = st.dictionaries(
    st.sampled_from(["from", "text", "to", "round"]), st.one_of(WORDS, TRICKY, st.integers()), min_size=1
)


@given(FIELDS)
def test_quoted_gives_back_the_exact_fields(fields: dict[str, str | int]) -> None:
    assert json.loads(quoted(**fields)) == fields


@given(FIELDS)
def test_quoted_is_one_line_for_everybody_who_splits_lines(fields: dict[str, str | int]) -> None:
    assert len(quoted(**fields).splitlines()) == 1


@given(st.lists(FIELDS, max_size=4), st.lists(FIELDS, max_size=4))
def test_what_was_said_can_be_told_from_the_lines(one: list[dict[str, str]], two: list[dict[str, str]]) -> None:
    """Different histories never look the same: no line can stand for two, and no two for one."""
    first, second = ("\n".join(quoted(**fields) for fields in history) for history in (one, two))
    assert [json.loads(line) for line in first.splitlines()] == one
    assert (first == second) == ([list(f.items()) for f in one] == [list(f.items()) for f in two])


@given(st.one_of(WORDS, TRICKY))
def test_words_in_quotes_end_where_their_string_does_and_nothing_of_them_is_a_line_of_its_own(words: str) -> None:
    line = in_quotes(words)
    assert json.JSONDecoder().raw_decode(f'{line} said "A"') == (words, len(line))
    assert len(f"{line}.".splitlines()) == 1
    assert not {"<", ">"} & set(line)


@given(FIELDS)
def test_no_angle_bracket_survives(fields: dict[str, str | int]) -> None:
    assert not {"<", ">"} & set(quoted(**fields))


ANGLED = ("<|im_start|>", "</s>", "<<SYS>>", "<start_of_turn>", "<｜User｜>", "<｜end▁of▁sentence｜>", "]<]minimax[>[")
TOKENS = (*ANGLED, *(token for form in FORMS for token in (*form.tokens, *form.plain)))


@pytest.mark.parametrize("before", ["before ", "\\", "[", "]", "|", "]~b", "[/"])
def test_no_token_of_a_chat_template_survives(before: str) -> None:
    for token in TOKENS:
        for text in (f"{before}{token} after", token * 2, f"{token}system"):
            line = quoted(text=text, **{token: [token]})
            assert token not in line
            assert json.loads(line) == {"text": text, token: [token]}
            assert token not in in_quotes(text)


def test_every_token_is_of_its_family_s_form_and_of_no_other() -> None:
    """Forms are shared between angle brackets, which are escaped wherever they stand, and by those that are `exact`."""
    shared = {form.follows for form in FORMS if form.exact}
    for form in FORMS:
        for token in (*form.tokens, *form.plain):
            fits = {other.follows for other in FORMS if re.match(f".{other.pattern}", token)}
            assert form.follows in fits
            assert len(fits - shared) <= 1 or token.startswith("<")


def test_lists_and_other_brackets_stay_readable() -> None:
    text = "a [b] (c) [1] [Bo]! [[x]] ~[y]~ |z| [see 4]! a||b"
    assert quoted(names=["A", "B"], text=text) == f'{{"names": ["A", "B"], "text": "{text}"}}'
    assert quoted(rows=[[1], [], [[None]], [True]]) == '{"rows": [[1], [], [[null]], [true]]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_quoted_refuses_what_is_no_json(value: float) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        quoted(value=value)
