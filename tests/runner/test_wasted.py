"""Failed calls that were paid for: a provider that says what an error in a 200 cost is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentsim.runner.playback import Playback
from agentsim.runner.recorder import Recorder
from agentsim.runner.session import begin
from agentsim.scenario.load import load
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runner.island import play, resumed, scenario_text, stable

PRICE = 'prices={"fake/echo"={input=0.0,output=0.0}}'


def broken(cost: float | None) -> Any:
    """A server that fails once for each prompt, in the middle of an answer that it charges for."""
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
    assert sum(decision["usage"]["cost_usd"] for decision in result.history["decisions"]) == 18 * 0.25


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
        live = begin(load(config), tmp_path, env={}, stem="live", recording=Recorder(tape))
    again = begin(load(config), tmp_path, env={}, stem="again", recording=Playback([tape]))
    assert stable(again.files) == stable(live.files)


def test_tokens_without_a_price_make_the_cost_unknown(tmp_path: Path) -> None:
    with FakeServer(broken(None)).in_thread() as server:
        result = play(server.url(), tmp_path)
    assert result.history["usage"]["unpriced_calls"] == result.history["usage"]["calls"]
