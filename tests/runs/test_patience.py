"""Hosts that ask for longer waits than a decision's patience: a fallback, or a stop if all calls must wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ProviderStopped
from agentsim.records.history import dump_history
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from tests.fakes.replies import first_by_schema, varied_by_schema
from tests.fakes.server import Raw
from tests.runs.island import FOUR, Mendable, journaled, play, resumed, stable

CALLS = 18
GOOD = 6  # calls that are answered before the host asks for waits
DATE = format_datetime(datetime.now(UTC), usegmt=True)
TOMORROW = datetime.now(UTC) + timedelta(days=1)


def limited(status: int = 429, *, more: dict[str, Any] | None = None, **headers: str) -> Raw:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Raw(status, {"error": {"message": "come back later", "code": status, **(more or {})}}, named)


FAR = {
    "seconds": limited(retry_after="99999999999"),
    "milliseconds": limited(retry_after_ms="3600000"),
    "a date": limited(retry_after="Thu, 01 Jan 2099 00:00:00 GMT", date=DATE),
    "1e9d": limited(retry_after="1e9d"),
    "a day": limited(retry_after="1d"),
    "503": limited(503, retry_after="3600"),
    "a window": limited(x_ratelimit_remaining="0", x_ratelimit_reset=f"{TOMORROW.timestamp():.0f}000", date=DATE),
    "RetryInfo": limited(more={"details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "86400s"}]}),
}


def from_then_on(server: Mendable, answer: Raw) -> None:
    server.reply = lambda body: answer if len(server.received) > GOOD else varied_by_schema(body)


def fallbacks(result: RunResult) -> int:
    return sum(entry.source == "fallback" for entry in journaled(result.files))


@pytest.mark.parametrize("answer", FAR.values(), ids=FAR)
def test_a_limit_beyond_all_patience_costs_one_decision_and_stops_the_run(
    server: Mendable, tmp_path: Path, answer: Raw
) -> None:
    from_then_on(server, answer)
    result = play(server.url(), tmp_path, "limits.concurrency=1")  # each wait is longer than the time limit of a test
    assert isinstance(result.error, ProviderStopped)
    assert result.error.exit_code == 3
    assert "rate_limit_patience_s" in str(result.error)
    assert "come back later" in str(result.error)
    assert len(server.received) == GOOD + 2, "one call for the decision that fell back, and one that found it confirmed"
    assert (len(journaled(result.files)), fallbacks(result)) == (GOOD + 1, 1)
    assert prove(result.files).decisions == GOOD + 1

    again = resumed(result.files)
    assert isinstance(again.error, ProviderStopped)
    assert len(server.received) == GOOD + 3
    assert fallbacks(again) == 1, "whoever comes back too soon loses no decision by that"

    server.reply = varied_by_schema
    whole = resumed(result.files)
    assert (whole.status, fallbacks(whole)) == ("completed", 1)


@pytest.mark.parametrize("answer", [limited(), limited(retry_after="0.01"), limited(retry_after="soon")])
def test_a_limit_that_never_says_when_it_ends_stops_the_run_after_the_patience_of_two_decisions(
    server: Mendable, tmp_path: Path, answer: Raw
) -> None:
    from_then_on(server, answer)
    result = play(server.url(), tmp_path, "limits.concurrency=1", "defaults.rate_limit_patience_s=0.03")
    assert isinstance(result.error, ProviderStopped)
    assert "rate_limit_patience_s" in str(result.error)
    assert (len(journaled(result.files)), fallbacks(result)) == (GOOD + 1, 1)


def test_the_run_stops_by_the_verdict_that_the_journal_has(server: Mendable, tmp_path: Path) -> None:
    """The first wait is within the patience, the second is not: each is judged with the call that has just failed."""
    from_then_on(server, limited())
    result = play(server.url(), tmp_path, "limits.concurrency=1", "defaults.rate_limit_wait_s=[0.0, 400.0]")
    assert isinstance(result.error, ProviderStopped)
    assert [attempt.exceeds_patience for attempt in journaled(result.files)[-1].attempts] == [False, True]
    assert len(server.received) == GOOD + 4
    assert (len(journaled(result.files)), fallbacks(result)) == (GOOD + 1, 1)


def test_how_many_calls_run_at_once_decides_nothing_of_that(server: Mendable, tmp_path: Path) -> None:
    """B and C are rate limited at every vote, and are neighbors in the first wave of votes of this seed."""

    def reply(body: dict[str, Any]) -> str | Raw:
        words = str(body["messages"])
        return FAR["seconds"] if "seat B" in words or "seat C" in words else varied_by_schema(body)

    server.reply = reply
    players = "".join(f'[[players]]\nid = "{each}"\nprompt = "You have seat {each}."\n' for each in "ABCD")
    ends = set()
    for concurrency in (1, 2, 16):
        server.latency_s = 0.002 * concurrency
        limits = ('game_config.phases=["votes"]', f"limits.concurrency={concurrency}", "seed=3")
        result = play(server.url(), tmp_path, *limits, stem=f"run{concurrency}", players=players)
        assert isinstance(result.error, ProviderStopped)
        lost = tuple(entry.player for entry in journaled(result.files) if entry.source == "fallback")
        ends.add((str(result.error), fallbacks(result), lost))
    assert len(ends) == 1


def test_an_answer_in_between_shows_that_it_does_not_hold_for_all(server: Mendable, tmp_path: Path) -> None:
    """B votes at least twice, in the game or on the jury; C or D is answered between its votes."""
    players = "".join(f'[[players]]\nid = "{each}"\nprompt = "You have seat {each}."\n' for each in "ABCD")
    server.reply = lambda body: FAR["seconds"] if "seat B" in str(body["messages"]) else first_by_schema(body)
    limits = ('game_config.phases=["votes"]', "limits.max_fallback_rate=1.0")
    result = play(server.url(), tmp_path, *limits, players=players)
    assert result.status == "completed"
    assert fallbacks(result) > 1
    assert {entry.player for entry in journaled(result.files) if entry.source == "fallback"} == {"B"}


def test_one_model_s_limit_is_not_lifted_by_another_s_answers(server: Mendable, tmp_path: Path) -> None:
    """Both models have one provider; the answers of one do not lift the limit of the other, so the run stops."""
    players = FOUR.replace('id = "A"\n', 'id = "A"\nmodel = "fake/other"\n')
    server.reply = lambda body: FAR["seconds"] if body["model"] == "other" else varied_by_schema(body)
    result = play(server.url(), tmp_path, "limits.max_fallback_rate=1.0", players=players)
    assert isinstance(result.error, ProviderStopped)
    assert fallbacks(result) == 1


def test_who_has_another_model_is_stopped_by_no_limit_and_waits_for_none(server: Mendable, tmp_path: Path) -> None:
    server.reply = lambda body: FAR["seconds"] if body["model"] == "a" else varied_by_schema(body)
    chain = ('defaults.model=["one/a", "two/b"]', *(f'providers.{n}.base_url="{server.url()}"' for n in ("one", "two")))
    whole = play(server.url(), tmp_path, *chain, stem="whole")
    assert whole.status == "completed"
    assert {each.answered and each.answered.model for each in whole.typed_history.decisions} == {"two/b"}
    cut = play(server.url(), tmp_path, *chain, "limits.max_calls=9", stem="cut")
    again = resumed(cut.files, max_calls=99)
    assert stable(again.files) == stable(whole.files)
    assert '"held"' not in dump_history(whole.typed_history)
