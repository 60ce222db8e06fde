"""Hosts behind one model: one warning if they differ, separate results, and `pin` to keep one of them."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from agentsim.models.profiles import WireName, is_host
from agentsim.runs.replay import prove
from agentsim.runs.watcher import Watcher
from tests.amounts import each_row, one_in
from tests.cli.command_line import agentsim
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw, Reply
from tests.fakes.wires import from_chat
from tests.models.test_streams import chunk, stream
from tests.runs.island import FOUR, Mendable, play, resumed, stable

pytestmark = pytest.mark.usefixtures("without_workers", "few_draws")

THREE = ("DeepInfra", "Together", "Chutes")
WIRES: tuple[WireName, ...] = ("chat", "responses", "messages")
ONE_BY_ONE = ("limits.concurrency=1", "limits.max_fallback_rate=1")


class Warned(Watcher):
    """A watcher that collects warnings."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warned(self, message: str) -> None:
        self.said.append(message)


def in_turn(*hosts: str | None, garbage_of: str = "") -> Reply:
    """Return a reply function that answers as these hosts in turn; the replies of one of them are unreadable."""
    turns = cycle(hosts)

    def reply(body: dict[str, Any]) -> Raw:
        host = next(turns)
        text = "I would rather not say." if host is not None and host == garbage_of else varied_by_schema(body)
        return Raw(200, envelope(text) | ({} if host is None else {"provider": host}))

    return reply


def of_hosts(said: list[str]) -> list[str]:
    return [line for line in said if "several hosts" in line]


