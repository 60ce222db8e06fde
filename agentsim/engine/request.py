"""Requests: questions to a player, with everything needed to answer them, to judge the answers, and to ask again.

A request is plain frozen data built from the player's knowledge. It does not depend on who answers it (a model, a bot,
a person, a journal), nor on what happens after the decision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, dataclass_transform, get_args

from pydantic import ValidationError

from agentsim.engine.codec import adapter, canonical, computed_once, json_fields, values_by_path
from agentsim.engine.decision import Decision, Reading, unanswerable
from agentsim.engine.event import PlayerId
from agentsim.engine.options import (
    MISSING,
    FieldOverride,
    FormField,
    JsonObject,
    LegalValues,
    Options,
    Schema,
    asked_for,
    bare_field,
    checked,
    options_in,
    record_of,
)
from agentsim.engine.wording import Prompt, snake_case
from agentsim.errors import IllegalDecision, RulesBroken, UnreadableReply, first_objection

D = TypeVar("D", bound=Decision)


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Request(Generic[D]):
    """The base of a game's requests: records named by their question; each subclass becomes a frozen dataclass.

    `Bid(Request[BidCast])` is answered by a `BidCast`. `kind` names the question in the history, by default the class's
    name in snake case. A subclass adds the fields of its view, and implements `prompt`; `options` if legal values
    depend on the state; `fallback` if an option has no `if_null`; `check` if legality is more than the options;
    `decision_of` if an object is more than its fields. Replies are read in the same way for every request
    (`engine.reading`).
    """

    kind: ClassVar[str]
    answer: ClassVar[type[Decision]]
    object_first: ClassVar[bool] = False
    """Whether a reply must begin with its JSON object; the text after it is ignored."""
    quotes: ClassVar[frozenset[str]] = frozenset()
    """Lowercase keys of records in the prompt: an object with one of them is a quotation, not an answer."""
    null_objects: ClassVar[Mapping[str, Any]] = {}
    """The meaning of null, "pass" or "nobody" for fields that are objects, by path; `Options` have that of others."""
    prose: ClassVar[str | None] = None
    """The field that plain prose fills, or None if prose alone is not an answer."""
    any_text: ClassVar[bool] = False
    """Whether any prose is an answer, including lists and markup, if prose is one."""
    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Other words for its choices, in lowercase, by value."""
    labels: ClassVar[Mapping[str, str]] = {}
    """Plain words for its fields and choices, by name, for a person; by default the name with blanks."""
    schema_name: ClassVar[str | None] = None
    """The name of the decision for a provider, as a schema or a function, or None for the kind."""
    on_call: ClassVar[bool] = False
    """Whether a person is asked only after ringing for it (Ctrl-C), and otherwise answers the fallback."""
    particulars: ClassVar[tuple[str, ...]] = ()
    """Fields, or parts of them (`lot.high`), that distinguish this question from others with equal options."""
    fallback_always_legal: ClassVar[bool] = False
    """Whether the fallback, an abstention, is legal although no answer can express it."""
    unshown: ClassVar[Mapping[str, str]] = {}
    """Fields that no prompt shows, with the reason, by path: `menu.tools`; `#` is any entry of a list."""
    leak_exempt: ClassVar[Mapping[str, str]] = {}
    """Fields that depend on more than their player was told, with the reason, by path: `world.totals` are public."""

    player: PlayerId

    def __init_subclass__(cls, *, kind: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = kind or snake_case(cls.__name__)
        for record in (each for base in cls.__dict__.get("__orig_bases__", ()) for each in get_args(base)[:1]):
            if isinstance(record, type):  # not a type variable, as of a base of several requests
                cls.answer = record
                if problem := unanswerable(record):
                    raise TypeError(f"{cls.__name__}: {problem}")
        if not hasattr(cls, "answer") and not getattr(cls, "__parameters__", ()):
            raise TypeError(f"{cls.__name__} names no answer: write `class {cls.__name__}(Request[Answer])`")
        dataclass(frozen=True, kw_only=True)(cls)

    def in_private(self, said: Mapping[str, Any]) -> bool:
        """Return whether only some players hear the words of a record of an answer, as of a message to one of them."""
        return False

    @classmethod
    def label(cls, name: str) -> str:
        """Return the plain words for a field or a choice."""
        return cls.labels.get(name) or name.replace("_", " ")

    def options(self) -> Options:
        """Return the legal values, by field; by default those in the answer's annotations."""
        return options_in(self.answer, self)

    @computed_once
    def checked_options(self) -> Options:
        """The `options` of this request, computed once. Raises `TypeError` for a path that its answer lacks."""
        return checked(self.answer, self.options(), type(self).__name__)

    @computed_once
    def legal(self) -> Mapping[str, Any]:
        """The options of single values, by path."""
        return {
            path: legal for name, option in self.checked_options.items() for path, legal in option.by_path(name).items()
        }

    @computed_once
    def answer_fields(self) -> JsonObject:
        """The fields of an answer with their options."""
        return self.build_answer_fields()

    def build_answer_fields(self) -> JsonObject:
        """Return the fields of an answer, with the options that this request states and those of their types."""
        return record_of(self.answer, self.checked_options)

    def prompt(self) -> Prompt:
        """Return the question in words, without the player's persona."""
        raise NotImplementedError

    def fallback(self) -> D:
        """Return the decision without a usable reply: always legal, a pure function of the request.

        By default: no words, no entries, False for yes or no, and for other fields the value of their option that
        stands for nothing. Raises `RulesBroken` if some field has none.
        """
        said: dict[str, Any] = {
            name: False for name, field in self.answer.model_fields.items() if field.annotation is bool
        }
        fallbacks = ((name, option.fallback_value) for name, option in self.checked_options.items())
        said |= {name: value for name, value in fallbacks if value is not MISSING}
        try:
            return self.answer.model_validate(said)  # type: ignore[return-value] # `answer` is D's class
        except ValidationError as error:
            name = type(self).__name__
            field = first_objection(error)[0]
            raise RulesBroken(
                f"{name} has no fallback for {field}: give each option an `if_null`, or write `{name}.fallback`"
            ) from None

    def fallback_after(self, problem: str) -> D:
        """Return the decision after a reply that could not be used: by default the fallback.

        `problem` is what is wrong with the reply, in words that the rules may tell its player.
        """
        return self.fallback()

    def check(self, decision: D) -> None:
        """Raise `IllegalDecision` with a reason in words for the model if the decision is not legal."""
        try:
            given = values_by_path(decision)
            for path, option in self.checked_options.items():
                if path in given:
                    self.check_value(path, option, given)
            if reason := self.why_not(decision):
                raise IllegalDecision(reason)
        except IllegalDecision:
            if not (self.fallback_always_legal and decision == self.fallback()):
                raise

    def why_not(self, decision: D) -> str:
        """Return why a decision within the options is not legal, in a sentence for the model, or ""."""
        return ""

    def check_value(self, path: str, option: LegalValues, given: Mapping[str, Any]) -> None:
        """Raise `IllegalDecision` if the value at a path of a decision is not legal; `given` are its values by path."""
        if reason := option.objection(path, given):
            raise IllegalDecision(f"{reason}.")

    def warning(self, decision: D) -> str:
        """Return why a legal decision will have no effect, for a person at a form, or ""."""
        return ""

    def parse(
        self, text: str, *, truncated: bool = False, last_attempt: bool = False, repair: bool = True
    ) -> Reading[D]:
        """Return the decision in a reply's text. Raises `UnreadableReply`, `AmbiguousReply` or `IllegalDecision`.

        `truncated` is True if the reply was cut off at its maximum length, `last_attempt` if the question is not asked
        again, and `repair` if objects with broken punctuation are read.
        """
        from agentsim.engine.reading.reader import read

        return read(self, text, truncated=truncated, last_attempt=last_attempt, repair=repair)

    def is_forfeit(self, text: str) -> bool:
        """Return whether a model's reply is lost without being read or asked again; by default none is."""
        return False

    def decision_of_prose(self, words: str) -> D | None:
        """Return the decision that plain prose is, or None if prose alone is not an answer."""
        return self.decision_of({self.prose: words}) if self.prose else None

    def fits(self, said: Mapping[str, Any]) -> bool:
        """Return whether an object has exactly the expected keys, and choices in their exact spelling."""
        return self.answer_fields.fits(said)

    def knows(self, said: Mapping[str, Any]) -> bool:
        """Return whether an object and those in it have only keys of an answer, or of its only field."""
        fields = tuple(self.answer_fields.parts.values())
        return self.answer_fields.knows(said) or (
            len(fields) == 1 and fields[0].kinds is not None and fields[0].knows(said)
        )

    def may_be_answer(self, said: Mapping[str, Any]) -> bool:
        """Return whether an object can be the answer if a reply has several candidates."""
        return True

    def decision_of(self, said: Mapping[str, Any]) -> D:
        """Return the decision of an object in the spelling of `schema`. Raises `UnreadableReply` if it does not fit."""
        try:
            return self.answer.model_validate(self._worded(said))  # type: ignore[return-value] # `answer` is D's class
        except ValidationError as error:
            where, why = first_objection(error)
            raise UnreadableReply(f"In the JSON object, {where or 'the object'}: {why}.") from None

    def _worded(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields of a decision from the object of an answer, as their options gather them."""
        bare = bare_field(self.answer, self.checked_options)
        fields: dict[str, Any] = {bare: said} if bare else dict(said)
        for path, option in self.checked_options.items():
            value = option.converted(fields.get(path, MISSING), fields)
            if value is not MISSING:
                fields[path] = value
        return fields

    @computed_once
    def null_values(self) -> Mapping[str, Any]:
        """The meaning of null, "pass" or "nobody", by the path of a field."""
        said = {path: option.if_null for path, option in self.legal.items() if option.if_null is not None}
        return {**self.null_objects, **said}

    def form(self) -> str:
        """Return the shape of an answer, with its legal values: `{"explanation": "<why>", "vote": "<C, B or D>"}`."""
        return asked_for(self.answer_fields, self.field_overrides()).words("")

    @property
    def answer_line(self) -> str:
        """The last line of a prompt: how to answer, derived from the legal values."""
        return f"Answer: {self.form()}"

    def named_numbers(self) -> Mapping[str, int]:
        """Return names that a form accepts for the numbers in this question's lists, such as deeds for positions."""
        return {}

    def form_field(self, path: str, option: LegalValues, answered: Mapping[str, Any]) -> FormField:
        """Return a field of a form, given the answers before it, which may make it unnecessary.

        For a field of a field (`action.bid`), `answered` are the answers beside and around it. A form does not ask for
        a `Fixed` option.
        """
        more = self.field_overrides().get(path) or FieldOverride()
        return FormField(more.for_people or option.given(answered), more.hint, more.preset)

    def field_overrides(self) -> Mapping[str, FieldOverride | None]:
        """Return the state's limits on fields, by path; None for a field that cannot matter and is not asked for."""
        return {}

    def fingerprint_fields(self) -> Mapping[str, Any]:
        """Return JSON values that distinguish this question from others of its kind with equal options.

        They must not contain wording.
        """
        return {name: value(self) for name, value in _getters(self.particulars)}

    def fields_for_model(self) -> JsonObject:
        """Return the fields that a model is asked for: those that can matter now. Replies with others are read too."""
        return asked_for(self.answer_fields, self.field_overrides(), closely=True)

    def schema(self) -> Schema:
        """Return a JSON Schema of the decision: one object, every field required, closed choices as `enum`."""
        return self.fields_for_model().schema()

    @computed_once
    def fingerprint(self) -> str:
        """16 hex digits that identify kind, player, legal options and particulars, but no wording."""
        fields, options = self.fingerprint_fields(), self.checked_options
        assert fields or all(option.is_in_fingerprint for option in options.values()), (
            f"{self.kind}: no fingerprint names the options in a `PerKey`"
        )
        whose = _canonical_names(self.kind, self.player)
        text = f"[{whose}, {self.canonical_options()}, {canonical(dict(fields))}]"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def canonical_options(self) -> str:
        """Return the options by path as the text that the fingerprint hashes."""
        options: Mapping[str, Any] = self.checked_options
        legal = [
            (path, each.identity) for name, option in options.items() for path, each in option.by_path(name).items()
        ]
        return _canonical_legal(type(self), *legal)  # type: ignore[arg-type] # a class can be hashed

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON values; `restore` returns an equal request."""
        return json_fields(self)

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> Request[D]:
        """Return the request that `to_json` came from."""
        request: Request[D] = adapter(cls).validate_python(dict(data))
        return request


@lru_cache(maxsize=1024)
def _canonical_names(kind: str, player: PlayerId) -> str:
    return f"{canonical(kind)}, {canonical(player)}"


@lru_cache(maxsize=1024)  # the options of most questions are those of an earlier one
def _canonical_legal(question: type[Request[Any]], *legal: tuple[str, tuple[object, ...]]) -> str:
    """Return the `canonical` text of the options of a class of questions: paths with the identities of options."""
    return canonical(dict(legal))


@cache
def _getters(paths: tuple[str, ...]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """Return the last name of each path of a record, with the function that finds its value."""
    return tuple((path.rpartition(".")[2], attrgetter(path)) for path in paths)


class Ask(NamedTuple):
    """A request with its place: `index` counts all decisions from 1, `nth` those of this player and kind.

    `round` is the round in which it is asked; of a survey, that at whose end it is held.
    """

    index: int  # type: ignore[assignment] # hides a method of tuples that is not needed here
    wave: int
    place: int
    nth: int
    request: Request[Any]
    announced: tuple[str, ...] = ()
    """The announcements since the rules made the request, or all of them, after a line that introduces them."""
    round: int = 0

    def prompt(self) -> Prompt:
        """Return the question in words, with the announcements."""
        prompt = self.request.prompt()
        return replace(prompt, state=(*prompt.state, *self.announced)) if self.announced else prompt


class Wave(NamedTuple):
    """Requests to be decided at once; `number` counts from 1."""

    number: int
    asks: tuple[Ask, ...]
