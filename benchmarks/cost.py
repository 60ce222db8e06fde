"""What a game costs with a provider's prompt cache and without one, by game and list of prices.

    uv run python -m benchmarks.cost
    uv run python -m benchmarks.cost > docs/cost.md

Every player of a shipped scenario is one model behind a loopback server, which answers as the game's typical bots do,
with texts as long as a forecast assumes. The server bills by three lists of prices, each with a prefix cache of its
own: the beginning of an answered prompt is cached from `minimum` tokens on, in steps of `step`, until it was not used
for `lifetime_s`. A wave takes ten seconds. What the server bills by the first list must be what the run's history says.

Prompts under 1,024 tokens are never cached. So the table has beside the cached share that of a prompt which repeats
the beginning of an answered one, whatever its length.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from agentsim import games
from agentsim.engine.request import Ask
from agentsim.engine.survey import decided_by
from agentsim.engine.wording import TOKEN_BYTES
from agentsim.models.base import prompt_messages
from agentsim.models.prices import estimated_tokens
from agentsim.records.load import load_history
from agentsim.runs.forecast import wordy
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.playing import play_scenario

MODEL = "lab/model"
WAVE_S = 10.0
"""Seconds that a wave takes, for the lifetime of what a cache holds."""
LATENCY_S = 0.002
"""Seconds before the server answers, so that calls of a wave can meet only what was answered before them."""
STEP = 128
"""Tokens of a block of the cache that repeats are measured by, which has no minimum and no lifetime."""


@dataclass(frozen=True)
class PriceList:
    """Dollars per million tokens of prompts, cached prompts and replies, and the terms of the prefix cache."""

    model: str
    input: float
    cached: float
    output: float
    minimum: int = 1_024
    step: int = STEP
    lifetime_s: float = 300.0

    @property
    def discount(self) -> str:
        """The discount on cached tokens, in percent."""
        return f"{1 - self.cached / self.input:.0%}"

    def dollars(self, prompt: int, cached: int, reply: int) -> float:
        """Return the price of so many tokens."""
        return ((prompt - cached) * self.input + cached * self.cached + reply * self.output) / 1_000_000


LISTS = (
    PriceList("gpt-5-mini", 0.25, 0.025, 2.00),
    PriceList("gpt-4o-mini", 0.15, 0.075, 0.60),
    PriceList("llama-3.3-70b", 0.88, 0.88, 0.88),
)
"""List prices of OpenAI, with the terms of its guide to prompt caching, and of Together, which has no discount."""
SCENARIOS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "agent_island": ("agent_island_openrouter", ()),
    "auction": ("auction", ()),
    "market": ("market", ()),
    "monopoly": ("monopoly_openrouter", ("game_config.max_turns=100", f'staff.summarizer.model="{MODEL}"')),
    "society": ("society", ("game_config.days=3",)),
    "werewolf": ("werewolf", ()),
}
"""The shipped scenario of each game, and what is changed in it."""


class PrefixCache:
    """A provider's prefix cache: checksums of all beginnings of answered prompts, with the time of their last use."""

    def __init__(self, minimum: int, step: int, lifetime_s: float) -> None:
        self._minimum, self._step, self._lifetime_s = minimum, step, lifetime_s
        self._used: dict[int, float] = {}

    def cached(self, prompt: bytes, now: float) -> int:
        """Return the tokens of the prompt's beginning that are in the cache."""
        met = 0
        for block in self._blocks(prompt):
            if now - self._used.get(block, -self._lifetime_s - 1) > self._lifetime_s:
                break
            met += self._step
        return met if met >= self._minimum else 0

    def add(self, prompt: bytes, now: float) -> None:
        """Add the beginnings of an answered prompt."""
        self._used.update(dict.fromkeys(self._blocks(prompt), now))

    def _blocks(self, prompt: bytes) -> Iterator[int]:
        width, checksum = self._step * TOKEN_BYTES, 0
        for start in range(0, len(prompt) - width + 1, width):
            checksum = zlib.crc32(prompt[start : start + width], checksum)
            yield checksum


@dataclass
class Bill:
    """The dollars and the cached tokens of one list."""

    prices: PriceList
    cache: PrefixCache
    cached: int = 0
    usd: float = 0.0
    without: float = 0.0