@pytest.mark.parametrize("wire", WIRES)
def test_three_hosts_in_turn_are_a_warning_once(wire: WireName, tmp_path: Path) -> None:
    watcher = Warned()
    with FakeServer(in_turn(*THREE)).in_thread() as server:
        result = play(server.url(), tmp_path, f'providers.fake.wire="{wire}"', *ONE_BY_ONE, watcher=watcher)
    assert result.status == "completed"
    (line,) = of_hosts(watcher.said)
    assert line.startswith("fake/echo: its answers come from several hosts (DeepInfra, then Together), which may")
    (warning,) = [each for each in result.history["warnings"] if each["code"] == "several_hosts"]
    calls = result.history["usage"]["calls"]
    assert (warning["model"], warning["message"], warning["count"]) == ("fake/echo", line, calls - calls // 3)
    assert Counter(each.host for each in result.typed_history.decisions) == dict.fromkeys(THREE, calls // 3)
    assert prove(result.files).complete


@pytest.mark.parametrize("hosts", [("DeepInfra",), (None,), ("DeepInfra", None)], ids=["one", "none", "one or none"])
def test_one_host_is_no_warning(hosts: tuple[str | None, ...], tmp_path: Path) -> None:
    watcher = Warned()
    with FakeServer(in_turn(*hosts)).in_thread() as server:
        result = play(server.url(), tmp_path, watcher=watcher)
    assert of_hosts(watcher.said) == []
    assert "several_hosts" not in {each["code"] for each in result.history["warnings"]}


def test_two_models_with_a_host_each_are_no_warning(tmp_path: Path) -> None:
    watcher = Warned()

    def reply(body: dict[str, Any]) -> Raw:
        return Raw(200, envelope(varied_by_schema(body)) | {"provider": f"host of {body['model']}"})

    players = '[[players]]\nid = "A"\nmodel = "fake/a"\n[[players]]\nid = "B"\n[[players]]\nid = "C"\n'
    with FakeServer(reply).in_thread() as server:
        play(server.url(), tmp_path, players=players, watcher=watcher)
    assert of_hosts(watcher.said) == []


@pytest.mark.parametrize("game", GAMES)
@one_in(3)
def test_every_game_warns_of_several_hosts(game: str, tmp_path: Path) -> None:
    with FakeServer(in_turn(*THREE)).in_thread() as server:
        result = on_server(game, server.url(), tmp_path, *ONE_BY_ONE)
    assert [each["code"] for each in result.history["warnings"]].count("several_hosts") == 1


def test_the_warning_is_the_same_however_many_calls_run_at_once_and_when_the_run_goes_on(tmp_path: Path) -> None:
    """The history has the warning in the order of the decisions, from the hosts that their answers name."""

    def reply(body: dict[str, Any]) -> Raw:
        host = THREE[sum(json.dumps(body["messages"]).encode()) % 3]
        return Raw(200, envelope(varied_by_schema(body)) | {"provider": host})

    with Mendable(reply, latency_s=lambda body: len(str(body)) % 7 / 500).in_thread() as server:
        one = play(server.url(), tmp_path, "limits.concurrency=1", stem="one")
        many = play(server.url(), tmp_path, stem="many")
        cut = play(server.url(), tmp_path, "limits.max_calls=7", stem="cut")
        again = resumed(cut.files, max_calls=99)
    assert of_hosts([each["message"] for each in one.history["warnings"]])
    assert stable(one.files) == stable(many.files) == stable(again.files)


def test_an_attempt_says_its_host_and_a_decision_that_of_its_last_reply(tmp_path: Path) -> None:
    with FakeServer(in_turn("Bad", "Good", garbage_of="Bad")).in_thread() as server:
        result = play(server.url(), tmp_path, 'game_config.phases=["votes"]', *ONE_BY_ONE)
    hosts = {(tuple(attempt.host for attempt in vote.attempts), vote.host) for vote in result.typed_history.decisions}
    mixed = (("Bad", "Good"), "Good")
    assert mixed in hosts <= {mixed, (("Good",), "Good"), (("Bad",), "Bad"), (("Bad", "Bad"), "Bad")}


@pytest.fixture
def reported(tmp_path: Path) -> Path:
    """Return a folder with the report of three games; the model has three hosts, one with unreadable replies."""
    with FakeServer(in_turn(*THREE, garbage_of="Chutes")).in_thread() as server:
        for number in range(3):
            seed = f"seed={number}"
            votes = 'game_config.phases=["votes"]'
            play(server.url(), tmp_path / "logs", seed, votes, *ONE_BY_ONE, players=FOUR, stem=f"run{number}")
    return tmp_path


def test_a_report_has_results_by_host(reported: Path) -> None:
    said = agentsim("report", "logs", "--pool", "--json", cwd=reported)
    lines = {line["host"]: line for line in json.loads(said.out)["hosts"]}
    assert set(lines) == set(THREE)
    assert {line["model"] for line in lines.values()} == {"fake/echo"}
    assert lines["Chutes"]["unusable"] == lines["Chutes"]["answers"] > 0
    assert lines["DeepInfra"]["unusable"] == lines["Together"]["unusable"] == 0
    calls = sum(json.loads((reported / "logs" / f"run{n}.json").read_text("utf-8"))["usage"]["calls"] for n in range(3))
    assert sum(line["answers"] for line in lines.values()) == calls
    assert all(line["games"] == 3 and 0 <= line["win_rate"] <= 1 <= line["mean_rank"] <= 4 for line in lines.values())
    told = agentsim("report", "logs", "--pool", "--exploratory", cwd=reported).out
    table = told.partition("Results by host")[2]
    assert table
    assert [line for line in table.splitlines() if "Chutes" in line and "100%" in line]


def test_the_page_and_the_tables_of_a_report_have_results_by_host(reported: Path) -> None:
    assert agentsim("report", "logs", "--pool", "--html", cwd=reported).code == 0
    (page,) = [path for path in reported.rglob("*.html") if "run" not in path.stem]
    assert "Results by host" in page.read_text("utf-8")
    assert agentsim("report", "logs", "--pool", "--format", "csv", "--out", "tables", cwd=reported).code == 0
    with next((reported / "tables").glob("*results-by-host*")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["host"] for row in rows} == set(THREE)


def test_a_report_of_one_host_has_no_such_table(tmp_path: Path) -> None:
    with FakeServer(in_turn("DeepInfra")).in_thread() as server:
        play(server.url(), tmp_path / "logs")
    assert "Results by host" not in agentsim("report", "logs", "--pool", "--exploratory", cwd=tmp_path).out
    (line,) = json.loads(agentsim("report", "logs", "--pool", "--json", cwd=tmp_path).out)["hosts"]
    assert (line["host"], line["unusable"]) == ("DeepInfra", 0)


PINNED = {"order": ["deepinfra/fp8"], "only": ["deepinfra/fp8"], "allow_fallbacks": False}


@pytest.mark.parametrize("wire", WIRES)
def test_a_pin_asks_for_one_host_and_no_other_on_every_wire(wire: WireName, tmp_path: Path) -> None:
    with FakeServer(in_turn("DeepInfra")).in_thread() as server:
        pin = ('providers.fake.pin="deepinfra/fp8"', f'providers.fake.wire="{wire}"')
        result = play(server.url(), tmp_path, *pin)
        cut = play(server.url(), tmp_path, *pin, "limits.max_calls=3", stem="cut")
        resumed(cut.files, max_calls=99)
    assert result.status == "completed"
    assert {json.dumps(received.body["provider"]) for received in server.received} == {json.dumps(PINNED)}
    assert result.history["scenario"]["providers"]["fake"]["pin"] == "deepinfra/fp8"


def test_a_pinned_host_that_does_not_serve_the_model_is_named(tmp_path: Path) -> None:
    gone = Raw(404, {"error": {"message": "No allowed providers are available for the selected model.", "code": 404}})
    with FakeServer(lambda _: gone).in_thread() as server:
        result = play(server.url(), tmp_path, 'providers.fake.pin="deepinfra"')
    assert result.status == "stopped_provider"
    assert "does the host that it is pinned to, deepinfra, serve it?" in str(result.error)


@pytest.mark.parametrize("wire", WIRES)
def test_a_pinned_run_that_another_host_answers_says_so_once(wire: WireName, tmp_path: Path) -> None:
    watcher = Warned()
    with FakeServer(in_turn("DeepInfra", "Chutes")).in_thread() as server:
        pin = ('providers.fake.pin="deepinfra/fp8"', f'providers.fake.wire="{wire}"')
        result = play(server.url(), tmp_path, *pin, *ONE_BY_ONE, watcher=watcher)
    (said,) = [line for line in watcher.said if "pinned" in line]
    assert said == "fake/echo: pinned to deepinfra/fp8, and answered by Chutes"
    (warning,) = [each for each in result.history["warnings"] if each["code"] == "other_host"]
    assert (warning["message"], warning["count"]) == (said, result.history["usage"]["calls"] // 2)
    assert prove(result.files).complete


def test_a_player_with_hosts_of_its_own_is_not_pinned(tmp_path: Path) -> None:
    own = 'defaults.client_kwargs={extra_body={provider={only=["chutes"], order=["chutes"]}}}'
    with FakeServer(in_turn("Chutes")).in_thread() as server:
        result = play(server.url(), tmp_path, 'providers.fake.pin="deepinfra"', own)
    assert "other_host" not in {each["code"] for each in result.history["warnings"]}


@each_row(
    "name, slug, same",
    [
        ("DeepInfra", "deepinfra/fp8", True),
        ("NovitaAI", "novita", True),
        ("Google", "google-vertex", True),
        ("Amazon Bedrock", "amazon-bedrock", True),
        ("Google AI Studio", "google-vertex", False),
        ("Chutes", "deepinfra", False),
    ],
)
def test_the_name_of_a_host_is_known_by_its_slug(name: str, slug: str, same: bool) -> None:
    assert is_host(name, slug) is same


def failing_at(host: str, status: int) -> Reply:
    """Return a reply function in which every second call fails at `host`, and the error names it."""
    turns = cycle([True, False])

    def reply(body: dict[str, Any]) -> Raw:
        if next(turns):
            return Raw(200, envelope(varied_by_schema(body)) | {"provider": "DeepInfra"})
        error = {"message": "Provider returned error", "code": status, "metadata": {"provider_name": host}}
        return Raw(status, {"error": error})

    return reply


@pytest.mark.parametrize("status", [429, 502])
def test_failed_calls_count_for_the_host_that_the_error_names(status: int, tmp_path: Path) -> None:
    with FakeServer(failing_at("Chutes", status)).in_thread() as server:
        result = play(server.url(), tmp_path / "logs", *ONE_BY_ONE)
    failed = result.history["usage"]["failed_calls"]
    assert failed > 0
    attempts = [each for decision in result.typed_history.decisions for each in decision.attempts if each.reply is None]
    assert {each.host for each in attempts} == {"Chutes"}
    lines = json.loads(agentsim("report", "logs", "--pool", "--json", cwd=tmp_path).out)["hosts"]
    found = {line["host"]: (line["answers"] > 0, line["failed"]) for line in lines}
    assert found == {"DeepInfra": (True, 0), "Chutes": (False, failed)}
    assert "Results by host" in agentsim("report", "logs", "--pool", "--exploratory", cwd=tmp_path).out
    assert prove(result.files).complete


def streamed(wire: WireName) -> Reply:
    """Return a reply function that gives good answers as streams of events."""

    def reply(body: dict[str, Any]) -> Raw:
        text = varied_by_schema(body)
        _, whole = from_chat(wire, 200, envelope(text))
        if wire == "chat":
            events: tuple[Any, ...] = (chunk({"content": text[:9]}), chunk({"content": text[9:]}, "stop"), "[DONE]")
        elif wire == "responses":
            events = ({"type": "response.completed", "response": whole},)
        else:
            delta = {"type": "text_delta", "text": text}
            events = (
                {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                {"type": "message_stop"},
            )
        return Raw(200, stream(*events), content_type="text/event-stream")

    return reply


@pytest.mark.parametrize("wire", WIRES)
def test_a_host_that_streams_unasked_plays_the_same_game(wire: WireName, tmp_path: Path) -> None:
    with FakeServer(streamed(wire)).in_thread() as server:
        result = play(server.url(), tmp_path, f'providers.fake.wire="{wire}"', *ONE_BY_ONE)
    assert result.status == "completed"
    assert {each["source"] for each in result.history["decisions"]} == {"model"}
    assert result.history["usage"]["failed_calls"] == 0
