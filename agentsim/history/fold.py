"""Fold: the history of a game from its log and its decisions, byte for byte the same each time.

It depends on no clock, no file and no order of replies; such values are passed in as `volatile`. `models.prices` knows
what one call costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from agentsim.engine.codec import NewTexts, Texts, adapter, json_line
from agentsim.engine.event import LoggedEvent
from agentsim.engine.game import Outcome
from agentsim.engine.reading import READER_VERSION
from agentsim.engine.steering import Aside
from agentsim.history.journal import DecisionRecord
from agentsim.history.record import KEYS, Branch, EventRecord, History, PlayerRecord, RoundRecord, Totals, WarningRecord
from agentsim.history.versions import HISTORY_FORMAT
from agentsim.models.base import PER_EXECUTION, Attempt
from agentsim.players.model import Diagnostic, diagnostics


def build_history(
    *,
    game: str,
    rules_version: int,
    seed: int,
    status: str,
    scenario: Mapping[str, Any],
    players: Sequence[PlayerRecord],
    rounds: Sequence[str],
    log: Sequence[LoggedEvent],
    decisions: Sequence[DecisionRecord],
    undecided: Sequence[tuple[str, Attempt]] = (),
    outcome: Outcome | None,
    volatile: Mapping[str, Any],
    fork: Branch | None = None,
    asides: Sequence[Aside] = (),
    first: int = 1,
) -> History:
    """Build the history of these events and decisions, without validating its records.

    `undecided` are attempts, by player, at requests that have no decision yet: they count in `usage`. Surveys of
    `asides` are numbered after the scenario's interviews. `first` is the number of the first event.
    """
    ordered = sorted(decisions, key=attrgetter("wave", "place"))
    by_index = {each.index: each for each in ordered}
    events: list[list[EventRecord]] = [[] for _ in rounds]
    for seq, logged in enumerate(log, start=first):
        events[logged.round].append(EventRecord.of(seq, logged, by_index.get(logged.decision or 0)))
    latencies = {
        str(entry.index): round(sum(attempt.latency_s for attempt in entry.attempts), 4)
        for entry in ordered
        if entry.attempts
    }
    return History.model_construct(
        format=HISTORY_FORMAT,
        game=game,
        rules_version=rules_version,
        reader=READER_VERSION,
        seed=seed,
        fork=fork,
        status=status,
        scenario=dict(scenario),
        asides=[each.model_dump(mode="json", exclude_defaults=True) for each in asides],
        players=list(players),
        rounds=[
            RoundRecord.model_construct(index=index, title=title, events=told)
            for index, (title, told) in enumerate(zip(rounds, events, strict=True))
        ],
        decisions=ordered,
        outcome=outcome,
        usage=Totals.of(ordered, [player.id for player in players], undecided),
        warnings=warnings_of(ordered, undecided, {player.id: player.model for player in players}),
        volatile={**volatile, "latency_s": latencies},
    )


def history_bytes(history: History) -> Iterator[bytes]:
    """Yield the file's bytes: JSON with one event, decision or text per line, so that files can be compared.

    Long texts are stored once, in `texts`; records refer to them by position.
    """
    texts = NewTexts(Texts())
    by_line: Mapping[str, Iterator[bytes]] = {
        "rounds": _round_lines(history.rounds, texts),
        "decisions": _array_lines(
            _lines(DecisionRecord, history.decisions, texts, {"attempts": {"__all__": PER_EXECUTION}})
        ),
        "texts": _array_lines(map(json_line, texts.new)),
    }
    rest = history.model_dump(exclude={*by_line})
    before = b"{\n"
    for key in KEYS:
        if key in by_line or key in rest:
            yield b'%b"%b":' % (before, key.encode())
            yield from by_line[key] if key in by_line else [json_line(rest[key])]
            before = b",\n"
    yield b"\n}\n"


def dump_history(history: History) -> str:
    """Return the file's text."""
    return b"".join(history_bytes(history)).decode()


def _round_lines(rounds: Iterable[RoundRecord], texts: NewTexts) -> Iterator[bytes]:
    """Yield the rounds in pieces, one event per line."""
    before = b"[\n"
    for part in rounds:
        yield b'%b{"index":%d,"title":%b,"events":' % (before, part.index, json_line(part.title))
        yield from _array_lines(_lines(EventRecord, part.events, texts))
        yield b"}"
        before = b",\n"
    yield _end(before)


def _lines(kind: type[Any], records: Iterable[Any], texts: NewTexts, exclude: Any = None) -> Iterator[bytes]:
    """Yield each record as JSON; its long texts are put into `texts`."""
    for record in records:
        yield json_line(adapter(kind).dump_python(record, context=texts, exclude=exclude))


def _array_lines(values: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a JSON array, one value per line."""
    before = b"[\n"
    for value in values:
        yield before + value
        before = b",\n"
    yield _end(before)


def _end(before: bytes) -> bytes:
    return b"[]" if before == b"[\n" else b"\n]"


def warnings_of(
    entries: Iterable[DecisionRecord], undecided: Sequence[tuple[str, Attempt]], models: Mapping[str, str]
) -> list[WarningRecord]:
    """Return the history's `warnings`: each diagnostic of each model once, in order of appearance, with its count.

    `models` are those of the players, by id.
    """
    attempts = [(entry.player, attempt) for entry in entries for attempt in entry.attempts]
    first: dict[tuple[str, str], Diagnostic] = {}
    counts: Counter[tuple[str, str]] = Counter()
    hosts: dict[str, str] = {}
    for player, attempt in (*attempts, *undecided):
        for diagnostic in diagnostics(attempt.model or models[player], attempt, hosts):
            key = (diagnostic.code, diagnostic.model)
            first.setdefault(key, diagnostic)
            counts[key] += 1
    return [WarningRecord(**asdict(diagnostic), count=counts[key]) for key, diagnostic in first.items()]
