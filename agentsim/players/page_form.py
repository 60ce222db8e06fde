"""PageForm: a decision's form with all its branches on one page, and the decision that the page sends back.

Options define legal values and the meaning of texts (`engine.options`). Each branch of a form is below the answer that
it follows. `server` draws the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from agentsim.engine.options import (
    LONGEST,
    MISSING,
    Choice,
    Fixed,
    FormField,
    Kinds,
    LegalValues,
    List,
    Several,
    Text,
    YesNo,
    asked_for,
    called_value,
)
from agentsim.engine.request import Request
from agentsim.engine.survey import SurveyQuestion
from agentsim.engine.wording import cleaned, counted
from agentsim.errors import AgentsimError, DecisionError, IllegalDecision
from agentsim.lazy import dataclass

NO_ANSWERS: Mapping[str, Any] = MappingProxyType({})
MOST_ENTRIES = 4
"""The number of records of several kinds in one list for which a page has room."""
_ONE_LINE = 120  # characters
Parts: TypeAlias = Mapping[str, LegalValues]
Answering: TypeAlias = Callable[[str, FormField], Any]
"""A function that returns the answer to a field, a legal value, by its path in the decision."""


class FieldProblem(AgentsimError):
    """An answer that is not allowed; `name` is that of its field on the page, "" if several fields conflict."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name


class Form:
    """The form of one request: the order of its fields, and which may be left out."""

    def __init__(self, request: Request[Any]) -> None:
        self.request = request
        self.fields: Parts = asked_for(request.answer_fields, request.field_overrides()).parts
        self.unnamed = unnamed_part(self.fields)
        """The part whose fields are shown without its name."""
        self.chosen = [name for name, option in self.fields.items() if option.kind != "words"]
        self.words = [name for name in self.fields if name not in self.chosen]

    def answered(self, field: Answering) -> dict[str, Any]:
        """Return the decision's object from its fields, words last. Raises `FieldProblem` if the rules refuse it."""
        answers: dict[str, Any] = {}
        walk = _Walk(self, field)
        for name in (*self.chosen, *self.words):
            answers |= walk.fields({name: self.fields[name]}, known=answers)
            if self.chosen and name == self.chosen[-1] and (problem := self._problem(answers)):
                raise FieldProblem("", self.reason(problem))
            if answers[name] is False and len(answers) == 1:
                break  # after a no, nothing else is asked
        return answers

    def _problem(self, answers: Mapping[str, Any]) -> str:
        """Return why these answers are refused regardless of the words, or "" if they may be legal."""
        silent = dict.fromkeys(self.words, "")
        try:
            decision = self.request.parse(json.dumps(silent | dict(answers), ensure_ascii=False)).decision
            self.request.check(decision)
        except IllegalDecision as error:
            return str(error)
        except DecisionError:
            return ""  # errors that depend on missing words are found once they are there
        return self.request.warning(decision)

    def reason(self, text: str) -> str:
        """Return why an answer is not allowed, with fields named as on the page: without the part `unnamed`."""
        return text if self.unnamed is None else re.sub(rf"\b{re.escape(self.unnamed)}\.(?=\w)", "", text)

    def inner(self, name: str, called: str) -> str:
        """Return the prefix of the names of a part's fields."""
        return "" if name == self.unnamed else f"{called}: "


