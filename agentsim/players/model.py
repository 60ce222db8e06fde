"""Players that need no person: models, whose requests become messages and whose completions are replies, and bots.

`runs.decide` judges replies; `models` has retries, keys and request bodies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Any, Literal, Protocol

from agentsim.engine.chance import Stream
from agentsim.engine.codec import values
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.markup import first_turn
from agentsim.engine.request import Ask, Request
from agentsim.engine.survey import decided_by
from agentsim.errors import DecisionError
from agentsim.models.base import MOST_TEXT, Attempt, Call, Completion, Message, Model, Sampling, Usage
from agentsim.models.faults import UNACCEPTED, UNKNOWN_REASON
from agentsim.models.host_words import ending
from agentsim.models.pacing import RateLimiter, RetryPolicy, Slot
from agentsim.models.prices import USUAL_REPLY, estimated_tokens
from agentsim.models.profiles import BUILT_IN

_LEAST_PROMPT = 1_000  # estimated tokens: every server has that much context, and estimates of short texts are bad
_LEAST_WINDOW = 2_000  # tokens: the shortest context that servers are configured for
_ARRIVED = 0.6  # of the estimate; the worst tokenizers are within a third of it
_VISIBLE = re.compile(r"[^\s\u00ad\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe0f\ufeff\uffa0]")
MAX_QUOTED = 4_000  # characters of a bad reply that are sent back with the reason


PATIENT = RetryPolicy(retries=0, max_attempts=10**9)
"""The attempt policy of a person: without a limit."""


@dataclass(frozen=True, slots=True)
class RejectedReply:
    """A reply that could not be used, and the reason in words for the player."""

    reply: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReaskPolicy:
    """The policy after a bad reply: repair broken JSON (`repair`), then ask again.

    `on` are the codes of errors after which the player is asked again, `reasks` the maximum number of times (None: no
    limit), `how` says whether the complaint is sent along.
    """

    reasks: int | None = 1
    on: frozenset[str] = frozenset({"unreadable", "ambiguous", "illegal"})
    how: Literal["reason", "same"] = "reason"
    repair: bool = False


class Player(Protocol):
    """An answerer of requests in text: a model, a script or a person. Bots answer in decisions."""

    @property
    def source(self) -> Literal["model", "human", "script"]:
        """The source of its decisions in the history."""

    @property
    def name(self) -> str:
        """Its model's name in the scenario."""

    @property
    def provider(self) -> str:
        """The provider: failures of players with the same one count together."""

    @property
    def chain(self) -> Sequence[Player]:
        """This player and those that take over from it, in order: the same seat with other models."""

    @property
    def attempts(self) -> RetryPolicy:
        """The number of attempts, and the waits between them."""

    @property
    def reasking(self) -> ReaskPolicy:
        """The policy after a bad reply."""

    def messages(self, ask: Ask, complaints: Sequence[RejectedReply]) -> tuple[Message, ...]:
        """Return the prompt, followed by the complaints about earlier replies."""

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Make one attempt. Raises `ModelError`."""


@dataclass(frozen=True)
class BotPlayer:
    """A game's scripted policy in a seat; its decisions are checked like all others, but a bad one is a bug."""

    policy: Bot

    def decide(self, ask: Ask, rng: Stream) -> Decision:
        """Return the policy's decision, a function of only the request and this stream."""
        decision = decided_by(self.policy, ask.request, rng)
        ask.request.check(decision)
        return decision


def prompt_messages(ask: Ask, persona: str) -> tuple[Message, ...]:
    """Return the request as a system and a user message: first the parts that never change, then those that grow."""
    prompt = ask.prompt()
    rules = (*prompt.rules, persona) if persona else prompt.rules
    return Message("system", rules), Message("user", (*prompt.history, *prompt.state, *prompt.question))


def emptiness(completion: Completion) -> Literal["empty", "empty_reasoning"] | None:
    """Return whether a reply has no text, and whether all of it was reasoning, or None if it has text.

    A decision is never read from reasoning.
    """
    from agentsim.engine.reading.speech import split

    if split(completion.text)[0].strip():
        return None
    thought = completion.text.strip() or (completion.reasoning or "").strip() or completion.usage.reasoning_tokens
    return "empty_reasoning" if thought or completion.ended_early else "empty"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One warning: `code` is a stable word, `model` the scenario's name of it, `message` a line for the user."""

    code: str
    model: str
    message: str


def diagnostics(model: str, attempt: Attempt, hosts: MutableMapping[str, str] | None = None) -> Iterator[Diagnostic]:
    """Yield the warnings about one attempt at a decision; none for bots and scripts.

    A failed call has one only if its host refused it in words that no table knows. `hosts` has the first host that
    answered, by model; hosts of new models are added to it.
    """
    if "/" not in model or model.startswith(("script:", "bot/")):
        return
    if attempt.completion is None and attempt.code == UNACCEPTED and UNKNOWN_REASON in (attempt.error or ""):
        yield Diagnostic("unknown_refusal", model, f"a call failed: {attempt.error}")
    if attempt.completion is not None:
        for code, said in _remarks(model, attempt, attempt.completion):
            yield Diagnostic(code, model, f"{model}: {said}")
        host = attempt.completion.provider
        if hosts is not None and host is not None and (first := hosts.setdefault(model, host)) != host:
            yield Diagnostic("several_hosts", model, f"{model}: {_several_hosts(model, first, host)}")


