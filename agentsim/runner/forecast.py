"""Forecast: what a run would send, found out by playing its game once on bots. An estimate; no model is called.

Every seat that is no bot is played by one of the game's own; what a bot says is made as long as half of what may be
said, which is what models use, or their later prompts would come out too short. Printing belongs to the command line.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from agentsim.engine.game import Bot, Game
from agentsim.engine.play import Ask, GamePlay
from agentsim.engine.reading import Decision
from agentsim.engine.request import Request, Text, values_at
from agentsim.errors import DecisionError
from agentsim.models import tokens
from agentsim.models.base import Message
from agentsim.models.tokens import Prices, longest_reply
from agentsim.players.model import prompt_messages
from agentsim.runner.plays import new_play
from agentsim.scenario.limits import prices_of
from agentsim.scenario.plan import PlayerPlan
from agentsim.scenario.scenario import Scenario

__all__ = ["Forecast", "ModelForecast", "Sample", "forecast", "shared", "wordy"]

M = TypeVar("M", bound=BaseModel)
MOST_DECISIONS = 20_000
MOST_SECONDS = 20.0
_FILLER = "and so on "


@dataclass(frozen=True, slots=True)
class Sample:
    """A prompt of the rehearsal, and the request that it puts."""

    request: Request[Any]
    messages: tuple[Message, ...]
    tokens: int


@dataclass
class ModelForecast:
    """One model's part: calls, and tokens by estimate. `repeated` are those of prompts that an earlier one began with.

    `most_completion` is what `max_tokens` allows, or `longest_reply`. Dollars are None where the price is unknown;
    `most_usd` is what the budget would reserve for these calls, each as for the dearest of a chain. `longest` is the
    longest prompt, `shortest_answer` the request whose answer has the least room for words.
    """

    model: str
    calls: int = 0
    prompt: int = 0
    repeated: int = 0
    completion: int = 0
    most_completion: int = 0
    usd: float | None = 0.0
    most_usd: float | None = 0.0
    longest: Sample | None = None
    shortest_answer: Sample | None = None


@dataclass
class Forecast:
    """The parts by model's name, in the order of the seats; `ended` where the game came to its end in the rehearsal."""

    models: dict[str, ModelForecast] = field(default_factory=dict)
    decisions: int = 0
    ended: bool = True

    def total(self) -> ModelForecast:
        """All models together."""
        whole = ModelForecast("total")
        for part in self.models.values():
            whole.calls += part.calls
            whole.prompt += part.prompt
            whole.repeated += part.repeated
            whole.completion += part.completion
            whole.most_completion += part.most_completion
            whole.usd = _sum(whole.usd, part.usd)
            whole.most_usd = _sum(whole.most_usd, part.most_usd)
        return whole


def forecast(
    scenario: Scenario,
    game: Game,
    *,
    most_decisions: int = MOST_DECISIONS,
    most_seconds: float = MOST_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    env: Mapping[str, str] | None = None,
) -> Forecast:
    """Play the scenario once on bots, and estimate what its models would be sent; a scenario without a seed with 0.
    The environment `env` may say where a provider is, and with it what a call costs there.

    Of a chain of models the first is taken, but for `most_usd`. It stops after so many decisions or seconds, and then
    says so (`ended`).
    """
    scenario = replace(scenario, seed=scenario.seed or 0)
    seats = {plan.id: plan for plan in scenario.seats}
    found = Forecast()
    for plan in seats.values():
        if _is_model(plan):
            found.models.setdefault(plan.model, ModelForecast(plan.model))
    if not found.models:
        return found
    understudy = game.bots.get("random") or next(iter(game.bots.values()))
    policies = {seat: _policy(game, plan, understudy) for seat, plan in seats.items()}
    counter = _Counter(found, seats, prices_of(scenario, env or {}))
    play = new_play(scenario, game)
    until = clock() + most_seconds
    wave = play.start()
    while wave is not None:
        decisions = []
        for ask in wave.asks:
            if found.decisions >= most_decisions or clock() > until:
                found.ended = False
                play.close()
                return found
            decisions.append(_decided(play, ask, policies[ask.request.player], seats[ask.request.player]))
            found.decisions += 1
            counter.count(ask, decisions[-1])
        wave = play.answer(decisions)
    return found


