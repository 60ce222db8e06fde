"""Form: the questions that make up one decision, as a person is asked them one after the other.

It is the same form at a terminal and on a page: which field follows which, what may be left out, and what the rules
refuse before any words are asked for. Reading a line or a page belongs to `human` and `web`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from agentsim.engine.request import Request
from agentsim.engine.schema import asked_for
from agentsim.errors import DecisionError, IllegalDecision
from agentsim.players.typed_answers import is_words, kinds_of, unnamed_part

WITHOUT_END = 10**9


class Asking(Protocol):
    """Who puts the questions of a form to a person."""

    async def field(self, path: str, called: str, legal: Mapping[str, Any]) -> Any:
        """The answer to one question: a legal value of this schema; `path` is its place in the decision."""

    def object(self, problem: str) -> None:
        """The rules refuse what was answered so far, for this reason; the fields in question are asked again."""


class Form:
    """The form of one request."""

    def __init__(self, request: Request[Any]) -> None:
        self.request = request
        self.fields: Mapping[str, Any] = asked_for(request.whole_schema(), request.narrowed())["properties"]
        self.unnamed = unnamed_part(self.fields)
        """The part whose fields are called without its name."""
        self.chosen = [name for name, legal in self.fields.items() if not is_words(legal)]
        self.words = [name for name in self.fields if name not in self.chosen]

    async def answered(self, asking: Asking) -> dict[str, Any]:
        """Every field, words last; what the rules do not allow is asked again before any words that go with it."""
        answers: dict[str, Any] = {}
        walk = _Walk(self, asking.field)
        for name in (*self.chosen, *self.words):
            answers |= await walk.fields({name: self.fields[name]}, known=answers)
            while self.chosen and name == self.chosen[-1] and (problem := self.problem(answers)):
                asking.object(problem)
                for again in self.chosen:
                    answers |= await walk.fields({again: self.fields[again]}, known=answers)
            if answers[name] is False and len(answers) == 1:
                break  # answered no: there is nothing more to say of it
        return answers

    def problem(self, answers: Mapping[str, Any]) -> str:
        """Why these answers will not do, whatever words may come with them; nothing where they might."""
        silent = dict.fromkeys(self.words, "")
        try:
            decision = self.request.parse(json.dumps(silent | dict(answers), ensure_ascii=False)).decision
            self.request.check(decision)
        except IllegalDecision as error:
            return str(error)
        except DecisionError:
            return ""  # of what the words are missing for, the referee judges once they are there
        return self.request.warning(decision)

    def narrowed(self, path: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of a field after these answers."""
        return self.request.form_schema(path, legal, answered)

    def inner(self, name: str, called: str) -> str:
        """What stands before the names of the fields of a part."""
        return "" if name == self.unnamed else f"{called}: "


class _Walk:
    """One way through a form."""

    def __init__(self, form: Form, field: Callable[[str, str, Mapping[str, Any]], Awaitable[Any]]) -> None:
        self._form, self._field = form, field

    async def fields(
        self,
        fields: Mapping[str, Any],
        within: str = "",
        path: str = "",
        at: str | None = None,
        known: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Every field of an object; where the first is a question that is answered no, the others are left out.

        `within` is what the object is called, `path` its place in the schema, and `at` that in the decision, where
        entries of a list have numbers; `known` are answers from before.
        """
        answers: dict[str, Any] = {}
        at = path if at is None else at
        for name, whole in fields.items():
            legal = self._form.narrowed(f"{path}{name}", whole, answers if known is None else known)
            called = f"{within}{name.replace('_', ' ')}"
            inner, place = self._form.inner(name, called), (f"{path}{name}.", f"{at}{name}.")
            if "const" in legal:
                answers[name] = legal["const"]
            elif legal.get("type") == "object":
                answers[name] = await self._part(legal["properties"], inner, *place)
            elif kinds_of(legal) is not None:
                answers[name] = await self._kind(legal, inner, *place)
            elif kinds_of(legal.get("items", {})) is not None:
                answers[name] = await self._kinds(legal, inner, *place)
            else:
                answers[name] = await self._field(f"{at}{name}", called, legal)
                if answers[name] is False and len(answers) == 1:
                    break
        return answers

    async def _part(self, fields: Mapping[str, Any], within: str, path: str, at: str) -> dict[str, Any]:
        """A part of a decision; of one that is lists alone, all of which may be empty, that is asked first."""
        if are_lists(fields):
            called = f"{within}any {', '.join(name.replace('_', ' ') for name in fields)}"
            if not await self._field(f"{at}any", called, {"type": "boolean"}):
                return {name: [] for name in fields}
        return await self.fields(fields, within, path, at)

    async def _kind(
        self, legal: Mapping[str, Any], within: str, path: str, at: str, *, or_none: bool = False
    ) -> dict[str, Any] | None:
        """One of several kinds of record: which, then that one's fields alone; None where none is wanted."""
        found = kinds_of(legal)
        assert found is not None, "only a field of several kinds is asked for by its kind"
        tag, kinds = found
        names = [*kinds, *(["none"] if or_none else [])]
        chosen = await self._field(f"{at}{tag}", f"{within}{tag.replace('_', ' ')}", {"enum": names})
        return {tag: chosen, **await self.fields(kinds[chosen], within, path, at)} if chosen in kinds else None

    async def _kinds(self, legal: Mapping[str, Any], within: str, path: str, at: str) -> list[dict[str, Any]]:
        """As many records as are wanted, each of one of several kinds."""
        answers: list[dict[str, Any]] = []
        while len(answers) < legal.get("maxItems", WITHOUT_END):
            or_none = len(answers) >= legal.get("minItems", 0)
            answer = await self._kind(legal["items"], within, path, f"{at}{len(answers)}.", or_none=or_none)
            if answer is None:
                break
            answers.append(answer)
        return answers


def are_lists(fields: Mapping[str, Any]) -> bool:
    """Whether a part of a decision is several lists and nothing else."""
    return len(fields) > 1 and all(legal.get("type") == "array" for legal in fields.values())
