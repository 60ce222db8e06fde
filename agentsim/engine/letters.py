"""Letters: which invisible characters are part of words in the world's scripts, and which names players may have.

Unicode has characters that print as nothing and yet change words: U+200C separates the halves of a Persian verb, U+200D
joins a Sinhala conjunct or the members of a family of emoji. The same characters can hide a text in another one, so
they are kept only if they have an effect.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from agentsim.patterns import Pattern

_NON_JOINER, _SPACE, _VOWEL_SEPARATOR = "\u200c", "\u200b", "\u180e"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
JOINERS = Pattern(f"[{_VOWEL_SEPARATOR}{_SPACE}-\u200d]+|[{_SELECTORS}]+|[\U000e0020-\U000e007f]+")
"""Runs of characters that print as nothing and may be part of the text around them: see `joining`."""

# Scripts whose letters change shape next to others, by the first word of their letters' Unicode names.
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
"""Scripts that write words without spaces: U+200B marks the end of a word."""
_VIRAMA = 9  # the combining class of the signs that remove a letter's vowel
_EMOJI = Pattern(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_BEFORE_JOINER = Pattern(rf"{_EMOJI.pattern}[{_SELECTORS}]*\Z")
_LONGEST = 8  # characters of an emoji with its selectors; more have no meaning
_FLAG = "\U0001f3f4"
_FLAGS = frozenset(
    "".join(chr(0xE0000 + ord(letter)) for letter in f"{land}\x7f") for land in ("gbeng", "gbsct", "gbwls")
)
"""The flags of England, Scotland and Wales: a black flag and these tags."""
_NEVER_IN_NAMES = Pattern("[\u180e\u200b-\u200d\U000e0000-\U000e0fff]")


def joining(run: re.Match[str]) -> str:
    """Return the part of a match of `JOINERS` that changes how the characters around it are read, or "".

    A single joiner stays between letters or marks of one script whose letters join, after a sign that removes a
    letter's vowel, and between emoji. U+200B stays between letters of a script without spaces, U+180E between Mongolian
    ones. The first of several variation selectors stays (of the supplement, after a Chinese character), and so do the
    tags of the three flags that have some. Source: Unicode Standard 15, chapters 9, 12 and 23, and RFC 5892, appendix
    A.
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
    """Remove all joiners and other invisible characters: in a name, they could only imitate another one."""
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
    """Return the script of a letter or a mark, as the first word of its Unicode name, or "" for other characters."""
    return _first_word(char) if char and unicodedata.category(char)[0] in "LM" else ""


