"""`limits.wave_deadline_s`: decisions that are open at the end of the wave are fallbacks, on record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ScenarioError
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from agentsim.scenario.load import load
from tests.runs.island import Mendable, decided, journaled, play, resumed, scenario_text, stable

DEADLINE = "limits.wave_deadline_s=0.4"
VOTES = 'game_config.phases=["votes"]'
LATE_S = 60.0


def late_for(*players: str) -> Any:
    """Return the latency of the server: 0 but for the votes of these players."""
    return lambda body: LATE_S if decided(body) in {(player, "vote") for player in players} else 0.0


@pytest.fixture
def slow() -> Iterator[Mendable]:
    fake = Mendable(latency_s=late_for("B"))
    with fake.in_thread():
        yield fake


def reasons(files: RunFiles) -> list[tuple[str, str, str | None]]:
    return [(made.player, made.kind, made.fallback_reason) for made in journaled(files) if made.source == "fallback"]


def test_the_late_are_fallbacks_counted_apart_and_the_game_goes_on(slow: Mendable, tmp_path: Path) -> None:
    result = play(slow.url(), tmp_path, DEADLINE, VOTES, "limits.max_fallback_rate=1")
    assert result.status == "completed"
    late = reasons(result.files)
    assert late[0] == ("B", "vote", "wave_deadline")
    assert {reason for *_, reason in late} == {"wave_deadline"}
    usage = result.history["usage"]
    assert (usage["late"], usage["fallbacks"], usage["by_player"]["B"]["late"]) == (len(late),) * 3
    assert "late" not in usage["by_player"]["A"]
    assert usage["calls"] == len(slow.received), "a call whose answer was not waited for was made all the same"
    assert usage["failed_calls"] == len(late)


def test_off_by_default_a_slow_answer_is_waited_for(tmp_path: Path) -> None:
    with Mendable(latency_s=lambda body: 0.6 if decided(body) == ("B", "vote") else 0.0).in_thread() as server:
        result = play(server.url(), tmp_path)
    assert result.history["usage"]["fallbacks"] == 0


def test_replay_proves_a_game_with_late_decisions_without_a_clock(slow: Mendable, tmp_path: Path) -> None:
    result = play(slow.url(), tmp_path, DEADLINE, VOTES)
    proof = prove(result.files)
    assert proof.complete
    assert proof.history["usage"]["late"] > 0


def test_a_game_that_goes_on_from_any_line_is_the_same(slow: Mendable, tmp_path: Path) -> None:
    """One cut is between the abandoned call and its decision."""
    whole = play(slow.url(), tmp_path / "whole", DEADLINE, VOTES)
    lines = whole.files.journal.read_bytes().splitlines(keepends=True)
    given_up = next(n for n, line in enumerate(lines) if b'"record":"attempt"' in line)
    for cut in (given_up, given_up + 1, given_up + 2):
        folder = tmp_path / str(cut)
        folder.mkdir()
        files = RunFiles(folder, "run")
        files.journal.write_bytes(b"".join(lines[:cut]))
        before = len(slow.received)
        resumed(files)
        assert stable(files) == stable(whole.files)
        votes = [decided(each.body) for each in slow.received[before:]].count(("B", "vote"))
        asked = len(reasons(whole.files))
        assert votes == asked - (cut > given_up), "what was given up is not asked again"


def test_what_still_waits_for_its_slot_is_late_without_a_call(slow: Mendable, tmp_path: Path) -> None:
    slow.latency_s = late_for("A", "B", "C", "D")
    result = play(slow.url(), tmp_path, DEADLINE, "limits.concurrency=1", VOTES)
    first = [made for made in journaled(result.files) if made.wave == 1]
    assert [len(made.attempts) for made in first] == [1, 0, 0, 0]
    assert {made.fallback_reason for made in first} == {"wave_deadline"}
    assert result.history["usage"]["calls"] == len(slow.received)
    assert prove(result.files).complete


def test_a_wait_between_two_attempts_ends_with_the_tick(slow: Mendable, tmp_path: Path) -> None:
    slow.latency_s = 0.0
    slow.broken = "http_500"
    result = play(slow.url(), tmp_path, DEADLINE, "defaults.retry_wait_s=60", VOTES)
    first = journaled(result.files)[0]
    assert (first.fallback_reason, [attempt.code for attempt in first.attempts]) == ("wave_deadline", ["http_500"])


def test_calls_that_were_not_waited_for_say_nothing_of_their_provider(slow: Mendable, tmp_path: Path) -> None:
    """There are a dozen in a row, with the first call of the run among them."""
    slow.latency_s = LATE_S
    result = play(slow.url(), tmp_path, "limits.wave_deadline_s=0.05")
    assert (result.status, result.history["usage"]["late"]) == ("degraded", len(result.history["decisions"]))
    assert result.history["usage"]["calls"] == len(result.history["decisions"])


@pytest.mark.parametrize("deadline", ["0", "-1", "true", '"soon"', "inf"])
def test_a_deadline_is_a_positive_number_of_seconds(deadline: str, tmp_path: Path) -> None:
    path = tmp_path / "island.toml"
    path.write_text(scenario_text("http://127.0.0.1:9/v1") + f"[limits]\nwave_deadline_s = {deadline}\n", "utf-8")
    with pytest.raises(ScenarioError, match=r"limits\.wave_deadline_s"):
        load(path)
