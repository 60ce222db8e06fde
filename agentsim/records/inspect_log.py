"""Histories as an Inspect log (`.eval`), which Inspect View and `samples_df` read (extra `inspect`).

A game is a sample; rounds and decisions are spans, every attempt is a model event, public events are messages, ranks
are scores. Inspect needs times and a history only has an order, so events are one millisecond apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentsim.errors import UsageError, installed_by
from agentsim.models.base import Attempt, ending
from agentsim.records.history import EventRecord, History
from agentsim.records.journal import DecisionRecord

_STOPS = {"whole": "stop", "cut": "max_tokens", "full": "model_length", "filtered": "content_filter"}


def inspect_log(histories: Sequence[tuple[str, History]]) -> bytes:
    """Return the `.eval` file of named histories. Raises `UsageError` if inspect_ai is not installed."""
    import tempfile

    try:
        from inspect_ai import log
    except ImportError:
        raise UsageError(f"--format inspect needs the extra inspect: {installed_by('inspect')}") from None
    samples = [_Sample(name, history).made() for name, history in histories]
    usage: dict[str, Any] = {}
    for sample in samples:
        for model, part in sample.model_usage.items():
            usage[model] = usage[model] + part if model in usage else part
    games = list(dict.fromkeys(history.game for _, history in histories))
    models = {player.model for _, history in histories for player in history.seated}
    made = log.EvalLog(
        status="success",
        eval=log.EvalSpec(
            created=min(sample.started_at or "" for sample in samples),
            task=f"agentsim/{'+'.join(games)}",
            task_id="agentsim",
            dataset=log.EvalDataset(name="+".join(games), samples=len(samples), sample_ids=[s.id for s in samples]),
            model=models.pop() if len(models) == 1 else "agentsim/mixed",
            config=log.EvalConfig(),
        ),
        results=log.EvalResults(total_samples=len(samples), completed_samples=len(samples)),
        stats=log.EvalStats(model_usage=usage),
        samples=samples,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.eval")
        log.write_eval_log(made, str(path))
        return path.read_bytes()


class _Sample:
    """The conversion of one history to a sample."""

    def __init__(self, name: str, history: History) -> None:
        self._name, self._history = name, history
        self._models = {player.id: player.model for player in history.players}
        started = datetime.fromisoformat(str(history.volatile.get("started_at", "1970-01-01T00:00:00Z")))
        self._started = started if started.tzinfo else started.replace(tzinfo=UTC)
        self._ticks = 0
        self.usage: dict[str, Any] = {}

    def made(self) -> Any:
        """Return the `EvalSample`."""
        from inspect_ai.log import EvalSample
        from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
        from inspect_ai.scorer import Score

        history, outcome = self._history, self._history.outcome
        events = list(self._events())
        public = [event for part in history.rounds for event in part.events if event.visibility == "all"]
        messages: list[Any] = [
            (ChatMessageAssistant if event.role.startswith("player ") else ChatMessageUser)(
                content=f"**{event.heading}**\n\n{event.content}", metadata={"kind": event.kind, "role": event.role}
            )
            for event in public
        ]
        ranks = {} if outcome is None else {each.player: each.rank for each in outcome.standings}
        told = {player: rank for player, rank in ranks.items() if rank is not None}
        why = None if outcome is None else outcome.reason
        answer = None if outcome is None else outcome.winner
        return EvalSample(
            id=self._name,
            epoch=1,
            input=f"{history.game}, seed {history.seed}",
            target="",
            messages=messages,
            output=ModelOutput(),
            scores={"rank": Score(value=told, answer=answer, explanation=why)} if told else {},
            events=events,
            model_usage=self.usage,
            metadata={
                "game": history.game,
                "seed": history.seed,
                "status": history.status,
                "rules_version": history.rules_version,
                "usage": history.usage.model_dump(mode="json"),
                **{f"model_{player}": model for player, model in self._models.items()},
            },
            uuid=hashlib.sha256(self._name.encode()).hexdigest()[:22],
            started_at=self._started.isoformat(),
            completed_at=self._when().isoformat(),
        )

    def _events(self) -> Iterator[Any]:
        """Yield the events of all rounds; a decision comes before the first event that it led to, others at the end."""
        left = {decision.index: decision for decision in self._history.decisions}
        for part in self._history.rounds:
            span = f"round-{part.index}"
            yield self._begin(span, part.title, "round", None)
            for event in part.events:
                if (decision := left.pop(int(event.metadata.get("decision") or 0), None)) is not None:
                    yield from self._decision_events(decision, span)
                yield self._told(event, span)
            if part is self._history.rounds[-1]:
                for decision in left.values():
                    yield from self._decision_events(decision, span)
            yield self._end(span)

    def _told(self, event: EventRecord, span: str) -> Any:
        from inspect_ai.event import InfoEvent

        data: Any = {"heading": event.heading, "content": event.content, "to": event.visibility, "data": event.data}
        return InfoEvent(source=event.kind, data=data, timestamp=self._when(), span_id=span)

    def _decision_events(self, decision: DecisionRecord, parent: str) -> Iterator[Any]:
        from inspect_ai.event import InfoEvent

        span = f"decision-{decision.index}"
        yield self._begin(span, f"{decision.player}: {decision.kind}", "agent", parent)
        for attempt in decision.attempts:
            yield self._called(decision, attempt, span)
        made = {"index": decision.index, "player": decision.player, "source": decision.source}
        lost = {"fallback_reason": decision.fallback_reason, "cause": decision.cause}
        data: Any = {**made, "decision": decision.decision, **lost}
        yield InfoEvent(source="decision", data=data, timestamp=self._when(), span_id=span)
        yield self._end(span)

    def _called(self, decision: DecisionRecord, attempt: Attempt, span: str) -> Any:
        """Return the model event of an attempt; a person's has no usage."""
        from inspect_ai.event import ModelEvent
        from inspect_ai.model import (
            ChatCompletionChoice,
            ChatMessageAssistant,
            ChatMessageSystem,
            ChatMessageUser,
            ContentReasoning,
            ContentText,
            GenerateConfig,
            ModelOutput,
            ModelUsage,
        )

        kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
        reply, thought = attempt.reply or "", attempt.reasoning
        content: Any = [ContentReasoning(reasoning=thought), ContentText(text=reply)] if thought else reply
        model = attempt.model or self._models.get(decision.player, "unknown")
        used = None if decision.source == "human" else attempt.usage
        usage = None if used is None else ModelUsage(
            input_tokens=used.prompt_tokens or 0,
            output_tokens=used.completion_tokens or 0,
            total_tokens=(used.prompt_tokens or 0) + (used.completion_tokens or 0),
            input_tokens_cache_read=used.cached_tokens,
            input_tokens_cache_write=used.cache_write_tokens,
            reasoning_tokens=used.reasoning_tokens,
            total_cost=used.cost_usd,
        )  # fmt: skip
        if usage is not None:
            self.usage[model] = self.usage[model] + usage if model in self.usage else usage
        message = ChatMessageAssistant(content=content, model=model, source="generate")
        reason = None if attempt.completion is None else attempt.completion.finish_reason
        stop: Any = _STOPS.get(ending(reason) or "", "unknown") if reason else "unknown"
        return ModelEvent(
            model=model,
            role=decision.player,
            input=[kinds.get(sent.role, ChatMessageUser)(content=sent.text) for sent in attempt.messages],
            tools=[],
            tool_choice="none",
            config=GenerateConfig(),
            output=ModelOutput(
                model=model, usage=usage, choices=[ChatCompletionChoice(message=message, stop_reason=stop)]
            ),
            error=None if attempt.code is None else f"{attempt.code}: {attempt.error}",
            timestamp=self._when(),
            span_id=span,
        )

    def _begin(self, span: str, name: str, kind: str, parent: str | None) -> Any:
        from inspect_ai.event import SpanBeginEvent

        when = self._when()
        return SpanBeginEvent(id=span, name=name, type=kind, parent_id=parent, timestamp=when, span_id=span)

    def _end(self, span: str) -> Any:
        from inspect_ai.event import SpanEndEvent

        return SpanEndEvent(id=span, timestamp=self._when(), span_id=span)

    def _when(self) -> datetime:
        self._ticks += 1
        return self._started + timedelta(milliseconds=self._ticks)
