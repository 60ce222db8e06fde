"""The timeline: every event of a history with the decision that led to it, laid out for the page.

The markup is `templates/timeline.html.j2`. A page for one player gets a history without the others' secrets
(`player_view`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from markupsafe import Markup

from agentsim.engine.codec import paths_in
from agentsim.models.base import Attempt, ending
from agentsim.records.causes import cause_of
from agentsim.records.claims import Claim
from agentsim.records.history import EventRecord, History
from agentsim.records.journal import DecisionRecord
from agentsim.records.ledger import Promise
from agentsim.report.markup import TemplateContext, foreign

MOST_FOLDS = 3_000
"""With more events than this, a page omits their data, which would be half of it. The history file has them."""

# Characters of prompts and reasoning in one page. Beyond it, a text that was shown before becomes a link to it, so that
# a page of 10,000 decisions with the same long rules still opens in a browser.
PROMPT_BUDGET = 16_000_000
_LINE = 300  # the longest data of an event, in characters, that is put on one line

MOST_FORKS = 5_000
"""The most decisions of a game whose events each hold the command that forks there. Of more it would be a sixth of the
page, and the script writes it into the event that is selected."""


class Timeline:
    """The builder of the timeline's rounds and decisions.

    Call `rounds` before `silent`, as on the page: a prompt is shown in full at its first place only. `run` is the name
    of the run for the commands that fork it, or None if the page is for one who has no such run. The words of
    `promises` and the deeds that keep or break them link to each other, and the words of `claims` to the facts.
    """

    def __init__(
        self,
        history: History,
        *,
        prompts: bool,
        reasoning: bool,
        run: str | None = None,
        promises: Sequence[Promise] = (),
        claims: Sequence[Claim] = (),
    ) -> None:
        self._run = run
        self._coded: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)  # by event: words, and their link
        for promise in promises:
            deed = "" if promise.verdict_at is None else f"#e{promise.verdict_at}"
            self._coded[promise.seq].append((f"Promise ({promise.what}): {promise.verdict}", deed))
            if promise.verdict_at is not None:
                words = f"{promise.verdict.capitalize()} promise of {promise.by}: {promise.what}"
                self._coded[promise.verdict_at].append((words, f"#e{promise.seq}"))
        for claim in claims:
            fact = "" if claim.truth_at is None else f"#e{claim.truth_at}"
            self._coded[claim.seq].append((f"Claim ({claim.what}): {claim.veracity}", fact))
        self._history, self._prompts, self._reasoning = history, prompts, reasoning
        self._decisions = {decision.index: decision for decision in history.decisions}
        self._roles = {f"player {record.id}".casefold(): record.id for record in history.players}
        self._seat_indices = {record.id: index for index, record in enumerate(history.players)}
        self._shown_at: dict[int, str] = {}  # decision -> anchor
        self._texts: dict[str, tuple[Markup, str]] = {}  # text -> its markup and its first anchor
        self._spent = 0
        self._slim = False

    def rounds(self) -> Iterator[TemplateContext]:
        """Yield every round, including empty ones."""
        self._slim = sum(len(record.events) for record in self._history.rounds) > MOST_FOLDS
        for index, record in enumerate(self._history.rounds):
            entries = [self._entry(event, self._decision_of(event), f"e{event.seq}") for event in record.events]
            yield TemplateContext(anchor=f"round-{index}", index=record.index, title=record.title, entries=entries)

    def silent(self) -> Iterator[TemplateContext]:
        """Yield the decisions without an event. Those that differ only in their number are shown once."""
        events = [event for record in self._history.rounds for event in record.events]
        told = {decision.index for event in events if (decision := self._decision_of(event))}
        same: dict[object, TemplateContext] = {}
        for decision in self._history.decisions:
            in_panel = decision.survey is not None and not (self._prompts or self._reasoning)
            if decision.index not in told and not in_panel:
                entry = self._silent(decision)
                has_details = entry.prompt or entry.reasoning or entry.badges
                key = entry.anchor if has_details else (entry.player, entry.record.kind, entry.data)
                if key in same:
                    same[key].alike += 1
                else:
                    same[key] = entry
        yield from same.values()

    def _decision_of(self, event: EventRecord) -> DecisionRecord | None:
        index = event.metadata.get("decision")
        return self._decisions.get(index) if isinstance(index, int) else None

    def _player(self, event: EventRecord, decision: DecisionRecord | None) -> str | None:
        # Try the role first: a page for one player lacks the others' decisions.
        return self._roles.get(event.role.casefold()) or (decision.player if decision else None)

    def _entry(
        self, event: EventRecord, decision: DecisionRecord | None, anchor: str, label: str = ""
    ) -> TemplateContext:
        """Lay out an event.

        `seen` are the seats of its viewers, `asked` is the seat of its decision, `by` the seat of its player.
        """
        everyone = event.visibility == "all"
        player = self._player(event, decision)
        return TemplateContext(
            record=event,
            anchor=anchor,
            label=label or str(event.seq),
            at=None if decision is None or self._run is None else decision.index,
            fork=None if decision is None or self._run is None else self._fork(decision.index),
            player=player,
            sight="public" if everyone else "private" if event.visibility else "log",
            # None if only the player who decided it sees it
            seen=None
            if everyone or (decision and event.visibility == [decision.player])
            else " ".join(str(self._seat_indices.get(viewer, "")) for viewer in event.visibility),
            by=self._seat_indices.get(player) if player else None,
            asked=self._seat_indices.get(decision.player) if decision else None,
            data="" if self._slim and event.seq else _json(event.data),
            badges=list(_badges(decision)) if decision else [],
            coded=self._coded.get(event.seq, ()) if anchor.startswith("e") else (),
            alike=0,  # the number of later decisions that this one stands for
            **self._folds(event, decision, anchor),
        )

    def _fork(self, decision: int) -> str:
        """Return the command that forks the run at a decision, or "" if the page's script writes it."""
        return f"agentsim fork {self._run} --at {decision}" if len(self._decisions) <= MOST_FORKS else ""

    def _silent(self, decision: DecisionRecord) -> TemplateContext:
        """Lay out a decision as an event that only its player sees."""
        event = EventRecord(
            seq=decision.index,
            kind=decision.kind,
            heading=decision.kind.replace("_", " ").capitalize(),
            role=decision.player if decision.player.startswith("@") else f"player {decision.player}",
            content="\n".join(leaf for _, leaf in paths_in(decision.decision) if isinstance(leaf, str) and " " in leaf),
            data=decision.decision,
            visibility=[decision.player],
            prompt=None,
            reasoning=None,
            metadata={},
        )
        return self._entry(event, decision, f"d{decision.index}", f"decision {decision.index}")

    def _folds(self, event: EventRecord, decision: DecisionRecord | None, anchor: str) -> dict[str, Any]:
        """Return prompt and reasoning.

        If a decision led to several events, the first has them and the others link to it.
        """
        if decision and decision.index in self._shown_at:
            return {"prompt": [], "reasoning": None, "elsewhere": self._shown_at[decision.index]}
        prompt = self._exchange(decision.attempts, anchor) if decision else []
        if not prompt and self._prompts and event.prompt:
            prompt = [TemplateContext(role="prompt", text=self._joined(event.prompt, anchor), attempt=1)]
        reasoning = self._thoughts(decision.attempts, anchor) if decision else None
        if reasoning is None and self._reasoning and event.reasoning:
            reasoning = self._text(event.reasoning, anchor)
        if decision and (prompt or reasoning):
            self._shown_at[decision.index] = anchor
        return {"prompt": prompt, "reasoning": reasoning, "elsewhere": None}

    def _exchange(self, attempts: Sequence[Attempt], anchor: str) -> list[TemplateContext]:
        """Return the messages of each attempt, without those that the previous attempt had sent.

        A raw reply may contain words of the prompt and written-out reasoning, so replies need both options.
        """
        if not self._prompts:
            return []
        messages: list[TemplateContext] = []
        before: list[tuple[str, tuple[str, ...]]] = []
        for attempt, record in enumerate(attempts, start=1):
            sent = [(message.role, message.segments) for message in record.messages]
            same = [*takewhile(lambda pair: pair[0] == pair[1], zip(before, sent, strict=False))]
            for role, segments in sent[len(same) :]:
                messages.append(TemplateContext(role=role, text=self._joined(segments, anchor), attempt=attempt))
            before = sent
            if record.reply is not None and self._reasoning:
                messages.append(TemplateContext(role="reply", text=self._text(record.reply, anchor), attempt=attempt))
                before.append(("assistant", (record.reply,)))
        return messages

    def _thoughts(self, attempts: Sequence[Attempt], anchor: str) -> Markup | None:
        if not self._reasoning:
            return None
        parts = [self._text(record.reasoning, anchor) for record in attempts if record.reasoning]
        return Markup("\n\n").join(parts) if parts else None

    def _joined(self, segments: Iterable[str], anchor: str) -> Markup:
        return Markup("\n").join(self._text(segment, anchor) for segment in segments)

    def _text(self, text: str, anchor: str) -> Markup:
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = (foreign(text), anchor)
        elif self._spent > PROMPT_BUDGET and len(known[0]) > 100:
            return Markup('<a class="again" href="#{}">{} characters, as shown before</a>').format(
                known[1], f"{len(text):,}"
            )
        self._spent += len(known[0])
        return known[0]


