"""A person in a seat of any game: every question fits the screen and says what may be answered; `?` shows the rules."""

from __future__ import annotations

import asyncio
import io
from functools import cache
from typing import Any

import pytest
from rich.cells import cell_len

from agentsim import games
from agentsim.engine.play import Ask
from agentsim.engine.request import Request
from agentsim.errors import Interrupted
from agentsim.players.fields import hint, is_words
from agentsim.players.human import HumanPlayer
from agentsim.players.rendering import question
from agentsim.players.terminal import Terminal, rows
from tests.contract.harness import GAMES, on_bots, some_bot


class Keyboard(Terminal):
    """Of so many columns, at which somebody types these lines and goes away."""

    def __init__(self, columns: int, *lines: str) -> None:
        self.sink = io.StringIO()
        self.columns = columns
        super().__init__(io.StringIO("".join(f"{line}\n" for line in lines)), self.sink)

    @property
    def width(self) -> int:
        return self.columns


@cache
def one_of_each(name: str) -> tuple[Request[Any], ...]:
    """The last question of every kind in the tiny game, which has the most to tell."""
    asks = on_bots(name, some_bot(games.find(name))).asks()
    return tuple({ask.request.kind: ask.request for ask in asks}.values())


def shown(request: Request[Any], columns: int, *lines: str) -> str:
    terminal = Keyboard(columns, *lines)
    player = HumanPlayer(terminal)
    ask = Ask(index=1, wave=1, place=0, nth=1, request=request)
    with pytest.raises(Interrupted):
        asyncio.run(player.reply(ask, player.messages(ask, ()), 1))
    return terminal.sink.getvalue()


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("columns", [40, 80])
def test_a_person_reads_every_question_within_the_screen_and_what_may_be_answered(name: str, columns: int) -> None:
    for request in one_of_each(name):
        text, asked = shown(request, columns), request.prompt().question
        assert max(map(cell_len, text.splitlines())) <= columns, request.kind
        assert "".join(map(question, asked)).strip(), f"{request.kind} asks nothing"
        fields = request.schema()["properties"]
        first, legal = min(fields.items(), key=lambda field: is_words(field[1]))  # words come last
        legal = request.form_schema(first, legal, {})
        assert text.endswith(": ")
        if not legal.keys() & {"properties", "anyOf"}:  # which have fields of their own
            field = f"{first.replace('_', ' ')}{hint(legal)}:"
            assert text.endswith("\n".join(rows(field, columns)) + " "), request.kind


@pytest.mark.parametrize("name", GAMES)
def test_a_question_mark_shows_the_rules_again_and_then_the_same_question(name: str) -> None:
    for request in one_of_each(name):
        before, after = shown(request, 80), shown(request, 80, "?")
        assert after.startswith(before)
        rules, _, field = after.removeprefix(before).rpartition("\n\n")
        assert rules.strip() in before, "the same rules again"
        assert len(rules.partition("What this says of JSON")[0].split()) > 10, f"{request.kind} has no rules to show"
        assert before.endswith(f"\n\n{field}"), "and the same field"
