"""What a society costs: time and memory as it grows, prompts as it grows and ages, waves of models, and a poor world.

    uv run python -m benchmarks.society                  # 100, 1,000 and 10,000 agents, and the size of prompts
    uv run python -m benchmarks.society --agents 100 1000 --days 30 --json
    uv run python -m benchmarks.society --waves          # 100 models of 200 ms, see `benchmarks.society_waves`
    uv run python -m benchmarks.society --models 1000    # so many models for eight days: memory, bytes of a day
    uv run python -m benchmarks.society --scarce 20      # so many seeds, see `benchmarks.society_scarce`

Agents are bots of all personalities (`bot/citizen`). A whole society is a real run: the scenario is loaded, every
decision checked and journaled, the history written. In turn with it the same society is played in memory. Each is
played in its own process, whose peak memory is that of one society; CPU time is of one core. An exponent of 1 is
linear: it is the slope of the least-squares line through the logarithms.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request, Wave
from agentsim.games.society import GAME
from agentsim.games.society.requests import Act, Acted
from agentsim.models.base import prompt_messages
from agentsim.scenario.load import load
from tests.playing import play_scenario

WHOLE, MEMORY = "journal and history", "in memory"
DAYS = 5
MIB = 1024  # in the system's kilobytes
MOST_TALK = 15_000  # the most days of one agent, since talk takes some 100 kB in each
FREE = {"daily_food": 0, "daily_energy": 0, "days": 150}  # no agent has to work, so that all can talk


@dataclass(frozen=True)
class Measured:
    """One society: `cpu_s` of all its days, `base_mib` of memory before it, and `peak_mib`."""

    path: str
    agents: int
    days: int
    decisions: int
    cpu_s: float
    base_mib: float
    peak_mib: float

    @property
    def grown_mib(self) -> float:
        """The memory that the society itself took."""
        return self.peak_mib - self.base_mib


def seated(agents: int) -> list[str]:
    """Return the ids of the agents."""
    return [f"agent{number}" for number in range(1, agents + 1)]


def waves(config: Mapping[str, Any], agents: int, policy: Bot, seed: int) -> Iterator[tuple[GamePlay, Wave]]:
    """Play in memory with the kernel, the rules and the bots alone, and yield each wave before it is answered."""
    play = GamePlay(GAME, GAME.config.from_toml(config), seated(agents), seed)
    wave = play.start()
    while wave is not None:
        yield play, wave
        wave = play.answer([policy(ask.request, play.bot_rng(ask)) for ask in wave.asks])


def _in_memory(agents: int, days: int) -> int:
    return sum(len(wave.asks) for _, wave in waves({"days": days}, agents, GAME.bots["citizen"], 1))


def _whole(agents: int, days: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        config = Path(scratch) / "society.toml"
        players = f'[[players]]\nid = "agent"\ncount = {agents}\nmodel = "bot/citizen"\n'
        config.write_text(f'game = "society"\nseed = 1\n[game_config]\ndays = {days}\n{players}', "utf-8")
        result = play_scenario(load(config), Path(scratch), env={})
        assert result.status == "completed", result.error
        return len(result.typed_history.decisions)


def measured_here(path: str, agents: int, days: int) -> Measured:
    """Measure one society in this process."""
    base = _peak_mib()
    started = time.process_time()
    decisions = (_whole if path == WHOLE else _in_memory)(agents, days)
    return Measured(path, agents, days, decisions, time.process_time() - started, base, _peak_mib())


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB


def measured(path: str, agents: int, days: int) -> Measured:
    """Measure one society in its own process."""
    command = [sys.executable, "-m", "benchmarks.society", "--one", path]
    command += ["--agents", str(agents), "--days", str(days)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Measured(**json.loads(done.stdout))


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the power of size with which cost grows: the slope of a least-squares line through the logarithms."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(cost) for cost in costs]).slope


def report(results: Sequence[Measured]) -> None:
    """Print medians over the repeats, and the exponents."""
    for path in dict.fromkeys(each.path for each in results):
        own = [each for each in results if each.path == path]
        sizes = sorted({each.agents for each in own})
        at = [[each for each in own if each.agents == size] for size in sizes]
        cpu = [statistics.median(each.cpu_s for each in group) for group in at]
        peak = [statistics.median(each.peak_mib for each in group) for group in at]
        grown = [statistics.median(each.grown_mib for each in group) for group in at]
        print(path)
        for size, group, seconds, most, own_mib in zip(sizes, at, cpu, peak, grown, strict=True):
            days, decisions = group[0].days, group[0].decisions
            print(
                f"{size:8} agents: {days / seconds:8.2f} days/s {size * days / seconds:8.0f} days of one agent/s"
                f"{1e6 * seconds / decisions:8.0f} us a decision {most:8.0f} MiB, {own_mib:.0f} of them its own"
            )
        if len(sizes) > 1:
            print(
                f"  exponents over agents: time {exponent(sizes, cpu):.3f}, peak memory {exponent(sizes, peak):.3f}, "
                f"without what the process held before {exponent(sizes, grown):.3f}"
            )


# -- prompts


def talkative(request: Request[Any], rng: Stream) -> Decision:
    """Choose an action with the longest possible text, which names ten other agents by number."""
    assert isinstance(request, Act)
    rules, world = request.rules, request.world
    called = " ".join(f"#{rng.integer(1, rules.agents)}" for _ in range(10))
    words = f"{called} {request.player} " + "It has to be said at length, and again. " * 200
    match rng.below(8):
        case 0 | 1:
            action: dict[str, Any] = {"action": "forum_post", "content": words[: rules.post_chars]}
        case 2 | 3 if request.world.posts:
            parent = rng.pick(request.world.posts).id
            action = {"action": "forum_reply", "parent_message_id": parent, "content": words[: rules.post_chars]}
        case 4:
            other = rng.integer(1, rules.agents)
            action = {"action": "direct_message", "recipient_agent_id": other, "content": words[: rules.post_chars]}
        case 5 | 6 if world.proposals:
            action = {"action": "vote", "proposal_id": rng.pick(world.proposals).id, "vote": "yes"}
        case 7 if rng.below(4) == 0:
            action = {"action": "set_name", "display_name": words[-rules.name_chars :]}
        case _:
            action = _long_proposal(request, words)
    return Acted.model_validate({"action": action})


def _long_proposal(request: Act, words: str) -> dict[str, Any]:
    rules = request.rules
    named = list(range(max(1, rules.agents - 19), rules.agents + 1))
    paid = {"kind": "allocation", "resource": "materials", "amount": 0.01, "agents": named}
    return {
        "action": "create_proposal",
        "title": words[: rules.title_chars],
        "description": words[: rules.description_chars],
        "proposal_type": "law",
        "terms": [paid] * 4,
    }


def longest_prompts(agents: int, days: Sequence[int]) -> dict[int, int]:
    """Return by day the characters of the longest prompt of a talkative society, system message included."""
    longest = dict.fromkeys(days, 0)
    config = {**FREE, "days": max(days)}
    for _, wave in waves(config, agents, talkative, 1):
        day = next(ask.request.world.day for ask in wave.asks if isinstance(ask.request, Act))
        if day in longest:
            sizes = (sum(len(message.text) for message in prompt_messages(ask.prompt(), "")) for ask in wave.asks)
            longest[day] = max(longest[day], *sizes)
    return longest


# -- the command


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--agents", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--days", type=int, default=0, help="of each society; 0 is 5, and 30 in the poor world")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each size")
    parser.add_argument("--prompts", type=int, nargs="*", default=[1, 2, 10, 100], help="days on which to measure them")
    parser.add_argument("--waves", action="store_true", help="instead: models behind a server of 200 ms")
    parser.add_argument("--latency", type=float, default=0.2, help="of those, in seconds")
    parser.add_argument(
        "--models", type=int, default=0, help="instead: so many models behind a server that never waits"
    )
    parser.add_argument("--scarce", type=int, default=0, help="instead: so many seeds of the poor world")
    parser.add_argument("--json", action="store_true", help="every measurement as a line of JSON instead of a table")
    parser.add_argument("--one", choices=(WHOLE, MEMORY), help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.one:
        print(json.dumps(asdict(measured_here(given.one, given.agents[0], given.days))))
    elif given.waves:
        from benchmarks import society_waves

        society_waves.main(given.agents[0], given.days or DAYS, given.latency, as_json=given.json)
    elif given.models:
        from benchmarks import society_waves

        society_waves.sizes(given.models, given.days or 8, as_json=given.json)
    elif given.scarce:
        from benchmarks import society_scarce

        society_scarce.main(given.scarce, given.days or 30, as_json=given.json)
    else:
        _growth(given.agents, given.days or DAYS, given.repeats, given.prompts, as_json=given.json)


def _growth(agents: Sequence[int], days: int, repeats: int, on: Sequence[int], *, as_json: bool) -> None:
    results = [measured(path, size, days) for _ in range(repeats) for size in agents for path in (MEMORY, WHOLE)]
    prompts = {}
    for size in agents:
        if days_on := [day for day in on if size * day <= MOST_TALK]:
            prompts[size] = longest_prompts(size, days_on)
    if as_json:
        for each in results:
            print(json.dumps(asdict(each)))
        for size, longest in prompts.items():
            print(json.dumps({"agents": size, "longest_prompts": longest}))
        return
    report(results)
    for size, longest in prompts.items():
        listed = ", ".join(f"{chars:,} on day {day}" for day, chars in longest.items())
        print(f"longest prompts among {size} talkative agents, in characters: {listed}")


if __name__ == "__main__":
    main()
