"""Candidates: the spans of a reply that give its decision, and whether each stands alone.

A candidate is a JSON object, a tag (`<vote>C</vote>`), a label at the beginning of a line (`Vote: C`), a LaTeX box, or
a line that is nothing but a value (`C`). It stands alone if its lines have no other words, and the text above it ends
with a finished sentence or only announces it:

    I listened to everyone.      My vote:      I listened to everyone, and
    Vote: C                      C             Vote: C
    stands alone                 stands alone  does not

A candidate that does not stand alone may be part of a sentence, an example or a quotation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

from agentsim.engine.options import MISSING
from agentsim.engine.reading.fields import REASONS, Field
from agentsim.engine.reading.text import (
    CONTROL_MARK,
    CROSSES,
    MOST_CANDIDATES,
    REMOVED_MARK,
    bounded,
    crossed_behind,
    has_words,
    headings,
    listed,
    masked,
    of_few_lines,
    spaced,
    tag_content,
    tag_name,
    tags,
    words_in,
)
from agentsim.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Candidate:
    """A decision that a span of a reply gives: its values by path, and whether all of them are legal.

    `stage` is how it was found, in the words of `engine.decision.Reading`.
    """

    start: int
    end: int
    stage: str
    values: Mapping[str, Any] = field(default_factory=dict)
    legal: bool = True
    stands_alone: bool = True
    record: Mapping[str, Any] | None = None
    """The object in the spelling of the schema, if the candidate is an object."""
    named: str | None = None
    """The value that is not legal, for the error."""


# -- the lines around a candidate

_LEAD_IN = frozenset(
    listed("""
    a, absolutely, alright, am, and, answer, as, below, certainly, choice, decision, final, finally, following,
    function, hence, here, here's, i, i'm, in, is, it, json, my, now, object, official, okay, ok, our, response,
    result, so, sure, the, then, therefore, this, thus, to, well, with
""")
)
_PHRASES = Pattern(
    r"\b(?:in (?:the|this) (?:requested |required )?(?:json )?(?:format|form)(?= *:)|as requested|of course"
    r"|here you (?:go|are)|(?:for|in) this (?:round|turn|item|lot|time|one)|you asked for)\b"
)
_DENIALS = frozenset(
    listed("""
    false, fake, jamais, jk, joke, joking, kidding, lie, mai, mentira, nah, nao, nein, never, nicht,
    niemals, nie, no, non, none, nope, not, nunca, opposite, pas, unlike, wrong, не, нет, никогда,
    不, いいえ, 아니요
""")
)
_LITTLE = frozenset(
    listed("""
    all, any, are, at, be, but, by, can, do, does, for, going, if, just, le, me, mean, of, on, one, only, or, that,
    these, those, true, was, what, who, whom, will, would
""")
)
"""Words that may stand beside a denial in an announcement that denies: `this is not my vote`."""
_AHEAD = Pattern(
    r"\b(?:following|below|beneath|underneath|as follows|what follows|what comes next|next line"
    r"|this (?:one|player|candidate|person|name|line|object|json|reply)|th(?:is|ese) (?:is|are) (?:what|who|whom|how)"
    r"|here(?:'s| is| are)(?! why| the reason))\b"
)
"""Words that point to the lines below."""
_TAKES_AWAY = _DENIALS | frozenset(
    listed("""
    avoid, cannot, disregard, example, except, hypothetical, hypothetically, ignore, imagine, instead,
    pretend, refuse, sarcasm, suppose, untrue
""")
)
_NEGATED = Pattern(r"n't\b")
_NEAR = 240  # characters of an announcement; longer ones are sentences
_SENTENCE_ENDS = Pattern(r"[.!?](?=[\s\"')*_]|$|[\u3000-\u9fff\uac00-\ud7af])")
_LETTER = Pattern(rf"[^\W_]|[?{CROSSES}]")
_MARKS = Pattern(rf"(?:[^\w?{CROSSES}]|_)*+")
_NO_WORD = Pattern(r"[\W_]*+")
_QUOTED = Pattern(r"[ \t]*>")
_ITEM = Pattern(r"[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]")
_ROW = Pattern(r"[ \t]*\|.*\|[ \t]*$")


def is_lead_in(plain: str, names: Sequence[str] = ()) -> bool:
    """Return whether folded words only announce an answer (`here is my final vote`); `names` are the answer's."""
    if len(plain) > _NEAR:
        return False
    return all(word in _LEAD_IN or word in names for word in words_in(_PHRASES.sub(" ", plain)))