class _Walk:
    """One walk through a form."""

    def __init__(self, form: Form, field: Answering) -> None:
        self._form, self._field = form, field

    def fields(
        self, parts: Parts, path: str = "", at: str | None = None, known: Mapping[str, Any] = NO_ANSWERS
    ) -> dict[str, Any]:
        """Return every field of an object; if the first is a question that is answered no, the others are left out.

        `path` is the object's path in the options, and `at` that in the decision, with numbers for entries of lists;
        `known` are earlier answers, and those around the object.
        """
        answers: dict[str, Any] = {}
        at = path if at is None else at
        for name, part in parts.items():
            before = {**known, **answers}
            field = self._form.request.form_field(f"{path}{name}", part, before)
            option, prefix = field.option, (f"{path}{name}.", f"{at}{name}.", before)
            if isinstance(option, Fixed):
                answers[name] = option.value
            elif option.parts is not None:
                answers[name] = self._part(option.parts, *prefix)
            elif isinstance(option, Kinds):
                answers[name] = self._kind(option, *prefix)
            elif isinstance(option, Several) and isinstance(option.items, Kinds):
                answers[name] = self._kinds(option, option.items, *prefix)
            else:
                answers[name] = self._field(f"{at}{name}", field)
                if answers[name] is False and len(answers) == 1:
                    break
        return answers

    def _part(self, parts: Parts, path: str, at: str, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return a part of a decision. If it has only lists, a question first asks whether any is not empty."""
        if are_lists(parts) and not self._field(f"{at}any", FormField(YesNo())):
            return {name: [] for name in parts}
        return self.fields(parts, path, at, known)

    def _kind(
        self, option: Kinds, path: str, at: str, known: Mapping[str, Any], *, or_none: bool = False
    ) -> dict[str, Any] | None:
        """Return a record of one of several kinds: its kind, then that kind's fields; None if none is wanted."""
        chosen = self._field(f"{at}{option.tag}", kind_field(option, or_none=or_none))
        if chosen not in option.kinds:
            return None
        return {option.tag: chosen, **self.fields(untagged(option, chosen), path, at, known)}

    def _kinds(
        self, option: Several, kinds: Kinds, path: str, at: str, known: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Return records of several kinds, until none is wanted or the page has no room."""
        answers: list[dict[str, Any]] = []
        while len(answers) < room_for(option):
            or_none = len(answers) >= option.least
            answer = self._kind(kinds, path, f"{at}{len(answers)}.", known, or_none=or_none)
            if answer is None:
                break
            answers.append(answer)
        return answers


def are_lists(parts: Parts) -> bool:
    """Return whether a part of a decision is several lists and nothing else."""
    return len(parts) > 1 and all(isinstance(part, List) for part in parts.values())


def room_for(option: Several) -> int:
    """Return the number of entries of a list of records for which a page has room."""
    return MOST_ENTRIES if option.upto is None else min(MOST_ENTRIES, option.upto)


def kind_field(option: Kinds, *, or_none: bool) -> FormField:
    """Return the field that asks for one of several kinds of record, or for none."""
    kinds = (*option.kinds, "none") if or_none else tuple(option.kinds)
    return FormField(Choice(kinds), preset="none" if or_none else MISSING)


def untagged(option: Kinds, kind: str) -> Parts:
    """Return the fields of one kind of record without the tag that identifies the kind."""
    return {name: part for name, part in option.kinds[kind].parts.items() if name != option.tag}


def _with_blanks(name: str) -> str:
    return name.replace("_", " ")


@dataclass(frozen=True)
class PageField:
    """One question of a page; the page sends its answer as `name`, and `then` has the questions after each answer."""

    name: str
    path: str
    called: str
    field: FormField
    then: Mapping[str, Sequence[PageField]]
    words: Callable[[str], str] = _with_blanks
    """A function that returns the plain words for a choice."""

    @property
    def options(self) -> list[tuple[str, str]]:
        """The values to choose from, each as it is sent and as it is shown; empty if the answer is typed."""
        return [(called_value(value), self.words(called_value(value))) for value in self.field.option.values]

    @property
    def many(self) -> bool:
        """Whether several values can be chosen."""
        return isinstance(self.field.option, List) and bool(self.field.option.values)

    @property
    def whole(self) -> bool:
        """Whether the answer is one typed integer."""
        return self.field.option.kind == "number"

    @property
    def longest(self) -> int | None:
        """The maximum number of characters of an answer in words, or None."""
        option = self.field.option
        return option.limit if isinstance(option, Text) and option.limit != LONGEST else None

    @property
    def is_long(self) -> bool:
        """Whether an answer in words needs several lines."""
        return isinstance(self.field.option, Text) and self.field.option.limit > _ONE_LINE

    @property
    def hint(self) -> str:
        """The legal answers, in words."""
        field = self.field
        if field.option.values and not self.many:
            return field.hint
        usual = "" if field.empty is MISSING else f"empty for {called_value(field.empty)}"
        upto = f"at most {counted(self.longest, 'character')}" if self.longest and not field.hint else ""
        return "; ".join(filter(None, (field.hint or field.option.range, usual))) or upto

    @property
    def usual(self) -> str:
        """The text in the field before anything is answered."""
        return "" if self.field.empty is MISSING or self.field.empty == "" else called_value(self.field.empty)

    def read(self, sent: Sequence[str], field: FormField, names: Mapping[str, int] = NO_ANSWERS) -> Any:
        """Return the value of the texts that the page sent for this field. Raises `FieldProblem` if it is not legal."""
        texts = [cleaned(text).strip() for text in sent]
        text, option = texts[0] if texts else "", field.option
        try:
            if self.many and isinstance(option, List):
                return option.picked([text for text in texts if text])
            return field.parse(by_number(text, names) if takes_numbers(option) else text)
        except ValueError as error:
            raise FieldProblem(self.name, str(error)) from None

    @property
    def required(self) -> bool:
        """Whether the field must not be empty."""
        return not self.usual and self.field.option.is_needed and not self.many


class PageForm:
    """The page of one form, with every branch."""

    def __init__(self, form: Form) -> None:
        self._form, self._label = form, form.request.label
        choices = {name: form.fields[name] for name in (*form.chosen, *form.words)}
        self.numbers = form.request.named_numbers()
        """The names that stand for numbers in lists."""
        self.fields = tuple(self._fields(choices, _Prefix()))

    def answered(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the decision's object from the texts that a page sent, by field.

        Raises `FieldProblem` if it is not legal.
        """
        return self._form.answered(_Sent(self, given).field)

    def with_labels(self, text: str) -> str:
        """Return a text of the rules with this form's words for the names of its fields and choices."""
        return self._named.sub(lambda found: self._label(found[0]), text) if self._names else text

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of fields and choices that are no plain words."""
        names = {part for field in _whole(self.fields) for part in field.path.split(".")}
        names |= {called_value(value) for field in _whole(self.fields) for value in field.field.option.values}
        return frozenset(name for name in names if "_" in name and self._label(name) != name)

    @cached_property
    def _named(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(self._names)))})\b")

    def _fields(self, parts: Parts, prefix: _Prefix, known: Mapping[str, Any] = NO_ANSWERS) -> Iterator[PageField]:
        """Yield the questions of an object, in order; those that depend on an answer are below that answer."""
        answers, left = dict(known), dict(parts)
        for name, part in parts.items():
            if left.pop(name, None) is None:
                continue
            field = self._form.request.form_field(f"{prefix.path}{name}", part, answers)
            option, called = field.option, f"{prefix.within}{self._label(name)}"
            inner = prefix.below(name, self._form.inner(name, called))
            if option.parts is not None:
                yield from self._part(option.parts, inner, answers)
            elif isinstance(option, Kinds):
                yield self._kind(option, inner, answers)
            elif isinstance(option, Several) and isinstance(option.items, Kinds):
                yield from self._kinds(option, option.items, inner, answers)
            elif not isinstance(option, Fixed):
                values = _values(option)
                first = option.kind == "yes_no" and len(answers) == len(known)
                apart = left if first else self._apart(left, prefix.path, answers, name, values)
                left = {other: part for other, part in left.items() if other not in apart}
                yield self._field(prefix, name, called, field, self._then(name, values, prefix, dict(apart), answers))
                answers[name] = next(iter(values), None)

    def _then(
        self, name: str, values: Sequence[Any], prefix: _Prefix, apart: Parts, answers: Mapping[str, Any]
    ) -> dict[str, Sequence[PageField]]:
        """Return the questions after each value of a field."""
        then: dict[str, Sequence[PageField]] = {}
        for value in values if apart else ():
            if value is not False:  # after a no, nothing else is asked
                after = prefix.after(f"{prefix.at}{name}={called_value(value)}")
                then[called_value(value)] = tuple(self._fields(apart, after, {**answers, name: value}))
        return then

    def _apart(
        self, left: Parts, path: str, answers: Mapping[str, Any], name: str, values: Sequence[Any]
    ) -> dict[str, Any]:
        """Return the fields that differ after another value of this one."""
        # an answer to each field with few values: any of them may narrow another field
        others = {other: few[0] for other, part in left.items() if (few := _values(part))}

        def after(other: str, part: LegalValues, value: Any) -> FormField:
            return self._form.request.form_field(f"{path}{other}", part, {**others, **answers, name: value})

        return {
            other: part
            for other, part in left.items()
            if any(after(other, part, value) != after(other, part, values[0]) for value in values[1:])
        }

    def _part(self, parts: Parts, prefix: _Prefix, known: Mapping[str, Any]) -> Iterator[PageField]:
        if not are_lists(parts):
            yield from self._fields(parts, prefix, known)
            return
        called = f"{prefix.within}any {', '.join(map(self._label, parts))}"
        then = {"yes": tuple(self._fields(parts, prefix.after(f"{prefix.at}any"), known))}
        yield self._field(prefix, "any", called, FormField(YesNo()), then)

    def _kinds(self, option: Several, kinds: Kinds, prefix: _Prefix, known: Mapping[str, Any]) -> Iterator[PageField]:
        for entry in range(room_for(option)):
            yield self._kind(kinds, prefix.entry(entry), known, or_none=entry >= option.least)

    def _kind(self, option: Kinds, prefix: _Prefix, known: Mapping[str, Any], *, or_none: bool = False) -> PageField:
        tag = option.tag
        then = {
            kind: tuple(self._fields(untagged(option, kind), prefix.after(f"{prefix.at}{tag}={kind}"), known))
            for kind in option.kinds
        }
        return self._field(prefix, tag, f"{prefix.within}{self._label(tag)}", kind_field(option, or_none=or_none), then)

    def _field(
        self, prefix: _Prefix, name: str, called: str, field: FormField, then: Mapping[str, Sequence[PageField]]
    ) -> PageField:
        path, then = f"{prefix.at}{name}", {value: rest for value, rest in then.items() if rest}
        return PageField(f"{path}{prefix.suffix}", path, called, field, then, self._label)


class _Prefix(NamedTuple):
    """The prefixes of an object: of its fields' labels, its path in the schema, and its path in the decision.

    `suffix` distinguishes fields of the same path below different answers.
    """

    within: str = ""
    path: str = ""
    at: str = ""
    suffix: str = ""

    def below(self, name: str, within: str) -> _Prefix:
        return _Prefix(within, f"{self.path}{name}.", f"{self.at}{name}.", self.suffix)

    def entry(self, number: int) -> _Prefix:
        return self._replace(at=f"{self.at}{number}.")

    def after(self, answer: str) -> _Prefix:
        return self._replace(suffix=f"{self.suffix}@{answer}")


def _whole(fields: Iterable[PageField]) -> Iterator[PageField]:
    """Yield the fields and those below their answers."""
    for field in fields:
        yield field
        for below in field.then.values():
            yield from _whole(below)


def _values(option: LegalValues) -> Sequence[Any]:
    """Return the values of a field that takes one of them, or none if it is a list or is typed."""
    return () if isinstance(option, List) else option.values


class _Sent:
    """The answers that a page sent."""

    def __init__(self, page: PageForm, given: Mapping[str, Sequence[str]]) -> None:
        self._given = given
        self._numbers = page.numbers
        self._open: dict[str, PageField] = {}
        self._stand(page.fields)

    def _stand(self, fields: Iterable[PageField]) -> None:
        self._open |= {field.path: field for field in fields}

    def field(self, path: str, field: FormField) -> Any:
        """Return the answer on the page for a field."""
        found = self._open[path]
        value = found.read(self._given.get(found.name, ()), field, self._numbers)
        self._stand(found.then.get(called_value(value), ()))
        return value


def questionnaire(questions: Sequence[SurveyQuestion]) -> tuple[PageField, ...]:
    """Return the page of some questions that are not part of the game."""
    return tuple(PageField(each.name, each.name, each.ask, FormField(each.option), {}) for each in questions)


def answers_to(fields: Sequence[PageField], given: Mapping[str, Sequence[str]]) -> dict[str, int | str]:
    """Return the answers by question, without empty ones. Raises `FieldProblem` for the first that is not legal."""
    found = {field.name: field.read(given.get(field.name, ()), field.field) for field in fields}
    return {name: answer for name, answer in found.items() if answer != ""}


def unnamed_part(parts: Parts) -> str | None:
    """Return the name of the one part of a decision that has parts of its own, or None.

    None also if another field has the name of one of those parts.
    """
    inner = {name: part for name, part in parts.items() if _has_parts(part) or _has_parts(part.items)}
    if len(inner) != 1:
        return None
    ((name, part),) = inner.items()
    return name if part.kinds or (part.parts is not None and parts.keys().isdisjoint(part.parts)) else None


def _has_parts(option: LegalValues | None) -> bool:
    return option is not None and (option.parts is not None or option.kinds is not None)


def takes_numbers(option: LegalValues) -> bool:
    """Return whether an option is a list of numbers, or of entries that begin with one."""
    if option.items is None:
        return False
    first = next(iter((option.items.parts or {}).values()), option.items)
    return first.kind == "number" or (first.kind == "choice" and all(isinstance(value, int) for value in first.values))


def by_number(text: str, names: Mapping[str, int]) -> str:
    """Return the line with names replaced by numbers; each item between commas may begin with one.

    The start of a name, or of a word in it, is enough. Raises `ValueError` if it fits several names, or if there are
    names and the item is neither one nor a number.
    """
    return ", ".join(_numbered(part.split(), names) for part in text.split(",") if part.strip())


def _numbered(words: list[str], names: Mapping[str, int]) -> str:
    longest = max((len(name.split()) for name in names), default=0)
    for count in range(min(len(words), longest), 0, -1):
        start = " ".join(words[:count]).casefold()
        fits = {name: number for name, number in names.items() if name.casefold().startswith(start)}
        fits = fits or {name: number for name, number in names.items() if f" {start}" in name.casefold()}
        whole = [number for name, number in fits.items() if name.casefold() == start]
        numbers = whole or list(fits.values())
        if len(numbers) > 1:
            raise ValueError(f"Which one: {' or '.join(f'{number} {name}' for name, number in fits.items())}?")
        if numbers:
            return " ".join([str(numbers[0]), *words[count:]])
    if names and not any(map(str.isdigit, words[0])):
        raise ValueError(f"{' '.join(words)}: that is no name here. A name or a number, please.")
    return " ".join(words)
