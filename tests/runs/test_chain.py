"""Chains of models: the next model takes over if one cannot be reached, this is recorded, and nothing else changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ProviderStopped, ScenarioError
from agentsim.records.journal import DecisionRecord
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.amounts import amounts
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import Raw
from tests.playing import play_scenario, resume_run
from tests.runs.island import BOTS, FOUR, Mendable, decided, journaled, play, resumed, scenario_text, stable

UNWELL = Raw(500, {"error": {"message": "the server is unwell"}})
BUSY = Raw(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, {"Retry-After": "0.01"})
UNREACHABLE = {
    "http_500": UNWELL,
    "bad_envelope": Raw(200, "<html>log in</html>", content_type="text/html"),
    "rate_limited": BUSY,
    "bad_key": Raw(401, {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}),
    "no_credit": Raw(402, {"error": {"message": "Insufficient credits.", "code": 402}}),
    "unknown_model": Raw(404, {"error": {"message": "model 'a' not found", "code": "model_not_found"}}),
    "bad_request": Raw(400, {"error": {"message": "Unsupported value.", "param": "temperature"}}),
}
Answer = Callable[[Mapping[str, Any]], Raw | None]


def chained(url: str, *more: str) -> tuple[str, ...]:
    return (
        'defaults.model=["one/a", "two/b"]',
        *(f'providers.{name}.base_url="{url}"' for name in ("one", "two")),
        "defaults.rate_limit_patience_s=0.02",
        *more,
    )


def faulty(answer: Answer) -> Callable[[dict[str, Any]], str | Raw]:
    """Return a reply function that replies well if `answer` returns None."""
    return lambda body: answer(body) or varied_by_schema(body)


def only(model: str, raw: Raw) -> Answer:
    return lambda body: raw if body["model"] == model else None


def sometimes(body: Mapping[str, Any]) -> Raw | None:
    """Fail for a third of the prompts of `a` and a fifth of those of `b`, always the same ones."""
    draw = int(hashlib.sha256(f"{body['messages']}".encode()).hexdigest(), 16)
    return UNWELL if draw % (3 if body["model"] == "a" else 5) == 0 else None


def asked(server: Mendable) -> str:
    return "".join(received.body["model"] for received in server.received)


def answered_by(decision: DecisionRecord) -> str | None:
    """Return the name in the scenario of the model that replied last, or None."""
    return None if decision.answered is None else decision.answered.model


@pytest.mark.parametrize("code", UNREACHABLE)
def test_the_second_takes_over_when_the_first_cannot_be_reached(server: Mendable, tmp_path: Path, code: str) -> None:
    server.reply = faulty(only("a", UNREACHABLE[code]))
    result = play(server.url(), tmp_path, *chained(server.url()))
    assert (result.status, result.error) == ("completed", None)
    first, *_ = result.typed_history.decisions
    *failed, last = first.attempts
    assert {attempt.code for attempt in failed} == {code}
    assert [attempt.takeover for attempt in failed] == [False] * (len(failed) - 1) + [True]
    assert {attempt.model for attempt in failed} == {"one/a"}
    assert (last.model, last.error, last.takeover) == ("two/b", None, False)
    assert (first.source, first.model) == ("model", "b")
    assert {decision["source"] for decision in result.history["decisions"]} == {"model"}
    takeovers = sum(attempt.takeover for each in result.typed_history.decisions for attempt in each.attempts)
    usage = result.history["usage"]
    assert usage["takeovers"] == takeovers >= 1
    assert sum(part.get("takeovers", 0) for part in usage["by_player"].values()) == takeovers
    assert {player["model"] for player in result.history["players"]} == {"one/a > two/b"}
    assert prove(result.files).complete


def test_the_next_decision_starts_with_the_first_again(server: Mendable, tmp_path: Path) -> None:
    server.reply = faulty(
        lambda body: UNWELL if body["model"] == "a" and decided(dict(body)) == ("B", "pitch") else None
    )
    result = play(server.url(), tmp_path, *chained(server.url()))
    by = {(each.player, each.kind): answered_by(each) for each in result.typed_history.decisions}
    assert by.pop(("B", "pitch")) == "two/b"
    assert set(by.values()) == {"one/a"}


def test_a_run_without_a_takeover_says_nothing_of_any(server: Mendable, tmp_path: Path) -> None:
    result = play(server.url(), tmp_path, *chained(server.url()))
    assert "takeovers" not in result.history["usage"]
    single = play(server.url(), tmp_path, stem="single")
    assert not {"model", "takeover"} & set(single.history["decisions"][0]["attempts"][0])


@pytest.mark.parametrize(
    "raw",
    [
        Raw(200, envelope(None, message={"content": None, "refusal": "I cannot."})),
        Raw(400, {"error": {"message": "Too many.", "code": "context_length_exceeded"}}),
    ],
    ids=["a refusal", "a prompt too long"],
)
def test_who_answers_but_not_this_prompt_is_not_unreachable(server: Mendable, tmp_path: Path, raw: Raw) -> None:
    server.reply = faulty(lambda body: raw if decided(dict(body)) == ("C", "vote") else None)
    result = play(server.url(), tmp_path, *chained(server.url()))
    assert "b" not in asked(server)
    assert result.history["usage"]["fallbacks"] > 0


def test_retries_and_attempts_are_each_model_s_own_and_bad_replies_the_decision_s(
    server: Mendable, tmp_path: Path
) -> None:
    """`a` and its retry fail; `b` fails, answers something unreadable, is asked again with the reason, and answers."""
    told: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        if decided(body) != ("A", "pitch") or len(told) > 4:
            return varied_by_schema(body)
        told.append(body["model"])
        return (UNWELL, UNWELL, UNWELL, '{"tex', varied_by_schema(body))[len(told) - 1]

    server.reply = reply
    result = play(server.url(), tmp_path, *chained(server.url()))
    first = result.typed_history.decisions[0]
    assert told == ["a", "a", "b", "b", "b"], "three attempts are the most, for each of them"
    assert [attempt.code for attempt in first.attempts] == [*("http_500", "http_500", "http_500", "unreadable", None)]
    assert (first.source, answered_by(first)) == ("model", "two/b")


def test_each_attempt_has_the_whole_time(server: Mendable, tmp_path: Path) -> None:
    hung = 'game_config.phases=["votes"]'
    server.latency_s = lambda body: 5.0 if body["model"] == "a" else 0.0
    result = play(server.url(), tmp_path, *chained(server.url(), "defaults.timeout_s=0.3", "defaults.retries=0", hung))
    assert result.status == "completed"
    assert {answered_by(each) for each in result.typed_history.decisions} == {"two/b"}
    assert {each["attempts"][0]["code"] for each in result.history["decisions"] if len(each["attempts"]) > 1} == {
        "timeout"
    }


def test_a_provider_that_failed_five_decisions_in_a_row_is_asked_no_more(server: Mendable, tmp_path: Path) -> None:
    server.reply = faulty(only("a", UNWELL))
    six = "".join(f'[[players]]\nid = "{player}"\n' for player in "ABCDEF")
    play(server.url(), tmp_path, *chained(server.url()), players=six)
    # Pitches are asked one by one, with two calls each to `a`; five of the pitches have failed there.
    assert asked(server).startswith("aab" * 5 + "b")
    assert asked(server).count("a") == 10


def test_a_model_that_was_rejected_is_asked_no_more(server: Mendable, tmp_path: Path) -> None:
    server.reply = faulty(only("a", UNREACHABLE["no_credit"]))
    play(server.url(), tmp_path, *chained(server.url()))
    assert asked(server).startswith("abb")
    assert asked(server).count("a") == 1


def test_who_has_no_other_model_is_stopped_by_what_others_survive(server: Mendable, tmp_path: Path) -> None:
    server.reply = faulty(only("a", UNREACHABLE["no_credit"]))
    players = FOUR.replace('id = "D"\n', 'id = "D"\nmodel = "one/a"\n')
    result = play(server.url(), tmp_path, *chained(server.url()), players=players)
    assert isinstance(result.error, ProviderStopped)
    assert "no credit is left" in str(result.error)
    assert {entry.player for entry in journaled(result.files)} <= set("ABC")


@pytest.mark.parametrize("broken", ["http_500", "no_credit"])
def test_when_nobody_is_left_the_run_stops_and_mended_it_goes_on_with_the_first(
    server: Mendable, tmp_path: Path, broken: str
) -> None:
    whole = play(server.url(), tmp_path, *chained(server.url()), stem="whole")
    server.broken = broken
    result = play(server.url(), tmp_path, *chained(server.url()))
    assert isinstance(result.error, ProviderStopped)
    assert result.error.exit_code == 3
    assert journaled(result.files) == []
    server.broken = None
    again = resumed(result.files)
    assert stable(again.files) == stable(whole.files)


def test_a_first_model_that_was_given_up_is_asked_again_once_a_provider_stopped_the_run(
    server: Mendable, tmp_path: Path
) -> None:
    server.reply = lambda body: UNWELL if body["model"] == "a" or len(server.received) > 12 else varied_by_schema(body)
    result = play(server.url(), tmp_path, *chained(server.url(), "limits.max_fallback_rate=1"))
    assert isinstance(result.error, ProviderStopped)
    assert len(journaled(result.files)) == 8, "the first was passed over by then"
    assert asked(server)[-2:] == "bb", "its last call failed, and its retry"
    server.reply = varied_by_schema
    since = len(server.received)
    again = resumed(result.files)
    assert again.status == "completed"
    # Open requests of the stopped wave prefer no other model any more; from then on the first is asked.
    assert set(asked(server)[since:]) == {"a"}


def test_how_many_calls_run_at_once_never_changes_who_answers(server: Mendable, tmp_path: Path) -> None:
    histories = set()
    for concurrency in (1, 2, 16):
        server.reply = faulty(sometimes)
        server.latency_s = lambda body: int(hashlib.md5(str(body).encode()).hexdigest(), 16) % 7 / 500
        limits = chained(server.url(), f"limits.concurrency={concurrency}", "defaults.max_tokens=1025")
        result = play(server.url(), tmp_path, *limits, stem=f"run{concurrency}")
        assert result.status == "completed", result.error
        assert result.history["usage"]["takeovers"] > 0
        assert result.history["usage"]["fallbacks"] > 0, "neither of the two answers some prompt"
        histories.add(stable(result.files))
    assert len(histories) == 1


@amounts("one_of", 6, 1)
@pytest.mark.parametrize("story", ["sometimes", "dead", "rejected"])
def test_a_run_that_is_cut_anywhere_goes_on_to_the_same_history(
    server: Mendable, tmp_path: Path, story: str, one_of: int
) -> None:
    """The run is cut by a limit after every number of calls: its attempts, failures and takeovers are on disk."""
    answer = {"sometimes": sometimes, "dead": only("a", UNWELL), "rejected": only("a", UNREACHABLE["no_credit"])}[story]
    server.reply = faulty(answer)
    whole: RunResult = play(server.url(), tmp_path, *chained(server.url()), stem="whole")
    wanted, calls = stable(whole.files), whole.history["usage"]["calls"]
    for cut in range(one_of // 2, calls, one_of):
        result = play(server.url(), tmp_path, *chained(server.url(), f"limits.max_calls={cut}"), stem=f"cut{cut}")
        assert result.status == "stopped_budget"
        assert prove(result.files).complete is False
        again = resumed(result.files, max_calls=calls)
        assert again.status == "completed", f"{cut}: {again.error}"
        assert stable(again.files) == wanted, f"cut after {cut} calls"


def test_the_key_of_every_model_is_looked_for_before_the_run(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(scenario_text("http://127.0.0.1:1/v1"), encoding="utf-8")
    scenario = load(config, overrides=('defaults.model=["fake/echo", "openrouter/x/y"]',))
    with pytest.raises(ScenarioError, match="openrouter needs a key"):
        play_scenario(scenario, tmp_path / "logs", env={})
    assert not (tmp_path / "logs").exists()


def test_a_script_may_take_over_and_says_so(server: Mendable, tmp_path: Path) -> None:
    server.broken = "http_500"
    (tmp_path / "canned.json").write_text(json.dumps({"A/vote": [{"vote": "B"}]}), encoding="utf-8")
    players = f'[[players]]\nid = "A"\nmodel = ["fake/echo", "script:canned.json"]\n{BOTS}'
    result = play(server.url(), tmp_path, 'game_config.phases=["votes"]', players=players)
    entries = [entry for entry in journaled(result.files) if entry.player == "A"]
    assert entries[0].source == "script"
    assert entries[0].attempts[-1].model == "script:canned.json"
    again = resume_run(result.files, env={}) if result.error else None
    assert again is None or again.files == result.files


def test_the_dearest_that_may_still_be_called_must_be_affordable(server: Mendable, tmp_path: Path) -> None:
    prices = [
        f'prices."{name}".{kind}={usd}'
        for name, usd in (("one/a", 1.0), ("two/b", 1e6))
        for kind in ("input", "output")
    ]
    result = play(server.url(), tmp_path, *chained(server.url(), *prices, "limits.max_cost_usd=1.0"))
    assert result.status == "stopped_budget"
    assert server.received == []
    with pytest.raises(ScenarioError, match="the price of two/b is unknown"):
        play(server.url(), tmp_path, *chained(server.url(), *prices[:2], "limits.max_cost_usd=1.0"), stem="unpriced")
