"""Shaping: an object of a reply in the spelling of the question's schema, with its keys, names, numbers and words.

`{"Vote": "player c"}` becomes `{"vote": "C"}`. A value that means none of the legal ones stays as it is: the request's
check refuses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeAlias

from agentsim.engine.functions import chooses, is_thinking, may_answer
from agentsim.engine.markup import NO_SPEAKERS, Speakers, first_turn, label_in, plain_tags, token_in, without_header
from agentsim.engine.options import MISSING, Choice, JsonObject, Kind, Kinds, LegalValues, Synonyms
from agentsim.engine.reading.calls import calls, function_called, named_calls
from agentsim.engine.reading.fields import (
    REASONS,
    Field,
    chosen,
    fields_of,
    is_private_field,
    named,
    other_names,
    yes_or_no,
)
from agentsim.engine.reading.layers import decoded_value, turn_of
from agentsim.engine.reading.speech import (
    THINKING,
    as_stated,
    audience_label,
    in_later_channel,
    split,
)
from agentsim.engine.reading.text import (
    bounded,
    compact,
    decoded,
    folded,
    has_words,
    listed,
    scan,
    spaced,
    without_fences,
    words_in,
)
from agentsim.engine.wording import cleaned
from agentsim.errors import AmbiguousReply, UnreadableReply
from agentsim.patterns import Pattern

Parts: TypeAlias = Mapping[str, LegalValues]
_WRAPPERS = frozenset(
    listed("""
    action, action_input, answer, args, arguments, call, content, data, decision, final, final_answer, finalanswer,
    function, function_call, functioncall, input, json, kwargs, make_decision, message, output, parameters, params,
    payload, properties, reply, response, result, tool, tool_call, tool_calls, tool_input, tool_use, toolcall,
    toolinput, tooluse
""")
)
"""Keys of an object that holds the answer: `{"answer": {"vote": "C"}}`."""

_MOST_LEVELS = 5
_ARGUMENTS = frozenset(
    listed("""
    action_input, args, arguments, data, details, function, input, kwargs, parameters, params, payload, properties,
    tool_input
""")
)
"""Keys of an object that holds the fields of a variant, beside its kind."""
_CALLED = listed("name, function, tool, tool_name, function_name, recipient_name")
"""Keys of a called function's name."""
_CALL_ARGUMENTS = frozenset(listed("action_input, args, arguments, input, kwargs, parameters, params, tool_input"))
"""Keys of the arguments of a call, beside its name."""
_HOLDS_CALLS = listed("function, function_call, functioncall, tool_call, tool_calls, tool_use, toolcall, tooluse")
"""Keys of an object that holds a call."""
_KINDS = (*listed("type, kind, action, action_type, do, command"), *_CALLED)
"""Keys of a variant's kind in a reply that does not use its tag."""
_SCHEMA_KEYS = frozenset(
    listed("""
    $comment, $id, const, default, description, enum, example, examples, format, maximum, maxlength, minimum, minlength,
    nullable, pattern, title, type, value
""")
)
"""Keys of a field's JSON Schema: some models answer with the schema and put the value into it (`"const": "C"`)."""

_REVISES = frozenset(
    listed("""
    actual, actually, adjusted, amended, amendment, another, better, changed, confirmed, corrected, correction,
    correct, definitive, edit, edited, final, fix, fixed, instead, last, latest, new, now, official, override, real,
    really, reconsidered, replacement, resolved, revised, revision, second, submitted, true, truly, ultimate, update,
    updated
""")
)
"""Words of a key that gives a value again, such as `final_vote` beside `vote`."""
_LITTLE = frozenset(
    listed(
        "a, an, do, for, i, is, it, just, let, make, me, mine, my, our, own, that, the, this, to, we, will, would, your"
    )
)
_DENIES = frozenset(listed("don, don't, dont, doesn't, never, no, non, not"))
_OTHERS = frozenset(
    listed("""
    alternate, alternative, avoid, avoided, backup, before, considered, earlier, estimated, expected, explanation,
    fallback, former, highest, if, initial, initially, keep, likely, lowest, max, maximum, min, minimum, old, opponent,
    original, originally, other, others, past, predicted, preliminary, previous, previously, prior, rationale, reason,
    reasoning, rejected, runner, runnerup, saved, safe, their, them, why
""")
)
"""Words of a key that is about another time, person or reason, such as `previous_vote`."""
_LONGEST_KEY = 400  # characters
_MOST_MEMBERS = 1_000  # in an object
_HUMPS = Pattern(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)")


