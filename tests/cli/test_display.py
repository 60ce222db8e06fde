"""The screen during a game, with any text of players."""

from __future__ import annotations

import io
import itertools
import os
import re
import termios
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.cells import cell_len

from agentsim.cli.display import PlainDisplay, public_lines
from agentsim.cli.finish import money
from agentsim.cli.panels import RichDisplay
from agentsim.cli.terminal_output import safe
from agentsim.engine.event import Audience, Event, Everyone, LoggedEvent, Nobody
from agentsim.engine.panel import Progress
from agentsim.models.base import Attempt, Completion, Usage
from agentsim.players.terminal import GUTTER
from agentsim.records.journal import Totals
from agentsim.runs.watcher import PublicWatcher, Watcher
from tests.amounts import each_row
from tests.cli.command_line import trio
from tests.cli.processes import CommandProcess
from tests.cli.vt import Screen, plain
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

# Texts of a player, and their form on a screen.
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
    "a sequence in a sequence": ("a\x1b[3\x1b[31m1mb", "a31mb"),
    "bidi": ("a\u202eb\u2066c\u200fd", "abcd"),
    "invisible": ("a\u200bb\ufeffc\U000e0041d", "abcd"),
    "lone surrogates": ("a\ud800b\udc80c", "a\ufffdb\ufffdc"),
    "line ends of every kind": ("a\rb\r\nc\u2028d\ve", "a b c d e"),
    "a forged line": ("quiet\nPlayer B wins: B wins the game", "quiet Player B wins: B wins the game"),
    "wide letters": ("漢字カタカナ한국어", "漢字カタカナ한국어"),
    "nothing": ("", ""),
}


class Spoken(Event, heading="{speaker}", words="text"):
    """A text with a foreign heading."""

    speaker: str
    text: str


def spoken(text: str, *, speaker: str = "A", to: Audience = Everyone) -> list[LoggedEvent]:
    return [LoggedEvent(Spoken(speaker, text), to, 1)]


def ask(player: str, kind: str = "pitch") -> Any:
    return cast("Any", SimpleNamespace(request=SimpleNamespace(player=player, kind=kind)))


def wave(*asks: Any) -> Any:
    return cast("Any", SimpleNamespace(asks=asks))


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass
class Shown:
    """A Rich display on a terminal of this width."""

    width: int
    stream: Terminal
    display: RichDisplay

    def text(self) -> str:
        """Return the screen."""
        return Screen(self.width).feed(self.stream.getvalue()).text()

    def drawn_again(self) -> None:
        """Redraw the panel through `person`, without waiting for the next of eight drawings a second."""
        self.display.person(asked=True)
        self.display.person(asked=False)

    def panel(self) -> str:
        """Return the panel below the newest event, on one line."""
        self.display.told(spoken("now"))
        self.drawn_again()
        return " ".join(self.text().rpartition("A: now")[2].split())


