"""Decisions and a small journal for the tests of histories, with Hypothesis strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from hypothesis import strategies as st

from agentsim.engine.reading import READER_VERSION
from agentsim.models.base import Attempt, Completion, Fault, Message, Usage
from agentsim.records.journal import DecisionRecord, Journal, Parse
from agentsim.records.run_files import RunFiles

__all__ = ["HEAD", "attempts", "entries", "entry", "journal", "paid"]

HEAD = {
    "game": "agent_island",
    "rules_version": 1,
    "reader": READER_VERSION,
    "seed": 7,
    "name": "run",
    "started_at": "2026-01-01T00:00:00.000Z",
    "versions": {},
    "scenario": {},
    "run": {},
}
RULES, PERSONA = "These are the rules.", "You are player A."


def paid(
    reply: str = '{"text": "Hello."}', cost: float | None = 0.25, code: str | None = None, **usage: Any
) -> Attempt:
    """Return an attempt that was answered; with a code, its reply was bad."""
    counts = {"prompt_tokens": 100, "completion_tokens": 10, **usage}
    return Attempt(
        (Message("system", (RULES, PERSONA)), Message("user", ("Heard.", "Speak!"))),
        code,
        None if code is None else f"It was {code}.",
        0.5,
        completion=Completion(reply, "thinking", "stop", "m-1", "host", Usage(**counts, cost_usd=cost)),
    )


def failed(code: str = "timeout") -> Attempt:
    """Return an attempt without an answer."""
    return Attempt((Message("system", (RULES,)),), code, "no answer", 1.0)


def entry(
    index: int = 1, player: str = "A", attempts: tuple[Attempt, ...] | None = None, **changes: Any
) -> DecisionRecord:
    """Return a decision of this index, alone in the wave of the same number."""
    values: dict[str, Any] = {
        "index": index,
        "wave": index,
        "place": 0,
        "player": player,
        "kind": "pitch",
        "fingerprint": "0123456789abcdef",
        "decision": {"text": "Hello."},
        "source": "model",
        "fallback_reason": None,
        "attempts": (paid(),) if attempts is None else attempts,
        "parse": Parse("json", 1, False),
    }
    return DecisionRecord(**{**values, **changes})


def journal(folder: Path, stem: str = "run") -> Journal:
    """Create a journal and return it open."""
    files, handle = RunFiles.reserve(folder, stem)
    return Journal.create(files.journal, handle, HEAD)


_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_counts = st.none() | st.integers(0, 10**12)
_usages = st.builds(
    Usage, _counts, _counts, _counts, _counts, st.none() | st.floats(0, 1e6, allow_nan=False, allow_infinity=False)
)
_completions = st.builds(
    Completion, _words, st.none() | _words, st.none() | _words, st.none() | _words, st.none() | _words, _usages
)
_messages = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.lists(_words).map(tuple))
_optional = st.none() | _words
_seconds = st.integers(0, 10**6).map(lambda value: value / 10_000)
attempts = st.builds(
    Attempt,
    st.lists(_messages, max_size=3).map(tuple),
    _optional,
    _optional,
    completion=st.none() | _completions,
    latency_s=_seconds,
    wait_s=_seconds,
    fault=st.none() | st.sampled_from(get_args(Fault)),
    model=_words,
    takeover=st.booleans(),
    final=st.booleans(),
    wasted=st.none() | _usages,
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=5,
)
entries = st.builds(
    DecisionRecord,
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    _words,
    _words,
    _words,
    st.dictionaries(_words, _values, max_size=3),
    st.sampled_from(["model", "bot", "human", "script", "fallback"]),
    _optional,
    st.lists(attempts, max_size=2).map(tuple),
    st.none() | st.builds(Parse, _words, st.integers(0, 200), st.booleans()),
)
