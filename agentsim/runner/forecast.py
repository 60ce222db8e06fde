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

from agentsim.engine import Text
from agentsim.engine.decision import Decision, values_at
from agentsim.engine.game import Game
from agentsim.engine.play import Ask
from agentsim.engine.request import Request
from agentsim.engine.survey import decided_by
from agentsim.errors import DecisionError
from agentsim.models.base import Message
from agentsim.models.prices import Prices, estimated_tokens, longest_reply, most_tokens
from agentsim.players.model import prompt_messages
from agentsim.runner.plays import new_play
from agentsim.scenario.player_plan import PlayerPlan
from agentsim.scenario.scenario import Scenario, prices_of

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

    def add(self, other: ModelForecast) -> None:
        """Count the calls of another."""
        for name in ("calls", "prompt", "repeated", "completion", "most_completion"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        self.most_usd = None if self.most_usd is None or other.most_usd is None else self.most_usd + other.most_usd


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
            whole.add(part)
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
    callers = {plan.id for plan in scenario.seats if plan.name.kind in {"remote", "local"}}
    found = Forecast({seats[seat].model: ModelForecast(seats[seat].model) for seat in seats if seat in callers})
    if not callers:
        return found
    understudy = game.bots.get("random") or next(iter(game.bots.values()))
    policies = {
        seat: game.bots[plan.name.rest] if plan.name.kind == "bot" else understudy for seat, plan in seats.items()
    }
    counter = _Counter(found, prices_of(scenario, env or {}))
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
            seat = ask.request.player
            decision = decided_by(policies[seat], ask.request, play.bot_rng(ask))
            if seat in callers:
                decision = wordy(ask.request, decision)
                counter.count(seats[seat], ask, decision)
            decisions.append(decision)
            found.decisions += 1
        wave = play.answer(decisions)
    return found


def wordy(request: Request[Any], decision: Decision, filler: str = _FILLER) -> Decision:
    """The decision with as many words as a model would use: half of those it may, its own before the filler."""
    said = decision
    for path, option in request.legal.items():
        if isinstance(option, Text) and isinstance(words := values_at(said).get(path), str):
            missing = max(0, option.limit // 2 - len(words))
            said = _replaced(said, path.split("."), words + (filler * missing)[:missing])
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


class _Counter:
    """Adds up one rehearsal. What a prompt repeats is looked for in the player's last one and the model's last one."""

    def __init__(self, found: Forecast, prices: Prices) -> None:
        self._found, self._prices = found, prices
        self._last: dict[tuple[str, str], str] = {}

    def count(self, plan: PlayerPlan, ask: Ask, decision: Decision) -> None:
        messages = prompt_messages(ask, plan.prompt or "")
        texts = [message.text for message in messages]
        prompt, limit = estimated_tokens(texts), longest_reply(plan.model, plan.settings.max_tokens)
        completion = min(limit, estimated_tokens([decision.model_dump_json()]))
        part = self._found.models[plan.model]
        part.add(
            ModelForecast(
                plan.model,
                calls=1,
                prompt=prompt,
                repeated=min(prompt, self._repeated(plan, "".join(texts))),
                completion=completion,
                most_completion=limit,
                usd=self._prices.estimate(plan.model, prompt, completion),
                most_usd=self._most(plan, most_tokens((*texts, json.dumps(ask.request.schema())))),
            )
        )
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
        return estimated_tokens([text[:longest]])


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
