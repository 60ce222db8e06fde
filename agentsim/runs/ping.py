"""ping: one tiny request to every model of a scenario, and a verdict on playing with it. Nothing is written.

A free model is sent the forecast's longest prompt as well, because a server with too small a context may cut it
silently. `models.faults` names the faults, the command line prints them.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping
from dataclasses import replace

from agentsim.engine.game import Game
from agentsim.engine.wording import counted
from agentsim.errors import DecisionError, ModelError, RateLimited, ScenarioError
from agentsim.lazy import dataclass
from agentsim.models.base import UNADJUSTED, Attempt, Call, Completion, Message
from agentsim.models.prices import USUAL_REPLY, Prices, context_window
from agentsim.models.remote import adjustment_words
from agentsim.players.model import ModelPlayer
from agentsim.records.diagnostics import diagnostics
from agentsim.runs.forecast import Forecast, Sample
from agentsim.runs.seats import build_players
from agentsim.scenario.player_plan import PlayerPlan
from agentsim.scenario.scenario import Scenario

_LEAST_TOKENS = 1_000  # shorter longest prompts are not worth sending: every server has that much context


@dataclass(frozen=True, slots=True)
class Pinged:
    """The verdict on one model: whether it can play, and why not or how well, in one line."""

    model: str
    ok: bool
    words: str


def ping(scenario: Scenario, game: Game, env: Mapping[str, str], expected: Forecast) -> list[Pinged]:
    """Ask every distinct model once, concurrently, with the settings of the first seat that names it.

    The fallback models of a chain are asked too. `expected` has the request and the longest prompt.
    """
    plans: dict[tuple[str, str], PlayerPlan] = {}
    for plan in scenario.seats:
        for alone in plan.chain:
            if alone.name.kind in {"remote", "local"}:
                plans.setdefault((alone.model, str(alone.file or "")), alone)
    parts = expected.models.values()
    alike = next((part for part in parts if part.shortest_answer is not None), None)  # for models further down a chain

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
    """Return advice for a rate limit; other errors need none."""
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
    notes += adjustment_words(completion.adjustments or UNADJUSTED)
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
    """Return why the longest prompt does not arrive whole, or None if it does. The reply is ignored."""
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
    """Make one call, with the schema of the request that is asked."""
    call = Call(
        messages=tuple((message.role, message.text) for message in messages),
        schema=None if asked is None else asked.request.schema(),
        schema_name="decision" if asked is None else asked.request.schema_name or asked.request.kind,
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
