"""Entry: one decision as it is kept, with every attempt at it; and its JSON for the journal.

How lines get to disk and back is in `journal`, what a reader of the history sees in `fold`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from agentsim.engine.reading import Reading
from agentsim.engine.spelt import SpeltList
from agentsim.history.record import Source
from agentsim.models.base import Completion, Usage
from agentsim.players.base import Fault, Message, Try

__all__ = [
    "Entry",
    "Parse",
    "by_name",
    "count",
    "entry_from_json",
    "entry_to_json",
    "prompt_to_json",
    "try_from_json",
    "try_to_json",
]


@dataclass(frozen=True, slots=True)
class Parse:
    """How the decision was found in the reply."""

    stage: str
    candidates: int
    repaired: bool

    @classmethod
    def of(cls, reading: Reading[Any]) -> Parse:
        """What the history keeps of a reading."""
        return cls(reading.stage, reading.candidates, reading.repaired)


class Entry(NamedTuple):
    """A decision that was made; (wave, place) is its key."""

    index: int  # type: ignore[assignment] # hides a method of tuples that nobody needs here
    wave: int
    place: int
    player: str
    kind: str
    fingerprint: str
    decision: Mapping[str, Any]
    source: Source
    fallback_reason: str | None = None
    tries: tuple[Try, ...] = ()
    parse: Parse | None = None


Store = Callable[[Sequence[str]], list[str]]
"""Keeps texts and gives the ids under which they can be had again."""
Prompts = Callable[[tuple[Message, ...]], list[Any]]
"""A prompt as JSON, its texts put away, as `prompt_to_json` makes it."""


def entry_to_json(entry: Entry, store: Store, prompts: Prompts | None = None) -> dict[str, Any]:
    """The journal's line for a decision, its texts put away; with `prompts` where some were made ready before."""
    return {
        "record": "decision",
        "index": entry.index,
        "wave": entry.wave,
        "place": entry.place,
        "player": entry.player,
        "kind": entry.kind,
        "fingerprint": entry.fingerprint,
        "decision": dict(entry.decision),
        "source": entry.source,
        "fallback_reason": entry.fallback_reason,
        "tries": SpeltList(try_to_json(attempt, store, prompts) for attempt in entry.tries) if entry.tries else [],
        "parse": None if entry.parse is None else by_name(entry.parse),
    }


def entry_from_json(line: Mapping[str, Any], texts: Mapping[str, str]) -> Entry:
    """The entry of a line; `KeyError`, `TypeError` or `ValueError` where it is none."""
    parse = line["parse"]
    if line["source"] not in get_args(Source):
        raise ValueError(f"unknown source {str(line['source'])[:40]!r}")
    return Entry(
        index=count(line["index"]),
        wave=count(line["wave"]),
        place=count(line["place"]),
        player=str(line["player"]),
        kind=str(line["kind"]),
        fingerprint=str(line["fingerprint"]),
        decision=dict(line["decision"]),
        source=line["source"],
        fallback_reason=_word(line["fallback_reason"]),
        tries=tuple(try_from_json(attempt, texts) for attempt in line["tries"]),
        parse=None
        if parse is None
        else Parse(str(parse["stage"]), count(parse["candidates"]), bool(parse["repaired"])),
    )


def count(value: Any) -> int:
    """The value, if it is a whole number from 0; `ValueError` else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{repr(value)[:40]} is no count")
    return value


def _word(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{repr(value)[:40]} is no text")
    return value


def _usage(values: Mapping[str, Any]) -> Usage:
    cost = values["cost_usd"]
    if cost is not None and (isinstance(cost, bool) or not isinstance(cost, (int, float)) or cost < 0):
        raise ValueError(f"{repr(cost)[:40]} is no cost")
    tokens = {name: None if value is None else count(value) for name, value in values.items() if name != "cost_usd"}
    return Usage(**tokens, cost_usd=cost)


def by_name(record: Parse | Usage) -> dict[str, Any]:
    """Its values by name; `asdict` takes ten times as long, which counts with every call."""
    return {name: getattr(record, name) for name in record.__slots__}


def prompt_to_json(messages: Sequence[Message], store: Store) -> list[Any]:
    """The messages of a prompt as JSON, their texts put away."""
    return [[message.role, store(message.segments)] for message in messages]


def try_to_json(attempt: Try, store: Store, prompts: Prompts | None = None) -> dict[str, Any]:
    """One attempt as JSON, its texts put away."""
    completion = attempt.completion
    out: dict[str, Any] = {
        "messages": prompt_to_json(attempt.messages, store) if prompts is None else prompts(attempt.messages),
        "code": attempt.code,
        "error": attempt.error,
        "latency_s": round(attempt.latency_s, 4),
        "wait_s": round(attempt.wait_s, 4),
        "completion": None,
    }
    if completion is not None:
        out["completion"] = {
            "text": store((completion.text,))[0],
            "reasoning": None if completion.reasoning is None else store((completion.reasoning,))[0],
            "finish_reason": completion.finish_reason,
            "model": completion.model,
            "provider": completion.provider,
            "usage": by_name(completion.usage),
        }
        if completion.refusal is not None:
            out["completion"]["refusal"] = completion.refusal
        if completion.unusable is not None:
            out["completion"]["unusable"] = completion.unusable
    # Only where they say something: a run of single models is written as it always was.
    if attempt.fault is not None:
        out["fault"] = attempt.fault
    if attempt.model is not None:
        out |= {"model": attempt.model, "takeover": attempt.takeover}
    if attempt.final:
        out["final"] = True
    if attempt.held:
        out["held"] = True
    if attempt.wasted is not None:
        out["wasted"] = by_name(attempt.wasted)
    return out


def try_from_json(line: Mapping[str, Any], texts: Mapping[str, str]) -> Try:
    """The attempt of such JSON."""
    completion = line["completion"]
    return Try(
        messages=tuple(
            Message(str(role), tuple(texts[text] for text in segments)) for role, segments in line["messages"]
        ),
        completion=None
        if completion is None
        else Completion(
            text=texts[completion["text"]],
            reasoning=None if completion["reasoning"] is None else texts[completion["reasoning"]],
            finish_reason=_word(completion["finish_reason"]),
            model=_word(completion["model"]),
            provider=_word(completion["provider"]),
            usage=_usage(completion["usage"]),
            refusal=_word(completion.get("refusal")),
            unusable=_word(completion.get("unusable")),
        ),
        code=_word(line["code"]),
        error=_word(line["error"]),
        latency_s=float(line["latency_s"]),
        wait_s=float(line["wait_s"]),
        fault=_fault(line.get("fault")),
        model=_word(line.get("model")),
        takeover=bool(line.get("takeover", False)),
        final=bool(line.get("final", False)),
        wasted=None if line.get("wasted") is None else _usage(line["wasted"]),
        held=bool(line.get("held", False)),
    )


def _fault(value: Any) -> Fault | None:
    if value is not None and value not in get_args(Fault):
        raise ValueError(f"unknown fault {str(value)[:40]!r}")
    fault: Fault | None = value
    return fault
