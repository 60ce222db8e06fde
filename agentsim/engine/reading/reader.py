"""The reader: from the text of a reply to the one decision that it gives, for every question of every game.

    {"vote": "C", "explanation": "He lies."}                             votes for C
    <think>B or C?</think> and below it: Vote: C                         votes for C
    <invoke name="vote"><parameter name="vote">C</parameter></invoke>    votes for C
    I will vote for C.                                                   is asked again: a sentence is no decision
    Vote: B and below it: Vote: C                                        is asked again: there are two decisions

The rules, in the order in which they are applied:

1. The first `MAX_TEXT` characters of a reply are read. If they are a JSON string that holds the answer (an object in
   quotes, with escapes), the string is decoded, and its content too, up to six times. The reply is cut at the first
   end of a turn (`<|im_end|>`), also within its strings, and the header of its role (`<|im_start|>assistant`) is
   removed.
2. Thinking is separated from the answer by its marks (`<think>`) and its headings. It is kept as reasoning: the reader
   does not search it for a decision, and no player hears it.
3. JSON objects are found: whole, in a fence or in prose, with broken punctuation, in a tool call or in wrappings. A
   tool call in any model's tags is such an object. Their keys, names and numbers are spelled as in the question's
   schema.
4. In the rest of the text, the reader finds tags and labels at the beginning of a line, and lines that are nothing but
   a value. The words under a heading such as `Reason:` are not searched.
5. Each of these is a candidate. One stands alone if its lines have no other words, and the text above it ends with a
   finished sentence or only announces it: `Vote: C` below `I heard you all.` or `My decision:`, but not below
   `I think that C lies, so`.
6. There is a decision if at least one candidate stands alone, all candidates with a legal value agree with it, and
   neither a candidate with an illegal value nor other words follow. Otherwise the question is asked again.
7. If there is no candidate, the whole reply is the answer, if the question takes prose.
8. The words of an object are the player's as they stand: published whole, or asked again.
9. A reply is unreadable if words in its decision hold a control token of a chat template (`engine.markup`) or a line
   of another turn.

Prose such as `I will vote for C` is never read as a choice. Asking again costs one call; acting on a decision that the
model did not mean can cost it the game. The policy for replies that stay unreadable is the game's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

from agentsim.engine.codec import json_fields
from agentsim.engine.decision import ReadableRequest, Reading
from agentsim.engine.functions import chooses, is_thinking, may_answer
from agentsim.engine.markup import (
    NO_SPEAKERS,
    OWN_NAMES,
    Speakers,
    first_turn,
    is_of_another,
    label_in,
    names_a_role,
    plain_tags,
    roles_in,
    token_in,
    token_spans,
    with_plain_lines,
    without_header,
    without_rest,
)
from agentsim.engine.options import MISSING, Kinds, LegalValues
from agentsim.engine.reading.calls import calls, function_called, named_calls
from agentsim.engine.reading.candidates import (
    Candidate,
    Prose,
    Sections,
    Surroundings,
    is_lead_in,
    sections_of,
)
from agentsim.engine.reading.fields import (
    GENERIC,
    REASON_FIELDS,
    REASONS,
    SPEECH,
    Field,
    chosen,
    fields_of,
    is_no_number,
    is_private_field,
    named,
    names_of,
)
from agentsim.engine.reading.layers import holds_remains, is_part_of_object, turn_of, with_braces
from agentsim.engine.reading.notations import as_json
from agentsim.engine.reading.shaping import Shape, called_in, unwrapped
from agentsim.engine.reading.speech import (
    NOTE_HEADINGS,
    THINKING,
    aloud,
    audience_label,
    cuts_words,
    has_marks,
    last_sentence,
    may_be_no_speech,
    said_aloud,
    says_that_it_thinks,
    split,
    thought_spans,
    without_half_quotes,
)
from agentsim.engine.reading.text import (
    CONTROL_MARK,
    MAX_TEXT,
    MOST_CANDIDATES,
    REMOVED_MARK,
    Object,
    any_name,
    bounded,
    decoded,
    folded,
    has_words,
    listed,
    masked,
    of_few_tags,
    scan,
    spaced,
    tags,
    without,
    without_fences,
    without_wrappers,
    words_in,
)
from agentsim.errors import AmbiguousReply, DecisionError, IllegalDecision, UnreadableReply
from agentsim.patterns import Pattern

_POST = (*SPEECH, "post", "forum post", "my post")
_STAGES = ("bare", "label", "tag", "repaired", "embedded", "fenced", "json")
_MEMBERS = (*THINKING, *NOTE_HEADINGS, *REASONS)
"""Keys that an answer in words has not asked for."""
_BEFORE_A_CALL = Pattern(r"(?:\s|\[|(?:```|~~~)?tool_code\b|print\()*")
"""The signs, beside tokens, before the call of a reply that must begin with its object: a list, Gemma's code."""
_STAGES_OF_OBJECTS = _STAGES[3:]
_LONGEST_NAME = 60  # characters
_LINE_ENDS = Pattern(r"\\u(?:000[a-dA-D]|0085|202[89])|\\[nrf]|&#|[\r\u2028\u2029\x0b\x0c\x85]")
"""Line ends of any kind, and as JSON and XML escape them."""
# a tag, an escape, or a heading in a string: such a reply is not read at once
_DETOUR = Pattern(
    rf"<|\|[ \t]?/|\\u|[&%✿{REMOVED_MARK}\r\x0b\x0c\x85\u2028\u2029]|\\[nrf]|\"[\s*_#]{{0,4}}[\w' -]{{1,30}}:[*_ ]"
)
_LAYERS = Pattern(
    rf"\\[n\"'ux]|^\W*(?:\\\w|b?oxed\{{|ext\{{)|^\W*(?:{OWN_NAMES})\b|^\s*(?:action:|>>>|✿|\w{{2,30}}\()"
    r"|(?:assistant|user)[ \t]*\n|### ",
    re.IGNORECASE,
)
_MEMBER_WITHIN = Pattern(r"\"\s*:")
_NOT_SAID = Pattern(any_name((*THINKING, *NOTE_HEADINGS)))
_FIELD_TAG = Pattern(
    r"[<\[]/(?P<end>[A-Za-z][\w-]{1,40})\s?[>\]]|<(?P<whole>[A-Za-z][\w-]{1,40})(?:\s[^<>\n]{0,200})?/>"
    r"|(?:\A|\n)\s{0,4}[<\[](?P<first>[A-Za-z][\w-]{1,40})(?:\s[^<>\n]{0,200})?[>\]]"
)
"""A closing tag, an empty one, or an opening one that begins a line."""
_KIND_LABEL = Pattern(r"[\s*_`\"]{0,8}(?P<kind>[a-z]{1,20}(?:_[a-z]{1,20}){1,4})[*_`\"]{0,4}\s?[:：=]")
_TAKES_BACK = frozenset(
    listed("""
    abstain, abstained, abstaining, abstention, cancel, canceled, cancelled, retract, retracted, withdraw, withdrawn,
    revoke, revoked, void, voided, undo, ignore, ignored, discard, discarded, invalid, no vote, not voting
""")
)
"""Folded keys that take an answer back if they are true."""
_DOES_NOTHING = frozenset(("skip", "skipped", "pass", "passed"))
"""Folded keys that take back a vote, a bid or words, and repeat an answer that does nothing."""
_CORRECTS = frozenset(("correction", "retraction"))
_YES, _NO_CORRECTION = frozenset(("true", "yes")), frozenset(("none", "no", "n/a", "na", "null", "nothing", "false"))
# placeholders of a form
_FORM = Pattern(r"\s*<[^<>]{1,80}>\s*")  # of a question in words alone: `<your pitch>`
_PLACEHOLDER = Pattern(r"\s*(?:<[^<>]{1,80}>|\.{3}|…|your .{1,40} here)\s*", re.IGNORECASE)