@lru_cache(4096)
def _first_word(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char else ""


_IDEOGRAPHS = frozenset({"CJK", "HIRAGANA"})
_KATAKANA = frozenset({"KATAKANA", "KATAKANA-HIRAGANA"})
_WITHIN_WORDS = frozenset("_-\u200c\u200d")


UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u9fff\ua980-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Letters of scripts that write words without spaces, as part of a regex character class."""
_WITHIN_TEXT = Pattern(f"[{UNSPACED}\u1100-\u11ff\uac00-\ud7ff]")


def has_words_within(name: str) -> bool:
    """Return whether a name has a letter next to which a word may end without a space: see `UNSPACED`, or Korean."""
    return _WITHIN_TEXT.search(name) is not None


def stands_apart(name: str, text: str, start: int) -> bool:
    """Return whether a name at this position of a text is not part of a longer word.

    Between Chinese characters, and in scripts without spaces, a word may end anywhere. Korean names are followed by
    particles. A mark belongs to the letter before it.
    """
    end = start + len(name)
    before, after = text[start - 1 : start], text[end : end + 1]
    if _goes_on(before, name[0]):
        return False
    return not _goes_on(name[-1], after) or (_script(name[-1]) == _script(after) == "HANGUL")


def _goes_on(one: str, other: str) -> bool:
    """Return whether a word continues from one character to the next; "" is the end of a text."""
    if not (one and other and _is_of_word(one) and _is_of_word(other)):
        return False
    if unicodedata.category(other)[0] == "M":
        return True
    scripts = {_script(one), _script(other)}
    if scripts & (_UNSPACED | _IDEOGRAPHS):
        return False
    return not scripts & _KATAKANA or scripts <= _KATAKANA


def _is_of_word(char: str) -> bool:
    return char.isalnum() or char in _WITHIN_WORDS or unicodedata.category(char)[0] == "M"


# -- names

LONGEST_NAME = 32
"""The maximum number of characters of a player's name."""
NAME_PATTERN = r"^[^\x00-/:-@\[-`{-\x9f][^\x00-\x1f!-,./:-@\[-^`{-\x9f]{0,31}$"
"""The part of the rule for names that a JSON Schema can state; `written_name` checks all of it."""
NAME_RULE = (
    f"1 to {LONGEST_NAME} letters and digits of any script, single spaces, _ and -, the first a letter or a digit"
)
_MOST_MARKS = 4  # on one letter: more would cover the lines above and below
# invisible letters and marks, and letters that look like quotation marks or accents
_NO_LETTERS = Pattern(
    "[\u02b0-\u02ff\u034f\u0559\u055a\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def written_name(text: str) -> str:
    """Return a player's name in NFC. Raises `ValueError` if it could pass for something else.

    Letters, marks and decimal digits of every script are legal, and so are `_`, `-` and single spaces within the name.
    Invisible characters, those that reorder the text around them, and those that open a quotation, a tag or a key are
    not.
    """
    name, marks = unicodedata.normalize("NFC", text), 0
    for index, char in enumerate(name):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind in {"Mn", "Mc"} else 0
        legal = kind[0] == "L" or kind in {"Nd", "Mn", "Mc"} or char in "_- "
        if not legal or _NO_LETTERS.match(char) or marks > _MOST_MARKS:
            raise ValueError(f"must be {NAME_RULE}; {_shown(char)} cannot stand there")
        if not index and char != " " and not (kind[0] == "L" or kind == "Nd"):
            raise ValueError(f"must be {NAME_RULE}")
    if name != name.strip() or "  " in name:  # an error line would not show the spaces
        raise ValueError(f"must be {NAME_RULE}; there are spaces at its ends or two together")
    if not name or len(name) > LONGEST_NAME:
        raise ValueError(f"must be {NAME_RULE}")
    return name


def composed(name: str) -> str:
    """Return a name in NFC, the form in which names are compared."""
    return unicodedata.normalize("NFC", name)


def made_name(text: str) -> str:
    """Return the legal name that is nearest to a text, such as a file's name, or "" if there is none."""
    name = unicodedata.normalize("NFC", without_joiners(text))
    kept = "".join(char if _is_legal(char) else "_" for char in name)
    kept = re.sub(r"_*  *_*", lambda gap: "_" if "_" in gap[0] else " ", kept)
    while kept and not _is_first(kept[0]):
        kept = kept[1:]
    return kept[:LONGEST_NAME].rstrip("_- ")


def _is_legal(char: str) -> bool:
    return (
        _is_first(char) or char in "_- " or (unicodedata.category(char) in {"Mn", "Mc"} and not _NO_LETTERS.match(char))
    )


def _is_first(char: str) -> bool:
    kind = unicodedata.category(char)
    return (kind[0] == "L" or kind == "Nd") and not _NO_LETTERS.match(char)


def _shown(char: str) -> str:
    code = f"U+{ord(char):04X}"
    return f"{char} ({code})" if char.isprintable() and unicodedata.category(char)[0] in "PS" else code


# Lowercase letters by the Latin ones that they look like, in either case: Lisu, Cyrillic, Greek, Armenian; then signs
# of one Japanese or Chinese script by those of another, and Arabic letters by the Persian ones.
LOOK_ALIKES = str.maketrans(
    "\ua4d0\ua4d1\ua4d3\ua4d4\ua4d6\ua4d7\ua4d9\ua4da\ua4dc\ua4dd\ua4df\ua4e0\ua4e1\ua4e2\ua4e3\ua4e6\ua4e7\ua4ea"
    "\ua4eb\ua4ec\ua4ee\ua4f0\ua4f2\ua4f3\ua4f4"
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d"
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7"
    "\u0570\u0578\u057d\u0585\u0566\u0581\u056f"
    "\u30a8\u30ed\u30ab\u30cb\u30cf\u30bf\u30c8\u30d8\u30d9\u30da\u30fc"
    "\u064a\u0649\u0643",
    "bpdtgkjczfmnlsrvhwxyaeiouabekmhopctyxsijdqwabehikmvoptyx"
    "hnuoqgk"
    "\u5de5\u53e3\u529b\u4e8c\u516b\u5915\u535c\u3078\u3079\u307a\u4e00"
    "\u06cc\u06cc\u06a9",
)
_STRETCH = "\u0640"  # lengthens an Arabic word, and is not a letter


def look_alike(name: str) -> str:
    """Return the skeleton that confusable names share: without case, compatibility forms and look-alike letters.

    Accents count: `José` and `Jose` are two names. Source: the skeletons of Unicode Technical Standard 39, with the
    letters of the scripts that models write.
    """
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return unicodedata.normalize("NFC", spread.replace(_STRETCH, "").translate(LOOK_ALIKES)).casefold()


# Letters that Unicode does not decompose into an ASCII letter and a mark.
_LATIN = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe"}
    | {"Œ": "Oe", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "ı": "i"}
)


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return an ASCII name for each name, for files and URLs only; all differ, also without regard to case.

    A name of A-Z a-z 0-9 _ - stays, the first of those that differ by case alone. Letters of others lose their accents
    and the rest becomes `_`; a name without ASCII letters becomes `player`. `_2`, `_3`, ... distinguish equal ones, in
    the order of the names.
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = unicodedata.normalize("NFKD", name.translate(_LATIN)).encode("ascii", "ignore").decode()
        found[name] = re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_-") or "player"
    kept = {name.casefold(): name for name, slug in reversed(found.items()) if name == slug}
    taken = set(kept)
    for name, base in found.items():
        number = 1
        while found[name].casefold() in taken and kept.get(found[name].casefold()) != name:
            number += 1
            found[name] = f"{base}_{number}"
        taken.add(found[name].casefold())
    return found
