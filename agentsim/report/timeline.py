"""The timeline: every event of a history joined with the decision that led to it, ready to be laid out.

The markup is `templates/timeline.html.j2`. A page for one player is given a history without the others' secrets
(`redaction`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, NamedTuple

from markupsafe import Markup

from agentsim.history.record import DecisionRecord, EventRecord, History, TryRecord
from agentsim.report.markup import foreign

__all__ = ["MOST_FOLDS", "Badge", "EventView", "MessageView", "RoundView", "Timeline"]

MOST_FOLDS = 3_000
"""With more events than this a round has one fold for all their data: a browser is slow with a fold for each."""

# Characters of prompts and reasoning in one page. Beyond it, a text that was shown before becomes a link to that place:
# 10,000 decisions with the same long rules must still make a page that a browser opens.
PROMPT_BUDGET = 16_000_000
_LINE = 300  # characters of an event's data up to which it stands in one line
_BAD_REPLY = ("unreadable", "ambiguous", "illegal")


class Badge(NamedTuple):
    """A mishap on the way to a decision; `tone` is `bad` where the decision is not the player's own."""

    label: str
    why: str = ""
    tone: str = "note"


class MessageView(NamedTuple):
    """A message of a prompt, or a reply; `attempt` counts from 1."""

    role: str
    text: Markup
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """One event as it is shown, or a decision that left no event."""

    record: EventRecord
    anchor: str
    label: str
    player: str | None
    sight: str  # public, private or log
    seen: str | None  # the places of its viewers; None for a public event
    asked: int | None  # the place of the player whose decision it was
    data: str
    badges: tuple[Badge, ...] = ()
    prompt: tuple[MessageView, ...] = ()
    reasoning: Markup | None = None
    elsewhere: str | None = None  # anchor of the event that shows this decision's prompt and reasoning
    alike: int = 0  # number of later decisions that are shown by this one


class RoundView(NamedTuple):
    """A round with its events in order."""

    anchor: str
    title: str
    entries: tuple[EventView, ...]
    data: str = ""  # of all its events, in a page with more than `MOST_FOLDS`


