"""Processes of the command that are forked from one which has imported it, since imports take most of a short run.

They are processes as a person starts them, with their own signals, streams and exit codes, but for the start of the
interpreter: tests of that, of a locale or of plugins use `real`, and so do tests of lost streams.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import reduction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.cli.command_line import Said

__all__ = ["CommandProcess", "in_a_process"]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, "tests.cli.preloaded"])


class CommandProcess:
    """A running command, used like a `subprocess.Popen` with text streams.

    A stream is `subprocess.PIPE`, a file, a descriptor, or None for /dev/null; stdin is no pipe. The process calls
    `prepare` first.
    """

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | io.TextIOBase | None = None,
        stderr: int | io.TextIOBase | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        _, in_ = _stream(stdin)
        self.stdout, out = _stream(stdout)
        self.stderr, err = _stream(stderr)
        environment = dict(os.environ) if env is None else dict(env)
        streams = [_Given(end) for end in (in_, out, err)]
        args = (words, str(cwd), environment, streams, prepare)
        self._process = _FORKS.Process(target=_run, args=args, daemon=True)  # it does not outlive this process
        self._process.start()
        for end in (in_, out, err):
            os.close(end)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None, "it is started"
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises `subprocess.TimeoutExpired`."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self._process), timeout or 0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read both pipes to their ends and return their text. Raises `subprocess.TimeoutExpired`."""
        with ThreadPoolExecutor(2) as pool:
            out, err = (pool.submit(_rest, stream) for stream in (self.stdout, self.stderr))
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()  # ends the threads
                raise
            return out.result(), err.result()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wait()
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()


def in_a_process(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> Said:
    """Run the command to its end in a forked process."""
    environment = {**os.environ, **(env or {})}
    with CommandProcess(*words, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        out, err = running.communicate(60)
    assert running.returncode is not None
    return Said(running.returncode, out, err)


def _stream(given: int | io.TextIOBase | None) -> tuple[io.TextIOWrapper | None, int]:
    """Return the end of a pipe that this process reads, or None, and the descriptor of the command."""
    if given == subprocess.PIPE:
        reading, writing = os.pipe()
        return open(reading, encoding="utf-8"), writing  # noqa: PTH123 - a descriptor
    if given is None or given == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    return None, os.dup(given if isinstance(given, int) else given.fileno())


def _rest(stream: io.TextIOWrapper | None) -> str:
    """Read a pipe to its end and close it."""
    if stream is None or stream.closed:
        return ""
    with stream:
        return stream.read()


class _Given:
    """A descriptor that is handed to the forked process."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __getstate__(self) -> Any:
        return reduction.DupFd(self._number)

    def __setstate__(self, given: Any) -> None:
        self._number = given.detach()

    def become(self, number: int) -> None:
        os.dup2(self._number, number)
        os.close(self._number)


def _run(
    words: tuple[str, ...],
    cwd: str,
    environment: Mapping[str, str],
    streams: Sequence[_Given],
    prepare: Callable[[], object] | None,
) -> None:
    """Run the command in this process, which is a new one."""
    for number, stream in enumerate(streams):
        stream.become(number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor, as the next two
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["agentsim", *words]
    if prepare is not None:
        prepare()
    from agentsim.__main__ import main

    main()
