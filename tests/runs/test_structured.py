"""Whole games in every structured mode: the choice of `auto` is recorded, and does not depend on the order of calls."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ScenarioError
from agentsim.models.base import Adjustments
from agentsim.records.journal import read_journal
from agentsim.runs.replay import prove
from agentsim.runs.watcher import Watcher
from agentsim.scenario.load import load
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import BOTS, journaled, play, resumed, scenario_text, stable

SAID = 'fake/echo: the host enforces no JSON schema: replies are asked for with `structured = "json_object"`'
AUTO = 'providers.fake.structured="auto"'


def mode_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("type", "prompt"))


def schemaless(body: dict[str, Any]) -> str | Raw:
    """Reply as a server that accepts JSON objects but no schemas; the reply depends on the whole body."""
    if mode_of(body) == "json_schema":
        return Raw(400, {"error": {"message": "response_format: json_schema is not supported"}})
    question = body["messages"][-1]["content"]
    if '"vote": "<' in question:
        ballot = re.split(", | or ", question.partition('"vote": "<')[2].partition(">")[0])
        return json.dumps({"explanation": "So.", "vote": ballot[len(str(body)) % len(ballot)]})
    return json.dumps({"text": varied_by_schema(body)})


class Seen(Watcher):
    def __init__(self) -> None:
        self.said: list[str] = []

    def warned(self, message: str) -> None:
        self.said.append(message)


def test_auto_steps_down_once_in_a_run_and_the_run_says_so(tmp_path: Path) -> None:
    seen = Seen()
    with FakeServer(schemaless).in_thread() as server:
        result = play(server.url(), tmp_path, AUTO, watcher=seen)
        assert (result.status, result.error) == ("completed", None)
        assert Counter(mode_of(received.body) for received in server.received) == {"json_schema": 1, "json_object": 18}
    assert seen.said.count(SAID) == 1
    assert result.history["volatile"]["negotiated"] == {"fake/echo": {"structured": "json_object"}}
    assert result.history["usage"]["failed_calls"] == 0, "the model had read nothing"
    assert {record["source"] for record in result.history["decisions"]} == {"model"}
    assert prove(result.files).complete


def test_the_same_history_at_any_concurrency(tmp_path: Path) -> None:
    histories = set()
    for concurrency in (1, 3, 16):
        with FakeServer(schemaless, latency_s=lambda body: len(str(body)) % 7 / 200).in_thread() as server:
            result = play(server.url(), tmp_path / str(concurrency), AUTO, f"limits.concurrency={concurrency}")
            assert result.status == "completed"
            histories.add(stable(result.files))
    assert len(histories) == 1


def test_a_resumed_run_goes_on_in_the_mode_that_was_chosen(tmp_path: Path) -> None:
    with FakeServer(schemaless).in_thread() as server:
        whole = play(server.url(), tmp_path, AUTO, stem="whole")
        since = len(server.received)
        result = play(server.url(), tmp_path, AUTO, "limits.max_calls=5")
        assert result.status == "stopped_budget"
        assert read_journal(result.files.journal).negotiated == {"fake/echo": Adjustments(structured="json_object")}
        again = resumed(result.files, max_calls=100)
        assert again.status == "completed"
        modes = Counter(mode_of(received.body) for received in server.received[since:])
    assert modes == {"json_schema": 1, "json_object": 18}, "the refused mode is not tried again"
    assert stable(again.files) == stable(whole.files)
    assert again.history["volatile"]["negotiated"] == {"fake/echo": {"structured": "json_object"}}


def test_a_forced_function_call_decides_and_words_in_its_place_are_asked_again(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> Raw:
        function = body["tools"][0]["function"]
        asked[function["name"]] += 1
        if asked.total() == 1:
            return Raw(200, envelope("Hello, I say this without calling."))
        schema = {"response_format": {"json_schema": {"schema": function["parameters"]}}}
        call = {"function": {"name": function["name"], "arguments": varied_by_schema(schema)}}
        return Raw(200, envelope(None, message={"content": None, "tool_calls": [call]}, finish_reason="tool_calls"))

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, 'providers.fake.structured="tool"', "limits.concurrency=1")
    assert result.status == "completed"
    usage = result.history["usage"]
    assert (usage["calls"], usage["reasks"], usage["fallbacks"]) == (19, 1, 0)
    first = journaled(result.files)[0].attempts[0]
    assert first.completion is not None
    assert first.completion.unusable == first.error == "The reply does not call the function pitch with a JSON object."
    assert "without calling" in first.completion.text, "what was said is kept"
    assert prove(result.files).complete


def test_a_mended_reply_is_counted_and_shown_and_costs_no_second_call(tmp_path: Path) -> None:
    def broken(body: dict[str, Any]) -> str:
        said = json.loads(varied_by_schema(body))
        return str(said) if "text" in said else json.dumps(said)

    with FakeServer(broken).in_thread() as server:
        result = play(server.url(), tmp_path)
        without = play(server.url(), tmp_path, "defaults.repair=false", stem="without")
    usage = result.history["usage"]
    assert (usage["calls"], usage["reasks"], usage["repaired"]) == (18, 0, 9)
    parses = [record["parse"] for record in result.history["decisions"] if record["kind"] == "pitch"]
    assert parses == [{"stage": "repaired", "candidates": 1, "repaired": True}] * 9
    assert prove(result.files).complete
    assert without.history["usage"]["reasks"] == 9
    assert "repaired" not in without.history["usage"]
    assert prove(without.files).complete


@pytest.mark.parametrize(
    ("players", "overrides", "key"),
    [
        ('[[players]]\nid = "A"\ntemperature = 0.5\n', (), "players.0.temperature"),
        (
            '[[players]]\nid = "A"\nclient_kwargs = {temperature = 0.5}\n',
            (),
            "players.0.client_kwargs.temperature",
        ),
    ],
)
def test_a_temperature_for_a_provider_that_takes_none_is_an_error_of_the_scenario(
    tmp_path: Path, players: str, overrides: tuple[str, ...], key: str
) -> None:
    config = tmp_path / "game.toml"
    config.write_text(scenario_text("http://127.0.0.1:9/v1", players + BOTS), encoding="utf-8")
    load(config, overrides=overrides)
    with pytest.raises(ScenarioError, match=r"supports_temperature is false in providers\.fake") as caught:
        load(config, overrides=(*overrides, "providers.fake.supports_temperature=false"))
    assert caught.value.key == key


def test_calls_that_wait_until_the_mode_is_known_are_never_made_where_the_run_stops(tmp_path: Path) -> None:
    """They wait for admission, and are not in flight."""
    rejected = Raw(401, {"error": {"message": "no such key"}})
    with FakeServer(lambda _body: rejected).in_thread() as server:
        stopped = play(server.url(), tmp_path, AUTO, 'game_config.phases=["votes"]')
        assert (stopped.status, len(server.received)) == ("stopped_provider", 1)
