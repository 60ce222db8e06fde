"""The benchmarks run, with parameters too small to measure anything."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.senders import SENDERS
from tests.cli.command_line import ROOT


def test_every_path_of_a_call_is_measured() -> None:
    """In a process of its own, since it plays a game of its own that no other test may find."""
    tiny = ("--callers", "2", "--calls", "1", "--latency", "0.001", "--repeats", "1", "--senders", "--json")
    command = [sys.executable, "-m", "benchmarks.calls", *tiny]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    found = {(each["path"], each["shape"]) for each in measured}
    assert found >= {(path, shape) for path in SENDERS for shape in ("waves", "chains")}
    assert {path for path, _ in found} > set(SENDERS), "our own paths are measured as well"
    assert all(each["cpu_ms"] > 0 and each["wall_s"] > 0 for each in measured)


def test_games_of_monopoly_are_timed_whole_and_in_memory() -> None:
    command = [sys.executable, "-m", "benchmarks.monopoly", "--games", "1", "--repeats", "1"]
    done = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["path"] for each in measured] == ["journal and history", "in memory"]
    assert measured[0]["decisions"] == measured[1]["decisions"] > 100, "they are the same games"
    assert all(each["cpu_s"] > 0 for each in measured)


def test_batches_of_bots_are_timed_with_one_worker_and_with_two() -> None:
    words = ("--config", "configs/agent_island_bots.toml", "--games", "2", "--repeats", "1", "--json")
    command = [sys.executable, "-m", "benchmarks.batch", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (measured,) = map(json.loads, done.stdout.splitlines())
    assert measured["games"] == 2
    assert min(measured["one"], measured["two"], measured["speed_up"]) > 0
