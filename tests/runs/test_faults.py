"""Whole games with a provider that fails: errors that stop the run, fallbacks, and no lost replies."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import BudgetReached, ProviderStopped
from agentsim.records.journal import DecisionRecord, read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from agentsim.runs.watcher import Watcher
from tests.amounts import one_in
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import Raw
from tests.playing import resume_run
from tests.runs.island import BOTS, FOUR, Mendable, decided, journaled, play, resumed, stable

CALLS = 18  # calls of a game of four without a fault
PRICES = ('prices."fake/echo".input=1000.0', 'prices."fake/echo".output=1000.0')
PRICE = 0.015  # of each call: the server says 10 tokens in and 5 out


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    with Mendable().in_thread() as fake:
        result = play(fake.url(), tmp_path_factory.mktemp("undisturbed"))
        assert result.status == "completed", result.error
        assert fake.completed["ok"] == CALLS
        return stable(result.files)


def failing(which: tuple[str, str], answer: Raw, *, times: int = 10**6) -> Any:
    """Return a reply function with this answer to one player's requests of one kind, at most `times` times."""
    left = [times]

    def reply(body: dict[str, Any]) -> str | Raw:
        if decided(body) == which and left[0] > 0:
            left[0] -= 1
            return answer
        return varied_by_schema(body)

    return reply


UNWELL = Raw(500, {"error": {"message": "the server is unwell"}})


REJECTED = {
    "bad_key": "needs a key, and none was sent",
    "unknown_model": "HTTP 404",
    "no_credit": "no credit is left",
    "quota": "no credit is left",
    "redirect": "redirect, which is not followed",
    "forbidden": "may not use this model",
}


@pytest.mark.parametrize(
    ("broken", "says", "after"),
    [
        pytest.param(broken, says, after, id=f"{'in the middle' if after else 'from the first call'}-{broken}")
        for broken, says in REJECTED.items()
        for after in (0, 6)
        if not (after and broken in {"forbidden", "redirect"})  # then it may be the prompt's: tests/runs/test_answers
    ],
)
@one_in(3)
def test_a_provider_that_rejects_us_stops_the_run_and_mended_it_goes_on_to_the_same_history(  # noqa: PLR0917 - fixtures and cases
    server: Mendable, undisturbed: str, tmp_path: Path, broken: str, says: str, after: int
) -> None:
    def reply(body: dict[str, Any]) -> str:
        if server.started["ok"] == after:
            server.broken = broken  # from the next call on
        return varied_by_schema(body)

    server.reply = reply
    if not after:
        server.broken = broken
    result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert isinstance(result.error, ProviderStopped)
    assert result.error.exit_code == 3
    assert says in str(result.error)
    assert server.started["ok"] == after + 1, "one rejected call is enough"
    assert len(journaled(result.files)) == after
    assert result.history["usage"]["fallbacks"] == 0
    assert read_journal(result.files.journal).stops[-1].status == "stopped_provider"
    assert prove(result.files).decisions == after

    server.broken, server.reply = None, varied_by_schema
    again = resumed(result.files)
    assert (again.status, again.error) == ("completed", None)
    assert stable(again.files) == undisturbed
    assert server.started["ok"] == CALLS + 1, "nothing was paid for twice"


