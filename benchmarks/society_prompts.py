"""Prompts of a talkative society, and what a day of them costs with and without a prefix cache.

    uv run python -m benchmarks.society_prompts

A hundred agents, ten of each scripted persona (`benchmarks.personas`), live for thirty days in memory; every prompt is
measured by the shipped estimate of tokens. Then a hundred models play three days with texts of the same length, behind
a server that reports its prefix cache (`benchmarks.loopback`): with all calls of a wave at once, and with one of them
ahead (`warm`). Dollars are those of gpt-5-mini: 0.25 for a million tokens, 0.025 for cached ones, 2.00 for answers;
`uncached` are those of a provider without a cache.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from agentsim.games.society.requests import Act
from agentsim.models.prices import estimated_tokens
from agentsim.players.model import prompt_messages
from benchmarks.loopback import loopback
from benchmarks.personas import PERSONAS, persona
from benchmarks.society import waves
from benchmarks.society_served import served
from tests.playing import play_scenario

INPUT, CACHED, OUTPUT = 0.25, 0.025, 2.00  # dollars per million tokens
OWN = ("What you did", "Your messages", "Your part in decisions", "Your note")


@dataclass(frozen=True)
class Prompts:
    """All prompts of one society: tokens of the longest and on average, and the share of prompts with each own part."""

    agents: int
    days: int
    prompts: int
    longest: int
    mean: float
    own: dict[str, float]


@dataclass(frozen=True)
class Billed:
    """Tokens per day, as the server counts them, and dollars."""

    agents: int
    warm: str
    prompt: float
    cached: float
    completion: float
    usd: float
    uncached: float


def measured(agents: int, days: int) -> Prompts:
    """Measure the prompts of a society of personas. Own parts are counted from the second day on."""
    sizes: list[int] = []
    found = dict.fromkeys(OWN, 0)
    later = 0
    for _, wave in waves({"days": days}, agents, persona, 1):
        for ask in wave.asks:
            texts = [message.text for message in prompt_messages(ask, "")]
            sizes.append(estimated_tokens(texts))
            if isinstance(ask.request, Act) and ask.request.world.day > 1:
                later += 1
                for part in OWN:
                    found[part] += f"\n{part}" in texts[1]
    shares = {part: count / max(1, later) for part, count in found.items()}
    return Prompts(agents, days, len(sizes), max(sizes), fmean(sizes), shares)


def replies() -> Iterator[str]:
    """Yield the server's replies: words and work in equal proportions for all personas."""
    for place, each in enumerate(PERSONAS):
        words = f"{each.voice} {{n}} " + "It has to be said again, and to all, that this is so. " * 6
        acts = (
            {"action": "forum_post", "content": words},
            {"action": "direct_message", "recipient_agent_id": place + 1, "content": words[:300]},
            {"action": "create_proposal", "title": "{n}", "description": words, "proposal_type": "rule"},
            {"action": "work", "work_type": "farm", "hours": 3},
            {"action": "work", "work_type": "generate", "hours": 3},
        )
        yield from (json.dumps({"action": act}) for act in acts)


def billed(agents: int, days: int, warm: str, latency_s: float) -> Billed:
    """Play a run and return its average bill per day."""
    with loopback(latency_s, *replies(), caches=True) as url, tempfile.TemporaryDirectory() as scratch:
        scenario = served(Path(scratch), url, agents=agents, days=days, warm=warm)
        result = play_scenario(scenario, Path(scratch), env={})
    assert result.status == "completed", result.error
    usage = result.history["usage"]
    prompt, cached, out = (usage[name] / days for name in ("prompt_tokens", "cached_tokens", "completion_tokens"))
    usd = ((prompt - cached) * INPUT + cached * CACHED + out * OUTPUT) / 1e6
    return Billed(agents, warm, prompt, cached, out, usd, (prompt * INPUT + out * OUTPUT) / 1e6)


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--days", type=int, default=30, help="of the society in memory")
    parser.add_argument("--billed-days", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--json", action="store_true", help="every measurement as a line of JSON instead")
    given = parser.parse_args(words)
    prompts = measured(given.agents, given.days)
    bills = [billed(given.agents, given.billed_days, warm, given.latency) for warm in ("off", "on")]
    if given.json:
        print(json.dumps(asdict(prompts)))
        for bill in bills:
            print(json.dumps(asdict(bill)))
        return
    print(f"{prompts.prompts:,} prompts: at most {prompts.longest:,} tokens, {prompts.mean:,.0f} on average")
    print("  with " + ", ".join(f"{part!r} {share:.1%}" for part, share in prompts.own.items()))
    for bill in bills:
        tokens = f"{bill.prompt:,.0f} tokens of prompts, {bill.cached / bill.prompt:.1%} of them cached"
        dollars = f"${bill.usd:.3f}, without a cache ${bill.uncached:.3f}"
        print(f"a day, warm = {bill.warm!r}: {tokens}, {bill.completion:,.0f} of answers: {dollars}")


if __name__ == "__main__":
    main()
