"""A process that is stopped and continued (Ctrl-Z, a paused container) loses no answer and no time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentsim.history.run_files import RunFiles
from tests.cli.command_line import program
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.runner.island import decided, play, scenario_text, stable

TIMEOUT_S, STOPPED_S = 0.8, 1.2
CALLS = 18

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")


def test_a_stopped_process_takes_what_came_meanwhile_and_waits_on_for_the_rest(tmp_path: Path) -> None:
    """Of four votes two are answered while it stands still, and two when it goes on, before their own time is over."""
    settings = f"timeout_s = {TIMEOUT_S}\nretries = 0\n"
    server = FakeServer(varied_by_schema)
    process: list[subprocess.Popen[bytes]] = []
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
        with subprocess.Popen(program(*words), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            process.append(started)
            out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    assert sorted(votes) == list("ABCD")
    assert len(server.received) == CALLS, "no answer was paid for twice"
    assert b"(0 failed, 0 re-asked, 0 fallbacks)" in out
    assert stable(RunFiles(tmp_path / "logs", "run")) == stable(whole.files)
