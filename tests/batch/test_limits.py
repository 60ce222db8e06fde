"""What holds for all games of a batch together, and what does not pass from one game to another."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentsim.games import find
from agentsim.records.load import list_runs
from agentsim.records.run_files import RunFiles
from agentsim.runs.batch import executors
from agentsim.runs.batch.executors import Executor, InLoop, InProcesses, WorkerLost, play_task, run_of, task_of
from agentsim.runs.batch.manifest import Design, Manifest, planned
from agentsim.runs.batch.run_batch import Batch
from agentsim.runs.batch.tally import BatchResult, BatchWatcher, GameEnd, Tally
from agentsim.runs.limits import Budget
from agentsim.runs.run import Run, RunOptions
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario
from tests.amounts import one_in
from tests.batch.test_batch import whole
from tests.cli.command_line import ROOT, agentsim, program, trio
from tests.cli.processes import CommandProcess
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario
from tests.runs.island import FOUR, scenario_text

CALLS = 18
"""Of one game of four."""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(varied_by_schema).in_thread() as running:
        yield running


def batch_of(config: Path, games: int, out: Path, *overrides: str) -> Manifest:
    manifest = planned(Design(5, games), [load(config, overrides=overrides)])
    out.mkdir()
    manifest.write(out)
    return manifest


def island(tmp_path: Path, url: str) -> Path:
    config = tmp_path / "island.toml"
    config.write_text(scenario_text(url), encoding="utf-8")
    return config


def play(manifest: Manifest, out: Path, jobs: int = 3, abort_after: int = 0) -> BatchResult:
    return Batch(manifest, out, env={}, jobs=jobs, abort_after=abort_after).run()


def histories(out: Path) -> dict[str, Any]:
    """Lines of one wave may come into a journal in any order; a history has no such freedom."""
    return {name: file for name, file in whole(out).items() if name.endswith(".json")}


def test_how_many_games_run_at_once_changes_none_of_them(server: FakeServer, tmp_path: Path) -> None:
    config = island(tmp_path, server.url())
    for jobs in (1, 3):
        out = tmp_path / f"jobs{jobs}"
        result = play(batch_of(config, 3, out), out, jobs)
        assert (result.exit_code, result.tally.calls) == (0, 3 * CALLS)
    one, other = (
        {name: file for name, file in whole(tmp_path / jobs).items() if name.endswith("json")}
        for jobs in ("jobs1", "jobs3")
    )
    assert one == other
    assert server.started["ok"] == 6 * CALLS


def test_the_slots_at_a_host_are_those_of_all_games_together(server: FakeServer, tmp_path: Path) -> None:
    server.latency_s = 0.005
    out = tmp_path / "b"
    assert play(batch_of(island(tmp_path, server.url()), 4, out, "limits.concurrency=2"), out, 4).exit_code == 0
    assert server.most_in_flight == 2


def test_a_retry_after_holds_back_every_game(server: FakeServer, tmp_path: Path) -> None:
    """The first call of one game is turned away for so long: no other game's call comes before that is over."""
    came: list[float] = []

    def reply(body: dict[str, Any]) -> str | Raw:
        came.append(time.monotonic())
        return Raw(429, b"{}", {"Retry-After": "0.2"}) if len(came) == 1 else varied_by_schema(body)

    server.reply = reply
    out = tmp_path / "b"
    assert play(batch_of(island(tmp_path, server.url()), 3, out, "limits.concurrency=1"), out).exit_code == 0
    assert len(came) == 3 * CALLS + 1
    assert came[1] - came[0] >= 0.19, "others did not wait"


def test_a_limit_of_calls_is_reached_by_all_games_together_and_a_higher_one_goes_on(
    server: FakeServer, tmp_path: Path
) -> None:
    config = island(tmp_path, server.url())
    words = ("--games", "3", "--set", "limits.max_calls=40", "--out", "b", "--json", "--display", "none")
    stopped = agentsim("batch", "--config", str(config), *words, cwd=tmp_path)
    assert (stopped.code, server.started["ok"]) == (5, 40)
    assert "resume b --max-calls N" in stopped.line
    again = agentsim("resume", "b", "--max-calls", "50", "--display", "none", cwd=tmp_path)
    assert (again.code, server.started["ok"]) == (5, 50), "what was used before counts"
    done = agentsim("resume", "b", "--max-calls", "60", "--json", "--display", "none", cwd=tmp_path)
    assert (done.code, server.started["ok"]) == (0, 3 * CALLS), "and is not used again"
    assert json.loads(done.out)["calls"] == 3 * CALLS


