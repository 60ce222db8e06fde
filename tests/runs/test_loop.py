"""The loop of a run: concurrency, the watcher's events, and the use of the screen."""

from __future__ import annotations

import io
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Ask, Wave
from agentsim.games.agent_island.game import AgentIsland
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.records.run_files import RunFiles
from agentsim.runs import limits
from agentsim.runs.watcher import Watcher
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import BOTS, FOUR, Mendable, decided, journaled, play, resumed, stable

Typed: TypeAlias = Callable[..., io.StringIO]
PERSON = '[[players]]\nid = "A"\nmodel = "human"\n'
PERSON += "".join(f'[[players]]\nid = "{bot}"\nmodel = "bot/random"\n' for bot in "BC")
REPLIES = ("Hello.", "", "vote: C\nexplanation: why", "", "B", "")
"""A pitch and a vote, then a vote of the jury or another pitch; an empty line ends each."""


class Notes(Watcher):
    """A watcher that records its events."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.told_: list[LoggedEvent] = []
        self.calls = 0
        self.speaking: set[str] = set()

    def began(self, name: str, game: str, players: Sequence[str]) -> None:
        self.seen.append(f"began {name} {','.join(players)}")

    def wave(self, wave: Wave, round_title: str) -> None:
        self.seen.append(f"wave {wave.number} {round_title}")

    def calling(self, ask: Ask) -> None:
        assert ask.request.player not in self.speaking
        self.speaking.add(ask.request.player)

    def delayed(self, ask: Ask) -> None:
        self.seen.append(f"held {ask.request.player}")

    def called(self, ask: Ask, totals: Totals) -> None:
        self.speaking.remove(ask.request.player)
        self.calls = totals.calls

    def decided(self, record: DecisionRecord) -> None:
        self.seen.append(f"decided {record.index}")

    def told(self, events: Sequence[LoggedEvent]) -> None:
        self.told_ += events
        self.seen += [f"told {told.event.kind}" for told in events]

    def person(self, *, asked: bool) -> None:
        self.seen.append("screen taken" if asked else "screen back")

    def waiting(self, ask: Ask, reason: str) -> None:
        self.seen.append(f"waiting {ask.request.player}")


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_no_more_calls_at_once_than_the_limit(server: Mendable, tmp_path: Path, concurrency: int) -> None:
    server.latency_s = 0.02
    result = play(server.url(), tmp_path, f"limits.concurrency={concurrency}")
    assert result.status == "completed"
    assert server.most_in_flight == concurrency, "no more, and no fewer: a wave of four votes fills every slot"


def test_who_waits_for_a_provider_that_is_busy_keeps_nobody_from_another(server: Mendable, tmp_path: Path) -> None:
    """A must wait for minutes, and B waits behind it for the only slot; C's provider is asked nevertheless."""
    busy = Raw(429, {"error": {"message": "slow down"}}, {"Retry-After": "200"})
    server.reply = lambda _: busy
    players = FOUR.replace('id = "C"\n', 'id = "C"\nmodel = "other/one"\n')
    with FakeServer(lambda _: Raw(401, {"error": {"message": "no"}}), latency_s=0.1).in_thread() as other:
        settings = ('game_config.phases=["votes"]', "limits.concurrency=1", f'providers.other.base_url="{other.url()}"')
        result = play(server.url(), tmp_path, *settings, players=players)
        assert result.status == "stopped_provider"
        assert (len(server.received), len(other.received)) == (1, 1), "A, and C, whose provider then ends it"


def test_who_waits_for_its_turn_is_shown_as_held_back(
    server: Mendable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "NOTICEABLE_S", 0.01)
    notes = Notes()
    settings = ('game_config.phases=["votes"]', "providers.fake.spacing_ms=200000", "limits.max_wall_s=0.2")
    play(server.url(), tmp_path, *settings, watcher=notes)
    held = {line for line in notes.seen if line.startswith("held")}
    assert len(held) == 3, "of four votes all but the first"


def test_a_call_that_waits_for_its_slot_when_the_run_stops_is_never_made(server: Mendable, tmp_path: Path) -> None:
    server.reply = lambda _body: Raw(401, {"error": {"message": "no such key"}})
    stopped = play(server.url(), tmp_path, "providers.fake.spacing_ms=300", players=FOUR)
    assert (stopped.status, len(server.received)) == ("stopped_provider", 1)