def unwrapped(
    value: Mapping[str, Any], own: Mapping[str, bool], kind: str, level: int = 0
) -> tuple[Mapping[str, Any], str]:
    """Return the object within a wrapping and the name of the function that is called, or "" if none is.

    `{"name": "work", "arguments": {"hours": 2}}` gives `{"hours": 2}` and `work`; `{"answer": {"vote": "C"}}` gives
    `{"vote": "C"}` and "". The question's `kind` is also a key of a wrapping, and is not returned as a function.

    `own` are the keys of an answer. An object that has one is the answer itself and stays, unless the key is False in
    `own` and holds an object, or stands beside a call in a message: the `content` there is a preamble or empty.
    """
    keys = {_key(name): part for name, part in value.items()}
    if not any(own.get(key) for key in keys) and any(called_in(keys.get(key)) for key in _HOLDS_CALLS):
        keys = {key: part for key, part in keys.items() if key in _HOLDS_CALLS}
    if any(own[key] or not isinstance(part, Mapping) for key, part in keys.items() if key in own):
        return value, ""
    inside = [part for key in keys if key in _WRAPPERS or key == kind if (part := _object_in(keys[key])) is not None]
    inside = [part for part in inside if part] or inside
    called = next((keys[key] for key in _CALLED if isinstance(keys.get(key), str)), "").rpartition(".")[2]
    called = "" if _key(called) == kind else called
    if len(inside) != 1:
        return value, ""
    (one,) = inside
    if level < _MOST_LEVELS:
        one, inner = unwrapped(one, own, kind, level + 1)  # {"function": {"name": ..., "arguments": {...}}}
        called = inner or called
    return one, called


def called_in(value: Any, level: int = 0) -> str:
    """Return the name of the function that an object calls, or "": `work` for `{"name": "work", "arguments": {}}`.

    A call may stand in a list of one, or under a key such as `tool_calls`.
    """
    if isinstance(value, list) and len(value) == 1:
        return called_in(value[0], level)
    if not isinstance(value, Mapping) or level > _MOST_LEVELS:
        return ""
    keys = {_key(name): part for name, part in value.items()}
    if not _CALL_ARGUMENTS.isdisjoint(keys):
        named_by = (*_CALLED, "action") if "action_input" in keys else _CALLED
        if name := next((part for key in named_by if isinstance(part := keys.get(key), str)), ""):
            return name
    return next(filter(None, (called_in(keys[key], level + 1) for key in _HOLDS_CALLS if key in keys)), "")


def _object_in(part: Any) -> Mapping[str, Any] | None:
    """Return an object from itself, its JSON or a list of one, or None."""
    if isinstance(part, list) and len(part) == 1:
        return _object_in(part[0])
    if isinstance(part, str) and part.lstrip()[:1] in {"{", '"', "`"}:
        try:
            part = decoded(without_fences(turn_of(part)).strip())
        except (ValueError, RecursionError):
            return None
    return part if isinstance(part, Mapping) else None


def _key(name: str) -> str:
    return folded(name).strip()