def test_a_limit_in_dollars_holds_for_all_games_together(server: FakeServer, tmp_path: Path) -> None:
    """Each call costs 10 + 5 tokens of a million at 1000 dollars: a game 0.27, and no call is made that might pass."""
    prices = '[prices."fake/echo"]\ninput = 1000\noutput = 1000\n'
    config = tmp_path / "island.toml"
    config.write_text(scenario_text(server.url()) + prices, encoding="utf-8")
    out = tmp_path / "b"
    overrides = ("limits.max_cost_usd=3.0", "defaults.max_tokens=20")
    result = play(batch_of(config, 30, out, *overrides), out)
    assert result.exit_code == 5
    assert 0 < result.tally.cost_usd <= 3.0
    assert server.started["ok"] < 30 * CALLS
    assert result.tally.cost_usd == pytest.approx(server.started["ok"] * 0.015)


def test_what_is_priced_and_what_is_not_stay_apart_when_a_batch_goes_on(server: FakeServer, tmp_path: Path) -> None:
    """Of a game's 18 calls those of the seats with a priced model cost 0.015 each; nobody knows the others' price."""
    config = tmp_path / "island.toml"
    players = FOUR.replace('id = "A"', 'id = "A"\nmodel = "fake/dear"')
    prices = '[prices."fake/dear"]\ninput = 1000\noutput = 1000\n'
    config.write_text(scenario_text(server.url(), players) + prices, encoding="utf-8")
    out = tmp_path / "b"
    manifest = batch_of(config, 1, out)
    first = play(manifest, out).tally
    again = play(manifest, out).tally
    assert 0 < first.unpriced_calls < CALLS
    assert first.cost_usd == pytest.approx((CALLS - first.unpriced_calls) * 0.015)
    assert (again.calls, again.unpriced_calls, again.cost_usd) == (CALLS, first.unpriced_calls, first.cost_usd)


def test_a_rejected_key_ends_the_batch_after_so_many_games_in_a_row(server: FakeServer, tmp_path: Path) -> None:
    out = tmp_path / "b"
    result = play(batch_of(island(tmp_path, server.url("bad_key")), 9, out), out, jobs=1, abort_after=2)
    assert (result.exit_code, len(result.ends)) == (3, 2)
    assert {run.status for run in list_runs(out)} == {"stopped_provider"}


def test_a_key_that_is_missing_is_said_before_the_first_game(tmp_path: Path) -> None:
    config = tmp_path / "island.toml"
    config.write_text(scenario_text("http://127.0.0.1:1/v1").replace("fake/echo", "openai/gpt-5-mini"), "utf-8")
    words = ("--games", "9", "--out", "b", "--display", "none")
    refused = agentsim("batch", "--config", str(config), *words, cwd=tmp_path, env={"OPENAI_API_KEY": ""})
    assert (refused.code, "OPENAI_API_KEY" in refused.line) == (2, True)
    assert not list((tmp_path / "b").glob("game*"))


class Breaking(Executor):
    """Plays nothing: a mistake in the rules of every game whose name is in `broken`."""

    def __init__(self, *broken: str) -> None:
        self.broken = broken

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        if files.name in self.broken:
            raise ZeroDivisionError("no votes")
        return GameEnd(files.name, "completed")


def broken(tmp_path: Path, executor: Executor, abort_after: int) -> BatchResult:
    out = tmp_path / "b"
    manifest = batch_of(trio(tmp_path), 6, out)
    return Batch(manifest, out, env={}, jobs=1, abort_after=abort_after, executor=lambda: executor).run()


def test_one_games_failure_touches_no_other(tmp_path: Path) -> None:
    result = broken(tmp_path, Breaking("game_0002", "game_0004"), 2)
    assert dict(result.tally.statuses) == {"completed": 4, "failed": 2}
    assert result.exit_code == 1
    (error,) = {end.error for end in result.ends if end.error}
    assert re.fullmatch(rf"{re.escape(__file__)}:\d+, in play: ZeroDivisionError: no votes", error)


@pytest.mark.usefixtures("without_workers")
def test_a_batch_of_a_broken_game_names_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(*_: object) -> None:
        raise ZeroDivisionError("no votes")

    trio(tmp_path)
    monkeypatch.setattr(type(find("agent_island")), "play", play)
    said = agentsim("batch", "trio.toml", "--games", "2", "--out", "b", "--display", "none", cwd=tmp_path)
    assert (said.code, said.out) == (1, "b: 0 of 2 games done\n")
    place = rf"{re.escape(__file__)}:\d+, in play: ZeroDivisionError: no votes"
    line = rf"agentsim: 2 games came to no result, the last \(game_\d+\) with: {place}; agentsim resume b tries again"
    assert re.fullmatch(line, said.err.strip())