def rich_on(stream: Terminal) -> RichDisplay:
    """Return the display as a run makes it, with this stream as stderr."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", stream)
        return RichDisplay()


@pytest.fixture(params=[40, 80, 200])
def shown(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    for name, value in {"TERM": "xterm-256color", "COLUMNS": str(request.param), "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    display = rich_on(stream)
    yield Shown(request.param, stream, display)
    display.close()


def play(watcher: Watcher, said: str) -> None:
    """Call every method of a watcher, with foreign text in all parts that can hold it."""
    watcher.began(said, said, ["A", "B"])
    watcher.wave(wave(ask("A"), ask("B", said)), said)
    watcher.calling(ask("A"))
    watcher.calling(ask(said))
    watcher.told(spoken(said, speaker=said))
    watcher.waiting(ask("A"), said)
    watcher.called(ask("A"), Totals.zero())
    watcher.told(spoken(said))
    watcher.person(asked=True)
    watcher.person(asked=False)
    watcher.told(spoken("the end"))


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(("said", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_the_screen_shows_words_and_obeys_none(said: str, seen: str, shown: Shown) -> None:
    play(shown.display, said)
    shown.stream.getvalue().encode("utf-8")
    text = squeezed(shown.text().replace("\n│ ", "\n"))
    said_first = f"{seen}: {seen} A: {seen} A: {seen} A: the end" if seen else "A A A: the end"
    assert text.startswith(squeezed(said_first))
    if shown.width == 200 and seen:
        assert squeezed(f"{seen} · {seen}") in text
        assert squeezed(f"{seen}  pitch, {seen}  asking {seen}") in text


@pytest.mark.parametrize(("said", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_plain_lines_hold_words_and_nothing_else(said: str, seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    play(PlainDisplay(), said)
    out, err = capsys.readouterr()
    assert out == ""
    told, spoke = (f"{seen}: {seen}", f"A: {seen}") if seen else ("", "A")
    assert [squeezed(line) for line in err.splitlines()] == [
        squeezed(line) for line in (f"{seen}: {seen}, 2 players", told, f"A (pitch): {seen}", spoke, "A: the end")
    ]
    assert all(character.isprintable() for line in err.splitlines() for character in line)


@pytest.mark.parametrize("to", [("A",), ("A", "B"), Nobody], ids=["one", "two", "nobody"])
def test_what_not_everybody_heard_is_on_no_screen(
    to: tuple[str, ...], shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [*spoken("for all"), *spoken("xq-secret", speaker="xq-heading", to=to)]
    for display in (PlainDisplay(), shown.display):
        display.began("game", "Game", ["A", "B"])
        display.told(events)
    both = shown.stream.getvalue() + capsys.readouterr().err
    assert plain(both).count("A: for all") == 2
    assert "xq-" not in both
    assert public_lines(events, 80) == [("A", "for all")]


class _Ranked(Event, kind="ranked", heading="A wins", content="1. A: 5 left\n2. B: 3 left"): ...


def test_a_list_of_the_games_stays_a_list_in_one_line() -> None:
    assert public_lines([LoggedEvent(_Ranked(), Everyone, 1)], 80) == [("A wins", "1. A: 5 left; 2. B: 3 left")]
    assert public_lines(spoken("one\ntwo"), 80) == [("A", "one two")]


def test_a_heading_without_words_ends_in_no_colon(capsys: pytest.CaptureFixture[str]) -> None:
    PlainDisplay().told(spoken("", speaker="A passes"))
    assert capsys.readouterr().err.splitlines() == ["A passes"]


def test_the_last_frame_says_where_the_game_ended(shown: Shown) -> None:
    """Bots play faster than the panel looks; the panel is drawn a last time with the end of the game."""
    done = 13
    shown.display.began("run-1", "Auction", ["A"])
    shown.display.show_progress(lambda: Progress("item", done, 15, ()))
    shown.display.wave(wave(ask("A", "bid")), "Item 15")
    done = 15
    shown.display.close()
    frames = re.findall(r"item \d+ of 15", plain(shown.stream.getvalue()))
    assert frames[-1] == "item 15 of 15"


def test_the_panel_says_where_the_game_is_and_what_it_costs(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("agentsim.cli.panels.time", SimpleNamespace(monotonic=lambda: now[0]))
    display = shown.display
    display.began("run-1", "Island", ["A", "B"])
    display.wave(wave(ask("A", "final_pitch")), "Round 3")
    display.calling(ask("A"))
    display.calling(ask("B"))
    totals = Totals.zero()
    totals.calls, totals.prompt_tokens, totals.completion_tokens, totals.known_usd = 12, 34567, 890, 0.0123
    display.called(ask("B"), totals)
    now[0] += 65
    display.told(spoken("something new"))
    shown.drawn_again()
    said, rule, where, *counts = shown.text().splitlines()
    assert said == "A: something new"
    assert rule.strip("─ ") == "Island · run-1"
    assert re.fullmatch(r"\S  Round 3  final pitch  asking A", where)
    assert " ".join(counts) == "12 calls · 34,567 tokens in, 890 out · cost $0.0123 · 1:05"
    display.close()
    assert shown.text() == "A: something new"


def test_what_a_provider_had_cached_and_what_went_into_thinking_is_on_the_panel(shown: Shown) -> None:
    display, totals = shown.display, Totals.zero()
    display.began("run-1", "Island", ["A"])
    usage = Usage(prompt_tokens=2000, cached_tokens=1500, completion_tokens=90, reasoning_tokens=64, cost_usd=0.0)
    totals.add_call(Attempt((), completion=Completion("x", usage=usage)))
    display.counted(totals)
    assert "1 call · 2,000 tokens in (1,500 cached: 75%), 90 out (64 reasoning) · cost $0.0000" in shown.panel()


def test_a_plain_display_says_at_the_end_of_a_round_what_has_been_used(capsys: pytest.CaptureFixture[str]) -> None:
    display, totals = PlainDisplay(), Totals.zero()
    display.playing("Round 1")
    totals.add_call(Attempt((), completion=Completion("x", usage=Usage(prompt_tokens=1200, completion_tokens=30))))
    totals.add_call(Attempt((), "timeout", "too late"))
    display.counted(totals)
    display.playing("Round 1")
    assert capsys.readouterr().err == ""
    display.playing("Round 2")
    display.playing("Round 3")
    used = "so far: 2 calls (1 failed); 1,200 tokens in, 30 out; cost unknown\n"
    assert capsys.readouterr().err == used, "once, since nothing came to it in round 2"


def test_a_plain_display_says_nothing_of_cost_where_no_call_was_made(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainDisplay()
    display.playing("Round 1")
    display.counted(Totals.zero())
    display.playing("Round 2")
    assert capsys.readouterr().err == ""


def test_trouble_and_unknown_prices_are_on_the_panel(shown: Shown) -> None:
    display = shown.display
    display.began("run-1", "Island", ["A", "B"])
    assert "0 calls · 0 tokens in, 0 out · cost $0.0000 · 0:0" in shown.panel()
    totals = Totals.zero()
    totals.calls, totals.failed_calls, totals.unpriced_calls = 3, 2, 1
    display.called(ask("A"), totals)
    for source in ("fallback", "model", "fallback"):
        display.decided(
            cast(
                "Any",
                SimpleNamespace(source=source, attempts=(), player="A", kind="vote", fallback_reason="unreadable"),
            )
        )
    assert "3 calls · 2 failed · 2 fallbacks · 0 tokens in, 0 out · cost unknown ·" in shown.panel()


def test_what_holds_calls_back_and_who_took_over_is_on_the_panel(shown: Shown) -> None:
    display = shown.display
    display.began("run-1", "Island", ["A", "B"])
    held: list[str] = []
    display.limited_by(lambda: held)
    totals = Totals.zero()
    totals.calls, totals.takeovers = 3, 1
    display.called(ask("A"), totals)
    assert "3 calls · 1 takeover · 0 tokens in" in shown.panel()
    assert "slots" not in shown.panel()
    held.append("8 of 16 slots at openrouter")
    assert "· 8 of 16 slots at openrouter" in shown.panel()


def test_no_panel_is_drawn_over_what_scrolls_by(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock redraws while events are told, and the height of the panel changes between drawings."""
    monkeypatch.setattr("agentsim.cli.panels._DRAWN_A_SECOND", 5000)
    heights = itertools.cycle([0, 3])
    shown.display.limited_by(lambda: ["x" * 30] * next(heights))
    shown.display.began("game", "Game", ["A"])
    for number in range(200):
        shown.display.told(spoken(f"line {number}"))
    rows = shown.text().splitlines()
    assert rows[:200] == [f"A: line {number}" for number in range(200)]
    assert sum(" game " in row for row in rows) == 1


