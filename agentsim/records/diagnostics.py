"""Diagnostics: warnings about attempts that cast doubt on a run, for the screen and for the history.

An answer may come from another model or host than was asked for, a prompt may arrive cut, a reply may be all thinking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from itertools import chain
from typing import Literal

from agentsim.lazy import dataclass
from agentsim.models.base import MOST_TEXT, Attempt, Completion, Usage, ending
from agentsim.models.faults import UNACCEPTED, UNKNOWN_REASON
from agentsim.models.prices import estimated_tokens
from agentsim.models.profiles import longer_context_hint

_LEAST_PROMPT = 1_000  # estimated tokens: every server has that much context, and estimates of short texts are bad
_LEAST_WINDOW = 2_000  # tokens: the shortest context that servers are configured for
_ARRIVED = 0.6  # of the estimate; the worst tokenizers are within a third of it


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
        host = attempt.completion.served_by
        if hosts is not None and host is not None and (first := hosts.setdefault(model, host)) != host:
            yield Diagnostic("several_hosts", model, f"{model}: {_several_hosts(model, first, host)}")


def _remarks(model: str, attempt: Attempt, completion: Completion) -> Iterator[tuple[str, str]]:
    used = completion.usage
    sent = estimated_tokens(chain.from_iterable(message.segments for message in attempt.messages))
    if used.prompt_tokens is not None and sent >= _LEAST_PROMPT and used.prompt_tokens < _ARRIVED * sent:
        cut = f"of a prompt of about {sent:,} tokens only {used.prompt_tokens:,} were read"
        yield "prompt_cut", f"{cut}; {longer_context_hint(model)}"
    if completion.model is not None and _family(completion.model) != _family(model):
        yield "other_model", f"the answers come from {completion.model}"
    if used.prompt_tokens is None or used.completion_tokens is None:
        yield "no_usage", "does not say how many tokens it used; the totals leave them out"
    ended = ending(completion.finish_reason)
    if ended == "full" or (ended == "cut" and _fills_a_window(used)):
        of = f" of {used.tokens:,} tokens" if used.tokens else ""
        yield "context_full", f"a reply ended where prompt and reply fill a context{of}; {longer_context_hint(model)}"
    elif empty_reply_code(completion) == "empty_reasoning":
        yield "empty_reasoning", _why_all_is_thought(completion)
    if ended is None:
        yield "unknown_finish", f"a reply ended for {completion.finish_reason!r}, which is taken for a whole one"
    if completion.unknown is not None:
        yield "unknown_part", f"a part of an answer is of the kind {completion.unknown!r}, which is not known: left out"
    if completion.pin is not None:
        yield "other_host", f"pinned to {completion.pin}, and answered by {completion.served_by}"
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


def empty_reply_code(completion: Completion) -> Literal["empty", "empty_reasoning"] | None:
    """Return whether a reply has no text, and whether all of it was reasoning, or None if it has text.

    A decision is never read from reasoning.
    """
    from agentsim.engine.reading.speech import split

    if split(completion.text)[0].strip():
        return None
    thought = completion.text.strip() or (completion.reasoning or "").strip() or completion.usage.reasoning_tokens
    return "empty_reasoning" if thought or completion.ended_early else "empty"