class Costly(Breaking):
    """Ten calls a game, and a tenth of a dollar; remembers what each game was allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed: list[tuple[int | None, float | None]] = []

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        self.allowed.append((scenario.limits.max_calls, scenario.limits.max_cost_usd))
        return GameEnd(files.name, "completed", calls=10, cost_usd=0.1)


def test_who_plays_elsewhere_is_given_what_the_other_games_left(tmp_path: Path) -> None:
    played = Costly()
    out = tmp_path / "b"
    manifest = batch_of(trio(tmp_path), 6, out, "limits.max_calls=25", "limits.max_cost_usd=0.5")
    result = Batch(manifest, out, env={}, jobs=1, executor=lambda: played).run()
    assert played.allowed == [(25, 0.5), (15, pytest.approx(0.4)), (5, pytest.approx(0.3))]
    assert (result.exit_code, "max_calls = 25" in str(result.stopped)) == (5, True)


class Sharing(Costly):
    """Two games at once, as far as it knows; each uses up all that it is allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def open(self) -> int:
        return 2

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        await super().play(scenario, files)
        if len(self.allowed) >= 2:
            self.begun.set()
        await self.begun.wait()
        assert scenario.limits.max_calls is not None
        return GameEnd(files.name, "completed", calls=scenario.limits.max_calls, cost_usd=0.1)


def test_games_that_are_played_elsewhere_at_once_share_what_is_left(tmp_path: Path) -> None:
    played = Sharing()
    out = tmp_path / "b"
    manifest = batch_of(trio(tmp_path), 6, out, "limits.max_calls=25", "limits.max_cost_usd=0.5")
    result = Batch(manifest, out, env={}, jobs=100, executor=lambda: played).run()
    assert [calls for calls, _ in played.allowed[:2]] == [12, 13]
    assert [usd for _, usd in played.allowed[:2]] == pytest.approx([0.25, 0.25])
    assert result.tally.calls == 25, "and not one more"
    assert result.exit_code == 5


def test_a_game_that_was_over_before_its_answer_was_lost_counts_what_it_used(
    server: FakeServer, tmp_path: Path
) -> None:
    out = tmp_path / "b"
    manifest = batch_of(island(tmp_path, server.url()), 1, out)
    assert play(manifest, out).tally.calls == CALLS
    (game,) = manifest.games
    again = play_task(task_of(manifest.scenario(game), RunFiles(out, game.name)))
    assert (again.status, again.calls, again.unpriced_calls) == ("completed", CALLS, CALLS)


@pytest.mark.parametrize("over", [True, False])
def test_what_a_game_used_is_on_the_disk_where_its_player_is_lost(
    over: bool, server: FakeServer, tmp_path: Path
) -> None:
    class Lost(InLoop):
        async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
            await super().play(scenario, files)
            raise executors.ExecutorLost("nobody is there")

    out = tmp_path / "b"
    manifest = batch_of(island(tmp_path, server.url()), 3, out, *(() if over else ("limits.max_calls=7",)))
    made = Lost({}, Budget(), lambda *_: None, {})
    result = Batch(manifest, out, env={}, jobs=1, executor=lambda: made).run()
    assert (result.tally.done, result.tally.calls) == ((1, CALLS) if over else (0, 7))
    assert len(result.ends) == 1, "nobody would play the next"
    assert (result.exit_code, str(result.stopped)) == (1, "nobody is there")


def test_a_game_that_another_worker_still_plays_is_waited_for(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that stood still has lost its game to another, and goes on all the same."""
    out = tmp_path / "b"
    manifest = batch_of(island(tmp_path, server.url()), 1, out)
    (game,) = manifest.games
    files = RunFiles(out, game.name)
    held = run_of(manifest.scenario(game), files, RunOptions({}))
    waited: list[float] = []

    def goes_on(seconds: float) -> None:
        waited.append(seconds)
        held.play_sync()

    monkeypatch.setattr("agentsim.runs.batch.executors.time.sleep", goes_on)
    end = play_task(task_of(manifest.scenario(game), files))
    assert (end.status, end.calls, len(waited)) == ("completed", CALLS, 1)
    assert server.started["ok"] == CALLS


def test_a_game_that_another_worker_has_begun_meanwhile_is_not_played_twice(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that stood still before the game's first line finds its name taken."""
    out = tmp_path / "b"
    manifest = batch_of(island(tmp_path, server.url()), 1, out)
    (game,) = manifest.games
    task = task_of(manifest.scenario(game), RunFiles(out, game.name))

    create = Run.create

    def late(*words: Any, **options: Any) -> Run:
        monkeypatch.setattr(Run, "create", create)
        assert play_task(task).status == "completed"
        return create(*words, **options)

    monkeypatch.setattr(Run, "create", late)
    assert play_task(task).calls == CALLS
    assert server.started["ok"] == CALLS, "paid for once"
    assert {run.name for run in list_runs(out)} == {game.name}


def test_so_many_failures_in_a_row_begin_no_more_games(tmp_path: Path) -> None:
    result = broken(tmp_path, Breaking("game_0002", "game_0003", "game_0005"), 2)
    assert [end.name for end in result.ends] == ["game_0001", "game_0002", "game_0003"]
    assert (result.exit_code, "2 games in a row" in str(result.stopped)) == (1, True)


MONOPOLY = ROOT / "configs" / "monopoly_bots.toml"


async def _killed(scenario: Scenario, files: RunFiles, times: int) -> GameEnd:
    """The game's end, where so many workers are killed as soon as their journal has grown."""
    workers = InProcesses()
    task = asyncio.create_task(workers.play(scenario, files))
    try:
        for _ in range(times):
            size = files.journal.stat().st_size if files.journal.exists() else 0
            while not files.journal.exists() or files.journal.stat().st_size <= size:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.001)
            (worker,) = workers._all
            worker.kill()
            await worker.wait()
        return await task
    finally:
        await workers.aclose()


