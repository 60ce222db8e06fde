"""Players that need no person: models, whose requests become messages and whose completions are replies, and bots.

`base` has what they share with people; `runs.decide` judges replies; `models` has retries, keys and request bodies.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

from agentsim.engine.chance import Stream
from agentsim.engine.codec import json_fields
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.markup import first_turn
from agentsim.engine.request import Ask, Request
from agentsim.engine.survey import decided_by
from agentsim.errors import DecisionError
from agentsim.models.base import Call, Completion, Message, Model, Sampling, prompt_messages
from agentsim.models.pacing import RateLimiter, RetryPolicy, Slot
from agentsim.models.prices import USUAL_REPLY, estimated_tokens
from agentsim.patterns import Pattern
from agentsim.players.base import BadReply, ReaskPolicy

_VISIBLE = Pattern(r"[^\s\u00ad\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe0f\ufeff\uffa0]")
MAX_QUOTED = 4_000  # characters of a bad reply that are sent back with the reason


@dataclass(frozen=True)
class BotPlayer:
    """A game's scripted policy in a seat; its decisions are checked like all others, but a bad one is a bug."""

    policy: Bot

    def decide(self, ask: Ask, rng: Stream) -> Decision:
        """Return the policy's decision, a function of only the request and this stream."""
        decision = decided_by(self.policy, ask.request, rng)
        ask.request.check(decision)
        return decision


def _read(request: Request[Any], repair: bool, completion: Completion) -> str:
    """Return, as JSON, all that a decision can take from a completion: its readings, their errors, its thoughts."""
    from agentsim.engine.reading.reader import thoughts_in

    text, truncated = completion.text, completion.ended_early
    found: list[Any] = []
    for last_attempt in (False, True) if truncated else (False,):
        try:
            found.append(
                json_fields(request.parse(text, truncated=truncated, last_attempt=last_attempt, repair=repair).decision)
            )
        except DecisionError as error:
            found.append(str(error))
    return json.dumps([*found, *thoughts_in(request, text)], ensure_ascii=False)


def _quoted_reply(reply: str) -> str:
    """Return a bad reply to quote: only the model's turn, cut, or `(empty)` for blank text, which hosts refuse."""
    turn = first_turn(reply)[:MAX_QUOTED]
    return turn if _VISIBLE.search(turn) else "(empty)"


@dataclass(frozen=True)
class ModelPlayer:
    """A model (or a script of replies) in a seat, with its persona and sampling; `backup` takes over from it.

    If `warm`, one call of a wave goes ahead of those with the same beginning: see `runs.limits.Warming`.
    """

    model: Model
    sampling: Sampling
    persona: str
    retry_policy: RetryPolicy
    reasking: ReaskPolicy
    source: Literal["model", "script"] = "model"
    backup: ModelPlayer | None = None
    warm: bool = False

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def provider(self) -> str:
        return self.model.provider

    @cached_property
    def chain(self) -> tuple[ModelPlayer, ...]:
        return (self, *(self.backup.chain if self.backup else ()))

    def with_model(self, model: str | None) -> ModelPlayer:
        """Return the player in `chain` with this model, or the first for None."""
        return next((link for link in self.chain if link.name == model), self)

    def messages(self, ask: Ask, bad_replies: Sequence[BadReply]) -> tuple[Message, ...]:
        """Return the prompt and each bad reply with its reason, or only the prompt if the policy says `same`."""
        messages = list(prompt_messages(ask.prompt(), self.persona))
        for bad in bad_replies if self.reasking.how == "reason" else ():
            problem = f"That reply could not be used. {bad.reason} Answer only: {ask.request.form()}"
            messages.append(Message("assistant", (_quoted_reply(bad.reply),)))
            messages.append(Message("user", (problem,)))
        return tuple(messages)

    async def slot(self, messages: Sequence[Message]) -> Slot:
        """Wait for a slot of the model's rate limiter; a model without a limiter does not wait."""
        limiter = self.model.limiter
        if limiter is None:
            return RateLimiter().start(0)
        expected = estimated_tokens(message.text for message in messages) + (self.sampling.max_tokens or USUAL_REPLY)
        return await limiter.acquire(expected)

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Make one call at once."""
        request = ask.request
        call = Call(
            messages=tuple((message.role, message.text) for message in messages),
            schema=request.schema(),
            schema_name=request.schema_name or request.kind,
            tag=f"{request.player}/{request.kind}/{ask.nth}/{attempt}",
            read=partial(_read, request, self.reasking.repair),
        )
        from agentsim.engine.reading.reader import thoughts_in

        completion = await self.model.complete(call, self.sampling)
        thoughts = "\n\n".join(thoughts_in(request, completion.text))
        reasoning = completion.reasoning or ""
        if reasoning.endswith(thoughts):  # no thoughts, or the reply is played from a journal, which has them
            return completion
        # thoughts in the reply's text are stored with the provider's reasoning
        return replace(completion, reasoning="\n\n".join(filter(None, (reasoning, thoughts))))
