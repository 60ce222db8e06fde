"""Faults that are more than an answer: no listener, memory, signals; and foreign text in a history."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.amounts import one_in
from tests.cli.command_line import agentsim
from tests.cli.processes import CommandProcess
from tests.fakes.faults import Fault, FaultyServer, answer, bomb, seat_of, with_text
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import Raw
from tests.matrix.play import ENV, GAMES, Played, checked, config, history_of, play, server_for, stable
from tests.matrix.rows import ROWS, Row, limited

BY_ID = {row.id: row for row in ROWS}


def struck(row: str, game: str, directory: Path) -> Played:
    """Play a game with a fault of the table."""
    with server_for(BY_ID[row]) as server:
        return play(game, BY_ID[row], server.url(), directory)


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# -- F03


@pytest.mark.parametrize("game", GAMES)
def test_f03_nobody_listens_at_first_and_then_somebody_does(game: str, tmp_path: Path) -> None:
    server = FaultyServer()
    server.port = closed_port()
    server.rebuilt = True
    (tmp_path / "one").mkdir()
    played = play(game, Row(id="F03", fault="ok"), server.url(), tmp_path / "one")
    assert (played.said.code, played.history["status"]) == (3, "stopped_provider")
    assert f"cannot be reached at 127.0.0.1:{server.port} (Connection refused)" in played.said.err
    assert "the first call failed" in played.said.err
    with server.in_thread():
        again = agentsim("resume", "run", cwd=tmp_path / "one", env=ENV)
        assert again.code == 0, again.err
        (tmp_path / "two").mkdir()
        whole = play(game, Row(id="whole", fault="ok"), server.url(), tmp_path / "two")
    assert stable(checked(again, tmp_path / "one").history) == stable(whole.history)


def test_f03_a_server_without_tls_is_named_with_what_base_url_may_have_to_be(tmp_path: Path) -> None:
    with FaultyServer().in_thread() as server:
        url = server.url().replace("http://", "https://")
        played = play("agent_island", Row(id="F03", fault="ok"), url, tmp_path)
    assert played.said.code == 3
    assert f"127.0.0.1:{server.port} does not speak TLS as it should" in played.said.err
    assert "base_url may have to begin with http://" in played.said.err


# -- F09

_MEMORY = """
    import resource, sys
    from agentsim.cli.app import main

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def play(name, url):
        sys.argv = ["agentsim", "run", "--config", "scenario.toml", "--name", name, "--display", "none", "--no-html",
                    "--set", f'providers.lab.base_url="{url}"']
        try:
            main()
        except SystemExit as ended:
            assert ended.code == 0, ended.code

    _, calm, faulty = sys.argv
    play("calm", calm)
    before = peak()
    play("faulty", faulty)
    print(f"grown by {peak() - before:.1f} MiB")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
@pytest.mark.parametrize(
    "fault",
    [bomb(200), lambda _body: Raw(200, b" " * (12 * 10**6)), lambda _body: Raw(500, b"x" * (12 * 10**6))],
    ids=["gzip-of-200-MB", "12-MB", "12-MB-of-error"],
)
@one_in(3)
def test_f09_a_huge_answer_takes_no_memory(fault: Fault, tmp_path: Path) -> None:
    with FaultyServer("ok").in_thread() as calm, FaultyServer(fault).in_thread() as faulty:
        calm.rebuilt = True
        config("auction", calm.url(), tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(_MEMORY), calm.url(), faulty.url()],
            cwd=tmp_path, env={**os.environ, **ENV}, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grown = float(done.stdout.rpartition("grown by ")[2].split()[0])
    assert grown < 30, done.stdout
    codes = {
        attempt["code"]
        for decision in json.loads((tmp_path / "logs" / "faulty.json").read_text())["decisions"]
        for attempt in decision["attempts"]
        if attempt["code"] is not None
    }
    assert codes in ({"bad_envelope"}, {"http_500"})


def test_f09_of_a_long_text_64_kib_are_kept_and_marked(tmp_path: Path) -> None:
    row = BY_ID["F09-300-KB-of-text"]
    with server_for(row) as server:
        history = play("auction", row, server.url(), tmp_path).history
    kept = [text for text in history["texts"] if "[cut: " in text]
    assert kept
    for text in kept:
        words, _, mark = text.rpartition("\n")
        assert len(words.encode()) == 65_536
        assert mark.startswith("[cut: 65,536 of 300,")
    whole = [content_of(body.body) for body in server.received if "seat B" in str(body.body)]
    assert any(hashlib.sha256(text.encode()).hexdigest() in kept[0] for text in whole)