@dataclass
class Server:
    """The answers of a model server to the calls of one game, and its bills."""

    scenario: Scenario
    calls: int = 0
    prompt: int = 0
    reply: int = 0
    repeated: list[float] = field(default_factory=list)
    """The share of each prompt that repeats the beginning of an answered one."""

    def __post_init__(self) -> None:
        game = games.find(self.scenario.game)
        self._bots = dict(zip((plan.id for plan in self.scenario.players), cycle(game.typical), strict=False))
        self._game, self._play = game, new_play(self.scenario, game)
        self._personas = {plan.id: plan.prompt or "" for plan in self.scenario.seats}
        self.bills = [Bill(each, PrefixCache(each.minimum, each.step, each.lifetime_s)) for each in LISTS]
        self._repeats = PrefixCache(0, STEP, float("inf"))
        self._wave = self._play.start()
        self._now = 0.0
        self._open()

    def _open(self) -> None:
        asks = self._wave.asks if self._wave is not None else ()
        self._waiting = {self._sent(ask): ask for ask in asks}
        self._decisions: dict[int, Any] = {}

    def _sent(self, ask: Ask) -> str:
        return "".join(m.text for m in prompt_messages(ask.prompt(), self._personas[ask.request.player]))

    def __call__(self, body: Mapping[str, Any]) -> Raw:
        sent = "".join(message["content"] for message in body["messages"])
        ask = self._waiting.pop(sent)
        bot = self._game.bots[self._bots.get(ask.request.player, self._game.typical[0])]
        decision = wordy(ask.request, decided_by(bot, ask.request, self._play.bot_rng(ask)))
        text = decision.model_dump_json()
        answer = Raw(body={**envelope(text, model="model"), "usage": self._billed(sent, text)})
        self._decisions[ask.index] = decision
        assert self._wave is not None
        if not self._waiting:
            self._wave = self._play.answer([self._decisions[each.index] for each in self._wave.asks])
            self._now += WAVE_S
            self._open()
        return answer

    def _billed(self, sent: str, text: str) -> dict[str, Any]:
        """Add a call to all bills, and return its usage by the first."""
        data, tokens, out = sent.encode(), estimated_tokens([sent]), estimated_tokens([text])
        self.calls, self.prompt, self.reply = self.calls + 1, self.prompt + tokens, self.reply + out
        self.repeated.append(self._repeats.cached(data, self._now) / tokens)
        self._repeats.add(data, self._now)
        counted = []
        for bill in self.bills:
            cached = bill.cache.cached(data, self._now) if bill.prices.cached < bill.prices.input else 0
            bill.cache.add(data, self._now)
            counted.append(cached)
            bill.cached += cached
            bill.usd += bill.prices.dollars(tokens, cached, out)
            bill.without += bill.prices.dollars(tokens, 0, out)
        return {
            "prompt_tokens": tokens,
            "completion_tokens": out,
            "total_tokens": tokens + out,
            "prompt_tokens_details": {"cached_tokens": counted[0]},
        }


def played(game: str, seed: int = 1) -> Server:
    """Play the scenario of a game and return the server with its bills."""
    name, changes = SCENARIOS[game]
    path, first = Path("configs", f"{name}.toml"), LISTS[0]
    prices = f"{{ input = {first.input}, cached_input = {first.cached}, output = {first.output} }}"
    overrides = [f'defaults.model="{MODEL}"', *changes, f'prices={{ "{MODEL}" = {prices} }}']

    def scenario(url: str) -> Scenario:
        own = [f'providers.lab={{ base_url = "{url}", warm = "on", spacing_ms = 0 }}', "limits.max_cost_usd=1000"]
        return replace(load(path, overrides=[*overrides, *own], model=MODEL), seed=seed)

    server = Server(scenario("http://127.0.0.1:1/v1"))
    with tempfile.TemporaryDirectory() as scratch, FakeServer(server, latency_s=LATENCY_S).in_thread() as fake:
        result = play_scenario(scenario(fake.url()), Path(scratch), env={"LAB_API_KEY": "sk-loopback"})
        assert result.status == "completed", result.error
        usage = load_history(result.files.history).usage
    assert usage.cached_tokens == server.bills[0].cached
    assert usage.cost_usd is not None
    assert abs(usage.cost_usd - server.bills[0].usd) < 0.005, "the run and the server disagree about the price"
    return server


_PAGE = """# What a game costs

    python -m benchmarks.cost

prints this page. Every player of a shipped scenario is one model behind a server on loopback, which answers as the
game's typical bots do, with texts as long as a forecast assumes, and bills by a prefix cache. In brackets: the same
without a cache.

{table}

- *repeated*: the median share of a prompt that repeats the beginning of an earlier prompt, of any player.
- *cached*: the share of all prompt tokens that a cache takes: at least 1,024 tokens, in steps of 128, for five minutes.
  Prompts under 1,024 tokens are never cached.
- Dollars per million tokens of prompts, cached prompts and replies: {lists}.
- Monopoly has 100 turns, Society 100 agents and 3 days. Players of several models share no cache. Models that think
  write more: [a forecast](models.md#what-a-run-costs) can be calibrated by a pilot.
"""


def page(servers: Mapping[str, Server]) -> str:
    """Return `docs/cost.md`."""
    terms = (f"`{each.model}` {each.input:g}, {each.cached:g}, {each.output:g}" for each in LISTS)
    return _PAGE.format(table="\n".join(_table(servers)), lists="; ".join(terms))


def _table(servers: Mapping[str, Server]) -> Iterator[str]:
    lists = [f"{each.model} ({each.discount} off)" for each in LISTS]
    yield f"| game | calls | prompt tokens | repeated | cached | {' | '.join(lists)} |"
    yield f"|---|--:|--:|--:|--:|{'--:|' * len(lists)}"
    for game, server in servers.items():
        bills = " | ".join(
            f"${bill.usd:.3f}" + (f" ({bill.without:.3f})" if bill.cached else "") for bill in server.bills
        )
        cached, repeated = server.bills[0].cached / server.prompt, median(server.repeated)
        yield f"| {game} | {server.calls:,} | {server.prompt:,} | {repeated:.0%} | {cached:.0%} | {bills} |"


def _to_json(game: str, server: Server) -> dict[str, Any]:
    usd = {bill.prices.model: {"usd": bill.usd, "without_cache": bill.without} for bill in server.bills}
    shares = {"repeated": median(server.repeated), "cached": server.bills[0].cached / server.prompt}
    return {"game": game, "calls": server.calls, "prompt_tokens": server.prompt, **shares, "lists": usd}


def main(words: Sequence[str] | None = None) -> None:
    """Play and print the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--games", nargs="+", choices=sorted(SCENARIOS), default=sorted(SCENARIOS))
    parser.add_argument("--json", action="store_true", help="a line of JSON a game instead")
    given = parser.parse_args(words)
    servers = {game: played(game) for game in given.games}
    if given.json:
        for game, server in servers.items():
            print(json.dumps(_to_json(game, server)))
    else:
        print(page(servers), end="")


if __name__ == "__main__":
    main()
