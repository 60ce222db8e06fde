"""`limits.on_provider_failure`: a provider that does not answer stops the run, or costs decisions only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ProviderStopped
from agentsim.history.load import load_history
from agentsim.history.shares import shares_in
from agentsim.runner.replay import prove
from agentsim.runner.session import RunResult, begin
from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runner.island import FOUR, play, resumed, stable

UNWELL = Raw(500, {"error": {"message": "the server is unwell"}})
LOST = ("agent1", "agent2", "agent3")
SOCIETY = """
game = "society"
seed = 1
[defaults]
model = "lab/echo"
reasks = 0
retries = 1
retry_wait_s = 0.0
[limits]
concurrency = 1
max_fallback_rate = 1
on_provider_failure = "{then}"
[game_config]
days = 1
actions_per_day = 2
voting_days = 1
[providers.lab]
base_url = "{url}"
[[players]]
id = "agent"
count = 17
prompt = "You answer."
[[players]]
id = "lost"
count = 3
prompt = "You are lost."
"""


def three_are_lost(body: dict[str, Any]) -> str | Raw:
    return UNWELL if "You are lost." in str(body["messages"]) else varied_by_schema(body)


def society(tmp_path: Path, then: str) -> RunResult:
    """A society of twenty agents, of whom the calls of three always fail."""
    with FakeServer(three_are_lost).in_thread() as fake:
        config = tmp_path / "society.toml"
        config.write_text(SOCIETY.format(then=then, url=fake.url()), encoding="utf-8")
        return begin(load(config), tmp_path, env={})


def test_three_agents_whose_calls_fail_do_not_end_a_society_that_goes_on(tmp_path: Path) -> None:
    result = society(tmp_path, "fallback")
    assert (result.status, result.error) == ("completed", None)
    found = shares_in(load_history(result.files.history))
    lost = {player for player, share in found.by_player.items() if share.host}
    assert len(lost) == 3
    assert all(found.by_player[player].host == found.by_player[player].decisions for player in lost)
    assert found.whole.causes == {"host": found.whole.fallbacks}
    prove(result.files)


def test_three_agents_whose_calls_fail_stop_a_society_by_default(tmp_path: Path) -> None:
    result = society(tmp_path, "stop")
    assert isinstance(result.error, ProviderStopped)


def test_a_provider_that_never_answers_is_played_through(tmp_path: Path) -> None:
    with FakeServer(lambda _: UNWELL).in_thread() as fake:
        went_on = play(fake.url(), tmp_path, 'limits.on_provider_failure="fallback"', players=FOUR)
        stopped = play(fake.url(), tmp_path, players=FOUR, stem="stop")
    assert went_on.status == "degraded"
    assert isinstance(stopped.error, ProviderStopped)


@pytest.mark.parametrize("broken", ["bad_key", "unknown_model", "no_credit"])
def test_a_key_a_model_and_money_end_the_run_all_the_same(broken: str, tmp_path: Path) -> None:
    with FakeServer().in_thread() as fake:
        result = play(fake.url(broken), tmp_path, 'limits.on_provider_failure="fallback"')
    assert isinstance(result.error, ProviderStopped)


def test_a_resumed_run_goes_on_by_the_same_rule(tmp_path: Path) -> None:
    with FakeServer(lambda _: UNWELL).in_thread() as fake:
        rule = 'limits.on_provider_failure="fallback"'
        whole = play(fake.url(), tmp_path / "whole", rule)
        result = play(fake.url(), tmp_path / "cut", rule, "limits.max_calls=9")
        assert result.status == "stopped_budget"
        again = resumed(result.files, max_calls=1000)
    assert again.status == "degraded"
    assert stable(again.files) == stable(whole.files)
