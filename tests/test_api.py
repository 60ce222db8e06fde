"""The Python API: the functions of the commands, in a program with or without an event loop."""

from __future__ import annotations

import asyncio
import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import agentsim
import agentsim.engine
from agentsim.engine import public
from agentsim.errors import BudgetReached, ScenarioError, TransportFailed, UsageError
from agentsim.records.history import EventRecord
from tests.cli.command_line import ROOT
from tests.test_docs import blocks

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
MINE = {
    "game": "agent_island",
    "seed": 3,
    "defaults": {"model": "bot/random"},
    "players": [{"id": "A", "model": "mine"}, {"id": "B"}, {"id": "C"}, {"id": "D"}],
}


class Echo:
    """A model that takes the first choice of each field."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> str:
        assert call.schema is not None
        assert sampling.timeout_s > 0
        self.calls.append(call.tag)
        fields: dict[str, Any] = call.schema["properties"]
        return json.dumps({name: field["enum"][0] if "enum" in field else "Hm." for name, field in fields.items()})


class Slow(Echo):
    """An echo that counts how many calls it has at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0

    async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        self.now -= 1
        return await super().complete(call, sampling)


class Stuck:
    """A model that never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> agentsim.Completion:
        self.asked.set()
        await asyncio.sleep(3_600)
        raise AssertionError(call, sampling)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a directory with the shipped scenarios."""
    for name in ("configs", "prompts", "items"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_example_of_the_page_runs_in_its_order(folder: Path) -> None:
    names: dict[str, Any] = {}
    found = list(blocks(PAGE, "python"))
    assert len(found) == 4
    for snippet in found:
        exec(compile(snippet, "python.md", "exec"), names)
    assert (folder / "island.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_run_is_what_the_command_would_have_played(tmp_path: Path) -> None:
    heard: list[EventRecord] = []
    run = agentsim.run_sync(MINE, models={"mine": Echo()}, logs_dir=tmp_path, name="one", on_event=heard.append)
    assert (run.name, run.status, run.path) == ("one", "completed", tmp_path / "one.json")
    assert run.history == json.loads(run.path.read_text(encoding="utf-8"))
    assert [(event.seq, event.content) for event in heard] == [(event.seq, event.content) for event in run.events]
    assert run.outcome is not None
    assert run.outcome.winner == run.history["outcome"]["winner"]
    assert len(run.tables["decisions"]) == len(run.decisions)
    assert run.usage.calls == sum(decision.source == "model" for decision in run.decisions)
    proof = agentsim.replay("one", logs_dir=tmp_path)
    assert proof.complete
    loaded = agentsim.load("one", logs_dir=tmp_path)
    assert isinstance(loaded, agentsim.RecordedRun)
    assert loaded.history == run.history


def test_a_mapping_and_a_checked_scenario_are_one_game(tmp_path: Path) -> None:
    checked = agentsim.Scenario.model_validate({**MINE, "players": [{"id": "A"}, {"id": "B"}, {"id": "C"}]})
    first = agentsim.run_sync(checked, logs_dir=tmp_path)
    second = agentsim.run_sync(checked.model_dump(mode="json", exclude_unset=True), logs_dir=tmp_path)
    assert first.events == second.events
    with pytest.raises(ScenarioError, match=r"players\.0\.modle: unknown key"):
        agentsim.Scenario.model_validate({**MINE, "players": [{"id": "A", "modle": "x"}]})


def test_set_puts_values_at_dotted_keys(tmp_path: Path) -> None:
    given = {"players.0.temperature": 0.2, "seed": 9, "game_config.rounds": 2}
    run = agentsim.run_sync(MINE, set=given, models={"mine": Echo()}, logs_dir=tmp_path)
    assert (run.history["seed"], run.history["players"][0]["temperature"]) == (9, 0.2)
    assert run.history["scenario"]["game_config"]["rounds"] == 2
    with pytest.raises(ScenarioError, match=r"--set players\.9\.model: there is no such player"):
        agentsim.run_sync(MINE, set={"players.9.model": "bot/random"}, logs_dir=tmp_path)


async def _several(logs: Path) -> list[agentsim.RecordedRun]:
    games = [agentsim.run(MINE, seed=seed, models={"mine": Echo()}, logs_dir=logs) for seed in (3, 4, 3)]
    return await asyncio.gather(*games)


def test_several_are_played_at_once_and_in_a_running_loop_only_by_await(tmp_path: Path) -> None:
    one, other, same = asyncio.run(_several(tmp_path))
    assert one.events == same.events != other.events
    assert len({one.name, other.name, same.name}) == 3

    async def blocked() -> None:
        with pytest.raises(UsageError, match=r"`await agentsim\.run\(\.\.\.\)`"):
            agentsim.run_sync(MINE, logs_dir=tmp_path / "none")

    asyncio.run(blocked())
    assert not (tmp_path / "none").exists(), "nothing was written"


def test_a_cancelled_run_is_resumed_to_the_same_history(tmp_path: Path) -> None:
    whole = agentsim.run_sync(MINE, models={"mine": Echo()}, logs_dir=tmp_path, name="whole")

    async def cancelled() -> agentsim.RecordedRun:
        stuck = Stuck()
        playing = asyncio.create_task(agentsim.run(MINE, models={"mine": stuck}, logs_dir=tmp_path, name="cut"))
        await stuck.asked.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        cut = agentsim.load("cut", logs_dir=tmp_path)
        assert isinstance(cut, agentsim.RecordedRun)
        assert cut.status == "interrupted"
        return await agentsim.resume("cut", models={"mine": Echo()}, logs_dir=tmp_path)

    assert asyncio.run(cancelled()).events == whole.events
    again = asyncio.run(agentsim.resume("cut", logs_dir=tmp_path))
    assert again.events == whole.events, "a finished run is returned as it is"


def test_a_limit_raises_and_the_run_goes_on_with_a_higher_one(tmp_path: Path) -> None:
    with pytest.raises(BudgetReached) as caught:
        agentsim.run_sync(MINE, set={"limits.max_calls": 1}, models={"mine": Echo()}, logs_dir=tmp_path, name="short")
    assert caught.value.__notes__ == ["agentsim.resume('short') goes on with the run"]
    mine = Echo()
    run = asyncio.run(agentsim.resume("short", models={"mine": mine}, max_calls=99, logs_dir=tmp_path))
    assert run.status == "completed"
    assert run.usage.calls == len(mine.calls) + 1, "nothing is paid for twice"


def test_a_model_of_ones_own_must_be_passed_again(tmp_path: Path) -> None:
    agentsim.run_sync(MINE, models={"mine": Echo()}, logs_dir=tmp_path, name="one")
    with pytest.raises(ScenarioError, match=r"python:mine is .* it passes models=\{'mine': \.\.\.\}"):
        asyncio.run(agentsim.fork("one", at=2, logs_dir=tmp_path))
    with pytest.raises(ScenarioError, match="must be provider/model"):
        agentsim.run_sync(MINE, logs_dir=tmp_path)


def test_a_fork_is_a_run_beside_its_parent(tmp_path: Path) -> None:
    agentsim.run_sync(MINE, models={"mine": Echo()}, logs_dir=tmp_path, name="one")
    branch = asyncio.run(
        agentsim.fork(
            "one", at=2, set={"players.0.temperature": 1.5}, another=True, models={"mine": Echo()}, logs_dir=tmp_path
        )
    )
    assert branch.name == "one_at2_b1"
    assert branch.history["fork"]["changed"] == ["players.0.temperature=1.5"]


@pytest.mark.parametrize("jobs", [None, 1, 3])
def test_branches_are_played_so_many_at_once_in_their_order(tmp_path: Path, jobs: int | None) -> None:
    agentsim.run_sync(MINE, models={"mine": Echo()}, logs_dir=tmp_path, name="one")
    slow = Slow()
    to: dict[str, Any] = {"at": 2, "logs_dir": tmp_path, "models": {"mine": slow}, "jobs": jobs}
    runs = asyncio.run(agentsim.fork_arm("one", arm="hot", branches=3, set={"players.0.temperature": 1.5}, **to))
    assert [run.name for run in runs] == [f"one_at2_{arm}_b{k}" for k in (1, 2, 3) for arm in ("hot", "control")]
    assert slow.most == jobs or (jobs is None and 3 < slow.most <= 6)
    with pytest.raises(UsageError, match=r"--jobs 0: .* \(valid: 1\)"):
        asyncio.run(agentsim.fork_arm("one", arm="mild", branches=3, **{**to, "jobs": 0}))


def test_failures_of_a_model_of_ones_own_are_counted_and_mistakes_in_it_end_the_run(tmp_path: Path) -> None:
    class Failing(Echo):
        async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> str:
            said = await super().complete(call, sampling)
            if len(self.calls) == 2:
                raise TransportFailed("my model is out", code="out")
            if len(self.calls) == 4:
                raise LookupError("a mistake")
            return said

    scenario = {**MINE, "defaults": {"model": "bot/random", "retry_wait_s": 0.0}}
    with pytest.raises(LookupError, match="a mistake"):
        agentsim.run_sync(scenario, models={"mine": Failing()}, logs_dir=tmp_path, name="one")
    run = asyncio.run(agentsim.resume("one", models={"mine": Echo()}, logs_dir=tmp_path))
    assert (run.status, run.usage.failed_calls) == ("completed", 1)


def test_a_slow_model_of_ones_own_has_its_deadline(tmp_path: Path) -> None:
    scenario = {**MINE, "defaults": {"model": "bot/random", "timeout_s": 0.01, "retries": 0}}

    class Slow:
        async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> str:
            await asyncio.sleep(30)
            return ""

    with pytest.raises(agentsim.errors.ProviderStopped, match=r"python:mine: no complete answer within 0\.01 s"):
        agentsim.run_sync(scenario, models={"mine": Slow()}, logs_dir=tmp_path)


def test_a_batch_in_a_loop_is_the_folder_of_its_runs(tmp_path: Path) -> None:
    async def played() -> agentsim.RecordedRuns:
        return await agentsim.batch(MINE, games=3, own_models={"mine": Echo()}, out=tmp_path / "many", jobs=2)

    runs = asyncio.run(played())
    assert runs.names == ("game_0001", "game_0002", "game_0003")
    assert runs["game_0002"].history["seed"] != runs["game_0003"].history["seed"]
    assert set(runs.tables["standings"]["run"]) == set(runs.names)
    assert asyncio.run(played()).names == runs.names, "what is done is not played again"


def test_what_the_package_exports_is_there() -> None:
    for name in agentsim.__all__:
        assert getattr(agentsim, name) is not None
    assert set(agentsim.__all__) <= set(dir(agentsim))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        agentsim.nothing  # type: ignore[attr-defined] # noqa: B018 - reading it is what is tested
    for name in public.__all__:
        assert getattr(agentsim.engine, name) is getattr(public, name)


def test_run_sync_takes_what_run_takes_and_a_typo_is_its_own(tmp_path: Path) -> None:
    one, other = (list(inspect.signature(each).parameters.values()) for each in (agentsim.run, agentsim.run_sync))
    assert one == other
    typo: dict[str, Any] = {"sed": 3}
    with pytest.raises(TypeError, match=r"^run_sync\(\) got an unexpected keyword argument 'sed'"):
        agentsim.run_sync(MINE, logs_dir=tmp_path, **typo)


def test_a_proof_is_printed_without_the_history(tmp_path: Path) -> None:
    agentsim.run_sync(MINE, models={"mine": Echo()}, logs_dir=tmp_path, name="one")
    proof = agentsim.replay("one", logs_dir=tmp_path)
    assert proof.history["game"]
    printed = f"Proof(decisions={proof.decisions}, complete=True)"
    assert str(proof) == repr(proof) == printed
