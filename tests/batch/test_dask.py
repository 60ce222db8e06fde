"""The same batch on a Dask cluster: the same files, and a worker's death costs its game's unfinished part only."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.batch.test_batch import QUIET, whole
from tests.cli.command_line import agentsim, program, trio

GAMES = 60


def workers_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The worker processes of a local cluster: children of children that Python's own spawning has started."""
    try:
        below = psutil.Process(process.pid).children(recursive=True)
        return [each for each in below if "spawn_main" in " ".join(each.cmdline())]
    except psutil.Error:
        return []


@pytest.mark.timeout(120)
def test_a_cluster_of_two_whose_one_worker_is_killed_leaves_what_a_local_batch_leaves(tmp_path: Path) -> None:
    config = trio(tmp_path)
    words = ("--config", str(config), "--games", str(GAMES), *QUIET)
    assert agentsim("batch", *words, "--out", "local", cwd=tmp_path).code == 0
    command = program("batch", *words, "--out", "dask", "--executor", "dask", "--jobs", "2")
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    out = tmp_path / "dask"
    while len(list(out.glob("game_*.json"))) < 5:
        assert process.poll() is None, process.stderr and process.stderr.read().decode()
        time.sleep(0.005)  # polls a folder that other processes fill
    workers = workers_of(process)
    assert len(workers) == 2
    assert {os.getsid(worker.pid) for worker in workers} == {worker.pid for worker in workers}, "no Ctrl-C reaches them"
    workers[0].kill()
    _, said = process.communicate(timeout=90)
    assert process.returncode == 0, said.decode()
    assert whole(out) == whole(tmp_path / "local")


def test_a_scheduler_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsim.runner.batch.on_dask._CONNECT_S", 0.2)
    words = ("--games", "1", "--out", "b", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:1", *QUIET)
    refused = agentsim("batch", "--config", str(trio(tmp_path)), *words, cwd=tmp_path)
    assert (refused.code, "cannot be reached" in refused.err) == (2, True), refused.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [(("--scheduler", "tcp://x:1"), "is for --executor dask"), (("--executor", "dask"), "needs the extra cluster")],
)
def test_what_it_needs_is_said(
    words: tuple[str, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setattr("agentsim.cli.batches.find_spec", lambda name: None)
    config = trio(tmp_path)
    refused = agentsim("batch", "--config", str(config), "--games", "1", "--out", "b", *words, *QUIET, cwd=tmp_path)
    assert (refused.code, problem in refused.line) == (2, True)
