"""A tick of a society is one wave: the overhead over the time of one call, and the CPU of one decision of a model.

The server (`benchmarks.loopback`) is another process, and every agent posts a fixed text. A tick lasts from its first
question to the first question of the next one: prompts, calls, parsing, journal (synced to the disk), and the rules.
Peak memory and CPU are of our process alone, from the scenario to the history; CPU is measured without latency. Every
condition has a process of its own.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agentsim.cli.app import GC_THRESHOLD
from agentsim.engine.request import Wave
from agentsim.records.journal import DecisionRecord
from agentsim.runs.watcher import Watcher
from benchmarks.loopback import loopback
from benchmarks.society_served import served
from tests.playing import play_scenario

REPLY = json.dumps({"action": "forum_post", "content": "We should build a farm before the stores run low. " * 3})


@dataclass(frozen=True)
class Waves:
    """One run: seconds of every tick (the last one without the rules), and of the decisions of each."""

    agents: int
    concurrency: int
    latency_s: float
    ticks_s: list[float]
    decided_s: list[float]
    cpu_ms: float
    peak_mib: float


class _Clock(Watcher):
    def __init__(self) -> None:
        self.begun_at: list[float] = []
        self.decided_at: list[float] = []

    def wave(self, wave: Wave, round_title: str) -> None:
        self.begun_at.append(time.perf_counter())
        self.decided_at.append(0.0)

    def decided(self, entry: DecisionRecord) -> None:
        self.decided_at[-1] = time.perf_counter()


def measured_here(agents: int, days: int, concurrency: int, latency_s: float) -> Waves:
    """Measure one run in this process, after a small one that is not counted."""
    gc.set_threshold(*GC_THRESHOLD)  # as the command line does
    with loopback(latency_s, REPLY) as url, tempfile.TemporaryDirectory() as scratch:
        for clock, seats, long in ((_Clock(), 2, 1), (_Clock(), agents, days)):
            scenario = served(Path(scratch), url, agents=seats, days=long, concurrency=concurrency)
            started = time.process_time()
            result = play_scenario(scenario, Path(scratch), env={}, watcher=clock)
            cpu = time.process_time() - started
    decisions = result.history["decisions"]
    came = (result.status, {decision["source"] for decision in decisions})
    assert came == ("completed", {"model"}), (came, result.error)
    ends = [*clock.begun_at[1:], clock.decided_at[-1]]
    return Waves(
        agents,
        concurrency,
        latency_s,
        [end - began for began, end in zip(clock.begun_at, ends, strict=True)],
        [end - began for began, end in zip(clock.begun_at, clock.decided_at, strict=True)],
        1_000 * cpu / len(decisions),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


@dataclass(frozen=True)
class Sizes:
    """A run of models that answer at once. `journal` and `history` are bytes per agent and day."""

    answers: str
    agents: int
    days: int
    peak_mib: float
    journal: float
    history: float


def sized_here(agents: int, days: int, answers: str) -> Sizes:
    """Measure one run in this process. The answers are one short post, or `varied`."""
    gc.set_threshold(*GC_THRESHOLD)
    said = [REPLY] if answers == "one" else varied()
    with loopback(0.0, *said) as url, tempfile.TemporaryDirectory() as scratch:
        result = play_scenario(served(Path(scratch), url, agents=agents, days=days), Path(scratch), env={})
        assert result.status == "completed", result.error
        journal, history = (
            path.stat().st_size / (agents * days) for path in (result.files.journal, result.files.history)
        )
    return Sizes(answers, agents, days, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, journal, history)


def varied() -> list[str]:
    """Return work, texts of some hundred characters, votes, proposals and gifts."""
    words = (
        "The stores are low again, and I ask each of us to say what can be spared before all of it is spent at once. "
    )
    work = [("farm", 2), ("farm", 3), ("generate", 2), ("generate", 3), ("gather", 1)]
    acts: list[Mapping[str, object]] = [{"action": "work", "work_type": kind, "hours": hours} for kind, hours in work]
    acts += [{"action": "forum_post", "content": "{n} #17 " + words * times} for times in (3, 5)]
    acts += [{"action": "direct_message", "recipient_agent_id": to, "content": "{n} " + words * 3} for to in (1, 2)]
    acts += [{"action": "vote", "proposal_id": on, "vote": "yes", "reasoning": "{n} " + words} for on in (3, 30)]
    tax = {"kind": "tax", "resource": "food", "percent": 1}
    law = {"title": "Reserve {n}", "description": words * 4, "proposal_type": "law", "terms": [tax]}
    acts.append({"action": "create_proposal", **law})
    acts.append({"action": "trade", "recipient_agent_id": 3, "resource_type": "food", "amount": 0.5})
    return [json.dumps({"action": act}) for act in acts]


def sizes(agents: int, days: int, *, as_json: bool) -> None:
    """Print the sizes for each kind of answers, measured in a process of its own."""
    for answers in ("one", "varied"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            each = pool.apply(sized_here, (agents, days, answers))
        if as_json:
            print(json.dumps(asdict(each)))
        else:
            own = f"journal {each.journal:,.0f} and history {each.history:,.0f} bytes of a day of one agent"
            print(f"{agents} models, {days} days, answers {answers}: {each.peak_mib:.0f} MiB at most; {own}")


def main(agents: int, days: int, latency_s: float, *, as_json: bool) -> None:
    """Measure with all calls at once, with a tenth of them at once, and with all at once without latency."""
    conditions = ((agents, latency_s), (max(1, agents // 10), latency_s), (agents, 0.0))
    spawned = multiprocessing.get_context("spawn")
    results = []
    for concurrency, latency in conditions:
        with spawned.Pool(1) as pool:
            results.append(pool.apply(measured_here, (agents, days, concurrency, latency)))
    if as_json:
        for each in results:
            print(json.dumps(asdict(each)))
        return
    for each in results:
        print(f"{each.agents} agents, concurrency {each.concurrency}, latency {1_000 * each.latency_s:.0f} ms")
        if each.latency_s:
            ideal = each.latency_s * -(-each.agents // each.concurrency)
            print(f"  ticks, over the ideal {1_000 * ideal:.0f} ms: {_spread(each.ticks_s[1:-1], ideal)}")
            print(f"  without what the society makes of it:  {_spread(each.decided_s[1:], ideal)}")
            print(f"  the first tick, with its connections: {each.ticks_s[0] / ideal:.3f}")
        print(f"  CPU {each.cpu_ms:.2f} ms a decision, peak memory {each.peak_mib:.0f} MiB")


def _spread(seconds: Sequence[float], ideal: float) -> str:
    ratios = [each / ideal for each in seconds]
    if not ratios:
        return "too few ticks"
    return f"median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}, in {len(ratios)} ticks"
