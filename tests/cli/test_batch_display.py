"""The display of a running batch, on a terminal and in a pipe."""

from __future__ import annotations

import io

import pytest

from agentsim.cli.display import PlainBatch, shown_batch
from agentsim.cli.panels import RichBatch
from agentsim.runs.batch.tally import GameEnd, Tally
from tests.cli.vt import Screen

HOSTILE = "[bold]\x1b[2Jgone\nagentsim: all is well\u202e"


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def rich_on(stream: Terminal, name: str) -> RichBatch:
    """Return the display as a batch makes it, with this stream as stderr, 80 columns wide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", stream)
        patch.setenv("COLUMNS", "80")
        patch.setenv("TERM", "xterm")
        return RichBatch(name)


def test_the_panel_says_where_the_batch_is_and_goes_away() -> None:
    terminal = Terminal()
    display, tally = rich_on(terminal, "logs"), Tally(4)
    tally.started("game_0001")
    display.began(tally)
    text = Screen(80).feed(terminal.getvalue()).text()
    assert "0 of 4 done, 1 running" in text
    assert " logs " in text
    display.close()
    assert Screen(80).feed(terminal.getvalue()).text() == ""


def test_a_game_without_a_result_scrolls_by_and_its_words_are_words() -> None:
    terminal = Terminal()
    display, tally = rich_on(terminal, HOSTILE), Tally(4)
    display.began(tally)
    display.ended(GameEnd("game_0001", "failed", error=HOSTILE))
    display.ended(GameEnd("game_0002", "completed"))
    display.close()
    text = Screen(80).feed(terminal.getvalue()).text()  # rejects every sequence that no display sends
    assert "game_0001: failed: [bold]" in text
    assert "\nagentsim:" not in text
    assert "game_0002" not in text


@pytest.mark.parametrize(("term", "display"), [("xterm", RichBatch), ("dumb", PlainBatch)])
def test_by_itself_it_is_a_panel_only_where_one_can_be_written_over(
    term: str, display: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", term)
    with shown_batch("auto", "logs") as watcher:
        assert type(watcher) is display


def test_in_a_pipe_it_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    display, tally = PlainBatch(), Tally(2)
    display.began(tally)
    for end in (GameEnd("a", "failed", error=HOSTILE), GameEnd("b", "completed")):
        tally.ended(end)
        display.ended(end)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0 of 2 done"
    assert lines[1].startswith("a: failed: [bold]")
    assert len(lines) == 2, "where the batch is, is said every few seconds, and at its end"
