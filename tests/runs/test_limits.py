"""The limits of a run: a run that reaches one stops and can be resumed; its usage is counted as a provider would."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import BudgetReached, ScenarioError
from agentsim.records.journal import read_journal
from agentsim.runs import run
from agentsim.runs.limits import Budget
from agentsim.scenario.load import load
from tests.cli.command_line import agentsim
from tests.fakes.journals import change_line
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import FOUR, play, resumed, scenario_text, stable

PRICE = 'prices={"fake/echo"={input=100.0,output=100.0}}'


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_time_is_asked_before_each_call_and_earlier_sessions_count() -> None:
    clock = Clock()
    budget = Budget(max_wall_s=10.0, clock=clock)
    budget.add_earlier(3, 0.0, 4.0)
    clock.now += 5.9
    asyncio.run(budget.admit(0.0))
    clock.now += 0.1
    with pytest.raises(BudgetReached, match=r"^limits\.max_wall_s = 10 is reached: 10\.0 s played$"):
        asyncio.run(budget.admit(0.0))
    with pytest.raises(BudgetReached):
        budget.check_time()
    assert budget.calls == 4, "a call that was not admitted is none"


def test_a_run_that_has_had_its_time_stops_and_goes_on_with_more(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        whole = play(server.url(), tmp_path / "whole")
        words = ("--display", "none", "--no-html")
        (tmp_path / "island.toml").write_text(scenario_text(server.url()), encoding="utf-8")
        set_ = ("--set", "limits.max_wall_s=0.000001")
        said = agentsim("run", "--config", "island.toml", "--name", "run", *words, *set_, cwd=tmp_path)
        assert said.code == 5
        assert "limits.max_wall_s = 1e-06 is reached" in said.err
        assert said.err.endswith("go on with: agentsim resume run --max-wall SECONDS\n")
        said = agentsim("resume", "run", *words, cwd=tmp_path)
        assert said.code == 5, "the same limit holds until another is given"
        said = agentsim("resume", "run", "--max-wall", "600", *words, cwd=tmp_path)
        assert said.code == 0, said.err
    files = whole.files.__class__(tmp_path / "logs", "run")
    assert stable(files) == stable(whole.files)


def test_sessions_add_up_by_the_journals_stops(tmp_path: Path) -> None:
    """A resumed run has the rest of the limit that its earlier sessions have left."""
    with FakeServer(varied_by_schema).in_thread() as server:
        stopped = play(server.url(), tmp_path, "limits.max_calls=3", "limits.max_wall_s=500")
        journal = stopped.files.journal
        change_line(journal, '"record":"stop"', lambda line: line.update(wall_s=499.999999))
        assert read_journal(journal).stops[-1].wall_s > 499
        again = resumed(stopped.files, max_calls=99)
        assert again.status == "stopped_budget"
        assert "max_wall_s = 500 is reached" in str(again.error)


def test_what_is_in_flight_finishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit passes while all four votes are in flight; they are answered and kept."""
    clock = Clock()

    def late(_body: Any) -> float:
        clock.now += 60.0 * (len(server.received) == 8)
        return 0.05

    monkeypatch.setattr(run, "Budget", partial(Budget, clock=clock))
    with FakeServer(varied_by_schema, latency_s=late).in_thread() as server:
        stopped = play(server.url(), tmp_path, "limits.max_wall_s=60", "limits.concurrency=4")
        assert stopped.status == "stopped_budget"
        assert len(server.received) == server.completed.total() == stopped.history["usage"]["calls"] == 8
        assert [decision["kind"] for decision in stopped.history["decisions"]] == ["pitch"] * 4 + ["vote"] * 4


