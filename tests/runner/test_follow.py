"""A game watched by another process, from its journal alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.event import LogEntry
from agentsim.errors import JournalCorrupt, JournalError
from agentsim.history.contents import Entry
from agentsim.history.journal_file import is_running
from agentsim.history.run_files import RunFiles
from agentsim.history.totals import Totals
from agentsim.runner.follow import follow
from agentsim.runner.session import begin
from agentsim.runner.watch import Watcher
from agentsim.scenario.load import load
from tests.cli.command_line import agentsim, program, snapshot, trio
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.runner.island import FOUR, scenario_text


class Seen(Watcher):
    """Notes what a display would be shown."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.decided_by: list[str] = []
        self.calls = 0

    def told(self, events: Sequence[LogEntry]) -> None:
        self.events += [told.event.kind for told in events]

    def decided(self, entry: Entry) -> None:
        self.decided_by.append(entry.player)

    def counted(self, totals: Totals) -> None:
        self.calls = totals.calls


def no_wait(_: float) -> None:
    raise AssertionError("a run that is over is not waited for")


def events_of(files: RunFiles) -> list[str]:
    history: dict[str, Any] = json.loads(files.history.read_text("utf-8"))
    return [event["kind"] for part in history["rounds"] for event in part["events"]]


def test_of_a_game_that_is_over_everything_is_shown_and_nothing_touched(tmp_path: Path) -> None:
    files = begin(load(trio(tmp_path)), tmp_path, env={}, stem="one").files
    before, seen = snapshot(tmp_path), Seen()
    assert follow(files, seen, sleep=no_wait) == "completed"
    assert seen.events == events_of(files)
    assert snapshot(tmp_path) == before


def test_of_a_run_that_was_killed_what_it_had_decided_is_shown(tmp_path: Path) -> None:
    files = begin(load(trio(tmp_path)), tmp_path, env={}, stem="one").files
    lines = files.journal.read_bytes().splitlines(keepends=True)
    files.journal.write_bytes(b"".join(lines[:3]) + lines[3][:10])
    seen = Seen()
    assert follow(files, seen, sleep=no_wait) == "interrupted"
    assert len(seen.decided_by) == 2


def test_a_running_game_is_followed_to_its_end(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema, latency_s=0.03).in_thread() as server:
        (tmp_path / "one.toml").write_text(scenario_text(server.url(), FOUR), "utf-8")
        words = program("run", "--config", "one.toml", "--name", "one", "--display", "none", "--no-html")
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files = RunFiles(tmp_path / "logs", "one")
        while not (files.journal.exists() and is_running(files.journal)):
            assert process.poll() is None
        seen, looks = Seen(), [0]

        def look_again(_: float) -> None:
            looks[0] += 1

        assert follow(files, seen, sleep=look_again) == "completed"
        assert process.wait(30) == 0
    assert looks[0] > 0, "it was watched while it ran"
    assert seen.events == events_of(files)
    assert seen.calls == len(seen.decided_by) == 18


def test_what_cannot_be_followed_is_said(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, "empty")
    files.journal.write_bytes(b'{"record": ')
    with pytest.raises(JournalError, match="before its journal began"):
        follow(files, Watcher(), sleep=no_wait)
    files.journal.write_bytes(b"{}\n")
    with pytest.raises(JournalCorrupt, match="line 1"):
        follow(files, Watcher(), sleep=no_wait)


def test_watch_shows_what_everybody_hears_and_how_it_ended(tmp_path: Path) -> None:
    begin(load(trio(tmp_path)), tmp_path / "logs", env={}, stem="one")
    said = agentsim("watch", "one", "--display", "plain", cwd=tmp_path)
    assert (said.code, said.out) == (0, "one: completed\n")
    assert "Round 1 begins" in said.err
    assert "votes for" not in said.err, "votes are secret"
