"""Settings of all tests: no network but loopback, no real key, no variable of the person's environment."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler.loadscope import LoadScopeScheduling  # type: ignore[import-untyped] # it ships no types

# Examples have no deadline, since no test measures speed. With the slow tests, `.ci/run` tries a hundred of each
# property (`--hypothesis-profile thorough`).
settings.register_profile("agentsim", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None)
settings.load_profile("agentsim")

_CLEARED = ("OPENAI_", "OPENROUTER_", "GEMINI_", "GOOGLE_", "OLLAMA_", "AGENTSIM_", "NO_COLOR", "FORCE_COLOR")
_KEPT = {"AGENTSIM_CHROMIUM"}  # which the tests read, and no program
_LOOPBACK = ("127.", "::1", "localhost")


# Files of tests are in memory if there is a memory file system: tests kill processes, not machines, so syncs to a disk
# would only cost time.
_IN_MEMORY = Path("/dev/shm")
_ROOM = 4 * 2**30


# Every process that a test starts imports a few hundred modules, and every run rewrites the asserts of all tests: with
# saved bytecode (which git ignores) that takes half the time, so the setting of the environment is overridden.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# The threads of the embedded model spin if the machine was idle when the tests began; beside the other process of the
# tests that takes more than twice as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


# A shell starts background commands with SIGINT ignored, and processes that a test interrupts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the folder of all temporary files, unless it is set."""
    here = not hasattr(config, "workerinput") and config.option.basetemp is None
    if here and os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > _ROOM:
        config.option.basetemp = made = Path(tempfile.mkdtemp(prefix="agentsim-", dir=_IN_MEMORY))
        config.add_cleanup(lambda: shutil.rmtree(made, ignore_errors=True))


# Tests of the embedded model run first, in one process, one by one: two servers on two cores are five times as slow as
# one. All other tests stay together by file, so that the fixtures of a file are made once.
_EMBEDDED = {"test_local.py", "test_embedded_game.py"}


class _ByFile(LoadScopeScheduling):  # type: ignore[misc] # xdist ships no types
    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return "embedded" if Path(path).name in _EMBEDDED else path

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Forget files that are done: xdist counts what is pending in all files of a process six times a test."""
        scope = self._split_scope(self.registered_collections[node][item_index])
        super().mark_test_complete(node, item_index, duration)
        assigned = self.assigned_work[node]
        if all(assigned[scope].values()):
            del assigned[scope]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByFile:
    """Decide which tests share a process."""
    return _ByFile(config, log)


# The files that take longest come next; if one began last, the other process would have to wait for it.
_LONG = {
    *("test_runs.py", "test_rules.py", "test_kill.py", "test_pages.py", "test_browser.py", "test_configs.py"),
    *("test_effects.py", "test_run.py", "test_batch.py", "test_checks.py", "test_docs.py", "test_tutorial.py"),
    *("test_live.py", "test_seats.py"),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the rows that only the slow tests have, and order the tests, the longest first."""
    rows: Counter[str] = Counter()
    for item in items:
        for mark in item.iter_markers("one_in"):
            test = item.nodeid.partition("[")[0]
            if rows[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            rows[test] += 1
    items.sort(key=lambda item: (item.path.name not in _EMBEDDED, item.path.name not in _LONG))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, which would take a third of the time and free nothing.

    Then it has the thresholds of the command line: at Python's own, tests that run no command take a fifteenth longer.
    """
    from agentsim.cli.app import GC_THRESHOLD

    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # later collections skip these objects
        gc.set_threshold(*GC_THRESHOLD)
        gc.enable()


def _guarded(connect: Any) -> Any:
    def guard(self: socket.socket, address: Any) -> Any:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and not str(host).startswith(_LOOPBACK):
            raise AssertionError(f"a test tried to reach {host}")
        return connect(self, address)

    return guard


socket.socket.connect = _guarded(socket.socket.connect)  # type: ignore[method-assign] # for all tests, once
socket.socket.connect_ex = _guarded(socket.socket.connect_ex)  # type: ignore[method-assign] # as above


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Clear the environment; a fixture of every test would take a third of the time of a small one."""
    for name in list(os.environ):
        if name not in _KEPT and (name.upper().startswith(_CLEARED) or name.lower().endswith("_proxy")):
            del os.environ[name]


@pytest.fixture(scope="module")
def without_workers() -> Iterator[None]:
    """Play batches of bots in this process, since starting workers takes longer than their few small games.

    Use it in tests of the files that a batch writes; `tests/batch` tests the workers.
    """
    from agentsim.runs.batch.executors import Executor, ended, run_of
    from agentsim.runs.batch.tally import GameEnd
    from agentsim.runs.run import RunOptions

    class Here(Executor):
        async def play(self, scenario: Any, files: Any) -> GameEnd:
            return ended(await run_of(scenario, files, RunOptions({})).play())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("agentsim.runs.batch.run_batch"), "InProcesses", Here)
        yield


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    """Draw ratings as often as chains need to agree, and no further for the last printed digit.

    Use it in tests of reports, each of which has ratings: further draws take half of its time. Tests of the ratings
    themselves (`tests/analysis/test_ratings.py`, `tests/studies/test_rate.py`) use them as they are.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("agentsim.analysis.posterior"), "MOST_DRAWS", 0)
        yield
