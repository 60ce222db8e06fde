"""Claims: every place in the prose of a reply that names a decision: tags, labels, boxes, sentences, bare lines.

Objects are found by `scanning`; which claim decides is `reader`'s business. Texts are folded, and as long as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any

from agentsim.engine.reading.doubts import Doubt, clause_before, doubted
from agentsim.engine.reading.fields import UNSAID, Field, leading_amount
from agentsim.engine.reading.sentences import DONE, SENTENCES, VERB, said
from agentsim.engine.reading.text import HOLE, MOST_CLAIMS, bounded, folded, of_few_lines
from agentsim.engine.reading.thinking import alternatives, heads, is_lead_in
from agentsim.engine.reading.vocabulary import LABELS, NO, PLAIN_YES_OR_NO, VALUES, YES


@dataclass(frozen=True, slots=True)
class Claim:
    """A decision as some place of the reply says it: values by path; `known` where they are among the legal ones."""

    start: int
    end: int
    how: str
    values: Mapping[str, Any] = field(default_factory=dict)
    known: bool = True
    doubt: Doubt = ""
    record: Mapping[str, Any] | None = None
    """The object that it is, if it is one."""
    named: str | None = None
    """What was named that is no legal value."""
    first: bool = False
    """Whether its value begins it, so that words before it may speak of something else: `B it is`."""


_FIXED = frozenset(("yes", "no", "pass", "verb"))  # sentences that spell no value
_SEPARATORS = re.compile(r"[\s_-]+")
_MOST_BLANKS = 5  # of a value in words of the vocabulary, or around a name
_MOST_WORDS = 1_000  # of a reason on one line
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[\w-]+")
# what stands before the first stop of a line; scripts without blanks have none behind it either
_THINKS_ON = re.compile(r"^[^.!?\n]{0,40}\b(?:let me|let's (?:see|think|look|analy[sz]e)|i need to|but|hmm|however)\b")
_SPEAKER = re.compile(r"(?:^|\n)\W*+([a-z][\w-]{0,30}(?: [\w-]{1,20})?)\s?:\s*[\"']?$")
_HEAD = re.compile(
    r"[\s*_\"']{0,8}+(?P<value>[^.!,\n]{1,40}?)[*_\"']{0,4}(?:(?P<end>[.,!])(?=\s|$|[\u3000-\u9fff\uac00-\ud7af])"
    r"|(?P<because>\s)(?=(?:because|since)\b)|\s(?P<dash>-{1,2})\s)"
)
_BOX = re.compile(r"\\boxed\s?\{\s*(?:\\text\w{0,5}\s?\{\s*)?([^{}\n]{0,200})")
_NEXT_LINE = re.compile(r"[^\S\n]*+\n[\s*_`\"'>-]*+([^\n]{1,200})")
_CLOSES = re.compile(r"[<\[]\s?/")
_OPENS = " \t*_`\"'([{<~"
# where a value ends: the end of a clause, or words that can be no part of a name
_VALUE_ENDS = re.compile(
    r"[.,;!:](?=[\s\"'*_`)\]}>\u3000-\u9fff\uac00-\ud7af]|$)|\(|\s-{1,2}\s|\s\||\n|<|\b(?:tonight|today|now|again|because|since|as|so|who|whom|he|she|they|is|has"
    r"|was|for|to|and i|this"
    r"|als|weil|da|denn|um|parce|car|pour|porque|para|ya que|perche|per|poniewaz|bo|gdyz|aby|потому|так как|因为"
    r"|因為|out)\b"
)
_CHOSEN = re.compile(
    r"[\s*_\"')\]]*(?:$|[.!,\n:;(-]|\?|(?:because|since|as (?:he|she|they)|for (?:elimination|my|this"
    r"|the win)|to (?:win|be|leave|go|eliminate)"
    r"|this (?:round|time)|he|she|they|who|weil|als gewinner|car|porque|bo|因为)\b)"
)
_STAYS = re.compile(
    r"^\W*+(?:to|should|will|must)?\W*+(?:stay|remain|survive|win|be (?:saved|safe|spared|kept)|keep)\b"
    r"|^\W*+(?:for (?:the )?win(?:ner)?|is safe)\b"
)
_LEAVES = re.compile(r"^\W*+(?:to|should|must)?\W*+(?:leave|go|be (?:eliminated|removed|voted)|exit|lose|out)\b")


def tags(plain: str, names: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """The whole tags of these names in a folded text; `held` is what stands in one."""
    return tag_pattern(names).finditer(plain) if _CLOSES.search(plain) else iter(())


def held(tag: re.Match[str]) -> tuple[int, int]:
    """Where what a tag holds stands."""
    return next(tag.span(name) for name in "xyzw" if tag[name] is not None)


@cache
def tag_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """`<name>value</name>`, `[NAME]value[/NAME]`, `<parameter name="name">value</parameter>` and their like."""
    label = alternatives(names)
    return re.compile(
        rf"<\s?(?P<a>{label})\s?>(?P<x>[^<>]{{0,8000}})<\s?/\s?(?:{label})?\s?>"
        rf"|\[(?P<b>{label})\](?P<y>[^\[\]<>]{{0,8000}})\[/(?:{label})\]"
        rf"|<arg_key>\s?(?P<d>{label})\s?</arg_key>\s{{0,4}}<arg_value>(?P<w>[^<>]{{0,8000}})</arg_value>"
        rf"|<(?:parameter|arg|param"
        rf"|argument)(?:\s+name)?\s?=\s?[\"']?(?P<c>{label})[\"']?\s?>(?P<z>[^<>]{{0,8000}})</\w{{1,12}}>"
    )


@cache
def _label_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?=\w)(?<!-)(?<!/)(?<!/ )(?P<label>{alternatives(names)})(?![\w-])"
        r"[*_`\"')\]]{0,4}(?:\s?\([^()\n]{0,40}\))?[ \t*_`]{0,4}"
        r"(?::|=>?|->|\s>|\s-{1,2}\s|\|)[ \t]{0,4}[*_`\"']{0,3}(?=(?P<rest>[^\n]{0,300}))"
    )


@dataclass(frozen=True, slots=True)
class Prose:
    """The prose of a reply, as it is and folded, and the one field that decides.

    `against` says that who is chosen is chosen to lose.
    """

    text: str
    plain: str
    field: Field
    against: bool

    def claims(self, labels: Sequence[str]) -> Iterator[Claim]:
        """What the prose says of the field, which may be called by these labels, in no order."""
        field = self.field
        names = (*labels, *(LABELS["against" if self.against else "for"] if field.name == "vote" else ()))
        for match in tags(self.plain, names):
            yield self._valued(match.span(), "tag", self.text[slice(*held(match))])
        for match in _BOX.finditer(self.text):
            yield self._valued(match.span(), "label", match[1])
        for match in bounded(_label_pattern(names).finditer(self.plain), MOST_CLAIMS):
            yield from self._labelled(match)
        sentences = [*self._sentences()]
        for place, match in bounded(said(self.plain, [sentence for _, _, sentence in sentences]), MOST_CLAIMS):
            concept, meant, _ = sentences[place]
            if concept not in _FIXED:
                yield from self._said(match, concept)
            elif meant is not UNSAID:
                yield self._claim(match.span(), "sentence", meant)
        yield from self._bare()

    def _claim(
        self, span: tuple[int, int], how: str, meant: Any, *, doubtful: bool = False, first: bool = False
    ) -> Claim:
        doubt: Doubt = doubted(self.plain, *span) or ("after" if doubtful else "")
        return Claim(*span, how, {self.field.path: meant}, doubt=doubt, first=first)

    def _valued(self, span: tuple[int, int], how: str, value: str, meant: Any = UNSAID) -> Claim:
        """A claim that spells its value, which may be none of the legal ones."""
        meant = self.field.read(value) if meant is UNSAID else meant
        claim = self._claim(span, how, meant, doubtful=value.rstrip(" *_\"'").endswith("?"))
        return claim if meant is not UNSAID else replace(claim, values={}, known=False, named=value.strip())

    def _labelled(self, match: re.Match[str]) -> Iterator[Claim]:
        start, position = match.start(), match.start("rest")
        rest = self.text[position : match.end("rest")]
        if not rest.strip(" \t*_`\"'"):  # the value stands on the next line
            following = _NEXT_LINE.match(self.text, match.end("rest"))
            if following is None:
                return
            position, rest = following.start(1), following[1]
        value, end = self._value(position, rest)
        before = clause_before(self.plain, start).rpartition("\n")[2]
        foreign = not is_lead_in(re.split(r"[{}]|\s-{1,2}\s", before)[-1])
        meant = self.field.read(value)
        if meant is UNSAID:
            meant = self.field.read(value.rstrip("?"))  # a question is a doubt, which the clause says
        if meant is UNSAID:
            names_none = self.field.kind == "number" and not any(map(str.isdigit, value))  # `price: as high as I can`
            if foreign or names_none or len(value.split()) not in {1, 2, 3} or HOLE in value:
                return
        claim = self._valued((start, end), "label", value, meant)
        yield replace(claim, doubt="before") if foreign else claim

    def _value(self, position: int, rest: str) -> tuple[str, int]:
        """The value with which a text goes on, and where that ends."""
        if self.field.kind == "number" and re.match(r"[^\w\n]*\d", rest) is not None:
            number = leading_amount(rest)
            return (number, position + rest.index(number) + len(number)) if number else (rest, position + len(rest))
        skipped = len(rest) - len(rest.lstrip(_OPENS))
        ends = _VALUE_ENDS.search(self.plain, position + skipped, position + len(rest))
        end = ends.start() if ends else position + len(rest)
        return rest[skipped : end - position], end

    def _sentences(self) -> Iterator[tuple[str, Any, str]]:
        """The sentences by which the field is decided, with their concept and what they mean if they spell no value."""
        field = self.field
        consents = field.kind == "yes_no" or "accept" in field.values
        concepts = (
            (field.name, field.name in SENTENCES),
            ("against", self.against),
            ("choice", field.kind == "choice"),
            ("before", field.kind == "choice"),
            ("pass", field.kind == "number" and field.nothing is not UNSAID),
            ("yes", consents),
            ("no", consents),
        )
        for concept in (concept for concept, decides in concepts if decides):
            meant: Any = {"yes": True, "no": False, "pass": field.nothing}.get(concept, UNSAID)
            if field.kind == "choice":
                read = map(field.read, sorted({"yes": YES, "no": NO}.get(concept, ())))
                meant = next((value for value in read if value is not UNSAID), UNSAID)
            yield from ((concept, meant, sentence) for sentence in SENTENCES[concept])
        # choices that are verbs: `I'll buy it`, `I roll for doubles`; "I accept" has sentences of its own
        for value in field.values if field.name == "action" else ():
            for name in () if value in VALUES else (str(value), *(field.synonyms or {}).get(str(value), ())):
                words = r"[\s_-]+(?:(?:the|a|my|for|of) )?".join(map(re.escape, re.split("[_ ]", folded(name))))
                yield "verb", value, VERB.replace("§", rf"{words}\b{DONE}")

    def _said(self, match: re.Match[str], concept: str) -> Iterator[Claim]:
        """What a sentence claims that spells a value."""
        position, stop = match.span("value")
        start, value = match.start(), self.text[position:stop]
        if concept == "before":
            end, meant = match.end(), self.field.read(value)
            if meant is UNSAID:  # "so C gets my vote"
                value = value.rpartition(" ")[2]
                start, meant = stop - len(value), self.field.read(value)
        else:
            value, end = self._value(position, value)
            meant = self.field.read(value)
        if meant is UNSAID:
            return
        after = self.plain[end : end + 60]
        if concept == "choice" and _CHOSEN.match(after) is None:
            return  # chosen for something else, such as a friend
        if (speaker := _SPEAKER.search(clause_before(self.plain, start))) and not is_lead_in(speaker[1]):
            return  # "Beta: I bid 150"
        contrary = self.field.name == "vote" and bool((_STAYS if self.against else _LEAVES).search(after))
        doubtful = contrary or value.rstrip().endswith("?")
        yield self._claim((start, end), "sentence", meant, doubtful=doubtful, first=concept == "before")

    def _bare(self) -> Iterator[Claim]:
        """Lines that are a value and nothing else, and a first sentence that is."""
        first, field = True, self.field
        names = (*field.values, *chain.from_iterable((field.synonyms or {}).values()))
        most = _MOST_BLANKS + max((str(name).count(" ") for name in names), default=0)
        for line in _LINE.finditer(of_few_lines(self.plain)):
            start, end = line.span()
            said = self.text[start:end].strip()
            if not said:
                continue
            listed = field.kind == "choice" and said.rstrip(".)").isdecimal() and said not in field.values  # of a list
            short = len(said) <= 100 and said.count(" ") <= most
            meant = field.read(said) if short and not said.endswith("?") and not listed else UNSAID
            head = _HEAD.match(self.plain, start, end) if meant is UNSAID and first else None
            if head and self._stands_alone(head, self.plain[head.end() : end]):
                meant, end = field.read(self.text[slice(*head.span("value"))]), head.end("value")
            if meant is not UNSAID:
                yield self._claim((start, end), "bare", meant)
            first = False

    def _stands_alone(self, head: re.Match[str], rest: str) -> bool:
        """Whether the beginning of a line is a sentence, or is told apart from a reason that names no other value."""
        value = head["value"].strip()
        if self.field.kind == "yes_no" or "accept" in self.field.values:  # "Okay, let me think" accepts nothing
            return value in PLAIN_YES_OR_NO and _THINKS_ON.search(rest) is None
        if head["end"] in {",", "!"} or (value.isdecimal() and len(value) < 3):  # to C, or the number of a list
            return False
        if head["dash"] is None:
            return True
        words = set(_WORD.findall(rest)) - {"a", "i"}
        return len(words) <= _MOST_WORDS and all(self.field.read(word) is UNSAID for word in words)


def labelled_words(plain: str, labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, int]]:
    """Where the text of each field stands that a line or a tag announces by one of its labels, by path."""
    by_label = {name: path for path, names in labels.items() for name in names}
    every = tuple(by_label)
    found: dict[str, tuple[int, int]] = {}
    lines = list(heads(plain, every, sure=True))
    for place, head in enumerate(lines):
        end = lines[place + 1].start() if place + 1 < len(lines) else len(plain)
        found.setdefault(by_label[_SEPARATORS.sub(" ", head["label"])], (head.end(), end))
    for match in bounded(tags(plain, every), MOST_CLAIMS):
        label = match["a"] or match["b"] or match["c"] or match["d"]
        found[by_label[_SEPARATORS.sub(" ", label)]] = held(match)
    return found
