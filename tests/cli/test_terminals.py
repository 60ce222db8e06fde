"""Terminals of every kind: narrow, wide, without color, dumb, and none. The output is the same in each."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.command_line import TRIO, Said, agentsim, trio
from tests.cli.processes import CommandProcess, in_a_process
from tests.cli.test_display import on_a_terminal, squeezed
from tests.cli.vt import Screen

RUN = ("run", "--config", "trio.toml", "--name", "game")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d|10\d)(?:;\d+)*m")


@pytest.fixture(scope="module")
def piped(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """Play the same game with both streams as pipes."""
    folder = tmp_path_factory.mktemp("piped")
    trio(folder)
    return in_a_process(*RUN, cwd=folder)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_row_is_wider_than_the_terminal_and_no_word_of_the_result_is_lost(
    width: int, tmp_path: Path, piped: Said
) -> None:
    trio(tmp_path)
    code, sent = on_a_terminal(RUN, tmp_path, width)
    text = Screen(width).feed(sent).text()  # fails if a row is wider
    assert code == 0
    assert text.startswith("The game begins: 3 players, 2 rounds"), "the game scrolls by"
    assert "Player A's pitch: " in text
    assert squeezed("The votes are in: Votes: ") in squeezed(text)
    assert "asking" not in text
    assert " calls · " not in text, "the panel is gone when the game is over"
    opened = "open it: agentsim logs game --open, or the file in a browser"
    assert squeezed(text).endswith(squeezed(piped.out + opened))
    result = text[text.index("game: completed") :].splitlines()
    assert [
        row
        for row in result
        if row and not row.startswith(("game: ", "winner: ", "  ", "history: ", "page: ", "open it: "))
    ] == []


@pytest.mark.parametrize("words", [("games",), ("runs",), ("replay", "done"), ("validate", "--config", "trio.toml")])
def test_other_results_are_laid_out_in_a_narrow_terminal(words: tuple[str, ...], project: Path) -> None:
    code, sent = on_a_terminal(words, project, 40)
    rows = sent.splitlines()
    assert code == 0
    assert max(map(cell_len, rows)) <= 40, "the terminal would break it in the middle of a word"
    in_a_pipe = agentsim(*words, cwd=project).out
    if words != ("runs",):
        assert squeezed(sent) == squeezed(in_a_pipe)
    for row in in_a_pipe.splitlines()[1:]:
        assert squeezed(row) in squeezed(sent)


def test_without_colour_there_is_none(tmp_path: Path) -> None:
    trio(tmp_path)
    (tmp_path / "two.toml").write_text(TRIO, encoding="utf-8")
    _, plain = on_a_terminal(RUN, tmp_path, 80, env={"NO_COLOR": "1"})
    assert COLOUR.findall(plain) == []
    assert "Player A's pitch" in Screen(80).feed(plain).text()
    asked = ("run", "--config", "two.toml", "--set", "players.0.model=human", "--name", "human")
    _, person = on_a_terminal(asked, tmp_path, 80, typed=b"\x04", env={"NO_COLOR": "1"})
    assert COLOUR.findall(person) == []


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path, piped: Said) -> None:
    trio(tmp_path)
    code, sent = on_a_terminal(RUN, tmp_path, 80, env={"TERM": "dumb"})
    assert code == 0
    assert "\x1b" not in sent
    assert sent.replace("\r\n", "").isprintable()
    assert sent.splitlines()[0] == piped.err.splitlines()[0], "which run it is, which a panel would have said"


def test_in_a_pipe_there_is_nothing_but_lines(piped: Said) -> None:
    assert piped.code == 0
    assert (piped.out + piped.err).replace("\n", "").isprintable()
    assert piped.err.startswith("game: Agent Island")
    assert piped.out.startswith("game: completed, agent_island, seed 7\n")


def test_results_can_be_piped_while_the_game_is_watched(tmp_path: Path) -> None:
    """stdout is a pipe, stderr a terminal: the line of JSON is whole, with any display."""
    trio(tmp_path)
    ours, theirs = os.openpty()
    env = {**os.environ, "TERM": "xterm-256color"}
    process = CommandProcess(*RUN, "--json", cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.count("\n") == 1
    assert out.startswith('{"name": "game"')
    assert b"Player A's pitch" in shown


def test_an_error_is_one_line_on_any_terminal(project: Path) -> None:
    kinds: list[dict[str, str]] = [{}, {"TERM": "dumb"}, {"NO_COLOR": "1"}]
    for env in kinds:
        code, sent = on_a_terminal(("run", "--config", "no.toml"), project, 40, env=env)
        assert (code, sent) == (2, "agentsim: no.toml: no such file\r\n")