@dataclass(frozen=True)
class Shape:
    """The vocabulary of a question, and the methods that shape objects with it.

    `null_values` are the meanings of null by path, `synonyms` other words for choices, `names` those of fields by path.
    """

    null_values: Mapping[str, Any]
    synonyms: Synonyms
    names: Mapping[str, Sequence[str]]
    lone: str = ""
    """The path of the only outermost field that decides, or "": if it is a record, its one field may stand for it."""
    speakers: Speakers = NO_SPEAKERS
    """The names in the question."""
    any_text: bool = False
    """True if words may be any text, including lists and markup."""
    words_alone: bool = False
    """True if an answer is nothing but words, so that one without them is none."""
    in_private: Callable[[Mapping[str, Any]], bool] = lambda record: False
    """Tells whether only some players hear the words of a record."""

    def of(self, value: Mapping[str, Any], properties: Parts, path: str = "") -> dict[str, Any]:
        """Return an object with the schema's keys and, if they are clear, its values; all else stays as it is.

        Raises `AmbiguousReply` if two keys give one field different values, and `UnreadableReply` if an object within
        the answer has none of its keys.
        """
        value = value if path else self._as_call(value, properties)
        out: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for key, given in bounded(value.items(), _MOST_MEMBERS):
            name = self._property(key, properties, path)
            if name is None:
                others[key] = given
                continue
            fitted = properties[name].shape(given, f"{path}{name}", value, self)
            is_words = properties[name].kind == "words"
            if name in out and is_words and "" in (out[name], fitted):
                fitted = out[name] or fitted
            elif name in out and name in REASONS:
                fitted = fitted if spaced(key) == spaced(name) else out[name]  # its own key comes first
            elif name in out and _as_json(out[name]) != _as_json(fitted):
                raise AmbiguousReply(f"The key {name!r} stands twice with different values.")
            if fitted is not None or not is_words:
                out[name] = fitted  # null words are left out
        for name, option in properties.items():
            if name in out and others:
                self._check_for_another(name, out[name], option, others, path)
        if path and others and not out:
            raise UnreadableReply(f"In the JSON object, {path.rstrip('.')} has none of: {', '.join(properties)}.")
        inside = self._said_beside(others, {name: properties[name] for name in properties if name not in out}, path)
        return {**others, **out, **inside}

    def called(self, value: Mapping[str, Any], name: str, properties: Parts) -> Mapping[str, Any]:
        """Return the answer that a call of the function `name` gives.

        For an answer of `action` and its parameters `task`, a call of `work` with `{"hours": 2}` gives
        `{"action": "work", "task": {"hours": 2}}`. Words beside them are empty, because a call has no place for them.
        If the name chooses nothing in this answer, return `value`.
        """
        tag = next((option.tag for option in properties.values() if isinstance(option, Kinds)), "")
        if tag:
            return value if tag in map(_key, value) else {**value, tag: name}
        found = _choice_of(properties)
        if found is None or found[0] in map(_key, value) or chosen(name, found[1]) is MISSING:
            return value
        choice, _, record = found
        own = {key: part for key, part in value.items() if self._property(key, properties, "")}
        words = {each: "" for each, option in properties.items() if option.kind == "words"}
        rest = {key: part for key, part in value.items() if key not in own}
        return {**words, choice: name, record: rest, **own}

    def _as_call(self, value: Mapping[str, Any], properties: Parts) -> Mapping[str, Any]:
        """Return the answer for a choice whose object holds its parameters: `{"action": {"type": "work", "hours": 2}}`.

        Any other object is returned as it is.
        """
        found = _choice_of(properties)
        if found is None:
            return value
        choice, names, record = found
        given = next((part for key, part in value.items() if _key(key) == choice), MISSING)
        call = given if given is not MISSING else value
        if not isinstance(call, Mapping):
            return value
        whole = _of_kind(call, _variant_of(choice, names, properties[record].parts or {}))
        if whole is None:
            return value
        beside = {key: part for key, part in value.items() if _key(key) != choice} if given is not MISSING else {}
        parameters = {key: part for key, part in whole.items() if key != choice}
        return {**self.called(parameters, whole[choice], properties), **beside}

    def _check_for_another(
        self, name: str, given: Any, option: LegalValues, others: Mapping[str, Any], path: str
    ) -> None:
        """Raise `AmbiguousReply` if another key gives a different legal value: `final_vote` beside `vote`."""
        kind, own_path = option.kind, f"{path}{name}"
        if kind not in {"choice", "number", "yes_no"}:
            return
        names = {spaced(name), *self.names.get(own_path, ())}
        field = Field(own_path, option, MISSING, self.synonyms)
        meant = field.read(given)
        for key, other in others.items():
            if other is None or meant is MISSING or len(key) > _LONGEST_KEY:
                continue
            about = field.read(key) if kind != "number" else MISSING
            if about is not MISSING and (told := yes_or_no(other)) is not MISSING:
                at_odds = (about == meant) is not told
            elif (sense := _sense(key, names, kind)) and (
                found := field.read(_plain_value(other, names, kind))
            ) is not MISSING:
                at_odds = (found == meant) is (sense == "denies")
            else:
                at_odds = False
            if at_odds:
                raise AmbiguousReply(f"The keys {name!r} and {key[:40]!r} give different values.")

    def _said_beside(self, others: Mapping[str, Any], missing: Parts, path: str) -> dict[str, Any]:
        """Return the missing records and variants whose fields stand one level above them."""
        out: dict[str, Any] = {}
        for name, option in missing.items() if others else ():
            if option.parts is not None:
                prefix, inner = f"{path}{name}.", option.parts
                if inside := {key: part for key, part in others.items() if self._property(key, inner, prefix)}:
                    out[name] = self.of(inside, inner, prefix)
            elif isinstance(option, Kinds) and (record := _of_kind(others, option)) is not None:
                out[name] = self.variant(record, option, f"{path}{name}", others)
        return out

    def _property(self, key: str, properties: Parts, path: str) -> str | None:
        """Return the name of the field that a key means, or None."""
        if key in properties:
            return key
        if len(key) > _LONGEST_KEY or any(_is_in_variant(key, option) for option in properties.values()):
            return None
        plain, short = _spellings(key)
        for name, option in properties.items():  # `build` for `builds`; `bids` for `bid` is a record of several
            if name.removesuffix("s") == short or (option.kind != "number" and name == short.removesuffix("s")):
                return name
        if not any(_spellings(name)[1] == short for name in properties):
            spaced = plain.replace("_", " ")
            for name, option in properties.items():
                others = other_names(name) if option.kind == "words" else ()
                if spaced in self.names.get(f"{path}{name}", others):
                    return name
        return named(key, properties)

    def value(self, given: Any, option: LegalValues, path: str) -> Any:
        """Return the legal value that JSON means, else the JSON without wrappings.

        Raises `UnreadableReply` for a null at the outermost level that means nothing.
        """
        names = {spaced(path.rpartition(".")[2]), *self.names.get(path, ())}
        given = _plain_value(given, names, option.kind)
        meant = option.read(given, self.null_values.get(path, MISSING), self.synonyms)
        if meant is MISSING and given is None and "." not in path:
            raise UnreadableReply(f"In the JSON object, {path} is null.")
        return given if meant is MISSING else meant

    def spoken(self, given: Any, path: str, beside: Mapping[str, Any]) -> Any:
        """Return the words of a field of the record `beside`, without thinking.

        Raises `UnreadableReply` if nothing is left of words that others hear, unless a tag calls them a thought.
        """
        own = path.rpartition(".")[2]
        names = (spaced(own), *self.names.get(path, ()))
        label = audience_label(given) if is_private_field(own) or self.in_private(beside) else ""
        said = _spoken(
            given[len(label) :] if label else given,
            names,
            self.speakers,
            self.keys,
            reason=own in REASONS,
            any_text=self.any_text,
            private=self.in_private(beside),
        )
        if said == "" and _has_ink(given) and not is_private_field(own) and (self.words_alone or _is_labelled(given)):
            raise UnreadableReply("The words are all thinking. Answer with the words alone.")
        return f"{label}{said}" if label and isinstance(said, str) else said

    @cached_property
    def keys(self) -> frozenset[str]:
        """The folded keys of an answer and of thinking: one of them within words is that of an object."""
        return frozenset((*chain.from_iterable(self.names.values()), *REASONS, *THINKING))

    def record(self, given: Any, option: LegalValues, path: str) -> Any:
        """Return a record with the schema's keys, also from its JSON; anything else stays as it is.

        Null and "nobody" mean the value of the path in `null_values`, and null an empty record if it has none.
        """
        parts = option.parts or {}
        if isinstance(given, str) and (spelt := _object_in(given)) is not None:
            given = spelt
        if isinstance(given, Mapping):
            return self.of(given, parts, f"{path}.")
        if_null = self.null_values.get(path, MISSING)
        if if_null is not MISSING and chosen(given, (), if_null) is not MISSING:
            return if_null
        if given is None:
            return {}
        if path != self.lone:
            return given
        inside = fields_of(parts, self.null_values, self.synonyms, f"{path}.")
        lone = [field for field in inside if field.decides and "." not in field.path.removeprefix(f"{path}.")]
        if len(lone) != 1:
            return given
        meant = lone[0].read(given)  # the value of the record's one field stands in its place
        return {lone[0].name: given if meant is MISSING else meant}

    def variant(self, given: Any, option: Kinds, path: str, whole: Mapping[str, Any]) -> Any:
        """Return a record of one of several kinds, which its tag names, with the schema's keys.

        If `given` is only the kind, the fields are those beside it, in `whole`.
        """
        given = inside if isinstance(given, str) and (inside := _object_in(given)) is not None else given
        record = given if isinstance(given, Mapping) else {**whole, option.tag: given}
        record = _of_kind(record, option) or record
        name = chosen(record.get(option.tag), tuple(option.kinds))
        if name is MISSING:
            return record
        return self.of({**record, option.tag: name}, option.kinds[name].parts, f"{path}.")


