"""HumanPlayer: a person at the terminal, who reads the prompt that a model would get and types the reply.

Reading lines and drawing belong to `terminal`, wording to `rendering`. `runner.decide` reads and judges the
reply, as it does a model's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Literal

from agentsim.engine.codec import value_at, values
from agentsim.engine.play import Ask
from agentsim.engine.prompt import Restated
from agentsim.engine.request import Request
from agentsim.errors import DecisionError
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion, Message
from agentsim.players.model import PATIENT, Complaint, ReaskPolicy, prompt_messages
from agentsim.players.rendering import as_read, paragraphs, plainly, split_question
from agentsim.players.terminal import HELP, MARK, InterruptRequest, Terminal

_FOREIGN = f"    {MARK}"
_WORDS = "some words"


@dataclass
class HumanPlayer:
    """A person. What has been shown is remembered for the screen alone; no decision depends on it."""

    terminal: Terminal
    persona: str = ""
    interrupt: InterruptRequest = field(default_factory=InterruptRequest)
    attempts: AttemptPolicy = field(default=PATIENT, init=False)
    reasking: ReaskPolicy = field(default=ReaskPolicy(reasks=None, repair=True), init=False)
    source: Literal["human"] = field(default="human", init=False)
    name: str = field(default="human", init=False)
    provider: str = field(default="human", init=False)

    def __post_init__(self) -> None:
        self._heard: tuple[str, ...] = ()
        self._asked = 0  # index of the decision that is on the screen
        self._reason = ""  # why the last answer to it would not do
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
        """Show the question, or why the last reply to it will not do, and read a reply."""
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
        """Show what is new to the person, then the question and the shape of its answer."""
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
        # stages of one turn only add to what stands there
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
        """The lines that were not there before, wherever older ones have been summed up or dropped.

        Restated lines are shown only to a person who has not seen what they restate.
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
    """Say in one line which replies the reader takes: words or a value alone, `field: value` lines, or JSON."""
    if request.prose:
        return "Type your words, then an empty line."
    shorter = "".join(f"{way}, " for way in _shorter_ways(request))
    return f"Type {shorter}or JSON; then an empty line." if shorter else "Type JSON, then an empty line."


def _shorter_ways(request: Request[Any]) -> Iterator[str]:
    """The replies shorter than JSON that the reader takes as they are meant, each tried on an example."""
    examples = dict(_examples(request.schema()["properties"]))
    if None in examples.values():
        return
    typed = {path: "yes" if value is True else str(value) for path, value in examples.items()}
    chosen = {path: value for path, value in examples.items() if value != _WORDS}
    if len(chosen) == 1 and _is_read(request, alone := typed[next(iter(chosen))], chosen):
        yield f"a value such as `{alone}`"
    lines = {path: f"{path.rpartition('.')[2]}: {value}" for path, value in typed.items()}
    if _is_read(request, "\n".join(lines.values()), chosen):
        yield f"lines such as `{lines[next(iter(chosen or lines))]}`"


def _examples(fields: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """A value of each field, by its path; None of a list and of a record of several kinds."""
    for name, legal in fields.items():
        path = f"{within}{name}"
        match legal:
            case {"enum": [first, *_]}:
                yield path, first
            case {"type": "string"}:
                yield path, _WORDS
            case {"type": "boolean"}:
                yield path, True
            case {"type": "integer"}:
                yield path, max(legal.get("minimum", 1), 1)
            case {"anyOf": [*_, {"type": "integer"} as last]}:
                yield path, last.get("minimum", 1)
            case {"type": "object", "properties": inner}:
                yield from _examples(inner, f"{path}.")
            case _:
                yield path, None


def _is_read(request: Request[Any], text: str, meant: Mapping[str, Any]) -> bool:
    """Whether the reader takes a text to mean these values."""
    try:
        said = values(request.parse(text).decision)
    except DecisionError:
        return False
    return all(value_at(said, tuple(path.split("."))) == value for path, value in meant.items())
