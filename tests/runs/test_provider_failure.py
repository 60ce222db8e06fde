"""`limits.on_provider_failure`: a provider without answers stops the run, or costs decisions only."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ProviderStopped
from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.load import load_history
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.amounts import one_in
from tests.fakes.replies import first_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario
from tests.runs.island import FOUR, journaled, play, resumed, stable

SHIPPED = Path(__file__).parents[2] / "configs"
UNWELL = Raw(500, {"error": {"message": "the server is unwell"}})
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
{players}
"""
WELL = '[[players]]\nid = "agent"\ncount = {}\nprompt = "You answer."\n'
ILL = '[[players]]\nid = "lost"\ncount = {}\nprompt = "You are lost."\n'


def three_are_lost(body: dict[str, Any]) -> str | Raw:
    return UNWELL if "You are lost." in str(body["messages"]) else first_by_schema(body)


def society(tmp_path: Path, then: str, well: int, lost: int) -> RunResult:
    """Play a society with `well` agents that are answered, followed by `lost` agents whose calls fail."""
    with FakeServer(three_are_lost).in_thread() as fake:
        config = tmp_path / "society.toml"
        players = WELL.format(well) + ILL.format(lost)
        config.write_text(SOCIETY.format(then=then, url=fake.url(), players=players), encoding="utf-8")
        return play_scenario(load(config), tmp_path, env={})


@pytest.mark.parametrize(
    ("then", "lost"), [("fallback", 3), ("fallback", 6), ("stop", 3)], ids=["goes on", "goes on with six", "stops"]
)
def test_agents_whose_calls_fail_do_not_end_a_society(then: str, lost: int, tmp_path: Path) -> None:
    result = society(tmp_path, then, 17, lost)
    assert (result.status, result.error) == ("completed", None)
    found = fallback_rates_in(load_history(result.files.history))
    named = {player for player, share in found.by_player.items() if share.host}
    assert len(named) == lost
    assert all(found.by_player[player].host == found.by_player[player].decisions for player in named)
    assert found.whole.causes == {"host": found.whole.fallbacks}
    prove(result.files)


def test_five_agents_in_a_row_whose_calls_fail_stop_a_society_by_default(tmp_path: Path) -> None:
    result = society(tmp_path, "stop", 15, 5)
    assert isinstance(result.error, ProviderStopped)
    assert "lab: no answer for 5 decisions in a row" in str(result.error)


def shipped(config: str, tmp_path: Path, lost: tuple[str, ...], *overrides: str) -> RunResult:
    """Play a shipped scenario with a fake host and short waits; calls with a text of `lost` in the prompt fail."""

    def reply(body: dict[str, Any]) -> str | Raw:
        prompt = "".join(str(message["content"]) for message in body["messages"])
        return UNWELL if any(text in prompt for text in lost) else first_by_schema(body)

    with FakeServer(reply).in_thread() as fake:
        host = (f'providers.lab.base_url="{fake.url()}"', 'prices."lab/echo"={input=0,output=0}')
        quick = ("defaults.retry_wait_s=[0]", "defaults.rate_limit_wait_s=0")
        scenario = load(SHIPPED / config, overrides=(*host, *quick, *overrides), model="lab/echo", seed=1)
        return play_scenario(scenario, tmp_path, env={})


def hosts_lost(result: RunResult) -> set[str]:
    found = fallback_rates_in(load_history(result.files.history))
    lost = {player: share for player, share in found.by_player.items() if share.host}
    assert all(share.host == share.decisions for share in lost.values()), "each of them lost every decision"
    return set(lost)


MONOPOLY = ("game_config.max_turns=24", 'staff.summarizer.model="lab/echo"')
SHORT = ("game_config.days=2", "game_config.actions_per_day=2", "game_config.voting_days=1")
THREE = tuple(f"(seat agent{number})" for number in (1, 2, 3))


def test_three_agents_of_a_hundred_whose_calls_fail_do_not_end_the_shipped_society(tmp_path: Path) -> None:
    """The three agents are the first of the run and of every tick."""
    result = shipped("society_seed.toml", tmp_path, THREE, *SHORT)
    assert (result.status, result.error) == ("completed", None)
    assert len(result.history["players"]) == 100
    assert hosts_lost(result) == {"agent1", "agent2", "agent3"}
    prove(result.files)


def test_without_the_rule_of_the_seed_they_end_it(tmp_path: Path) -> None:
    result = shipped("society_seed.toml", tmp_path, THREE, *SHORT, 'limits.on_provider_failure="stop"')
    assert isinstance(result.error, ProviderStopped)


@pytest.mark.parametrize("lost", ["Shark", "Turtle"])
@one_in(2)
def test_a_player_whose_calls_fail_does_not_end_the_shipped_monopoly(lost: str, tmp_path: Path) -> None:
    result = shipped("monopoly_seed.toml", tmp_path, (f"You are {lost}",), *MONOPOLY)
    assert result.error is None
    assert hosts_lost(result) == {lost}


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


# ------------------------------------------------------------------------------------------------- refusals alike

REFUSALS: dict[str, Callable[[int], Raw]] = {
    "403": lambda n: Raw(403, {"error": {"message": f"Zugriff nicht vorgesehen. Vorgang {n:x}-{n * 7919:x}"}}),
    "400": lambda n: Raw(400, {"error": {"message": f"Unerwarteter Zustand (trace {n * 7919:08x})"}}),
    "404": lambda n: Raw(404, {"error": {"message": "Nicht vorhanden", "request_id": f"r{n}"}}),
    "412": lambda n: Raw(412, {"detail": "Voraussetzung fehlt"}),
    "a page": lambda n: Raw(403, f"<html><body>Zugang gesperrt, Nummer {n}</body></html>"),
}
ONE_BY_ONE = ("limits.concurrency=1", "limits.max_fallback_rate=1")


