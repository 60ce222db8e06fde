"""Decisions of models as messages: what was asked, what was said, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command_line import agentsim, trio
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.runs.island import BOTS, play


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(varied_by_schema).in_thread() as running:
        yield running


def test_every_decision_of_a_model_is_the_messages_that_were_sent_and_the_reply(
    server: FakeServer, tmp_path: Path
) -> None:
    play(server.url(), tmp_path / "logs", players=f'[[players]]\nid = "A"\n{BOTS}', stem="one")
    said = agentsim("export", "one", "--format", "chat-jsonl", cwd=tmp_path)
    assert said.out == "logs/one.chat.jsonl\n"
    lines = [json.loads(line) for line in (tmp_path / "logs" / "one.chat.jsonl").read_text("utf-8").splitlines()]
    assert [line["messages"][:-1] for line in lines] == [received.body["messages"] for received in server.received]
    assert [line["messages"][-1] for line in lines] == [
        {"role": "assistant", "content": varied_by_schema(received.body)} for received in server.received
    ]
    assert {(line["player"], line["model"], line["used"]) for line in lines} == {("A", "fake/echo", True)}
    assert all(json.loads(line["messages"][-1]["content"]).items() >= line["parsed"].items() for line in lines)


def test_of_a_decision_that_was_asked_again_the_last_reply_counts(server: FakeServer, tmp_path: Path) -> None:
    server.reply = lambda body: "no idea"
    play(server.url(), tmp_path / "logs", players=f'[[players]]\nid = "A"\n{BOTS}', stem="one")
    assert agentsim("export", "logs", "--format", "chat-jsonl", cwd=tmp_path).code == 0
    lines = [json.loads(line) for line in (tmp_path / "logs" / "logs.chat.jsonl").read_text("utf-8").splitlines()]
    first = next(line for line in lines if line["kind"] == "vote")
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert first["used"] is False


def test_bots_say_nothing_to_train_on(tmp_path: Path) -> None:
    words = ("--name", "one", "--no-html", "--display", "none")
    assert agentsim("run", "--config", str(trio(tmp_path)), *words, cwd=tmp_path).code == 0
    assert agentsim("export", "one", "--format", "chat-jsonl", cwd=tmp_path).code == 0
    assert (tmp_path / "logs" / "one.chat.jsonl").read_bytes() == b""
    assert agentsim("runs", cwd=tmp_path).out.count("\n") == 2, "the file is no run"