def test_a_call_that_was_admitted_in_time_and_whose_turn_comes_too_late_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()

    def late(_body: Any) -> float:
        clock.now += 60.0 * (len(server.received) == 5)
        return 0.0

    monkeypatch.setattr(run, "Budget", partial(Budget, clock=clock))
    with FakeServer(varied_by_schema, latency_s=late).in_thread() as server:
        stopped = play(server.url(), tmp_path, "limits.max_wall_s=60", "providers.fake.spacing_ms=40")
        assert stopped.status == "stopped_budget"
        assert len(server.received) == stopped.history["usage"]["calls"] == 5, "three votes were waiting"


@pytest.mark.parametrize("waits", ["for a retry", "for its turn"])
def test_no_wait_outlasts_the_run_s_time(tmp_path: Path, waits: str) -> None:
    busy = Raw(429, {"error": {"message": "slow down"}}, {"Retry-After": "200"})
    spacing = 200_000 * (waits == "for its turn")
    with FakeServer(varied_by_schema if spacing else lambda _: busy).in_thread() as server:
        limits = ("limits.max_wall_s=0.2", f"providers.fake.spacing_ms={spacing}")
        stopped = play(server.url(), tmp_path, 'game_config.phases=["votes"]', *limits)
        assert len(server.received) == stopped.history["usage"]["calls"]
    assert stopped.status == "stopped_budget"
    assert 0.2 <= stopped.history["volatile"]["wall_s"] < 10
    assert "limits.max_wall_s = 0.2 is reached" in str(stopped.error)


