"""Letters of the world's scripts: which invisible characters are a part of words, and which names could be confused.

Unicode has characters that print as nothing and yet change words: U+200C parts the halves of a Persian verb, U+200D
joins a Sinhala conjunct or the members of a family of emoji. The same characters can hide a text in another one, so
they stay only where they have an effect.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NON_JOINER, _SPACE, _VOWEL_SEPARATOR = "\u200c", "\u200b", "\u180e"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
JOINERS = re.compile(f"[{_VOWEL_SEPARATOR}{_SPACE}-\u200d]+|[{_SELECTORS}]+|[\U000e0020-\U000e007f]+")
"""Runs of characters that print as nothing and may be a part of what stands around them: see `joining`."""

# Scripts whose letters change shape by their neighbors, as the names begin that Unicode gives to the letters.
# fmt: off
_JOINED = frozenset((
    "ADLAM", "ARABIC", "BALINESE", "BATAK", "BENGALI", "BRAHMI", "BUGINESE", "CHAKMA", "CHAM", "DEVANAGARI",
    "GRANTHA", "GUJARATI", "GURMUKHI", "HANIFI", "JAVANESE", "KAITHI", "KANNADA", "KHMER", "KHOJKI", "LAO",
    "LEPCHA", "LIMBU", "MALAYALAM", "MANDAIC", "MANICHAEAN", "MEETEI", "MODI", "MONGOLIAN", "MYANMAR", "NEWA",
    "NKO", "ORIYA", "PHAGS-PA", "REJANG", "SAURASHTRA", "SHARADA", "SIDDHAM", "SINHALA", "SOGDIAN", "SUNDANESE",
    "SYLOTI", "SYRIAC", "TAI", "TAKRI", "TAMIL", "TELUGU", "THAI", "TIBETAN", "TIRHUTA",
))
# fmt: on
_UNSPACED = frozenset({"BALINESE", "JAVANESE", "KHMER", "LAO", "MYANMAR", "TAI", "THAI"})
"""Scripts that write words without spaces: U+200B says where one ends."""
_VIRAMA = 9  # the combining class of the signs that take a letter's vowel away
_EMOJI = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_BEFORE_JOINER = re.compile(rf"{_EMOJI.pattern}[{_SELECTORS}]*\Z")
_LONGEST = 8  # characters of an emoji with its selectors, more of which have no meaning
_FLAG = "\U0001f3f4"
_FLAGS = frozenset(
    "".join(chr(0xE0000 + ord(letter)) for letter in f"{land}\x7f") for land in ("gbeng", "gbsct", "gbwls")
)
"""The flags of England, Scotland and Wales: a black flag and these tags."""
_NEVER_IN_NAMES = re.compile("[\u180e\u200b-\u200d\U000e0000-\U000e0fff]")


def joining(run: re.Match[str]) -> str:
    """Return what stays of a match of `JOINERS`: what changes how the characters around it are read, or "".

    A single joiner stays between letters or marks of one script whose letters join, behind a sign that takes away a
    letter's vowel, and between emoji. U+200B stays between letters of a script that writes no spaces, U+180E between
    Mongolian ones. The first of several variation selectors stays (of the supplement, behind a Chinese character), and
    the tags of the three flags that have some. Source: Unicode Standard 15, chapters 9, 12 and 23, and
    RFC 5892, appendix A.
    """
    text, found, start = run.string, run[0], run.start()
    before, after = text[start - 1 : start], text[run.end() : run.end() + 1]
    if found[0] > "\U000e0000" and found[0] <= "\U000e007f":
        return found if before == _FLAG and found in _FLAGS else ""
    if _SPACE <= found[0] <= "\u200d" or found[0] == _VOWEL_SEPARATOR:
        return found if len(found) == 1 and _joins(text, start, found, before, after) else ""
    if found[0] > "\uffff":
        return found[0] if _first_word(before) == "CJK" else ""
    return found[0]


def without_joiners(text: str) -> str:
    """Remove everything that joins words and prints as nothing, for names, in which it could only imitate another."""
    return _NEVER_IN_NAMES.sub("", text)


def _joins(text: str, start: int, joiner: str, before: str, after: str) -> bool:
    script, following = _script(before), _script(after)
    if joiner == _SPACE:
        return script == following and script in _UNSPACED
    if joiner == _VOWEL_SEPARATOR:
        return script == following == "MONGOLIAN"
    if script in _JOINED and (script == following or unicodedata.combining(before) == _VIRAMA):
        return True
    is_emoji = joiner != _NON_JOINER and after != "" and _EMOJI.match(after) is not None
    return is_emoji and _BEFORE_JOINER.search(text[max(0, start - _LONGEST) : start]) is not None


def _script(char: str) -> str:
    """Return the script of a letter or a mark, as Unicode's names begin, or "" for any other character."""
    return _first_word(char) if char and unicodedata.category(char)[0] in "LM" else ""


@lru_cache(4096)
def _first_word(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char else ""