class Timeline:
    """Joins events with decisions.

    `rounds` comes before `silent`, as in the page: a prompt is shown in full once, at its first place.
    """

    def __init__(self, history: History, *, prompts: bool, reasoning: bool) -> None:
        self._history, self._prompts, self._reasoning = history, prompts, reasoning
        self._decisions = {decision.index: decision for decision in history.decisions}
        self._roles = {f"player {record.id}".casefold(): record.id for record in history.players}
        self._places = {record.id: place for place, record in enumerate(history.players)}
        self._shown_at: dict[int, str] = {}  # decision -> anchor
        self._texts: dict[int, tuple[Markup, str]] = {}  # text -> how it looks, and where it stood first
        self._spent = 0

    def rounds(self) -> Iterator[RoundView]:
        """Every round, the empty ones too."""
        by_round = sum(len(record.events) for record in self._history.rounds) > MOST_FOLDS
        for place, record in enumerate(self._history.rounds):
            entries = tuple(self._entry(event, self._decision_of(event), f"e{event.seq}") for event in record.events)
            data = ""
            if by_round:
                told = ((event.seq, event.data) for event in record.events if event.data)
                data = "\n".join(f"#{seq} {json.dumps(data, ensure_ascii=False)}" for seq, data in told)
                entries = tuple(replace(entry, data="") for entry in entries)
            yield RoundView(f"round-{place}", record.title, entries, data)

    def silent(self) -> Iterator[EventView]:
        """The decisions without an event; those that differ in nothing but their number are shown once."""
        events = [event for record in self._history.rounds for event in record.events]
        told = {decision.index for event in events if (decision := self._decision_of(event))}
        same: dict[object, list[EventView]] = {}
        for decision in self._history.decisions:
            if decision.index not in told:
                entry = self._silent(decision)
                alone = entry.prompt or entry.reasoning or entry.badges
                key = entry.anchor if alone else (entry.player, entry.record.kind, entry.data)
                same.setdefault(key, []).append(entry)
        for first, *others in same.values():
            yield replace(first, alike=len(others))

    def deeds(self) -> dict[str, Counter[str]]:
        """The number of events of each kind that each player caused."""
        deeds: dict[str, Counter[str]] = {record.id: Counter() for record in self._history.players}
        for record in self._history.rounds:
            for event in record.events:
                player = self._player(event, self._decision_of(event))
                if player in deeds:
                    deeds[player][event.kind] += 1
        return deeds

    def _decision_of(self, event: EventRecord) -> DecisionRecord | None:
        index = event.metadata.get("decision")
        return self._decisions.get(index) if isinstance(index, int) else None

    def _player(self, event: EventRecord, decision: DecisionRecord | None) -> str | None:
        # The role first: a page for one player lacks the others' decisions.
        return self._roles.get(event.role.casefold()) or (decision.player if decision else None)

    def _entry(self, event: EventRecord, decision: DecisionRecord | None, anchor: str, label: str = "") -> EventView:
        everyone = event.visibility == "all"
        prompt, reasoning, elsewhere = self._folds(event, decision, anchor)
        return EventView(
            record=event,
            anchor=anchor,
            label=label or str(event.seq),
            player=self._player(event, decision),
            sight="public" if everyone else "private" if event.visibility else "log",
            seen=None if everyone else " ".join(str(self._places.get(viewer, "")) for viewer in event.visibility),
            asked=self._places.get(decision.player) if decision else None,
            data=_json(event.data),
            badges=tuple(_badges(decision)) if decision else (),
            prompt=prompt,
            reasoning=reasoning,
            elsewhere=elsewhere,
        )

    def _silent(self, decision: DecisionRecord) -> EventView:
        """A decision as if an event told of it to its player alone."""
        event = EventRecord(
            seq=decision.index,
            kind=decision.kind,
            heading=decision.kind.replace("_", " ").capitalize(),
            role=decision.player if decision.player.startswith("@") else f"player {decision.player}",
            content="",
            data=decision.decision,
            visibility=[decision.player],
            prompt=None,
            reasoning=None,
            metadata={},
        )
        return self._entry(event, decision, f"d{decision.index}", f"decision {decision.index}")

    def _folds(
        self, event: EventRecord, decision: DecisionRecord | None, anchor: str
    ) -> tuple[tuple[MessageView, ...], Markup | None, str | None]:
        """Prompt and reasoning; of several events of one decision, the first shows them, the others link to it."""
        if decision and decision.index in self._shown_at:
            return (), None, self._shown_at[decision.index]
        prompt = self._exchange(decision.tries, anchor) if decision else ()
        if not prompt and self._prompts and event.prompt:
            prompt = (MessageView("prompt", self._joined(event.prompt, anchor), 1),)
        reasoning = self._thoughts(decision.tries, anchor) if decision else None
        if reasoning is None and self._reasoning and event.reasoning:
            reasoning = self._joined(event.reasoning, anchor)
        if decision and (prompt or reasoning):
            self._shown_at[decision.index] = anchor
        return prompt, reasoning, None

    def _exchange(self, tries: Sequence[TryRecord], anchor: str) -> tuple[MessageView, ...]:
        """The messages of each attempt, without those that the attempt before had sent.

        The raw replies can hold both the words of a prompt and spelled-out thinking, so they need both flags.
        """
        if not self._prompts:
            return ()
        messages: list[MessageView] = []
        before: list[tuple[str, list[int]]] = []
        for attempt, record in enumerate(tries, start=1):
            same = [*takewhile(lambda pair: pair[0] == pair[1], zip(before, record.messages, strict=False))]
            for role, segments in record.messages[len(same) :]:
                messages.append(MessageView(role, self._joined(segments, anchor), attempt))
            before = list(record.messages)
            if record.reply and self._reasoning:
                messages.append(MessageView("reply", self._joined(record.reply, anchor), attempt))
                before.append(("assistant", record.reply))
        return tuple(messages)

    def _thoughts(self, tries: Sequence[TryRecord], anchor: str) -> Markup | None:
        if not self._reasoning:
            return None
        parts = [self._joined(record.reasoning, anchor) for record in tries if record.reasoning]
        return Markup("\n\n").join(parts) if parts else None

    def _joined(self, indices: Iterable[int], anchor: str) -> Markup:
        return Markup("\n").join(self._text(index, anchor) for index in indices)

    def _text(self, index: int, anchor: str) -> Markup:
        known = self._texts.get(index)
        if known is None:
            known = self._texts[index] = (foreign(self._history.texts[index]), anchor)
        elif self._spent > PROMPT_BUDGET and len(known[0]) > 100:
            return Markup('<a class="again" href="#{}">{} characters, as shown before</a>').format(
                known[1], f"{len(self._history.texts[index]):,}"
            )
        self._spent += len(known[0])
        return known[0]


def _json(value: Any) -> str:
    """In one line where it is short: long games have thousands of small ones."""
    line = json.dumps(value, ensure_ascii=False) if value else ""
    return line if len(line) <= _LINE else json.dumps(value, ensure_ascii=False, indent=1)


def _badges(decision: DecisionRecord) -> Iterator[Badge]:
    """Every failed try, repair and fallback of a decision."""
    if decision.source == "fallback":
        yield Badge("Fallback", decision.fallback_reason or "", "bad")
    last = len(decision.tries) - 1
    for place, attempt in enumerate(decision.tries):
        if attempt.error is not None:
            code, message = str(attempt.error.get("code", "error")), str(attempt.error.get("message", ""))
            done = "Failed" if place == last else "Re-asked" if code in _BAD_REPLY else "Retried"
            yield Badge(f"{'Taken over' if attempt.takeover else done}: {code}", message)
        if attempt.finish_reason == "length":
            yield Badge("Cut short", "the reply reached the limit of tokens")
    if decision.parse is not None and decision.parse.repaired:
        yield Badge("Repaired", f"read after a repair ({decision.parse.stage})")
    if decision.parse is not None and decision.parse.stage == "cut":
        yield Badge("Ended early", "the words end at their last whole sentence before the limit of tokens")