def test_the_watcher_sees_the_game_in_order_and_every_event_once(server: Mendable, tmp_path: Path) -> None:
    notes = Notes()
    result = play(server.url(), tmp_path, watcher=notes)
    events = [event for part in result.history["rounds"] for event in part["events"]]
    assert notes.seen[0] == "began run A,B,C,D"
    assert [told.event.kind for told in notes.told_] == [event["kind"] for event in events]
    assert sorted(line for line in notes.seen if line.startswith("decided")) == sorted(
        f"decided {record['index']}" for record in result.history["decisions"]
    )
    waves = [line for line in notes.seen if line.startswith("wave")]
    assert waves[0] == "wave 1 Round 1"
    assert waves[-1].endswith("Final round")
    assert notes.speaking == set()
    assert notes.calls == server.completed["ok"] == result.history["usage"]["calls"]


def test_a_failed_call_is_shown_as_waiting_and_counted(server: Mendable, tmp_path: Path) -> None:
    server.reply = lambda body: Raw(503, "busy") if decided(body) == ("A", "vote") else FakeServer().reply(body)
    notes = Notes()
    result = play(server.url(), tmp_path, watcher=notes)
    assert {line for line in notes.seen if line.startswith("waiting")} == {"waiting A"}
    assert notes.calls == result.history["usage"]["calls"]
    assert notes.speaking == set()


def test_what_was_called_before_is_shown_and_counted_when_a_run_goes_on(server: Mendable, tmp_path: Path) -> None:
    result = play(server.url(), tmp_path, "limits.max_calls=5")
    notes = Notes()
    again = resumed(result.files, watcher=notes, max_calls=100)
    assert notes.calls == again.history["usage"]["calls"] == server.completed["ok"]
    decided_at = [int(line.split()[1]) for line in notes.seen if line.startswith("decided")]
    assert sorted(decided_at) == [record["index"] for record in again.history["decisions"]]


def test_bots_alone_call_nobody_and_are_on_record(tmp_path: Path) -> None:
    with FakeServer().in_thread() as server:
        players = f'[[players]]\nid = "A"\nmodel = "bot/grudge"\n{BOTS}'
        result = play(server.url(), tmp_path, players=players)
        assert server.received == []
    assert {entry.source for entry in journaled(result.files)} == {"bot"}
    assert result.history["usage"]["calls"] == 0
    assert result.history["usage"]["cost_usd"] == 0.0


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Typed]:
    """Return a function that puts lines and the end of input into stdin, and returns a capture of stderr."""
    with ExitStack() as opened:

        def type_in(*lines: str) -> io.StringIO:
            source, sink = os.pipe()
            with os.fdopen(sink, "w") as pipe:
                pipe.write("".join(f"{line}\n" for line in lines))
            screen = io.StringIO()
            monkeypatch.setattr(sys, "stdin", opened.enter_context(os.fdopen(source)))
            monkeypatch.setattr(sys, "stderr", screen)
            return screen

        yield type_in


