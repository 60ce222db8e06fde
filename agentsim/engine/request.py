"""Request: one question to one player, with everything needed to answer, judge and re-ask it.

A request is plain frozen data built from what its player may know. Who answers it (a model, a bot, a
person, a journal) is none of its business, nor is anything that happens after the decision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar, dataclass_transform, get_args

from pydantic import ValidationError

from agentsim.engine import reading
from agentsim.engine.codec import adapter, canonical, knows, value_at, values, values_at
from agentsim.engine.decision import Decision, Reading, unanswerable
from agentsim.engine.event import PlayerId
from agentsim.engine.options import Choice, Option, Schema, Subset, Text, form_of, options_in
from agentsim.engine.prompt import Prompt
from agentsim.engine.schema import (
    Each,
    Options,
    Variant,
    asked_for,
    bare_field,
    by_path,
    leaves,
    schema_of,
    stated,
    told,
)
from agentsim.engine.wording import snake_case
from agentsim.errors import IllegalDecision, UnreadableReply, first_objection

D = TypeVar("D", bound=Decision)


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Request(Generic[D]):
    """Base of a game's requests: records named by their question; each subclass becomes a frozen dataclass.

    `Bid(Request[BidCast])` is answered by a `BidCast`. `kind` names the question in the history: the class's name in
    small letters where it is not given. A subclass adds the fields of its view, and implements `prompt`; `options`
    where the state decides what is legal; `fallback` where an option has no `nothing`; `check` where legality is more
    than the options say; `decision_of` where an object is more than its fields. How replies are read is the same for
    every request (`engine.reading`).
    """

    kind: ClassVar[str]
    answer: ClassVar[type[Decision]]
    leading: ClassVar[bool] = False
    """Whether a reply must begin with its JSON object, and what follows that is not looked at."""
    quotes: ClassVar[frozenset[str]] = frozenset()
    """Keys, in small letters, of records that the prompt shows: an object with one of them is quoted, and no answer."""
    empty: ClassVar[Mapping[str, Any]] = {}
    """What null, "pass" or "nobody" mean for a field that is an object, by its path; other fields' `Options` say it."""
    prose: ClassVar[str | None] = None
    """The field that plain prose fills, where prose alone is an answer."""
    any_text: ClassVar[bool] = False
    """Whether any prose is an answer, lists and markup too, where prose is one."""
    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Other words for its choices, in small letters, by value."""
    function: ClassVar[str | None] = None
    """What a provider is told that the decision is called, as a schema or a function; the kind where it is None."""
    on_call: ClassVar[bool] = False
    """Whether a person is asked only after having rung for it (Ctrl-C), and is taken to answer the fallback else."""
    particulars: ClassVar[tuple[str, ...]] = ()
    """Fields, or parts of them (`lot.high`), that tell this question from others of its kind where options do not."""
    abstains: ClassVar[bool] = False
    """Whether the fallback is legal though no answer can say it: an abstention."""
    unshown: ClassVar[Mapping[str, str]] = {}
    """Fields that no prompt shows, with the reason, by path: `menu.tools`; `#` is any entry of a list."""
    unheard: ClassVar[Mapping[str, str]] = {}
    """Fields that depend on more than their player was told, with the reason, by path: `world.totals` are public."""

    player: PlayerId

    def __init_subclass__(cls, *, kind: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = kind or snake_case(cls.__name__)
        for record in (each for base in cls.__dict__.get("__orig_bases__", ()) for each in get_args(base)[:1]):
            if isinstance(record, type):  # and no type variable, as of a base of several requests
                cls.answer = record
                if problem := unanswerable(record):
                    raise TypeError(f"{cls.__name__}: {problem}")
        dataclass(frozen=True, kw_only=True)(cls)

    def options(self) -> Options:
        """The legal values, by field: those that stand in the answer's annotations."""
        return options_in(self.answer, self)

    @cached_property
    def stated(self) -> Options:
        """The `options` of this request, made once; `TypeError` for a path that its answer has not."""
        return stated(self.answer, self.options(), type(self).__name__)

    @cached_property
    def legal(self) -> Mapping[str, Option | Subset]:
        """The options of single fields, by path."""
        return by_path(self.stated) if self._records else self.stated  # type: ignore[return-value] # there are no others

    @cached_property
    def _records(self) -> Mapping[str, Each | Variant]:
        """The options of fields that hold several values; most questions have none, and are checked three times."""
        return {path: each for path, each in self.stated.items() if isinstance(each, Each | Variant)}

    def prompt(self) -> Prompt:
        """The question in words, without the player's persona."""
        raise NotImplementedError

    def fallback(self) -> D:
        """What happens when no usable reply comes: always legal, a pure function of the request.

        Where a game does not say: no words, no entries, no to what is asked, and of everything else what stands for
        nothing.
        """
        said: dict[str, Any] = {
            name: False for name, field in self.answer.model_fields.items() if field.annotation is bool
        }
        said |= {name: "" if isinstance(option, Text) else option.nothing for name, option in self.legal.items()}
        said |= {name: {} for name, option in self._records.items() if isinstance(option, Each)}
        return self.answer.model_validate(said)  # type: ignore[return-value] # `answer` is D's class

    def forfeit(self, problem: str) -> D:
        """What happens when a reply came that could not be used: the fallback, where a game does not say more.

        `problem` says what was wrong with it, in words fit for its player, to whom the rules may tell it.
        """
        return self.fallback()

    def check(self, decision: D) -> None:
        """Raise `IllegalDecision` with a reason fit for the model, where the decision is not allowed here."""
        if self.abstains and decision == self.fallback():
            return
        given = values_at(decision)
        for path in filter(given.__contains__, self.legal):
            self.check_value(path, given[path], self.legal[path])
        for path, each in self._records.items():
            said = given[path]
            reason = each.why_not(path, given[each.by], said) if isinstance(each, Variant) else each.why_not(path, said)
            if reason:
                raise IllegalDecision(f"{reason}.")
        if reason := self.why_not(decision):
            raise IllegalDecision(reason)

    def why_not(self, decision: D) -> str:
        """Why a decision within the options is not legal here, in a sentence fit for the model; "" where it is."""
        return ""

    def check_value(self, path: str, value: Any, legal: Option | Subset) -> None:
        """Raise `IllegalDecision` where one value of a decision is not among the legal ones."""
        if reason := legal.why_not(value):
            raise IllegalDecision(f"{path} {reason}.")

    def warning(self, decision: D) -> str:
        """Why an allowed decision will come to nothing: for a person at a form, who may think again."""
        return ""

    def parse(self, text: str, *, cut: bool = False, last: bool = False, repair: bool = True) -> Reading[D]:
        """The decision in a reply's text; `UnreadableReply`, `AmbiguousReply` or `IllegalDecision` else.

        `cut` says that the reply reached its longest allowed length, `last` that the question is not put again, and
        `repair` whether objects with broken punctuation are read.
        """
        return reading.read(self, text, cut=cut, last=last, repair=repair)

    def in_words(self, words: str) -> D | None:
        """The decision that plain prose is; None where prose alone is no answer."""
        return self.decision_of({self.prose: words}) if self.prose else None

    def fits(self, said: Mapping[str, Any]) -> bool:
        """Whether an object has the keys that were asked for and no others, and choices as they are spelt."""
        if said.keys() != self.answer.model_fields.keys():
            return False
        choices = ((path, option.values) for path, option in self.legal.items() if isinstance(option, Choice))
        return all(value_at(said, tuple(path.split("."))) in values for path, values in choices)

    def knows(self, said: Mapping[str, Any]) -> bool:
        """Whether an object, and what is in it, has no keys but those of the whole schema, or of its one field."""
        fields = tuple(self.shape["properties"].values())
        return knows(self.shape, said) or (len(fields) == 1 and "anyOf" in fields[0] and knows(fields[0], said))

    def counts(self, said: Mapping[str, Any]) -> bool:
        """Whether an object can be the answer, where a reply holds others that can."""
        return True

    def decision_of(self, said: Mapping[str, Any]) -> D:
        """The decision of an object, spelt as `schema` has it; `UnreadableReply` where it does not fit."""
        try:
            return self.answer.model_validate(self._worded(said))  # type: ignore[return-value] # `answer` is D's class
        except ValidationError as error:
            where, why = first_objection(error)
            raise UnreadableReply(f"In the JSON object, {where or 'the object'}: {why}.") from None

    def _worded(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields of a decision from the object of an answer, its words as they count."""
        bare = bare_field(self.answer, self.stated)
        fields: dict[str, Any] = {bare: said} if bare else dict(said)
        for path, option in self.stated.items():
            if isinstance(option, Each):
                fields[path] = option.gathered(fields.get(path))
            elif isinstance(option, Variant) and path in fields:
                fields[path] = option.gathered(fields.get(option.by), fields[path])
            elif isinstance(option, Text) and not option.empty and isinstance(fields.get(path), str):
                fields[path] = option.spoken(fields[path])
                if fields[path] is None:
                    raise UnreadableReply("The reply says nothing.")
        return fields

    @cached_property
    def nothing(self) -> Mapping[str, Any]:
        """What null, "pass" or "nobody" mean, by the path of a field."""
        said = {path: option.nothing for path, option in self.legal.items() if option.nothing is not None}
        return {**self.empty, **said}

    def form(self) -> str:
        """The shape of an answer, with its legal values: `{"explanation": "<why>", "vote": "<C, B or D>"}`."""
        return form_of(asked_for(self.shape, self.narrowed()), leaves(self.answer, self.stated))

    @property
    def answer_line(self) -> str:
        """The last line of a prompt: how to answer, derived from what is legal."""
        return f"Answer: {self.form()}"

    def named_numbers(self) -> Mapping[str, int]:
        """Names by which a form takes the numbers in this question's lists, such as deeds for positions."""
        return {}

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of a form's field after the answers before it: what matters no more can be left out.

        Of a field of a field (`action.bid`), `answered` are those beside it. With a `const` it is not asked for at all.
        """
        option = leaves(self.answer, self.stated).get(name)
        if isinstance(option, Variant):
            legal = option.schema_with(answered.get(option.by))
        elif isinstance(option, Text) and not option.empty:
            legal = {**legal, "minLength": 1}
        return told(legal, name, self.narrowed())

    def narrowed(self) -> Mapping[str, Schema | None]:
        """What the state says of fields, by path: None of one that cannot matter now, which is not asked for.

        Of others, `schema` takes the field's place in `schema`, where a small model would answer what is not legal. All
        else is for forms: closer limits, a `description`, which takes the place of the range on the page, and a
        `default`, which an empty field stands for. A provider's cache needs schemas that stay the same.
        """
        return {}

    def fingerprint_fields(self) -> Mapping[str, Any]:
        """What tells this question from others of its kind where the options do not: JSON values, no wording."""
        return {path.rpartition(".")[2]: attrgetter(path)(self) for path in self.particulars}

    def schema(self) -> Schema:
        """A JSON Schema of the decision: one object, every field required, closed choices as `enum`.

        What cannot matter now is left out: a reply that has it is read by `whole_schema`.
        """
        return asked_for(self.whole_schema(), self.narrowed(), closely=True)

    def whole_schema(self) -> dict[str, Any]:
        """The `schema` with every field of the answer."""
        return schema_of(self.answer, self.stated)

    @cached_property
    def shape(self) -> Schema:
        """The `whole_schema`, made once, and not to be changed."""
        return self.whole_schema()

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that name kind, player, legal options and particulars, and no wording."""
        legal = {name: option.identity for name, option in self.legal.items()}
        fingerprint_fields = self.fingerprint_fields()
        unnamed = any(isinstance(each, Each) and each.value is not None for each in self._records.values())
        assert fingerprint_fields or not unnamed, f"{self.kind}: no fingerprint names what is in Each"
        parts = [self.kind, self.player, legal, dict(fingerprint_fields)]
        return hashlib.sha256(canonical(parts).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The request as JSON values; `restore` gives an equal request back."""
        return values(self)

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> Request[D]:
        """The request that `to_json` came from."""
        request: Request[D] = adapter(cls).validate_python(dict(data))
        return request
