"""`agentsim code` and `agentsim interview`: a forecast before the first call, limits, Ctrl-C, and recorded replies."""

from __future__ import annotations

import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.codes import codes_path
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from tests.cli.command_line import Said, agentsim
from tests.cli.processes import CommandProcess
from tests.fakes.server import FakeServer
from tests.runs.island import play
from tests.studies.test_coding import BOOK, judging

PRICED = ('prices."fake/echo"={input=0,output=1000}', "defaults.max_tokens=1000")
"""A call costs 0.005 dollars, and reserves 1 dollar before it is made."""


@dataclass(frozen=True)
class Asking:
    """A command that asks models about a run, the file of its answers, and the number of its calls."""

    words: tuple[str, ...]
    path: str
    calls: int

    def run(self, folder: Path, *words: str) -> Said:
        return agentsim(*self.words, *words, "--logs-dir", ".", cwd=folder)

    def answers(self, folder: Path) -> dict[tuple[int, int], Any]:
        return {key: each.decision for key, each in read_journal(folder / self.path).decisions.items()}


CODE = Asking(
    ("code", "run", "--codebook", "greetings.toml", "--judge", "fake/echo", "--set", "max_tokens=1000"),
    codes_path(RunFiles(Path(), "run"), "greetings", "fake/echo").name,
    9,
)
INTERVIEW = Asking(("interview", "run", "--battery", "trust", "--at", "5", "--at", "12"), "run.at5_at12.interview", 8)
pytestmark = pytest.mark.parametrize("asking", [CODE, INTERVIEW], ids=["code", "interview"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "greetings.toml").write_text(BOOK, encoding="utf-8")
    return tmp_path


def played(server: FakeServer, folder: Path) -> int:
    """Play an island of four on the server, and return the number of its calls."""
    play(server.url(), folder, *PRICED)
    return len(server.received)


def test_a_forecast_comes_before_the_first_call_and_counts_what_is_left(asking: Asking, folder: Path) -> None:
    with FakeServer(judging).in_thread() as server:
        before = played(server, folder)
        none = asking.run(folder, "--max-calls", "0")
        assert (none.code, len(server.received)) == (5, before)
        assert none.err.startswith(f"agentsim: fake/echo: {asking.calls} calls to make, about ")
        assert f"(at most ${asking.calls}.0000) without re-asks" in none.err
        assert "limits.max_calls = 0 is reached; with a higher limit, the same command goes on" in none.err
        assert asking.run(folder, "--max-calls", "3").code == 5
        assert len(server.received) == before + 3
        rest = asking.run(folder)
        assert rest.code == 0, rest.err
        assert rest.err.startswith(f"agentsim: fake/echo: {asking.calls - 3} calls to make, about ")
        assert len(server.received) == before + asking.calls
        assert "fake/echo: 0 calls to make, about 0 tokens, nothing" in asking.run(folder).err or asking is INTERVIEW


def test_a_limit_in_dollars_holds_over_all_its_calls_and_a_higher_one_goes_on(asking: Asking, folder: Path) -> None:
    with FakeServer(judging).in_thread() as server:
        before = played(server, folder)
        said = asking.run(folder, "--max-cost", "1.012")
        assert (said.code, len(server.received)) == (5, before + 3), "a fourth call could exceed it"
        assert "limits.max_cost_usd = 1.012 is reached: 0.0150 spent, and the next call reserves 1.0000" in said.err
        kept = asking.answers(folder)
        assert len(kept) == 3
        again = asking.run(folder, "--max-cost", "1.012")
        assert (again.code, len(server.received)) == (5, before + 3), "what was spent before counts"
        whole = asking.run(folder, "--max-cost", "9")
        assert (whole.code, len(server.received)) == (0, before + asking.calls), whole.err
        assert asking.answers(folder).items() >= kept.items()


def test_ctrl_c_ends_it_with_130_and_the_same_command_pays_for_nothing_twice(asking: Asking, folder: Path) -> None:
    with FakeServer(judging).in_thread() as server:
        first = played(server, folder) + 3
        server.latency_s = lambda _: 0.0 if len(server.received) <= first else 60.0
        with CommandProcess(
            *asking.words, "--logs-dir", ".", cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and _decisions(folder / asking.path) < 3:
                time.sleep(0.005)  # polls another process
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(30)
        kept = asking.answers(folder)
        assert (running.returncode, len(kept)) == (130, 3), err
        assert "the same command goes on" in err
        server.latency_s = 0.0
        before = len(server.received)
        said = asking.run(folder)
        assert said.code == 0, said.err
        assert len(server.received) - before == asking.calls - 3
        assert asking.answers(folder).items() >= kept.items()


def _decisions(path: Path) -> int:
    return path.read_bytes().count(b'"record":"decision"') if path.exists() else 0


def test_recorded_replies_answer_again_without_a_host(asking: Asking, folder: Path) -> None:
    with FakeServer(judging).in_thread() as server:
        played(server, folder)
        said = asking.run(folder, "--record", "replies.jsonl")
        assert said.code == 0, said.err
    first = asking.answers(folder)
    assert len(first) == asking.calls
    (folder / asking.path).unlink()
    again = asking.run(folder, "--replay-replies", "replies.jsonl")
    assert again.code == 0, again.err
    assert asking.answers(folder) == first
