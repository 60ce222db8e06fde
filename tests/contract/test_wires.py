"""A whole game on each wire: the same decisions, no fallback, and what it costs as reckoned by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from agentsim.models.profiles import WireName
from agentsim.runner.session import RunResult
from tests.contract.harness import on_server
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw

WIRES: tuple[WireName, ...] = ("chat", "responses", "messages")
USED = {
    "prompt_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens": 7,
    "total_tokens": 107,
}


def same_on_every_wire(body: Mapping[str, Any]) -> Raw:
    """A reply that depends on the words and the schema of a request, and not on how its wire puts them."""
    words = "\n".join(message["content"] for message in body["messages"])
    named = body["tools"][0]["function"]["parameters"] if "tools" in body else None
    schema = named or body["response_format"]["json_schema"]["schema"]
    asked = {"messages": words, "response_format": {"json_schema": {"schema": schema}}}
    return Raw(body={**envelope(varied_by_schema(asked), model=body["model"]), "usage": USED})


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(same_on_every_wire).in_thread() as fake:
        yield fake


@pytest.fixture(scope="module")
def played(server: FakeServer, tmp_path_factory: pytest.TempPathFactory) -> Callable[[WireName, str], RunResult]:
    @cache
    def play(wire: WireName, structured: str = "json_schema") -> RunResult:
        logs = tmp_path_factory.mktemp(wire)
        price = "{input = 3.0, output = 15.0, cached_input = 0.3}"
        return on_server(
            "agent_island",
            server.url(f"ok~{wire}-{structured}"),
            logs,
            f'providers.fake.wire="{wire}"',
            f'providers.fake.structured="{structured}"',
            f'prices={{"fake/echo" = {price}}}',
        )

    return play


@pytest.mark.parametrize("structured", ["json_schema", "tool"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_game_is_played_without_a_fallback(
    wire: WireName, structured: str, played: Callable[[WireName, str], RunResult], server: FakeServer
) -> None:
    result = played(wire, structured)
    history = result.history
    assert history["status"] == "completed"
    usage = history["usage"]
    assert (usage["fallbacks"], usage["failed_calls"], usage["reasks"]) == (0, 0, 0)
    ends = {
        received.path.partition("/v1/")[2]
        for received in server.received
        if f"ok~{wire}-{structured}/" in received.path
    }
    assert ends == {{"chat": "chat/completions", "responses": "responses", "messages": "messages"}[wire]}


@pytest.mark.parametrize("wire", WIRES)
def test_tokens_and_dollars_are_those_reckoned_by_hand(
    wire: WireName, played: Callable[[WireName, str], RunResult]
) -> None:
    usage = played(wire, "json_schema").history["usage"]
    calls = usage["calls"]
    assert calls > 20
    tokens = (usage["prompt_tokens"], usage["cached_tokens"], usage["completion_tokens"])
    assert tokens == (100 * calls, 40 * calls, 7 * calls)
    # 60 fresh tokens at $3, 40 cached at $0.30 and 7 at $15 a million: 180 + 12 + 105 millionths of a dollar.
    assert usage["cost_usd"] == pytest.approx(calls * 0.000297, abs=1e-9)


@pytest.mark.parametrize("wire", WIRES[1:])
def test_the_game_is_that_of_chat(wire: WireName, played: Callable[[WireName, str], RunResult]) -> None:
    chat, other = played("chat", "json_schema").history, played(wire, "json_schema").history
    for part in ("rounds", "outcome", "players", "texts"):
        assert other[part] == chat[part]
    decisions = [[(each["kind"], each["decision"]) for each in history["decisions"]] for history in (chat, other)]
    assert decisions[0] == decisions[1]