@pytest.mark.parametrize("limit", ["0", "-1", '"ten"', "true"])
def test_a_limit_that_is_no_time_is_refused(tmp_path: Path, limit: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(scenario_text("http://127.0.0.1:9/v1") + f"[limits]\nmax_wall_s = {limit}\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"limits\.max_wall_s"):
        load(path)


def test_an_unknown_price_with_a_limit_in_dollars_is_refused(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        with pytest.raises(ScenarioError, match=r"the price of fake/echo is unknown; add a \[prices"):
            play(server.url(), tmp_path, "limits.max_cost_usd=1.0")
        assert server.received == []


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--max-cost", "inf", "--max-cost: must be a finite number, found inf"),
        ("--max-cost", "1e999", "--max-cost: must be a finite number, found inf"),
        ("--max-wall", "inf", "--max-wall: must be a finite number, found inf"),
        ("--max-wall", "0", "--max-wall: must be a number above 0, found 0.0"),
        (
            "--max-cost",
            "5",
            "--max-cost: the price of fake/echo is unknown, and a run keeps the prices that it began with; limit "
            '--max-calls, or begin a new run with a [prices."fake/echo"] table',
        ),
    ],
    ids=["no end of dollars", "too many dollars", "no end of time", "no time", "dollars without a price"],
)
def test_a_run_goes_on_under_no_limit_that_is_none(tmp_path: Path, option: str, value: str, says: str) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        stopped = play(server.url(), tmp_path, "limits.max_calls=0")
        before = stopped.files.journal.read_bytes(), stopped.files.history.read_bytes()
        words = ("--logs-dir", str(tmp_path), "--display", "none", "--no-html")
        said = agentsim("resume", "run", option, value, *words, cwd=tmp_path)
        assert server.received == []
    assert (said.code, said.out, said.err) == (2, "", f"agentsim: {says}\n")
    assert (stopped.files.journal.read_bytes(), stopped.files.history.read_bytes()) == before, "nothing was written"


def test_a_name_whose_address_leads_elsewhere_has_no_known_price(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        text = scenario_text(server.url()).replace("fake/echo", "openai/gpt-5-mini")
        (tmp_path / "island.toml").write_text(text + "[limits]\nmax_cost_usd = 1.0\n", encoding="utf-8")
        for command in ("run", "validate"):
            env = {"OPENAI_BASE_URL": server.url()}
            said = agentsim(command, "--config", "island.toml", cwd=tmp_path, env=env)
            assert said.code == 2
            assert said.line.startswith("island.toml: limits.max_cost_usd: the price of openai/gpt-5-mini is unknown; ")
        assert server.received == []
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("command", [("run", "--display", "none", "--no-html"), ("validate",)], ids=["run", "validate"])
def test_a_price_of_a_model_that_nobody_plays_with_is_mentioned(tmp_path: Path, command: tuple[str, ...]) -> None:
    price = "input = 1.0\noutput = 1.0\n"
    with FakeServer(varied_by_schema).in_thread() as server:
        prices = f'[prices."fake/ecco"]\n{price}[prices."fake/echo"]\n{price}'
        (tmp_path / "island.toml").write_text(scenario_text(server.url()) + prices, encoding="utf-8")
        said = agentsim(*command, "--config", "island.toml", cwd=tmp_path)
    assert said.code == 0
    assert said.line == 'island.toml: prices."fake/ecco": no player uses this model (did you mean fake/echo?)'


@pytest.mark.parametrize("command", [("run", "--display", "none", "--no-html"), ("validate",)], ids=["run", "validate"])
def test_a_temperature_that_no_player_uses_is_mentioned_unless_it_is_a_default(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    players = ('id = "A"\nmodel = "bot/random"', 'id = "B"\nmodel = "bot/loyal"', 'id = "C"\nmodel = "bot/grudge"')
    tables = "".join(f"[[players]]\n{player}\n" for player in players)
    (tmp_path / "island.toml").write_text(
        f'game = "agent_island"\n[defaults]\ntemperature = 0.5\n{tables}', encoding="utf-8"
    )
    assert agentsim(*command, "island.toml", cwd=tmp_path).err == ""
    own = [word for player in "AC" for word in ("--set", f"players.{player}.temperature=0.2")]
    said = agentsim(*command, "island.toml", *own, cwd=tmp_path)
    assert said.code == 0
    assert said.line == (
        "island.toml: temperature of A and C: without effect, since bots, scripts and people take none"
    )


def uncounted(body: dict[str, Any]) -> Raw:
    """Reply with a completion without a token usage."""
    answer = envelope(varied_by_schema(body))
    del answer["usage"]
    return Raw(body=answer)


def test_a_reply_whose_cost_nobody_says_counts_as_the_most_it_can_have_cost(tmp_path: Path) -> None:
    """Otherwise a host that reports no usage would have no limit."""
    with FakeServer(uncounted).in_thread() as server:
        limits = ("limits.max_cost_usd=0.4", "limits.concurrency=1", "defaults.max_tokens=1000")
        stopped = play(server.url(), tmp_path, PRICE, *limits)
        assert stopped.status == "stopped_budget"
        assert len(server.received) == 2, "0.1 for the reply and nearly as much for the prompt, each"
        assert stopped.history["usage"]["cost_usd"] is None, "what is not known is not said to be 0"
        again = resumed(stopped.files)
        assert again.status == "stopped_budget"
        assert len(server.received) == 2, "after a resume it counts as well"
        assert str(again.error) == str(stopped.error), "and as much"


@pytest.mark.parametrize("text", ["plain words", "漢字カタカナ", "1234567890", '{"a":[1,2,3]}'], ids=str)
def test_the_worst_case_is_never_below_the_estimate(text: str) -> None:
    from agentsim.models.prices import estimated_tokens, most_tokens

    assert most_tokens([text]) >= estimated_tokens([text]) >= 1
    assert estimated_tokens([]) == most_tokens([]) == 0


def test_the_worst_case_counts_bytes_and_the_schema(tmp_path: Path) -> None:
    """Some tokenizers have more tokens than characters for a Chinese prompt."""
    with FakeServer(varied_by_schema).in_thread() as server:
        players = FOUR.replace('id = "A"\n', f'id = "A"\nprompt = "{"漢" * 4000}"\n')
        stopped = play(
            server.url(), tmp_path, PRICE, "limits.max_cost_usd=0.6", "defaults.max_tokens=1", players=players
        )
        assert stopped.status == "stopped_budget", "12,000 bytes are at most 6,000 tokens, 0.6 dollars"