def content_of(body: dict[str, Any]) -> str:
    made = with_text("x" * 300_000)(body).body
    assert isinstance(made, dict)
    return str(made["choices"][0]["message"]["content"])


# -- F21, F34 to F37: what a history keeps


def decided_by_b(history: dict[str, Any]) -> list[dict[str, Any]]:
    return [decision for decision in history["decisions"] if decision["player"] == "B"]


def replies_of(decision: dict[str, Any], history: dict[str, Any]) -> list[str]:
    completions = (attempt["completion"] for attempt in decision["attempts"])
    return [history["texts"][completion["text"]] for completion in completions if completion]


@pytest.mark.parametrize(("row", "words"), [("F21-refusal", "I cannot play this."), ("F21-filter", "half a")])
def test_f21_what_a_refusing_model_said_is_kept_and_its_tokens_count(row: str, words: str, tmp_path: Path) -> None:
    history = struck(row, "agent_island", tmp_path).history
    for decision in decided_by_b(history):
        assert replies_of(decision, history) == [words]
        assert [each["completion"]["usage"]["completion_tokens"] for each in decision["attempts"]] == [5]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("row", ["F34-surrogates", "F35-controls"])
def test_f34_f35_nothing_hidden_gets_through_the_door(row: str, game: str, tmp_path: Path) -> None:
    history = struck(row, game, tmp_path).history
    told = json.dumps([history["rounds"], history["decisions"]], ensure_ascii=False)
    assert not {"\u202e", "\u200b", "\x1b", "\x07", "\U000e0041", "\ud800"} & set(told)
    assert ("lone \ufffd here" if "F34" in row else "abcdef") in told


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("row", ["F28-braces-in-strings", "F37-role-play"])
def test_f28_f37_words_never_change_what_is_done(row: str, game: str, tmp_path: Path) -> None:
    """The choices and numbers beside the text are those that were sent."""
    history = struck(row, game, tmp_path).history
    for decision in decided_by_b(history):
        sent = json.loads(replies_of(decision, history)[-1])
        for key in {"vote", "bid"} & set(sent):
            assert decision["decision"][key] == sent[key]


# -- F20, F27, F40: another answer, another object, another address


class Talkative(FaultyServer):
    """A server without a fault that sends a second answer after A's first one, once that has been read."""

    def _finish(self, connection: Any, name: str, raw: Raw) -> None:
        super()._finish(connection, name, raw)
        if self.asked["A"] == 1 and not self.struck.is_set():
            self.struck.set()
            stale = Raw(body=envelope('{"bid": 1, "reasoning": "stale", "text": "stale", "vote": "C"}')).encoded()
            asyncio.get_running_loop().call_later(0.03, connection.transport.write, stale)


def test_an_answer_that_nobody_asked_for_is_nobodys(tmp_path: Path) -> None:
    server = Talkative(seat="nobody")
    server.latency_s = lambda body: 0.0 if seat_of(body) == "A" else 0.1  # A's connection stays idle
    with server.in_thread():
        history = play("auction", Row(id="unasked", fault="ok"), server.url(), tmp_path).history
    assert server.struck.is_set()
    assert "stale" not in json.dumps([history["texts"], history["decisions"]])
    assert (history["usage"]["failed_calls"], history["usage"]["fallbacks"]) == (0, 0)


def two_objects(body: dict[str, Any]) -> str:
    """Reply with two legal decisions, the good one last."""
    proper = varied_by_schema(body)
    other = json.loads(proper)
    kinds = body["response_format"]["json_schema"]["schema"]["properties"]
    for key, value in other.items():
        choices = kinds[key].get("enum", ())
        other[key] = next((one for one in choices if one != value), 3 if isinstance(value, int) else value)
    return f"{json.dumps(other)}\n{proper}"


def test_f27_of_two_bids_and_of_two_votes_none_counts(tmp_path: Path) -> None:
    row = Row(id="F27-two-objects", fault=answer(two_objects))
    for game, kind in (("auction", "bid"), ("agent_island", "vote")):
        (tmp_path / game).mkdir()
        with server_for(row) as server:
            history = play(game, row, server.url(), tmp_path / game).history
        decided = [decision for decision in decided_by_b(history) if decision["kind"] == kind]
        assert {decision["fallback_reason"] for decision in decided} == {"ambiguous"}