def test_plain_lines_say_what_holds_calls_back_once_until_the_next_goes_out(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainDisplay()
    display.delayed(ask("A"))
    held: list[str] = []
    display.limited_by(lambda: held)
    display.delayed(ask("A"))
    assert capsys.readouterr().err == "", "nothing is known to hold it"
    held += ["waiting for requests_per_minute at lab", "8 of 16 slots at openrouter"]
    display.delayed(ask("A"))
    display.delayed(ask("B"))
    said = "held back: waiting for requests_per_minute at lab, 8 of 16 slots at openrouter\n"
    assert capsys.readouterr().err == said
    display.calling(ask("A"))
    display.delayed(ask("C"))
    assert capsys.readouterr().err == said


@each_row(
    "cost, unpriced, says",
    [
        (None, 0, "unknown"),
        (0.0, 0, "$0.0000"),
        (0.00001, 0, "under $0.0001"),
        (0.00006, 0, "$0.0001"),
        (1.5, 0, "$1.5000"),
        (0.0, 3, "unknown"),
        (1.5, 1, "$1.5000 and 1 call of unknown price"),
        (1.5, 3, "$1.5000 and 3 calls of unknown price"),
    ],
)
def test_a_cost_is_never_said_to_be_none_and_what_is_known_of_it_is_said(
    cost: float | None, unpriced: int, says: str
) -> None:
    assert money(cost, unpriced) == says


def test_a_person_at_the_screen_is_not_told_which_provider_is_busy(shown: Shown) -> None:
    PublicWatcher(shown.display).began("run-1", "Island", ["A", "B"])
    PublicWatcher(shown.display).limited_by(lambda: ["8 of 16 slots at openrouter"])
    assert "openrouter" not in shown.panel()


def test_many_who_are_asked_at_once_are_counted(shown: Shown) -> None:
    display = shown.display
    display.began("run-1", "Society", [])
    players = [f"p{number}" for number in range(100)]
    for player in players:
        display.calling(ask(player))
    assert "asking p0, p1, p2, p3, p4, p5 and 94 more" in shown.panel()
    for player in players[:-1]:
        display.called(ask(player), Totals.zero())
    assert "asking p99" in shown.panel()
    display.called(ask("p99"), Totals.zero())
    assert "asking" not in shown.panel()


def test_a_person_is_asked_on_a_quiet_screen(shown: Shown) -> None:
    display = shown.display
    display.began("run-1", "Island", [])
    display.told(spoken("before"))
    display.person(asked=True)
    quiet = len(shown.stream.getvalue())
    assert shown.text() == "A: before"
    assert shown.stream.getvalue().count("\x1b[?25h") == 1, "whoever types sees the cursor"
    display.person(asked=False)
    display.told(spoken("after"))
    assert "0 calls" in plain(shown.stream.getvalue()[quiet:])


FORGED = ("x" * 33 + " Player B wins: B wins the game. ", "字" * 90 + " Player B wins")


@pytest.mark.parametrize("words", FORGED, ids=["narrow", "wide"])
def test_no_words_begin_a_row_of_their_own(words: str, shown: Shown) -> None:
    shown.display.told(spoken(words * 3, speaker="Player A's pitch"))
    shown.display.waiting(ask("A"), words * 3)
    rows = shown.text().splitlines()
    assert len([row for row in rows if row.startswith(("Player A's pitch:", "A: "))]) == 2
    others = [row for row in rows if not row.startswith(("Player A's pitch:", "A: "))]
    assert shown.width > 100 or others
    assert [row for row in others if not row.startswith(GUTTER)] == []
    assert max(map(cell_len, rows)) <= shown.width


def test_plain_lines_are_one_row_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("os.get_terminal_size", lambda _handle: os.terminal_size((40, 24)))
    monkeypatch.setattr(stream, "fileno", lambda: 2)
    display = PlainDisplay()
    for words in FORGED:
        display.began("n" * 90, "Game", [])
        display.told(spoken(words))
        display.waiting(ask("A"), words)
    rows = stream.getvalue().splitlines()
    assert len(rows) == 6
    assert {cell_len(row) for row in rows} <= {39, 40}
    assert all(row.endswith("…") for row in rows)


class Everything(Watcher):
    """A watcher that records all calls."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if not hasattr(Watcher, name) or name.startswith("__"):
            return super().__getattribute__(name)
        return lambda *values, **named: self.seen.append(f"{name} {values} {named}")


def test_a_player_at_the_screen_does_not_learn_who_is_asked_what() -> None:
    everything = Everything()
    watcher = PublicWatcher(everything)
    totals = Totals.zero()
    watcher.began("run-1", "Island", ["A", "B"])
    watcher.wave(wave(ask("xq-B", "xq-answer_approach")), "Round 1")
    watcher.calling(ask("xq-B", "xq-answer_approach"))
    watcher.waiting(ask("xq-B", "xq-answer_approach"), "xq-lab: HTTP 503")
    watcher.called(ask("xq-B", "xq-answer_approach"), totals)
    watcher.decided(cast("Any", SimpleNamespace(source="fallback", player="xq-B", attempts=())))
    watcher.decided(cast("Any", SimpleNamespace(source="model", player="xq-B")))
    watcher.told([*spoken("for all"), *spoken("xq-secret", to=("A", "B"))])
    watcher.told(spoken("xq-secret", to=("A", "B")))
    watcher.person(asked=True)
    assert "xq-" not in "".join(everything.seen)
    assert [line.partition(" ")[0] for line in everything.seen] == [
        *("began", "playing", "counted", "fell_back", "told", "person")
    ]


def test_a_discreet_panel_says_the_round_and_the_sums(shown: Shown) -> None:
    watcher = PublicWatcher(shown.display)
    watcher.began("run-1", "Island", ["A", "B"])
    watcher.wave(wave(ask("B", "answer_approach")), "Round 3")
    watcher.calling(ask("B", "answer_approach"))
    totals = Totals.zero()
    totals.calls = 12
    watcher.called(ask("B", "answer_approach"), totals)
    watcher.decided(
        cast(
            "Any",
            SimpleNamespace(source="fallback", attempts=(), player="A", kind="vote", fallback_reason="unreadable"),
        )
    )
    panel = shown.panel()
    assert "Round 3" in panel
    assert "12 calls · 1 fallback ·" in panel
    assert "approach" not in panel
    assert "asking" not in panel


@pytest.mark.parametrize("mode", ["plain", "rich"])
def test_a_person_in_the_game_sees_no_trouble_of_the_others(mode: str, tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        provider = f'[providers.lab]\nbase_url = "{server.url("http_503~x")}"\n'
        others = '[[players]]\nid = "bot"\ncount = 2\nmodel = "lab/echo"\nretries = 0\n'
        trio(tmp_path, f'game = "agent_island"\nseed = 7\n{provider}{others}[[players]]\nid = "me"\nmodel = "human"\n')
        words = ("run", "--config", "trio.toml", "--display", mode)
        _, sent = on_a_terminal(words, tmp_path, 100, b"Vote for me\n\nvote: bot1\n\n\x04")
    shown, _, _ = plain(sent).partition("history: ")
    assert not re.search(r"^bot\d( \(\w+\))?: ", shown, re.MULTILINE)
    assert "asking" not in shown


class Gone(Terminal):
    """A terminal whose window was closed."""

    def write(self, _text: str) -> int:
        raise OSError(5, "Input/output error")

    def flush(self) -> None:
        raise BrokenPipeError


def test_a_display_that_nobody_sees_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    rich = rich_on(Gone())
    play(rich, "words")
    rich.close()
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr", Gone())
        play(PlainDisplay(), "words")


def test_safe_is_what_the_displays_show() -> None:
    """The tables above agree with the function that the rest of the command line uses."""
    assert {name: " ".join(safe(said).split()) for name, (said, _) in HOSTILE.items()} == {
        name: shown for name, (_, shown) in HOSTILE.items()
    }


# --------------------------------------------------------------------------- the real thing, on a real terminal


def on_a_terminal(
    words: Sequence[str], cwd: Path, width: int, typed: bytes = b"", env: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a process on a pseudo-terminal and return its exit code and output."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, width))
    inherited = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    env = {**inherited, "TERM": "xterm-256color", **(env or {})}
    process = CommandProcess(*words, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    if typed:
        os.write(ours, typed)
    received = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the error of Linux if the other side is closed
            break
        if not part:
            break
        received += part
    os.close(ours)
    return process.wait(60), received.decode("utf-8")


def test_a_game_of_models_shows_who_is_asked(tmp_path: Path) -> None:
    calls = itertools.count()
    slow_at_first = FakeServer(varied_by_schema, latency_s=lambda _body: 0.3 if next(calls) < 6 else 0.0)
    with slow_at_first.in_thread() as server:
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
    assert "Vote for me" in sent
    assert sent.rstrip().endswith("; go on with: agentsim resume game")
