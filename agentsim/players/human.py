"""HumanPlayer: a person in a seat, who learns what a model there would learn and answers field by field.

Reading keys and drawing belong to `terminal`, wording to `readable`, judging the answer to the referee, as for
everybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentsim.engine.play import Ask
from agentsim.engine.prompt import cleaned
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion
from agentsim.players.base import Complaint, Message, ReaskPolicy
from agentsim.players.model import prompt_messages
from agentsim.players.readable import hint, news, question, understood
from agentsim.players.rows import MARK
from agentsim.players.terminal import Terminal

__all__ = ["HumanPlayer"]

_WITHOUT_END = 10**9
_FOREIGN = f"    {MARK}"


@dataclass
class HumanPlayer:
    """A person. What has been shown is remembered for the screen alone; no decision depends on it."""

    terminal: Terminal
    persona: str = ""
    attempts: AttemptPolicy = field(default=AttemptPolicy(retries=0, max_attempts=_WITHOUT_END), init=False)
    reasking: ReaskPolicy = field(default=ReaskPolicy(reasks=None), init=False)

    def __post_init__(self) -> None:
        self._heard: tuple[str, ...] = ()
        self._asked = 0  # index of the decision that is on the screen
        self._reason = ""  # why the last answer to it would not do

    @property
    def source(self) -> Literal["human"]:
        """A person's decisions are marked as such."""
        return "human"

    @property
    def name(self) -> str:
        """As the scenario says it."""
        return "human"

    @property
    def provider(self) -> str:
        """People fail for themselves."""
        return "human"

    @property
    def links(self) -> tuple[HumanPlayer]:
        """Nobody takes over from a person."""
        return (self,)

    def messages(self, ask: Ask, complaints: Sequence[Complaint]) -> tuple[Message, ...]:
        """The prompt a model would get here; complaints are shown, not recorded as messages."""
        self._reason = complaints[-1].reason if complaints else ""
        return prompt_messages(ask, self.persona)

    async def reply(
        self, ask: Ask, messages: tuple[Message, ...], attempt: int, begin: Callable[[], None] | None = None
    ) -> Completion:
        """Ask every field of the decision and put the answers together as JSON."""
        if begin is not None:
            begin()
        rules = messages[0].segments
        async with self.terminal.turn:
            if ask.index != self._asked:
                self._show(ask, rules)
                self._asked = ask.index
            if self._reason:
                self.terminal.say(f"That will not do: {self._reason}")
            answers = await self._fields(ask.request.schema()["properties"], rules)
        return Completion(text=json.dumps(answers, ensure_ascii=False), finish_reason="stop")

    def _show(self, ask: Ask, rules: Sequence[str]) -> None:
        prompt = ask.request.prompt()
        say = self.terminal.say
        title = f"── {ask.request.player} "
        say(f"\n{title}{'─' * (self.terminal.width - len(title))}\n")
        if not self._asked:
            self._explain(rules)
        if fresh := self._fresh(prompt.history):
            if self._asked:
                say("Since you were last asked:")
            for line in fresh:
                self._say(line)
            say("")
        for line in (*prompt.state, "", *(question(part) for part in prompt.question), ""):
            self._say(line)

    def _say(self, line: str) -> None:
        # Rows that a player wrote are marked, so that none can pass for a line of its own.
        for part in line.split("\n"):
            self.terminal.say(news(part), hang=_FOREIGN if "{" in part else "")

    def _fresh(self, history: tuple[str, ...]) -> tuple[str, ...]:
        same = 0
        for before, now in zip(self._heard, history, strict=False):
            if before != now:
                break
            same += 1
        self._heard = history
        return history[same:]

    def _explain(self, rules: Sequence[str]) -> None:
        for part in rules:
            self.terminal.say(part)
        self.terminal.say(
            "\nWhat this says of JSON is for models: you answer field by field, in plain words. `?` shows it again. "
            "Ctrl-C stops the run, which can be resumed.\n"
        )

    async def _fields(self, fields: Mapping[str, Any], rules: Sequence[str], within: str = "") -> dict[str, Any]:
        """Every field of an object; where the first is a question that is answered no, the others are left out."""
        answers: dict[str, Any] = {}
        for name, legal in fields.items():
            called = f"{within}{name.replace('_', ' ')}"
            if legal.get("type") == "object":
                inner = "" if len(fields) == 1 or name == "action" else f"{called}: "
                answers[name] = await self._fields(legal["properties"], rules, inner)
            else:
                answers[name] = await self._field(called, legal, rules)
                if answers[name] is False and len(answers) == 1:
                    break
        return answers

    async def _field(self, name: str, legal: Mapping[str, Any], rules: Sequence[str]) -> Any:
        while True:
            text = cleaned(await self.terminal.ask(f"{name}{hint(legal)}:"))
            if text == "?":
                self._explain(rules)
                continue
            try:
                return understood(text, legal)
            except ValueError as error:
                self.terminal.say(str(error))
