"""A terminal under attack: what may reach the screen, what counts as typed, and that it never holds the run up."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.request import Ask
from agentsim.errors import Interrupted
from agentsim.players.base import BadReply
from agentsim.players.human import HumanPlayer
from agentsim.players.terminal import Terminal
from tests.players.test_human import GOOD, HISTORY, PlaceOrder

EVIL = "a\x1b]0;PWN\x07b\x1b[2Jc\u202ed\u200be\x00f\x9b31mg\x85h"


class Keyboard:
    """A pseudo-terminal, at which `typed` types; what is on the screen comes to `sink`."""

    def __init__(self) -> None:
        self._ours, theirs = os.openpty()
        self._source = os.fdopen(theirs, "r", encoding="utf-8")
        self.sink = io.StringIO()
        self.terminal = Terminal(self._source, self.sink)

    def typed(self, text: str | bytes) -> None:
        os.write(self._ours, text.encode() if isinstance(text, str) else text)

    async def shown(self, text: str, times: int = 1) -> None:
        """Until this stands on the screen so many times."""
        async with asyncio.timeout(20):
            while self.sink.getvalue().count(text) < times:  # noqa: ASYNC110 - a buffer has no event to wait for
                await asyncio.sleep(0)

    def hang_up(self) -> None:
        """The terminal goes away."""
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1

    def close(self) -> None:
        self.hang_up()
        self._source.close()


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    made = Keyboard()
    yield made
    made.close()


# ------------------------------------------------------------------------------------- what reaches the screen


def test_nothing_that_a_scenario_says_commands_the_terminal() -> None:
    """Personas, rules and names of things are as foreign as the words of players."""

    class Hostile(PlaceOrder):
        def prompt(self) -> Any:
            return PlaceOrder.prompt(self).__class__((f"Rules {EVIL}.",), HISTORY, (f"State {EVIL}.",), (f"Q {EVIL}?",))

    sink = io.StringIO()
    player = HumanPlayer(Terminal(io.StringIO("".join(f"{line}\n" for line in GOOD)), sink), f"Persona {EVIL}.")
    ask = Ask(1, 1, 0, 1, Hostile(player="A"))
    asyncio.run(player.reply(ask, player.messages(ask, [BadReply("", f"Problem {EVIL}.")]), 1))
    text = sink.getvalue()
    assert text.replace("\n", "").isprintable(), sorted({each for each in text if not each.isprintable()})
    assert "PWN" not in text
    for part in ("Rules", "State", "Q", "Persona", "Problem"):
        assert f"{part} abcdef" in text


def test_a_notice_does_not_command_the_terminal() -> None:
    sink = io.StringIO()
    Terminal(io.StringIO(), sink).notice(EVIL)
    assert sink.getvalue().replace("\n", "").isprintable()


# ------------------------------------------------------------------------------------------ what counts as typed


def test_lines_that_came_before_their_question_answer_nothing(keyboard: Keyboard) -> None:
    async def main() -> list[str]:
        keyboard.typed("Cyd\nBea\n\n")
        async with asyncio.timeout(20):
            first = asyncio.create_task(keyboard.terminal.reply())
            await keyboard.shown("> ")
            keyboard.typed("Ann\nas I said\n\nZoe\n")
            answers = [await first]
            second = asyncio.create_task(keyboard.terminal.reply())
            await keyboard.shown("> ", 2)
            keyboard.typed("Hello.\n\n")
            return [*answers, await second]

    assert asyncio.run(main()) == ["Ann\nas I said", "Hello."]
    assert "3 lines." in keyboard.sink.getvalue(), "the person is told"
    assert "1 line." in keyboard.sink.getvalue()


def test_a_line_that_the_terminal_has_cut_off_is_no_part_of_a_reply(keyboard: Keyboard) -> None:
    async def main() -> str:
        asked = asyncio.create_task(keyboard.terminal.reply())
        await keyboard.shown("> ")
        keyboard.typed("Well.\n")
        keyboard.typed("x" * 5_000)
        keyboard.typed("\n")
        await keyboard.shown("> ", 2)
        keyboard.typed("y" * 4_000 + "\n\n")
        async with asyncio.timeout(20):
            return await asked

    assert asyncio.run(main()) == "Well.\n" + "y" * 4_000
    assert "no more than 4,095 bytes of a line: break it into several." in keyboard.sink.getvalue()


@pytest.mark.parametrize(
    ("encoding", "typed", "meant"),
    [
        ("ascii", "Grüße 漢字".encode(), "Grüße 漢字"),
        ("latin-1", "Grüße".encode("latin-1"), "Grüße"),
        ("latin-1", "Grüße".encode(), "Grüße"),
        ("utf-8", b"\xed\xa0\x80\xff", "\ufffd" * 4),
    ],
)
def test_what_is_typed_in_utf_8_is_read_in_any_locale(encoding: str, typed: bytes, meant: str, tmp_path: Path) -> None:
    (tmp_path / "typed").write_bytes(typed + b"\n\n")
    with (tmp_path / "typed").open(encoding=encoding) as stdin:
        assert asyncio.run(Terminal(stdin, io.StringIO()).reply()) == meant


# ----------------------------------------------------------------------------------- that it never holds the run up


def test_a_terminal_that_goes_away_interrupts(keyboard: Keyboard) -> None:
    async def main() -> None:
        asked = asyncio.create_task(keyboard.terminal.reply())
        await keyboard.shown("> ")
        keyboard.typed("half of\n")
        keyboard.hang_up()
        async with asyncio.timeout(20):
            await asked

    with pytest.raises(Interrupted, match="input ended"):
        asyncio.run(main())


def test_a_screen_that_cannot_be_written_to_interrupts() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with io.TextIOWrapper(io.FileIO(writer, "w"), write_through=True) as sink:
        terminal = Terminal(io.StringIO("one\n"), sink)
        with pytest.raises(Interrupted, match="cannot be shown what they are asked"):
            asyncio.run(terminal.reply())


def test_lines_without_end_are_no_reply() -> None:
    source = io.StringIO("y\n" * 2**20)
    with pytest.raises(Interrupted, match="more than 1 MiB"):
        asyncio.run(Terminal(source, io.StringIO()).reply())


def test_a_stream_without_end_neither_fills_the_memory_nor_keeps_a_signal_waiting() -> None:
    async def main(terminal: Terminal) -> None:
        asked = asyncio.create_task(terminal.reply())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not asked.done(), "others have their turn meanwhile"
        await asked

    with Path("/dev/zero").open(encoding="utf-8") as stdin, pytest.raises(Interrupted, match="more than 1 MiB"):
        asyncio.run(main(Terminal(stdin, io.StringIO())))
