"""What Monopoly's players remember and what a game costs, by the number of words that they say with each decision.

    uv run python -m benchmarks.monopoly_talk
    uv run python -m benchmarks.monopoly_talk --words 22 --config configs/monopoly_openrouter.toml --turns 200

The scenario is played against a model server on loopback, which answers as the four bots do, with so many words for
each speech and pitch. Every prompt that the server receives is compared with all that was told before it: the talk of
the last ten turns, word for word (words with a bid or a purchase of an earlier turn to 80 characters), the offers of
those turns with their answers, and all summaries. Tokens are the package's own estimate, as in a forecast, and dollars
are at list price. The game is forecast twice: with texts as Monopoly reckons, and with texts as long as in a pilot, 20
turns of a game with another seed (`agentsim validate FILE --like PILOT`).
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.survey import decided_by
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.auctions import AuctionBid
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.question import MonopolyRequest, Spoken
from agentsim.games.monopoly.summarizing import Summary
from agentsim.games.monopoly.talk import Spoke, Summarized
from agentsim.games.monopoly.trade import Offered, TradeAccepted, TradeProposed, TradeRejected
from agentsim.models.prices import estimated_tokens
from agentsim.records.history import History
from agentsim.records.load import load_history
from agentsim.runs.forecast import TextLengths, forecast, text_lengths
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario, prices_of
from tests.fakes.server import FakeServer
from tests.playing import play_scenario

M = TypeVar("M", bound=BaseModel)
TURNS = 10
"""Turns before the current one whose talk and offers a prompt has."""
KEPT = 80
"""Characters of a speech with a bid or a purchase that are kept after its turn."""
THOUGHT = 45
"""Words of a private thought."""
PILOT = 20
"""Turns of the pilot, another game, whose texts tell a forecast how much is said."""
_TEXT = (
    "I would rather keep what is mine than sell it for a promise so tell me plainly what you want and what the others "
    "at this table will get because nobody gives a railroad away without asking for the orange ones in return"
)
_WORDS = _TEXT.split()


@dataclass
class Table:
    """The answers of a model server to one game, and what it finds in the prompts that it receives."""

    scenario: Scenario
    words: int
    prompts: int = 0
    tokens: int = 0
    longest: int = 0
    dollars: float = 0.0
    whole: Counter[str] = field(default_factory=Counter)
    """Prompts with all of the talk, the offers, and the summaries."""
    turns: int = 0
    answered: int = 0

    def __post_init__(self) -> None:
        self._play = new_play(self.scenario, GAME)
        self._wave = self._play.start()
        self._bots = dict(zip((plan.id for plan in self.scenario.players), cycle(GAME.typical), strict=False))
        self._models = {plan.id: plan.model for plan in (*self.scenario.players, *self.scenario.staff.values())}
        self._prices = prices_of(self.scenario, {})
        self._said = 0
        self._short: set[int] = set()  # decisions whose words are kept short once their turn is over

    def __call__(self, body: Mapping[str, Any]) -> str:
        assert self._wave is not None
        (ask,) = self._wave.asks
        texts, request = [message["content"] for message in body["messages"]], ask.request
        assert texts[-1].startswith("\n".join(ask.prompt().history)[:400]), "the run plays another game"
        bot = GAME.bots[self._bots.get(request.player, GAME.typical[0])]
        decision = self._wordy(decided_by(bot, request, self._play.bot_rng(ask)))
        if isinstance(request, MonopolyRequest):
            self._look(request, texts)
        if isinstance(request, BuyOrAuction | AuctionBid):
            self._short.add(ask.index)
        reply = decision.model_dump_json()
        model, prompt = self._models[request.player], estimated_tokens(texts)
        self.dollars += self._prices.estimate(model, prompt, estimated_tokens([reply])) or 0.0
        self.answered += 1
        self._wave = self._play.answer([decision])
        return reply

    def _wordy(self, decision: Decision) -> Decision:
        """Return the decision with words of this table in place of the bot's own."""
        if isinstance(decision, Summary):
            return replace_words(decision, summary=" ".join(islice(cycle(_WORDS), 50)))
        said = replace_words(decision, public_speech=self._speech(self.words), private_thought=self._speech(THOUGHT))
        action = said.action if isinstance(said, Spoken) else None
        if isinstance(action, Offered) and action.pitch:
            said = said.model_copy(update={"action": replace_words(action, pitch=self._speech(self.words))})
        return said

    def _speech(self, words: int) -> str:
        self._said += 1
        own = Stream(f"speech/{self._said}").shuffled(_WORDS)
        return " ".join((f"{self._said}:", *islice(cycle(own), words - 1)))

    def _look(self, request: MonopolyRequest[Any], texts: Sequence[str]) -> None:
        text, now = "\n".join(texts), request.view.turn
        tokens = estimated_tokens(texts)
        self.prompts, self.tokens, self.turns = self.prompts + 1, self.tokens + tokens, now
        self.longest = max(self.longest, tokens)
        recent = [entry for entry in self._play.log if now - TURNS <= entry.round <= now]
        talk = {each for entry in recent for each in self._spoken(entry, now)}
        offers = {line for entry in recent for line in _offer(entry.event)}
        summaries = {entry.event.text for entry in self._play.log if isinstance(entry.event, Summarized)}
        for name, wanted in (("talk", talk), ("offers", offers), ("summaries", summaries)):
            self.whole[name] += all(part in text for part in wanted)

    def _spoken(self, entry: Any, now: int) -> Iterator[str]:
        match entry.event:
            case Spoke(text=text):
                yield text[: KEPT - 10] if entry.decision in self._short and entry.round < now else text
            case TradeProposed(pitch=pitch):
                yield pitch


