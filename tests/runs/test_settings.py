"""Portable settings in whole runs: one setting for models on every wire, with reports and records."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import agentsim as package
from agentsim.records.journal import read_journal
from agentsim.runs.playback import Playback
from agentsim.runs.recorder import Recorder
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.cli.command_line import agentsim
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario
from tests.runs.island import resumed, stable

SETTINGS = {"reasoning": "low", "seed": 7, "logprobs": True, "temperature": 0.5}
TOKENS = [["Hel", -0.5], ["lo", -0.25]]


def reply(body: dict[str, Any]) -> Raw:
    made = envelope(varied_by_schema(body), model=body["model"])
    made["choices"][0]["logprobs"] = {"content": [{"token": token, "logprob": number} for token, number in TOKENS]}
    return Raw(body=made)


def scenario(url: str, defaults: dict[str, Any] = SETTINGS, players: str = "", providers: str = "") -> str:
    """Three players, one on each wire."""
    said = "".join(f"{name} = {json.dumps(value)}\n" for name, value in defaults.items())
    tables = "".join(
        f'[providers.{wire}]\nbase_url = "{url.replace("/v1", f"~{wire}/v1")}"\nwire = "{wire}"\n'
        for wire in ("chat", "responses", "messages")
    )
    seats = players or "".join(
        f'[[players]]\nid = "{player}"\nmodel = "{wire}/m"\n'
        for player, wire in zip("ABC", ("chat", "responses", "messages"), strict=True)
    )
    return f'game = "agent_island"\nseed = 5\n[defaults]\n{said}{tables}{providers}{seats}'


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "game.toml").write_text(text, encoding="utf-8")
    return folder / "game.toml"


def play(config: Path, *overrides: str, stem: str = "run", **more: Any) -> RunResult:
    return play_scenario(load(config, overrides=overrides), config.parent, env={}, stem=stem, **more)


def bodies(server: FakeServer, wire: str) -> list[dict[str, Any]]:
    """Return the parts of each request that come from settings."""
    names = {"temperature", "reasoning", "reasoning_effort", "seed", "logprobs", "include", "top_logprobs", "thinking"}
    sent = [received.body for received in server.received if f"~{wire}/" in received.path]
    assert sent
    return [{name: body[name] for name in body.keys() & names} for body in sent]


def test_one_setting_is_sent_in_the_words_of_every_wire(tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        result = play(written(tmp_path, scenario(server.url())))
        assert (result.status, result.history["usage"]["fallbacks"]) == ("completed", 0)
        chat = {"temperature": 0.5, "reasoning_effort": "low", "seed": 7, "logprobs": True}
        include = {"include": ["message.output_text.logprobs"], "top_logprobs": 0}
        assert all(body == chat for body in bodies(server, "chat"))
        assert all(
            body == {"temperature": 0.5, "reasoning": {"effort": "low"}, **include}
            for body in bodies(server, "responses")
        )
        thinking = {"type": "enabled", "budget_tokens": 1024}
        assert all(body == {"thinking": thinking} for body in bodies(server, "messages"))
    assert prove(result.files).complete


def test_the_settings_and_the_logprobs_are_on_record(tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        result = play(written(tmp_path, scenario(server.url())))
    history = result.history
    assert [(each["reasoning"], each["seed"], each["logprobs"]) for each in history["players"]] == [
        ("low", 7, True)
    ] * 3
    seat = history["scenario"]["players"][0]
    assert {name: seat[name] for name in SETTINGS} == SETTINGS
    kept = {each["player"]: each["attempts"][0]["completion"].get("logprobs") for each in history["decisions"]}
    assert kept == {"A": TOKENS, "B": None, "C": None}, "the fake gives none on the other wires"
    entries = read_journal(result.files.journal).decisions
    (first, *_) = [entry for _, entry in sorted(entries.items()) if entry.player == "A"]
    completion = first.attempts[0].completion
    assert completion is not None
    assert completion.logprobs == tuple((token, number) for token, number in TOKENS)
    assert prove(result.files).complete


def test_what_is_not_set_is_not_written(tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        config = written(tmp_path, scenario(server.url(), {}))
        result = play(config, reply_source=Recorder(tmp_path / "tape.jsonl"))
        assert all(body == {} for wire in ("chat", "responses", "messages") for body in bodies(server, wire))
    assert not {"reasoning", "seed", "logprobs"} & {
        *result.history["players"][0],
        *result.history["scenario"]["players"][0],
    }
    sent = json.loads((tmp_path / "tape.jsonl").read_text(encoding="utf-8").splitlines()[1])["sent"]
    assert sorted(sent) == ["extra", "max_tokens", "messages", "provider", "schema", "temperature"]


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ('defaults.reasoning="high"', "reasoning has changed"),
        ("defaults.seed=8", "seed has changed"),
        ("defaults.logprobs=false", "logprobs has changed"),
        ('defaults.temperature="default"', "temperature has changed"),
    ],
)
def test_a_recording_is_of_its_settings(override: str, problem: str, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    with FakeServer(reply).in_thread() as server:
        config = written(tmp_path, scenario(server.url()))
        live = play(config, reply_source=Recorder(tape))
    again = play(config, reply_source=Playback([tape]), stem="again")
    assert stable(again.files) == stable(live.files)
    changed = play(config, override, "limits.concurrency=1", stem="changed", reply_source=Playback([tape]))
    assert changed.status == "stopped_provider"
    assert problem in str(changed.error)


def test_a_resumed_run_samples_as_it_began(tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        stopped = play(written(tmp_path, scenario(server.url())), "limits.max_calls=3")
        assert stopped.status == "stopped_budget"
        since = len(server.received)
        assert resumed(stopped.files, max_calls=100).status == "completed"
        for received in server.received[since:]:
            assert received.body.get("reasoning_effort", "low") == "low"
        assert {body["seed"] for body in bodies(server, "chat")} == {7}


def test_default_takes_back_what_the_defaults_say(tmp_path: Path) -> None:
    players = "".join(
        f'[[players]]\nid = "{player}"\nmodel = "chat/{player}"\n{line}\n'
        for player, line in (
            ("A", 'temperature = "default"'),
            ("B", 'reasoning = "default"\nseed = "default"\nlogprobs = false'),
            ("C", 'client_kwargs = {temperature = "default"}'),
        )
    )
    with FakeServer(reply).in_thread() as server:
        result = play(written(tmp_path, scenario(server.url(), players=players)))
        sent = {received.body["model"]: received.body for received in server.received}
    assert ["temperature" in sent[player] for player in "ABC"] == [False, True, False]
    assert ["reasoning_effort" in sent[player] for player in "ABC"] == [True, False, True]
    assert ["seed" in sent[player] for player in "ABC"] == [True, False, True]
    assert ["logprobs" in sent[player] for player in "ABC"] == [True, False, True]
    assert [each["temperature"] for each in result.history["players"]] == [None, 0.5, None]


@pytest.mark.parametrize("override", ['defaults.reasoning="high"', "players.A.reasoning=high"])
def test_set_and_the_python_api_take_the_settings(override: str, tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        config = written(tmp_path, scenario(server.url()))
        key, _, value = override.partition("=")
        play(config, override)
        package.run_sync(config, set={key: value.strip('"')}, logs_dir=tmp_path / "api", env={})
        assert {body["reasoning_effort"] for body in bodies(server, "chat")} == {"high"}


def test_a_default_temperature_is_dropped_for_the_one_model_that_takes_none(tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        config = written(tmp_path, scenario(server.url(), {"temperature": 0.5}))
        result = play(config, "providers.chat.supports_temperature=false")
        assert result.status == "completed"
        assert bodies(server, "chat") == [{}] * len(bodies(server, "chat"))
        assert all(body == {"temperature": 0.5} for body in bodies(server, "messages"))
        config.write_text(
            config.read_text(encoding="utf-8").replace('wire = "chat"', 'wire = "chat"\nsupports_temperature = false'),
            encoding="utf-8",
        )
        said = agentsim("validate", "--config", "game.toml", cwd=tmp_path)
    assert said.code == 0
    assert "chat/m: temperature = 0.5: not sent, since supports_temperature is false" in said.err


NOTES = [
    "responses/m: seed = 7: not sent, since this API has no such parameter",
    'messages/m: reasoning = "low": 1,024 tokens are sent',
    "messages/m: temperature = 0.5: not sent, since a model that thinks takes none there",
    "messages/m: seed = 7: not sent, since this API has no such parameter",
    "messages/m: logprobs = true: not sent, since this API has no such parameter",
]


def test_validate_and_the_display_say_once_what_is_not_sent(tmp_path: Path) -> None:
    with FakeServer(reply).in_thread() as server:
        config = written(tmp_path, scenario(server.url()))
        checked = agentsim("validate", "--config", config.name, cwd=tmp_path)
        played = agentsim("run", "--config", config.name, "--display", "plain", "--no-html", cwd=tmp_path)
    assert (checked.code, played.code) == (0, 0), played.err
    for note in NOTES:
        assert checked.err.count(note) == played.err.count(note) == 1, note


def test_settings_of_bots_are_without_effect(tmp_path: Path) -> None:
    players = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/random"\nreasoning = "low"\n' for player in "ABC")
    written(tmp_path, scenario("http://127.0.0.1:9/ok/v1", {}, players))
    said = agentsim("validate", "--config", "game.toml", cwd=tmp_path)
    assert "reasoning of A, B and C: without effect, since bots, scripts and people take none" in said.err


@pytest.mark.parametrize("command", ["run", "validate", "models"])
def test_a_missing_extra_is_an_error_before_the_first_call(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    players = "".join(f'[[players]]\nid = "{player}"\nmodel = "anthropic/claude-haiku-4-5"\n' for player in "ABC")
    written(tmp_path, scenario("http://127.0.0.1:9/ok/v1", {}, players))
    words = ("models", "anthropic") if command == "models" else (command, "--config", "game.toml")
    said = agentsim(*words, cwd=tmp_path, env={"ANTHROPIC_API_KEY": "sk-ant-x"})
    assert said.code == 2
    line = said.err.splitlines()[-1]
    assert "this provider needs the extra `anthropic` (valid: pip install 'agentsim-games[anthropic]')" in line
    assert line.startswith("agentsim: " if command == "models" else "agentsim: game.toml: players.0.model")
    assert not list(tmp_path.glob("**/*.jsonl"))
