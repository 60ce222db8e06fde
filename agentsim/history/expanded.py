"""Expanded: a compact history (`history.compact`) in the full format, with everything that it does not say twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

from pydantic_core import from_json

from agentsim.engine.codec import parse_json
from agentsim.history.copies import RATIO, whole
from agentsim.history.making import role_of
from agentsim.history.record import DecisionRecord, EventRecord, History, TryRecord
from agentsim.history.versions import HISTORY_FORMAT as FORMAT
from agentsim.models.base import Usage

COMPACT = "agentsim-history/2"
FORMATS = frozenset({FORMAT, COMPACT})
_LARGEST = 1 << 10  # characters of what records have in common, once for all


class BrokenForm(ValueError):
    """A compact history that cannot be what was written."""


def compact_in(raw: bytes) -> dict[str, Any] | None:
    """The full format of what is compact; None of any other file. `BrokenForm` where it cannot be what was written."""
    if COMPACT.encode() not in raw:
        return None
    try:
        found = from_json(raw, allow_inf_nan=False)
    except ValueError:
        return None
    return expanded(found, len(raw)) if isinstance(found, dict) and found.get("format") == COMPACT else None


def expanded(found: Mapping[str, Any], size: int) -> dict[str, Any]:
    """The full format of a compact history of so many bytes; `BrokenForm` where it cannot be what was written."""
    try:
        return _Full(found, RATIO * size).history()
    except BrokenForm:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        why = str(error)[:80] if type(error) is ValueError else type(error).__name__
        raise BrokenForm(f"its compact form is broken ({why})") from None


def following(seats: Sequence[str]) -> dict[str | None, str | None]:
    """The seat behind each one, and behind the last the first, which is behind None as well."""
    return dict(pairwise([None, *seats, *seats[:1]])) if seats else {None: None}


def said_in(reply: Sequence[int] | None, texts: Sequence[str]) -> Any:
    """The JSON from the first `{` to the last `}` of a reply; None where that is none."""
    text = texts[reply[0]] if reply else ""
    try:
        return parse_json(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return None


class _Full:
    """The parts of one history; what they stand for may take so many characters and places."""

    def __init__(self, found: Mapping[str, Any], allowed: int) -> None:
        self._found = found
        self._left = allowed
        self._texts: list[str] = []
        self._decisions: dict[int, dict[str, Any]] = {}
        self._common: Mapping[str, Mapping[str, Any]] = found["common"]
        if len(repr(self._common)) > _LARGEST:
            raise BrokenForm("what its records have in common is too long")

    def _spend(self, much: int) -> None:
        self._left -= much
        if self._left < 0:
            raise BrokenForm("it stands for more than a file of its size may")

    def history(self) -> dict[str, Any]:
        for text in self._found["texts"]:
            self._texts.append(self._whole(text))
        decisions = list(self._decided(self._found["decisions"]))
        self._decisions = {each["index"]: each for each in decisions}
        made = {
            "format": FORMAT,
            "rounds": list(self._rounds(self._found["rounds"])),
            "decisions": decisions,
            "texts": self._texts,
        }
        known = {key: made.get(key, self._found.get(key)) for key in History.model_fields}
        return {key: value for key, value in known.items() if key in made or key in self._found}

    def _whole(self, written: Any) -> str:
        text = whole(written, self._texts, self._left)
        self._left -= len(text)
        return text

    def _places(self, runs: Sequence[Any]) -> list[int]:
        places: list[int] = []
        for run in runs:
            if isinstance(run, list):
                first, last = run
                self._spend(max(0, last - first))
                places += range(first, last + 1)
            else:
                places.append(run)
        return places

    def _decided(self, written: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        next_seat = following([player["id"] for player in self._found["players"]])
        known: dict[str, Any] = {"index": 1, "wave": 1, "player": next_seat[None]}
        for each in written:
            full = {**known, "usage": None, **self._common["decision"], **each}
            full["tries"] = tries = [self._try(attempt) for attempt in each.get("tries", ())]
            if "decision" not in each:
                full["decision"] = said_in(tries[-1]["reply"] if tries else None, self._texts)
            elif isinstance(each["decision"], list):
                full["decision"] = parse_json(self._whole(each["decision"]))
            if full["usage"] is not None:
                full["usage"] = _in_order(Usage, {**self._common["usage"], **full["usage"]})
            if full["parse"] is not None:
                full["parse"] = dict(full["parse"])
            yield _in_order(DecisionRecord, full)
            known = {"index": full["index"] + 1, "wave": full["wave"], "player": next_seat[full["player"]]}

    def _try(self, written: Mapping[str, Any]) -> dict[str, Any]:
        messages = [[role, self._places(runs)] for role, runs in written["messages"]]
        return _in_order(TryRecord, {**self._common["try"], **written, "messages": messages})

    def _rounds(self, written: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        seq = 0
        for part in written:
            events = []
            for each in part["events"]:
                full = {"seq": seq + 1, **self._implied(each.get("decision")), **self._common["event"], **each}
                full["content"] = self._whole(each["content"])
                seq = full["seq"]
                events.append(_in_order(EventRecord, full))
            yield {**part, "events": events}

    def _implied(self, index: int | None) -> dict[str, Any]:
        """What is known of an event by the decision that led to it."""
        if index is None:
            return {"role": role_of(None), "prompt": None, "reasoning": None, "metadata": {}}
        decision = self._decisions[index]
        known: dict[str, Any] = {"role": role_of(decision["player"]), "prompt": None, "reasoning": None}
        if decision["tries"]:
            last = decision["tries"][-1]
            known["prompt"] = [place for _, places in last["messages"] for place in places]
            known["reasoning"] = last["reasoning"] and list(last["reasoning"])
            self._spend(len(known["prompt"]))
        return {**known, "metadata": {"decision": index}}


def _in_order(record: type[Any], full: Mapping[str, Any]) -> dict[str, Any]:
    """What a record knows of this, in the order of its keys."""
    return {each.name: full[each.name] for each in fields(record) if each.name in full}
