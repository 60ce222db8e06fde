"""Recordings that are broken, cut short, or of another run or game: no paid reply is lost or invented."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.run_files import RunFiles
from agentsim.records.versions import JOURNAL_FORMAT
from tests.amounts import one_in
from tests.cli.command_line import Said, agentsim, program
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import resume_run
from tests.runs.island import journaled, scenario_text, stable

QUIET = ("--display", "none", "--no-html")
PRICED = 'prices={"fake/echo"={input=1000.0,output=1000.0}}'
SENT: dict[str, Any] = {"messages": [], "schema": "", "temperature": None, "max_tokens": 1, "extra": "", "provider": {}}
USAGE = {
    "prompt_tokens": 1,
    "cached_tokens": None,
    "completion_tokens": 1,
    "reasoning_tokens": None,
    "cost_usd": None,
}
REPLY = {"text": "{}", "usage": USAGE}


def config(directory: Path, url: str = "http://127.0.0.1:9/v1", *, seed: bool = True) -> None:
    text = scenario_text(url)
    (directory / "island.toml").write_text(text if seed else text.replace("seed = 5\n", ""), encoding="utf-8")


def run(directory: Path, name: str, *words: str) -> Said:
    return agentsim("run", "--config", "island.toml", "--name", name, *QUIET, *words, cwd=directory)


def history(directory: Path, name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((directory / "logs" / f"{name}.json").read_text(encoding="utf-8"))
    return read


def recorded(directory: Path, *words: str, seed: bool = True) -> Said:
    """Record a run `live` in tape.jsonl; its server is gone afterwards."""
    with FakeServer(varied_by_schema).in_thread() as server:
        config(directory, server.url(), seed=seed)
        said = run(directory, "live", "--record", "tape.jsonl", *words)
    assert said.code == 0, said.err
    return said


def tape(directory: Path, *rows: str) -> None:
    head = json.dumps({"record": "recording", "format": JOURNAL_FORMAT})
    (directory / "tape.jsonl").write_text("".join(f"{row}\n" for row in (head, *rows)), encoding="utf-8")


def call_line(call: str = "A/pitch/1/1", **attempt: Any) -> str:
    tried = {"messages": [], "completion": REPLY, **attempt}
    return json.dumps({"record": "call", "model": "fake/echo", "call": call, "sent": SENT, "attempt": tried})


BAD: dict[str, tuple[str, str]] = {
    "a text that is a number": (call_line(completion=REPLY | {"text": 5}), "attempt.completion.text: "),
    "no text": (call_line(completion=REPLY | {"text": None}), "attempt.completion.text: "),
    "thinking that is a number": (call_line(completion=REPLY | {"reasoning": 5}), "attempt.completion.reasoning: "),
    "half a character": (call_line(completion=REPLY | {"text": "\ud800"}), "attempt.completion.text: "),
    "tokens in words": (
        call_line(completion=REPLY | {"usage": USAGE | {"prompt_tokens": "12"}}),
        "attempt.completion.usage.prompt_tokens: ",
    ),
    "fewer tokens than none": (
        call_line(completion=REPLY | {"usage": USAGE | {"completion_tokens": -1}}),
        "attempt.completion.usage.completion_tokens: ",
    ),
    "part of a token": (
        call_line(completion=REPLY | {"usage": USAGE | {"cached_tokens": 1.5}}),
        "attempt.completion.usage.cached_tokens: ",
    ),
    "a cost below zero": (
        call_line(completion=REPLY | {"usage": USAGE | {"cost_usd": -1}}),
        "attempt.completion.usage.cost_usd: ",
    ),
    "a status in words": (call_line(completion=None, code="rate_limited", status="429"), "attempt.status: "),
    "no object": ("[]", "Input should be"),
    "a wait below zero": (call_line(completion=None, code="rate_limited", retry_after=-5), "attempt.retry_after: "),
    "an error of no kind": (call_line(completion=None, fault="SystemExit"), "attempt.fault: "),
    "something unknown": (call_line(txt="x"), "attempt.txt: "),
    "a call that is none": (call_line("A/pitch/one/1"), "call: "),
    "no record": (json.dumps({"model": "fake/echo", "call": "A/pitch/1/1", "sent": SENT}), "record: Field required"),
}


@pytest.mark.parametrize(("bad", "says"), BAD.values(), ids=BAD)
def test_a_line_that_is_no_reply_is_refused_before_the_game_begins(tmp_path: Path, bad: str, says: str) -> None:
    config(tmp_path)
    tape(tmp_path, bad)
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl")
    assert said.code == 2
    assert said.line.startswith("tape.jsonl: line 2: is not a recorded reply: ")
    assert says in said.line
    assert not (tmp_path / "logs").exists()


def test_two_replies_to_one_call_in_one_file_are_refused(tmp_path: Path) -> None:
    config(tmp_path)
    tape(tmp_path, call_line(), call_line("B/pitch/1/1"), call_line())
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl")
    problem = "is not a recorded reply: a second reply of fake/echo to A/pitch/1/1"
    assert (said.code, said.line) == (2, f"tape.jsonl: line 4: {problem}")


def full_after(lines: int, path: Path, patch: pytest.MonkeyPatch) -> None:
    """Make the disk full in the middle of the line after this number of lines."""
    real, written = os.write, 0

    def write(handle: int, data: Any) -> int:
        nonlocal written
        if not path.exists() or not os.path.samestat(os.fstat(handle), path.stat()):
            return real(handle, data)
        written += 1
        if written <= lines:
            return real(handle, data)
        if written == lines + 1:
            return real(handle, bytes(data)[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(os, "write", write)


def test_a_full_disk_loses_no_reply_that_is_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tape.jsonl"
    with FakeServer(varied_by_schema).in_thread() as server:
        config(tmp_path, server.url())
        assert run(tmp_path, "whole").code == 0
        calls = len(server.received)
        with monkeypatch.context() as patch:
            full_after(6, file, patch)
            said = run(tmp_path, "live", "--record", "tape.jsonl", "--set", "limits.concurrency=2")
        assert said.code == 1
        assert said.line.startswith("tape.jsonl: cannot write the replies: No space left on device; ")
        assert said.line.endswith("go on with: agentsim resume live")
        paid = len(server.received) - calls
        assert history(tmp_path, "live")["usage"]["calls"] == paid < calls
        rows = file.read_text(encoding="utf-8").split("\n")
        assert len(rows) == 7, "nothing stands behind half a line"
        assert len(rows[-1]) == 20
        said = agentsim("resume", "live", *QUIET, cwd=tmp_path)
        assert said.code == 0, said.err
        assert len(server.received) == 2 * calls, "nobody is asked twice"
    assert stable(RunFiles(tmp_path / "logs", "live")) == stable(RunFiles(tmp_path / "logs", "whole"))


def _on_a_disk_of(size: int, directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a file system of this size at `disk`, and copy it to `kept` afterwards."""
    script = 'mount -t tmpfs -o size=$0 tmpfs disk || exit 99; "$@"; code=$?; cp -r disk kept; exit $code'
    for name in ("disk", "kept"):
        shutil.rmtree(directory / name, ignore_errors=True)
    (directory / "disk").mkdir()
    unshared = ["unshare", "-r", "-m", "sh", "-c", script, str(size), *program(*words)]
    return subprocess.run(unshared, cwd=directory, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-r", "-m", "true"], check=False).returncode != 0,
    reason="a disk of its own needs a namespace of its own, which not every machine gives",
)
@pytest.mark.parametrize(
    ("pages", "failure", "lost"),
    [(7, "live.json: cannot be written", 0), (6, "live.jsonl: cannot write the journal", 1)],  # no space for a history
    ids=["the recording meets it", "the journal meets it"],
)
@one_in(2)
def test_when_a_disk_that_journal_and_recording_share_is_full_only_the_reply_without_room_is_paid_for_again(
    tmp_path: Path, pages: int, failure: str, lost: int
) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        config(tmp_path, server.url())
        words = ("--config", "island.toml", "--name", "live", "--logs-dir", "disk", *QUIET)
        once = ("--record", "disk/tape.jsonl", "--set", "limits.concurrency=1")
        said = _on_a_disk_of(pages * 4096, tmp_path, "run", *words, *once)
        assert said.returncode == 1, said.stderr
        assert f"disk/{failure}: No space left on device; " in said.stderr
        assert len(said.stderr.splitlines()) == 1
        files = RunFiles(tmp_path / "kept", "live")
        paid = len(server.received)
        assert 0 < paid == len(journaled(files)) + lost < 18
        taped = (tmp_path / "kept" / "tape.jsonl").read_text(encoding="utf-8").count("\n") - 1
        assert taped == paid - 1 + lost, "or another file met it first"
        assert resume_run(files, env={}) is not None
        assert len(server.received) == 18 + lost, "nobody else is asked twice"
    assert agentsim("replay", "live", "--logs-dir", "kept", cwd=tmp_path).code == 0