def test_the_screen_is_the_persons_while_they_are_asked(tmp_path: Path, typed: Typed) -> None:
    typed("Hello.", "", "What?", "", *REPLIES[2:])
    notes = Notes()
    result = play("http://127.0.0.1:1/v1", tmp_path, players=PERSON, watcher=notes)
    assert result.status == "completed", result.error
    screen = [line.removeprefix("screen ") for line in notes.seen if line.startswith("screen")]
    assert len(screen) >= 8, "a reply that will not do gives it back as well"
    assert screen == ["taken", "back"] * (len(screen) // 2)


def test_a_display_beside_a_person_is_not_told_who_is_asked_what(tmp_path: Path, typed: Typed) -> None:
    typed(*REPLIES)
    notes = Notes()
    play("http://127.0.0.1:1/v1", tmp_path, players=PERSON, watcher=notes)
    assert not [line for line in notes.seen if line.startswith(("wave", "calling", "called", "waiting", "decided"))]


def test_a_person_reads_the_news_as_a_player_and_the_watcher_is_told_the_rest(tmp_path: Path, typed: Typed) -> None:
    """A terminal must not show events twice: the prompt of the person shows some, the watcher the others."""
    screen = typed(*REPLIES)
    notes = Notes()
    result = play("http://127.0.0.1:1/v1", tmp_path, players=PERSON, watcher=notes)
    assert result.status == "completed", result.error
    last = max(record["index"] for record in result.history["decisions"] if record["source"] == "human")
    events = [event for part in result.history["rounds"] for event in part["events"]]
    unread = next(index for index, event in enumerate(events) if event["metadata"].get("decision") == last)
    recounted = {event.kind for event in AgentIsland.events if event.in_prompt}
    public = [(index, event["kind"]) for index, event in enumerate(events) if event["visibility"] == "all"]
    shown = [kind for place, kind in public if place >= unread or kind not in recounted]
    assert [told.event.kind for told in notes.told_] == shown
    assert shown[-3:] == ["pitch", "tally", "won"]
    assert shown.count("pitch") == shown.count("tally") == 1, "earlier ones stand in a prompt"
    assert "pitch: Hello." in screen.getvalue()
    assert {record["source"] for record in result.history["decisions"]} == {"human", "bot"}


def test_people_take_no_slot_no_money_and_no_call(tmp_path: Path, typed: Typed) -> None:
    typed(*REPLIES)
    result = play("http://127.0.0.1:1/v1", tmp_path, "limits.max_calls=0", players=PERSON)
    assert result.status == "completed", result.error
    assert result.history["usage"]["calls"] == 0
    assert result.history["usage"]["cost_usd"] == 0.0
    people = [decision for decision in result.typed_history.decisions if decision.source == "human"]
    assert people
    assert all(decision.usage is None and decision.model is None for decision in people)


def test_input_that_ends_interrupts_the_run_which_goes_on_where_it_was(tmp_path: Path, typed: Typed) -> None:
    typed(*REPLIES)
    whole = play("http://127.0.0.1:1/v1", tmp_path, players=PERSON, stem="whole")
    typed(*REPLIES[:3])
    result = play("http://127.0.0.1:1/v1", tmp_path, players=PERSON)
    assert result.status == "interrupted"
    assert result.error is not None
    assert result.error.exit_code == 130
    typed(*REPLIES[2:])
    again = resumed(result.files)
    assert again.status == "completed", again.error
    assert again.history["rounds"] == whole.history["rounds"]


def test_a_wave_of_models_is_on_disk_before_the_rules_see_any_of_it(server: Mendable, tmp_path: Path) -> None:
    result = play(server.url(), tmp_path, players=FOUR)

    class Disk(Watcher):
        def told(self, events: Sequence[LoggedEvent]) -> None:
            on_disk = {entry.index for entry in journaled(result.files)}
            shown.extend(told.decision for told in events if told.decision is not None)
            assert set(shown) <= on_disk

    shown: list[int] = []
    result.files.history.unlink()
    result.files.journal.rename(tmp_path / "old.jsonl")
    play(server.url(), tmp_path, players=FOUR, watcher=Disk())
    assert len(shown) == len(journaled(result.files))


def test_a_loss_of_power_takes_no_decision_that_the_rules_have_seen(
    server: Mendable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a loss of power a file has the length of its last fsync.

    Before each wave is given to the rules, a copy of the journal is cut to that length; every copy resumes and repeats
    no paid call.
    """
    held: dict[int, int] = {}  # the synced length, by inode
    cut: list[tuple[RunFiles, int, int]] = []  # a copy, its last wave, and the number of calls until then
    fsync, answer = os.fsync, GamePlay.answer

    def synced(handle: int) -> None:
        fsync(handle)
        held[os.fstat(handle).st_ino] = os.fstat(handle).st_size

    def answered(game: GamePlay, decisions: Sequence[Decision]) -> Wave | None:
        journal, copy = tmp_path / "run.jsonl", RunFiles(tmp_path, f"cut_{len(cut) + 1}")
        copy.journal.write_bytes(journal.read_bytes()[: held[journal.stat().st_ino]])
        cut.append((copy, len(cut) + 1, len(server.received)))
        return answer(game, decisions)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", synced)
        patched.setattr(GamePlay, "answer", answered)
        whole = play(server.url(), tmp_path, players=FOUR)
    calls = len(server.received)
    assert len(cut) == 4 + 3 + 2 + 3, "pitches one by one, votes at once"
    for copy, wave, made in cut:
        assert max(entry.wave for entry in journaled(copy)) == wave
        before = len(server.received)
        again = resumed(copy)
        assert len(server.received) - before == calls - made
        assert stable(again.files) == stable(whole.files)


def test_what_is_decided_is_synced_while_another_of_its_wave_is_waited_for(
    server: Mendable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fourth vote is answered only when the disk holds the first three, within five seconds."""
    synced, held = threading.Event(), list[bool]()
    fsync, asked, syncs = os.fsync, itertools.count(1), itertools.count(1)

    def noted(handle: int) -> None:
        fsync(handle)
        if next(syncs) > 1:  # the first fsync is that of the journal's first line
            synced.set()

    def latency(_: object) -> float:
        if next(asked) == len("ABCD"):
            held.append(synced.wait(5))
        return 0.0

    monkeypatch.setattr(os, "fsync", noted)
    server.latency_s = latency
    play(server.url(), tmp_path, 'game_config.phases=["votes"]', players=FOUR)
    assert held == [True]
