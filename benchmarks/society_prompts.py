"""Prompts of a talkative society, and what a day of them costs with and without a prefix cache.

    uv run python -m benchmarks.society_prompts
    uv run python -m benchmarks.society_prompts --chars 1500 --days 10

A hundred agents, ten of each scripted persona (`benchmarks.personas`), live for thirty days in memory; every prompt is
measured by the shipped estimate of tokens. With `--chars` all posts, messages and proposals have that length, and the
agents do little else. Then a hundred models play three days with texts of the same length, behind a loopback server
that counts what its prefix cache has met, once with all calls of a turn at once and once with one call ahead
(`warm`). Dollars are by three lists of prices from the package's catalog.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from agentsim.engine import Bot, Decision, Request, Stream
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.state import State
from agentsim.games.society.talk import Posted
from agentsim.models.base import prompt_messages
from agentsim.models.prices import estimated_tokens
from benchmarks.loopback import loopback
from benchmarks.personas import PERSONAS, persona
from benchmarks.society import waves
from benchmarks.society_served import served
from tests.playing import play_scenario

LISTS = {"gpt-5-mini": (0.25, 0.025, 2.00), "llama-3.3-70b": (0.59, 0.295, 0.79), "gpt-4.1": (2.00, 0.50, 8.00)}
"""Dollars per million tokens of prompts, of those in a cache, and of answers."""
OWN = ("Your earlier actions", "Your messages", "Your proposals and votes", "Your note")
WINDOW = 20


@dataclass(frozen=True)
class Prompts:
    """All prompts of one society: tokens of the longest and on average, and the shares of own parts.

    `rules` are the most tokens of a system message, `rest` those of a prompt beside its posts and open proposals.
    `posts` and `proposals` are the shares of prompts that show the newest 20, or all of fewer, each of them whole.
    """

    agents: int
    days: int
    prompts: int
    longest: int
    mean: float
    own: dict[str, float]
    rules: int
    rest: int
    posts: float
    proposals: float


@dataclass(frozen=True)
class Billed:
    """Tokens per day, as the server counts them, and dollars by list of prices.

    `uncached` are the dollars of a provider without a cache.
    """

    agents: int
    warm: str
    prompt: float
    cached: float
    completion: float
    usd: dict[str, float]
    uncached: dict[str, float]


def writer(chars: int) -> Bot:
    """Return a policy that mostly writes texts of this length, each of its own."""

    def policy(request: Request[Any], rng: Stream) -> Decision:
        assert isinstance(request, Act)
        words = f"{rng.below(10**9)} {'It is said again, and to all, that this is so. ' * (chars // 40)}"[
            :chars
        ].strip()
        kind = rng.pick(("post", "post", "propose", "message", "vote", "work"))
        said: dict[str, Any] = {"action": "forum_post", "content": words.ljust(chars, ".")}
        if kind == "propose":
            said = {"action": "create_proposal", "title": words[:60], "description": words.ljust(chars, ".")}
            said["proposal_type"] = rng.pick(("law", "rule", "other"))
        elif kind == "message":
            number = rng.integer(1, request.rules.agents - 1)
            recipient = number + (number >= request.you.agent)
            said = {"action": "direct_message", "recipient_agent_id": recipient, "content": words}
        elif kind == "vote" and request.world.proposals:
            said = {"action": "vote", "proposal_id": rng.pick(request.world.proposals).id, "vote": "yes"}
        elif kind == "work":
            said = {"action": "work", "work_type": rng.pick(("farm", "generate")), "hours": 2}
        return Acted.model_validate({"action": said})

    return policy


def measured(agents: int, days: int, chars: int = 0) -> Prompts:
    """Measure the prompts of a society of personas, or of writers. Own parts are counted from the second day on."""
    sizes: list[int] = []
    found = dict.fromkeys(OWN, 0)
    later = rules = rest = posts = proposals = seen = 0
    said: deque[str] = deque(maxlen=WINDOW)
    for play, wave in waves({"days": days}, agents, writer(chars) if chars else persona, 1):
        said.extend(entry.event.text for entry in play.log[seen:] if isinstance(entry.event, Posted))
        seen, state = len(play.log), play.table.watched
        assert isinstance(state, State)
        drawn = [proposal.description for proposal in state.assembly.open.values()][-WINDOW:]
        for ask in wave.asks:
            texts = [message.text for message in prompt_messages(ask.prompt(), "")]
            sizes.append(estimated_tokens(texts))
            talk = [line for line in texts[1].splitlines() if line.startswith(('{"post"', '{"proposal"'))]
            rules = max(rules, estimated_tokens([texts[0]]))
            rest = max(rest, sizes[-1] - estimated_tokens(talk))
            posts += all(words in texts[1] for words in said)
            proposals += all(words in texts[1] for words in drawn)
            if isinstance(ask.request, Act) and ask.request.world.day > 1:
                later += 1
                for part in OWN:
                    found[part] += f"\n{part}" in texts[1]
    shares = {part: count / max(1, later) for part, count in found.items()}
    whole = posts / len(sizes), proposals / len(sizes)
    return Prompts(agents, days, len(sizes), max(sizes), fmean(sizes), shares, rules, rest, *whole)


def replies(chars: int = 0) -> Iterator[str]:
    """Yield the server's replies: words and work in equal proportions for all personas."""
    for index, each in enumerate(PERSONAS):
        words = f"{each.voice} {{n}} " + "It has to be said again, and to all, that this is so. " * (
            1 + (chars or 324) // 54
        )
        if chars:
            words = words[:chars]
        acts = (
            {"action": "forum_post", "content": words},
            {"action": "direct_message", "recipient_agent_id": index + 1, "content": words if chars else words[:300]},
            {"action": "create_proposal", "title": "{n}", "description": words, "proposal_type": "rule"},
            {"action": "work", "work_type": "farm", "hours": 3},
            {"action": "work", "work_type": "generate", "hours": 3},
        )
        yield from (json.dumps({"action": act}) for act in acts)