def _choice_of(properties: Parts) -> tuple[str, tuple[str, ...], str] | None:
    """Return the choice of an answer, its values, and the record of its parameters.

    Return None if an answer is more than one choice, one record and words.
    """
    kinds = {name: option.kind for name, option in properties.items()}
    choices, records = ([name for name, kind in kinds.items() if kind == each] for each in ("choice", "record"))
    if len(choices) != 1 or len(records) != 1 or set(kinds.values()) - {"choice", "record", "words"}:
        return None
    values = tuple(each for each in properties[choices[0]].values if isinstance(each, str))
    return choices[0], values, records[0]


def _variant_of(choice: str, names: Sequence[str], parameters: Parts) -> Kinds:
    """Return a variant whose kinds are the values of a choice, all with the same parameters."""
    return Kinds(choice, {name: JsonObject({choice: Choice((name,)), **parameters}) for name in names})


def _of_kind(record: Mapping[str, Any], option: Kinds) -> dict[str, Any] | None:
    """Return a record with its kind under the variant's tag and its fields beside it, or None if it names no kind.

    Read are `{"type": kind, ...}`, `{"name": kind, "arguments": {...}}` and `{kind: {...}}`. A record with an unknown
    kind under the tag stays as it is.
    """
    tag, kinds = option.tag, {name: kind.parts for name, kind in option.kinds.items()}
    names = tuple(kinds)
    own = next(
        (
            key
            for key in sorted(record, key=lambda key: key != tag)
            if (key == tag or _key(key) in _KINDS)
            and isinstance(record[key], str)
            and chosen(record[key].rpartition(".")[2], names) is not MISSING
        ),
        None,
    )
    if own is None:
        one = [key for key in record if key in kinds and isinstance(record[key], Mapping)]
        if len(one) == 1 and tag not in record:
            return {**{key: part for key, part in record.items() if key != one[0]}, **record[one[0]], tag: one[0]}
        return {**record} if tag in record else None
    kind = chosen(record[own].rpartition(".")[2], names)
    rest = {key: part for key, part in record.items() if key not in {own, tag} or (key in kinds[kind] and key != tag)}
    for key in [key for key in rest if _key(key) in _ARGUMENTS and key not in kinds[kind]]:
        if (inside := _object_in(rest[key])) is not None:
            del rest[key]
            rest = {**inside, **rest}
    return {tag: kind, **rest}


