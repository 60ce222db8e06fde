"""Processes killed at random moments, or stopped and continued: only calls in flight are lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from tests.amounts import amounts
from tests.cli.processes import CommandProcess
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.runs.island import decided, play, scenario_text, stable

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")
KILLS_OF_A_GAME = 10
LATENCY_S = 0.03
SCENARIO = """
game = "agent_island"
seed = 21
[defaults]
model = "fake/echo"
[game_config]
memory = "summary"
phases = ["sidebars", "pitches", "votes"]
[limits]
concurrency = 3
[providers.fake]
base_url = "{url}"
[[players]]
id = "p"
count = 5
"""


def _process(*words: str, cwd: Path) -> CommandProcess:
    return CommandProcess(*words, "--display", "none", "--no-html", cwd=cwd, stderr=subprocess.PIPE)


def _wait_for_growth(process: CommandProcess, journal: Path, beyond: int) -> None:
    """Wait until the journal has this size, or the process ends."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.stat().st_size >= beyond:
            return
        time.sleep(0.001)  # polls a file that another process writes
    assert process.poll() is not None, "the run stood still"


def _decided(files: RunFiles) -> set[str]:
    """Return the messages of every call on disk, none of which may be sent again."""
    contents = read_journal(files.journal)
    attempts = [attempt for entry in contents.decisions.values() for attempt in entry.attempts]
    attempts += [attempt for _, attempt in contents.undecided()]
    return {
        json.dumps([[message.role, message.text] for message in attempt.messages])
        for attempt in attempts
        if attempt.completion is not None
    }


def _asked(server: FakeServer, since: int) -> set[str]:
    return {
        json.dumps([[message["role"], message["content"]] for message in received.body["messages"]])
        for received in server.received[since:]
    }


def _stable(files: RunFiles) -> str:
    return files.history.read_text(encoding="utf-8").partition('"volatile":')[0]


@pytest.mark.timeout(240)
@amounts("kills", 3, 30)
def test_a_run_killed_at_random_moments_resumes_to_the_identical_history(tmp_path: Path, kills: int) -> None:
    rng = random.Random(20261121)
    with FakeServer(varied_by_schema, latency_s=LATENCY_S).in_thread() as server:
        config = tmp_path / "game.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        whole = _process("run", "--config", str(config), "--name", "whole", cwd=tmp_path)
        assert whole.wait(60) == 0, whole.stderr and whole.stderr.read()
        assert whole.stderr is not None
        whole.stderr.close()
        files = RunFiles(tmp_path / "logs", "whole")
        wanted, size = _stable(files), files.journal.stat().st_size
        decisions = len(json.loads(files.history.read_text(encoding="utf-8"))["decisions"])
        assert decisions == server.completed["ok"]
        killed = 0
        for game, still in enumerate(range(kills, 0, -KILLS_OF_A_GAME)):
            name = f"killed{game}"
            files = RunFiles(tmp_path / "logs", name)
            started, killed_here = server.started["ok"], 0
            # the sizes of the journal at which this game is killed, from its start to its end
            moments = sorted(rng.randrange(1, size) for _ in range(min(still, KILLS_OF_A_GAME)))
            on_disk: set[str] = set()
            first = True
            while True:
                words = ("run", "--config", str(config), "--name", name) if first else ("resume", name)
                since = len(server.received)
                process = _process(*words, cwd=tmp_path)
                if moments:
                    _wait_for_growth(process, files.journal, moments.pop(0))
                    time.sleep(rng.random() * LATENCY_S)  # at any moment of a call
                    process.send_signal(signal.SIGKILL)
                    killed_here += process.wait(30) == -signal.SIGKILL
                code = process.wait(60)
                assert process.stderr is not None
                said = process.stderr.read()
                process.stderr.close()
                assert not (_asked(server, since) & on_disk), "a call whose result was on disk was made again"
                if code == 0:
                    break
                assert code == -signal.SIGKILL, said
                first = not files.journal.exists()
                on_disk = set() if first else _decided(files)
            assert _stable(files) == wanted
            calls = server.started["ok"] - started
            assert calls <= decisions + 3 * killed_here, "each kill loses at most the three calls in flight"
            killed += killed_here
    assert killed >= kills - 2, f"only {killed} processes were really killed"


def test_the_history_is_absent_or_whole_at_any_moment(tmp_path: Path) -> None:
    """The file is written under another name and renamed, so a polling reader never sees a part of it."""
    with FakeServer(varied_by_schema).in_thread() as server:
        config = tmp_path / "game.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")
        process = _process("run", "--config", str(config), "--name", "polled", cwd=tmp_path)
        history = tmp_path / "logs" / "polled.json"
        while process.poll() is None:
            if history.exists():
                assert json.loads(history.read_text(encoding="utf-8"))["status"] == "completed"
        assert process.stderr is not None
        process.stderr.close()
        assert json.loads(history.read_text(encoding="utf-8"))["status"] == "completed"


TIMEOUT_S, STOPPED_S = 0.8, 1.2
ALL_CALLS = 18


def test_a_stopped_process_takes_what_came_meanwhile_and_waits_on_for_the_rest(tmp_path: Path) -> None:
    """Two of four votes are answered while the process is stopped, two after it continues, before their deadline."""
    settings = f"timeout_s = {TIMEOUT_S}\nretries = 0\n"
    server = FakeServer(varied_by_schema)
    process: list[CommandProcess] = []
    votes: list[str] = []

    def latency_s(body: dict[str, Any]) -> float:
        player, kind = decided(body)
        if kind != "vote" or len(votes) == 4:
            return 0.0
        votes.append(player)
        if len(votes) == 4:
            process[0].send_signal(signal.SIGSTOP)
            asyncio.get_running_loop().call_later(STOPPED_S, process[0].send_signal, signal.SIGCONT)
        return STOPPED_S + 0.2 if player in "CD" else 0.05

    with server.in_thread():
        text = scenario_text(server.url()).replace("[defaults]\n", f"[defaults]\n{settings}")
        (tmp_path / "island.toml").write_text(text, encoding="utf-8")
        whole = play(server.url(), tmp_path / "whole", f"defaults.timeout_s={TIMEOUT_S}", "defaults.retries=0")
        server.received.clear()
        server.latency_s = latency_s
        words = ("run", "--config", "island.toml", "--name", "run", "--display", "none", "--no-html")
        with CommandProcess(*words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            process.append(started)
            out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    assert sorted(votes) == list("ABCD")
    assert len(server.received) == ALL_CALLS, "no answer was paid for twice"
    assert "(0 failed, 0 re-asked, 0 fallbacks)" in out
    assert stable(RunFiles(tmp_path / "logs", "run")) == stable(whole.files)
