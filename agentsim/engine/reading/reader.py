"""Reader: from the text of a reply to the one decision that it means, for every question of every game.

Every stage collects claims: objects (whole, fenced, embedded, repaired), tags, labels, sentences, bare values. One
decision that stands clean is read; two, or one in doubt, are asked again. What follows an error is the game's policy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

from agentsim.engine.reading.claims import Claim, in_prose, labelled_words, tag_pattern
from agentsim.engine.reading.decision import Decision, Reading
from agentsim.engine.reading.doubts import Doubt, doubted, doubted_by_comment, taken_back
from agentsim.engine.reading.folding import folded
from agentsim.engine.reading.headings import thought_spans
from agentsim.engine.reading.prose import FEW_WORDS, introduced, last_sentence, masked, said_aloud, without_wrappers
from agentsim.engine.reading.scanning import MAX_TEXT, Object, decoded, scan
from agentsim.engine.reading.shaping import Field, fields_of, labels_of, shaped, unwrapped
from agentsim.engine.reading.thinking import has_marks, split
from agentsim.engine.reading.values import UNSAID, named
from agentsim.engine.reading.vocabulary import REASONS, THINKING
from agentsim.errors import AmbiguousReply, DecisionError, IllegalDecision, UnreadableReply

__all__ = ["Question", "read", "thoughts_in"]


_NOT_SAID = re.compile(r"thought|think|reason|monologue|private|internal|analys|deliberat|scratch|reflex|overleg", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\s*(?:<[^<>]{1,80}>|\[[^\[\]]{1,80}\]|\.{3}|…|your .{1,40} here)\s*", re.IGNORECASE)


class Question(Protocol):
    """What the reader goes by, of a request."""

    kind: ClassVar[str]
    leading: ClassVar[bool]
    quotes: ClassVar[frozenset[str]]
    nothing: ClassVar[Mapping[str, Any]]

    @property
    def against(self) -> bool: ...
    def schema(self) -> Mapping[str, Any]: ...
    def decision_of(self, said: Mapping[str, Any]) -> Decision: ...
    def fits(self, said: Mapping[str, Any]) -> bool: ...
    def counts(self, said: Mapping[str, Any]) -> bool: ...
    def check(self, decision: Any) -> None: ...
    def in_words(self, words: str) -> Decision | None: ...


def read(request: Question, text: str, *, cut: bool = False, last: bool = False, repair: bool = True) -> Reading[Any]:
    """The decision of a reply. `cut`: it reached its longest allowed length; `last`: the question will not be put again.

    Raises `UnreadableReply` where there is none, `AmbiguousReply` where there are two or one in doubt, `IllegalDecision`
    where the one that decides names what cannot be chosen.
    """
    return _at_once(request, text) or _Reply(request, text, cut, last, repair).reading()


def _at_once(request: Question, text: str) -> Reading[Any] | None:
    """The decision of a reply that is the JSON that was asked for, as nearly all are, and nothing else."""
    if not text.startswith("{") or not text.endswith("}") or has_marks(text):
        return None
    try:
        value = decoded(text)
        if None in value.values() or not request.fits(value) or not request.counts(value):
            return None
        decision = request.decision_of(value)
        request.check(decision)
    except (ValueError, RecursionError, DecisionError):
        return None
    return Reading(decision, "json", checked=True)


def thoughts_in(request: Question, text: str) -> tuple[str, ...]:
    """What of a reply was thought and not said, in order."""
    if text.startswith("{") and not has_marks(text) and _NOT_SAID.search(text) is None:
        return ()
    reply = _Reply(request, text, cut=False, last=False, repair=True)
    found = [*reply.thoughts]
    try:
        for each in reply.objects:
            found += _thought_in(each.value, {field.name for field in reply.fields})
        if reply.speaks and reply.body.strip() and not reply.objects:
            found += said_aloud(reply.body, (), reply.speech)[1]
    except DecisionError:
        pass  # what cannot be read is kept as it came
    return tuple(found)


def _thought_in(value: Any, own: Collection[str]) -> Iterator[str]:
    """What was thought in the strings of an object, and under keys that are none of the question's `own`."""
    if isinstance(value, str):
        yield from split(value)[1]
    for part in value if isinstance(value, list) else ():
        yield from _thought_in(part, own)
    for key, part in value.items() if isinstance(value, Mapping) else ():
        if isinstance(part, str) and key not in own and folded(key).replace("_", " ").strip() in THINKING:
            yield part
        else:
            yield from _thought_in(part, own)


