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

from agentsim.engine.codec import adapter, canonical, values, values_at
from agentsim.engine.decision import Decision, Reading, unanswerable
from agentsim.engine.event import PlayerId
from agentsim.engine.options import MISSING, FormField, LegalValues, Record, Schema
from agentsim.engine.prompt import Prompt
from agentsim.engine.schema import Narrowed, Options, asked_for, bare_field, options_in, record_of, stated
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
    def legal(self) -> Mapping[str, Any]:
        """The options of single fields, by path."""
        return {path: legal for name, option in self.stated.items() for path, legal in option.by_path(name).items()}

    @cached_property
    def answer_fields(self) -> Record:
        """The fields of an answer with their options."""
        return self.build_answer_fields()

    def build_answer_fields(self) -> Record:
        """Return the fields of an answer, with the options that this request states and those of their types."""
        return record_of(self.answer, self.stated)

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
        silences = ((name, option.silence) for name, option in self.stated.items())
        said |= {name: silence for name, silence in silences if silence is not MISSING}
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
        for path, option in self.stated.items():
            if path in given:
                self.check_value(path, option, given)
        if reason := self.why_not(decision):
            raise IllegalDecision(reason)

    def why_not(self, decision: D) -> str:
        """Why a decision within the options is not legal here, in a sentence fit for the model; "" where it is."""
        return ""

    def check_value(self, path: str, option: LegalValues, given: Mapping[str, Any]) -> None:
        """Raise `IllegalDecision` if the value at a path of a decision is not legal; `given` are its values by path."""
        if reason := option.objection(path, given):
            raise IllegalDecision(f"{reason}.")

    def warning(self, decision: D) -> str:
        """Why an allowed decision will come to nothing: for a person at a form, who may think again."""
        return ""

    def parse(self, text: str, *, cut: bool = False, last: bool = False, repair: bool = True) -> Reading[D]:
        """The decision in a reply's text; `UnreadableReply`, `AmbiguousReply` or `IllegalDecision` else.

        `cut` says that the reply reached its longest allowed length, `last` that the question is not put again, and
        `repair` whether objects with broken punctuation are read.
        """
        from agentsim.engine.reading.reader import read

        return read(self, text, cut=cut, last=last, repair=repair)

    def in_words(self, words: str) -> D | None:
        """The decision that plain prose is; None where prose alone is no answer."""
        return self.decision_of({self.prose: words}) if self.prose else None

    def fits(self, said: Mapping[str, Any]) -> bool:
        """Check that an object has the keys that were asked for and no others, and choices as they are spelt."""
        return self.answer_fields.fits(said)

    def knows(self, said: Mapping[str, Any]) -> bool:
        """Check that an object, and what is in it, has no keys but those of an answer, or of its one field."""
        fields = tuple(self.answer_fields.parts.values())
        return self.answer_fields.knows(said) or (
            len(fields) == 1 and fields[0].kinds is not None and fields[0].knows(said)
        )

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
            value = option.gathered(fields.get(path, MISSING), fields)
            if value is not MISSING:
                fields[path] = value
        return fields

    @cached_property
    def nothing(self) -> Mapping[str, Any]:
        """What null, "pass" or "nobody" mean, by the path of a field."""
        said = {path: option.nothing for path, option in self.legal.items() if option.nothing is not None}
        return {**self.empty, **said}

    def form(self) -> str:
        """The shape of an answer, with its legal values: `{"explanation": "<why>", "vote": "<C, B or D>"}`."""
        return asked_for(self.answer_fields, self.narrowed()).words("")

    @property
    def answer_line(self) -> str:
        """The last line of a prompt: how to answer, derived from what is legal."""
        return f"Answer: {self.form()}"

    def named_numbers(self) -> Mapping[str, int]:
        """Names by which a form takes the numbers in this question's lists, such as deeds for positions."""
        return {}

    def form_field(self, path: str, option: LegalValues, answered: Mapping[str, Any]) -> FormField:
        """Return a field of a form after the answers before it: what matters no more can be left out.

        Of a field of a field (`action.bid`), `answered` are those beside and around it. A `Fixed` one is not asked for.
        """
        more = self.narrowed().get(path) or Narrowed()
        return FormField(more.for_people or option.given(answered), more.hint, more.usual)

    def narrowed(self) -> Mapping[str, Narrowed | None]:
        """Return what the state says of fields, by path: None of one that cannot matter now, which is not asked for."""
        return {}

    def fingerprint_fields(self) -> Mapping[str, Any]:
        """What tells this question from others of its kind where the options do not: JSON values, no wording."""
        return {path.rpartition(".")[2]: attrgetter(path)(self) for path in self.particulars}

    def sent_record(self) -> Record:
        """Return the fields that a model is asked for: those that can matter now. A reply with others is read too."""
        return asked_for(self.answer_fields, self.narrowed(), closely=True)

    def schema(self) -> Schema:
        """Return a JSON Schema of the decision: one object, every field required, closed choices as `enum`."""
        return self.sent_record().schema()

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that name kind, player, legal options and particulars, and no wording."""
        legal = {name: option.identity for name, option in self.legal.items()}
        fingerprint_fields = self.fingerprint_fields()
        assert fingerprint_fields or all(option.is_named for option in self.stated.values()), (
            f"{self.kind}: no fingerprint names what is in Each"
        )
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