def read(
    request: ReadableRequest, text: str, *, truncated: bool = False, last_attempt: bool = False, repair: bool = True
) -> Reading[Any]:
    """Return the decision of a reply.

    `truncated` is True if the reply was cut off at its maximum length, `last_attempt` if the question is not asked
    again, and `repair` if objects with broken punctuation are read.

    Raises `UnreadableReply` if there is no decision, `AmbiguousReply` if there are several or none that stands alone,
    and `IllegalDecision` if it names a value that cannot be chosen.
    """
    text = text[:MAX_TEXT]
    if exact := _read_exact(request, text):
        return exact
    reply = Reply(request, text, truncated=truncated, repair=repair)
    found = _taken_apart(reply, last_attempt=last_attempt)
    said = [*_named_texts(_taken(request, json_fields(found.decision)))]
    if token := next(filter(None, (token_in(each) for _, each in said)), ""):
        name = re.sub(r"[^\w ]+", " ", token).strip()
        raise UnreadableReply(f"The words hold a control token of a chat template ({name}). Answer without it.")
    if any((REMOVED_MARK in each or CONTROL_MARK in each) and not is_private_field(name) for name, each in said):
        raise UnreadableReply("The words hold a tool call. Answer with the words alone.")
    in_object = found.stage in _STAGES_OF_OBJECTS
    labels = (
        label_in(
            each,
            reply.speakers.of_roles if is_private_field(name) else reply.speakers,
            lists=in_object or request.any_text,
            posts=in_object and request.any_text,
        )
        for name, each in said
    )
    if label := next(filter(None, labels), ""):
        raise UnreadableReply(
            f"A line of the words begins as another turn ({label[:40]}). Answer in your own words alone."
        )
    return found


def _taken(request: ReadableRequest, value: Any) -> Any:
    """Return a decision without the parameters that its choice does not take."""
    parts = request.answer_fields.parts
    if not isinstance(value, Mapping):
        return value
    return {name: parts[name].taken(part, value) if name in parts else part for name, part in value.items()}