class _Reply:
    """One reply to one question, looked at from all sides; nothing here changes."""

    def __init__(self, request: Question, text: str, cut: bool, last: bool, repair: bool) -> None:  # noqa: FBT001 - of `read` alone
        self.request, self.cut, self.last, self.repair = request, cut, last, repair
        self._text = text[:MAX_TEXT].replace("\ufeff", "")

    @cached_property
    def _split(self) -> tuple[str, tuple[str, ...]]:
        """What was said and what was thought, by its tags and by its headings."""
        worded = [self.labels[field.path] for field in self.fields if field.kind == "words"]
        own = [name for labels in worded for name in (labels if self._decides_more else labels[:1])]
        said, thoughts = split(self._text, own)
        if not said.lstrip().startswith("{"):
            every = [name for field in self.fields for name in self.labels[field.path]]
            spans = thought_spans(folded(said), every)
            thoughts += tuple(said[start:end] for start, end in spans)
            for start, end in reversed(spans):
                said = f"{said[:start]}\n{said[end:]}"
        return said, thoughts

    @property
    def body(self) -> str:
        """The reply without what was thought."""
        return self._split[0]

    @property
    def thoughts(self) -> tuple[str, ...]:
        return self._split[1]

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        return self.request.schema()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return tuple(fields_of(self.schema, self.request.nothing))

    @cached_property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return {field.path: labels_of(field, self.fields, self.request.kind) for field in self.fields}

    @cached_property
    def objects(self) -> list[Object]:
        found = scan(self.body)
        if len(self.fields) > 1 and not self._decides_more and len(found) == len(self.fields):
            return self._as_one(found) or found
        return found

    def _as_one(self, found: Sequence[Object]) -> list[Object]:
        """A list of records, one for each field (`{"player": "B", "quip": "..."}`), as one object."""
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
        return next((self.labels[field.path] for field in self.fields if field.kind == "words"), ())

    @cached_property
    def prose(self) -> str:
        """The reply without its objects, every place where it was."""
        return masked(without_wrappers(self.body), [(each.start, each.end) for each in self.objects])

    @cached_property
    def claiming(self) -> str:
        """The prose without what stands in tags of words, which decide nothing."""
        words = tuple(name for field in self.fields if field.kind == "words" for name in self.labels[field.path])
        return masked(self.prose, [match.span() for match in tag_pattern(words).finditer(self.plain)]) if words and "<" in self.prose else self.prose

    @cached_property
    def plain(self) -> str:
        return folded(self.prose)

    def reading(self) -> Reading[Any]:
        if not self.body.strip():
            raise UnreadableReply("The reply is empty.")
        if self.request.leading:
            return self._leading()
        claims = sorted(self._claims(), key=lambda claim: (claim.start, claim.end))
        if self.cut:  # what ends where the reply was cut off may have gone on
            claims = [claim for claim in claims if claim.record is not None or self.body[claim.end :].strip() or claim.how == "tag"]
        if not claims:
            return self._without_claims()
        return self._decided(claims)

    def _leading(self) -> Reading[Any]:
        """The object with which the reply begins, whatever follows."""
        start = len(self.body) - len(self.body.lstrip())
        first = next(iter(self.objects), None)
        if first is None or first.start != start:
            raise UnreadableReply("The reply must begin with the JSON object.")
        claim = self._of_object(first)
        if claim is None or claim.record is None:
            raise UnreadableReply("There is no complete JSON object at the beginning of the reply.")
        return self._read(claim, 1)

    # -- claims

    def _claims(self) -> Iterator[Claim]:
        found = [claim for each in self.objects if (claim := self._of_object(each)) is not None]
        counting = [claim for claim in found if claim.record is None or self.request.counts(claim.record)]
        yield from counting if any(claim.record is not None for claim in counting) else found
        if self.decider is not None and (not self.objects or self.prose.strip()):
            labels, against = self.labels[self.decider.path], self.request.against
            plain = self.plain if self.claiming is self.prose else folded(self.claiming)
            yield from in_prose(self.claiming, plain, self.decider, labels, against=against)
        elif self.request.nothing and not self.objects:
            for field in self.fields:
                if field.nothing is not UNSAID and Field(field.path, "choice", (), field.nothing).read(self.body) is not UNSAID:
                    yield Claim(0, len(self.body), "bare", {field.path: field.nothing})

    def _of_object(self, each: Object) -> Claim | None:
        usable = each.state == "strict" or (self.repair and each.value is not None)
        if each.state == "cut":
            usable = usable and not self.cut and self.decider is not None and self.decider.kind == "choice"
        if not usable or each.value is None:
            return Claim(each.start, each.end, "broken", known=False) if self._speaks_of_a_field(each) else None
        own = {folded(name).strip(): False for field in self.fields for name in self.labels[field.path]}
        own |= {folded(field.name): True for field in self.fields}
        tag = next((field.name for field in self.fields if field.kind == "variant"), "")
        value = unwrapped(each.value, own, folded(self.request.kind), tag)
        if any(folded(key).strip() in self.request.quotes for key in value):
            return None
        record = shaped(value, self.schema, self.request.nothing, self.labels)
        properties = self.schema.get("properties", {})
        weighty = [name for name in properties if self._kind(name) != "words"] or list(properties)
        if not any(name in record or self._kind(name) == "variant" for name in weighty):
            return None
        values = dict(self._signature(record))
        unknown = [
            str(values[field.path])
            for field in self.fields
            if field.decides and field.path in values and values[field.path] is not None and field.read(values[field.path]) is UNSAID
        ]
        how = "repaired" if each.state != "strict" else "json" if self._is_all(each) else "fenced" if each.fenced else "embedded"
        doubt = self._doubt(each, record) if how != "json" else ""
        return Claim(each.start, each.end, how, values, not unknown, doubt, record, unknown[0] if unknown else "")

    def _kind(self, name: str) -> str:
        return next(field.kind for field in self.fields if field.path == name)

    def _is_all(self, each: Object) -> bool:
        return not self.body[: each.start].strip() and not self.body[each.end :].strip()

    def _doubt(self, each: Object, record: Mapping[str, Any]) -> Doubt:
        if each.comments and doubted_by_comment(folded(each.comments)):
            return "after"
        shown = not self._is_all(each) and any(isinstance(part, str) and _PLACEHOLDER.fullmatch(part) for part in record.values())
        return "before" if shown else doubted(self.plain, each.start, each.end)

    def _speaks_of_a_field(self, each: Object) -> bool:
        names = {name for field in self.fields for name in (field.name.casefold(), *self.labels[field.path][:1])}
        key = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return re.search(rf"[{{,]\s*+[\"'“]?(?:{key})[\"'”]?\s*+:", self.body[each.start : each.end], re.IGNORECASE) is not None

    def _signature(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """What an object decides: its values but for words; all of them where words are all that is asked for."""
        for field in self.fields:
            if field.kind == "record" or (field.kind == "words" and self._decides_more):
                continue
            value: Any = record
            for part in field.path.split("."):
                value = value.get(part, UNSAID) if isinstance(value, Mapping) else UNSAID
            if value is not UNSAID:
                yield field.path, value

    @cached_property
    def _decides_more(self) -> bool:
        return any(field.kind not in {"words", "record"} for field in self.fields)

    # -- the decision among claims

    def _decided(self, claims: Sequence[Claim]) -> Reading[Any]:
        clean = [claim for claim in claims if claim.known and not claim.doubt]
        final = clean[-1] if clean else None
        if final is None:
            raise self._none_clean(claims)
        for claim in claims:
            if not claim.known and not claim.doubt and claim.start >= final.end:
                if claim.how == "broken":
                    raise UnreadableReply("The last JSON object of the reply is broken.")
                raise IllegalDecision(f"{claim.named[:40]!r} cannot be chosen.")
            # a decision that is denied, quoted or conditional counts for nothing before one that stands clean
            if claim.known and (claim.doubt != "before" or claim.start > final.start) and self._differ(claim, final):
                raise AmbiguousReply(self._two(claim, final))
        tail = self.plain[max(claim.end for claim in clean) :]
        if tail.strip() and taken_back(tail, lambda piece: self._is_another(piece, final)):
            raise AmbiguousReply("The reply decides, and then says more that may take it back. Answer with the decision alone.")
        records = [claim for claim in clean if claim.record is not None]
        return self._read(records[-1] if records else final, len(claims))

    def _none_clean(self, claims: Sequence[Claim]) -> DecisionError:
        known = [claim for claim in claims if claim.known]
        if known:
            return AmbiguousReply("The reply names a decision, but denies, quotes or conditions it. Answer with the decision alone.")
        named = [claim for claim in claims if claim.named]
        if claims[-1].how == "broken" or not named:
            return UnreadableReply("There is no complete JSON object in the reply.")
        return IllegalDecision(f"{named[-1].named[:40]!r} cannot be chosen.")

    @staticmethod
    def _differ(one: Claim, other: Claim) -> bool:
        return any(_as_json(one.values[path]) != _as_json(other.values[path]) for path in one.values.keys() & other.values.keys())

    def _two(self, one: Claim, other: Claim) -> str:
        for path in one.values.keys() & other.values.keys():
            pair = one.values[path], other.values[path]
            if _as_json(pair[0]) != _as_json(pair[1]):
                return f"The reply says {' and '.join(_as_json(each)[:40] for each in pair)} for {path}. Decide for exactly one."
        return "The reply decides twice."  # pragma: no cover - called where two differ

    def _is_another(self, piece: str, final: Claim) -> bool:
        field = self.decider
        if field is None or field.kind == "yes_no" or not piece or piece in {"a", "i", "no", "none"}:
            return False
        meant = field.read(piece)
        return meant is not UNSAID and meant != final.values.get(field.path)

    def _read(self, claim: Claim, candidates: int) -> Reading[Any]:
        if claim.record is not None:
            if self.speaks and not self._decides_more and claim.how in {"embedded", "repaired"}:
                around = self.prose[: claim.start]
                if not introduced(around, self.prose[claim.end :]):
                    raise UnreadableReply("The words stand in an object in the midst of others.")
            decision = self.request.decision_of(claim.record)
        else:
            decision = self.request.decision_of(self._with_words(claim))
        return Reading(decision, claim.how, candidates, repaired=claim.how == "repaired")

    @cached_property
    def _labelled(self) -> Mapping[str, tuple[int, int]]:
        """Where the text of each field stands that has a heading or a tag of its own."""
        return labelled_words(self.plain, self.labels)

    def _with_words(self, claim: Claim) -> dict[str, Any]:
        """What a claim in prose says, with the words around it that answer the other fields."""
        said: dict[str, Any] = {}
        values = dict(claim.values)
        for field in self.fields:
            if field.kind == "words":
                if field.path in self._labelled:
                    start, end = self._labelled[field.path]
                    values[field.path] = _stripped(self.prose[start:end])
                elif field.name in REASONS[:3]:
                    values[field.path] = _stripped(self._besides(claim))
        for path, value in values.items():
            *parents, name = path.split(".")
            place = said
            for parent in parents:
                place = place.setdefault(parent, {})
            place[name] = value
        return said

    def _besides(self, claim: Claim) -> str:
        """The prose but for the claim: all of it where the claim is a part of a sentence."""
        if claim.how == "tag":
            return f"{self.prose[: claim.start]}\n{self.prose[claim.end :]}"
        start = self.prose.rfind("\n", 0, claim.start) + 1
        end = self.prose.find("\n", claim.end)
        line = f"{self.prose[start : claim.start]} {self.prose[claim.end : end if end >= 0 else len(self.prose)]}"
        if len(re.findall(r"[^\W_]{2,}", line)) > FEW_WORDS:
            return self.prose
        return f"{self.prose[:start]}\n{self.prose[end:] if end >= 0 else ''}"

    # -- words

    def _without_claims(self) -> Reading[Any]:
        if any(each.state in {"cut", "broken"} for each in self.objects):
            raise UnreadableReply("There is no complete JSON object in the reply.")
        if self.speaks:
            return self._in_words()
        if len(whole := [each for each in self.objects if each.value is not None]) == 1:
            missing = [name for name in self.schema.get("properties", {}) if self._kind(name) != "words" and name not in (whole[0].value or {})]
            raise UnreadableReply(f"The JSON object lacks {' and '.join(missing) or 'its fields'}.")
        if not self._decides_more:
            said = {path: _stripped(self.prose[start:end]) for path, (start, end) in self._labelled.items()}
            if said.keys() == {field.path for field in self.fields}:
                return Reading(self.request.decision_of(said), "label")
        raise UnreadableReply("There is no decision in the reply.")

    def _in_words(self) -> Reading[Any]:
        words, _ = said_aloud(self.body, self.objects, self.speech)
        stage = "words"
        if self.cut:
            if not self.last:
                raise UnreadableReply("The words are cut off.")
            stage, words = "cut", last_sentence(words)
            if not words:
                raise UnreadableReply("The words are cut off before their first sentence ends.")
        decision = self.request.in_words(words)
        assert decision is not None, "asked of requests alone that take words"
        return Reading(decision, stage)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _stripped(words: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", words).strip().strip("*_\"“” \n").strip()


