"""PageForm: a decision's form as it stands on a page all at once, and what was sent back of it.

Which fields there are, and in what order, is `form`; a page holds every branch of it, each below the answer that it
follows. Drawing belongs to `server`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from agentsim.engine.prompt import cleaned
from agentsim.engine.survey import Question
from agentsim.errors import AgentsimError
from agentsim.players.form import Form, are_lists
from agentsim.players.typed_answers import (
    by_number,
    called_value,
    chosen_of,
    hint,
    kinds_of,
    takes_numbers,
    understood,
    usual,
)

NO_ANSWERS: Mapping[str, Any] = MappingProxyType({})
MOST_ENTRIES = 4
"""Records of several kinds in one list for which a page has room."""


class FieldProblem(AgentsimError):
    """An answer will not do; `name` is that of its field on the page, empty where it is several together."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name


@dataclass(frozen=True)
class PageField:
    """One question of a page. `name` is what the page sends its answer under; `then` has what follows each answer."""

    name: str
    path: str
    called: str
    legal: Mapping[str, Any]
    then: Mapping[str, Sequence[PageField]]

    @property
    def options(self) -> list[tuple[str, str]]:
        """What can be chosen, as it is sent and as it is called; none where the answer is typed."""
        legal = self.legal
        if legal.get("type") == "boolean":
            return [("yes", "yes"), ("no", "no")]
        if legal.get("type") == "array":
            legal = legal["items"]
        return [(called_value(value), called_value(value).replace("_", " ")) for value in legal.get("enum", ())]

    @property
    def many(self) -> bool:
        """Whether several can be chosen."""
        return bool(self.legal.get("type") == "array" and self.options)

    @property
    def whole(self) -> bool:
        """Whether the answer is one whole number."""
        return bool(self.legal.get("type") == "integer" and not self.options)

    @property
    def hint(self) -> str:
        """What may be answered, in words."""
        if self.options and not self.many:
            return str(self.legal.get("description", ""))
        longest = self.legal.get("maxLength")
        upto = f"at most {longest} characters" if longest and "description" not in self.legal else ""
        return hint(self.legal).strip(" []") or upto

    @property
    def usual(self) -> str:
        """What stands there before anything is answered."""
        found = usual(self.legal)
        return "" if found is ... else called_value(found) if found != "" else ""

    def read(self, sent: Sequence[str], legal: Mapping[str, Any], names: Mapping[str, int] = NO_ANSWERS) -> Any:
        """What these texts mean, which the page sent for this field; `FieldProblem` where they mean nothing legal."""
        texts = [cleaned(text).strip() for text in sent]
        text = texts[0] if texts else ""
        try:
            if self.many:
                return chosen_of([text for text in texts if text], legal)
            return understood(by_number(text, names) if takes_numbers(legal) else text, legal)
        except ValueError as error:
            raise FieldProblem(self.name, str(error)) from None

    @property
    def required(self) -> bool:
        """Whether there is no leaving it empty."""
        kind, least = self.legal.get("type"), self.legal.get("minLength", 0)
        return not self.usual and (bool(self.options) or self.whole or kind == "number" or least > 0) and not self.many


