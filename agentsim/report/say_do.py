"""Say and do: what a player said, beside what it thought and did by the same decision.

Counted and shown, not judged: whether words and deeds agree is for the reader. The timeline has every event in full.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentsim.engine.panel import Cell, Table
from agentsim.engine.wording import cut
from agentsim.history.record import DecisionRecord, EventRecord, History

__all__ = ["MOST_ROWS", "say_do"]

MOST_ROWS = 1_500
_LONG = 600
"""Characters of a cell."""


def say_do(history: History, *, reasoning: bool) -> Table | None:
    """A row for each decision with words for others and a thought or a deed beside them; None without any.

    A thought is what a decision says to nobody else, or with `reasoning` what its model said to itself.
    """
    caused: dict[int, list[tuple[str, EventRecord]]] = defaultdict(list)
    for record in history.rounds:
        for event in record.events:
            if isinstance(index := event.metadata.get("decision"), int):
                caused[index].append((record.title, event))
    rows = [
        row
        for decision in history.decisions
        if (row := _row(decision, caused.get(decision.index, []), history.texts if reasoning else ()))
    ]
    if not rows:
        return None
    left = len(rows) - MOST_ROWS
    note = "Words to others, and what the same decision says to nobody and does. The search below finds rows here, too."
    if left > 0:
        note += f" The first {MOST_ROWS:,} of {len(rows):,}."
    columns = ("when", "who", "said", "to", "thought", "did")
    # where nobody thinks, a column for thoughts takes the room of the deeds
    kept = [place for place in range(len(columns)) if any(row[place] is not None for row in rows[:MOST_ROWS])]
    return Table(
        "Said, thought and done"
        if len(kept) == len(columns)
        else "Said and " + columns[kept[-1]].replace("did", "done"),
        tuple(columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows[:MOST_ROWS]),
        note,
    )


def _row(
    decision: DecisionRecord, caused: Iterable[tuple[str, EventRecord]], texts: Sequence[str]
) -> tuple[Cell, ...] | None:
    own = set(_words(decision.decision))
    said, thought, did, spoken = [], [], [], []
    when, to = "", ""
    for title, event in caused:
        when = title
        if event.content.strip() in own:
            spoken.append(event.heading)
        if event.content.strip() not in own:
            did.append(event.heading)
        elif event.visibility == "all":
            said.append(event.content)
            to = "all"
        elif others := [player for player in event.visibility if player != decision.player]:
            said.append(event.content)
            to = to or ", ".join(others)
        else:
            thought.append(event.content)
    if texts:
        thought += [texts[place] for attempt in decision.tries for place in attempt.reasoning or ()]
    if not did and any(_deeds(decision.decision)):
        did = spoken  # an event that tells of the words and of the deed at once
    if not said or not (thought or did):
        return None
    cells = (cut("\n".join(part), _LONG) or None for part in (said, [to], thought, did))
    return (when, decision.player, *cells)


def _deeds(value: Any) -> Iterator[Any]:
    """Everything in a decision that is neither words nor empty."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _deeds(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _deeds(part) if not isinstance(part, str) else (part,)
    elif value is not None and not isinstance(value, str):
        yield value


def _words(value: Any) -> Iterator[str]:
    """Every text in a decision, without the white space around it."""
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _words(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _words(part)