def denies(sentence: str, names: Sequence[str] = ()) -> bool:
    """Return whether a folded sentence takes back what is below it: `No!`, `The following is a lie`.

    It has a word that denies, and either points to the lines below or has no words but announcing ones and `names`.
    """
    words = words_in(_NEGATED.sub(" not", sentence))
    if not words or _TAKES_AWAY.isdisjoint(words):
        return False
    known = _DENIALS | _LITTLE | _LEAD_IN
    return bool(_AHEAD.search(sentence)) or all(word in known or word in names for word in words)


class Surroundings:
    """The lines of a reply's folded prose, which tell whether a candidate stands alone; `names` are the answer's words.

    If an answer `may_say_no`, a `No!` above it does not take it back.
    """

    def __init__(self, text: str, plain: str, names: Sequence[str], *, may_say_no: bool = False) -> None:
        self.text, self.plain, self.names, self.may_say_no = text, plain, names, may_say_no
        self._starts = [0, *(each.end() for each in re.finditer("\n", text))]
        self.lines = list(zip(self._starts, [*(start - 1 for start in self._starts[1:]), len(text)], strict=True))
        self._introduced = [*self._introductions()]
        self._struck = struck_spans(plain)
        self._words = [_words_of(plain, start, end) for start, end in self.lines]

    def line(self, offset: int) -> tuple[int, int]:
        """Return the span of the line at a position."""
        return self.lines[self._number(offset)]

    def stands_alone(self, start: int, end: int) -> bool:
        """Return whether a span is no part of a sentence, an example or a quotation, and is not struck out."""
        struck = bisect_right(self._struck, (start, len(self.plain))) - 1
        if struck >= 0 and start < self._struck[struck][1]:
            return False
        number = self._number(start)
        begins, first_word = self.lines[number][0], self._words[number][0]
        if self._words[self._number(end)][1] > end or _QUOTED.match(self.text, begins):
            return False
        if first_word >= start:
            return self._introduced[number]
        announced, finished = self._announces(self.plain[begins:start])
        return announced and (finished or self._introduced[number])

    def is_answer(self, offset: int) -> bool:
        """Return whether the line at a position is an answer although it is a list item.

        It is one below an announcement that ends with a name (`Vote:`), or if it is numbered and the whole reply.
        """
        return self._answers[self._number(offset)]

    @cached_property
    def _answers(self) -> list[bool]:
        lines = [self.plain[start:end] for start, end in self.lines]
        only = sum(map(bool, map(str.strip, lines))) == 1
        found, announced = [], False
        for line in lines:
            if _ITEM.match(line):
                found.append(announced or (only and line.lstrip()[0].isdecimal()))
                continue
            found.append(False)
            if line.strip():
                words = words_in(line[-_NEAR:])
                announced = bool(words) and words[-1] in self.names and self._announces(line)[0]
        return found

    def _number(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _introductions(self) -> Iterator[bool]:
        """Yield for each line whether the text above lets a candidate on it stand alone."""
        above, introduced, is_blank = "", True, False
        for start, end in self.lines:
            line = self.plain[start:end]
            if not line.strip():
                is_blank = True
                yield introduced
                continue
            alike = any(kind.match(above) and kind.match(line) for kind in (_ITEM, _ROW))
            introduced = introduced if alike else self._introduces(above, introduced, is_blank=is_blank)
            yield introduced
            above, is_blank = line, False

    def _introduces(self, line: str, introduced: bool, *, is_blank: bool) -> bool:
        """Return whether the lines below a line may stand alone: it ends a sentence, or announces what follows.

        A line without words passes `introduced` on.
        """
        if not has_words(line):
            return introduced
        if not self.may_say_no and self._denies(line):
            return False
        behind = _NO_WORD.match(line[::-1])
        marks = behind[0] if behind else ""
        if any(mark in marks for mark in ".!?") and not any(mark in marks for mark in ("..", "…", ":", ",")):
            return True
        if _ROW.match(line) or (_ITEM.match(line) and is_blank):
            return True
        announced, finished = self._announces(line)
        return announced and (finished or introduced)

    def _denies(self, line: str) -> bool:
        """Return whether the last sentence of a line denies, or the one before it if the last is an announcement."""
        sentences = [each for each in _SENTENCE_ENDS.split(line[-_NEAR:]) if has_words(each)][-2:]
        last = sentences[-1]
        before = sentences[0] if is_lead_in(last, self.names) else last
        return denies(last, self.names) or denies(before, self.names)

    def _announces(self, line: str) -> tuple[bool, bool]:
        """Return whether a line ends with an announcement, and whether a sentence is before it: `Sure! My vote:`."""
        *sentences, last = _SENTENCE_ENDS.split(line[-_NEAR:])
        announced = has_words(last) and is_lead_in(last, self.names)
        return announced and (bool(sentences) or len(line) <= _NEAR), has_words("".join(sentences))


def _words_of(plain: str, start: int, end: int) -> tuple[int, int]:
    """Return the position of a line's first word, and the end of its last one; a question mark or a cross is a word.

    For a line without words, return its end and its start.
    """
    first = _LETTER.search(plain, start, end)
    if first is None:
        return end, start
    marks = _MARKS.match(plain[start:end][::-1])
    return first.start(), end - (marks.end() if marks else 0)


# -- struck out text

_STRIKES = Pattern(
    rf"(?<!~)(?P<tilde>~{{1,2}})(?!~)|[<\[](?P<slash>/?)(?P<tag>s|del|strike)\b[^<>\[\]\n]{{0,80}}[>\]]"
    rf"|(?P<comment>/\*|\*/)|^[ \t]*(?P<line>//|(?:#|--|;|%|[!¬≠]{{1,3}})[ \t]*{REMOVED_MARK}|-{REMOVED_MARK})",
    re.MULTILINE,
)
"""Marks of Markdown, HTML and BBCode that strike out, of comments, and `!` or `-` before an object (`REMOVED_MARK`)."""


def struck_spans(plain: str) -> list[tuple[int, int]]:
    """Return the spans of a folded text that are struck out or comments, sorted and disjoint: `~~vote: c~~`.

    A tag that is not closed strikes out the rest of the text.
    """
    spans: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for mark in _STRIKES.finditer(plain):
        start, end = mark.span()
        name = mark["tilde"] or mark["tag"] or ""
        if mark["line"]:
            stop = plain.find("\n", end)
            spans.append((mark.start("line"), stop if stop >= 0 else len(plain)))
            continue
        if mark["tilde"]:
            before, after = plain[start - 1 : start].strip(), plain[end : end + 1].strip()
            opens, closes = bool(after or not before), bool(before or not after)
        elif mark["comment"]:
            name, opens, closes = "/*", mark["comment"] == "/*", mark["comment"] == "*/"
        else:
            opens, closes = not mark["slash"], bool(mark["slash"])
        if name == "~" and "\n" in plain[opened.get(name, start) : start]:
            del opened[name]
        if closes and name in opened:
            spans.append((opened.pop(name), end))
        elif opens:
            opened.setdefault(name, start)
    spans += [(start, len(plain)) for name, start in opened.items() if name not in {"~", "~~", "/*"}]
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


# -- words under headings and in tags


_INK = Pattern(r"\S")
_BLANK_LINE = Pattern(r"\n[ \t]*+\n")


_SURENESS = listed("confidence, confidence level, certainty")
_SURE = Pattern(
    r"[*_`(]*+(?:(?:very|fairly|quite) )?(?:high|medium|moderate|low|\d{1,3}(?:[.,]\d{1,3})?(?: ?%| ?/ ?\d{1,3})?)"
    r"[*_`).]*+"
)
"""The degree of certainty in `Confidence: high`. Other words under that heading may take the decision back."""


@dataclass(frozen=True, slots=True)
class Sections:
    """The words of fields under headings and in tags: their spans by path, and the spans of a reply that they cover."""

    words: Mapping[str, tuple[int, int]]
    covered: Sequence[tuple[int, int]]

    def blanked(self, text: str) -> str:
        """Replace the covered spans by blanks, so that positions stay the same."""
        return masked(text, self.covered, " ")


def sections_of(plain: str, fields: Sequence[Field], names: Mapping[str, Sequence[str]]) -> Sections:
    """Find the words of fields under headings and in tags, and reasons that no field asks for: `Reason: he lies.`

    Words extend to the next heading, but cover only their line, or the paragraph below their heading: the text behind
    it may say something else.
    """
    by_name = {name: path for path, every in names.items() for name in every}
    worded = {each.path for each in fields if each.kind == "words"} | {""}
    for name in (*REASONS, *_SURENESS):
        by_name.setdefault(name, "")
    found: dict[str, tuple[int, int]] = {}
    covered: list[tuple[int, int]] = []
    heads = list(headings(plain, tuple(by_name), _heads_words))
    for index, head in enumerate(heads):
        path = by_name[spaced(head["name"])]
        end = heads[index + 1].start() if index + 1 < len(heads) else len(plain)
        found.setdefault(path, (head.end(), end))
        stop = _paragraph_end(plain, head.end(), end)
        words = plain[head.end() : stop].strip()
        if head["name"] in _SURENESS and not _SURE.fullmatch(words):
            continue
        if path in worded and not words.startswith(REMOVED_MARK) and not words.endswith(":"):  # else it announces more
            covered.append((head.start(), stop))
    for tag in bounded(tags(plain, tuple(by_name)), MOST_CANDIDATES):
        path = by_name[spaced(tag_name(tag))]
        found[path] = tag_content(tag)
        if path in worded:
            covered.append(tag.span())
    found.pop("", None)
    return Sections(found, sorted(covered))


def _heads_words(lead: str) -> bool:
    return is_lead_in(lead, ("player", "public", "private"))


def _paragraph_end(plain: str, start: int, end: int) -> int:
    """Return the end of the line if it has words, else the end of the paragraph below it."""
    stop = plain.find("\n", start, end)
    if stop < 0 or has_words(plain[start:stop]):
        return stop if stop >= 0 else end
    words = _INK.search(plain, stop, end)
    blank = _BLANK_LINE.search(plain, words.start() if words else end, end)
    return blank.start() if blank else end


# -- candidates in prose

_BOX = Pattern(r"\$*\\boxed\s?\{\s*(?:\\text\w{0,5}\s?\{\s*)?([^{}\n]{0,200})\}{1,2}\$*")
_MOST_BLANKS = 5  # blanks in a bare value beyond those in its name
_LONGEST_LINE = 100
_DOUBTS = Pattern("[🤔🤷]")
_HESITATES = Pattern("(?:[?…❓❔⁇⁈⁉🤔🤷]|\\.\\.)[*_\"'` \ufe0f]*$")
_STOPS = ".,;:!?*_\"'"  # behind a value
_NOT_OTHERS = Pattern(
    r"(?P<one>[^,;(\n]{1,60}?)[ \t]*[,;(][ \t]*(?:and )?(?:not|rather than|instead of) "
    r"(?P<others>[^()\n]{1,60}?)\)?[.!*_]*+",
    re.IGNORECASE,
)
_OR = Pattern(r"(?:, ?| or | nor | and )(?:or |nor |and )?(?:not )?", re.IGNORECASE)
_ENDS_LIST = Pattern(r"\b(?:or|nor|and|not)\b[^,]*$", re.IGNORECASE)
"""The word before the last item of a list. Without one, `B, not A, C` may choose C."""
_LONGEST_NAME = 3  # words of a value that is not legal; more are prose


class Prose:
    """The prose of a reply, as it is and folded, in which the values of one field are found."""

    def __init__(self, text: str, plain: str, field: Field, around: Surroundings) -> None:
        self.text, self.plain, self.field, self.around = text, plain, field, around
        self._words_of_names = max((len(str(name).split()) for name in field.values), default=1)

    def candidates(self, names: Sequence[str]) -> Iterator[Candidate]:
        """Yield the tags, boxes, labels and bare values of the field with these names, in no particular order."""
        for tag in tags(self.plain, names):
            yield from self._valued(tag.span(), "tag", self.text[slice(*tag_content(tag))])
        for box in _BOX.finditer(self.text):
            yield from self._valued(box.span(), "label", box[1])
        for label in bounded(headings(self.plain, tuple(names), is_lead_in), MOST_CANDIDATES):
            start, end = label.start(), self.around.line(label.start())[1]
            value = self.text[min(label.end(), end) : end].strip(" \t|")
            if value and not label["more"] and REMOVED_MARK not in value:
                doubts = _DOUBTS.search(self.plain, start, label.start("name")) is not None
                yield from (
                    replace(each, stands_alone=False) if doubts else each
                    for each in self._valued((start, end), "label", value)
                )
        yield from self._bare()

    def _valued(self, span: tuple[int, int], stage: str, value: str) -> Iterator[Candidate]:
        meant, path, words = self._meant(value), self.field.path, value.split()
        if meant is not MISSING:
            alone = not _HESITATES.search(value) and self.around.stands_alone(*span)
            yield Candidate(*span, stage, {path: meant}, stands_alone=alone)
        elif (meant := self._beginning(words)) is not MISSING:  # `C, or so`
            yield Candidate(*span, stage, {path: meant}, stands_alone=False)
        elif words and len(words) <= _LONGEST_NAME:
            yield Candidate(*span, stage, legal=False, named=value.strip())

    def _beginning(self, words: Sequence[str]) -> Any:
        """Return the value that the most of the first words mean, or `MISSING`: `Ana Maria, or so` is not `Ana`."""
        for count in range(min(len(words), self._words_of_names), 0, -1):
            if (meant := self.field.read(" ".join(words[:count]).rstrip(_STOPS))) is not MISSING:
                return meant
        return MISSING

    def _meant(self, value: str) -> Any:
        """Return the value that a text means, or `MISSING`; `C, not B` means `C`."""
        meant = self.field.read(value)
        beside = _NOT_OTHERS.fullmatch(value) if meant is MISSING else None
        if beside is None:
            return meant
        meant = self.field.read(beside["one"])
        others = [self.field.read(other) for other in _OR.split(beside["others"])]
        if len(others) > 1 and not _ENDS_LIST.search(beside["others"]):
            return MISSING
        return MISSING if MISSING in others or meant in others else meant

    def _bare(self) -> Iterator[Candidate]:
        field = self.field
        names = (*field.values, *chain.from_iterable((field.synonyms or {}).values()))
        most = _MOST_BLANKS + max((str(name).count(" ") for name in names), default=0)
        of_few_lines(self.plain)
        for start, end in self.around.lines:
            said = self.text[start:end].replace(CONTROL_MARK, " ").strip()
            if field.kind == "choice" and (item := _ITEM.match(said)) and self.around.is_answer(start):
                said = said[item.end() :]
            if not said or len(said) > _LONGEST_LINE or said.count(" ") > most or said.endswith("?"):
                continue
            if field.kind == "choice" and said.rstrip(".)").isdecimal() and said not in field.values:
                continue  # the number of an item in a list
            if (meant := field.read(said)) is not MISSING:
                alone = not _HESITATES.search(said) and self.around.stands_alone(start, end)
                yield Candidate(start, end, "bare", {field.path: meant}, stands_alone=alone)
            elif (crossed := crossed_behind(said)) and (meant := field.read(crossed)) is not MISSING:
                yield Candidate(start, end, "bare", {field.path: meant}, stands_alone=False)
