"""Template: prose with names in braces, filled from the fields and properties of one record.

`"{player} leaves the game with {votes:vote}"` of a record whose `votes` is 2 reads "A leaves the game with 2 votes".
A template is looked at when its class is made: a name that the record has not is an error there, not in a game.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from agentsim.engine.wording import counted, listed

_NAME = re.compile(r"\{([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*)(?::([^{}]+))?\}")
_NUMBER = re.compile(r"[+,]?(?:\.\d+)?[fg%]")


@dataclass(frozen=True, slots=True)
class Worded:
    """Marks a field whose values templates put into words: `Position = Annotated[int, Worded(name_of)]`."""

    words: Callable[[Any], str]


class Part(ABC):
    """A part of a template that depends on the field `name`, or on a part of it: `item.required`."""

    name: str

    @abstractmethod
    def templates(self) -> Iterable[Template]:
        """The templates inside of it that the same record fills."""

    @abstractmethod
    def words(self, record: Any) -> str:
        """The words for this record."""


Template: TypeAlias = str | Part | tuple[Any, ...]
"""A text, a `Part` (`If`, `By`, `Rows`), or a tuple of templates that are joined as they are.

`{name}` is a value, `{name.part}` a part of it. Values of a tuple or list are joined by commas, a mapping is
"A 2, B 1", None is nothing. `{name:and}` lists "A, B and C". `{name:#}` counts what a field holds, `{name:vote}` counts
in words: "1 vote", "3 votes". `{name:.2f}` and the like format a number as Python does.
"""


@dataclass(frozen=True, slots=True)
class If(Part):
    """The first template where the field is true (not None, not 0, not empty), else the second."""

    name: str
    then: Template
    otherwise: Template = ""

    def templates(self) -> Iterable[Template]:
        return (self.then, self.otherwise)

    def words(self, record: Any) -> str:
        return filled(self.then if _of(record, self.name) else self.otherwise, record)


@dataclass(frozen=True, slots=True)
class By(Part):
    """The template of the field's value; `otherwise` where it is none of these."""

    name: str
    cases: Mapping[Any, Template]
    otherwise: Template = ""

    def templates(self) -> Iterable[Template]:
        return (*self.cases.values(), self.otherwise)

    def words(self, record: Any) -> str:
        return filled(self.cases.get(_of(record, self.name), self.otherwise), record)


@dataclass(frozen=True, slots=True)
class Rows(Part):
    """One line for each record of the field, filled from that record."""

    name: str
    row: Template

    def templates(self) -> Iterable[Template]:
        return ()

    def words(self, record: Any) -> str:
        return "\n".join(filled(self.row, each) for each in _of(record, self.name))


def names_in(template: Template) -> Iterator[str]:
    """The record's names in a template, without their parts; `ValueError` where a brace belongs to none."""
    if isinstance(template, str):
        if set("{}") & set(_NAME.sub("", template)):
            raise ValueError(f"a brace that belongs to no name in {template!r}")
        yield from (found[1].partition(".")[0] for found in _NAME.finditer(template))
    elif isinstance(template, Part):
        yield template.name.partition(".")[0]
        yield from names_in(tuple(template.templates()))
    else:
        for part in template:
            yield from names_in(part)


def filled(template: Template, record: Any) -> str:
    """The template in the words of this record."""
    if isinstance(template, str):
        return _NAME.sub(lambda found: _value(record, *found.groups()), template)
    return template.words(record) if isinstance(template, Part) else "".join(filled(part, record) for part in template)


def _of(record: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), record)


def _value(record: Any, path: str, spec: str | None) -> str:
    value, words = _of(record, path), _wordings(type(record)).get(path, str)
    if spec is None:
        return _said(value, words)
    if spec == "and":
        return listed([words(each) for each in value])
    if _NUMBER.fullmatch(spec):
        return format(value, spec)
    count = value if isinstance(value, int) else len(value)
    return str(count) if spec == "#" else counted(count, spec)


def _said(value: Any, words: Callable[[Any], str]) -> str:
    match value:
        case None:
            return ""
        case Mapping():
            return ", ".join(f"{key} {words(each)}" for key, each in value.items())
        case tuple() | list():
            return ", ".join(map(words, value))
    return words(value)


_WORDINGS: dict[type[Any], Mapping[str, Callable[[Any], str]]] = {}


def _wordings(record: type[Any]) -> Mapping[str, Callable[[Any], str]]:
    """How the marked fields of a record are put into words, found once per class."""
    if record not in _WORDINGS:
        marked = fields(record) if is_dataclass(record) else ()  # settings mark no words
        hints = get_type_hints(record, include_extras=True) if marked else {}
        marks = ((field.name, mark) for field in marked for mark in _marks(hints[field.name]))
        _WORDINGS[record] = {name: mark.words for name, mark in marks}
    return _WORDINGS[record]


def _marks(hint: Any) -> Iterator[Worded]:
    """The marks of a field's type, or of what it holds: `tuple[Position, ...]`, `Position | None`."""
    yield from (mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Worded))
    for inner in get_args(hint) if get_origin(hint) is not Annotated else ():
        yield from _marks(inner)
