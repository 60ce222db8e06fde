"""Reply: one reply to one question, taken apart: what was said and thought, and what its objects and prose claim.

Which claim decides is `reader`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from agentsim.engine.decision import Question
from agentsim.engine.reading.claims import Claim, Prose, labelled_words, tags
from agentsim.engine.reading.doubts import Doubt, doubted, doubted_by_comment
from agentsim.engine.reading.fields import UNSAID, Field, chosen, fields_of, is_no_number, labels_of, named
from agentsim.engine.reading.prose import said_aloud, without_wrappers
from agentsim.engine.reading.scanning import Object, scan
from agentsim.engine.reading.shaping import Shape, unwrapped
from agentsim.engine.reading.text import MOST_CLAIMS, bounded, folded, masked, of_few_tags, without
from agentsim.engine.reading.thinking import split, thought_spans
from agentsim.engine.reading.vocabulary import SPEECH

POST = (*SPEECH, "post", "forum post", "my post")
# what stands for a value where a form is shown
_FORM = re.compile(r"\s*<[^<>]{1,80}>\s*")  # of a question in words alone: `<your pitch>`
_PLACEHOLDER = re.compile(r"\s*(?:<[^<>]{1,80}>|\.{3}|…|your .{1,40} here)\s*", re.IGNORECASE)


def _named(unknown: Sequence[Any]) -> str | None:
    """The name among values that are none of the legal ones; None where they are nothing that is named."""
    return str(unknown[0]) if unknown and type(unknown[0]) in {str, int} else None


class Reply:
    """A reply, looked at from all sides; nothing here changes.

    `cut`: it reached its longest allowed length; `repair`: objects with broken punctuation are read.
    """

    def __init__(self, request: Question, text: str, *, cut: bool = False, repair: bool = True) -> None:
        self.request, self.text, self.cut, self.repair = request, text, cut, repair

    @cached_property
    def _split(self) -> tuple[str, tuple[str, ...]]:
        """What was said and what was thought, by its tags and by its headings."""
        worded = [self.labels[field.path] for field in self.fields if field.kind == "words"]
        own = [name for labels in worded for name in (labels if self.decides_more else labels[:1])]
        said, thoughts = split(self.text.replace("\ufeff", ""), own)
        if not said.lstrip().startswith("{"):
            every = [name for field in self.fields for name in self.labels[field.path]]
            every += self.speech if self.speaks else ()
            spans = thought_spans(folded(said), every)
            thoughts += tuple(said[start:end] for start, end in spans)
            said = without(said, spans, "\n")
        return said, thoughts

    @property
    def body(self) -> str:
        """The reply without what was thought."""
        return self._split[0]

    @property
    def thoughts(self) -> tuple[str, ...]:
        """What was thought, but for what stands in strings of objects."""
        return self._split[1]

    # -- the question

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema of an answer."""
        return self.request.shape

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields of an answer."""
        return tuple(fields_of(self.schema, self.request.nothing, self.request.synonyms))

    @cached_property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """What each field may be called, by path."""
        return {field.path: labels_of(field, self.fields, self.request.kind) for field in self.fields}

    @cached_property
    def weighty(self) -> tuple[Field, ...]:
        """The outermost fields of which an answer has at least one: what decides, else records, else words."""
        outermost = [field for field in self.fields if "." not in field.path]
        weights = (
            [field.kind not in {"words", "record"} for field in outermost],
            [field.kind != "words" for field in outermost],
        )
        chosen = next((mask for mask in weights if any(mask)), [True] * len(outermost))
        return tuple(field for field, weighs in zip(outermost, chosen, strict=True) if weighs)

    @cached_property
    def decides_more(self) -> bool:
        """Whether anything but words is asked for."""
        return any(field.kind not in {"words", "record"} for field in self.fields)

    @cached_property
    def decider(self) -> Field | None:
        """The one field that decides, where words are all there is besides it."""
        first = [field for field in self.fields if "." not in field.path and field.kind != "words"]
        if [field.kind for field in first] == ["record"]:  # the whole of a decision in one record
            first = [field for field in self.fields if "." in field.path and field.kind != "words"]
        deciding = [field for field in first if field.decides]
        plain = all(field.decides or field.kind == "record" for field in first)
        return deciding[0] if plain and len(deciding) == 1 else None

    @cached_property
    def speaks(self) -> bool:
        """Whether plain prose can be the answer."""
        return self.request.in_words("words") is not None

    @cached_property
    def speech(self) -> tuple[str, ...]:
        """What the words of an answer in words may be called."""
        return next((self.labels[field.path] for field in self.fields if field.kind == "words"), POST)

    @cached_property
    def shape(self) -> Shape:
        """What objects are shaped by."""
        outermost = [field.path for field in self.weighty]
        lone = outermost[0] if len(outermost) == 1 else ""
        return Shape(self.request.nothing, self.request.synonyms, self.labels, lone)

    # -- the text

    @cached_property
    def objects(self) -> list[Object]:
        """The objects of the reply; a list of records, one for each field, is one object."""
        found = scan(self.body)
        if len(self.fields) > 1 and not self.decides_more and len(found) == len(self.fields):
            return self._as_one(found) or found
        return found

    def _as_one(self, found: Sequence[Object]) -> list[Object]:
        """`[{"player": "B", "quip": "..."}, ...]` as one object."""
        merged: dict[str, Any] = {}
        names = [field.name for field in self.fields]
        for each in found:
            texts = [part for part in (each.value or {}).values() if isinstance(part, str)]
            which = [text for text in texts if named(text, names)]
            if len(texts) != 2 or len(which) != 1:
                return []
            merged[which[0]] = next(text for text in texts if text != which[0])
        return [replace(found[0], end=found[-1].end, value=merged)]

    @cached_property
    def aloud(self) -> tuple[str, list[str]]:
        """The words of a reply in prose, and what of it was thought; `UnreadableReply` where they cannot be told."""
        return said_aloud(of_few_tags(self.body), self.objects, self.speech, any_text=self.request.any_text)

    @cached_property
    def prose(self) -> str:
        """The reply with holes for its objects, every place where it was."""
        return masked(without_wrappers(of_few_tags(self.body)), [(each.start, each.end) for each in self.objects])

    @cached_property
    def wordless(self) -> bool:
        """Whether there is nothing besides objects."""
        return re.search(r"\w", self.prose) is None

    @cached_property
    def plain(self) -> str:
        """The prose, folded."""
        return folded(self.prose)

    @cached_property
    def labelled(self) -> Mapping[str, tuple[int, int]]:
        """Where the text of each field stands in the prose that has a heading or a tag of its own, by path."""
        return labelled_words(self.plain, self.labels)

    # -- claims

    def claims(self) -> list[Claim]:
        """Every place of the reply that claims to be the decision, from left to right."""
        every = bounded(chain(self._of_objects(), self._of_prose()), MOST_CLAIMS)
        found = sorted(every, key=lambda claim: (claim.start, claim.end))
        if self.cut:  # what ends where the reply was cut off may have gone on
            ended = (claim for claim in found if claim.record is not None or claim.how == "tag")
            end = len(self.body.rstrip())
            return [*ended, *(claim for claim in found if claim.record is None and claim.end < end)]
        return found

    @cached_property
    def _tagged_words(self) -> list[tuple[int, int]]:
        """Where words stand in a tag of their own."""
        words = tuple(name for field in self.fields if field.kind == "words" for name in self.labels[field.path])
        decides = self.decider is not None and "<" in self.prose
        found = bounded(tags(self.plain, words), MOST_CLAIMS) if words and decides else ()
        return [match.span() for match in found]

    def _of_objects(self) -> list[Claim]:
        outside = (each for each in self.objects if not any(a < each.start < b for a, b in self._tagged_words))
        found = [claim for each in outside if (claim := self.of_object(each)) is not None]
        counting = [claim for claim in found if claim.record is None or self.request.counts(claim.record)]
        return counting if any(claim.record is not None for claim in counting) else found

    def _of_prose(self) -> Iterator[Claim]:
        if self.decider is not None and not self.wordless:
            prose, plain = self.prose, self.plain
            words = [field.path for field in self.fields if field.kind == "words"]
            spans = [*self._tagged_words, *(self.labelled[path] for path in words if path in self.labelled)]
            if spans:  # what stands under headings and in tags of words decides nothing
                plain = folded(prose := masked(prose, sorted(spans), "\n"))
            found = Prose(prose, plain, self.decider, self.request.against)
            yield from found.claims(self.labels[self.decider.path])
        elif not self.objects:
            for field in self.fields:
                if field.nothing is not UNSAID and chosen(self.body, (), field.nothing) is not UNSAID:
                    yield Claim(0, len(self.body), "bare", {field.path: field.nothing})

    def of_object(self, each: Object) -> Claim | None:
        """What an object claims; None where it is no answer to this question."""
        usable = each.state == "strict" or (self.repair and each.value is not None)
        if each.state == "cut" or (each.state == "repaired" and self.cut):  # a choice is all there, words may not be
            chosen_there = self.decider is not None and self.decider.kind == "choice"
            usable = usable and chosen_there and not (each.state == "cut" and self.cut)
        if not usable or each.value is None:
            names_a_field = self._member.search(self.body, each.start, each.end)
            return Claim(each.start, each.end, "broken", known=False) if names_a_field else None
        tag = next((field.name for field in self.fields if field.kind == "variant"), "")
        value = unwrapped(each.value, self._own_keys, folded(self.request.kind), tag)
        if any(folded(key).strip() in self.request.quotes for key in value):
            return None
        shaped = self.shape.of(value, self.schema)
        asked = self.schema.get("properties", {})
        record = {key: part for key, part in shaped.items() if key in asked or not is_no_number(part)}
        if not any(field.name in record or field.kind == "variant" for field in self.weighty):
            return None
        values = dict(self._decided_by(record))
        if is_no_number(list(values.values())):
            return Claim(each.start, each.end, "broken", known=False)
        unknown = [
            values[field.path]
            for field in self.fields
            if field.decides
            and ("." not in field.path or field.path.startswith(f"{self.shape.lone}."))
            and values.get(field.path) is not None
            and field.read(values[field.path]) is UNSAID
        ]
        how = self._how(each)
        worded = not self.decides_more and any(
            isinstance(part, str) and _FORM.fullmatch(part) for part in record.values()
        )
        doubt: Doubt = "before" if worded else "" if how == "json" else self._doubt(each, record)
        return Claim(each.start, each.end, how, values, not unknown, doubt, record, _named(unknown))

    @cached_property
    def _own_keys(self) -> Mapping[str, bool]:
        """What keys of an answer may be called; True for its fields' own names."""
        named = {name: False for names in self.labels.values() for name in names}
        return named | {folded(field.name): True for field in self.fields}

    def _how(self, each: Object) -> str:
        if each.state != "strict":
            return "repaired"
        if self.body.strip() == self.body[each.start : each.end]:
            return "json"
        return "fenced" if each.fenced else "embedded"

    def _doubt(self, each: Object, record: Mapping[str, Any]) -> Doubt:
        if each.comments and doubted_by_comment(folded(each.comments)):
            return "after"
        shown = any(isinstance(part, str) and _PLACEHOLDER.fullmatch(part) for part in record.values())
        if shown and not (len(self.objects) == 1 and self.wordless):
            return "before"
        return doubted(self.plain, each.start, each.end)

    @cached_property
    def _member(self) -> re.Pattern[str]:
        """A member of an object that is one of the fields."""
        names = {name for field in self.fields for name in (field.name.casefold(), *self.labels[field.path][:1])}
        key = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return re.compile(rf"[{{,]\s*+[\"'“]?(?:{key})[\"'”]?\s*+:", re.IGNORECASE)

    def _decided_by(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The values of an object but for words; all of them where words are all that is asked for."""
        for field in self.fields:
            if field.kind == "record" or (field.kind == "words" and self.decides_more):
                continue
            value: Any = record
            for part in field.path.split("."):
                value = value.get(part, UNSAID) if isinstance(value, Mapping) else UNSAID
            if value is not UNSAID:
                yield field.path, value
