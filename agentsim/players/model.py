"""ModelPlayer: a request becomes messages, the messages a completion.

Whether the reply is any good is the referee's business; retries, keys and bodies are those of `models`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

from agentsim.engine.codec import values
from agentsim.engine.play import Ask
from agentsim.engine.reading import split, thoughts_in
from agentsim.engine.reading.thinking import has_marks
from agentsim.engine.request import Request
from agentsim.errors import DecisionError
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Call, Completion, Message, Model, Sampling
from agentsim.players.base import Complaint, ReaskPolicy

__all__ = ["ModelPlayer", "emptiness", "prompt_messages"]

MAX_QUOTED = 4_000  # characters of a bad reply that are sent back with the reason


def prompt_messages(ask: Ask, persona: str) -> tuple[Message, ...]:
    """The request as a system and a user message: what never changes, then what grows, then what is new."""
    prompt = ask.request.prompt()
    rules = (*prompt.rules, persona) if persona else prompt.rules
    return Message("system", rules), Message("user", (*prompt.history, *prompt.state, *prompt.question))


def emptiness(completion: Completion) -> Literal["empty", "empty_reasoning"] | None:
    """Whether a reply says nothing, and whether thinking took all there was; a decision is never read from that."""
    if split(completion.text)[0].strip():
        return None
    thought = completion.text.strip() or (completion.reasoning or "").strip() or completion.usage.reasoning_tokens
    return "empty_reasoning" if thought or completion.finish_reason == "length" else "empty"


def _read(request: Request[Any], text: str) -> str:
    """What is decided and thought in a text, as JSON; "" where its words stand in it as they are."""
    if "\\" not in text and not has_marks(text):
        return ""
    try:
        found = values(request.parse(text).decision)
    except DecisionError as error:
        found = {"error": str(error)}
    return json.dumps([found, *thoughts_in(request, text)], ensure_ascii=False)


@dataclass(frozen=True)
class ModelPlayer:
    """A model (or a file of canned replies) in a seat, with its persona and sampling; `spare` takes over from it."""

    model: Model
    sampling: Sampling
    persona: str
    attempts: AttemptPolicy
    reasking: ReaskPolicy
    source: Literal["model", "script"] = "model"
    spare: ModelPlayer | None = None

    @property
    def name(self) -> str:
        """Its model's name in the scenario."""
        return self.model.name

    @property
    def provider(self) -> str:
        """Whose failures count together."""
        return self.model.provider

    @cached_property
    def links(self) -> tuple[ModelPlayer, ...]:
        """This player, and who takes over from it for a decision, in order."""
        return (self, *(self.spare.links if self.spare else ()))

    def linked(self, model: str | None) -> ModelPlayer:
        """The one of them with this model; None names the first."""
        return next((link for link in self.links if link.name == model), self)

    def messages(self, ask: Ask, complaints: Sequence[Complaint]) -> tuple[Message, ...]:
        """The prompt; each complaint follows the reply it is about, unless the same prompt is to be sent again."""
        messages = list(prompt_messages(ask, self.persona))
        if complaints and self.reasking.how == "reason":
            form = ask.request.form()
            for complaint in complaints:
                messages.append(Message("assistant", (complaint.reply[:MAX_QUOTED] or "(empty)",)))
                messages.append(
                    Message("user", (f"That reply could not be used. {complaint.reason} Answer only: {form}",))
                )
        return tuple(messages)

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """One call, sent at once."""
        request = ask.request
        call = Call(
            messages=tuple((message.role, message.text) for message in messages),
            schema=request.schema(),
            schema_name=request.function or request.kind,
            tag=f"{request.player}/{request.kind}/{ask.nth}/{attempt}",
            read=partial(_read, request),
        )
        completion = await self.model.complete(call, self.sampling)
        thoughts = "\n\n".join(thoughts_in(request, completion.text))
        reasoning = completion.reasoning or ""
        if reasoning.endswith(thoughts):  # there are none, or the reply is played from a journal, which has them
            return completion
        # what was thought aloud is kept with what the provider calls reasoning
        return replace(completion, reasoning="\n\n".join(filter(None, (reasoning, thoughts))))
