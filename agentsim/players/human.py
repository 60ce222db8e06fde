"""HumanPlayer: a person in a seat, who learns what a model there would learn and answers field by field.

Reading keys and drawing belong to `terminal`, wording to `rendering` and `typed_answers`. The referee judges the
answer, as it does for every player.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Literal

from agentsim.engine.play import Ask
from agentsim.engine.prompt import Restated, cleaned
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion, Message
from agentsim.players.form import WITHOUT_END, Form
from agentsim.players.model import Complaint, ReaskPolicy, prompt_messages
from agentsim.players.rendering import as_read, paragraphs, plainly, question
from agentsim.players.terminal import MARK, InterruptRequest, Terminal
from agentsim.players.typed_answers import by_number, hint, reason, takes_numbers, understood

_FOREIGN = f"    {MARK}"


class _Anew(Exception):
    """The person wants to begin again with the first field."""


@dataclass
class HumanPlayer:
    """A person. What has been shown is remembered for the screen alone; no decision depends on it."""

    terminal: Terminal
    persona: str = ""
    interrupt: InterruptRequest = field(default_factory=InterruptRequest)
    attempts: AttemptPolicy = field(default=AttemptPolicy(retries=0, max_attempts=WITHOUT_END), init=False)
    reasking: ReaskPolicy = field(default=ReaskPolicy(reasks=None), init=False)
    source: Literal["human"] = field(default="human", init=False)
    name: str = field(default="human", init=False)
    provider: str = field(default="human", init=False)

    def __post_init__(self) -> None:
        self.terminal.people += 1
        self._heard: tuple[str, ...] = ()
        self._asked = 0  # index of the decision that is on the screen
        self._reason = ""  # why the last answer to it would not do
        self._rules: Sequence[str] = ()  # and what a question about it needs: they are asked one after the other
        self._names: Mapping[str, int] = {}
        self._unnamed: str | None = None
        self._on_call = False
        self._state: tuple[str, ...] = ()  # what stands on the screen of the situation

    @property
    def links(self) -> tuple[HumanPlayer]:
        return (self,)

    def messages(self, ask: Ask, complaints: Sequence[Complaint]) -> tuple[Message, ...]:
        """The prompt a model would get here; complaints are shown, not recorded as messages."""
        self._reason = complaints[-1].reason if complaints else ""
        return prompt_messages(ask, self.persona)

    def unasked(self, ask: Ask) -> Completion | None:
        """What a person answers who is only on call for this question, and has not rung; None of any other."""
        if not ask.request.on_call or self.interrupt.rung or self._reason:
            return None
        return Completion(text=ask.request.fallback().model_dump_json(), finish_reason="stop")

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Ask every field of the decision and put the answers together as JSON."""
        form = Form(ask.request)
        async with self.terminal.turn:
            self._rules, self._names = messages[0].segments, ask.request.named_numbers()
            self._unnamed = form.unnamed
            self._on_call = ask.request.on_call
            anew = await self.terminal.handed_to(self, ask.request.player)
            if anew or ask.index != self._asked:
                self._show(ask, anew=anew)
                self._asked = ask.index
            if self._reason:
                self.object(self._reason)
            answers = None
            while answers is None:
                with suppress(_Anew):
                    answers = await form.answered(self)
        if ask.request.on_call:
            self.interrupt.answered()
        return Completion(text=json.dumps(answers, ensure_ascii=False), finish_reason="stop")

    def _show(self, ask: Ask, *, anew: bool) -> None:
        """Shows what is new; `anew`, on an empty screen, everything but the rules."""
        prompt = ask.prompt()
        say = self.terminal.say
        title = f"── {ask.request.player} "
        say(f"\n{title}{'─' * (self.terminal.width - len(title))}\n")
        if not self._asked:
            self._explain()
        if anew:
            self._heard = ()
        again = bool(self._asked) and not anew
        fresh = self._fresh(prompt.history, told=again)
        if fresh and again:
            say("Since you were last asked:")
        for line in paragraphs([*fresh, ""] if fresh else []):
            self._say(line)
        # stages of one turn only add to what stands there
        begun = len(self._state) if not fresh and self.terminal.shown is self else 0
        known = begun if prompt.state[:begun] == self._state else 0
        self._state, self.terminal.shown = prompt.state, self
        for line in paragraphs([*prompt.state[known:], "", *map(question, prompt.question), ""]):
            self._say(line)

    def _say(self, line: str) -> None:
        # Rows that a player wrote are marked, so that none can pass for a line of its own.
        for row, foreign in as_read(line):
            self.terminal.say(row, hang=_FOREIGN if foreign else "  " if row.startswith("- ") else "")

    def _fresh(self, history: tuple[str, ...], *, told: bool) -> list[str]:
        """The lines that were not there before, wherever older ones have been summed up or dropped.

        Restated lines are shown only to a person who has not seen what they restate.
        """
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._heard, history, strict=False)))
        before, now = self._heard[same:], history[same:]
        self._heard = history
        changes = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
        fresh = [line for change, _, _, start, end in changes if change != "equal" for line in now[start:end]]
        return [line for line in fresh if not (told and isinstance(line, Restated))]

    def object(self, problem: str) -> None:
        """Say why an answer will not do."""
        self.terminal.say(f"That will not do: {reason(problem, self._unnamed)}")

    def _explain(self) -> None:
        for part in paragraphs(self._rules):
            self.terminal.say(plainly(part))
        rings = f"{'asks for your turn' if self._on_call else 'calls who is on call'}; twice, it "
        self.terminal.say(
            "\nWhat this says of JSON is for models: you answer field by field, in plain words. `?` shows it again, "
            f"`<` begins your answer anew. Ctrl-C {rings if self.interrupt.attended else ''}stops the run, which can "
            "be resumed.\n"
        )

    async def field(self, path: str, called: str, legal: Mapping[str, Any]) -> Any:
        """A line from the terminal, asked for until it is a legal value; see `form.Asking`."""
        while True:
            text = cleaned(await self.terminal.ask(f"{called}{hint(legal)}:"))
            if text == "?":
                self._explain()
                continue
            if text == "<":
                raise _Anew
            try:
                return understood(by_number(text, self._names) if takes_numbers(legal) else text, legal)
            except ValueError as error:
                self.terminal.say(str(error))
