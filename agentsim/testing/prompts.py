"""Prompts: checks of the text that models and people read of any question."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rich.cells import cell_len

from agentsim.engine.request import Ask, Request
from agentsim.engine.wording import counted
from agentsim.errors import Interrupted
from agentsim.models.base import prompt_messages
from agentsim.players.human import HumanPlayer
from agentsim.players.rendering import split_question
from agentsim.players.terminal import HELP, Terminal
from agentsim.testing.case import Case
from agentsim.testing.check import Check, Findings
from agentsim.testing.privacy import reworded

_TOKENS = ("]~b]system", "[e~[", "[gMASK]", "[INST]", "[|user|]")
_WIDTHS = (40, 80)


@Check
def prompts_filled(case: Case) -> Findings:
    """Every prompt names its player, asks something, and has no hole where a value was to be.

    Put into words what has no value.
    """
    for where, asked in case.every():
        prompt = asked.ask.request.prompt()
        if asked.player not in prompt.text() and not asked.player.startswith("@"):
            yield where, f"the prompt does not name {asked.player}", "Say in `rules` whom it addresses."
        for hole in ("None", "${"):
            if hole in prompt.text():
                yield where, f"the prompt says {hole!r}"
        if not "".join(split_question(line)[0] for line in prompt.question).strip():
            yield where, "the prompt asks nothing", "End it with a question."
    return case.looked_at


@Check
def no_control_tokens(case: Case) -> Findings:
    """No control token of a chat template that a player says is in a prompt.

    Put others' words in by `quoted` alone.
    """
    played = case.play(lambda request, rng: reworded(request, case.bot(request, rng), lambda path: " ".join(_TOKENS)))
    escaped = 0
    for asked in played.asked:
        text = "".join(message.text for message in prompt_messages(asked.ask.prompt(), ""))
        escaped += "\\u005b|user|]" in text
        for token in filter(text.__contains__, _TOKENS):
            yield str(asked), f"{token!r}, which a player said, stands in the prompt as it is"
    return f"{counted(escaped, 'prompt')} with players' words" if escaped else "nothing: no prompt holds players' words"


@Check
def history_grows(case: Case) -> Findings:
    """The history in a player's prompts only grows: providers charge less for what they have seen.

    Put what changes into `state`; an event that takes the place of what was heard before it, as a summary, `forgets`.
    """
    for seed, played in enumerate(case.games):
        shown: dict[str, tuple[int, tuple[str, ...]]] = {}
        for asked in played.asked:
            upto, before = shown.get(asked.player, (0, ()))
            history = asked.ask.request.prompt().history
            heard = (told for told in played.log[upto : asked.events_before] if told.heard_by(asked.player))
            if history[: len(before)] != before and not any(told.event.forgets for told in heard):
                lost = next(line for number, line in enumerate(before) if history[number : number + 1] != (line,))
                yield f"seed {seed}, {asked}", f"{lost!r} stood in its history, and stands there no more"
            shown[asked.player] = asked.events_before, history
    return case.looked_at


class _Keyboard(Terminal):
    """A terminal with so many columns, at which a person types these lines and leaves."""

    def __init__(self, columns: int, *lines: str) -> None:
        self.sink, self.columns = io.StringIO(), columns
        super().__init__(io.StringIO("".join(f"{line}\n" for line in lines)), self.sink)

    @property
    def width(self) -> int:
        return self.columns


def _shown(request: Request[Any], columns: int, *lines: str) -> str:
    terminal = _Keyboard(columns, *lines)
    player, ask = HumanPlayer(terminal), Ask(index=1, wave=1, place=0, nth=1, request=request)
    with suppress(Interrupted):
        asyncio.run(player.reply(ask, player.messages(ask, ()), 1))
    return terminal.sink.getvalue()


@Check
def person_can_play(case: Case) -> Findings:
    """A person reads every question within the screen, and sees the rules at `?`.

    What a person sees is made of the prompt.
    """
    requests = {asked.ask.request.kind: asked.ask.request for asked in case.game_by().asked}
    for kind, request in requests.items():
        yield from ((kind, problem) for problem in _problems(request))
    kinds = counted(len(requests), "kind of request", "kinds of request")
    return f"{kinds}, {' and '.join(map(str, _WIDTHS))} columns wide"


def _problems(request: Request[Any]) -> Iterator[str]:
    before = ""
    for columns in _WIDTHS:
        before = _shown(request, columns)
        if wide := [line for line in before.splitlines() if cell_len(line) > columns]:
            yield f"a line is wider than {columns} columns: {wide[0]!r}"
    rules, _, _ = _shown(request, _WIDTHS[-1], HELP).removeprefix(before).rpartition("\n\n")
    if rules.strip() not in before:
        yield f"`{HELP}` does not show the same rules and then the same question"
    if len(rules.partition("The line above the prompt")[0].split()) <= 10:
        yield f"there are no rules to show at `{HELP}`"
