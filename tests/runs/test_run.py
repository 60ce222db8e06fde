"""Runs in processes: signals, a second signal, a second process, a full disk."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from agentsim.cli.app import GC_THRESHOLD
from agentsim.errors import AgentsimError, Interrupted, JournalMismatch
from agentsim.players.terminal import InterruptRequest
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.process import stoppable
from agentsim.runs.replay import prove
from agentsim.scenario.load import load
from tests.cli.command_line import agentsim, trio
from tests.cli.processes import CommandProcess
from tests.fakes.journals import change_line
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario, resume_run
from tests.runs.island import Mendable, journaled, play, resumed, scenario_text, stable

CALLS = 18


class Cli:
    """A folder in which the command is started; processes still running at the end are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = RunFiles(folder / "logs", "run")
        self.running: list[CommandProcess] = []

    def start(self, *words: str, file_limit: int | None = None) -> CommandProcess:
        most = None if file_limit is None else (file_limit, file_limit)
        limit = most and partial(resource.setrlimit, resource.RLIMIT_FSIZE, most)
        given = (*words, "--display", "none", "--no-html")
        process = CommandProcess(*given, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, prepare=limit)
        self.running.append(process)
        return process

    def run(self, url: str, *words: str) -> CommandProcess:
        config = self.folder / "game.toml"
        config.write_text(scenario_text(url), encoding="utf-8")
        return self.start("run", "--config", str(config), "--name", "run", *words)

    def close(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=20)


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    made = Cli(tmp_path)
    yield made
    made.close()


def end(process: CommandProcess) -> tuple[int, str]:
    """Wait for the end and return the exit code and stderr, which must have no traceback."""
    _, stderr = process.communicate(timeout=60)
    assert "Traceback" not in stderr
    return process.wait(), stderr


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.002)  # polls another process


def hang_after(server: Mendable, calls: int) -> None:
    """Answer this number of calls; let the next ones hang."""

    def reply(body: dict[str, object]) -> str:
        if server.started["ok"] >= calls:
            server.broken = "hang"
        return varied_by_schema(body)

    server.reply = reply


def mend(server: Mendable) -> None:
    server.broken, server.reply = None, varied_by_schema


@pytest.mark.parametrize(
    ("number", "code", "answered"),
    [(signal.SIGINT, 130, 2), (signal.SIGTERM, 143, 5)],
    ids=["SIGINT in a pitch", "SIGTERM in a wave of votes"],
)
def test_a_signal_ends_a_run_in_order_and_it_goes_on_to_the_same_history(
    server: Mendable, cli: Cli, number: signal.Signals, code: int, answered: int
) -> None:
    whole = play(server.url(), cli.folder / "whole")
    before = server.started["ok"]
    hang_after(server, before + answered)
    process = cli.run(server.url())
    wait_until(lambda: server.in_flight > 0 and server.started["ok"] > before + answered, "a call in flight")
    # Wait until sent answers are read: the rest of the wave may hang before that.
    wait_until(lambda: len(journaled(cli.files)) == answered, "every answer on disk")
    process.send_signal(number)
    exit_code, stderr = end(process)
    assert exit_code == code
    assert stderr.startswith("agentsim: stopped by a signal")
    assert "go on with: agentsim resume run\n" in stderr
    history = json.loads(cli.files.history.read_text(encoding="utf-8"))
    assert history["status"] == "interrupted"
    assert len(history["decisions"]) == len(journaled(cli.files)) == answered
    assert read_journal(cli.files.journal).stops[-1].status == "interrupted"
    assert prove(cli.files).decisions == answered

    mend(server)
    since = len(server.received)
    assert end(cli.start("resume", "run"))[0] == 0
    assert stable(cli.files) == stable(whole.files)
    assert len(server.received) - since == CALLS - answered, "nothing was paid for twice"