def billed(agents: int, days: int, warm: str, latency_s: float, chars: int = 0) -> Billed:
    """Play a run and return its average bill per day."""
    with loopback(latency_s, *replies(chars), caches=True) as url, tempfile.TemporaryDirectory() as scratch:
        scenario = served(Path(scratch), url, agents=agents, days=days, warm=warm)
        result = play_scenario(scenario, Path(scratch), env={})
    assert result.status == "completed", result.error
    usage = result.history["usage"]
    prompt, cached, out = (usage[name] / days for name in ("prompt_tokens", "cached_tokens", "completion_tokens"))
    usd, uncached = {}, {}
    for name, (fresh, again, output) in LISTS.items():
        usd[name] = ((prompt - cached) * fresh + cached * again + out * output) / 1e6
        uncached[name] = (prompt * fresh + out * output) / 1e6
    return Billed(agents, warm, prompt, cached, out, usd, uncached)


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--days", type=int, default=30, help="of the society in memory")
    parser.add_argument("--billed-days", type=int, default=3)
    parser.add_argument("--chars", type=int, default=0, help="of every post, message and proposal")
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--json", action="store_true", help="every measurement as a line of JSON instead")
    given = parser.parse_args(words)
    prompts = measured(given.agents, given.days, given.chars)
    bills = [billed(given.agents, given.billed_days, warm, given.latency, given.chars) for warm in ("off", "on")]
    if given.json:
        print(json.dumps(asdict(prompts)))
        for bill in bills:
            print(json.dumps(asdict(bill)))
        return
    print(f"{prompts.prompts:,} prompts: at most {prompts.longest:,} tokens, {prompts.mean:,.0f} on average")
    print(f"  {prompts.rules:,} in the system message; at most {prompts.rest:,} beside posts and open proposals")
    print(f"  all of the newest {WINDOW} posts whole in {prompts.posts:.1%}, proposals in {prompts.proposals:.1%}")
    print("  with " + ", ".join(f"{part!r} {share:.1%}" for part, share in prompts.own.items()))
    for bill in bills:
        tokens = f"{bill.prompt:,.0f} tokens of prompts, {bill.cached / bill.prompt:.1%} of them cached"
        print(f"a day, warm = {bill.warm!r}: {tokens}, {bill.completion:,.0f} of answers")
        for name, usd in bill.usd.items():
            print(f"  {name}: ${usd:.2f}, without a cache ${bill.uncached[name]:.2f}")


if __name__ == "__main__":
    main()
