"""What is on the screen while a game is played, whatever the players say."""

from __future__ import annotations

import io
import os
import re
import subprocess
import termios
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from agentsim.cli.display import PlainDisplay, public_lines
from agentsim.cli.progress import RichDisplay
from agentsim.cli.screen import safe
from agentsim.engine.event import Audience, Event, Everyone, Nobody, Told
from agentsim.history.totals import Totals
from agentsim.runner.watch import Watcher
from tests.cli.command_line import program, trio
from tests.cli.vt import Screen, plain
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

# What a player may say, and what of it may reach a screen.
HOSTILE: dict[str, tuple[str, str]] = {
    "markup that closes nothing": ("[/] and [/red]", "[/] and [/red]"),
    "markup": ("[bold red]x[/bold red] [on blue]", "[bold red]x[/bold red] [on blue]"),
    "a link in markup": ("[link=https://evil.example]x[/link]", "[link=https://evil.example]x[/link]"),
    "a handler in markup": ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]"),
    "an emoji code": (":warning: :smiley:", ":warning: :smiley:"),
    "a number and a path": ("42 /etc/passwd 'x' None", "42 /etc/passwd 'x' None"),
    "colours": ("a\x1b[31mb\x1b[0mc", "abc"),
    "clear screen": ("a\x1b[2J\x1b[Hb", "ab"),
    "clipboard": ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
    "a title": ("a\x1b]0;owned\x1b\\b", "ab"),
    "a live link": ("a\x1b]8;;https://evil.example\x1b\\b\x1b]8;;\x1b\\c", "abc"),
    "a device's own words": ("a\x1bP$q\x1b\\b", "ab"),
    "one byte controls": ("a\x9b31mb\x85c", "a31mb c"),
    "bell and backspace": ("a\x07b\x08c\x7fd", "abcd"),
    "half a sequence": ("a\x1b", "a"),
    "a sequence in a sequence": ("a\x1b[3\x1b[31m1mb", "ab"),
    "bidi": ("a\u202eb\u2066c\u200fd", "abcd"),
    "invisible": ("a\u200bb\ufeffc\U000e0041d", "abcd"),
    "lone surrogates": ("a\ud800b\udc80c", "a\ufffdb\ufffdc"),
    "line ends of every kind": ("a\rb\r\nc\u2028d\ve", "a b c d e"),
    "a forged line": ("quiet\nPlayer B wins: B wins the game", "quiet Player B wins: B wins the game"),
    "wide letters": ("漢字カタカナ한국어", "漢字カタカナ한국어"),
    "nothing": ("", ""),
}


@dataclass(frozen=True)
class Spoken(Event):
    """Somebody's words, under a heading that is foreign too."""

    kind: ClassVar[str] = "spoken"
    words: ClassVar[str | None] = "text"
    speaker: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.speaker} speaks"


def spoken(text: str, *, speaker: str = "A", to: Audience = Everyone) -> list[Told]:
    return [Told(Spoken(speaker, text), to, 1)]


def ask(player: str, kind: str = "pitch") -> Any:
    return cast("Any", SimpleNamespace(request=SimpleNamespace(player=player, kind=kind)))