@lru_cache(maxsize=4096)
def _words_of_key(key: str, names: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a key, each of the names as one word: `vote` and `final` for `finalVote` and `finalvote`."""
    plain = spaced(_HUMPS.sub(" ", key))
    for name in sorted(names, key=len, reverse=True):
        joined, own = compact(plain), compact(name)
        if plain != joined and re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", plain):
            return tuple(words_in(plain.replace(name, f" {compact(name)} ")))
        if own and plain == joined and own != joined and joined.startswith(own):
            rest = joined[len(own) :]
        elif own and plain == joined and own != joined and joined.endswith(own):
            rest = joined[: -len(own)]
        else:
            continue
        if rest in _REVISES or rest in _DENIES or rest in _LITTLE or rest.isdecimal():
            return own, rest
    return tuple(words_in(plain))


def _sense(key: str, names: Collection[str], kind: Kind) -> str:
    """Return "gives" if a key gives a value again (`final_vote`), "denies" if it denies one (`not_vote`), else ""."""
    if spaced(key) == "second choice":
        return ""
    every = frozenset(names)
    words, own = set(_words_of_key(key, every)), set(map(compact, every))
    more = words - own - _LITTLE
    named_so = bool(words & own)
    if named_so and more and more <= _DENIES | _REVISES and more & _DENIES:
        return "denies"
    if more and all(word in _REVISES or word.isdecimal() for word in more):
        return "gives" if named_so or (kind != "yes_no" and not any(word.isdecimal() for word in more)) else ""
    if named_so and (kind == "choice" or not more) and not more & (_OTHERS | _DENIES):
        return "gives"
    return ""


def _is_in_variant(key: str, option: LegalValues) -> bool:
    """Return whether a key is a field of one of a variant's kinds, which may stand beside its tag."""
    return any(key in record.parts for record in (option.kinds or {}).values())


@lru_cache(maxsize=4096)
def _spellings(name: str) -> tuple[str, str]:
    plain = folded(name).strip()
    return plain, compact(plain)


def _spoken(
    given: Any,
    names: Sequence[str],
    speakers: Speakers,
    keys: Collection[str],
    *,
    reason: bool,
    any_text: bool,
    private: bool,
) -> Any:
    """Return words as they stand, without thinking between tags and up to the first end of a turn.

    A `reason` decides nothing: if it is no text it becomes its JSON, and if it holds a control token or a header of a
    turn it becomes "". Raises `UnreadableReply` if other words hold the object of an answer or go on as one with one of
    the `keys`, or go on in another channel or turn.
    """
    for _ in range(_MOST_LEVELS):
        if not isinstance(given, Mapping) or len(held := _held(given)) != 1:
            break
        given = held[0]
    name = "" if reason else called_in(_written(given))
    if name and (is_thinking(name) if any_text else not may_answer(name, names) or chooses(name, names)):
        raise UnreadableReply(f"A text of the JSON object calls {name[:40]!r}. Answer with the words alone.")
    if isinstance(given, str) or (isinstance(given, Mapping) and not reason):
        given = (
            turn_of(given, speakers)
            if isinstance(given, str) and reason
            else decoded_value(given, names, speakers, keys)
        )
    if isinstance(given, str):
        given = cleaned(given)  # before the checks: a line end is one however it is written
        if not reason and in_later_channel(given):
            raise UnreadableReply("The words go on in another channel. Answer without control tokens.")
        said, thoughts = split(given, strict=not reason)
        said = without_header(said.strip() if thoughts else said, speakers)
        if reason:
            return "" if token_in(said) or label_in(said, speakers.of_roles) else said
        said = as_stated(said, names, any_text=any_text, private=private)
        if not any_text and not is_private_field(names[0]) and first_turn(said, speakers=speakers) != said:
            raise UnreadableReply("The words go on in another turn. Answer in your own words alone.")
        if _holds_object(said, names):
            raise UnreadableReply("A text of the JSON object holds an object. Answer with the words alone.")
        return said
    return given if not reason else "" if given is None else _as_json(given)


def _has_ink(given: Any) -> bool:
    return isinstance(given, str) and bool(given.strip(' \n"'))


_ANGLES = tuple("<＜◁⟨&")


def _is_labelled(given: str) -> bool:
    """Return whether a text is a thought under a label that may be a stage direction: `(thinking) Hmm... deal.`"""
    thoughts = split(given)[1]
    return given.lstrip()[:1] not in _ANGLES and bool(thoughts) and given.rstrip().endswith(thoughts[-1])


def _written(given: Any) -> Any:
    """Return the object that a text is as a call or as JSON, or else the value itself."""
    if not isinstance(given, str) or not ("(" in given or "{" in given or "<" in given or "Action" in given):
        return given
    if called := function_called(given):
        return {"name": called, "arguments": {}}
    found = calls(plain_tags(given), ("text",), ()) if "<" in given else []
    objects = found or (list(named_calls(given, scan(given))) if "{" in given else [])
    return objects[0].value if len(objects) == 1 else given


def _holds_object(said: str, names: Collection[str]) -> bool:
    """Return whether words hold the object of an answer: a call, or an object that has one of the `names` as a key.

    Keys of thinking count as well. An object with one of these names is a quotation if several words stand before it
    and some behind it.
    """
    objects = scan(said) if "{" in said and any(quote in said for quote in "\"'“") else []
    for each in objects:
        keys = {*_keys_in(each.value)}
        if keys & {*_CALLED} and keys & _ARGUMENTS:
            return True
        quoted = len(said[: each.start].split()) > 1 and has_words(said[each.end :])
        if keys & {*names, *THINKING} and not quoted:
            return True
    return False


def _keys_in(value: Any) -> Iterator[str]:
    """Yield the keys in a JSON value, folded."""
    for key, part in value.items() if isinstance(value, Mapping) else ():
        yield spaced(key)
        yield from _keys_in(part)
    for part in value if isinstance(value, list) else ():
        yield from _keys_in(part)


def _plain_value(given: Any, names: Collection[str], kind: Kind) -> Any:
    """Return a value without wrappings: `C` for its JSON, `{"vote": "C"}`, and a schema such as `{"value": "C"}`.

    A string with `<s>...</s>` stays as it is, because these tags may strike it out.
    """
    for _ in range(_MOST_LEVELS):
        if isinstance(given, str):
            if "<s>" in given and "</s>" in given and not given.lstrip().startswith("{"):
                return given
            if (called := function_called(given)) and not may_answer(called, names):
                return given
            turn = turn_of(given)
            try:
                given = decoded(turn.strip()) if turn.lstrip()[:1] in {"{", "["} else turn
            except (ValueError, RecursionError):
                return turn
        if not isinstance(given, Mapping):
            return given
        held = _held(given)
        own = [key for key in given if spaced(key) in names] if kind != "list" else []
        others = [part for key, part in given.items() if key not in own]
        if len(held) == 1:
            given = held[0]
        elif len(own) == 1 and all(isinstance(part, str) for part in others):
            given = given[own[0]]
        else:
            return given
    return given


def _held(node: Mapping[str, Any]) -> list[Any]:
    """Return the different values in the schema of a field: `["C"]` for `{"type": "string", "const": "C"}`.

    Return [] for any other object.
    """
    if any(_key(key) not in _SCHEMA_KEYS for key in node):
        return []
    found = [node[key] for key in ("value", "const", "default", "example") if node.get(key) is not None]
    found += [node[key][0] for key in ("enum", "examples") if isinstance(node.get(key), list) and len(node[key]) == 1]
    if any(isinstance(node.get(key), list) and len(node[key]) != 1 for key in ("enum", "examples")) and not found:
        return []
    return [each for index, each in enumerate(found) if each not in found[:index]]


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
