"""ping: one tiny request to every model of a scenario, and what it says about playing with it. Nothing is written.

A model that costs nothing is sent the forecast's longest prompt as well: a server with too short a context may cut it
without a word. What a fault is called is `models.faults`' business, printing the command line's.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agentsim.engine.game import Game
from agentsim.engine.wording import counted
from agentsim.errors import DecisionError, ModelError, RateLimited, ScenarioError
from agentsim.models.base import Attempt, Call, Completion, Message
from agentsim.models.prices import USUAL_REPLY, Prices, context_window
from agentsim.players.model import ModelPlayer, diagnostics
from agentsim.runner.forecast import Forecast, Sample
from agentsim.runner.seats import build_players
from agentsim.scenario.player_plan import PlayerPlan
from agentsim.scenario.scenario import Scenario

_LEAST_TOKENS = 1_000  # of a longest prompt that is worth sending: every server has that much context


@dataclass(frozen=True, slots=True)
class Pinged:
    """What one model's answer says: whether it can be played with, and why not or how well, in one line."""

    model: str
    ok: bool
    words: str


def ping(scenario: Scenario, game: Game, env: Mapping[str, str], expected: Forecast) -> list[Pinged]:
    """Ask every distinct model once, all at the same time, as the first seat that names it would be asked.

    Spare models of a chain are asked too. `expected` gives the request that is put, and the longest prompt.
    """
    plans: dict[tuple[str, str], PlayerPlan] = {}
    for plan in scenario.seats:
        for alone in plan.links:
            if alone.name.kind in {"remote", "local"}:
                plans.setdefault((alone.model, str(alone.file or "")), alone)
    parts = expected.models.values()
    alike = next((part for part in parts if part.shortest_answer is not None), None)  # what its chain's first is asked

    async def one(plan: PlayerPlan) -> Pinged:
        part = expected.models.get(plan.model, alike)
        asked, longest = (part.shortest_answer, part.longest) if part is not None else (None, None)
        try:
            seats = build_players(replace(scenario, players=(plan,), staff={}), game, env, served=True)
        except ScenarioError as error:
            return Pinged(plan.model, ok=False, words=error.problem)
        player = seats.by_id[plan.id]
        assert isinstance(player, ModelPlayer), "bots and people are not asked"
        try:
            return await _tried(player, asked, longest, seats.prices)
        except ModelError as error:
            words = f"{str(error).removeprefix(f'{plan.model}: ')}{_advice(plan, error)}"
            return Pinged(plan.model, ok=False, words=words)
        finally:
            await seats.aclose()

    async def every() -> list[Pinged]:
        return await asyncio.gather(*map(one, plans.values()))

    return asyncio.run(every())


def _advice(plan: PlayerPlan, error: ModelError) -> str:
    """What can be done about a host that is too busy; other errors say it themselves."""
    if not isinstance(error, RateLimited):
        return ""
    later = "later" if error.retry_after is None else f"in {math.ceil(error.retry_after):,} s"
    slower = f"`requests_per_minute` or `tokens_per_minute` in [providers.{plan.name.provider}]"
    return f"; ask again {later}; a game waits as it is told to, and {slower} keeps below a limit"


async def _tried(player: ModelPlayer, asked: Sample | None, longest: Sample | None, prices: Prices) -> Pinged:
    name, started = player.model.name, time.monotonic()
    messages = (Message("system", ("This is a test.",)), Message("user", (_wish(asked),)))
    completion = await _answer(player, messages, asked)
    notes = [f"answered by {completion.model or name} in {time.monotonic() - started:.1f} s", _read(asked, completion)]
    if longest is not None:
        room = context_window(name)
        needed = longest.tokens + (player.sampling.max_tokens or USUAL_REPLY)
        if room is not None and needed > room:
            words = (
                f"the context is too small: {counted(room, 'token', form=',')}, and {needed:,} are needed (an estimate)"
            )
            return Pinged(name, ok=False, words=words)
        if longest.tokens >= _LEAST_TOKENS and prices.estimate(name, 1_000_000, 1_000_000) == 0.0:
            if (problem := await _misfit(player, longest)) is not None:
                return Pinged(name, ok=False, words=problem)
            notes.append(f"a prompt of about {counted(longest.tokens, 'token', form=',')} fits")
    return Pinged(name, ok=True, words="; ".join(notes))


async def _misfit(player: ModelPlayer, longest: Sample) -> str | None:
    """Why the longest prompt does not arrive whole; None where it does. Of the reply nothing is wanted."""
    name = player.model.name
    brief = replace(player, sampling=replace(player.sampling, max_tokens=1))
    try:
        completion = await _answer(brief, longest.messages, longest)
    except ModelError as error:
        tokens = counted(longest.tokens, "token", form=",")
        return f"a prompt of about {tokens} fails: {str(error).removeprefix(f'{name}: ')}"
    for diagnostic in diagnostics(name, Attempt(longest.messages, completion=completion)):
        if diagnostic.code == "prompt_cut":
            return f"the context is too small: {diagnostic.message.removeprefix(f'{name}: ')}"
    return None


async def _answer(player: ModelPlayer, messages: tuple[Message, ...], asked: Sample | None) -> Completion:
    """One call, with the schema of what is asked."""
    call = Call(
        messages=tuple((message.role, message.text) for message in messages),
        schema=None if asked is None else asked.request.schema(),
        schema_name="decision" if asked is None else asked.request.function or asked.request.kind,
        tag="ping/ping/1/1",
    )
    with await player.slot(messages) as slot:
        completion = await player.model.complete(call, player.sampling)
        slot.used(completion.usage.tokens)
    return completion


def _wish(asked: Sample | None) -> str:
    if asked is None:
        return "Answer with the word yes."
    return f"Answer with one short JSON object of this schema, and nothing else: {json.dumps(asked.request.schema())}"


def _read(asked: Sample | None, completion: Completion) -> str:
    if asked is None:
        return "nothing was asked of it in the rehearsal"
    if completion.refusal is not None:
        return "but it refused to answer a test"
    try:
        reading = asked.request.parse(completion.text)
        asked.request.check(reading.decision)
    except DecisionError as error:
        return f"but its reply does not fit the schema of {asked.request.kind}: {error}"
    if reading.stage != "json" or reading.repaired:
        return f"its reply fits the schema of {asked.request.kind}, but is not plain JSON"
    return f"its reply fits the schema of {asked.request.kind}"
