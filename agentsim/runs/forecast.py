"""Forecast: an estimate of what a run would send, from playing its game with bots. No model is called.

The game's typical policies, dealt in turn, play the seats without bots. Their texts are padded to what models write,
so that later prompts do not come out too short: half of what is allowed unless the option says otherwise. At
most `MOST_MEASURED` prompts to a model are measured in one wave, and stand for the others. Three such games are played,
in the world of the scenario's seed with other draws of the policies, or in the worlds of three seeds if there is none;
the estimate is the one with the median number of calls. These games and one game for each single policy give the
minimum and maximum number of calls. The command line prints the forecast.

How much models say decides what a game with memory costs, and no one knows it before the first game. `text_lengths`
measures it in a played game, so that a short pilot calibrates the forecast of a whole game.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import cycle
from statistics import fmean
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from agentsim.engine import Text
from agentsim.engine.chance import Chance
from agentsim.engine.codec import values_by_path
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot, Game, bots_of, typical_of
from agentsim.engine.play import GamePlay
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Ask, Request, Wave
from agentsim.engine.survey import Survey, decided_by
from agentsim.errors import DecisionError
from agentsim.lazy import dataclass
from agentsim.models.base import Message, prompt_messages
from agentsim.models.prices import Prices, estimated_tokens, longest_reply, most_tokens
from agentsim.records.journal import DecisionRecord
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.player_plan import PlayerPlan
from agentsim.scenario.scenario import Scenario, prices_of
from agentsim.scenario.validation import dotted

M = TypeVar("M", bound=BaseModel)
MOST_DECISIONS = 20_000
MOST_SECONDS = 20.0
MOST_CASTS = 16
"""The most scenarios of a batch that are rehearsed."""
MOST_MEASURED = 12
"""The maximum number of prompts to one model that are measured in one wave."""
REHEARSALS = 3
"""The number of games that the typical policies play."""
_FILLER = "and so on "

TextLengths: TypeAlias = Mapping[tuple[str, str], int]
"""Characters of a text by the kind of its question and its path in the decision."""


def text_lengths(records: Iterable[DecisionRecord]) -> TextLengths:
    """Return the mean lengths of the texts that models wrote in a played game."""
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for record in records:
        if record.source == "model" and record.survey is None:
            for path, text in _texts_of(record.decision):
                found[record.kind, path].append(len(text))
    return {key: round(fmean(lengths)) for key, lengths in found.items()}


def _texts_of(decision: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, str]]:
    for name, value in decision.items():
        if isinstance(value, str):
            yield f"{under}{name}", value
        elif isinstance(value, Mapping):
            yield from _texts_of(value, f"{under}{name}.")


@dataclass(frozen=True, slots=True)
class Sample:
    """A prompt of the rehearsal, and its request; `tokens` is an estimate."""

    request: Request[Any]
    messages: tuple[Message, ...]
    tokens: int


@dataclass
class ModelForecast:
    """The estimated calls, tokens and dollars of one model.

    `repeated` are the prompt tokens that an earlier prompt began with. `most_completion` is what `max_tokens` allows,
    or `longest_reply`. Dollars are None if the price is unknown; `most_usd` is what the budget would reserve for these
    calls, each at the price of the most expensive model of the chain. `longest` is the longest prompt,
    `shortest_answer` the request whose answer has the least room for words.
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

    def to_json(self) -> dict[str, Any]:
        """Return the calls, tokens and dollars by name."""
        return {
            "model": self.model,
            "calls": self.calls,
            "prompt_tokens": self.prompt,
            "repeated_prompt_tokens": self.repeated,
            "completion_tokens": self.completion,
            "most_completion_tokens": self.most_completion,
            "cost_usd": self.usd,
            "most_cost_usd": self.most_usd,
        }

    def add(self, other: ModelForecast) -> None:
        """Add the calls, tokens and dollars of another forecast."""
        for name in ("calls", "prompt", "repeated", "completion", "most_completion"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        self.most_usd = None if self.most_usd is None or other.most_usd is None else self.most_usd + other.most_usd

    def times(self, calls: int, measured: int) -> ModelForecast:
        """Scale from `measured` prompts to `calls` calls."""
        tokens = {
            name: getattr(self, name) * calls // measured
            for name in ("prompt", "repeated", "completion", "most_completion")
        }
        usd, most = (None if each is None else each * calls / measured for each in (self.usd, self.most_usd))
        return ModelForecast(self.model, calls=calls, **tokens, usd=usd, most_usd=most)


@dataclass
class Forecast:
    """The forecasts by name of the model, in the order of the seats; `ended` if the game ended in the rehearsal.

    `least` and `most` are the calls of all models together in the shortest and the longest of all rehearsals. Tokens
    and texts are those of the first rehearsal, tokens in proportion to the calls of the median one.
    """

    models: dict[str, ModelForecast] = field(default_factory=dict)
    decisions: int = 0
    ended: bool = True
    least: int = 0
    most: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    """The characters that models say, by the path of a text."""
    said: Counter[str] = field(default_factory=Counter)
    """The number of texts, by their path."""

    def total(self) -> ModelForecast:
        """Return the sum over all models."""
        whole = ModelForecast("total")
        for part in self.models.values():
            whole.add(part)
        return whole

    def to_json(self) -> dict[str, Any]:
        """Return the JSON value that `agentsim validate --json` prints: the total, and each model's part."""
        models = [part.to_json() for part in self.models.values() if part.calls]
        return {**self.total().to_json(), "ended": self.ended, "least": self.least, "most": self.most, "models": models}

    def take(self, calls: Mapping[str, int]) -> None:
        """Scale each model's forecast to so many calls with prompts like the measured ones."""
        for name, part in self.models.items():
            if part.calls not in {0, calls[name]}:
                longest, shortest = part.longest, part.shortest_answer
                taken = part.times(calls[name], part.calls)
                self.models[name] = replace(taken, longest=longest, shortest_answer=shortest)


def forecast(
    scenario: Scenario,
    game: Game,
    *,
    most_decisions: int = MOST_DECISIONS,
    most_seconds: float = MOST_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    env: Mapping[str, str] | None = None,
    lengths: TextLengths | None = None,
) -> Forecast:
    """Play the scenario with bots, and estimate what its models would be sent.

    A chain counts as its first model, except for `most_usd`. `env` may change the address of a provider and with it the
    prices. Texts are as long as `lengths` says, or else as the game reckons. `ended` is False in the result if the game
    was cut short after `most_decisions` or `most_seconds`.
    """
    takes = [(scenario.seed, luck) for luck in range(REHEARSALS)]
    if scenario.seed is None:
        takes = [(seed, 0) for seed in range(REHEARSALS)]
    scenario = replace(scenario, seed=takes[0][0])
    seats = {plan.id: plan for plan in scenario.seats}
    callers = {plan.id for plan in scenario.seats if plan.name.kind in {"remote", "local"}}
    found = Forecast({seats[seat].model: ModelForecast(seats[seat].model) for seat in seats if seat in callers})
    if not callers:
        return found
    typical = typical_of(game)
    counter = _Counter(found, prices_of(scenario, env or {}), seats)
    until = clock() + most_seconds
    for wave, answers in _rehearsed(scenario, game, typical):
        decisions: list[Decision] = []
        for ask, decision in zip(wave.asks, answers, strict=False):
            if found.decisions >= most_decisions or clock() > until:
                found.ended = False
                counter.count(wave.asks[: len(decisions)], decisions)
                found.least = found.most = found.total().calls
                return found
            padded = ask.request.player in callers
            decisions.append(wordy(ask.request, decision, lengths=lengths) if padded else decision)
            found.decisions += 1
        counter.count(wave.asks, decisions)
        answers[:] = decisions
    games = [Counter({model: part.calls for model, part in found.models.items()})]
    alone = [[policy] for policy in game.bots.values() if [policy] != typical]
    for policies, (seed, luck) in [*((typical, take) for take in takes[1:]), *((own, takes[0]) for own in alone)]:
        calls: Counter[str] = Counter()
        for wave, _ in _rehearsed(replace(scenario, seed=seed), game, policies, luck):
            calls.update(seats[ask.request.player].model for ask in wave.asks if ask.request.player in callers)
            if clock() > until:
                break
        else:
            games.append(calls)
    found.take(sorted(games[:REHEARSALS], key=Counter.total)[len(games[:REHEARSALS]) // 2])
    found.least, found.most = (chosen(each.total() for each in games) for chosen in (min, max))
    return found


def batch_forecast(
    casts: Sequence[Scenario],
    game: Game,
    games: int,
    env: Mapping[str, str] | None = None,
    lengths: TextLengths | None = None,
) -> Forecast:
    """Forecast a batch of so many games, in which each of the scenarios is played equally often.

    At most `MOST_CASTS` of them are rehearsed, and stand for the others. Texts are as long as `lengths` says, or else
    as the game reckons.
    """
    step = math.ceil(len(casts) / MOST_CASTS)
    shown, whole = casts[::step], Forecast()
    for cast in shown:
        most_seconds = max(2.0, MOST_SECONDS / len(shown))
        found = forecast(cast, game, most_seconds=most_seconds, env=env, lengths=lengths)
        whole.texts, whole.said = whole.texts + found.texts, whole.said + found.said
        share = games / len(shown)
        for name, part in found.models.items():
            scaled = part.times(round(part.calls * share), part.calls) if part.calls else part
            whole.models.setdefault(name, ModelForecast(name)).add(scaled)
        whole.ended &= found.ended
        whole.decisions += round(found.decisions * share)
        whole.least += round(found.least * share)
        whole.most += round(found.most * share)
    return whole


def rehearse(
    scenario: Scenario, game: Game, policies: Sequence[Bot] = (), *, seconds: float = MOST_SECONDS
) -> GamePlay | None:
    """Play the scenario with bots and return the finished game, or None if it is not over after so many seconds.

    `policies` play the seats without a bot; the game's typical ones by default.
    """
    until = time.monotonic() + seconds
    seeded = replace(scenario, seed=scenario.seed or 0)
    play = new_play(seeded, game)
    for _ in _rehearsed(seeded, game, policies or typical_of(game), play=play):
        if time.monotonic() > until:
            return None
    return play


FirstPrompts: TypeAlias = dict[str, tuple[Request[Any], tuple[Message, ...]]]
"""The first request to each player, and its messages."""


def first_prompts(scenario: Scenario, game: Game, *, most_decisions: int = MOST_DECISIONS) -> FirstPrompts:
    """Play the scenario with bots, and return the first request to each player, and its messages.

    The first survey of each interview follows, as `Ada, interviews.0`. Bots get no prompts and are left out, unless all
    players are bots. A player that is not asked within `most_decisions` is not in the result.
    """
    scenario = replace(scenario, seed=0 if scenario.seed is None else scenario.seed)
    seats = {plan.id: plan for plan in scenario.seats if plan.name.kind != "bot"}
    seats = seats or {plan.id: plan for plan in scenario.seats}
    found: FirstPrompts = {}
    surveys: FirstPrompts = {}
    interviewed: set[int] = set()
    decisions = 0
    for wave, answers in _rehearsed(scenario, game, typical_of(game)):
        for ask in wave.asks:
            request, plan = ask.request, seats.get(ask.request.player)
            if plan is None:
                continue
            shown = (request, prompt_messages(ask.prompt(), plan.prompt or ""))
            if not isinstance(request, Survey):
                found.setdefault(plan.id, shown)
            elif request.interview not in interviewed:
                interviewed.add(request.interview)
                surveys[f"{plan.id}, {dotted(('interviews', request.interview))}"] = shown
        decisions += len(answers)
        everyone = len(found) == len(seats) and len(surveys) == len(scenario.interviews)
        if everyone or decisions > most_decisions:
            break
    return {**{player: found[player] for player in seats if player in found}, **surveys}


def forecast_answers(asked: Iterable[tuple[Ask, PlayerPlan]], prices: Prices) -> list[ModelForecast]:
    """Estimate what models are sent by these requests, which wait for no other answer, and what they reply.

    Bots and people are left out.
    """
    found = Forecast()
    rng = Chance("forecast").stream("answers")
    for ask, plan in asked:
        if plan.name.kind not in {"bot", "human", "web"}:
            found.models.setdefault(plan.model, ModelForecast(plan.model))
            decision = wordy(ask.request, random_decision(ask.request, rng))
            _Counter(found, prices, {ask.request.player: plan}).count([ask], [decision])
    return list(found.models.values())


def _rehearsed(
    scenario: Scenario, game: Game, policies: Sequence[Bot], luck: int = 0, play: GamePlay | None = None
) -> Iterator[tuple[Wave, list[Decision]]]:
    """Yield each wave with the answers of bots, which the caller may change before the next wave.

    `policies` play the seats without a bot. A `luck` above 0 gives them other random numbers in the same world.
    """
    bots = {plan.id: bots_of(game)[plan.name.rest] for plan in scenario.seats if plan.name.kind == "bot"}
    dealt = dict(zip((plan.id for plan in scenario.seats if plan.id not in bots), cycle(policies), strict=False))
    other = Chance(f"{scenario.seed}/{luck}") if luck else None
    play = play or new_play(scenario, game)
    wave = play.start()
    try:
        while wave is not None:
            answers: list[Decision] = []
            for ask in wave.asks:
                bot = bots.get(ask.request.player)
                rng = play.bot_rng(ask, None if bot else other)
                answers.append(decided_by(bot or dealt[ask.request.player], ask.request, rng))
            yield wave, answers
            wave = play.answer(answers)
    finally:
        play.close()


def wordy(
    request: Request[Any], decision: Decision, filler: str = _FILLER, lengths: TextLengths | None = None
) -> Decision:
    """Return the decision with its texts padded with `filler` to their `usual` lengths, or to half of their limits.

    A text of a known length in `lengths` is padded or cut to it. Returns the decision unchanged if the padded one is
    not legal.
    """
    said = decision
    for path, words in _words(request, decision):
        known, option = (lengths or {}).get((request.kind, path)), request.legal[path]
        assert isinstance(option, Text)
        usual = option.limit // 2 if option.usual is None else option.usual
        missing = max(0, (usual if known is None else known) - len(words))
        said = _replaced(said, path.split("."), (words + (filler * missing)[:missing])[:known])
    try:
        request.check(said)
    except DecisionError:
        return decision
    return said


def _words(request: Request[Any], decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield the path and the words of each free text of a decision."""
    values = values_by_path(decision)
    for path, option in request.legal.items():
        if isinstance(option, Text) and isinstance(words := values.get(path), str):
            yield path, words


def _replaced(whole: M, path: Sequence[str], words: str) -> M:
    """Return a copy with these words at the end of the path."""
    name, *rest = path
    part: Any = _replaced(getattr(whole, name), rest, words) if rest else words
    return whole.model_copy(update={name: part})


class _Counter:
    """The totals of one rehearsal. A prompt repeats the beginning of the last one of its player or of its model."""

    def __init__(self, found: Forecast, prices: Prices, seats: Mapping[str, PlayerPlan]) -> None:
        self._found, self._prices, self._seats = found, prices, seats
        self._last: dict[tuple[str, str], str] = {}

    def count(self, asks: Sequence[Ask], decisions: Sequence[Decision]) -> None:
        """Count a wave, or its beginning; the measured prompts stand for the others of their model."""
        asked: defaultdict[str, list[tuple[Ask, Decision]]] = defaultdict(list)
        for ask, decision in zip(asks, decisions, strict=True):
            if (model := self._seats[ask.request.player].model) in self._found.models:
                asked[model].append((ask, decision))
                for path, words in _words(ask.request, decision):
                    self._found.texts[path] += len(words)
                    self._found.said[path] += 1
        for model, own in asked.items():
            measured = min(len(own), MOST_MEASURED)
            wave = ModelForecast(model)
            for index in range(measured):
                wave.add(self._measured(*own[index * len(own) // measured]))
            self._found.models[model].add(wave.times(len(own), measured))

    def _measured(self, ask: Ask, decision: Decision) -> ModelForecast:
        plan = self._seats[ask.request.player]
        messages = prompt_messages(ask.prompt(), plan.prompt or "")
        texts = [message.text for message in messages]
        prompt, limit = estimated_tokens(texts), longest_reply(plan.model, plan.max_tokens)
        completion = min(limit, estimated_tokens([decision.model_dump_json()]))
        part, sample = self._found.models[plan.model], Sample(ask.request, messages, prompt)
        if part.longest is None or prompt > part.longest.tokens:
            part.longest = sample
        if part.shortest_answer is None or _room(ask.request) < _room(part.shortest_answer.request):
            part.shortest_answer = sample
        return ModelForecast(
            plan.model,
            calls=1,
            prompt=prompt,
            repeated=min(prompt, self._repeated(plan, "".join(texts))),
            completion=completion,
            most_completion=limit,
            usd=self._prices.estimate(plan.model, prompt, completion),
            most_usd=self._most(plan, most_tokens((*texts, json.dumps(ask.request.schema())))),
        )

    def _most(self, plan: PlayerPlan, prompt: int) -> float | None:
        """Return the highest price in US dollars among a seat's fallback models, or None if one is unknown.

        Before a call it is not known which model will answer.
        """
        cap = plan.max_tokens
        costs = [self._prices.estimate(model, prompt, longest_reply(model, cap)) for model in plan.models]
        known = [cost for cost in costs if cost is not None]
        return max(known) if len(known) == len(costs) else None

    def _repeated(self, plan: PlayerPlan, text: str) -> int:
        keys = ((plan.model, ""), (plan.model, plan.id))
        longest = max(alike(self._last.get(key, ""), text) for key in keys)
        self._last.update(dict.fromkeys(keys, text))
        return estimated_tokens([text[:longest]])


def _room(request: Request[Any]) -> int:
    """Return the number of characters of free text that an answer may hold."""
    return sum(option.limit for option in request.legal.values() if isinstance(option, Text))


def alike(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        upto = most
        while one[same:upto] != other[same:upto]:
            if upto == same + 1:
                return same
            upto = (same + upto) // 2
        same = upto
    return same