def _named_texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in a JSON value, each with its key; the keys themselves are texts with the key ""."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield "", key
            yield from _named_texts(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _named_texts(part, name)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and the keys in a JSON value."""
    return (text for _, text in _named_texts(value))


def _is_name(text: str, own: str) -> bool:
    """Return whether a text of the question may be a player's name, given the player's `own`.

    If the own name has capitals or digits, a text without both is another word.
    """
    return text != text.lower() or any(map(str.isdigit, text)) or (own == own.lower() and own.isalpha())


def _taken_apart(reply: Reply, *, last_attempt: bool) -> Reading[Any]:
    request = reply.request
    if not reply.body.strip():
        if reply.thoughts:
            raise UnreadableReply(
                "The reply is empty: all of it is thinking. Answer below it, with the decision alone."
            )
        if reply.text.strip():
            raise UnreadableReply(
                "The reply is empty: it is only the header of an answer. Answer with the decision itself."
            )
        raise UnreadableReply("The reply is empty.")
    if request.object_first:
        return _leading(reply)
    candidates = reply.candidates()
    return _from_candidates(reply, candidates) if candidates else _without_candidates(reply, last_attempt=last_attempt)


def thoughts_in(request: ReadableRequest, text: str) -> tuple[str, ...]:
    """Return the thoughts in a reply, which are no part of the answer."""
    text = text[:MAX_TEXT]
    if "\\u" not in text and not has_marks(text) and (whole := _object(text)) is not None:
        own = set(_names(request.answer_fields))
        return tuple(_thought_in(whole, own, request) if _NOT_SAID.search(folded(text)) else ())
    reply = Reply(request, text)
    found: list[str] = []
    try:
        found += reply.thoughts
        for each in reply.objects:
            found += _thought_in(each.value, {field.name for field in reply.fields}, request)
        if reply.speaks and reply.body.strip() and not reply.objects:
            found += reply.aloud[1]
    except DecisionError:
        pass  # the thoughts of an unreadable reply are those found up to here
    return tuple(found)


def holds_object(request: ReadableRequest, text: str) -> bool:
    """Return whether a reply has a JSON object or a tool call outside of its thoughts, readable or not."""
    try:
        return bool(Reply(request, text[:MAX_TEXT]).objects)
    except DecisionError:  # too many objects, or broken ones
        return True


# -- a reply that is nothing but the object


def _read_exact(request: ReadableRequest, text: str) -> Reading[Any] | None:
    """Read a reply that is exactly the JSON that was asked for, as nearly all are, or return None."""
    if not text.startswith("{") or not text.endswith("}") or _DETOUR.search(text) or has_marks(text):
        return None
    try:
        value = _value(text)
        if None in value.values() or not request.fits(value) or not request.may_be_answer(value):
            return None
        if any(map(_is_layered, _texts(value))):
            return None
        if not request.knows(value):  # an unknown key may hold the decision
            return None
        decision = request.decision_of(value)
        request.check(decision)
    except (ValueError, RecursionError, DecisionError):
        return None
    return Reading(decision, "json", checked=True)


def _is_layered(text: str) -> bool:
    """Return whether a text may hold JSON, a header of a turn, thinking or a control token."""
    if text.lstrip()[:1] in {"{", "[", '"', "`"} or _LAYERS.search(text) or without_rest(text) != text:
        return True
    if '"' in text and ("{" in text or "}" in text or _MEMBER_WITHIN.search(text) or without_half_quotes(text) != text):
        return True
    if any(sign in text for sign in "\"“”'}") and holds_remains(text):
        return True
    if token_in(text) or label_in(text):
        return True
    if may_be_no_speech(text) or first_turn(text) != text:
        return True
    return has_marks(text) or bool(_NOT_SAID.search(plain := folded(text)) and thought_spans(plain, ()))


@lru_cache(1)  # the same reply is decoded for its thoughts, and for its decision
def _value(text: str) -> Any:
    return decoded(text)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = _value(text) if text.startswith("{") else None
    except (ValueError, RecursionError, DecisionError):
        return None
    return value if isinstance(value, dict) else None


def _names(option: LegalValues) -> Iterator[str]:
    """Yield the names of the question's fields and of the fields of its records."""
    for name, part in (option.parts or {}).items():
        yield name
        yield from _names(part)


def _all_names(option: LegalValues) -> Iterator[str]:
    """Yield the names of all fields, including those of variants, and the kinds of variants."""
    for name, part in (option.parts or {}).items():
        yield name
        yield from _all_names(part)
    for kind, record in (option.kinds or {}).items():
        yield from _all_names(record)
        yield kind


def _thought_in(value: Any, own: Collection[str], request: ReadableRequest, *, private: bool = False) -> Iterator[str]:
    """Yield the thoughts in the strings of an object, and its texts under keys of thinking that are not its `own`.

    Only some players hear a `private` string.
    """
    if isinstance(value, str):
        yield from split(value[len(audience_label(value)) :] if private else value)[1]
    for part in value if isinstance(value, list) else ():
        yield from _thought_in(part, own, request)
    for key, part in value.items() if isinstance(value, Mapping) else ():
        if (
            isinstance(part, str)
            and key not in own
            and folded(key).replace("_", " ").strip() in {*THINKING, *NOTE_HEADINGS}
        ):
            yield part
        else:
            label = audience_label(part)
            private = bool(label) and (is_private_field(key) or request.in_private(value))
            yield from _thought_in(part, own, request, private=private)


# -- a reply, taken apart


class Reply:
    """A reply to a question, and what is found in it: thoughts, objects, prose and candidates, each on first use."""

    def __init__(self, request: ReadableRequest, text: str, *, truncated: bool = False, repair: bool = True) -> None:
        self.request, self.text, self.truncated, self.repair = request, text, truncated, repair

    # the question

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields of an answer, with those of its records."""
        return tuple(fields_of(self.request.answer_fields.parts, self.request.null_values, self.request.synonyms))

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each field, by path."""
        return names_of(self.fields, self.request.kind)

    @cached_property
    def essential_fields(self) -> tuple[Field, ...]:
        """The outermost fields of which an object must have at least one to be an answer.

        They are those that are no words and no records: `vote` of `{"explanation": ..., "vote": ...}`. If there are
        none, they are the records, and of an answer in words all fields.
        """
        outermost = [field for field in self.fields if "." not in field.path]
        values = [field for field in outermost if field.kind not in {"words", "record"}]
        records = [field for field in outermost if field.kind == "record"]
        return tuple(values or records or outermost)

    @cached_property
    def decides(self) -> bool:
        """True if the question asks for more than words."""
        return any(field.kind not in {"words", "record"} for field in self.fields)

    @cached_property
    def bare_field(self) -> Field | None:
        """The field whose value is an answer without an object, or None: `C` and `Vote: C` answer `vote`.

        It is the only choice, number or yes/no of the answer, or of its only record; beside it there are only words and
        records. An answer with two such fields, or with a list, has none.
        """
        first = [field for field in self.fields if "." not in field.path and field.kind != "words"]
        if [field.kind for field in first] == ["record"]:  # the whole decision is in one record
            first = [field for field in self.fields if "." in field.path and field.kind != "words"]
        deciding = [field for field in first if field.decides]
        plain = all(field.decides or field.kind == "record" for field in first)
        return deciding[0] if plain and len(deciding) == 1 else None

    @cached_property
    def speaks(self) -> bool:
        """Whether plain prose can be the answer."""
        return self.request.decision_of_prose("words") is not None

    @cached_property
    def speech(self) -> tuple[str, ...]:
        """The names that the words of an answer in words may have."""
        worded = (self.names[field.path] for field in self.fields if field.kind == "words" and not self.decides)
        return next(worded, _POST)

    @cached_property
    def _field_names(self) -> set[str]:
        """The folded names of the fields, with their other names."""
        return {name for field in self.fields for name in (spaced(field.name), *self.names[field.path])}

    @cached_property
    def _every_name(self) -> set[str]:
        """The folded names of all fields and kinds of variants, and of the question."""
        return {*map(spaced, _all_names(self.request.answer_fields)), spaced(self.request.kind)}

    @cached_property
    def is_meant_as_object(self) -> bool:
        """True if a reply without an object seems to be a failed attempt at one, and not prose.

        It has a tag with the name of a field or of a kind of variant, or begins with such a name as a label, or is one.
        """
        if all(field.kind == "words" for field in self.fields):
            return False
        every = self._every_name
        said = self.body.strip().removesuffix("()").strip(" \n`*_<>/.!():;")
        if spaced(said) in every:
            return True
        if (label := _KIND_LABEL.match(self.body)) and spaced(label["kind"]) in every:
            return True
        tags = (tag[tag.lastgroup] for tag in _FIELD_TAG.finditer(self.body) if tag.lastgroup)
        return any(spaced(name) in every for name in tags)

    @cached_property
    def shape(self) -> Shape:
        """The vocabulary that objects are shaped with: meanings of null, synonyms, and names of fields."""
        outermost = [field.path for field in self.essential_fields]
        lone = outermost[0] if len(outermost) == 1 else ""
        return Shape(
            self.request.null_values,
            self.request.synonyms,
            self.names,
            lone,
            self.speakers,
            self.request.any_text,
            words_alone=not self.decides,
            in_private=self.request.in_private,
        )

    # thinking

    @cached_property
    def speakers(self) -> Speakers:
        """The names in the question: a line that begins with one may be another player's.

        If a word for a role (`User`) is one of the names, it is no header of a turn.
        """
        lines = with_plain_lines(_LINE_ENDS.sub("\n", self.text))
        begins_with_a_sign = lines.lstrip()[:1] in {*"*_([（【"}
        if not names_a_role(lines) and "\n" not in lines and "</" not in lines and not begins_with_a_sign:
            return NO_SPEAKERS
        own = self.request.player.removeprefix("@")
        # a name with a capital is no field's but a player's, as in `{"B": "<a line about B>"}`
        fields = {name for field in self.fields for name in (field.name, field.path) if name.islower()}
        said = [text for key, text in _named_texts(json_fields(self.request)) if key and 0 < len(text) <= _LONGEST_NAME]
        if "summar" in self.request.kind:  # a question about the words of others
            return Speakers(roles_in(said))
        names = {text for text in said if text not in fields and _is_name(text, own)}
        return Speakers(roles_in(said), own, tuple(sorted({own, *names})))

    @cached_property
    def other_players(self) -> frozenset[str]:
        """The names of the other players in the question, in lowercase, of which no field is one.

        Posts (`any_text`) name the authors that they answer, so that none counts there.
        """
        if self.request.any_text:
            return frozenset()
        own = self.request.player.removeprefix("@")
        said = (text for _, text in _named_texts(json_fields(self.request)) if 0 < len(text) <= _LONGEST_NAME)
        return frozenset(text.casefold() for text in said if _is_name(text, own)) - {own.casefold()}

    @cached_property
    def _split(self) -> tuple[str, tuple[str, ...]]:
        if (name := function_called(self.text)) and not self.may_answer(name):
            raise UnreadableReply(f"The reply calls {name[:40]!r}, which gives no answer. Answer without it.")
        speakers = self.speakers
        worded = [self.names[field.path] for field in self.fields if field.kind == "words"]
        own = [name for names in worded for name in (names if self.decides else names[:1])]
        text = _without_name(self.text.replace("\ufeff", ""), self.request.player)
        said, thoughts = split(plain_tags(turn_of(text, speakers)), own, strict=True)
        said = plain_tags(turn_of(without_header(said, speakers), speakers))
        if not said.lstrip().startswith("{") and not is_part_of_object(said, _MEMBERS):
            every = [name for field in self.fields for name in self.names[field.path]]
            every += self.speech if self.speaks else ()
            a_line = self.request.any_text and "\n" not in said.strip()
            spans = [] if a_line else thought_spans(folded(said), every)
            thoughts += tuple(said[start:end] for start, end in spans)
            said = without(said, spans, "\n")
            said = plain_tags(turn_of(without_header(said, speakers), speakers)) if spans else said
        return said, thoughts

    @cached_property
    def body(self) -> str:
        """The reply without thinking; as JSON if it is an object in XML or YAML, or lacks its first characters."""
        if not self.repair:
            return self._split[0]
        speech = self.speech[0] if self.speaks and not self.decides else ""
        nested = any(field.kind in {"variant", "record"} for field in self.fields)
        tags = {option.tag for option in self.request.answer_fields.parts.values() if isinstance(option, Kinds)}
        deciding = {
            spaced(name) for field in self.essential_fields for name in (field.name, *self.names[field.path])
        } | tags
        names = self._field_names | self._every_name | {*(self.speech if self.speaks else ())}
        written = as_json(self._split[0], names, deciding, nested=nested, cut=self.truncated)
        return with_braces(written, self._field_names, speech)

    @cached_property
    def ends_in_thinking(self) -> bool:
        """True if all behind the first words is under a heading of thinking, which may be one of a speech."""
        whole = turn_of(self.text, self.speakers).rstrip()
        end = self.thoughts[-1].rstrip() if self.thoughts else ""
        above = whole.removesuffix(end).rstrip()
        is_end = bool(end) and whole.endswith(end) and above.endswith(self._split[0].strip()) and has_words(above)
        return is_end and bool(thought_spans(folded(end), self.speech))

    @property
    def thoughts(self) -> tuple[str, ...]:
        """The thoughts, without those in the strings of objects."""
        return self._split[1]

    # objects and prose

    @cached_property
    def objects(self) -> list[Object]:
        """The objects and tool calls of the reply, from left to right.

        For an answer of several words, a list with a record for each of them is one object.
        """
        found = self._calls_and_objects()
        if len(self.fields) > 1 and not self.decides and len(found) == len(self.fields):
            return self._as_one(found) or found
        return found

    def _calls_and_objects(self) -> list[Object]:
        every = self._field_names | self._every_name
        found = calls(self.body, every, every)
        masked_body = masked(self.body, [(each.start, each.end) for each in found]) if found else self.body
        return sorted([*found, *named_calls(masked_body, scan(masked_body))], key=lambda each: each.start)

    def _as_one(self, found: Sequence[Object]) -> list[Object]:
        """Merge objects such as `{"player": "B", "quip": "..."}` into one, or return [] if they are not alike."""
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
        """The words of a reply in prose, and the thoughts in it. Raises `UnreadableReply` if they are unclear."""
        return said_aloud(of_few_tags(self.body), self.objects, self.speech, any_text=self.request.any_text)

    @cached_property
    def prose(self) -> str:
        """The reply in which objects, fences, wrappers and control tokens are masked; positions stay the same."""
        text = without_fences(without_wrappers(of_few_tags(self.body)))
        text = masked(text, list(token_spans(text)), CONTROL_MARK)
        return masked(text, [(each.start, each.end) for each in self.objects])

    @cached_property
    def plain(self) -> str:
        """The prose, folded."""
        return folded(self.prose)

    @cached_property
    def sections(self) -> Sections:
        """The words of fields under headings and in tags."""
        return sections_of(self.plain, self.fields, self.names)

    @cached_property
    def around(self) -> Surroundings:
        """The lines around candidates, without the words of fields under headings and in tags."""
        own = {spaced(field.name) for field in self.fields if field.kind != "words"} or {*self.speech[:1]}
        asked = words_in(" ".join((*own, *GENERIC, spaced(self.request.kind))))
        text, plain = self.sections.blanked(self.prose), self.sections.blanked(self.plain)
        no = any(
            each.kind == "yes_no" or not {"reject", "decline", "no"}.isdisjoint(each.values) for each in self.fields
        )
        return Surroundings(text, plain, [name for name in asked if name != "or"], may_say_no=no)

    # candidates

    def candidates(self) -> list[Candidate]:
        """Return every span that gives a decision, from left to right.

        If the reply was cut off, a value at its very end does not count: it may have gone on.
        """
        every = bounded(chain(self._in_objects(), self._in_prose()), MOST_CANDIDATES)
        found = sorted(every, key=lambda each: (each.start, each.end))
        if self.truncated:  # a value at the end may be incomplete
            end = len(self.body.rstrip())
            return [each for each in found if each.record is not None or each.stage == "tag" or each.end < end]
        return found

    def _in_objects(self) -> list[Candidate]:
        worded = self._tagged_words
        outside = (each for each in self.objects if not any(a < each.start < b for a, b in worded))
        found = [candidate for each in outside if (candidate := self.of_object(each)) is not None]
        counting = [each for each in found if each.record is None or self.request.may_be_answer(each.record)]
        kept = counting if any(each.record is not None for each in counting) else found
        if len(kept) == 1 and not has_words(self.plain):
            return kept
        # beside another answer or words, an object with a placeholder (`<why>`) is an example
        return [replace(each, stands_alone=each.stands_alone and not _holds_placeholder(each.record)) for each in kept]

    @cached_property
    def _tagged_words(self) -> list[tuple[int, int]]:
        words = tuple(name for field in self.fields if field.kind == "words" for name in self.names[field.path])
        decides = self.bare_field is not None and "<" in self.prose
        return [each.span() for each in bounded(tags(self.plain, words), MOST_CANDIDATES)] if words and decides else []

    def _in_prose(self) -> Iterator[Candidate]:
        if self.bare_field is not None:
            if has_words(self.around.plain):
                found = Prose(self.around.text, self.around.plain, self.bare_field, self.around)
                yield from found.candidates(self.names[self.bare_field.path])
        elif not self.objects:
            for field in self.fields:
                if field.if_null is not MISSING and chosen(self.body, (), field.if_null) is not MISSING:
                    yield Candidate(0, len(self.body), "bare", {field.path: field.if_null})

    def of_object(self, each: Object) -> Candidate | None:
        """Return the candidate that an object is, or None if it does not answer this question."""
        usable = each.state == "strict" or (self.repair and each.value is not None)
        if each.state == "cut" or (
            each.state == "repaired" and self.truncated
        ):  # a choice is complete, words may not be
            has_choice = self.bare_field is not None and self.bare_field.kind == "choice"
            usable = usable and has_choice and not (each.state == "cut" and self.truncated)
        if not usable or each.value is None:
            names_a_field = each.call or self._member.search(self.body, each.start, each.end)
            return Candidate(each.start, each.end, "broken", legal=False) if names_a_field else None
        if is_of_another(each.value, self.other_players, speech=self.speaks):
            return Candidate(each.start, each.end, "broken", legal=False)
        if (function := called_in(each.value)) and not self.may_answer(function):
            return None if is_thinking(function) else Candidate(each.start, each.end, "broken", legal=False)
        value, called = unwrapped(each.value, self._own_keys, folded(self.request.kind))
        value = self.shape.called(value, called, self.request.answer_fields.parts) if called else value
        if any(folded(key).strip() in self.request.quotes for key in value):
            return None
        if any(says_that_it_thinks(part, self._field_names) for part in (each.value, value)):
            return None
        if is_of_another(value, self.other_players, speech=self.speaks):
            return Candidate(each.start, each.end, "broken", legal=False)
        asked = self.request.answer_fields.parts
        shaped = self.shape.of(value, asked)
        record = {key: part for key, part in shaped.items() if key in asked or not is_no_number(part)}
        if not any(field.name in record or field.kind == "variant" for field in self.essential_fields):
            return None
        values = dict(self._values(record))
        if (taken_back := self._taken_back(each.value, values)) or is_no_number(list(values.values())):
            return Candidate(each.start, each.end, "broken", legal=False, named=taken_back or None)
        unknown = [
            values[field.path]
            for field in self.fields
            if field.decides
            and ("." not in field.path or field.path.startswith(f"{self.shape.lone}."))
            and values.get(field.path) is not None
            and field.read(values[field.path]) is MISSING
        ]
        name = str(unknown[0]) if unknown and type(unknown[0]) in {str, int} else None
        alone = self._stands_alone(each, record)
        return Candidate(each.start, each.end, self._stage(each), values, not unknown, alone, record, name)

    def _taken_back(self, value: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """Return the key with which an object takes its own answer back, or "": `{"vote": "C", "abstain": true}`.

        A field of the question is none, nor is a key that says once more what was chosen.
        """
        given = [*values.values()]
        if any(field.if_null is not MISSING and field.if_null in given for field in self.fields):
            return ""
        plain = not self.decides or (self.bare_field is not None and self.bare_field.path in values)
        outermost = plain and (
            self.bare_field is None or self.bare_field.kind == "number" or "." not in self.bare_field.path
        )
        takes_back = _TAKES_BACK | _DOES_NOTHING if outermost else _TAKES_BACK
        own = self._field_names | {spaced(part) for part in given if isinstance(part, str)}
        for key, part in value.items():
            name, said = spaced(key), folded(part).strip(" .") if isinstance(part, str) else part
            if name in takes_back - own and (said is True or said in _YES):
                return key
            corrects = name in _CORRECTS - own and isinstance(part, str) and has_words(part)
            meant = corrects and self.bare_field is not None and self.bare_field.read(part) is not MISSING
            if corrects and not meant and said not in _NO_CORRECTION:
                return key
        return ""

    def may_answer(self, name: str) -> bool:
        """Return whether a function of this name may give the answer: it is the question's, or names a choice."""
        choices = [value for field in self.fields for value in field.values if isinstance(value, str)]
        every = (*self._every_name, *self._field_names, *choices)
        return may_answer(name, every) and not (not self.decides and chooses(name, every))

    @cached_property
    def _own_keys(self) -> Mapping[str, bool]:
        """The keys of an answer: True for a field's own name, False for its other names."""
        every = {name: False for names in self.names.values() for name in names}
        return every | {folded(field.name): True for field in self.fields}

    def _stage(self, each: Object) -> str:
        if each.state != "strict" or self.body != self._split[0]:
            return "repaired"
        if self.body.strip() == self.body[each.start : each.end]:
            return "json"
        return "fenced" if each.fenced else "embedded"

    def _stands_alone(self, each: Object, record: Mapping[str, Any]) -> bool:
        texts = [part for part in record.values() if isinstance(part, str)]
        if not self.decides and any(map(_FORM.fullmatch, texts)):
            return False
        inside = any(start <= each.start < end for start, end in self.sections.covered)
        return not inside and self.around.stands_alone(each.start, each.end)

    @cached_property
    def _member(self) -> re.Pattern[str]:
        """The pattern for a member of an object whose key is one of the fields."""
        names = {name for field in self.fields for name in (field.name.casefold(), *self.names[field.path][:1])}
        key = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return re.compile(rf"[{{,]\s*+[\"'“]?(?:{key})[\"'”]?\s*+:", re.IGNORECASE)

    def _values(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the values of an object by path, without words unless the answer is nothing else."""
        for field in self.fields:
            if field.kind == "record" or (field.kind == "words" and self.decides):
                continue
            value: Any = record
            for part in field.path.split("."):
                value = value.get(part, MISSING) if isinstance(value, Mapping) else MISSING
            if value is not MISSING:
                yield field.path, value

    # words

    def labelled(self, path: str) -> str:
        """Return the words of a field that a heading or a tag announces.

        Raises `UnreadableReply` if words that others may hear hold a control token or cannot be told from private ones.
        """
        start, end = self.sections.words[path]
        words = self.prose[start:end]
        if path.rpartition(".")[2] not in REASONS:  # others may hear the words
            if CONTROL_MARK in words:
                raise UnreadableReply(
                    f"The words of {path} hold a control token of a chat template. Answer without it."
                )
            others = [name for field in self.fields if field.path != path for name in self.names[field.path]]
            words = aloud(words, self.names[path], others, any_text=self.request.any_text)
        return _trimmed(words)

    def besides(self, each: Candidate) -> str:
        """Return the prose without a candidate's lines, and without the line above if that only announces it."""
        before = self.prose[: self.around.line(each.start)[0]].rstrip()
        above = before.rfind("\n") + 1
        if is_lead_in(folded(before[above:]), self.around.names):
            before = before[:above]
        return _trimmed(f"{before}\n{self.prose[self.around.line(each.end)[1] :]}")


def _without_name(text: str, player: str) -> str:
    """Return a reply without a ChatML header that has the player's own name as its role."""
    begins = re.match(rf"\s*<\|im_start\|>\s?{re.escape(player)}[ \t]*\n", text)
    return text[begins.end() :] if begins else text


def _holds_placeholder(record: Mapping[str, Any] | None) -> bool:
    return any(isinstance(part, str) and _PLACEHOLDER.fullmatch(part) for part in (record or {}).values())


def _trimmed(words: str) -> str:
    return (
        re.sub(r"\n{3,}", "\n\n", words.replace(REMOVED_MARK, "").replace(CONTROL_MARK, ""))
        .strip()
        .strip('*_"“” \n')
        .strip()
    )


def _without_tokens(text: str) -> str:
    return masked(text, list(token_spans(text)), " ")


# -- deciding


def _leading(reply: Reply) -> Reading[Any]:
    """Read the object at the beginning of the reply; any text may follow it."""
    first = next(iter(reply.objects), None)
    if first is None or not _BEFORE_A_CALL.fullmatch(_without_tokens(reply.body[: first.start])):
        raise UnreadableReply("The reply must begin with the JSON object.")
    candidate = reply.of_object(first)
    if candidate is None or candidate.record is None:
        raise UnreadableReply("There is no complete JSON object at the beginning of the reply.")
    return Reading(reply.request.decision_of(candidate.record), candidate.stage, repaired=candidate.stage == "repaired")


def _from_candidates(reply: Reply, candidates: Sequence[Candidate]) -> Reading[Any]:
    alone = [each for each in candidates if each.legal and each.stands_alone]
    if not alone:
        raise _none_alone(reply, candidates)
    final = max(alone, key=lambda each: each.end)
    for each in candidates:
        if not each.legal and each.start >= final.end:
            raise _no_value_error(reply, each)
        if each.legal and (two := _differ(*sorted((each, final), key=attrgetter("start")))):
            raise _two(two)
    behind = reply.around.plain[max(each.end for each in candidates) :]
    if has_words(behind) or "?" in behind:
        raise AmbiguousReply("The reply decides, and then says more that may take it back. Answer with that alone.")
    # of candidates that agree: the best stage, then the most fields, then the last
    best = max(
        alone, key=lambda each: (_STAGES.index(each.stage), sum(map(bool, (each.record or {}).values())), each.end)
    )
    said = _with_words(reply, best) if best.record is None else best.record
    return Reading(reply.request.decision_of(said), best.stage, len(candidates), repaired=best.stage == "repaired")


def _none_alone(reply: Reply, candidates: Sequence[Candidate]) -> DecisionError:
    legal = [each for each in candidates if each.legal]
    if two := next(filter(None, (_differ(legal[0], each) for each in legal)), ""):
        return _two(two)
    if legal:
        return AmbiguousReply("The reply names a decision among other words. Answer with that alone.")
    return _no_value_error(reply, candidates[-1])


def _two(values: str) -> AmbiguousReply:
    return AmbiguousReply(f"The reply says {values}. Decide for exactly one.")


def _no_value_error(reply: Reply, each: Candidate) -> DecisionError:
    """Return the error for a candidate without a legal value."""
    field = reply.bare_field
    if field is not None and field.kind == "number" and each.stage != "broken":
        return UnreadableReply(f"{field.path} must be a whole number, written in plain digits.")
    if each.named is None:
        return UnreadableReply("There is no complete JSON object in the reply.")
    return IllegalDecision(f"{each.named[:40]!r} cannot be chosen.")


def _differ(one: Candidate, other: Candidate) -> str:
    """Return the two values in which candidates differ, as text for an error, or ""."""
    for path in (path for path in one.values if path in other.values):
        pair = [json.dumps(each.values[path], ensure_ascii=False, sort_keys=True, default=str) for each in (one, other)]
        if pair[0] != pair[1]:
            return f"{' and '.join(each[:40] for each in pair)} for {path}"
    return ""


def _with_words(reply: Reply, each: Candidate) -> dict[str, Any]:
    """Return the object of a candidate in prose, with the words around it in the other fields."""
    said: dict[str, Any] = {}
    values = dict(each.values)
    if reply.truncated and reply.sections.words:  # labels have no end, so that the last words may be half
        raise UnreadableReply("The words are cut off.")
    for field in reply.fields:
        if field.kind == "words" and field.path in reply.sections.words:
            values[field.path] = reply.labelled(field.path)
        elif field.kind == "words" and field.name in REASON_FIELDS:
            values[field.path] = reply.besides(each)
    for path, value in values.items():
        *parents, name = path.split(".")
        record = said
        for parent in parents:
            record = record.setdefault(parent, {})
        record[name] = value
    return said


def _without_candidates(reply: Reply, *, last_attempt: bool) -> Reading[Any]:
    """Read the words if they are the answer. Raises `UnreadableReply` or `AmbiguousReply` if not."""
    if any(each.state in {"cut", "broken"} for each in reply.objects):
        raise UnreadableReply("There is no complete JSON object in the reply.")
    if reply.speaks:
        if is_part_of_object(reply.body, (*reply.speech, *_MEMBERS)):
            raise UnreadableReply("There is no complete JSON object in the reply.")
        if reply.is_meant_as_object:
            raise UnreadableReply("There is no complete JSON object in the reply.")
        if reply.bare_field is not None and _names_a_value(reply, reply.bare_field):
            raise AmbiguousReply("The reply may decide in prose. Answer with the decision alone.")
        return _read_prose(reply, last_attempt=last_attempt)
    if len(whole := [each.value for each in reply.objects if each.value is not None]) == 1:
        if not reply.decides:
            return Reading(
                reply.request.decision_of(reply.shape.of(whole[0], reply.request.answer_fields.parts)), "json"
            )
        missing = [field.name for field in reply.essential_fields if field.name not in whole[0]] or [
            "what was asked for"
        ]
        raise UnreadableReply(f"The JSON object lacks {' and '.join(missing)}.")
    if not reply.decides and reply.sections.words:
        if reply.truncated:
            raise UnreadableReply("The words are cut off.")
        said = {path: reply.labelled(path) for path in reply.sections.words}
        return Reading(reply.request.decision_of(said), "label")
    raise UnreadableReply("There is no decision in the reply.")


def _names_a_value(reply: Reply, bare_field: Field) -> bool:
    words = words_in(reply.plain)
    said = f" {' '.join(words)} "
    for value in (folded(str(value)) for value in bare_field.values):
        if value in words or (" " in value and f" {' '.join(words_in(value))} " in said):
            return True
        if not value.isascii() and value in reply.plain:  # in scripts without spaces, a name is not a word of its own
            return True
    return False


def _read_prose(reply: Reply, *, last_attempt: bool) -> Reading[Any]:
    if reply.ends_in_thinking:
        raise UnreadableReply("A heading of thinking stands below the words. Answer with the words alone.")
    words, _ = reply.aloud
    if reply.request.any_text and cuts_words(reply.body, reply.speech):
        raise UnreadableReply("The words cannot be told from what stands above them. Answer with the words alone.")
    stage = "words"
    if reply.truncated:
        if not last_attempt:
            raise UnreadableReply("The words are cut off.")
        stage, words = "cut", last_sentence(words)
        if not words:
            raise UnreadableReply("The words are cut off before their first sentence ends.")
    decision = reply.request.decision_of_prose(words)
    assert decision is not None, "asked of requests alone that take words"
    return Reading(decision, stage)