class PageForm:
    """The page of one form."""

    def __init__(self, form: Form) -> None:
        self._form = form
        choices = {name: form.fields[name] for name in (*form.chosen, *form.words)}
        self.numbers = form.request.named_numbers()
        """Names that stand for numbers in lists."""
        self.fields = tuple(self._fields(choices, _Place()))

    async def answered(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The decision's object in what a page sent: texts by field; `FieldProblem` where it is none yet."""
        return await self._form.answered(_Sent(self, given))

    def _fields(
        self, fields: Mapping[str, Any], place: _Place, known: Mapping[str, Any] = NO_ANSWERS
    ) -> Iterator[PageField]:
        """The questions of an object, in order; those that the answer to another decides stand below that one."""
        answers, left = dict(known), dict(fields)
        for name, whole in fields.items():
            if left.pop(name, None) is None:
                continue
            legal = self._form.narrowed(f"{place.path}{name}", whole, answers)
            called = f"{place.within}{name.replace('_', ' ')}"
            inner = place.below(name, self._form.inner(name, called))
            if legal.get("type") == "object":
                yield from self._part(legal["properties"], inner)
            elif kinds_of(legal) is not None:
                yield self._kind(legal, inner)
            elif kinds_of(legal.get("items", {})) is not None:
                yield from self._kinds(legal, inner)
            elif "const" not in legal:
                first = legal.get("type") == "boolean" and len(answers) == len(known)
                apart = left if first else self._apart(left, place.path, answers, name, _values(legal))
                left = {other: part for other, part in left.items() if other not in apart}
                then = self._then(name, legal, place, dict(apart), answers)
                yield _field(place, name, called, legal, then)
                answers[name] = next(iter(_values(legal)), None)

    def _then(
        self, name: str, legal: Mapping[str, Any], place: _Place, apart: Mapping[str, Any], answers: Mapping[str, Any]
    ) -> dict[str, Sequence[PageField]]:
        """What is asked after each value of a field."""
        then: dict[str, Sequence[PageField]] = {}
        for value in _values(legal) if apart else ():
            if value is not False:  # answered no: there is nothing more to say of it
                after = place.after(f"{place.at}{name}={_spoken(value)}")
                then[_spoken(value)] = tuple(self._fields(apart, after, {**answers, name: value}))
        return then

    def _apart(
        self, left: Mapping[str, Any], path: str, answers: Mapping[str, Any], name: str, values: Sequence[Any]
    ) -> dict[str, Any]:
        """The fields that are other ones after another value of this one."""

        def after(other: str, whole: Any, value: Any) -> Any:
            return self._form.narrowed(f"{path}{other}", whole, {**_any(left), **answers, name: value})

        return {
            other: whole
            for other, whole in left.items()
            if any(after(other, whole, value) != after(other, whole, values[0]) for value in values[1:])
        }

    def _part(self, fields: Mapping[str, Any], place: _Place) -> Iterator[PageField]:
        if not are_lists(fields):
            yield from self._fields(fields, place)
            return
        called = f"{place.within}any {', '.join(name.replace('_', ' ') for name in fields)}"
        then = {"yes": tuple(self._fields(fields, place.after(f"{place.at}any")))}
        yield _field(place, "any", called, {"type": "boolean"}, then)

    def _kinds(self, legal: Mapping[str, Any], place: _Place) -> Iterator[PageField]:
        for entry in range(min(MOST_ENTRIES, legal.get("maxItems", MOST_ENTRIES))):
            yield self._kind(legal["items"], place.entry(entry), or_none=entry >= legal.get("minItems", 0))

    def _kind(self, legal: Mapping[str, Any], place: _Place, *, or_none: bool = False) -> PageField:
        found = kinds_of(legal)
        assert found is not None, "only a field of several kinds is asked for by its kind"
        tag, kinds = found
        then = {
            kind: tuple(self._fields(fields, place.after(f"{place.at}{tag}={kind}"))) for kind, fields in kinds.items()
        }
        options: dict[str, Any] = {"enum": [*kinds, *(["none"] if or_none else [])]}
        options |= {"default": "none"} if or_none else {}
        return _field(place, tag, f"{place.within}{tag.replace('_', ' ')}", options, then)


class _Place(NamedTuple):
    """Where an object stands: what is said before its fields, its path in the schema, and that in the decision.

    `suffix` tells apart the fields of one path that stand below different answers.
    """

    within: str = ""
    path: str = ""
    at: str = ""
    suffix: str = ""

    def below(self, name: str, within: str) -> _Place:
        return _Place(within, f"{self.path}{name}.", f"{self.at}{name}.", self.suffix)

    def entry(self, number: int) -> _Place:
        return self._replace(at=f"{self.at}{number}.")

    def after(self, answer: str) -> _Place:
        return self._replace(suffix=f"{self.suffix}@{answer}")


def _field(
    place: _Place, name: str, called: str, legal: Mapping[str, Any], then: Mapping[str, Sequence[PageField]]
) -> PageField:
    path = f"{place.at}{name}"
    return PageField(
        f"{path}{place.suffix}", path, called, legal, {value: rest for value, rest in then.items() if rest}
    )


def _spoken(value: Any) -> str:
    """An answer as a page sends it."""
    return ("yes" if value else "no") if isinstance(value, bool) else called_value(value)


def _values(legal: Mapping[str, Any]) -> Sequence[Any]:
    """The answers to a field, where they are few."""
    return (True, False) if legal.get("type") == "boolean" else tuple(legal.get("enum", ()))


def _any(fields: Mapping[str, Any]) -> dict[str, Any]:
    """An answer to each field that has few: what narrows a field may look at any of those beside it."""
    return {name: found[0] for name, legal in fields.items() if (found := _values(legal))}


class _Sent:
    """What a page sent, as the answers to the questions of its form."""

    def __init__(self, page: PageForm, given: Mapping[str, Sequence[str]]) -> None:
        self._given = given
        self._numbers = page.numbers
        self._open: dict[str, PageField] = {}
        self._stand(page.fields)

    def _stand(self, fields: Iterable[PageField]) -> None:
        self._open |= {field.path: field for field in fields}

    async def field(self, path: str, called: str, legal: Mapping[str, Any]) -> Any:
        """The answer that stands on the page for a question; see `form.Asking`."""
        found = self._open[path]
        value = found.read(self._given.get(found.name, ()), legal, self._numbers)
        self._stand(found.then.get(_spoken(value), ()))
        return value

    def object(self, problem: str) -> None:
        """The rules refuse what was answered."""
        raise FieldProblem("", problem)


def questionnaire(questions: Sequence[Question]) -> tuple[PageField, ...]:
    """The page of some questions that are no part of the game."""
    return tuple(PageField(each.name, each.name, each.ask, each.option.schema({}), {}) for each in questions)


def answers_to(fields: Sequence[PageField], given: Mapping[str, Sequence[str]]) -> dict[str, int | str]:
    """The answers by question, open ones without words left out; `FieldProblem` for the first that will not do."""
    found = {field.name: field.read(given.get(field.name, ()), field.legal) for field in fields}
    return {name: answer for name, answer in found.items() if answer != ""}
