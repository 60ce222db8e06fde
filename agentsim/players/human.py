"""HumanPlayer: a person in a seat, who learns what a model there would learn and answers field by field.

Reading keys and drawing belong to `terminal`, wording to `rendering` and `typed_answers`. The referee judges the
answer, as it does for every player.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from agentsim.engine.play import Ask
from agentsim.engine.prompt import Quoted, Restated, cleaned
from agentsim.errors import DecisionError, IllegalDecision
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion, Message
from agentsim.players.model import Complaint, ReaskPolicy, prompt_messages
from agentsim.players.rendering import news, outlined, paragraphs, parts_of, plainly, question, rows_of
from agentsim.players.terminal import MARK, InterruptRequest, Terminal
from agentsim.players.typed_answers import (
    by_number,
    hint,
    is_words,
    kinds_of,
    reason,
    takes_numbers,
    understood,
    unnamed_part,
)

Narrowing: TypeAlias = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
_WITHOUT_END = 10**9
_FOREIGN = f"    {MARK}"


class _Anew(Exception):
    """The person wants to begin again with the first field."""


@dataclass
class HumanPlayer:
    """A person. What has been shown is remembered for the screen alone; no decision depends on it."""

    terminal: Terminal
    persona: str = ""
    interrupt: InterruptRequest = field(default_factory=InterruptRequest)
    attempts: AttemptPolicy = field(default=AttemptPolicy(retries=0, max_attempts=_WITHOUT_END), init=False)
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
        self._narrowed: Narrowing = lambda name, legal, answered: legal
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
        fields = ask.request.schema()["properties"]
        async with self.terminal.turn:
            self._rules, self._names = messages[0].segments, ask.request.named_numbers()
            self._unnamed, self._narrowed = unnamed_part(fields), ask.request.form_schema
            self._on_call = ask.request.on_call
            anew = await self.terminal.handed_to(self, ask.request.player)
            if anew or ask.index != self._asked:
                self._show(ask, anew=anew)
                self._asked = ask.index
            if self._reason:
                self._object(self._reason)
            answers = None
            while answers is None:
                with suppress(_Anew):
                    answers = await self._answers(ask, fields)
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
        for part in rows_of(line):
            foreign = "{" in part or any(isinstance(each, Quoted) for each in parts_of(part))
            for row in outlined(part) or [news(part)]:
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

    def _object(self, problem: str) -> None:
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

    async def _answers(self, ask: Ask, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Every field, words last; what the rules do not allow is asked again before any words that go with it."""
        chosen = [name for name, legal in fields.items() if not is_words(legal)]
        words = [name for name in fields if name not in chosen]
        answers: dict[str, Any] = {}
        for name in (*chosen, *words):
            legal = fields[name]
            answers |= await self._fields({name: legal}, known=answers)
            while chosen and name == chosen[-1] and (problem := _problem(ask, fields, answers)):
                self._object(problem)
                for again in chosen:
                    answers |= await self._fields({again: fields[again]}, known=answers)
            if answers[name] is False and len(answers) == 1:
                break  # answered no: there is nothing more to say of it
        return answers

    async def _fields(
        self, fields: Mapping[str, Any], within: str = "", path: str = "", known: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Every field of an object; where the first is a question that is answered no, the others are left out.

        `within` is what the object is called on the screen, `path` in the decision; `known` are answers from before.
        """
        answers: dict[str, Any] = {}
        for name, whole in fields.items():
            legal = self._narrowed(f"{path}{name}", whole, answers if known is None else known)
            called = f"{within}{name.replace('_', ' ')}"
            inner = "" if name == self._unnamed else f"{called}: "
            if "const" in legal:
                answers[name] = legal["const"]
            elif legal.get("type") == "object":
                answers[name] = await self._part(legal["properties"], inner, f"{path}{name}.")
            elif kinds_of(legal) is not None:
                answers[name] = await self._kind(legal, inner, f"{path}{name}.")
            elif kinds_of(legal.get("items", {})) is not None:
                answers[name] = await self._kinds(legal, inner, f"{path}{name}.")
            else:
                answers[name] = await self._field(called, legal)
                if answers[name] is False and len(answers) == 1:
                    break
        return answers

    async def _part(self, fields: Mapping[str, Any], within: str, path: str) -> dict[str, Any]:
        """A part of a decision; of one that is lists alone, all of which may be empty, that is asked first."""
        lists = len(fields) > 1 and all(legal.get("type") == "array" for legal in fields.values())
        if lists:
            names = ", ".join(name.replace("_", " ") for name in fields)
            if not await self._field(f"{within}any {names}", {"type": "boolean"}):
                return {name: [] for name in fields}
        return await self._fields(fields, within, path)

    async def _kind(
        self, legal: Mapping[str, Any], within: str, path: str, *, or_none: bool = False
    ) -> dict[str, Any] | None:
        """One of several kinds of record: which, then that one's fields alone; None where none is wanted."""
        found = kinds_of(legal)
        assert found is not None, "only a field of several kinds is asked for by its kind"
        tag, kinds = found
        names = [*kinds, *(["none"] if or_none else [])]
        chosen = await self._field(f"{within}{tag.replace('_', ' ')}", {"enum": names})
        return {tag: chosen, **await self._fields(kinds[chosen], within, path)} if chosen in kinds else None

    async def _kinds(self, legal: Mapping[str, Any], within: str, path: str) -> list[dict[str, Any]]:
        """As many records as are wanted, each of one of several kinds."""
        answers: list[dict[str, Any]] = []
        while len(answers) < legal.get("maxItems", _WITHOUT_END):
            or_none = len(answers) >= legal.get("minItems", 0)
            answer = await self._kind(legal["items"], within, path, or_none=or_none)
            if answer is None:
                break
            answers.append(answer)
        return answers

    async def _field(self, name: str, legal: Mapping[str, Any]) -> Any:
        while True:
            text = cleaned(await self.terminal.ask(f"{name}{hint(legal)}:"))
            if text == "?":
                self._explain()
                continue
            if text == "<":
                raise _Anew
            try:
                return understood(by_number(text, self._names) if takes_numbers(legal) else text, legal)
            except ValueError as error:
                self.terminal.say(str(error))


def _problem(ask: Ask, fields: Mapping[str, Any], answers: Mapping[str, Any]) -> str:
    """Why these answers will not do, whatever words may come with them; nothing where they might."""
    silent = {name: "" for name, legal in fields.items() if is_words(legal)}
    try:
        decision = ask.request.parse(json.dumps(silent | dict(answers), ensure_ascii=False)).decision
        ask.request.check(decision)
    except IllegalDecision as error:
        return str(error)
    except DecisionError:
        return ""  # of what the words are missing for, the referee judges once they are there
    return ask.request.warning(decision)
