"""HumanPlayer: a person at the terminal, who reads the prompt that a model would get and types the reply.

`terminal` reads lines and draws, `rendering` has the wording. `runs.decide` reads and judges the reply, like a
model's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Literal

from agentsim.engine.codec import json_fields, value_at
from agentsim.engine.options import LegalValues
from agentsim.engine.request import Ask, Request
from agentsim.engine.wording import Restated
from agentsim.errors import DecisionError
from agentsim.lazy import dataclass
from agentsim.models.base import Completion, Message, prompt_messages
from agentsim.models.pacing import RetryPolicy
from agentsim.players.base import PATIENT, BadReply, ReaskPolicy
from agentsim.players.rendering import as_read, paragraphs, plainly, split_question
from agentsim.players.terminal import GUTTER, HELP, InterruptRequest, Terminal

_FOREIGN = f"    {GUTTER}"


@dataclass
class HumanPlayer:
    """A person at the terminal. The player remembers only what the screen shows; no decision depends on it."""

    terminal: Terminal
    persona: str = ""
    interrupt: InterruptRequest = field(default_factory=InterruptRequest)
    retry_policy: RetryPolicy = field(default=PATIENT, init=False)
    reasking: ReaskPolicy = field(default=ReaskPolicy(reasks=None, repair=True), init=False)
    source: Literal["human"] = field(default="human", init=False)
    name: str = field(default="human", init=False)
    provider: str = field(default="human", init=False)

    def __post_init__(self) -> None:
        self._heard: tuple[str, ...] = ()
        self._asked = 0  # index of the decision that is on the screen
        self._reason = ""  # why the last answer to it was rejected
        self._state: tuple[str, ...] = ()  # the lines of the state that are on the screen

    @property
    def chain(self) -> tuple[HumanPlayer]:
        return (self,)

    def messages(self, ask: Ask, bad_replies: Sequence[BadReply]) -> tuple[Message, ...]:
        """Return the prompt that a model would get; the reason of a bad reply is shown, but is no message."""
        self._reason = bad_replies[-1].reason if bad_replies else ""
        return prompt_messages(ask.prompt(), self.persona)

    def fallback_on_call(self, ask: Ask) -> Completion | None:
        """Return the fallback for a question to a person on call who has not rung, or None for any other question."""
        if not ask.request.on_call or self.interrupt.requested or self._reason:
            return None
        return Completion(text=ask.request.fallback().model_dump_json(), finish_reason="stop")

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Show the question, or why the last reply was rejected, and read a reply."""
        rules, how = messages[0].segments, how_to_answer(ask.request)
        if ask.index != self._asked:
            self._show(ask, rules)
            self._asked = ask.index
        self.terminal.say(f"That will not do: {self._reason} {how}" if self._reason else how)
        while (text := await self.terminal.reply()) == HELP:
            self._explain(ask, rules)
            self.terminal.say(how)
        if ask.request.on_call:
            self.interrupt.answered()
        return Completion(text=text, finish_reason="stop")

    def _show(self, ask: Ask, rules: Sequence[str]) -> None:
        """Show the news for the person, then the question and the shape of its answer."""
        prompt, again = ask.prompt(), bool(self._asked)
        say = self.terminal.say
        title = f"── {ask.request.player} "
        say(f"\n{title}{'─' * (self.terminal.width - len(title))}\n")
        if not again:
            self._explain(ask, rules)
        fresh = self._fresh(prompt.history, told=again)
        if fresh and again:
            say("Since you were last asked:")
        for line in paragraphs([*fresh, ""] if fresh else []):
            self._say(line)
        # later requests of one turn only add lines to the state
        begun = len(self._state) if not fresh and self.terminal.shown is self else 0
        known = begun if prompt.state[:begun] == self._state else 0
        self._state, self.terminal.shown = prompt.state, self
        question = [split_question(line) for line in prompt.question]
        for line in paragraphs([*prompt.state[known:], "", *(asked for asked, _ in question)]):
            self._say(line)
        for _, shape in question:
            if shape:
                say(plainly(shape), hang="  ")
        say("")

    def _say(self, line: str) -> None:
        # Rows that a player wrote are marked, so that none can pass for a line of its own.
        for row, foreign in as_read(line):
            self.terminal.say(row, hang=_FOREIGN if foreign else "  " if row.startswith("- ") else "")

    def _fresh(self, history: tuple[str, ...], *, told: bool) -> list[str]:
        """Return the lines that are new, even if older ones have been summarized or dropped.

        Restated lines are shown only to a person who has not seen the original.
        """
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._heard, history, strict=False)))
        before, now = self._heard[same:], history[same:]
        self._heard = history
        changes = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
        fresh = [line for change, _, _, start, end in changes if change != "equal" for line in now[start:end]]
        return [line for line in fresh if not (told and isinstance(line, Restated))]

    def _explain(self, ask: Ask, rules: Iterable[str]) -> None:
        for part in paragraphs(rules):
            self.terminal.say(plainly(part))
        rings = f"{'asks for your turn' if ask.request.on_call else 'calls who is on call'}; twice, it "
        self.terminal.say(
            "\nThe line above the prompt says how to answer, whatever the rules say of JSON. An empty line ends your "
            f"answer; `{HELP}` shows the rules again. "
            f"Ctrl-C {rings if self.interrupt.attended else ''}stops the run, which can be resumed.\n"
        )


def how_to_answer(request: Request[Any]) -> str:
    """Return a line that says which replies the reader takes: words or a value alone, `field: value` lines, or JSON."""
    if request.prose:
        return "Type your words, then an empty line."
    shorter = "".join(f"{way}, " for way in _shorter_ways(request))
    return f"Type {shorter}or JSON; then an empty line." if shorter else "Type JSON, then an empty line."


def _shorter_ways(request: Request[Any]) -> Iterator[str]:
    """Yield the kinds of replies shorter than JSON that the reader understands, each tried on an example."""
    fields = dict(_fields(request.fields_for_model()))
    examples = {path: option.example for path, option in fields.items()}
    if None in examples.values():
        return
    typed = {path: "yes" if value is True else str(value) for path, value in examples.items()}
    chosen = {path: value for path, value in examples.items() if fields[path].kind != "words"}
    if len(chosen) == 1 and _is_read(request, alone := typed[next(iter(chosen))], chosen):
        yield f"a value such as `{alone}`"
    lines = {path: f"{path.rpartition('.')[2]}: {value}" for path, value in typed.items()}
    if _is_read(request, "\n".join(lines.values()), chosen):
        yield f"lines such as `{lines[next(iter(chosen or lines))]}`"


def _fields(option: LegalValues, within: str = "") -> Iterator[tuple[str, LegalValues]]:
    """Yield the fields of an object, and of the objects in it, by path."""
    for name, part in (option.parts or {}).items():
        path = f"{within}{name}"
        yield from [(path, part)] if part.parts is None else _fields(part, f"{path}.")


def _is_read(request: Request[Any], text: str, meant: Mapping[str, Any]) -> bool:
    """Return whether the reader takes a text to mean these values."""
    try:
        said = json_fields(request.parse(text).decision)
    except DecisionError:
        return False
    return all(value_at(said, tuple(path.split("."))) == value for path, value in meant.items())