def test_a_recording_that_lacks_only_the_end_fails_though_the_game_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path)
    lines = len((tmp_path / "tape.jsonl").read_text(encoding="utf-8").splitlines())
    (tmp_path / "tape.jsonl").unlink()
    with FakeServer(varied_by_schema).in_thread() as server, monkeypatch.context() as patch:
        config(tmp_path, server.url())
        full_after(lines - 1, tmp_path / "tape.jsonl", patch)
        said = run(tmp_path, "again", "--record", "tape.jsonl", "--set", "limits.concurrency=1")
    assert said.code == 1
    assert said.line.endswith("; the game itself is over")
    assert history(tmp_path, "again")["status"] == "completed"


def test_a_scenario_without_a_seed_plays_again_with_the_dice_of_the_recording(tmp_path: Path) -> None:
    recorded(tmp_path, seed=False)
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl")
    assert said.code == 0, said.err
    assert history(tmp_path, "again")["seed"] == history(tmp_path, "live")["seed"]
    assert stable(RunFiles(tmp_path / "logs", "again")) == stable(RunFiles(tmp_path / "logs", "live"))


@pytest.mark.parametrize("seed", ["-1", '"5"', "true", "1.5"])
def test_a_seed_that_is_none_is_refused(tmp_path: Path, seed: str) -> None:
    config(tmp_path)
    (tmp_path / "tape.jsonl").write_text(f'{{"format":"{JOURNAL_FORMAT}","seed":{seed}}}\n', encoding="utf-8")
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl")
    assert (said.code, said.line) == (
        2,
        "tape.jsonl: line 1: is not a recorded reply: `seed` must be a whole number, 0 or more",
    )