def test_a_workers_death_costs_its_games_unfinished_part_only(tmp_path: Path) -> None:
    scenario = load(MONOPOLY, seed=3)
    undisturbed = play_scenario(scenario, tmp_path, env={}, stem="game").files
    files = RunFiles(tmp_path / "killed", "game")
    assert asyncio.run(_killed(scenario, files, 1)).status == "completed"
    texts = [each.history.read_text("utf-8").partition('"volatile"')[0] for each in (files, undisturbed)]
    assert texts[0] == texts[1]


def test_what_a_killed_worker_was_writing_is_gone_when_the_batch_ends(tmp_path: Path) -> None:
    out = tmp_path / "b"
    half = out / ".game_0001.json.x.tmp"

    class Killed(BatchWatcher):
        def began(self, tally: Tally) -> None:
            half.write_text("{\n", encoding="utf-8")

    manifest = batch_of(trio(tmp_path), 1, out)
    assert Batch(manifest, out, env={}, jobs=1, watcher=Killed()).run().exit_code == 0
    assert not half.exists()


def test_a_game_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(WorkerLost, match="exit code -9"):
        asyncio.run(_killed(load(MONOPOLY, seed=3), RunFiles(tmp_path, "game"), 2))


@pytest.mark.parametrize("games", [3, 8])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@one_in(2)
def test_a_signal_ends_every_game_in_order_and_resume_asks_nobody_twice(
    number: signal.Signals, games: int, server: FakeServer, tmp_path: Path
) -> None:
    server.latency_s = 0.02
    config = island(tmp_path, server.url())
    words = ("batch", "--config", str(config), "--games", str(games), "--out", "b", "--display", "none")
    process = CommandProcess(*words, cwd=tmp_path, stderr=subprocess.PIPE)
    while server.completed["ok"] < CALLS:
        assert process.poll() is None
        time.sleep(0.005)  # polls what another process asks
    process.send_signal(number)
    assert process.wait(30) == 128 + number
    assert process.stderr is not None
    said = process.stderr.read()
    assert "agentsim resume b" in said
    assert "in a row" not in said, "a game that was stopped has not failed"
    process.stderr.close()
    assert {run.status for run in list_runs(tmp_path / "b")} == {"interrupted"}
    server.latency_s = 0.0
    asked = server.completed["ok"]
    assert agentsim("resume", "b", "--display", "none", cwd=tmp_path).code == 0
    lost = server.started["ok"] - games * CALLS
    assert 0 <= lost <= server.started["ok"] - asked
    assert lost <= 4 * games, "no more than the calls that were in flight"


def test_ctrl_c_at_a_terminal_is_for_the_batch_and_never_a_traceback_of_its_workers(tmp_path: Path) -> None:
    """It goes to every process there; a worker that is only being started knows no answer to it."""
    os.mkfifo(tmp_path / "started")
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, signal\n"
        "if 'agentsim.runs.batch.executors' in sys.orig_argv:\n"
        "    with open('started', 'w') as file:\n"
        "        file.write(str(os.getpgrp()))\n"
        "    signal.pause()\n",
        encoding="utf-8",
    )
    words = ("--config", str(trio(tmp_path)), "--games", "3", "--out", "b", "--display", "none")
    with subprocess.Popen(
        program("batch", *words),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        group = int((tmp_path / "started").read_text("utf-8"))
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, group == process.pid) == (130, False)
    (line,) = stderr.splitlines()
    assert "agentsim resume b" in line