def breaks(refusal: Callable[[int], Raw], after: int, until: int = 10**9) -> Callable[[dict[str, Any]], str | Raw]:
    """Return a reply function that refuses all prompts from the one with this number on; the same prompt alike."""
    prompts: list[str] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        words = json.dumps(body["messages"])
        prompts.extend([words] if words not in prompts else [])
        broken = after <= prompts.index(words) < until
        return refusal(len(prompts)) if broken else first_by_schema(body)

    return reply


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_that_no_table_knows_stops_the_run_at_the_fifth_decision_in_a_row(name: str, tmp_path: Path) -> None:
    with FakeServer(breaks(REFUSALS[name], 4)).in_thread() as fake:
        result = play(fake.url(), tmp_path, *ONE_BY_ONE, players=FOUR)
    assert (result.status, len(journaled(result.files))) == ("stopped_provider", 8)
    assert re.search(
        r"^fake: refuses 5 decisions in a row alike, whatever the prompt; the last: fake/echo: ", str(result.error)
    )
    assert [record.fallback_reason is None for record in journaled(result.files)] == [True] * 4 + [False] * 4


def test_the_decision_that_it_stops_at_is_asked_again_and_what_was_given_up_stays(tmp_path: Path) -> None:
    broken, mended = breaks(REFUSALS["403"], 4), Counter[str]()
    with FakeServer(lambda body: first_by_schema(body) if mended["key"] else broken(body)).in_thread() as fake:
        stopped = play(fake.url(), tmp_path, *ONE_BY_ONE, players=FOUR)
        assert stopped.status == "stopped_provider"
        lost = [record.index for record in journaled(stopped.files) if record.fallback_reason == "forbidden"]
        mended["key"] += 1
        again = resumed(stopped.files)
    assert again.status == "completed"
    found = [record.index for record in journaled(again.files) if record.fallback_reason is not None]
    assert found == lost
    assert len(lost) == 4
    assert prove(again.files).complete


def test_a_resumed_run_that_is_refused_again_stops_again(tmp_path: Path) -> None:
    with FakeServer(breaks(REFUSALS["400"], 4)).in_thread() as fake:
        stopped = play(fake.url(), tmp_path, *ONE_BY_ONE, players=FOUR)
        again = resumed(stopped.files)
    assert (stopped.status, again.status) == ("stopped_provider", "stopped_provider")
    assert "refuses 5 decisions in a row alike" in str(again.error)


def test_a_run_that_was_cut_short_counts_the_refusals_before(tmp_path: Path) -> None:
    with FakeServer(breaks(REFUSALS["403"], 4)).in_thread() as fake:
        cut = play(fake.url(), tmp_path, *ONE_BY_ONE, "limits.max_calls=6", players=FOUR)
        assert cut.status == "stopped_budget"
        again = resumed(cut.files, max_calls=99)
    assert again.status == "stopped_provider"
    assert len(journaled(again.files)) == 8


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_alike_cost_decisions_where_the_run_is_to_go_on(name: str, tmp_path: Path) -> None:
    with FakeServer(breaks(REFUSALS[name], 4)).in_thread() as fake:
        result = play(fake.url(), tmp_path, *ONE_BY_ONE, 'limits.on_provider_failure="fallback"', players=FOUR)
    assert (result.status, result.error) == ("completed", None)
    assert result.history["usage"]["fallbacks"] == len(result.history["decisions"]) - 4


def test_how_many_calls_run_at_once_does_not_decide_whether_refusals_stop_a_run(tmp_path: Path) -> None:
    """From the second round on, two of the players are refused, then all of them."""

    def refuses(players: str) -> Callable[[dict[str, Any]], str | Raw]:
        def reply(body: dict[str, Any]) -> str | Raw:
            words = str(body["messages"])
            lost = "round 2" in words.lower() and any(f"You are player {player}." in words for player in players)
            return REFUSALS["403"](7) if lost else first_by_schema(body)

        return reply

    for players in ("AB", "ABCD"):
        found = set()
        for concurrency in (1, 3, 16):
            fake = FakeServer(refuses(players), latency_s=lambda body: len(str(body)) % 7 / 200)
            rule = (f"limits.concurrency={concurrency}", "limits.max_fallback_rate=1")
            with fake.in_thread():
                result = play(fake.url(), tmp_path / f"{players}{concurrency}", *rule, players=FOUR)
            decisions = [(record.index, record.fallback_reason) for record in journaled(result.files)]
            found.add((result.status, str(result.error), str(decisions) if players == "AB" else ""))
        ((status, _, written),) = found
        assert (status, "forbidden" in written) == (
            ("completed", True) if players == "AB" else ("stopped_provider", False)
        )


COSTS_ONE = {
    "a context": Raw(400, {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
    "a filter": Raw(400, {"error": {"message": "Content Exists Risk"}}),
}


@pytest.mark.parametrize("name", COSTS_ONE)
def test_contexts_and_filters_stop_no_run_however_many_in_a_row(name: str, tmp_path: Path) -> None:
    with FakeServer(breaks(lambda _: COSTS_ONE[name], 4)).in_thread() as fake:
        result = play(fake.url(), tmp_path, *ONE_BY_ONE, players=FOUR)
    assert (result.status, result.error) == ("completed", None)


def test_four_refusals_in_a_row_cost_four_decisions(tmp_path: Path) -> None:
    with FakeServer(breaks(REFUSALS["400"], 4, 8)).in_thread() as fake:
        result = play(fake.url(), tmp_path, *ONE_BY_ONE, players=FOUR)
    assert (result.status, result.history["usage"]["fallbacks"]) == ("completed", 4)