def test_a_signal_ends_a_wait_for_a_rate_limit(server: Mendable, cli: Cli) -> None:
    server.reply = lambda body: Raw(429, {"error": {"message": "slow down"}}, {"Retry-After": "200"})
    process = cli.run(server.url())
    wait_until(lambda: server.completed["ok"] == 1, "the first call")
    process.send_signal(signal.SIGINT)
    assert end(process)[0] == 130
    assert server.started["ok"] == 1


def test_a_second_signal_ends_the_process_at_once_and_the_run_goes_on_all_the_same(server: Mendable, cli: Cli) -> None:
    whole = play(server.url(), cli.folder / "whole")
    before = server.started["ok"]
    hang_after(server, before + 3)
    process = cli.run(server.url())
    wait_until(lambda: server.in_flight > 0 and server.started["ok"] > before + 3, "a call in flight")
    wait_until(lambda: len(journaled(cli.files)) == 3, "every answer on disk")
    # Both signals are pending before the process continues, so it cannot handle the first before the second.
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        process.send_signal(number)
    # The kernel delivers the two in any order; the second one ends the process.
    assert end(process) in {(-signal.SIGTERM, ""), (-signal.SIGINT, "")}
    assert not cli.files.history.exists(), "it took the time to write its history"
    assert len(journaled(cli.files)) == 3
    mend(server)
    assert resume_run(cli.files, env={}) is not None
    assert stable(cli.files) == stable(whole.files)


def test_of_two_processes_that_play_one_run_the_second_is_sent_away(server: Mendable, cli: Cli) -> None:
    hang_after(server, 2)
    first = cli.run(server.url())
    wait_until(lambda: server.started["ok"] == 3, "a call in flight")
    before = cli.files.journal.read_bytes()
    code, stderr = end(cli.start("resume", "run"))
    assert (code, stderr) == (2, "agentsim: run.jsonl: another process is playing this run\n")
    assert cli.files.journal.read_bytes() == before
    assert server.started["ok"] == 3
    first.send_signal(signal.SIGINT)
    assert end(first)[0] == 130


def test_of_two_runs_of_one_name_the_second_is_refused(server: Mendable, cli: Cli) -> None:
    ends = sorted(end(process) for process in [cli.run(server.url()), cli.run(server.url())])
    assert [code for code, _ in ends] == [0, 2]
    assert "there is a run called run already; give it another name" in ends[1][1]
    assert sorted(path.name for path in cli.files.directory.iterdir()) == ["run.json", "run.jsonl"]


@pytest.mark.parametrize("room", [700, -9000], ids=["for half a decision", "for nothing"])
def test_a_full_disk_ends_the_run_in_one_line_and_with_room_it_goes_on(server: Mendable, cli: Cli, room: int) -> None:
    whole = play(server.url(), cli.folder / "whole")
    assert play(server.url(), cli.files.directory, "limits.max_calls=6").status == "stopped_budget"
    before = (cli.files.journal.read_bytes(), cli.files.history.read_bytes())
    limit = len(before[0]) + room
    code, stderr = end(cli.start("resume", "run", "--max-calls", "100", file_limit=limit))
    assert code == 1
    assert len(stderr.splitlines()) == 1
    assert stderr.startswith("agentsim: ")
    assert "File too large" in stderr
    assert sorted(path.name for path in cli.files.directory.iterdir()) == ["run.json", "run.jsonl", "run.toml"]
    after = (cli.files.journal.read_bytes(), cli.files.history.read_bytes())
    if room > 0:
        assert len(after[0]) == limit, "the disk was full in the middle of a line"
        assert after[0].startswith(before[0])
        assert after[1] == before[1], "a history is longer than its journal: it had no room either, and stays whole"
    else:
        assert after == before
    calls = server.started["ok"]
    assert resume_run(cli.files, env={}, max_calls=100) is not None
    assert stable(cli.files) == stable(whole.files)
    assert server.started["ok"] - calls == CALLS - 6, "calls whose result had no room are the only ones made again"


def test_a_directory_that_cannot_be_written_is_found_before_anything_is_paid_for(server: Mendable, cli: Cli) -> None:
    (cli.folder / "logs").write_text("a file", encoding="utf-8")
    code, stderr = end(cli.run(server.url()))
    assert (code, stderr) == (2, "agentsim: logs: cannot write logs there: File exists\n")
    assert server.received == []


