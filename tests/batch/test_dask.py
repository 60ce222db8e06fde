"""The same batch on a Dask cluster: the same files, and a worker's death costs its game's unfinished part only."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest

from agentsim.models.keys import Variables
from agentsim.records.run_files import RunFiles
from agentsim.runs.batch.executors import ExecutorLost
from agentsim.runs.batch.on_dask import OnDask
from agentsim.scenario.load import load
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
@pytest.mark.slow
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


@contextmanager
def process_of(module: str, *words: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One of Dask's own commands, which ends with the block."""
    command = [sys.executable, "-m", f"distributed.cli.{module}", *words, "--no-dashboard"]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def listening(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_a_scheduler_that_dies_is_said_in_a_line_and_costs_nothing_that_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsim.runs.batch.on_dask._CONNECT_S", 2)
    config = trio(tmp_path)
    address = f"tcp://127.0.0.1:{(port := free_port())}"
    words = ("--games", "5000", "--out", "b", "--executor", "dask", "--scheduler", address, *QUIET)

    def strike() -> None:
        while not list((tmp_path / "b").glob("game_*.json")):
            time.sleep(0.005)  # polls a folder that other processes fill
        scheduler.kill()

    with (
        process_of("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), cwd=tmp_path) as scheduler,
        process_of("dask_worker", address, "--nthreads", "1", "--no-nanny", cwd=tmp_path),
    ):
        while not listening(port):
            time.sleep(0.01)  # polls a port on which another process will listen
        striking = threading.Thread(target=strike, daemon=True)
        striking.start()
        batch = agentsim("batch", "--config", str(config), *words, cwd=tmp_path)
        striking.join()
    assert batch.code == 1
    lost = f"{address}: the scheduler is lost; workers end the games that they have begun; go on with: "
    assert batch.line == f"{lost}agentsim resume b"
    assert not batch.out.startswith("b: 0 of"), "a game that is over counts, though nobody could say so"


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A scheduler of one worker, both in threads of this process."""
    import distributed

    settings = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    untyped: Any = distributed
    with untyped.LocalCluster(protocol="tcp", **settings) as made:
        yield made


def refusal(tmp_path: Path, cluster: Any) -> str:
    words = ("--games", "1", "--out", "b", "--executor", "dask", "--scheduler", cluster.scheduler_address, *QUIET)
    refused = agentsim("batch", "--config", str(trio(tmp_path)), *words, cwd=tmp_path)
    assert refused.code == 2, refused.err
    return refused.line


def _missing(here: str, package: str) -> str:
    if threading.current_thread().name != here:
        raise PackageNotFoundError(package)
    return here


def test_a_worker_that_could_not_play_is_named(tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = threading.current_thread().name
    names = lambda _package: threading.current_thread().name  # noqa: E731 - a function that travels as it is
    monkeypatch.setattr("agentsim.runs.batch.on_dask.version", names)
    line = refusal(tmp_path, cluster)
    assert re.search(rf": the worker tcp://[\d.:]+ has agentsim .+, and this is {here}$", line), line
    monkeypatch.setattr("agentsim.runs.batch.on_dask.version", partial(_missing, here))
    line = refusal(tmp_path, cluster)
    assert re.search(rf": the worker tcp://[\d.:]+ has no agentsim, and this is {here}$", line), line


def test_a_cluster_without_workers_is_said(tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsim.runs.batch.on_dask._WORKER_S", 0.5)
    cluster.scale(0)
    assert refusal(tmp_path, cluster).endswith("has no workers; start some with dask worker")


def test_a_cluster_whose_last_worker_is_gone_holds_no_batch_for_ever(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        executor = OnDask(cluster.scheduler_address, 1, Variables({}))
        try:
            await executor.open()
            monkeypatch.setattr("agentsim.runs.batch.on_dask._WORKER_S", 0.1)
            cluster.scale(0)
            await executor.play(load(trio(tmp_path), seed=1), RunFiles(tmp_path, "game"))
        finally:
            await executor.aclose()

    with (
        dask.config.set({"distributed.client.scheduler-info-interval": "50ms"}),
        pytest.raises(ExecutorLost, match=r"^tcp://[\d.:]+: the last worker is gone$"),
    ):
        asyncio.run(main())


def test_workers_of_our_own_have_the_keys_of_an_env_file_and_nobody_else_has() -> None:
    key = "sk-canary-1234567890"

    async def main() -> None:
        executor = OnDask(None, 1, Variables({"LAB_KEY": key}))
        try:
            assert await executor.open() == 1
            client: Any = executor._client
            assert list((await client.run(os.getenv, "LAB_KEY")).values()) == [key]
            assert key not in repr(await client.scheduler.identity())
            assert "LAB_KEY" not in os.environ
        finally:
            await executor.aclose()

    asyncio.run(main())


def test_a_scheduler_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsim.runs.batch.on_dask._CONNECT_S", 0.2)
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
    monkeypatch.setattr("agentsim.cli.batch.find_spec", lambda name: None)
    config = trio(tmp_path)
    refused = agentsim("batch", "--config", str(config), "--games", "1", "--out", "b", *words, *QUIET, cwd=tmp_path)
    assert (refused.code, problem in refused.line) == (2, True)