def _is_model(plan: PlayerPlan) -> bool:
    return plan.name.kind in {"remote", "local"}


def _policy(game: Game, plan: PlayerPlan, understudy: Bot) -> Bot:
    return game.bots[plan.name.rest] if plan.name.kind == "bot" else understudy


def _decided(play: GamePlay, ask: Ask, policy: Bot, plan: PlayerPlan) -> Decision:
    decision = policy(ask.request, play.bot_rng(ask))
    return wordy(ask.request, decision) if _is_model(plan) else decision


def wordy(request: Request[Any], decision: Decision) -> Decision:
    """The decision with as many words as a model would use: half of those it may."""
    said = decision
    for path, option in request.legal.items():
        if isinstance(option, Text) and isinstance(words := values_at(said).get(path), str):
            said = _replaced(said, path.split("."), _lengthened(words, option.limit // 2))
    try:
        request.check(said)
    except DecisionError:
        return decision
    return said


def _replaced(whole: M, path: Sequence[str], words: str) -> M:
    """A copy with these words at the end of the path."""
    name, *rest = path
    part: Any = _replaced(getattr(whole, name), rest, words) if rest else words
    return whole.model_copy(update={name: part})


def _lengthened(words: str, length: int) -> str:
    missing = max(0, length - len(words))
    return words + (_FILLER * (missing // len(_FILLER) + 1))[:missing]


class _Counter:
    """Adds up one rehearsal. What a prompt repeats is looked for in the player's last one and the model's last one."""

    def __init__(self, found: Forecast, seats: dict[str, PlayerPlan], prices: Prices) -> None:
        self._found, self._seats, self._prices = found, seats, prices
        self._last: dict[tuple[str, str], str] = {}

    def count(self, ask: Ask, decision: Decision) -> None:
        plan = self._seats[ask.request.player]
        if not _is_model(plan):
            return
        part = self._found.models[plan.model]
        messages = prompt_messages(ask, plan.prompt or "")
        texts = [message.text for message in messages]
        prompt, limit = tokens.about(texts), longest_reply(plan.model, plan.settings.max_tokens)
        completion = min(limit, tokens.about([decision.model_dump_json()]))
        part.calls += 1
        part.prompt += prompt
        part.repeated += min(prompt, self._repeated(plan, "".join(texts)))
        part.completion += completion
        part.most_completion += limit
        part.usd = _sum(part.usd, self._prices.estimate(plan.model, prompt, completion))
        most = tokens.at_most((*texts, json.dumps(ask.request.schema())))
        part.most_usd = _sum(part.most_usd, self._most(plan, most))
        sample = Sample(ask.request, messages, prompt)
        if part.longest is None or prompt > part.longest.tokens:
            part.longest = sample
        if part.shortest_answer is None or _room(ask.request) < _room(part.shortest_answer.request):
            part.shortest_answer = sample

    def _most(self, plan: PlayerPlan, prompt: int) -> float | None:
        """What the dearest of a seat's models takes: before a call it is not known which one will answer."""
        cap = plan.settings.max_tokens
        costs = [self._prices.estimate(each.model, prompt, longest_reply(each.model, cap)) for each in plan.models]
        known = [cost for cost in costs if cost is not None]
        return max(known) if len(known) == len(costs) else None

    def _repeated(self, plan: PlayerPlan, text: str) -> int:
        keys = ((plan.model, ""), (plan.model, plan.id))
        longest = max(shared(self._last.get(key, ""), text) for key in keys)
        self._last.update(dict.fromkeys(keys, text))
        return tokens.about([text[:longest]])


def shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _room(request: Request[Any]) -> int:
    """Characters that an answer may hold in free words."""
    return sum(option.limit for option in request.legal.values() if isinstance(option, Text))


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
