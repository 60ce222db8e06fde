"""Older events of a long game are on the disk, and nothing that reads them can tell."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine import log
from agentsim.engine.event import Event, Everyone, LogEntry
from agentsim.engine.log import Log, Part, PastOf
from agentsim.engine.memory import Lines, line_of
from agentsim.history import making
from agentsim.history.fold import dump_history
from agentsim.history.load import load_history
from agentsim.history.run_files import RunFiles
from agentsim.history.spool import DecisionSpool, Spool
from agentsim.report.page import PageOptions, page_of
from agentsim.results import run_in
from agentsim.runner.replay import prove, without_volatile
from agentsim.runner.session import RunResult, go_on
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer


class Counted(Event, heading="{number}", content="{word}"):
    number: int
    word: str


def told(number: int) -> LogEntry:
    return LogEntry(Counted(number, f"word {number % 3}"), Everyone, 0)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight events stay in memory, and four at a time leave it."""
    monkeypatch.setattr(log, "RECENT", 8)
    monkeypatch.setattr(log, "BLOCK", 4)
    monkeypatch.setattr(log, "_READ", 2)


@pytest.mark.usefixtures("small")
def test_a_log_with_a_store_reads_as_a_list_does(tmp_path: Path) -> None:
    spilled, plain = Log(spool := Spool[LogEntry](tmp_path)), list[LogEntry]()
    for number in range(50):
        for each in (spilled, plain):
            each.append(told(number))
        assert len(spilled) == len(plain)
        assert spilled[-1] == plain[-1]
        assert spilled[number // 2] == plain[number // 2]
    assert len(spool) == 40
    assert list(spilled) == plain
    assert list(reversed(spilled)) == plain[::-1]
    for part in (slice(3), slice(2, 11), slice(37, None), slice(39, 45), slice(-60, 60), slice(44, 2, -5), slice(9, 5)):
        assert spilled[part] == plain[part], part
    with pytest.raises(IndexError):
        spilled[50]
    assert list(tmp_path.iterdir()) == [], "the file has no name"


@pytest.mark.usefixtures("small")
def test_a_log_that_grows_while_it_is_read_is_read_to_its_end() -> None:
    spilled = Log(Spool())
    spilled.append(told(0))
    seen = []
    for each in spilled:
        seen.append(each)
        if len(spilled) < 40:
            spilled.append(told(len(spilled)))
            spilled.append(told(len(spilled)))
    assert seen == [told(number) for number in range(len(spilled))]


@pytest.mark.usefixtures("small")
def test_the_past_of_a_log_finds_what_is_on_the_disk() -> None:
    spilled = Log(Spool())
    past = PastOf(part := Part(spilled))
    for number in range(30):
        spilled.append(told(number))
        part.append(number)
        past.add(told(number).event)
    assert [each.number for each in past.every(Counted, word="word 1")] == list(range(1, 30, 3))
    last = past.last(Counted, number=2)
    assert last == told(2).event
    assert past.last(Counted, number=31) is None
    inner = PastOf(Part(Log()), past)
    assert inner.last(Counted, number=2) == last
    assert len(inner.every(Counted)) == 30


@pytest.mark.usefixtures("small")
def test_lines_of_events_that_come_back_again_are_their_own() -> None:
    """An entry that is read again is another object, which may stand where one stood that is gone."""
    spilled = Log(Spool())
    lines = Lines(["Set-up"], 100)
    for number in range(60):
        spilled.append(told(number))
    for _ in range(3):
        for number in range(60):
            assert lines.of(spilled[number]) == line_of(told(number), ["Set-up"])
            gc.collect(0)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("trouble", ["full", "class"])
def test_what_the_disk_does_not_take_stays_in_memory(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled = Log(spool := Spool[LogEntry]())
    for number in range(20):
        spilled.append(told(number))

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Unnamed(Event, content="{number}"):
        number: int

    if trouble == "full":
        monkeypatch.setattr(os, "pwrite", full)
    made = [told(number) if trouble == "full" else LogEntry(Unnamed(number), Everyone, 0) for number in range(20, 90)]
    for each in made:
        spilled.append(each)
    assert list(spilled) == [*map(told, range(20)), *made]
    assert 0 < len(spool) < 40
    if trouble == "full":
        monkeypatch.undo()
        for number in range(90, 2_000):
            spilled.append(told(number))
        assert list(spilled) == list(map(told, range(2_000))), "where there is room again, they go to their places"
        assert len(spool) > 40


def played(name: str, logs: Path) -> RunResult:
    logs.mkdir()
    with FakeServer(varied_by_schema).in_thread() as server:
        result = on_server(name, server.url(), logs)
    assert result.status == "completed", result.error
    return result


def _texts(result: RunResult) -> list[str]:
    """The history and the page, without what two runs do not share."""
    record = load_history(result.files.history).model_copy(update={"volatile": {}})
    record = record.model_copy(update={"scenario": {**record.scenario, "providers": {}}})
    options = PageOptions(include_prompts=True, include_reasoning=True, include_usage=True)
    return [dump_history(record), page_of(record, options, name="run", directory=result.files.directory)]


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_the_same_with_its_events_on_the_disk(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = played(name, tmp_path / "plain")
    kept: list[type[Any]] = []
    keep = Spool.keep

    def counted(spool: Spool[Any], records: Any) -> bool:
        kept.append(type(spool))
        return keep(spool, records)

    monkeypatch.setattr(Spool, "keep", counted)
    monkeypatch.setattr(log, "RECENT", 2)
    monkeypatch.setattr(log, "RECENT_DECISIONS", 2)
    monkeypatch.setattr(log, "BLOCK", 2)
    monkeypatch.setattr(log, "_READ", 1)
    spilled = played(name, tmp_path / "spilled")
    assert set(kept) == {Spool, DecisionSpool}, "events and decisions"
    assert _texts(spilled) == _texts(plain)
    assert prove(spilled.files).complete, "and replay reads them so as well"
    monkeypatch.setattr(log, "RECENT", log.RECENT + 50_000)
    assert prove(spilled.files).complete


def test_a_run_that_was_killed_goes_on_from_what_it_has_with_its_decisions_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "BLOCK", 2)
    with FakeServer(varied_by_schema).in_thread() as server:
        whole = on_server("agent_island", server.url(), tmp_path)
        killed = RunFiles(tmp_path, "killed")
        lines = whole.files.journal.read_bytes().splitlines(keepends=True)
        killed.journal.write_bytes(b"".join(lines[: len(lines) // 2]))
        for most in ("RECENT", "RECENT_DECISIONS"):
            monkeypatch.setattr(log, most, 2)
        monkeypatch.setattr(making, "MOST_WHOLE", 3)
        again = go_on(killed, env={})
    assert again is not None
    assert again.status == "completed", again.error
    assert prove(killed).complete
    one, other = (without_volatile(run_in(files).history) for files in (killed, whole.files))
    assert one == other
