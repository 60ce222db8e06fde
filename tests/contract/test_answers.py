"""Every game with a host that changes the form of each answer gives the same history."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentsim.report.page import PageOptions, page_of
from tests.amounts import some_of
from tests.contract.harness import FEW, GAMES, on_server
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw

SECRET = "I betray all of you"


def function(text: str, layers: int = 0, name: str = "vote") -> dict[str, Any]:
    arguments: Any = text
    for _ in range(layers):
        arguments = json.dumps(arguments)
    return {"name": name, "arguments": arguments}


def calls(*functions: dict[str, Any]) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"type": "function", "function": each} for each in functions]}


SHAPES: tuple[Callable[[str], dict[str, Any]], ...] = (
    lambda text: {"content": text, "reasoning_content": [SECRET]},
    lambda text: {"content": text, "reasoning": {"text": SECRET}},
    lambda text: {"content": text, "thoughts": [{"text": SECRET}]},
    lambda text: {"content": text, "reasoning_details": [{"type": "reasoning.text", "text": SECRET}]},
    lambda text: {"content": [{"type": "thinking", "thinking": SECRET}, {"type": "text", "text": text}]},
    lambda text: {"content": [{"text": SECRET, "thought": True}, {"text": text}]},
    lambda text: {"content": [{"type": "output_text", "text": text}]},
    lambda text: {"content": [text[:7], text[7:]]},
    lambda text: {"content": {"type": "text", "text": text}},
    lambda text: {"content": json.loads(text)},
    lambda text: calls(function(text, name="functions.vote")),
    lambda text: calls(function(text, name="vote<|channel|>commentary")),
    lambda text: calls(function(text, 1)),
    lambda text: calls(function(text, 2)),
    lambda text: calls({"name": "vote", "arguments": json.loads(text)}),
    lambda text: calls(function("{"), function(text)),
    lambda text: {"content": "", "function_call": function(text)},
    lambda text: {"content": None, "tool_calls": [{"type": "custom", "custom": {"name": "v", "input": text}}]},
)


class Host:
    """A host that answers by the prompt alone, in the next of several forms."""

    def __init__(self, *shapes: Callable[[str], dict[str, Any]]) -> None:
        self._shapes = shapes
        self.prompts: list[str] = []
        self.used: Counter[int] = Counter()

    def __call__(self, body: dict[str, Any]) -> Raw:
        self.prompts += [message["content"] for message in body["messages"]]
        place = self.used.total() % len(self._shapes)
        self.used[place] += 1
        return Raw(body=envelope(None, message=self._shapes[place](varied_by_schema(body))))


def play(game: str, host: Host, folder: Path) -> tuple[dict[str, Any], str]:
    """Play a game with this host; return its history and page."""
    with FakeServer(host).in_thread() as server:
        result = on_server(game, server.url(), folder, "limits.concurrency=1")
    assert result.error is None
    return result.history, page_of(result.typed_history, PageOptions(), name="run", directory=folder)


def events(history: dict[str, Any]) -> list[Any]:
    """Return the events, without the decisions behind them."""
    told = (event for part in history["rounds"] for event in part["events"])
    return [[event[key] for key in ("kind", "heading", "content", "data")] for event in told]


@some_of("game", GAMES, *FEW)
def test_a_game_does_not_depend_on_how_a_host_words_an_answer(game: str, tmp_path: Path) -> None:
    plain, host = Host(lambda text: {"content": text}), Host(*SHAPES)
    usual, _ = play(game, plain, tmp_path / "usual")
    history, page = play(game, host, tmp_path / "odd")
    assert (events(history), history["outcome"]) == (events(usual), usual["outcome"])
    for count in ("calls", "failed_calls", "reasks", "fallbacks"):
        assert history["usage"][count] == usual["usage"][count]
    assert host.prompts == plain.prompts
    assert SECRET in json.dumps(history["texts"])
    assert SECRET not in json.dumps(history["rounds"]) + page
    assert len(host.used) == min(len(SHAPES), history["usage"]["calls"])
