"""Responses: what each listener of a message did next, in any game: choices, amounts, and deeds towards the speaker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine.event import NAMED, Interaction, LogEntry, Past, PlayerId
from agentsim.engine.paths import nodes_at, paths_in
from agentsim.engine.play import Wave
from agentsim.engine.request import Request
from agentsim.engine.schema import bare_field
from agentsim.history.contents import Entry


@dataclass(frozen=True, slots=True)
class Responses:
    """By what was done and by whom: what was chosen ("" for nothing that has a row), and amounts."""

    chosen: dict[tuple[str, PlayerId], str] = field(default_factory=dict)
    amounts: dict[tuple[str, PlayerId], float] = field(default_factory=dict)


def responses(
    waves: Iterable[tuple[Wave, Sequence[Entry], bool]],
    log: Sequence[LogEntry],
    *,
    heard: int,
    speaker: PlayerId,
    listeners: Sequence[PlayerId],
) -> Responses:
    """What listeners did from wave `heard` on, each thing the first time; `log` grows while the waves are played.

    A closed choice is what was chosen, true is `yes`, a whole number an amount: each by its request's kind and its path
    (`action.bid`), or by the kind alone where the path ends in it. Every deed that events declare is chosen to be done
    to the speaker or not; the first deed that is for or against another is +1 or -1 if the speaker is that other.
    """
    found, begun, known = Responses(), -1, 0
    for wave, entries, _ in waves:
        if wave.number < heard:
            known = wave.asks[-1].index
            continue
        begun = len(log) if begun < 0 else begun
        for ask, entry in zip(wave.asks, entries, strict=True):
            if ask.request.player in listeners:
                for what, value in _decided(ask.request, entry.decision):
                    into: dict[Any, Any] = found.chosen if isinstance(value, str) else found.amounts
                    into.setdefault((what, ask.request.player), value)
    past, towards = Past(), f"for (+1) or against (-1) {speaker}"
    for place, told in enumerate(log):
        # what is told late may have been decided before the message
        if 0 <= begun <= place and (told.decision is None or told.decision > known):
            acts = [act for act in told.event.interactions(past) if act.whom != act.who and act.deed != NAMED]
            for player in listeners:
                _take(found, player, [act for act in acts if act.who == player], speaker, towards)
        past.add(told.event)
    for player in listeners:
        found.amounts.setdefault((towards, player), 0.0)
    return found


def _take(found: Responses, who: PlayerId, acts: Sequence[Interaction], speaker: PlayerId, towards: str) -> None:
    """The deeds of one player in one event, those that it does for the first time."""
    if signs := [(act.whom, act.sign) for act in acts if act.sign]:
        found.amounts.setdefault((towards, who), float(sum(sign for whom, sign in signs if whom == speaker)))
    for deed in dict.fromkeys(act.deed for act in acts):
        if (deed, who) not in found.chosen:
            alike = [act for act in acts if act.deed == deed]
            found.chosen[deed, who] = speaker if any(act.whom == speaker for act in alike) else ""
            if amounts := [act.amount for act in alike if act.amount is not None]:
                found.amounts[f"{deed}: amount", who] = float(sum(amounts))


def _decided(request: Request[Any], decision: Mapping[str, Any]) -> Iterator[tuple[str, str | float]]:
    """The closed choices and whole numbers of a decision; lists, and words, are neither."""
    schema: Mapping[str, Any] = request.schema()
    if bare := bare_field(request.answer, request.stated):
        schema = {"properties": {bare: schema}}
    for path, value in paths_in(decision):
        nodes = list(nodes_at(schema, path))
        legal = {each for node in nodes for each in node.get("enum", ())}
        what = request.kind if path[-1] == request.kind else ".".join((request.kind, *map(str, path)))
        if any(isinstance(key, int) for key in path) or not nodes:
            continue
        if len(legal) > 1:
            yield what, "none" if value is None else str(value)
        elif isinstance(value, bool):
            yield what, "yes" if value else ""
        elif isinstance(value, int) and not legal:
            yield what, float(value)
