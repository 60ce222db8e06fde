"""Diagnostics: warnings about answers that came and look wrong, such as a prompt that was cut. The game goes on.

They follow from what is recorded of a run, so a replay finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from agentsim.history.contents import Entry
from agentsim.models import tokens
from agentsim.models.base import MOST_TEXT, Attempt
from agentsim.players.model import emptiness

__all__ = ["Diagnostic", "diagnostics", "warnings_of"]

_LEAST_PROMPT = 1_000  # estimated tokens: no server has a context so short, and estimates of little text are bad
_ARRIVED = 0.6  # of the estimate; the worst of today's tokenizers are within a third of it


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One warning: `code` is a stable word, `model` the scenario's name of it, `message` a line for a person."""

    code: str
    model: str
    message: str


def diagnostics(model: str, attempt: Attempt) -> Iterator[Diagnostic]:
    """What is strange about one attempt at a decision; of bots, scripts and failed calls there is nothing to say."""
    completion = attempt.completion
    if completion is None or "/" not in model or model.startswith(("script:", "bot/")):
        return
    used = completion.usage
    sent = tokens.about(chain.from_iterable(message.segments for message in attempt.messages))
    if used.prompt_tokens is not None and sent >= _LEAST_PROMPT and used.prompt_tokens < _ARRIVED * sent:
        yield Diagnostic(
            "prompt_cut",
            model,
            f"{model}: of a prompt of about {sent:,} tokens only {used.prompt_tokens:,} were read; "
            "give the server a longer context (Ollama: OLLAMA_CONTEXT_LENGTH)",
        )
    if completion.model is not None and _family(completion.model) != _family(model):
        yield Diagnostic("other_model", model, f"{model}: the answers come from {completion.model}")
    if used.prompt_tokens is None or used.completion_tokens is None:
        yield Diagnostic("no_usage", model, f"{model}: does not say how many tokens it used; the totals leave them out")
    if emptiness(completion) == "empty_reasoning":
        yield Diagnostic(
            "empty_reasoning",
            model,
            f"{model}: thinking used up a whole reply; raise max_tokens, or lower its reasoning effort",
        )
    if completion.cut:
        yield Diagnostic("reply_cut", model, f"{model}: a reply of more than {MOST_TEXT // 1024} KiB was cut")


@lru_cache(64)  # a run meets few names, each with every answer
def _family(model: str) -> str:
    """The letters that a model's own name begins with: `gpt` of `openai/gpt-5-mini`; '' where it begins otherwise."""
    found = re.match("[a-z]*", model.rpartition("/")[2].lower())
    return found[0] if found else ""


def warnings_of(
    entries: Iterable[Entry], undecided: Sequence[tuple[str, Attempt]], models: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The history's `warnings`: each diagnostic of each model once, in order of appearance, and how often it came.

    `models` are those of the players, by id.
    """
    attempts = [(entry.player, attempt) for entry in entries for attempt in entry.tries]
    first: dict[tuple[str, str], Diagnostic] = {}
    count: dict[tuple[str, str], int] = {}
    for player, attempt in (*attempts, *undecided):
        for diagnostic in diagnostics(attempt.model or models[player], attempt):
            key = (diagnostic.code, diagnostic.model)
            first.setdefault(key, diagnostic)
            count[key] = count.get(key, 0) + 1
    return [{**asdict(diagnostic), "count": count[key]} for key, diagnostic in first.items()]