def _offer(event: Any) -> Iterator[str]:
    match event:
        case TradeProposed():
            yield f"{event.proposer_name} offers {event.target_name} {event.offer} for {event.request}"
        case TradeAccepted() | TradeRejected():
            yield f"{event.target_name} {event.verb} it"


def replace_words(part: M, **words: str) -> M:
    """Return a copy of a part of a decision with these texts."""
    return part.model_copy(update=words)


def played(config: Path, words: int, turns: int, seed: int) -> tuple[Table, History]:
    """Play the scenario on a server, and return what was found, and the history."""
    overrides = [f"game_config.max_turns={turns}", "limits.max_cost_usd=1000"]
    scenario = replace(load(config, overrides=overrides), seed=seed)
    table = Table(scenario, words)
    with tempfile.TemporaryDirectory() as scratch, FakeServer(table).in_thread() as server:
        models = {plan.model for plan in scenario.seats}
        providers = {model.partition("/")[0] for model in models}
        served = [f'providers.{name}.base_url="{server.url()}"' for name in providers]
        served += [f"providers.{name}.spacing_ms=0" for name in providers]
        free = ", ".join(f'"{model}" = {{ input = 0, output = 0 }}' for model in sorted(models))
        served.append(f"prices={{ {free} }}")  # a server on loopback has no list prices
        keys = {f"{name.upper()}_API_KEY": "sk-loopback" for name in providers}
        live = replace(load(config, overrides=[*overrides, *served]), seed=seed)
        result = play_scenario(live, Path(scratch), env=keys)
        assert result.status == "completed", result.error
        return table, load_history(result.files.history)


def foreseen(config: Path, turns: int, seed: int, lengths: TextLengths | None = None) -> float:
    """Return the dollars of a game that are forecast."""
    scenario = load(config, overrides=[f"game_config.max_turns={turns}", "limits.max_cost_usd=1000"])
    expected = forecast(replace(scenario, seed=seed), GAME, most_decisions=1_000_000, most_seconds=600, lengths=lengths)
    return expected.total().usd or 0.0


def main(words: Sequence[str] | None = None) -> None:
    """Play, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--config", type=Path, default=Path("configs/monopoly_seed.toml"))
    parser.add_argument("--words", type=int, nargs="+", default=[8, 14, 22], help="of a speech")
    parser.add_argument("--turns", type=int, default=1000, help="the most of a game")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    columns = ("words", "turns", "decisions", "ten turns of talk", "offers", "all summaries", "tokens a prompt")
    print(f"| {' | '.join((*columns, 'longest', '$ a game', 'forecast', 'forecast like a pilot'))} |")
    before = foreseen(given.config, given.turns, given.seed)
    for count in given.words:
        table, _ = played(given.config, count, given.turns, given.seed)
        _, pilot = played(given.config, count, PILOT, given.seed + 1)
        after = foreseen(given.config, given.turns, given.seed, text_lengths(pilot.decisions))
        shares = " | ".join(f"{table.whole[name] / table.prompts:.1%}" for name in ("talk", "offers", "summaries"))
        forecasts = " | ".join(f"{usd:.2f} ({usd / table.dollars - 1:+.0%})" for usd in (before, after))
        print(
            f"| {count} | {table.turns} | {table.answered} | {shares} | {table.tokens / table.prompts:,.0f} | "
            f"{table.longest:,} | {table.dollars:.2f} | {forecasts} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
