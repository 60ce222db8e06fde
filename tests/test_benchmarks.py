"""The benchmarks run, with parameters too small to measure anything."""

from __future__ import annotations

import json

import pytest

from benchmarks import calls
from benchmarks.senders import SENDERS


def test_every_path_of_a_call_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    calls.main(["--callers", "2", "--calls", "1", "--latency", "0.001", "--repeats", "1", "--senders", "--json"])
    measured = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(each["path"], each["shape"]) for each in measured} >= {
        *((path, "waves") for path in (calls.WHOLE, calls.OURS, *SENDERS)),
        *((path, "chains") for path in (calls.OURS, *SENDERS)),
    }
    assert all(each["cpu_ms"] > 0 and each["wall_s"] > 0 for each in measured)
