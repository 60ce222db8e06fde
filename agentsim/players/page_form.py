"""PageForm: a decision's form as it stands on a page all at once, and the decision that was sent back.

What a field may be is its JSON Schema, as `Request.schema` and `Request.form_schema` give it. A page holds every branch
of a form, each below the answer that it follows. Drawing belongs to `server`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from agentsim.engine.decision import whole
from agentsim.engine.prompt import cleaned
from agentsim.engine.request import Request
from agentsim.engine.schema import asked_for
from agentsim.engine.survey import Question
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, DecisionError, IllegalDecision

NO_ANSWERS: Mapping[str, Any] = MappingProxyType({})
MOST_ENTRIES = 4
"""Records of several kinds in one list for which a page has room."""
_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")  # what a float holds to the digit
_YES, _NO = {"y", "yes", "true"}, {"n", "no", "false"}
Answering: TypeAlias = Callable[[str, Mapping[str, Any]], Any]
"""Gives the answer to one field, a legal value of this schema, by its place in the decision."""


class FieldProblem(AgentsimError):
    """An answer will not do; `name` is that of its field on the page, empty where it is several together."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name


class Form:
    """The form of one request: which field follows which, and what may be left out."""

    def __init__(self, request: Request[Any]) -> None:
        self.request = request
        self.fields: Mapping[str, Any] = asked_for(request.whole_schema(), request.narrowed())["properties"]
        self.unnamed = unnamed_part(self.fields)
        """The part whose fields are called without its name."""
        self.chosen = [name for name, legal in self.fields.items() if not is_words(legal)]
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
                break  # answered no: there is nothing more to say of it
        return answers

    def _problem(self, answers: Mapping[str, Any]) -> str:
        """Why these answers will not do, whatever words may come with them; nothing where they might."""
        silent = dict.fromkeys(self.words, "")
        try:
            decision = self.request.parse(json.dumps(silent | dict(answers), ensure_ascii=False)).decision
            self.request.check(decision)
        except IllegalDecision as error:
            return str(error)
        except DecisionError:
            return ""  # of what the words are missing for, the run judges once they are there
        return self.request.warning(decision)

    def reason(self, text: str) -> str:
        """Why an answer is not allowed, with fields named as on the page: without the part `unnamed`."""
        return text if self.unnamed is None else re.sub(rf"\b{re.escape(self.unnamed)}\.(?=\w)", "", text)

    def narrowed(self, path: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of a field after these answers."""
        return self.request.form_schema(path, legal, answered)

    def inner(self, name: str, called: str) -> str:
        """What stands before the names of the fields of a part."""
        return "" if name == self.unnamed else f"{called}: "


class _Walk:
    """One way through a form."""

    def __init__(self, form: Form, field: Answering) -> None:
        self._form, self._field = form, field

    def fields(
        self, fields: Mapping[str, Any], path: str = "", at: str | None = None, known: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Every field of an object; where the first is a question that is answered no, the others are left out.

        `path` is the object's place in the schema, and `at` that in the decision, where entries of a list have numbers;
        `known` are answers from before.
        """
        answers: dict[str, Any] = {}
        at = path if at is None else at
        for name, whole_field in fields.items():
            legal = self._form.narrowed(f"{path}{name}", whole_field, answers if known is None else known)
            place = f"{path}{name}.", f"{at}{name}."
            if "const" in legal:
                answers[name] = legal["const"]
            elif legal.get("type") == "object":
                answers[name] = self._part(legal["properties"], *place)
            elif kinds_of(legal) is not None:
                answers[name] = self._kind(legal, *place)
            elif kinds_of(legal.get("items", {})) is not None:
                answers[name] = self._kinds(legal, *place)
            else:
                answers[name] = self._field(f"{at}{name}", legal)
                if answers[name] is False and len(answers) == 1:
                    break
        return answers

    def _part(self, fields: Mapping[str, Any], path: str, at: str) -> dict[str, Any]:
        """A part of a decision; of one that is lists alone, all of which may be empty, that is asked first."""
        if are_lists(fields) and not self._field(f"{at}any", {"type": "boolean"}):
            return {name: [] for name in fields}
        return self.fields(fields, path, at)

    def _kind(self, legal: Mapping[str, Any], path: str, at: str, *, or_none: bool = False) -> dict[str, Any] | None:
        """One of several kinds of record: which, then that one's fields alone; None where none is wanted."""
        found = kinds_of(legal)
        assert found is not None, "only a field of several kinds is asked for by its kind"
        tag, kinds = found
        chosen = self._field(f"{at}{tag}", {"enum": [*kinds, *(["none"] if or_none else [])]})
        return {tag: chosen, **self.fields(kinds[chosen], path, at)} if chosen in kinds else None

    def _kinds(self, legal: Mapping[str, Any], path: str, at: str) -> list[dict[str, Any]]:
        """As many records as are wanted and a page has room for, each of one of several kinds."""
        answers: list[dict[str, Any]] = []
        while len(answers) < min(MOST_ENTRIES, legal.get("maxItems", MOST_ENTRIES)):
            or_none = len(answers) >= legal.get("minItems", 0)
            answer = self._kind(legal["items"], path, f"{at}{len(answers)}.", or_none=or_none)
            if answer is None:
                break
            answers.append(answer)
        return answers


def are_lists(fields: Mapping[str, Any]) -> bool:
    """Whether a part of a decision is several lists and nothing else."""
    return len(fields) > 1 and all(legal.get("type") == "array" for legal in fields.values())


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
        stands_for, longest = usual(self.legal), self.legal.get("maxLength")
        said = [
            self.legal.get("description") or _range(self.legal),
            "" if stands_for is ... else f"nothing for {called_value(stands_for)}",
        ]
        upto = f"at most {counted(longest, 'character')}" if longest and "description" not in self.legal else ""
        return "; ".join(filter(None, said)) or upto

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
    """The page of one form: every branch of it."""

    def __init__(self, form: Form) -> None:
        self._form = form
        choices = {name: form.fields[name] for name in (*form.chosen, *form.words)}
        self.numbers = form.request.named_numbers()
        """Names that stand for numbers in lists."""
        self.fields = tuple(self._fields(choices, _Place()))

    def answered(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the decision's object from what a page sent, texts by field. Raises `FieldProblem` if it is none."""
        return self._form.answered(_Sent(self, given).field)

    def _fields(
        self, fields: Mapping[str, Any], place: _Place, known: Mapping[str, Any] = NO_ANSWERS
    ) -> Iterator[PageField]:
        """The questions of an object, in order; those that the answer to another decides stand below that one."""
        answers, left = dict(known), dict(fields)
        for name, part in fields.items():
            if left.pop(name, None) is None:
                continue
            legal = self._form.narrowed(f"{place.path}{name}", part, answers)
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

    def field(self, path: str, legal: Mapping[str, Any]) -> Any:
        """The answer that stands on the page for a field."""
        found = self._open[path]
        value = found.read(self._given.get(found.name, ()), legal, self._numbers)
        self._stand(found.then.get(_spoken(value), ()))
        return value


def questionnaire(questions: Sequence[Question]) -> tuple[PageField, ...]:
    """The page of some questions that are no part of the game."""
    return tuple(PageField(each.name, each.name, each.ask, each.option.schema({}), {}) for each in questions)


def answers_to(fields: Sequence[PageField], given: Mapping[str, Sequence[str]]) -> dict[str, int | str]:
    """The answers by question, open ones without words left out; `FieldProblem` for the first that will not do."""
    found = {field.name: field.read(given.get(field.name, ()), field.legal) for field in fields}
    return {name: answer for name, answer in found.items() if answer != ""}


def unnamed_part(fields: Mapping[str, Any]) -> str | None:
    """The one part of a decision that has parts of its own: those say all there is to say, unless a name is taken."""
    parts = {name: legal for name, legal in fields.items() if _has_parts(legal) or _has_parts(legal.get("items", {}))}
    if len(parts) != 1:
        return None
    ((name, part),) = parts.items()
    return name if kinds_of(part) or fields.keys().isdisjoint(part.get("properties", fields)) else None


def _has_parts(legal: Mapping[str, Any]) -> bool:
    return legal.get("type") == "object" or kinds_of(legal) is not None


def kinds_of(legal: Mapping[str, Any]) -> tuple[str, dict[str, Mapping[str, Any]]] | None:
    """Of a field that is one of several kinds of record: the field that tells them apart, and each kind's others."""
    branches = legal.get("anyOf", ())
    if not branches or any(branch.get("type") != "object" for branch in branches):
        return None
    tags = [name for name, part in branches[0]["properties"].items() if len(part.get("enum", ())) == 1]
    if not tags:
        return None
    kinds: dict[str, Mapping[str, Any]] = {}
    for fields in (dict(branch["properties"]) for branch in branches):
        kind = fields.pop(tags[0])["enum"][0]
        kinds[str(kind)] = fields
    return str(tags[0]), kinds


def is_words(legal: Mapping[str, Any]) -> bool:
    """Whether any text will do for a field."""
    return legal.get("type") == "string" and "enum" not in legal


def usual(legal: Mapping[str, Any]) -> Any:
    """What an empty field means: a default, or the only number there is; `...` where it means nothing."""
    low = legal.get("minimum")
    only = low if low is not None and low == legal.get("maximum") and legal.get("type") == "integer" else ...
    return legal.get("default", only)


def _range(legal: Mapping[str, Any]) -> str:
    """What a typed field may be: the entries of a list, or the range of a number."""
    if legal.get("type") == "array":
        return f"{_item(legal['items'])}, ...{'' if legal.get('minItems') else '; nothing for none'}"
    if "minimum" in legal:
        low, high = legal["minimum"], legal.get("maximum")
        return f"{low} or more" if high is None else f"{low} to {high}" if low != high else f"{low}"
    return ""


def understood(text: str, legal: Mapping[str, Any]) -> Any:
    """What a person means by a line: an option in any case, yes or no, a number, JSON for lists, else the words.

    `ValueError` says, fit for that person, what is wrong with it.
    """
    kind = legal.get("type")
    if not text and (found := usual(legal)) is not ...:
        return found
    if "enum" in legal:
        return _option(text, legal["enum"])
    if kind == "array":
        return _list(text, legal)
    if kind == "boolean":
        if text.casefold() not in _YES | _NO:
            raise ValueError("Yes or no, please.")
        return text.casefold() in _YES
    if kind == "string":
        return _words(text, legal)
    return _whole(text, legal) if kind == "integer" else _other(text, legal)


def _other(text: str, legal: Mapping[str, Any]) -> Any:
    """JSON, or the words as they stand; of numbers those in plain digits alone."""
    if legal.get("type") == "number":
        low = legal.get("minimum")
        if not _PLAIN.fullmatch(text) or (low is not None and float(text) < low):
            raise ValueError(f"A number in plain digits{'' if low is None else f' from {low}'}, such as 2.5, please.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _list(text: str, legal: Mapping[str, Any]) -> list[Any]:
    """What stands between commas; between numbers, a space will do."""
    spaced = re.fullmatch(r"[\d,\s]*", text) and legal["items"].get("type") == "integer"
    parts = [part.split() for part in re.split(r"[,\s]" if spaced else ",", text) if part.strip()]
    return _limited([_entry(words, legal["items"]) for words in parts], legal)


def chosen_of(texts: Sequence[str], legal: Mapping[str, Any]) -> list[Any]:
    """The entries of a list, each as a person chose it; `ValueError` where they are too few or too many."""
    return _limited([understood(text, legal["items"]) for text in texts], legal)


def _limited(found: list[Any], legal: Mapping[str, Any]) -> list[Any]:
    least, most = legal.get("minItems", 0), legal.get("maxItems", len(found))
    if len(found) < least:
        raise ValueError(f"At least {least}, please.")
    if len(found) > most:
        raise ValueError(f"At most {most}, please.")
    return found


def _option(text: str, options: Sequence[Any]) -> Any:
    for same in (str.strip, _folded):  # as it is spelled, then in any case
        for option in options:
            if same(called_value(option)) == same(text):
                return option
    raise ValueError(f"One of these, please: {', '.join(map(called_value, options))}.")


def _folded(word: str) -> str:
    """In any case, with blanks or underscores: `pay fine` is `pay_fine`."""
    return " ".join(word.replace("_", " ").casefold().split())


def called_value(option: Any) -> str:
    """What a value is called where it can be chosen."""
    return "nobody" if option is None else str(option) or "none"


def _item(legal: Mapping[str, Any]) -> str:
    """What one entry of a list looks like: `number`, or the fields of an object one after the other."""
    if "enum" in legal:
        return "/".join(map(str, legal["enum"]))
    if legal.get("type") == "object":
        return " ".join(f"{name} ({_item(part)})" for name, part in legal["properties"].items())
    return "number" if legal.get("type") == "integer" else "words"


def _entry(words: list[str], legal: Mapping[str, Any]) -> Any:
    """One entry of a list, as `_item` shows it."""
    if legal.get("type") != "object":
        try:
            return understood(" ".join(words), legal)
        except ValueError as error:
            raise ValueError(f"{' '.join(words)}: {error}") from None
    fields = legal["properties"]
    if len(words) != len(fields):
        raise ValueError(f"{' '.join(words)}: each entry is {_item(legal)}, please; commas between entries.")
    return {name: understood(word, part) for word, (name, part) in zip(words, fields.items(), strict=True)}


def _words(text: str, legal: Mapping[str, Any]) -> str:
    limit = legal.get("maxLength")
    if len(text) < legal.get("minLength", 0):
        raise ValueError("An empty answer says nothing. Some words, please.")
    if limit is not None and len(text) > limit:
        raise ValueError(f"That is {counted(len(text), 'character')}, and {limit} fit. Shorter, please.")
    return text


def _whole(text: str, legal: Mapping[str, Any]) -> int:
    """The number, in any spelling that leaves no doubt about it."""
    low, high = legal.get("minimum"), legal.get("maximum")
    with suppress(ValueError):
        value = whole(text)
        if (low is None or value >= low) and (high is None or value <= high):
            return value
    if how := legal.get("description"):
        raise ValueError(f"A whole number, please: {how}.")
    least = "" if low is None else f" from {low}" if high is not None else f", {low} or more"
    raise ValueError(f"A whole number{least}{'' if high is None else f' to {high}'}, please.")


def takes_numbers(legal: Mapping[str, Any]) -> bool:
    """Whether a field is a list of numbers, or of entries that begin with one."""
    items = legal.get("items", {})
    first = next(iter(items.get("properties", {}).values()), items)
    return legal.get("type") == "array" and first.get("type") == "integer"


def by_number(text: str, names: Mapping[str, int]) -> str:
    """The line with a number for each name, its beginning or that of a word in it, between commas.

    `ValueError` where it fits several, or where there are names and it is neither one of them nor a number.
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