def _remarks(model: str, attempt: Attempt, completion: Completion) -> Iterator[tuple[str, str]]:
    used = completion.usage
    sent = estimated_tokens(chain.from_iterable(message.segments for message in attempt.messages))
    if used.prompt_tokens is not None and sent >= _LEAST_PROMPT and used.prompt_tokens < _ARRIVED * sent:
        cut = f"of a prompt of about {sent:,} tokens only {used.prompt_tokens:,} were read"
        yield "prompt_cut", f"{cut}; {_longer_context(model)}"
    if completion.model is not None and _family(completion.model) != _family(model):
        yield "other_model", f"the answers come from {completion.model}"
    if used.prompt_tokens is None or used.completion_tokens is None:
        yield "no_usage", "does not say how many tokens it used; the totals leave them out"
    ended = ending(completion.finish_reason)
    if ended == "full" or (ended == "cut" and _fills_a_window(used)):
        of = f" of {used.tokens:,} tokens" if used.tokens else ""
        yield "context_full", f"a reply ended where prompt and reply fill a context{of}; {_longer_context(model)}"
    elif emptiness(completion) == "empty_reasoning":
        yield "empty_reasoning", _why_all_is_thought(completion)
    if ended is None:
        yield "unknown_finish", f"a reply ended for {completion.finish_reason!r}, which is taken for a whole one"
    if completion.unknown is not None:
        yield "unknown_part", f"a part of an answer is of the kind {completion.unknown!r}, which is not known: left out"
    if completion.pin is not None:
        yield "other_host", f"pinned to {completion.pin}, and answered by {completion.provider}"
    if completion.oversized:
        yield "reply_cut", f"a reply of more than {MOST_TEXT // 1024} KiB was cut"


def _several_hosts(model: str, first: str, host: str) -> str:
    said = f"its answers come from several hosts ({first}, then {host}), which may run it differently"
    provider = model.partition("/")[0]
    return f"{said}; `pin` in [providers.{provider}] holds it to one" if provider == "openrouter" else said


def _fills_a_window(used: Usage) -> bool:
    """Return whether prompt and reply together have the size of a common context.

    A reply that is cut by `max_tokens` has such a size in at most about 1 of 300 cases.
    """
    whole = used.tokens or 0
    return bool(used.prompt_tokens) and whole >= _LEAST_WINDOW and (-whole % 1024 in {0, 1} or whole % 1000 == 0)


def _longer_context(model: str) -> str:
    """Return how to give the server a longer context, for its provider or for several servers."""
    profile = BUILT_IN.get(model.partition("/")[0])
    if profile is not None:
        return profile.context_hint
    known = ("Ollama: OLLAMA_CONTEXT_LENGTH", "vLLM: --max-model-len", "llama-server: -c", "SGLang: --context-length")
    return f"give the server a longer one ({', '.join(known)}), or play with shorter memories"


def _why_all_is_thought(completion: Completion) -> str:
    if completion.ended_early:
        return "thinking used up a whole reply; raise max_tokens, or lower its reasoning effort"
    parser = "see the server's reasoning parser (vLLM, SGLang: --reasoning-parser; llama-server: --reasoning-format)"
    return f"a whole reply came as thinking, and nothing as the answer; {parser}"


@lru_cache(64)  # asked twice about every reply
def _family(model: str) -> str:
    """Return the letters that a model's own name begins with, such as `gpt` of `openai/gpt-5-mini`; may be ""."""
    found = re.match("[a-z]*", model.rpartition("/")[2].lower())
    return found[0] if found else ""


def _read(request: Request[Any], repair: bool, completion: Completion) -> str:
    """Return, as JSON, everything that a decision can take from a completion: its readings, complaints and thoughts."""
    from agentsim.engine.reading.reader import thoughts_in

    text, cut = completion.text, completion.ended_early
    found: list[Any] = []
    for last in (False, True) if cut else (False,):
        try:
            found.append(values(request.parse(text, cut=cut, last=last, repair=repair).decision))
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
    attempts: RetryPolicy
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

    def messages(self, ask: Ask, complaints: Sequence[RejectedReply]) -> tuple[Message, ...]:
        """Return the prompt and each bad reply with its complaint, or only the prompt if the policy says `same`."""
        messages = list(prompt_messages(ask, self.persona))
        for complaint in complaints if self.reasking.how == "reason" else ():
            problem = f"That reply could not be used. {complaint.reason} Answer only: {ask.request.form()}"
            messages.append(Message("assistant", (_quoted_reply(complaint.reply),)))
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
            schema_name=request.function or request.kind,
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
