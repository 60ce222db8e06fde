"""Compact: the file of a large game, `agentsim-history/2`, in which nothing stands that the rest of it says.

It stands for exactly one history of the full format, which is what readers get (`history.expanded`).
`docs/history_format.md` has the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from agentsim.engine.codec import adapter, json_line, runs
from agentsim.history import making
from agentsim.history.copies import Allowance, Copies
from agentsim.history.expanded import COMPACT, following, said_in
from agentsim.history.fold import array_lines, history_bytes, round_lines
from agentsim.history.journal_reader import Parse
from agentsim.history.making import role_of
from agentsim.history.record import DecisionRecord, EventRecord, History, TryRecord

_COMMON: Mapping[str, tuple[str, ...]] = {
    "decision": ("kind", "source", "fallback_reason", "parse", "model", "provider"),
    "try": ("reasoning", "error", "finish_reason"),
    "usage": ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost_usd"),
}

_PLAIN = (str, int, type(None))


def file_bytes(history: History) -> Iterator[bytes]:
    """The bytes of a history's file, piece by piece."""
    return history_bytes(history) if len(history.decisions) <= making.MOST_WHOLE else compact_bytes(history)


def compact_bytes(history: History) -> Iterator[bytes]:
    """The compact file's bytes: JSON with one event, decision or text a line."""
    short = _Short(history)
    yield b'{\n"format":%b,\n"common":%b' % (json_line(COMPACT), json_line(short.common))
    by_line: Mapping[str, Callable[[], Iterator[bytes]]] = {
        "texts": lambda: array_lines(json_line(short.copies.add(text)) for text in history.texts),
        "rounds": lambda: round_lines(history.rounds, lambda event: json_line(short.event(event))),
        "decisions": lambda: array_lines(json_line(each) for each in short.decisions()),
    }
    rest = history.model_dump(exclude={"format", *by_line})
    for key in sorted(History.model_fields, key=lambda key: key != "texts"):  # what is copied from stands first
        if key in by_line or key in rest:
            yield b',\n"%b":' % key.encode()
            yield from by_line[key]() if key in by_line else [json_line(rest[key])]
    yield b"\n}\n"


class _Most:
    """The most frequent value of each field of a kind of record, of those that are neither lists nor objects."""

    def __init__(self, kind: str) -> None:
        self._counts: dict[str, Counter[Any]] = {name: Counter() for name in _COMMON[kind]}

    def add(self, record: Any) -> None:
        for name, values in self._counts.items():
            if not isinstance(value := getattr(record, name), list | dict):
                values[value] += 1

    def found(self) -> dict[str, Any]:
        """The first of those that are as frequent."""
        most = {name: values.most_common(1)[0][0] for name, values in self._counts.items() if values}
        return {name: asdict(value) if isinstance(value, Parse) else value for name, value in most.items()}


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: 1 is neither True nor 1.0."""
    if type(one) is type(other) and isinstance(one, _PLAIN):
        return bool(one == other)
    try:
        return bool(one == other) and json_line(one) == json_line(other)
    except ValueError:
        return False


def _beyond(full: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says beyond what is known."""
    return {key: value for key, value in full.items() if key not in known or not _same(value, known[key])}


class _Short:
    """The records of a history without what is known of them."""

    def __init__(self, history: History) -> None:
        self._allowance = Allowance()
        self.copies = Copies(self._allowance)
        self._history = history
        self._seq = 0
        self._places: dict[int, int] = {}
        most = {kind: _Most(kind) for kind in _COMMON}
        for place, each in enumerate(history.decisions):
            self._places[each.index] = place
            most["decision"].add(each)
            for attempt in each.tries:
                most["try"].add(attempt)
            if each.usage is not None:
                most["usage"].add(each.usage)
        self.common = {"event": {"visibility": "all"}, **{kind: found.found() for kind, found in most.items()}}

    def event(self, event: EventRecord) -> dict[str, Any]:
        full = adapter(EventRecord).dump_python(event)
        known: dict[str, Any] = {
            "seq": self._seq + 1,
            "role": role_of(None),
            "prompt": None,
            "reasoning": None,
            "metadata": {},
        }
        self._seq = event.seq
        index = event.metadata.get("decision")
        place = self._places.get(index) if event.metadata.keys() == {"decision"} and type(index) is int else None
        decision = None if place is None else self._history.decisions[place]
        if decision is not None:
            known |= {"role": role_of(decision.player), "metadata": event.metadata}
            if decision.tries:
                last = decision.tries[-1]
                known["prompt"] = [place for _, places in last.messages for place in places]
                known["reasoning"] = last.reasoning
                if not self._allowance.takes(len(known["prompt"]), 1):
                    del known["prompt"]
        full["content"] = self.copies.of(event.content)
        short = _beyond(full, {**self.common["event"], **known})
        return short if decision is None else {**short, "decision": index}

    def decisions(self) -> Iterator[dict[str, Any]]:
        """The decisions in order, each without what it has in common with others, or with the one before it."""
        next_seat = following([player.id for player in self._history.players])
        known: dict[str, Any] = {"index": 1, "wave": 1, "player": next_seat[None]}
        for each in self._history.decisions:
            full = adapter(DecisionRecord).dump_python(each)
            full["tries"] = [self._try(*both) for both in zip(each.tries, full["tries"], strict=True)]
            known |= {**self.common["decision"], "tries": [], "usage": None}
            known["decision"] = said_in(each.tries[-1].reply if each.tries else None, self._history.texts)
            if each.tries and not _same(each.decision, known["decision"]):
                pieces = self.copies.of(json_line(each.decision).decode())
                full["decision"] = each.decision if isinstance(pieces, str) else pieces
            if each.usage is not None:
                full["usage"] = _beyond(full["usage"], self.common["usage"])
            yield _beyond(full, known)
            known = {"index": each.index + 1, "wave": each.wave, "player": next_seat[each.player]}

    def _try(self, attempt: TryRecord, full: Mapping[str, Any]) -> dict[str, Any]:
        messages: list[tuple[str, list[Any]]] = []
        for role, places in attempt.messages:
            short = runs(places)
            messages.append((role, short if self._allowance.takes(len(places), len(short)) else places))
        return {"messages": messages, **_beyond(dict(full, messages=None), {**self.common["try"], "messages": None})}
