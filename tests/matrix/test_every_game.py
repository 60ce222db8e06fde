"""Faults other than replies, in every game: endless rate limits, a blocked event loop, too few file descriptors."""

from __future__ import annotations

import asyncio
import errno
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectorError

from agentsim.engine.request import Ask
from agentsim.errors import ProviderStopped
from agentsim.models import remote
from agentsim.models.clients import Connector
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from agentsim.runs.watcher import Watcher
from tests.amounts import some_of
from tests.contract.harness import FEW, GAMES, on_server, tiny
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario, resume_run

FAR = Raw(429, {"error": {"message": "come back in a year"}}, {"Retry-After": "31536000"})
every_game = some_of("game", GAMES, *FEW)


def fallbacks(result: RunResult) -> int:
    return sum(decision["source"] == "fallback" for decision in result.history["decisions"])


@every_game
def test_a_limit_without_an_end_costs_one_decision_and_can_be_resumed(game: str, tmp_path: Path) -> None:
    server = FakeServer()

    def reply(body: dict[str, Any]) -> str | Raw:
        return FAR if len(server.received) > 5 else varied_by_schema(body)

    with server.in_thread():
        server.reply = reply
        stopped = on_server(game, server.url(), tmp_path, "limits.concurrency=1", "defaults.reasks=0")
        before = fallbacks(stopped)
        assert isinstance(stopped.error, ProviderStopped)
        assert len(server.received) == 5 + 2
        too_soon = resume_run(stopped.files, env={})
        assert too_soon is not None
        assert isinstance(too_soon.error, ProviderStopped)
        assert len(server.received) == 5 + 3
        assert fallbacks(too_soon) == before
        server.reply = varied_by_schema
        whole = resume_run(stopped.files, env={})
        assert whole is not None
        assert (whole.history["outcome"] is not None, whole.history["usage"]["failed_calls"]) == (True, 1)
        assert prove(whole.files).complete


class Standing(Watcher):
    """A watcher that blocks the event loop for longer than the timeout of a call, at its tenth call."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._calls = seconds, 0

    def calling(self, ask: Ask) -> None:
        self._calls += 1
        if self._calls == 10:
            asyncio.get_running_loop().call_later(0.01, time.sleep, self._seconds)


@every_game
def test_a_standstill_costs_nothing(game: str, tmp_path: Path) -> None:
    server = FakeServer(varied_by_schema, latency_s=lambda _body: 0.05 if len(server.received) == 10 else 0.0)
    with server.in_thread():
        settings = ("defaults.timeout_s=0.4", "defaults.retries=0", 'defaults.model="fake/echo"')
        scenario = tiny(game, *settings, f'providers.fake.base_url="{server.url()}"')
        stood = play_scenario(scenario, tmp_path, env={}, watcher=Standing(0.5))
    usage = stood.history["usage"]
    assert (stood.error, usage["failed_calls"], usage["calls"]) == (None, 0, len(server.received))


@every_game
def test_a_machine_short_of_connections_costs_nothing(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, tried = Connector._create_connection, [0]

    async def short(self: Connector, request: Any, *rest: Any) -> Any:
        tried[0] += 1
        if tried[0] % 3:
            raise ClientConnectorError(request.connection_key, OSError(errno.EMFILE, "Too many open files"))
        return await connect(self, request, *rest)

    monkeypatch.setattr(Connector, "_create_connection", short)
    monkeypatch.setattr(remote, "_SHORTAGE_S", (0.0,) * 100)
    with FakeServer(varied_by_schema).in_thread() as server:
        result = on_server(game, server.url(), tmp_path, "defaults.retries=0")
    usage = result.history["usage"]
    assert (result.error, usage["failed_calls"], usage["calls"]) == (None, 0, len(server.received))
    assert tried[0] >= 3
