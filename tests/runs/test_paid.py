"""Paid calls are on disk and in the usage, however the run ends, and even if the call failed."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.playback import Playback
from agentsim.runs.recorder import Recorder
from agentsim.runs.replay import prove
from agentsim.scenario.load import load
from tests.cli.processes import CommandProcess
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario
from tests.runs.island import Mendable, decided, journaled, play, resumed, scenario_text, stable
from tests.runs.test_run import wait_until

REFUSED = Raw(200, envelope(None, message={"content": None, "refusal": "I cannot."}))
UNUSABLE = Raw(200, envelope("I would rather not say."))
UNWELL = Raw(500, {"error": {"message": "the server is unwell"}})
VOTES = 'game_config.phases=["votes"]'


def votes(server: Mendable) -> Counter[str]:
    return Counter(decided(received.body)[0] for received in server.received if decided(received.body)[1] == "vote")


@pytest.mark.parametrize(
    ("number", "answer", "calls"),
    [(signal.SIGKILL, REFUSED, 1), (signal.SIGINT, UNUSABLE, 2)],
    ids=["SIGKILL behind a refusal", "SIGINT behind a reply that says nothing"],
)
def test_a_bad_reply_behind_a_call_that_hangs_survives_a_signal(
    server: Mendable, tmp_path: Path, number: signal.Signals, answer: Raw, calls: int
) -> None:
    """A hangs, so B's fallback waits to learn whether the provider answers at all; B's reply is paid for."""
    server.reply = lambda body: answer if decided(body) == ("B", "vote") else varied_by_schema(body)
    server.latency_s = lambda body: {"A": 3600.0, "B": 0.0}.get(decided(body)[0], 0.05)
    config = tmp_path / "game.toml"
    config.write_text(scenario_text(server.url()), encoding="utf-8")
    words = ("run", "--config", "game.toml", "--name", "run", "--set", VOTES, "--display", "none", "--no-html")
    files = RunFiles(tmp_path / "logs", "run")
    with CommandProcess(*words, cwd=tmp_path) as process:
        wait_until(lambda: votes(server)["B"] == calls and files.journal.exists(), "every call of B")
        wait_until(lambda: {entry.player for entry in journaled(files)} == {"C", "D"}, "C and D on disk")
        wait_until(lambda: len(read_journal(files.journal).undecided()) == calls, "B on disk")
        process.send_signal(number)
    server.latency_s = 0.0
    again = resumed(files)
    assert again.status == "degraded", "a fallback of fewer than ten decisions"
    whole = play(server.url(), tmp_path, VOTES, stem="whole")
    assert stable(again.files) == stable(whole.files)


def test_a_bad_reply_that_waits_for_others_survives_a_limit(server: Mendable, tmp_path: Path) -> None:
    """B's refusal waits for A, while C's retry finds no calls left in the limit."""
    failed: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        player = decided(body)[0]
        failed[player] += 1
        if player == "B":
            return REFUSED
        return UNWELL if player == "C" and failed[player] == 1 else varied_by_schema(body)

    server.reply = reply
    server.latency_s = lambda body: {"A": 0.2, "B": 0.0}.get(decided(body)[0], 0.05)
    result = play(server.url(), tmp_path, VOTES, "limits.max_calls=4")
    assert result.status == "stopped_budget"
    assert result.history["usage"]["calls"] == len(server.received) == 4
    server.latency_s = 0.0
    again = resumed(result.files, max_calls=99)
    assert again.status == "degraded"
    sent = Counter(str(received.body) for received in server.received)
    assert [text for text, times in sent.items() if times > 1] == [
        str(received.body) for received in server.received if decided(received.body)[0] == "C"
    ][:1], "C's failed call alone was made again"
    assert again.history["usage"]["calls"] == len(server.received)


def test_every_failed_call_of_a_run_that_never_got_an_answer_is_in_its_usage(server: Mendable, tmp_path: Path) -> None:
    """C, the first in the wave, fails last; a retry that has not begun when the run stops is not made."""
    server.broken = "http_500"
    server.latency_s = lambda body: 0.5 if decided(body)[0] == "C" else 0.0
    result = play(server.url(), tmp_path, VOTES)
    assert result.status == "stopped_provider"
    usage = result.history["usage"]  # the run ends without waiting for the retry of the first
    assert usage["calls"] == usage["failed_calls"] == len(server.received) == 2 * len("ABCD")


def test_calls_before_a_provider_stopped_the_run_are_said_where_the_undisturbed_run_has_none(
    server: Mendable, tmp_path: Path
) -> None:
    server.broken = "http_500"
    stopped = play(server.url(), tmp_path, VOTES)
    failed = len(server.received)
    assert "void_calls" not in stopped.history["volatile"], "its own usage has them"
    server.broken = None
    again = resumed(stopped.files)
    assert again.history["volatile"]["void_calls"] == failed
    assert again.history["usage"]["calls"] + failed == len(server.received)


def test_decisions_up_to_the_one_that_stops_the_run_are_in_its_history(server: Mendable, tmp_path: Path) -> None:
    """The first vote fails last; the decisions after it wait for it, and the fifth failure in a row stays open."""
    voters: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        player, kind = decided(body)
        voters.extend([player] if kind == "vote" else [])
        return UNWELL if kind == "vote" else varied_by_schema(body)

    server.reply = reply
    server.latency_s = lambda body: 0.3 if decided(body)[1] == "vote" and decided(body)[0] == voters[0] else 0.0
    six = "".join(f'[[players]]\nid = "{player}"\n' for player in "ABCDEF")
    stopped = play(server.url(), tmp_path, "defaults.retries=1", "defaults.retry_wait_s=[0]", players=six)
    assert stopped.status == "stopped_provider"
    assert [each["source"] for each in stopped.history["decisions"]] == ["model"] * 6 + ["fallback"] * 4
    assert len(stopped.history["decisions"]) == len(read_journal(stopped.files.journal).decisions)
    assert prove(stopped.files).decisions == len(stopped.history["decisions"])


PRICE = 'prices={"fake/echo"={input=0.0,output=0.0}}'


def broken(cost: float | None) -> Any:
    """Return a reply function that fails once for each prompt, in an answer that is charged for."""
    seen: set[str] = set()

    def reply(body: dict[str, Any]) -> str | Raw:
        said = json.dumps(body["messages"])
        if said in seen:
            return varied_by_schema(body)
        seen.add(said)
        answer = envelope("half an", finish_reason="error")
        return Raw(body=answer | {"usage": {"prompt_tokens": 7, "completion_tokens": 3, "cost": cost}})

    return reply


def test_an_error_in_a_200_costs_what_the_provider_says(tmp_path: Path) -> None:
    with FakeServer(broken(0.25)).in_thread() as server:
        result = play(server.url(), tmp_path, PRICE, "defaults.retries=1")
    usage = result.history["usage"]
    assert (result.status, usage["calls"], usage["failed_calls"]) == ("completed", 36, 18)
    assert usage["cost_usd"] == 18 * 0.25
    assert usage["prompt_tokens"] == 18 * 10 + 18 * 7
    assert (
        sum(decision.usage.cost_usd or 0 for decision in result.typed_history.decisions if decision.usage) == 18 * 0.25
    )


def test_it_counts_against_the_budget_after_a_resume_too(tmp_path: Path) -> None:
    with FakeServer(broken(0.25)).in_thread() as server:
        stopped = play(
            *(server.url(), tmp_path, PRICE, "defaults.retries=1"),
            *("limits.concurrency=1", "limits.max_cost_usd=0.45"),
        )
        assert stopped.status == "stopped_budget"
        assert stopped.history["usage"]["cost_usd"] == 0.5
        calls = len(server.received)
        assert calls == 3, "a failure, its retry, and another failure"
        again = resumed(stopped.files)
        assert again.status == "stopped_budget"
        assert len(server.received) == calls
        assert again.history["usage"] == stopped.history["usage"]


def test_it_is_recorded_and_plays_again(tmp_path: Path) -> None:
    config = tmp_path / "island.toml"
    tape = tmp_path / "tape.jsonl"
    with FakeServer(broken(0.25)).in_thread() as server:
        config.write_text(scenario_text(server.url()), encoding="utf-8")
        live = play_scenario(load(config), tmp_path, env={}, stem="live", reply_source=Recorder(tape))
    again = play_scenario(load(config), tmp_path, env={}, stem="again", reply_source=Playback([tape]))
    assert stable(again.files) == stable(live.files)


def test_tokens_without_a_price_make_the_cost_unknown(tmp_path: Path) -> None:
    with FakeServer(broken(None)).in_thread() as server:
        result = play(server.url(), tmp_path)
    assert result.history["usage"]["unpriced_calls"] == result.history["usage"]["calls"]