@pytest.mark.parametrize("everybody", [True, False])
def test_f40_where_a_redirect_leads_nothing_is_sent(everybody: bool, tmp_path: Path) -> None:
    """A redirect from the first call on ends the run; after a good one, it may be about the prompt."""
    with FaultyServer().in_thread() as elsewhere:
        elsewhere.rebuilt = True
        location = f"{elsewhere.url()}/chat/completions"
        row = Row(
            id="F40",
            fault=lambda _body: Raw(307, b"", {"Location": location}),
            first=1 if everybody else 2,
            everybody=everybody,
        )
        with server_for(row) as server:
            played = play("auction", row, server.url(), tmp_path)
            if everybody:
                assert (played.said.code, played.history["status"]) == (3, "stopped_provider")
                assert "answers with a redirect, which is not followed; check base_url" in played.said.err
                server.rebuilt = True
                assert agentsim("resume", "run", cwd=tmp_path, env=ENV).code == 0
            else:
                assert (played.said.code, played.history["status"]) == (0, "completed")
                reasons = {decision["fallback_reason"] for decision in decided_by_b(played.history)}
                assert reasons == {None, "redirect"}
    assert elsewhere.connections_made == 0


@pytest.mark.parametrize("slowest", "ABC")
def test_a_host_that_fails_everybody_at_different_speeds_stops_the_run(slowest: str, tmp_path: Path) -> None:
    """The fifth decision in a row without an answer is the last, in the order of requests, at any speed of failures."""
    row = Row(id="outage", fault="http_503", everybody=True, first=2)
    with server_for(row) as server:
        server.latency_s = lambda body: 0.2 if seat_of(body) == slowest else 0.0
        played = play("agent_island", row, server.url(), tmp_path)
        assert (played.said.code, played.history["status"]) == (3, "stopped_provider")
        assert "no answer for 5 decisions in a row" in played.said.err
        server.rebuilt = True
        again = agentsim("resume", "run", cwd=tmp_path, env=ENV)
        assert again.code == 0, again.err
    history = checked(again, tmp_path).history
    lost = [(each["player"], each["kind"]) for each in history["decisions"] if each["source"] == "fallback"]
    assert (history["status"], sorted(lost)) == (
        "completed",
        [("A", "vote"), ("B", "pitch"), ("B", "vote"), ("C", "vote")],
    )


def test_f36_a_long_speech_is_cut_for_all_to_see(tmp_path: Path) -> None:
    history = struck("F36-20-KB-speech", "agent_island", tmp_path).history
    speeches = [e for part in history["rounds"] for e in part["events"] if e["role"] == "player B"]
    assert speeches
    assert all(len(event["content"]) < 5_000 for event in speeches)
    assert any("[cut]" in event["content"] for event in speeches)


def test_f39_who_really_answered_is_on_record(tmp_path: Path) -> None:
    played = struck("F39-other-model", "auction", tmp_path)
    last = [decision["attempts"][-1]["completion"] for decision in decided_by_b(played.history)]
    assert {(each["model"], each["provider"]) for each in last} == {("llama-guard-4", "Elsewhere")}
    (warning,) = played.history["warnings"]
    assert warning["count"] == len(decided_by_b(played.history))
    assert played.said.err.count("the answers come from llama-guard-4") == 1


# -- F42


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    ("fault", "setting", "sign"),
    [
        (limited(retry_after="200"), "limits.concurrency=1", "rate limited"),  # holds for all calls of that provider
        ("http_503", "defaults.retry_wait_s=200.0", "HTTP 503"),
        ("ok", "providers.lab.spacing_ms=200000", None),
    ],
    ids=["retry-after", "retry-wait", "spacing"],
)
@one_in(3)
def test_f42_a_signal_ends_a_wait(fault: Fault, setting: str, sign: str | None, game: str, tmp_path: Path) -> None:
    with FaultyServer(fault, seat=None).in_thread() as server:
        config(game, server.url(), tmp_path)
        words = ("run", "--config", "scenario.toml", "--name", "run", "--display", "plain", "--set", setting)
        env = {**os.environ, **ENV}
        with CommandProcess(*words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            assert server.struck.wait(30)
            said = ""
            while sign is not None and sign not in said:
                line = process.stderr.readline()
                assert line, said
                said += line
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=100)  # half of the shortest wait: the signal ends it
    assert process.returncode == 130, err
    assert max(server.asked.values()) == 1
    assert fault == "http_503" or server.asked.total() == 1
    text = out + said + err
    assert "Traceback" not in text
    assert "canary" not in text
    assert history_of(tmp_path)["status"] == "interrupted"
