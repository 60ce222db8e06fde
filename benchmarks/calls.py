"""What a call costs: CPU of our whole path beside the bare SDK's, and wall time over the ideal.

The whole path is a real run of a game that asks every player one question per round: prompts are rendered, sent, read,
checked and journaled (and synced to the disk), and the history is written. The bare SDK sends the same messages with
`AsyncOpenAI(...).chat.completions.create()` and default settings. Both, and every sender of `benchmarks.senders`, take
turns in one process, with Inspect's `generate` if that is installed; the server is another process and its CPU is not
counted.

    uv run python -m benchmarks.calls
    uv run --with inspect-ai python -m benchmarks.calls --callers 100 --repeats 7 --senders --json

CPU is measured without latency; compare the ratio to the bare SDK of the same turn. Wall time is measured with latency,
as chains (every caller makes its calls one after another) and as waves (all callers wait for the slowest, as in a game
of simultaneous moves).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import agentsim.games
from agentsim.cli.app import GC_THRESHOLD
from agentsim.engine.request import Ask, Wave
from agentsim.engine.simulate import simulate
from agentsim.games import find
from agentsim.models.base import Call, Sampling, prompt_messages
from agentsim.models.profiles import ProviderSettings, resolve
from agentsim.models.remote import Endpoint, RemoteModel
from agentsim.records.journal import DecisionRecord
from agentsim.runs.watcher import Watcher
from agentsim.scenario.load import load
from benchmarks.loopback import loopback
from benchmarks.senders import INSPECT, SENDERS
from tests.playing import play_scenario

WHOLE, OURS, SDK = "whole path", "our client", "SDK, create()"
SCENARIO = """
game = "poll"
seed = 1
[defaults]
model = "lab/loopback"
[game_config]
rounds = {rounds}
[limits]
concurrency = {callers}
[providers.lab]
base_url = "{url}"
[[players]]
id = "p"
count = {callers}
"""


@dataclass(frozen=True)
class Measured:
    """One turn: `cpu_ms` of one call, `wall_s` of all calls."""

    path: str
    callers: int
    calls: int
    latency_s: float
    shape: str
    cpu_ms: float
    wall_s: float


class _Clock(Watcher):
    """Records when the first wave begins, and when the last decision is recorded."""

    def __init__(self) -> None:
        self.first = self.last = 0.0

    def wave(self, wave: Wave, round_title: str) -> None:
        self.first = self.first or time.perf_counter()

    def decided(self, entry: DecisionRecord) -> None:
        self.last = time.perf_counter()


def whole_path(url: str, callers: int, calls: int, folder: Path) -> tuple[float, float]:
    """Return CPU seconds from scenario to history, and wall seconds from the first wave to the last decision."""
    config = folder / "poll.toml"
    config.write_text(SCENARIO.format(rounds=calls, callers=callers, url=url), encoding="utf-8")
    clock = _Clock()
    scenario = load(config)
    with tempfile.TemporaryDirectory(dir=folder) as logs:
        started = time.process_time()
        result = play_scenario(scenario, Path(logs), env={}, watcher=clock)
        used = time.process_time() - started
    sources = {decision["source"] for decision in result.history["decisions"]}
    came = (result.status, len(result.history["decisions"]), sources)
    assert came == ("completed", callers * calls, {"model"}), (came, result.error)
    return used, clock.last - clock.first


def prompts(callers: int, calls: int) -> list[list[Ask]]:
    """Return the requests of the game by caller, one per round."""
    players = [f"p{number}" for number in range(1, callers + 1)] if callers > 1 else ["p"]
    rehearsal = simulate(find("poll"), {"rounds": calls}, players, bot="first")
    return [[wave.asks[index] for wave, _ in rehearsal.waves] for index in range(callers)]


def _body(ask: Ask) -> dict[str, Any]:
    messages = [{"role": message.role, "content": message.text} for message in prompt_messages(ask.prompt(), "")]
    return {"model": "loopback", "messages": messages, "max_tokens": 1024}


async def _paced(callers: Sequence[Sequence[Callable[[], Awaitable[Any]]]], shape: str) -> tuple[float, float]:
    async def chain(calls: Sequence[Callable[[], Awaitable[Any]]]) -> None:
        for call in calls:
            await call()

    used, started = time.process_time(), time.perf_counter()
    if shape == "chains":
        await asyncio.gather(*map(chain, callers))
    else:
        for wave in zip(*callers, strict=True):
            await asyncio.gather(*(call() for call in wave))
    return time.process_time() - used, time.perf_counter() - started


async def by_sender(opened: Any, url: str, asks: list[list[Ask]], shape: str) -> tuple[float, float]:
    """Return (CPU seconds, wall seconds) of sending these requests."""
    bodies = [[_body(ask) for ask in caller] for caller in asks]
    async with opened(url) as send:
        return await _paced([[partial(send, body) for body in caller] for caller in bodies], shape)


async def by_our_client(url: str, asks: list[list[Ask]], shape: str) -> tuple[float, float]:
    """Return (CPU seconds, wall seconds) with the client that games use, from messages to a judged completion."""
    profile = resolve("lab", {"lab": ProviderSettings(base_url=url)}, {})
    model = RemoteModel("lab/loopback", profile, Endpoint(profile.base_url, None))
    sampling = Sampling()

    def call(ask: Ask) -> Callable[[], Awaitable[Any]]:
        messages = tuple((message.role, message.text) for message in prompt_messages(ask.prompt(), ""))
        return lambda: model.complete(Call(messages, ask.request.schema(), ask.request.kind), sampling)

    try:
        return await _paced([[call(ask) for ask in caller] for caller in asks], shape)
    finally:
        await model.aclose()


def turn(path: str, url: str, asks: list[list[Ask]], *, latency_s: float, shape: str, folder: Path) -> Measured:
    """Measure one path once."""
    callers, calls = len(asks), len(asks[0])
    if path == WHOLE:
        cpu, wall = whole_path(url, callers, calls, folder)
    elif path == OURS:
        cpu, wall = asyncio.run(by_our_client(url, asks, shape))
    else:
        cpu, wall = asyncio.run(by_sender(SENDERS[path], url, asks, shape))
    return Measured(path, callers, calls, latency_s, shape, 1_000 * cpu / (callers * calls), wall)


def measure(
    paths: Sequence[str], callers: int, calls: int, *, latency_s: float, repeats: int, shape: str
) -> list[Measured]:
    """Measure every path in turn, `repeats` times, after one turn that is not counted."""
    asks = prompts(callers, calls)
    with loopback(latency_s) as url, tempfile.TemporaryDirectory() as scratch:
        turns = [
            [turn(path, url, asks, latency_s=latency_s, shape=shape, folder=Path(scratch)) for path in paths]
            for _ in range(repeats + 1)
        ]
    return [measured for one in turns[1:] for measured in one]


def report(results: Sequence[Measured]) -> None:
    """Print a table of medians, and the range over the turns."""
    print(f"{'path':26}{'callers':>8}{'shape':>8}  {'CPU ms a call':22}{'/ SDK':>7}  {'wall / ideal':18}")
    for callers, latency_s, shape in dict.fromkeys((each.callers, each.latency_s, each.shape) for each in results):
        here = [each for each in results if (each.callers, each.latency_s, each.shape) == (callers, latency_s, shape)]
        for path in dict.fromkeys(each.path for each in here):
            own = [each for each in here if each.path == path]
            bare = [each.cpu_ms for each in here if each.path == SDK]
            ratio = statistics.median(each.cpu_ms / sdk for each, sdk in zip(own, bare, strict=True)) if bare else 0.0
            cpu = _spread([each.cpu_ms for each in own])
            wall = _spread([each.wall_s / (each.calls * latency_s) for each in own]) if latency_s else ""
            print(f"{path:26}{callers:8}{shape:>8}  {cpu:22}{ratio:7.2f}  {wall:18}", flush=True)


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3f} [{min(values):.3f}-{max(values):.3f}]"


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 100, 500])
    parser.add_argument("--calls", type=int, default=10, help="of each caller, one after another")
    parser.add_argument("--least", type=int, default=200, help="calls where CPU is measured, however few the callers")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds a call where wall time is measured")
    parser.add_argument("--repeats", type=int, default=5, help="turns that are counted")
    parser.add_argument("--senders", action="store_true", help="also every other way to send a request")
    parser.add_argument("--json", action="store_true", help="every turn as a line of JSON instead of a table")
    given = parser.parse_args(words)
    gc.set_threshold(*GC_THRESHOLD)  # as the command line does
    others = [path for path in SENDERS if path != SDK and (given.senders or path == INSPECT)]
    results: list[Measured] = []
    for callers in given.callers:
        calls = max(given.calls, -(-given.least // callers))
        measure_here = partial(measure, callers=callers, repeats=given.repeats)
        results += measure_here([WHOLE, OURS, SDK, *others], calls=calls, latency_s=0.0, shape="waves")
        if callers > 1:
            measure_here = partial(measure_here, calls=given.calls, latency_s=given.latency)
            results += measure_here([OURS, SDK, *others], shape="chains")
            results += measure_here([WHOLE, SDK, *(path for path in others if path == INSPECT)], shape="waves")
    if given.json:
        for measured in results:
            print(json.dumps(asdict(measured)))
    else:
        report(results)


agentsim.games.__path__.append(str(Path(__file__).parent / "games"))

if __name__ == "__main__":
    main()
