"""WebPlayer: a person in a seat who answers on a page of the server.

`server` draws the page, `page_form` has its fields. `runs.decide` judges the answer, as every player's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal

from agentsim.engine.request import Ask
from agentsim.errors import DecisionError
from agentsim.lazy import dataclass
from agentsim.models.base import Completion, Message, prompt_messages
from agentsim.models.pacing import RetryPolicy
from agentsim.players.base import PATIENT, BadReply, ReaskPolicy
from agentsim.players.page_form import FieldProblem, Form, PageForm

NO_ANSWER = "no_answer"
"""The `fallback_reason` of a decision whose person's clock ran out."""
WITHDRAWN = "withdrawn"
"""The `fallback_reason` of a decision whose person has left the study."""


class PersonLeft(Exception):
    """The person has left, so there is no answer."""


@dataclass
class WebQuestion:
    """The current question to a person; `ends` is the end of the clock in the loop's time, or None without a clock."""

    ask: Ask
    messages: tuple[Message, ...]
    ends: float | None
    answer: asyncio.Future[str]

    def __post_init__(self) -> None:
        self._form = Form(self.ask.request)
        self.page = PageForm(self._form)

    def submit(self, given: Mapping[str, Sequence[str]]) -> None:
        """Answer with the texts that a page sent, unless answered before.

        Raises `FieldProblem` if the rules refuse it.
        """
        answers = self.page.answered(given)
        text, request = json.dumps(answers, ensure_ascii=False), self.ask.request
        try:
            reading = request.parse(text)
            if not reading.checked:
                request.check(reading.decision)
        except DecisionError as error:
            raise FieldProblem("", self._form.reason(str(error))) from None
        if not self.answer.done():
            self.answer.set_result(text)


@dataclass
class WebPlayer:
    """A person at a page of the server. `changed` is called when a question appears or disappears."""

    persona: str = ""
    timeout_s: float | None = None
    changed: Callable[[], None] = lambda: None
    retry_policy: RetryPolicy = field(default=PATIENT, init=False)
    reasking: ReaskPolicy = field(default=ReaskPolicy(reasks=None), init=False)
    source: Literal["human"] = field(default="human", init=False)
    name: str = field(default="web", init=False)
    provider: str = field(default="web", init=False)
    question: WebQuestion | None = field(default=None, init=False)
    withdrawn: bool = field(default=False, init=False)

    @property
    def chain(self) -> tuple[WebPlayer]:
        return (self,)

    def messages(self, ask: Ask, bad_replies: Sequence[BadReply]) -> tuple[Message, ...]:
        """Return the prompt that a model would get."""
        return prompt_messages(ask.prompt(), self.persona)

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Put the question on the page and wait for its answer, without a time limit.

        Raises `PersonLeft` if the person leaves, or has left before.
        """
        if self.withdrawn:
            raise PersonLeft
        loop = asyncio.get_running_loop()
        ends = None if self.timeout_s is None else loop.time() + self.timeout_s
        self.question = WebQuestion(ask, messages, ends, loop.create_future())
        self.changed()
        try:
            return Completion(text=await self.question.answer, finish_reason="stop")
        finally:
            self.question = None
            self.changed()

    def withdraw(self) -> None:
        """Mark the person as gone: the current question and later ones get no answer."""
        self.withdrawn = True
        if self.question is not None and not self.question.answer.done():
            self.question.answer.set_exception(PersonLeft())