def test_a_disk_that_is_full_from_the_beginning_keeps_no_name(server: Mendable, cli: Cli) -> None:
    """There is nothing to resume, so no hint is printed; the same command works once there is space."""
    config = cli.folder / "game.toml"
    config.write_text(scenario_text(server.url()), encoding="utf-8")
    words = ("run", "--config", str(config), "--name", "run", "--record", "tape.jsonl")

    def needing(file: str, file_limit: int) -> None:
        code, stderr = end(cli.start(*words, file_limit=file_limit))
        assert code == 1
        words_of_system = "File too large; [1-9][0-9]* bytes are needed"
        assert re.fullmatch(rf"agentsim: {file}: cannot be written: {words_of_system}\n", stderr)

    needing("tape.jsonl", file_limit=0)
    needing("logs/run.jsonl", file_limit=200)
    assert (server.received, [path for path in cli.folder.rglob("*") if path.suffix == ".jsonl"]) == ([], [])
    assert end(cli.start(*words))[0] == 0
    assert cli.files.history.is_file()


def test_a_failed_write_leaves_nothing_behind_the_torn_line(
    server: Mendable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If space returns at once, no later line may follow half of an earlier one."""
    whole = play(server.url(), tmp_path, stem="whole")
    real = os.write
    torn: list[int] = []

    def write(handle: int, data: bytes) -> int:
        if b'"record":"decision","index":4' in bytes(data) and not torn:
            torn.append(real(handle, bytes(data)[:50]))
            raise OSError(5, "Input/output error")
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(AgentsimError, match=r"run\.jsonl: cannot write the journal: Input/output error"):
        play(server.url(), tmp_path)
    monkeypatch.undo()
    assert torn
    files = RunFiles(tmp_path, "run")
    assert files.journal.read_bytes().count(b"\n") < len(files.journal.read_bytes().splitlines())
    assert len(journaled(files)) == 3
    assert json.loads(files.history.read_text(encoding="utf-8"))["status"] == "failed"
    resumed(files)
    assert stable(files) == stable(whole.files)


def test_a_journal_of_other_rules_is_refused_and_its_files_stay_as_they_were(server: Mendable, tmp_path: Path) -> None:
    result = play(server.url(), tmp_path, "limits.max_calls=6")
    change_line(result.files.journal, '"record":"decision","index":3,', lambda line: line.update(kind="speech"))
    before = (result.files.journal.read_bytes(), result.files.history.read_bytes())
    with pytest.raises(JournalMismatch, match=r"decision 3 .*the journal answers speech of"):
        resume_run(result.files, env={})
    assert (result.files.journal.read_bytes(), result.files.history.read_bytes()) == before


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: None, "is missing"),
        (lambda text: text[:-200], "is broken"),
        (lambda text: "", "is broken"),
        (lambda text: "[]", "is none"),
        (lambda text: text.replace('"decisions":[', '"indecision":['), "is broken"),
        (lambda text: text.replace('"seed":7', '"seed":8'), "is another game's"),
        (lambda text: text.replace('"status":"completed"', '"status":"interrupted"'), "is older than the game's end"),
    ],
)
def test_a_finished_runs_history_that_is_not_its_own_is_made_again_from_the_journal(
    damage: Callable[[str], str | None], why: str, tmp_path: Path
) -> None:
    files = play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="one").files
    whole, journal = json.loads(files.history.read_text("utf-8")), files.journal.read_bytes()
    same, damaged = stable(files), damage(files.history.read_text("utf-8"))
    if damaged is None:
        files.history.unlink()
    else:
        files.history.write_text(damaged, encoding="utf-8")
    said = agentsim("resume", "one", "--logs-dir", ".", "--display", "none", cwd=tmp_path)
    assert (said.code, said.line) == (0, f"one.json {why}: it is made again from the journal")
    assert (stable(files), files.journal.read_bytes(), files.page.exists()) == (same, journal, False)
    assert json.loads(files.history.read_text("utf-8"))["volatile"].keys() == whole["volatile"].keys()
    again = agentsim("resume", "one", "--logs-dir", ".", "--display", "none", cwd=tmp_path)
    assert (again.code, again.err) == (0, "one is finished already: nothing was played\n")


def test_a_run_may_be_played_in_a_thread(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        results: list[str] = []
        thread = threading.Thread(target=lambda: results.append(play(server.url(), tmp_path).status))
        thread.start()
        thread.join(60)
    assert results == ["completed"]


def test_without_a_seed_one_is_drawn_and_recorded(tmp_path: Path) -> None:
    bots = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/random"\n' for player in "ABC")
    results = [play("http://127.0.0.1:1/v1", tmp_path, "seed=1", players=bots, stem=f"s{n}") for n in range(2)]
    assert stable(results[0].files) == stable(results[1].files)
    seeds = set()
    for n in range(3):
        config = tmp_path / f"drawn{n}.toml"
        config.write_text(scenario_text("http://127.0.0.1:1/v1", bots).replace("seed = 5\n", ""), encoding="utf-8")
        result = play_scenario(load(config), tmp_path, env={}, stem=f"drawn{n}")
        assert result.history["seed"] == read_journal(result.files.journal).head["seed"]
        assert prove(result.files).complete
        seeds.add(result.history["seed"])
    assert len(seeds) > 1


class TestStoppable:
    """The handling of signals, in this process."""

    def test_a_signal_before_there_is_a_task_cancels_it_when_it_comes(self) -> None:
        with pytest.raises(Interrupted) as caught:
            self._play(before=signal.SIGTERM)
        assert (caught.value.signal_number, caught.value.exit_code) == (15, 143)

    def test_a_signal_after_the_game_is_over_changes_nothing(self) -> None:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        with stoppable() as register:

            async def game() -> None:
                register(asyncio.create_task(asyncio.sleep(0)))

            asyncio.run(game())
            signal.raise_signal(signal.SIGINT)
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers

    def test_where_somebody_is_on_call_the_first_rings_and_the_second_stops(self) -> None:
        heard: list[str] = []
        interrupt = InterruptRequest(attended=True, noticed=lambda: heard.append("rung"))

        async def game() -> None:
            task = asyncio.create_task(asyncio.Event().wait())
            register(task)
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert (interrupt.requested, heard, task.cancelling()) == (True, ["rung"], 0)
            signal.raise_signal(signal.SIGINT)
            await task

        with pytest.raises(Interrupted) as caught, stoppable(interrupt) as register:
            asyncio.run(game())
        assert caught.value.exit_code == 130

    @pytest.mark.parametrize(("attended", "number"), [(False, signal.SIGINT), (True, signal.SIGTERM)])
    def test_nobody_on_call_and_any_other_signal_stop_at_once(self, attended: bool, number: signal.Signals) -> None:
        interrupt = InterruptRequest(attended=attended)

        async def game() -> None:
            task = asyncio.create_task(asyncio.Event().wait())
            register(task)
            signal.raise_signal(number)
            await task

        with pytest.raises(Interrupted), stoppable(interrupt) as register:
            asyncio.run(game())
        assert not interrupt.requested

    @staticmethod
    def _play(before: signal.Signals) -> None:
        async def game() -> None:
            task = asyncio.create_task(asyncio.Event().wait())
            register(task)
            await task

        with stoppable() as register:
            signal.raise_signal(before)
            asyncio.run(game())


def test_a_session_leaves_the_garbage_collector_alone_and_the_command_line_sets_it(tmp_path: Path) -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        gc.set_threshold(701, 11, 12)
        play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="one")
        assert gc.get_threshold() == (701, 11, 12)
        assert gc.get_freeze_count() <= frozen, "nothing is frozen; what was, may have been let go"
        agentsim("--version", cwd=tmp_path)
        assert gc.get_threshold() == GC_THRESHOLD
    finally:
        gc.set_threshold(*before)