@pytest.mark.parametrize(
    ("broken", "settings", "calls"),
    [
        *((name, (), 2) for name in ("http_500", "http_529", "reset", "html_200", "bad_json", "error_200")),
        # Long enough for good answers on a busy machine, since the resumed run has the same deadline.
        ("hang", ("defaults.timeout_s=1.0", "defaults.retries=0"), 1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@one_in(3)
def test_a_first_decision_that_gets_no_answer_stops_the_run_and_mended_it_goes_on(
    server: Mendable, tmp_path: Path, broken: str, settings: tuple[str, ...], calls: int
) -> None:
    server.broken = broken
    result = play(server.url(), tmp_path, *settings)
    assert result.status == "stopped_provider"
    assert isinstance(result.error, ProviderStopped)
    assert "the first call failed" in str(result.error)
    assert server.started["ok"] == calls, "one retry where the scenario has one"
    assert journaled(result.files) == []
    assert result.history["outcome"] is None

    server.broken = None
    undisturbed = play(server.url(), tmp_path, *settings, stem="whole")
    again = resumed(result.files)
    assert again.status == "completed"
    assert stable(again.files) == stable(undisturbed.files)


def test_a_closed_port_stops_the_run(tmp_path: Path) -> None:
    with Mendable().in_thread() as server:
        url = server.url()
    result = play(url, tmp_path)
    assert result.status == "stopped_provider"
    assert "cannot be reached at 127.0.0.1" in str(result.error)


@pytest.mark.parametrize(
    ("answer", "code", "calls"),
    [
        (UNWELL, "http_500", 2),
        (Raw(200, "<html>log in</html>", content_type="text/html"), "bad_envelope", 2),
        (Raw(200, envelope(None, message={"content": None, "refusal": "I cannot."})), "refusal", 1),
        (Raw(200, envelope(None, finish_reason="content_filter")), "content_filter", 1),
        (Raw(400, {"error": {"message": "Too many.", "code": "context_length_exceeded"}}), "context", 1),
        (Raw(403, {"error": {"message": "Flagged.", "metadata": {"reasons": ["violence"]}}}), "moderation", 1),
    ],
    ids=["http_500", "html", "refusal", "content_filter", "context", "moderation"],
)
def test_a_fault_of_one_decision_is_that_decision_s_fallback(
    server: Mendable, tmp_path: Path, answer: Raw, code: str, calls: int
) -> None:
    server.reply = failing(("C", "vote"), answer)
    result = play(server.url(), tmp_path)
    assert (result.status, result.error) == ("completed", None)
    entries = journaled(result.files)
    fallbacks = [entry for entry in entries if entry.source == "fallback"]
    assert {(entry.player, entry.kind) for entry in fallbacks} == {("C", "vote")}
    assert {entry.fallback_reason for entry in fallbacks} == {code}
    assert all([attempt.code for attempt in entry.attempts] == [code] * calls for entry in fallbacks)
    assert all(dict(entry.decision) == {"explanation": "", "vote": None} for entry in fallbacks)
    usage = result.history["usage"]
    failed = 0 if code in {"refusal", "content_filter"} else calls * len(fallbacks)  # a refusal is a paid answer
    assert (usage["fallbacks"], usage["failed_calls"], usage["reasks"]) == (len(fallbacks), failed, 0)
    assert usage["by_player"]["C"]["failed_calls"] == usage["failed_calls"]
    assert usage["by_player"]["A"]["failed_calls"] == 0
    records = [record for record in result.history["decisions"] if record["source"] == "fallback"]
    assert all(attempt["code"] == code for record in records for attempt in record["attempts"])
    assert prove(result.files).complete


def test_a_single_fault_is_retried_counted_and_changes_nothing_else(
    server: Mendable, undisturbed: str, tmp_path: Path
) -> None:
    server.reply = failing(("B", "pitch"), UNWELL, times=1)
    result = play(server.url(), tmp_path)
    assert result.status == "completed"
    usage = result.history["usage"]
    assert (usage["calls"], usage["failed_calls"], usage["fallbacks"]) == (CALLS + 1, 1, 0)
    decisions = [(entry.player, entry.kind, dict(entry.decision)) for entry in journaled(result.files)]
    whole = play(server.url(), tmp_path, stem="whole")
    assert stable(whole.files) == undisturbed
    assert decisions == [(entry.player, entry.kind, dict(entry.decision)) for entry in journaled(whole.files)]


def test_a_rate_limit_is_waited_out_and_counted(server: Mendable, tmp_path: Path) -> None:
    result = play(server.url("rate_limited"), tmp_path, "defaults.retries=0", "defaults.max_attempts=1")
    assert result.status == "completed"
    usage = result.history["usage"]
    assert (usage["calls"], usage["failed_calls"], usage["fallbacks"]) == (CALLS + 1, 1, 0)
    first = journaled(result.files)[0]
    assert [attempt.code for attempt in first.attempts] == ["rate_limited", None]


def test_five_decisions_in_a_row_without_an_answer_stop_the_run_though_it_had_begun_well(
    server: Mendable, tmp_path: Path
) -> None:
    server.reply = lambda body: varied_by_schema(body) if server.started["ok"] <= 4 else UNWELL
    result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert "no answer for 5 decisions in a row" in str(result.error)
    # The fifth decision is not made: the resumed run asks for it again.
    assert [entry.source for entry in journaled(result.files)] == ["model"] * 4 + ["fallback"] * 4
    assert server.started["ok"] == 4 + 5 * 2, "each had its retry"
    server.reply = varied_by_schema
    again = resumed(result.files)
    assert again.status == "degraded"
    assert [entry.source for entry in journaled(result.files)][4:] == ["fallback"] * 4 + ["model"] * 10


def test_four_decisions_in_a_row_do_not(server: Mendable, tmp_path: Path) -> None:
    server.reply = lambda body: UNWELL if server.started["ok"] in {2, 3, 4, 5} else varied_by_schema(body)
    settings = ("limits.concurrency=1", "limits.max_fallback_rate=1", "defaults.retries=0")
    result = play(server.url(), tmp_path, *settings)
    assert result.status == "completed"
    assert [entry.source for entry in journaled(result.files)][:6] == ["model", *["fallback"] * 4, "model"]
    assert result.history["usage"]["failed_calls"] == 4


@pytest.mark.parametrize(("limit", "status"), [(0.49, "degraded"), (0.5, "completed"), (0.51, "completed")])
def test_a_run_of_more_fallbacks_than_allowed_is_degraded(
    server: Mendable, tmp_path: Path, limit: float, status: str
) -> None:
    server.reply = lambda body: varied_by_schema(body) if decided(body)[1] == "pitch" else "I would rather not say."
    result = play(server.url(), tmp_path, f"limits.max_fallback_rate={limit}")
    votes = [entry for entry in journaled(result.files) if entry.kind == "vote"]
    assert len(votes) * 2 == len(journaled(result.files)), "every vote falls back, and every second decision is one"
    assert (result.status, result.error) == (status, None)
    assert result.history["status"] == status
    assert result.history["usage"]["reasks"] == len(votes)
    assert prove(result.files).complete
    assert resume_run(result.files, env={}).how == "unchanged", "a degraded run is finished"


def test_a_run_is_degraded_by_default_above_a_fifth(server: Mendable, tmp_path: Path) -> None:
    """All 18 decisions are fallbacks, since replies with an open thinking tag are unreadable."""
    server.reply = lambda _: "<think>Whom would I"
    result = play(server.url(), tmp_path)
    assert {entry.source for entry in journaled(result.files)} == {"fallback"}
    assert result.status == "degraded"
    assert result.history["volatile"]["run"]["limits"]["max_fallback_rate"] == 0.2


@pytest.mark.parametrize(("limit", "status"), [(0.2, "degraded"), (1.0, "completed")])
@one_in(2)
def test_a_run_is_degraded_by_one_player_of_ten_decisions(
    server: Mendable, tmp_path: Path, limit: float, status: str
) -> None:
    """Every decision of A is a fallback, and none of the others', which never vote A out."""
    players = "".join(f'[[players]]\nid = "{player}"\n' for player in "ABCDEFGHIJKL")

    def reply(body: dict[str, Any]) -> str:
        player, kind = decided(body)
        if player == "A":
            return "<think>"
        if kind != "vote":
            return varied_by_schema(body)
        ballot = body["response_format"]["json_schema"]["schema"]["properties"]["vote"]["enum"]
        return json.dumps({"explanation": "why", "vote": next(name for name in ballot if name != "A")})

    server.reply = reply
    result = play(server.url(), tmp_path, f"limits.max_fallback_rate={limit}", players=players)
    sources = Counter((entry.player, entry.source) for entry in journaled(result.files))
    assert sources["A", "fallback"] >= 10
    assert sources["A", "fallback"] / sources.total() < 0.2, "the run's own share is below the limit"
    assert result.status == status


@pytest.mark.parametrize(("cap", "calls"), [((), 0), (("defaults.max_tokens=100",), CALLS)])
def test_a_reply_without_a_cap_is_reserved_for_as_16384_tokens(
    server: Mendable, tmp_path: Path, cap: tuple[str, ...], calls: int
) -> None:
    """At a thousand dollars per million tokens this reservation alone exceeds the limit."""
    result = play(server.url(), tmp_path, *PRICES, *cap, "limits.max_cost_usd=16", "limits.concurrency=1")
    assert (result.status, len(server.received)) == ("completed" if calls else "stopped_budget", calls)


@pytest.mark.parametrize("limit", range(0, CALLS, 3))
def test_max_calls_stops_and_a_higher_one_goes_on_to_the_same_history(
    server: Mendable, undisturbed: str, tmp_path: Path, limit: int
) -> None:
    result = play(server.url(), tmp_path, f"limits.max_calls={limit}")
    assert result.status == "stopped_budget"
    assert isinstance(result.error, BudgetReached)
    assert result.error.exit_code == 5
    assert server.started["ok"] == limit == len(journaled(result.files))
    again = resumed(result.files)
    assert again.status == "stopped_budget", "the recorded limit holds until another is given"
    assert server.started["ok"] == limit
    again = resumed(result.files, max_calls=CALLS)
    assert again.status == "completed"
    assert stable(again.files) == undisturbed
    assert server.started["ok"] == CALLS


def test_max_cost_is_never_passed_and_counts_what_earlier_processes_spent(server: Mendable, tmp_path: Path) -> None:
    limit = 40.0  # far above the cost: the reservation of a call is its worst case, 1024 tokens out
    result = play(server.url(), tmp_path, *PRICES, f"limits.max_cost_usd={limit}", "limits.concurrency=1")
    assert result.status == "completed"
    assert result.history["usage"]["cost_usd"] == pytest.approx(CALLS * PRICE)

    small = ("defaults.max_tokens=5", "limits.max_cost_usd=1.0", "limits.concurrency=1")
    result = play(server.url(), tmp_path, *PRICES, *small, stem="small")
    spent = result.history["usage"]["cost_usd"]
    assert result.status == "stopped_budget"
    assert "limits.max_cost_usd = 1 is reached" in str(result.error)
    calls = server.started["ok"]
    again = resumed(result.files)
    assert (again.status, server.started["ok"]) == ("stopped_budget", calls)
    assert again.history["usage"]["cost_usd"] == spent
    again = resumed(result.files, max_cost_usd=limit)
    assert again.status == "completed"
    assert again.history["usage"]["cost_usd"] == pytest.approx(CALLS * PRICE)
    assert server.started["ok"] == calls + CALLS - round(spent / PRICE)


def test_a_bad_reply_that_was_paid_for_is_not_paid_for_again(server: Mendable, tmp_path: Path) -> None:
    """The budget ends between a bad reply and its re-ask; the resumed run begins with the re-ask and its reason."""
    mute = failing(("A", "pitch"), Raw(200, envelope('{"tex')), times=1)
    server.reply = mute
    whole = play(server.url(), tmp_path, stem="whole")
    wanted = stable(whole.files)
    bad = next(n for n, entry in enumerate(journaled(whole.files)) if len(entry.attempts) == 2)
    since = len(server.received)
    server.reply = failing(("A", "pitch"), Raw(200, envelope('{"tex')), times=1)
    result = play(server.url(), tmp_path, f"limits.max_calls={bad + 1}")
    assert result.status == "stopped_budget"
    left = read_journal(result.files.journal).undecided()
    assert [(player, attempt.code) for player, attempt in left] == [("A", "unreadable")]
    assert result.history["usage"]["calls"] == bad + 1, "what was paid for is in the stopped run's usage"
    limited = resumed(result.files, max_calls=bad + 1)
    assert limited.status == "stopped_budget", "the bad call counts"
    again = resumed(result.files, max_calls=CALLS + 1)
    assert again.status == "completed"
    assert stable(again.files) == wanted
    sent = [str(received.body) for received in server.received[since:]]
    assert len(sent) == len(set(sent)) == CALLS + 1, "no call was made twice"


def test_when_one_request_of_a_wave_stops_the_run_the_others_finish_and_are_not_repeated(
    server: Mendable, tmp_path: Path
) -> None:
    whole = play(server.url(), tmp_path, stem="whole")
    server.reply = failing(("C", "vote"), Raw(401, {"error": {"message": "Incorrect API key."}}))
    server.latency_s = lambda body: 0.0 if decided(body) == ("C", "vote") else 0.05
    result = play(server.url(), tmp_path)
    assert result.status == "stopped_provider"
    votes = [entry.player for entry in journaled(result.files) if entry.kind == "vote"]
    assert sorted(votes) == ["A", "B", "D"]
    assert [record["player"] for record in result.history["decisions"] if record["kind"] == "vote"] == votes
    assert prove(result.files).decisions == 4 + 3

    server.reply, server.latency_s = varied_by_schema, 0.0
    since = len(server.received)
    again = resumed(result.files)
    assert again.status == "completed"
    assert stable(again.files) == stable(whole.files)
    asked = [decided(received.body) for received in server.received[since:]]
    assert asked[0] == ("C", "vote")
    assert len(asked) == CALLS - 4 - 3


def test_a_planned_stop_hides_no_mistake_of_ours_in_the_same_wave(server: Mendable, tmp_path: Path) -> None:
    """A's key is wrong, which would stop the run; B, later in the wave, meets a bug, which is raised."""
    server.reply = failing(("A", "vote"), Raw(401, {"error": {"message": "Incorrect API key."}}))
    server.latency_s = lambda body: 0.0 if decided(body) == ("A", "vote") else 0.05

    class Mistaken(Watcher):
        def decided(self, record: DecisionRecord) -> None:
            if (record.player, record.kind) == ("B", "vote"):
                raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        play(server.url(), tmp_path, watcher=Mistaken())
    votes = [entry.player for entry in journaled(RunFiles(tmp_path, "run")) if entry.kind == "vote"]
    assert sorted(votes) == ["B", "C", "D"], "and what was paid for is on disk"


def test_a_first_wave_asks_nobody_else_once_its_first_decision_got_no_answer(server: Mendable, tmp_path: Path) -> None:
    server.broken = "http_500"
    alone = ('game_config.phases=["votes"]', "limits.concurrency=1", "defaults.retries=0")
    assert play(server.url(), tmp_path, *alone).status == "stopped_provider"
    assert server.started["ok"] == 1


def test_a_request_that_waits_for_its_retry_does_not_hold_up_the_end(server: Mendable, tmp_path: Path) -> None:
    """A's vote fails and its retry is due in an hour; then C's vote shows that the key is wrong."""
    stop = Raw(401, {"error": {"message": "no"}})
    answers = {("A", "vote"): UNWELL, ("C", "vote"): stop}
    server.reply = lambda body: answers.get(decided(body)) or varied_by_schema(body)
    server.latency_s = lambda body: 0.1 if decided(body) == ("C", "vote") else 0.0
    result = play(server.url(), tmp_path, "defaults.retry_wait_s=3600.0")
    assert result.status == "stopped_provider"
    assert sorted(entry.player for entry in journaled(result.files) if entry.kind == "vote") == ["B", "D"]


def test_requests_that_wait_for_a_slot_when_the_run_stops_are_never_sent(server: Mendable, tmp_path: Path) -> None:
    answered: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Raw:
        kind = decided(body)[1]
        answered[kind] += 1
        return Raw(401, {"error": {"message": "no"}}) if kind == "vote" else varied_by_schema(body)

    server.reply = reply
    result = play(server.url(), tmp_path, "limits.concurrency=1")
    assert result.status == "stopped_provider"
    assert answered["vote"] == 1


def test_bots_play_on_while_a_provider_fails(server: Mendable, tmp_path: Path) -> None:
    server.reply = lambda body: varied_by_schema(body) if decided(body)[1] == "pitch" else UNWELL
    result = play(server.url(), tmp_path, players=f'[[players]]\nid = "A"\n{BOTS}')
    assert result.status == "degraded", "bots do not thin the share of fallbacks"
    by_source = Counter((entry.player == "A", entry.source) for entry in journaled(result.files))
    assert by_source[True, "fallback"] >= 1
    assert by_source[False, "fallback"] == 0
    assert by_source[False, "bot"] > 0
    assert result.history["usage"]["by_player"]["B"]["calls"] == 0


def test_a_provider_s_faults_are_its_own(server: Mendable, tmp_path: Path) -> None:
    """One of two providers answers only its first call; its four faults do not count for the other."""
    players = FOUR.replace('id = "D"\n', 'id = "D"\nmodel = "other/echo"\nretries = 0\n')
    server.reply = failing(("D", "vote"), UNWELL)
    result = play(server.url(), tmp_path, f'providers.other.base_url="{server.url()}"', players=players)
    assert result.status == "completed"
    fallbacks = {entry.player for entry in journaled(result.files) if entry.source == "fallback"}
    assert fallbacks == {"D"}


def test_a_run_with_a_key_of_ones_own_is_stopped_by_what_the_host_behind_the_gateway_charges(tmp_path: Path) -> None:
    """The gateway charges nothing, the host half a dollar a call."""

    def reply(body: dict[str, Any]) -> Raw:
        own_key = {"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}}
        return Raw(body=envelope(varied_by_schema(body)) | {"usage": {**USED, **own_key}})

    with Mendable(reply).in_thread() as server:
        limits = ("limits.max_cost_usd=1", "limits.concurrency=1", "defaults.max_tokens=5", *CHEAP)
        stopped = play(server.url(), tmp_path, *limits, stem="stopped")
        calls = len(server.received)
        whole = play(server.url(), tmp_path)
    assert isinstance(stopped.error, BudgetReached)
    assert (calls, stopped.error.exit_code, stopped.history["usage"]["cost_usd"]) == (2, 5, 1.0)
    assert (whole.status, whole.history["usage"]["cost_usd"]) == ("completed", CALLS * 0.5)


CHEAP = ('prices."fake/echo".input=0.01', 'prices."fake/echo".output=0.01')
USED = {"prompt_tokens": 1000, "completion_tokens": 100}


def test_a_run_costs_less_for_tokens_that_a_host_says_it_had_cached(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        return Raw(body=envelope(varied_by_schema(body)) | {"usage": {**USED, "prompt_cache_hit_tokens": 900}})

    prices = {"input": 100.0, "output": 1000.0, "cached_input": 10.0}
    with Mendable(reply).in_thread() as server:
        result = play(server.url(), tmp_path, *(f'prices."fake/echo".{name}={usd}' for name, usd in prices.items()))
    usage = result.history["usage"]
    assert (usage["cached_tokens"], usage["cost_usd"]) == (900 * CALLS, pytest.approx(0.119 * CALLS))
