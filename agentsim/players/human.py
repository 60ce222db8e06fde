"""HumanPlayer: a person in a seat, who sees what a model there would see and answers field by field.

Reading keys and drawing belong to `terminal`; judging the answer to the referee, as for everybody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentsim.engine.play import Ask
from agentsim.engine.prompt import cleaned
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion
from agentsim.players.base import Complaint, Message, ReaskPolicy
from agentsim.players.model import prompt_messages
from agentsim.players.terminal import Terminal

__all__ = ["HumanPlayer"]

_WITHOUT_END = 10**9


@dataclass
class HumanPlayer:
    """A person; `shown` is how much of its history each of its prompts has shown already."""

    terminal: Terminal
    persona: str = ""
    shown: tuple[str, ...] = field(default=(), init=False)
    attempts: AttemptPolicy = field(default=AttemptPolicy(retries=0, max_attempts=_WITHOUT_END), init=False)
    reasking: ReaskPolicy = field(default=ReaskPolicy(reasks=None), init=False)

    @property
    def source(self) -> Literal["human"]:
        """A person's decisions are marked as such."""
        return "human"

    @property
    def provider(self) -> str:
        """People fail for themselves."""
        return "human"

    def messages(self, ask: Ask, complaints: Sequence[Complaint]) -> tuple[Message, ...]:
        """The prompt a model would get here; complaints are shown, not recorded as messages."""
        return prompt_messages(ask, self.persona)

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Ask every field of the decision and put the answers together as JSON."""
        async with self.terminal.turn:
            if attempt == 1:
                self._show(ask, messages[0].text)
            else:
                self.terminal.say(self._complaint(ask))
            answers = {}
            for name, legal in ask.request.schema()["properties"].items():
                answers[name] = await self._field(name, legal, messages[0].text)
        return Completion(text=json.dumps(answers, ensure_ascii=False), finish_reason="stop")

    def _show(self, ask: Ask, rules: str) -> None:
        prompt = ask.request.prompt()
        say = self.terminal.say
        if not self.shown:
            say(f"\n{rules}\n\n(`?` shows the rules again, Ctrl-C stops; the run can be resumed.)")
        known = len(self.shown) if prompt.history[: len(self.shown)] == self.shown else 0
        self.shown = prompt.history
        for part in (*prompt.history[known:], "", *prompt.state, "", *prompt.question):
            say(part)

    def _complaint(self, ask: Ask) -> str:
        return "That does not work here; once more, please.\n" + "\n".join(ask.request.prompt().question)

    async def _field(self, name: str, legal: Mapping[str, Any], rules: str) -> Any:
        while True:
            text = cleaned(await self.terminal.ask(f"{name}{_hint(legal)}:"))
            if text == "?":
                self.terminal.say(rules)
                continue
            return _value(text, legal)


def _hint(legal: Mapping[str, Any]) -> str:
    if "enum" in legal:
        return f" [{' / '.join(map(str, legal['enum']))}]"
    if legal.get("type") == "boolean":
        return " [yes / no]"
    if "minimum" in legal and "maximum" in legal:
        return f" [{legal['minimum']} to {legal['maximum']}]"
    return ""


def _value(text: str, legal: Mapping[str, Any]) -> Any:
    """What a person means by a line: an option in any case, yes or no, a number, JSON for lists, else the words."""
    for option in legal.get("enum", ()):
        if str(option).casefold() == text.casefold():
            return option
    if legal.get("type") == "boolean" and text.casefold() in {"y", "yes", "true", "n", "no", "false"}:
        return text.casefold() in {"y", "yes", "true"}
    if legal.get("type") in {"integer", "number", "array", "object"}:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
