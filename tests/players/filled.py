"""A page's form filled in field by field; each error is shown, and the field is asked again."""

from __future__ import annotations

import json
from typing import Any

from agentsim.engine.options import FormField, called_value
from agentsim.engine.request import Request
from agentsim.players.page_form import FieldProblem, Form, PageField, PageForm


class NothingLeft(Exception):
    """A field is asked for when no line is left to type."""


class Filled:
    """A form that is filled in with these lines; `text` is its output: fields with their options, and errors."""

    def __init__(self, request: Request[Any], *lines: str) -> None:
        self.request, self.text = request, ""
        self._lines = [*lines]

    def answer(self) -> dict[str, Any]:
        """Return the object of the form; if the rules reject it, the form goes on with the next lines."""
        while True:
            page = PageForm(Form(self.request))
            self._open = {field.path: field for field in page.fields}
            self._numbers = page.numbers
            try:
                found = Form(self.request).answered(self._field)
            except FieldProblem as problem:
                self.text += f"That will not do: {problem} "
            else:
                assert not self._lines, f"never asked for: {self._lines}"
                return found

    def _field(self, path: str, legal: FormField) -> Any:
        field = self._open[path]
        while True:
            now = PageField(field.name, path, field.called, legal, {})
            options = "" if now.many else " / ".join(value for value, _ in now.options)
            self.text += f"{field.called} [{now.hint or options}]: "
            if not self._lines:
                raise NothingLeft
            line = self._lines.pop(0)
            try:
                sent = line.split(", ") if now.many else [line]
                value = now.read(sent, legal, self._numbers)
            except FieldProblem as problem:
                self.text += f"{problem} "
                continue
            self._open |= {each.path: each for each in field.then.get(called_value(value), ())}
            return value


def filled(request: Request[Any], *lines: str) -> tuple[Any, str]:
    """Return the decision of these lines, read by the reader, and the text of the form. Every line must be used."""
    form = Filled(request, *lines)
    decision = request.parse(json.dumps(form.answer())).decision
    request.check(decision)
    return decision, form.text
