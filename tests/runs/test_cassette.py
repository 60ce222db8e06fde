"""Cassettes: recorded replies play again without keys, network or waits; a reply that is missing is an error."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import UsageError
from agentsim.records.load import list_runs
from agentsim.records.run_files import RunFiles, find_run
from agentsim.runs.playback import Playback
from agentsim.runs.recorder import Recorder, ReplySource
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.cli.command_line import agentsim
from tests.cli.processes import CommandProcess
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario, resume_run
from tests.runs.island import FOUR, scenario_text, stable

CANARY = "sk-canary-0123456789abcdef"
KEYED = '[providers.fake]\napi_key_env = "LAB_KEY"\n'


def written(directory: Path, url: str, players: str = FOUR) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "island.toml"
    config.write_text(scenario_text(url, players).replace("[providers.fake]\n", KEYED), encoding="utf-8")
    return config


def play(
    config: Path, reply_source: ReplySource | None, *overrides: str, stem: str = "run", key: str | None = CANARY
) -> RunResult:
    env = {} if key is None else {"LAB_KEY": key}
    return play_scenario(
        load(config, overrides=overrides), config.parent / "logs", env=env, stem=stem, reply_source=reply_source
    )


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path]:
    """Return a scenario and the recording of its run `run`; its server is gone."""
    tape = tmp_path / "tape.jsonl"
    with FakeServer(varied_by_schema).in_thread() as server:
        config = written(tmp_path, server.url())
        play(config, Recorder(tape))
    return config, tape


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def moody(body: dict[str, Any]) -> str | Raw:
    """Reply well, but B's votes are broken answers, and C must be asked twice for each of its votes.

    The seat's name alone decides. A speaks first and is answered, so the run goes on.
    """
    reply = varied_by_schema(body)
    words = str(body["messages"])
    if '"vote"' in reply and "You are player B." in words:
        return Raw(200, {"choices": []})
    again = sum(message["role"] == "user" for message in body["messages"]) > 1
    return "I would rather not say." if "You are player C." in words and not again else reply


class Limiting(FakeServer):
    """A server that answers the first call of every prompt with a 429 that asks for a minute."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(self._reply, **settings)
        self._seen: Counter[str] = Counter()

    def _reply(self, body: dict[str, Any]) -> str | Raw:
        said = json.dumps(body["messages"])
        self._seen[said] += 1
        if self._seen[said] == 1:
            return Raw(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.02"})
        return varied_by_schema(body)


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_a_recorded_run_plays_again_without_key_or_network(tmp_path: Path, concurrency: int) -> None:
    tape = tmp_path / "tape.jsonl"
    with FakeServer(moody).in_thread() as server:
        config = written(tmp_path, server.url())
        live = play(config, Recorder(tape), "defaults.retries=2")
        calls = len(server.received)
        again = play(
            config, Playback([tape]), "defaults.retries=2", f"limits.concurrency={concurrency}", stem="again", key=None
        )
        assert len(server.received) == calls, "nothing was called"
    assert live.history["usage"]["failed_calls"] > 0, "or no error was recorded"
    assert live.history["usage"]["reasks"] > 0
    assert stable(again.files) == stable(live.files)
    assert again.history["volatile"]["replies"] == ["tape.jsonl"]
    assert "replies" not in live.history["volatile"]


def test_a_recording_beside_the_runs_is_no_run(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        live = play(written(tmp_path, server.url()), Recorder(tmp_path / "replies.jsonl"))
    folder = live.files.directory
    (tmp_path / "replies.jsonl").rename(folder / "replies.jsonl")
    assert [run.name for run in list_runs(folder)] == [live.files.name]
    with pytest.raises(UsageError, match="no run called 'replies'"):
        find_run(folder, "replies")


@pytest.mark.parametrize("concurrency", [1, 16])
def test_the_journal_of_a_run_plays_again_without_key_or_network(tmp_path: Path, concurrency: int) -> None:
    with FakeServer(moody).in_thread() as server:
        config = written(tmp_path, server.url())
        live = play(config, None, "defaults.retries=2")
        calls = len(server.received)
        limit = f"limits.concurrency={concurrency}"
        again = play(config, Playback([live.files.journal]), "defaults.retries=2", limit, stem="again", key=None)
        assert len(server.received) == calls, "nothing was called"
    assert live.history["usage"]["failed_calls"] > 0, "or no error was recorded"
    assert stable(again.files) == stable(live.files)
    assert again.history["volatile"]["replies"] == ["run.jsonl"]
    changed = play(config, Playback([live.files.journal]), "game_config.pitch_chars=99", stem="other", key=None)
    assert "message 2 of 2 has changed" in str(changed.error)


def test_thoughts_in_a_journals_replies_are_kept_once(tmp_path: Path) -> None:
    with FakeServer(lambda body: f"<think>Hm.</think>{varied_by_schema(body)}").in_thread() as server:
        config = written(tmp_path, server.url())
        live = play(config, None)
    again = play(config, Playback([live.files.journal]), stem="again", key=None)
    assert "Hm." in live.history["texts"]
    assert stable(again.files) == stable(live.files)


def test_no_key_no_address_and_no_header_is_inside(tmp_path: Path) -> None:
    """This also holds if the server repeats the key in its replies and errors."""

    def echo(body: dict[str, Any]) -> str | Raw:
        reply = varied_by_schema(body)
        if "text 0" in reply or "text 5" in reply:
            return Raw(503, f"no: Bearer {CANARY}")
        return Raw(body={"model": CANARY, "choices": [{"message": {"content": f"{CANARY} {reply}"}}]})

    tape = tmp_path / "tape.jsonl"
    with FakeServer(echo).in_thread() as server:
        play(written(tmp_path, server.url()), Recorder(tape))
        assert all(request.headers["authorization"] == f"Bearer {CANARY}" for request in server.received)
        text = tape.read_text(encoding="utf-8")
        assert len(text.splitlines()) == len(server.received) + 1
        assert server.url() not in text
        assert str(server.port) not in text
    assert "canary" not in text
    assert "uthorization" not in text
    sent = [message for request in server.received for message in request.body["messages"]]
    prompts = {message["content"] for message in sent if message["role"] != "assistant"}  # a reply that is quoted back
    assert not any(json.dumps(prompt)[1:-1] in text for prompt in prompts), "prompts are in the history"


def test_waits_are_counted_and_not_sat_out(tmp_path: Path) -> None:
    tape, slow = tmp_path / "tape.jsonl", tmp_path / "slow.jsonl"
    with Limiting().in_thread() as server:
        config = written(tmp_path, server.url())
        live = play(config, Recorder(tape))
    minute = tape.read_text(encoding="utf-8").replace('"retry_after":0.02', '"retry_after":60')
    assert minute.count('"retry_after":60') == live.history["usage"]["failed_calls"] > 10
    slow.write_text(minute, encoding="utf-8")  # ten minutes of waits, more than the time limit of a test
    again = play(config, Playback([slow]), stem="again", key=None)
    assert stable(again.files) == stable(live.files)


def test_where_patience_would_have_ended_it_ends_when_replayed(tmp_path: Path) -> None:
    tape, slow = tmp_path / "tape.jsonl", tmp_path / "slow.jsonl"
    with Limiting().in_thread() as server:
        config = written(tmp_path, server.url())
        play(config, Recorder(tape))
    text = tape.read_text(encoding="utf-8").replace('"retry_after":0.02', '"retry_after":301')
    slow.write_text(text, encoding="utf-8")
    again = play(config, Playback([slow]), stem="again", key=None)
    first = again.history["decisions"][0]
    assert (first["source"], first["fallback_reason"]) == ("fallback", "rate_limited")


CHANGES = {
    "a persona": ('players.0.prompt="Be brief."', "pitch of A, number 1, attempt 1, .* message 1 of 2 has changed"),
    "the rules of the question": ("game_config.pitch_chars=99", "message 2 of 2 has changed"),
    "temperature": ("defaults.temperature=0.3", "temperature has changed"),
    "max_tokens": ("defaults.max_tokens=77", "max_tokens has changed"),
    "client_kwargs": ("defaults.client_kwargs={top_k=3}", "client_kwargs has changed"),
    "the model": ('defaults.model="fake/other"', "was recorded from fake/echo, not from fake/other"),
    "how it is held to the schema": ('providers.fake.structured="tool"', "structured of the provider has changed"),
    "what every request holds": ('providers.fake.extra_body={user="x"}', "extra_body of the provider has changed"),
}


@pytest.mark.parametrize(("override", "problem"), CHANGES.values(), ids=CHANGES)
def test_what_was_not_recorded_stops_the_run_and_says_what_has_changed(
    recorded: tuple[Path, Path], override: str, problem: str
) -> None:
    config, tape = recorded
    stopped = play(config, Playback([tape]), override, "limits.concurrency=1", stem="again", key=None)
    assert stopped.status == "stopped_provider"
    assert stopped.error is not None
    assert stopped.error.exit_code == 3
    assert re.search(rf"tape\.jsonl: {problem}" if "pitch of" in problem else problem, str(stopped.error))


def test_a_reply_that_is_missing_names_whose_it_is(recorded: tuple[Path, Path]) -> None:
    config, tape = recorded
    kept = [line for line in tape.read_text(encoding="utf-8").splitlines(keepends=True) if '"B/vote/2/1"' not in line]
    tape.write_text("".join(kept), encoding="utf-8")
    stopped = play(config, Playback([tape]), "limits.concurrency=1", stem="again", key=None)
    assert stopped.history["usage"]["failed_calls"] == 0, "nothing was called that could fail"
    assert str(stopped.error) == "tape.jsonl: vote of B, number 2, attempt 1, has no recorded reply"


def test_a_killed_recording_is_a_usable_beginning_and_a_second_file_goes_on(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    with FakeServer(varied_by_schema, latency_s=0.02).in_thread() as server:
        written(tmp_path, server.url())
        process = CommandProcess(
            *("run", "--config", "island.toml", "--name", "run", "--display", "none", "--no-html"),
            *("--record", "first.jsonl", "--set", "limits.concurrency=2"),
            cwd=tmp_path,
            env={**os.environ, "LAB_KEY": CANARY},
        )
        while server.completed.total() < 6:
            assert process.poll() is None, "it ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert first.read_bytes().startswith(
            b'{"record":"recording","format":"agentsim-journal/2","seed":5,"versions":{'
        )
        assert len(lines(first)) > 4
        files = RunFiles(tmp_path / "logs", "run")
        resumed = resume_run(files, env={"LAB_KEY": CANARY}, reply_source=Recorder(second))
        assert resumed is not None
        assert resumed.status == "completed"
    again = play(tmp_path / "island.toml", Playback([first, second]), stem="again", key=None)
    assert stable(again.files) == stable(files)


def test_a_torn_last_line_is_left_out(recorded: tuple[Path, Path]) -> None:
    config, tape = recorded
    tape.write_bytes(tape.read_bytes()[:-9])
    stopped = play(config, Playback([tape]), stem="again", key=None)
    assert stopped.status == "stopped_provider"
    assert "has no recorded reply" in str(stopped.error)


HEAD = b'{"record": "recording", "format": "agentsim-journal/2"}\n'
BROKEN = {
    "nothing": (b"", "is empty"),
    "no format": (b'{"call": "A/vote/1/1"}\n', "line 1: is not a recorded reply: missing 'format'"),
    "another format": (b'{"format": "poem/1"}\n', "line 1: .* this version reads agentsim-journal/2"),
    "another version": (b'{"format": "agentsim-journal/1"}\n', "was written by another version of agentsim"),
    "no JSON": (HEAD + b"what\n", "line 2"),
    "a journal": (b'{"record": "run"}\n', "line 1"),
    "half a line": (
        HEAD + b'{"record": "call", "model": "x", "call": "A/vote/1/1"}\n',
        "line 2: .* sent: Field required",
    ),
    "not a number": (HEAD + b'{"model": NaN}\n', "line 2: .* NaN is not a finite"),
}


@pytest.mark.parametrize(("content", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_no_cassette_is_refused_before_anything_is_written(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_bytes(content)
    with pytest.raises(UsageError, match=problem):
        Playback([tape])
    written(tmp_path, "http://127.0.0.1:9/v1")
    said = agentsim("run", "--config", "island.toml", "--replay-replies", "tape.jsonl", cwd=tmp_path)
    assert said.code == 2
    assert said.line.startswith("tape.jsonl: ")
    assert not (tmp_path / "logs").exists()


def test_the_command_line_records_and_replays(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        written(tmp_path, server.url())
        words = ("run", "--config", "island.toml", "--display", "none", "--no-html", "--seed", "3")
        env = {"LAB_KEY": CANARY}
        assert agentsim(*words, "--name", "one", "--record", "tape.jsonl", cwd=tmp_path, env=env).code == 0
    kept = (tmp_path / "tape.jsonl").read_bytes()
    assert agentsim(*words, "--name", "two", "--replay-replies", "tape.jsonl", cwd=tmp_path).code == 0
    assert stable(RunFiles(tmp_path / "logs", "one")) == stable(RunFiles(tmp_path / "logs", "two"))
    said = agentsim(*words, "--record", "tape.jsonl", cwd=tmp_path, env=env)
    assert (said.code, said.line) == (2, "tape.jsonl: already exists; replies are recorded into a new file")
    assert (tmp_path / "tape.jsonl").read_bytes() == kept
    said = agentsim(*words, "--record", "x.jsonl", "--replay-replies", "tape.jsonl", cwd=tmp_path)
    assert (said.code, said.line[:37]) == (2, "--record and --replay-replies exclude")
    said = agentsim(*words, "--record", "nowhere/x.jsonl", cwd=tmp_path, env=env)
    assert (said.code, said.line) == (2, "nowhere/x.jsonl: there is no directory nowhere")
    said = agentsim(*words, "--replay-replies", "nowhere.jsonl", cwd=tmp_path)
    assert (said.code, said.line) == (2, "nowhere.jsonl: cannot be read: No such file or directory")


def test_a_replay_that_met_a_limit_is_resumed_with_the_same_replies(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    with FakeServer(varied_by_schema).in_thread() as server:
        config = written(tmp_path, server.url())
        live = play(config, Recorder(tape))
    stopped = play(config, Playback([tape]), "limits.max_calls=5", stem="again", key=None)
    assert stopped.status == "stopped_budget"
    words = ("--max-calls", "99", "--display", "none", "--no-html", "--replay-replies", "tape.jsonl")
    said = agentsim("resume", "again", *words, cwd=tmp_path)
    assert said.code == 0, said.err
    assert stable(stopped.files) == stable(live.files)


def test_a_chain_of_models_and_the_mode_that_was_found_are_recorded(tmp_path: Path) -> None:
    """The first of two models is down, the second rejects schemas; the recording keeps both apart."""

    def plain(body: dict[str, Any]) -> str | Raw:
        if body["model"] == "down":
            return Raw(503, "upstream connect error")
        if "response_format" in body and body["response_format"]["type"] == "json_schema":
            return Raw(400, {"error": {"message": "response_format is not supported", "param": "response_format"}})
        kind = "vote" if '"vote"' in body["messages"][-1]["content"] else "text"
        others = re.findall(r'"vote": "?<?([A-D])', body["messages"][-1]["content"]) or ["A"]
        return json.dumps({kind: others[0] if kind == "vote" else "hello", "explanation": "why not"})

    tape = tmp_path / "tape.jsonl"
    changes = ('defaults.model=["fake/down", "fake/up"]', 'providers.fake.structured="auto"', "defaults.reasks=0")
    with FakeServer(plain).in_thread() as server:
        config = written(tmp_path, server.url())
        live = play(config, Recorder(tape), *changes)
    assert {row["model"] for row in lines(tape)[1:]} == {"fake/down", "fake/up"}
    again = play(config, Playback([tape]), *changes, stem="again", key=None)
    assert again.status == live.status
    assert stable(again.files) == stable(live.files)
    assert again.history["volatile"].get("negotiated") == live.history["volatile"].get("negotiated")
    missing = [line for line in tape.read_text(encoding="utf-8").splitlines(True) if '"B/pitch/1/1"' not in line]
    tape.write_text("".join(missing), encoding="utf-8")
    stopped = play(config, Playback([tape]), *changes, stem="third", key=None)
    assert stopped.status == "stopped_provider", "no spare model takes over for a reply that is missing"
