"""A history as a log of Inspect, read back by Inspect: every decision, rank, token and cost is the history's."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.load import load_history
from tests.cli.command_line import agentsim, trio
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

if find_spec("inspect_ai") is None:
    pytest.skip("the extra inspect", allow_module_level=True)


def read_eval_log(path: str, **how: Any) -> Any:
    """What Inspect reads; imported here, since each process that looks for tests would wait a second for it."""
    from inspect_ai import log

    return log.read_eval_log(path, **how)


def games(folder: Path, count: int) -> Path:
    """Games of three models at a server that says what it costs."""
    with FakeServer(varied_by_schema).in_thread() as server:
        lab = f'[providers.lab]\nbase_url = "{server.url()}"\n[prices."lab/echo"]\ninput = 100.0\noutput = 300.0\n'
        players = "".join(f'[[players]]\nid = "{name}"\n' for name in "ABC")
        trio(folder, f'game = "agent_island"\n[defaults]\nmodel = "lab/echo"\n{lab}{players}')
        for number in range(count):
            words = ("--name", f"g{number}", "--seed", str(number), "--display", "none", "--no-html")
            assert agentsim("run", "trio.toml", *words, cwd=folder).code == 0
    return folder / "logs"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return games(tmp_path_factory.mktemp("inspect"), 2)


def test_every_decision_rank_token_and_cost_is_the_history_s(logs: Path) -> None:
    said = agentsim("export", "g0", "--format", "inspect", cwd=logs.parent)
    assert (said.code, said.out, said.err) == (0, "logs/g0.eval\n", "")
    history = load_history(logs / "g0.json")
    (sample,) = read_eval_log(str(logs / "g0.eval"), resolve_attachments=True).samples
    infos = [event.data for event in sample.events if event.event == "info" and event.source == "decision"]
    assert sorted((made["index"], made["player"], made["source"], json.dumps(made["decision"])) for made in infos) == [
        (made.index, made.player, made.source, json.dumps(made.decision)) for made in history.decisions
    ]
    assert {made["index"]: (made["fallback_reason"], made["cause"]) for made in infos} == {
        made.index: (made.fallback_reason, made.cause) for made in history.decisions
    }
    assert history.outcome is not None
    assert sample.scores["rank"].value == {each.player: each.rank for each in history.outcome.standings}
    calls = [event for event in sample.events if event.event == "model"]
    assert len(calls) == sum(len(made.attempts) for made in history.decisions) == history.usage.calls
    used: list[Any] = [call.output.usage for call in calls if call.output.usage is not None]
    assert sum(each.input_tokens for each in used) == history.usage.prompt_tokens > 0
    assert sum(each.output_tokens for each in used) == history.usage.completion_tokens > 0
    assert sum(each.total_cost for each in used) == pytest.approx(history.usage.cost_usd)
    asked = {tuple((message.role, message.text) for message in call.input) for call in calls}
    assert asked == {
        tuple((message.role, message.text) for message in attempt.messages)
        for made in history.decisions
        for attempt in made.attempts
    }
    public = [event.content for part in history.rounds for event in part.events if event.visibility == "all"]
    assert [message.text.partition("\n\n")[2] for message in sample.messages] == public
    rounds = [event.name for event in sample.events if event.event == "span_begin" and event.type == "round"]
    assert rounds == [part.title for part in history.rounds]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 4, which Inspect uses as before
def test_a_folder_is_one_log_with_a_sample_for_each_game(logs: Path) -> None:
    assert agentsim("export", "logs", "--format", "inspect", cwd=logs.parent).out == "logs/logs.eval\n"
    log = read_eval_log(str(logs / "logs.eval"))
    assert sorted(sample.id for sample in log.samples) == ["g0", "g1"]
    assert log.eval.model == "lab/echo"
    analysis = pytest.importorskip("inspect_ai.analysis")
    assert sorted(analysis.samples_df(str(logs / "logs.eval"))["id"]) == ["g0", "g1"]
