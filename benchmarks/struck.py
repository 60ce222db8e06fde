"""One process of the command line, with SIGKILL and SIGSTOP at random moments of its life. Linux only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

__all__ = ["Life", "live"]

_DEEDS = ("kill", "kill", "kill", "go on", "stop and kill")
_LONGEST_S = 120.0
_LONGEST_COMPLAINT = 500
_ROOT = str(Path(__file__).parents[1])


@dataclass(frozen=True)
class Life:
    """The end of a process. It last ran from `since` to `until`, times of `time.monotonic()`."""

    code: int
    stops: int
    lasted_s: float
    since: float
    until: float
    complaint: str

    @property
    def killed(self) -> bool:
        """True if SIGKILL ended it."""
        return self.code == -signal.SIGKILL

    @property
    def signals(self) -> int:
        """The number of signals that met it alive."""
        return self.killed + self.stops


def live(
    words: Sequence[str],
    folder: Path,
    rng: Random,
    *,
    length_s: float = 0.0,
    most: int = 0,
    longest_stop_s: float = 0.0,
) -> Life:
    """Run `agentsim` with these words, and send it signals at up to two moments of its expected length.

    Moments are drawn evenly from its start to its end, in time that it is not stopped. The first of two is a SIGSTOP
    for a while; the last is that or SIGKILL, or SIGKILL while it is stopped. There are at most `most` signals.

    Raises `subprocess.TimeoutExpired` if the process does not end.
    """
    command = [sys.executable, "-m", "agentsim", *words]
    environment = {**os.environ, "PYTHONPATH": _ROOT}
    moments = sorted(rng.uniform(0, length_s) for _ in range(min(most, rng.choice((1, 1, 1, 2)))))
    deeds = ["go on"] * (len(moments) - 1) + [rng.choice(_DEEDS if len(moments) < most else _DEEDS[:-1])]
    with tempfile.TemporaryFile() as said:
        began = time.monotonic()
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        ) as process:
            stops, until, awake_since, asleep_s = 0, None, began, 0.0
            try:
                for moment, deed in zip(moments, deeds, strict=False):
                    if not _lives(process, began + asleep_s + moment):
                        break
                    until = time.monotonic()
                    if deed != "kill":
                        process.send_signal(signal.SIGSTOP)
                        time.sleep(rng.uniform(0.0, longest_stop_s))
                        stops += _is_stopped(process)
                    process.send_signal(signal.SIGCONT if deed == "go on" else signal.SIGKILL)
                    if deed == "go on":
                        awake_since = time.monotonic()
                        asleep_s += awake_since - until
                code = process.wait(_LONGEST_S)
            finally:
                process.kill()
        ended = time.monotonic()
        said.seek(0)
        complaint = said.read().decode(errors="replace").strip()[-_LONGEST_COMPLAINT:]
    return Life(code, stops, ended - began, awake_since, until or ended, complaint)


def _lives(process: subprocess.Popen[bytes], moment: float) -> bool:
    """Return whether the process is still alive at that moment."""
    try:
        process.wait(max(0.0, moment - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


def _is_stopped(process: subprocess.Popen[bytes]) -> bool:
    try:
        status = Path(f"/proc/{process.pid}/stat").read_bytes()
    except FileNotFoundError:
        return False
    return status.rpartition(b") ")[2][:1] == b"T"