@pytest.mark.parametrize("then", [(), ("--set", PRICED)], ids=["unknown", "known"])
def test_a_replay_costs_what_the_recorded_run_did_whatever_prices_are_now(
    tmp_path: Path, then: tuple[str, ...]
) -> None:
    recorded(tmp_path, *then)
    cost = history(tmp_path, "live")["usage"]["cost_usd"]
    assert cost == (pytest.approx(0.015 * 18) if then else None)
    now = () if then else ("--set", PRICED)
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl", *now)
    assert said.code == 0, said.err
    assert history(tmp_path, "again")["usage"]["cost_usd"] == cost


def test_recorded_replies_that_nobody_asks_for_are_mentioned(tmp_path: Path) -> None:
    recorded(tmp_path)
    with (tmp_path / "tape.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{call_line('A/vote/8/1')}\n{call_line('A/vote/9/1')}\n")
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl")
    assert said.code == 0, "the game is what it is"
    assert said.line == ("tape.jsonl: 2 recorded replies were not asked for, the first: vote of A, number 8, attempt 1")
    assert run(tmp_path, "once-more", "--replay-replies", "tape.jsonl", "--set", "limits.max_calls=3").code == 5
    more = ("--max-calls", "99", "--replay-replies", "tape.jsonl", *QUIET)
    said = agentsim("resume", "once-more", *more, cwd=tmp_path)
    assert (said.code, said.err) == (0, ""), "what the journal answers is asked of nobody"


def gap(directory: Path, call: str) -> None:
    rows = (directory / "tape.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    left = [line for line in rows if f'"{call}"' not in line]
    assert len(left) == len(rows) - 1
    (directory / "tape.jsonl").write_text("".join(left), encoding="utf-8")


def test_a_replay_with_a_gap_is_not_said_to_go_on_with_models(tmp_path: Path) -> None:
    recorded(tmp_path)
    gap(tmp_path, "B/vote/1/1")
    said = run(tmp_path, "again", "--replay-replies", "tape.jsonl", "--set", "limits.concurrency=1")
    assert said.code == 3
    assert said.line.endswith("has no recorded reply; go on with: agentsim resume again --replay-replies FILE")
    said = run(tmp_path, "short", "--replay-replies", "tape.jsonl", "--set", "limits.max_calls=2")
    assert said.code == 5
    assert said.line.endswith("go on with: agentsim resume short --replay-replies FILE --max-calls N")


def test_a_game_that_goes_on_with_models_still_says_that_replies_came_from_a_file(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        config(tmp_path, server.url())
        assert run(tmp_path, "live", "--record", "tape.jsonl").code == 0
        calls = len(server.received)
        gap(tmp_path, "B/vote/1/1")
        assert run(tmp_path, "again", "--replay-replies", "tape.jsonl").code == 3
        assert len(server.received) == calls
        said = agentsim("resume", "again", *QUIET, cwd=tmp_path)
        assert said.code == 0, said.err
        assert len(server.received) > calls
    assert history(tmp_path, "again")["volatile"]["replies"] == ["tape.jsonl"]
    assert agentsim("replay", "again", cwd=tmp_path).code == 0


UNUSABLE = {
    "a name too long": ("x" * 300, "cannot be written: File name too long"),
    "a directory's name too long": (f"{'x' * 300}/tape.jsonl", "cannot be written: File name too long"),
    "below a file": ("island.toml/tape.jsonl", "there is no directory island.toml"),
}


@pytest.mark.parametrize(("name", "problem"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_recording_that_cannot_be_made_is_a_mistake_of_the_command_line(
    tmp_path: Path, name: str, problem: str
) -> None:
    config(tmp_path)
    said = run(tmp_path, "live", "--record", name)
    assert (said.code, said.line) == (2, f"{name}: {problem}")
    assert not (tmp_path / "logs").exists()