def wave(*asks: Any) -> Any:
    return cast("Any", SimpleNamespace(asks=asks))


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[40, 80, 200])
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Terminal, int]:
    """A terminal on stderr, of this width."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": str(request.param), "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    return stream, request.param


def play(watcher: Watcher, said: str) -> None:
    """Everything that a watcher is shown, with foreign text wherever there is any."""
    watcher.began(said, said, ["A", "B"])
    watcher.wave(wave(ask("A"), ask("B", said)), said)
    watcher.calling(ask("A"))
    watcher.calling(ask(said))
    watcher.told(spoken(said, speaker=said))
    watcher.waiting(ask("A"), said)
    watcher.called(ask("A"), Totals())
    watcher.told(spoken(said))
    watcher.person(asked=True)
    watcher.person(asked=False)
    watcher.told(spoken("the end"))


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(("said", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_the_screen_shows_words_and_obeys_none(said: str, shown: str, terminal: tuple[Terminal, int]) -> None:
    stream, width = terminal
    display = RichDisplay()
    play(display, said)
    screen = Screen(width).feed(stream.getvalue())
    display.close()
    stream.getvalue().encode("utf-8")
    assert squeezed(f"A speaks: {shown}") in squeezed(screen.text())
    assert squeezed(f"{shown} speaks: {shown}") in squeezed(screen.text())
    assert squeezed(f"A: {shown}") in squeezed(screen.text())


@pytest.mark.parametrize(("said", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_plain_lines_hold_words_and_nothing_else(said: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    play(PlainDisplay(), said)
    out, err = capsys.readouterr()
    assert out == ""
    first, one, waiting, two, end = err.splitlines()
    assert [squeezed(line) for line in (first, one, waiting, two, end)] == [
        squeezed(line)
        for line in (
            f"{shown}: {shown}, 2 players",
            f"{shown} speaks: {shown}",
            f"A (pitch): {shown}",
            f"A speaks: {shown}",
            "A speaks: the end",
        )
    ]
    assert all(character.isprintable() for line in err.splitlines() for character in line)


@pytest.mark.parametrize("to", [("A",), ("A", "B"), Nobody], ids=["one", "two", "nobody"])
def test_what_not_everybody_heard_is_on_no_screen(
    to: tuple[str, ...], terminal: tuple[Terminal, int], capsys: pytest.CaptureFixture[str]
) -> None:
    stream, _ = terminal
    events = [*spoken("for all"), *spoken("xq-secret", speaker="xq-heading", to=to)]
    rich = RichDisplay()
    for display in (rich, PlainDisplay()):
        display.began("game", "Game", ["A", "B"])
        display.told(events)
    rich.close()
    assert plain(stream.getvalue()).count("for all") == 2
    assert "xq-" not in stream.getvalue()
    assert public_lines(events, 80) == [("A speaks", "for all")]


def test_the_panel_says_where_the_game_is_and_what_it_costs(
    terminal: tuple[Terminal, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, width = terminal
    now = [100.0]
    monkeypatch.setattr("agentsim.cli.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
    display = RichDisplay()
    display.began("run-1", "Island", ["A", "B"])
    display.wave(wave(ask("A", "final_pitch")), "Round 3")
    display.calling(ask("A"))
    totals = Totals()
    totals.calls, totals.prompt_tokens, totals.completion_tokens, totals.cost_usd = 12, 34567, 890, 0.0123
    display.calling(ask("B"))
    display.called(ask("B"), totals)
    now[0] += 65
    display.told(spoken("something new"))
    *scrolled, rule, where, counts, more = [*Screen(width).feed(stream.getvalue()).text().splitlines(), ""]
    if width == 40:  # the counts take two lines, and the rule is cut
        scrolled, rule, where, counts = [*scrolled, rule][:-1], [*scrolled, rule][-1], where, f"{counts} {more}"
        lines = Screen(width).feed(stream.getvalue()).text().splitlines()
        *scrolled, rule, where, one, two = lines
        counts = f"{one} {two}"
    assert scrolled == ["A speaks: something new"]
    assert "Island · run-1" in rule
    assert re.fullmatch(r"\S  Round 3  final pitch  asking A", where)
    assert counts == "12 calls · 34,567 tokens in, 890 out · cost $0.0123 · 1:05"
    display.close()
    assert Screen(width).feed(stream.getvalue()).text() == "A speaks: something new"


def panel(terminal: tuple[Terminal, int], display: RichDisplay) -> str:
    """The panel as it is now, on one line."""
    stream, width = terminal
    display.told(spoken("now"))
    text = Screen(width).feed(stream.getvalue()).text()
    return " ".join(text.rpartition("A speaks: now")[2].split())


def test_trouble_and_unknown_prices_are_on_the_panel(terminal: tuple[Terminal, int]) -> None:
    display = RichDisplay()
    display.began("run-1", "Island", ["A", "B"])
    assert "0 calls · 0 tokens in, 0 out · cost $0.0000 · 0:00" in panel(terminal, display)
    totals = Totals()
    totals.calls, totals.failed_calls, totals.unpriced_calls = 3, 2, 1
    display.called(ask("A"), totals)
    for source in ("fallback", "model", "fallback"):
        display.decided(cast("Any", SimpleNamespace(source=source)))
    assert "3 calls · 2 failed · 2 fallbacks · 0 tokens in, 0 out · cost unknown ·" in panel(terminal, display)
    display.close()


def test_many_who_are_asked_at_once_are_counted(terminal: tuple[Terminal, int]) -> None:
    display = RichDisplay()
    display.began("run-1", "Society", [])
    players = [f"p{number}" for number in range(100)]
    for player in players:
        display.calling(ask(player))
    assert "asking p0, p1, p2, p3, p4, p5 and 94 more" in panel(terminal, display)
    for player in players[:-1]:
        display.called(ask(player), Totals())
    assert "asking p99" in panel(terminal, display)
    display.called(ask("p99"), Totals())
    assert "asking" not in panel(terminal, display)
    display.close()


def test_a_person_is_asked_on_a_quiet_screen(terminal: tuple[Terminal, int]) -> None:
    stream, width = terminal
    display = RichDisplay()
    display.began("run-1", "Island", [])
    display.told(spoken("before"))
    display.person(asked=True)
    quiet = len(stream.getvalue())
    assert Screen(width).feed(stream.getvalue()).text() == "A speaks: before"
    assert stream.getvalue().endswith("\x1b[?25h") or "\x1b[?25h" in stream.getvalue()
    display.person(asked=False)
    display.told(spoken("after"))
    assert "0 calls" in plain(stream.getvalue()[quiet:])
    display.close()


class Gone(Terminal):
    """A terminal whose window was closed."""

    def write(self, _text: str) -> int:
        raise OSError(5, "Input/output error")

    def flush(self) -> None:
        raise BrokenPipeError


def test_a_display_that_nobody_sees_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Gone())
    rich = RichDisplay()
    for display in (rich, PlainDisplay()):
        play(display, "words")
    rich.close()


def test_safe_is_what_the_displays_show() -> None:
    """The tables above and the function that the rest of the command line uses agree."""
    assert {name: " ".join(safe(said).split()) for name, (said, _) in HOSTILE.items()} == {
        name: shown for name, (_, shown) in HOSTILE.items()
    }


# --------------------------------------------------------------------------- the real thing, on a real terminal


def on_a_terminal(words: Sequence[str], cwd: Path, width: int, typed: bytes = b"") -> tuple[int, str]:
    """The exit code of a process on a terminal of its own, and everything that it sent there."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, width))
    env = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(program(*words), cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    if typed:
        os.write(ours, typed)
    received = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        received += part
    os.close(ours)
    return process.wait(60), received.decode("utf-8")


@pytest.mark.parametrize("width", [40, 100])
def test_a_game_of_bots_scrolls_by_and_leaves_its_result(width: int, tmp_path: Path) -> None:
    trio(tmp_path)
    code, sent = on_a_terminal(("run", "--config", "trio.toml", "--name", "game"), tmp_path, width)
    wide = Screen(10_000) if width == 40 else Screen(width)  # the result's lines are longer than 40
    text = wide.feed(sent).text()
    lines = text.splitlines()
    assert code == 0
    assert lines[0].startswith("The game begins: 3 players, 2 rounds")
    assert "Player A's pitch: " in text
    assert squeezed("The votes are in: Votes: ") in squeezed(text)
    assert lines[-2:] == ["history: logs/game.json", "page:    logs/game.html"]
    assert "game: completed, agent_island, seed 7" in lines
    assert "asking" not in text
    assert " calls · " not in text, "the panel is gone when the game is over"


def test_a_game_of_models_shows_who_is_asked(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema, latency_s=0.05).in_thread() as server:
        provider = f'[defaults]\nmodel = "lab/echo"\n[providers.lab]\nbase_url = "{server.url()}"\n'
        players = "".join(f'[[players]]\nid = "{name}"\n' for name in "ABC")
        trio(tmp_path, f'game = "agent_island"\nseed = 7\n{provider}{players}')
        code, sent = on_a_terminal(("run", "--config", "trio.toml", "--name", "game"), tmp_path, 100)
    shown = plain(sent)
    assert code == 0
    assert "Agent Island: Deliberations · game" in shown
    for name in "ABC":
        assert re.search(rf"Round 1  pitch  asking {name}\b", shown)
    assert re.search(r"Round 1  vote  asking A, B, C", shown)
    assert re.search(r"[1-9] calls · [1-9]\d* tokens in, [1-9]\d* out · cost unknown · 0:0\d", shown)
    text = Screen(10_000).feed(sent).text()
    assert "asking" not in text
    assert "game: completed, agent_island, seed 7" in text.splitlines()


def test_a_person_can_end_the_game_at_the_terminal(tmp_path: Path) -> None:
    trio(
        tmp_path,
        'game = "agent_island"\nseed = 7\n[[players]]\nid = "me"\nmodel = "human"\n'
        '[[players]]\nid = "bot"\ncount = 2\nmodel = "bot/random"\n',
    )
    code, sent = on_a_terminal(("run", "--config", "trio.toml", "--name", "game"), tmp_path, 100, b"Vote for me\n\x04")
    assert code == 130
    assert "text: Vote for me" in sent or "Vote for me" in sent
    assert sent.rstrip().endswith("; go on with: agentsim resume game")