def _json(value: Any) -> str:
    """Return JSON on one line if it is short, else indented."""
    line = json.dumps(value, ensure_ascii=False) if value else ""
    return line if len(line) <= _LINE else json.dumps(value, ensure_ascii=False, indent=1)


def _badges(decision: DecisionRecord) -> Iterator[tuple[str, str, str]]:
    """Yield (label, explanation, class) of every problem with a decision; `bad` if it is not the player's own."""
    if decision.source == "fallback":
        yield f"Fallback ({decision.cause})", decision.fallback_reason or "", "bad"
    last = len(decision.attempts) - 1
    for index, attempt in enumerate(decision.attempts):
        if (code := attempt.code) is not None:
            done = "Failed" if index == last else "Re-asked" if cause_of(code) == "model" else "Retried"
            yield f"{'Taken over' if attempt.takeover else done}: {code}", attempt.error or "", "note"
        reason = None if attempt.completion is None else attempt.completion.finish_reason
        if (ended := ending(reason)) in {"cut", "full"}:
            limit = "the limit of tokens" if ended == "cut" else "the end of the model's context"
            yield "Cut short", f"the reply reached {limit}", "note"
    if decision.parse is not None and decision.parse.repaired:
        yield "Repaired", f"read after a repair ({decision.parse.stage})", "note"
    if decision.parse is not None and decision.parse.stage == "cut":
        yield "Ended early", "the words end at their last whole sentence before the limit of tokens", "note"
