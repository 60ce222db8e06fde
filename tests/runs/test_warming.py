"""Warming: one call of a wave goes first among calls with a common prefix, and nothing else changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import TransportFailed
from agentsim.models.base import Message
from agentsim.models.profiles import BUILT_IN, ProviderSettings, resolve
from agentsim.runs.limits import BLOCK, KEPT_S, Warming
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.fakes.server import Raw
from tests.playing import play_scenario
from tests.runs.island import Mendable, play

ON = 'providers.fake.warm="on"'


class Calls:
    """Calls that end when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.warming = Warming(lambda: self.now)
        self.out: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def make(self, *texts: str, model: str = "lab/one", schema: Any = None, fails: Sequence[str] = ()) -> None:
        """Start calls of these prompts at once, named by their last characters."""
        for text in texts:
            self._ends[text[-1]] = asyncio.Event()
            self._tasks[text[-1]] = asyncio.create_task(self._call(text, model, schema or {}, text[-1] in fails))
        await self._settled()

    async def _call(self, text: str, model: str, schema: Any, fails: bool) -> None:
        async with self.warming.turn(model, [Message("user", (text,))], schema):
            self.out.append(text[-1])
            await self._ends[text[-1]].wait()
            if fails:
                raise TransportFailed("no", code="timeout")

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
        await self._settled()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await self._settled()

    async def _settled(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        for task in self._tasks.values():
            if task.done() and not task.cancelled():
                task.exception()


SHARED = "s" * BLOCK


def played(script: Any) -> Calls:
    calls = Calls()
    asyncio.run(script(calls))
    return calls


def test_one_call_goes_ahead_and_the_rest_follow_together() -> None:
    async def script(calls: Calls) -> None:
        await calls.make(SHARED + "a", SHARED + "b", SHARED + "c")
        assert calls.out == ["a"]
        await calls.end("a")
        assert calls.out == ["a", "b", "c"]

    played(script)


def test_a_prefix_that_is_cached_is_not_waited_for_until_it_was_unused_for_long() -> None:
    async def script(calls: Calls) -> None:
        await calls.make(SHARED + "a")
        await calls.end("a")
        calls.now = KEPT_S
        await calls.make(SHARED + "b", SHARED + "c")
        assert calls.out == ["a", "b", "c"]
        await calls.end("b", "c")  # which uses it
        calls.now = 2 * KEPT_S
        await calls.make(SHARED + "d", SHARED + "e")
        assert calls.out[3:] == ["d", "e"]
        await calls.end("d", "e")
        calls.now = 3 * KEPT_S + 1
        await calls.make(SHARED + "f", SHARED + "g")
        assert calls.out[5:] == ["f"]

    played(script)


def test_what_begins_otherwise_or_is_short_waits_for_nothing() -> None:
    async def script(calls: Calls) -> None:
        await calls.make(SHARED + "a", "t" * BLOCK + "b", SHARED[1:] + "c", SHARED[2:] + "d")
        await calls.make(SHARED + "e", model="lab/two")
        await calls.make(SHARED + "f", schema={"type": "object"})
        assert calls.out == ["a", "b", "c", "d", "e", "f"]

    played(script)


def test_a_call_waits_once_even_where_it_shares_more_with_another_that_waited() -> None:
    async def script(calls: Calls) -> None:
        more = SHARED + "m" * BLOCK
        await calls.make(SHARED + "a", more + "b", more + "c")
        assert calls.out == ["a"]
        await calls.end("a")
        assert calls.out == ["a", "b", "c"]

    played(script)


def test_after_a_call_that_failed_or_was_cancelled_the_rest_go_on_and_its_prefix_is_not_cached() -> None:
    async def script(calls: Calls) -> None:
        await calls.make(SHARED + "a", SHARED + "b", fails="ab")
        await calls.end("a")
        assert calls.out == ["a", "b"]
        await calls.end("b")
        await calls.make(SHARED + "c", SHARED + "d", SHARED + "e")
        assert calls.out[2:] == ["c"]
        await calls.cancel("c")
        assert calls.out[2:] == ["c", "d", "e"]

    played(script)


def society(url: str, logs: Path, *settings: str, agents: int = 4) -> RunResult:
    """Play two turns of agents whose prompts begin with the same rules, which are longer than a cache block."""
    logs.mkdir(parents=True, exist_ok=True)
    path = logs / "society.toml"
    (logs / "base.txt").write_text("The land is wide. " * (BLOCK // 30), encoding="utf-8")
    path.write_text(
        f'game = "society"\nseed = 1\n[defaults]\nmodel = "fake/echo"\n[providers.fake]\nbase_url = "{url}"\n'
        f'[game_config]\nbase = "base.txt"\ndays = 1\nactions_per_day = 2\n'
        f'[[players]]\nid = "agent"\ncount = {agents}\n',
        encoding="utf-8",
    )
    return play_scenario(load(path, overrides=settings), logs, env={}, stem="run")


def came_before_an_answer(server: Mendable, logs: Path, *settings: str) -> int:
    """Return the number of calls that had arrived when the first of them was answered."""
    server.latency_s = 0.1
    server.received.clear()
    server.most_in_flight = 0
    seen: list[int] = []
    reply = server.reply

    def noted(body: dict[str, Any]) -> str | Raw:
        seen.append(len(server.received))
        return reply(body)

    server.reply = noted
    assert society(server.url(), logs, *settings).status == "completed"
    server.reply = reply
    return seen[0]


def test_a_run_sends_one_call_of_a_wave_ahead_where_the_provider_is_said_to_cache(
    server: Mendable, tmp_path: Path
) -> None:
    assert came_before_an_answer(server, tmp_path / "unknown") > 1, "a provider of one's own is not known to cache"
    assert came_before_an_answer(server, tmp_path / "on", ON) == 1
    assert server.most_in_flight >= 3, "and then all others at once"
    assert came_before_an_answer(server, tmp_path / "off", 'providers.fake.warm="off"') > 1


def test_agents_whose_prompts_begin_with_their_own_names_wait_for_nothing(server: Mendable, tmp_path: Path) -> None:
    server.latency_s = 0.02
    play(server.url(), tmp_path, 'game_config.phases=["votes"]', ON)
    assert server.most_in_flight == 4


@pytest.mark.parametrize("concurrency", [1, 2, 16])
def test_the_game_is_the_same_with_and_without_at_any_concurrency(
    server: Mendable, tmp_path: Path, concurrency: int
) -> None:
    """One slot is enough: a call that waits for another to go first holds no slot."""
    cold = society(server.url(), tmp_path / "cold")
    warm = society(server.url(), tmp_path / "warm", ON, f"limits.concurrency={concurrency}")
    assert (cold.status, warm.status) == ("completed", "completed")
    assert [_decided(each) for each in warm.history["decisions"]] == [
        _decided(each) for each in cold.history["decisions"]
    ]


def _decided(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["index"], record["player"], record["kind"], record["decision"]


def test_a_provider_that_rejects_the_call_that_goes_ahead_is_asked_once(server: Mendable, tmp_path: Path) -> None:
    server.reply = lambda _: Raw(401, {"error": {"message": "no"}})
    result = society(server.url(), tmp_path, ON)
    assert (result.status, len(server.received)) == ("stopped_provider", 1)


def test_auto_is_what_the_profile_says_at_the_provider_s_own_address() -> None:
    azure = ProviderSettings(base_url="https://lab.openai.azure.com")
    needed = {"azure": azure, "vertex": ProviderSettings(project="p")}
    warm = {name for name in BUILT_IN if resolve(name, needed, {}).warm}
    at_openai = {"openai", "azure"}
    at_anthropic = {"anthropic", "bedrock", "vertex"}
    assert warm == at_openai | at_anthropic | {"openrouter", "gemini", "deepseek", "xai", "vllm", "sglang"}

    def said(provider: str, **settings: Any) -> bool:
        return resolve(provider, {provider: ProviderSettings(**settings)}, {}).warm

    elsewhere = "http://10.0.0.7:9000/v1"
    assert said("openai", warm="auto")
    assert not said("openai", warm="off")
    assert not said("openai", base_url=elsewhere)
    assert said("openai", base_url=elsewhere, warm="on")
    assert said("vllm", base_url=elsewhere), "a server of one's own is what it is called"
    assert not said("lab", base_url=elsewhere)
    assert said("lab", base_url=elsewhere, warm="on")
