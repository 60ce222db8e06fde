"""Entries as the lines of a journal: texts stand elsewhere, and what cannot have been written is refused."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

import pytest

from agentsim.engine.codec import NewTexts, Texts, adapter, json_line
from agentsim.engine.survey import SurveyPlace
from agentsim.models.base import JOURNAL_ONLY_FIELDS, Attempt
from agentsim.records.journal import DecisionRecord
from tests.records.sample import entry, paid


class Shelf:
    """Keeps texts in order, as the journal does."""

    def __init__(self) -> None:
        self.texts = Texts()
        self.store = NewTexts(self.texts)

    def written(self, record: DecisionRecord | Attempt) -> Any:
        return adapter(type(record)).dump_python(record, context=self.store)

    def read(self, kind: type[DecisionRecord | Attempt], line: Any) -> Any:
        return adapter(kind).validate_python(line, context=self.texts)


def test_texts_are_put_away_and_only_their_places_stand_in_the_line() -> None:
    shelf = Shelf()
    written = shelf.written(entry())
    line = json.dumps(written)
    assert sorted(shelf.texts.in_order) == sorted(
        ["These are the rules.", "You are player A.", "Heard.", "Speak!", '{"text": "Hello."}', "thinking"]
    )
    assert "These are the rules." not in line
    assert written["attempts"][0]["messages"] == [["system", [[0, 1]]], ["user", [[2, 3]]]], "the first and the last"


def _bad(*path: Any, value: Any) -> Any:
    def change(line: Any) -> None:
        for step in path[:-1]:
            line = line[step]
        line[path[-1]] = value

    return pytest.param(change, id=f"{'.'.join(map(str, path))}={value!r}")


@pytest.mark.parametrize(
    "change",
    [
        *(_bad("index", value=value) for value in (-1, True, 1.0, "1", None)),
        _bad("wave", value="1"),
        _bad("place", value=-1),
        _bad("source", value="oracle"),
        _bad("source", value=None),
        _bad("decision", value=5),
        _bad("decision", value="text"),
        _bad("attempts", value=5),
        _bad("attempts", value=[5]),
        _bad("parse", value=5),
        _bad("parse", "candidates", value="many"),
        _bad("fallback_reason", value=5),
        _bad("attempts", 0, "code", value=[]),
        _bad("attempts", 0, "error", value=1),
        _bad("attempts", 0, "latency_s", value="long"),
        _bad("attempts", 0, "messages", value=[["system"]]),
        _bad("attempts", 0, "messages", value=[["system", ["nosuchtext"]]]),
        *(
            _bad("attempts", 0, "messages", value=[["system", [at]]])
            for at in (-1, 99, True, [0, 99], [-1, 0], [0], [2, 10**12])
        ),
        *(_bad("attempts", 0, "completion", "text", value=at) for at in (-1, 99, [0, 1], None)),
        _bad("attempts", 0, "completion", "text", value="nosuchtext"),
        _bad("attempts", 0, "completion", "model", value={}),
        _bad("attempts", 0, "completion", "usage", value={}),
        _bad("attempts", 0, "completion", "usage", "prompt_tokens", value="many"),
        _bad("attempts", 0, "completion", "usage", "prompt_tokens", value=-1),
        _bad("attempts", 0, "completion", "usage", "cost_usd", value="cheap"),
        _bad("attempts", 0, "completion", "usage", "cost_usd", value=-0.5),
        _bad("attempts", 0, "completion", "usage", "cost_usd", value=True),
        _bad("attempts", 0, "completion", "usage", "tips", value=1),
    ],
)
def test_a_line_that_nobody_wrote_is_refused(change: Any) -> None:
    shelf = Shelf()
    line = json.loads(json.dumps(shelf.written(entry(attempts=(paid(),)))))
    shelf.read(DecisionRecord, line)
    change(line)
    with pytest.raises((KeyError, TypeError, ValueError)):
        shelf.read(DecisionRecord, line)


@pytest.mark.parametrize("key", [each.name for each in fields(DecisionRecord) if each.default is MISSING])
def test_every_key_is_needed(key: str) -> None:
    shelf = Shelf()
    line = shelf.written(entry())
    del line[key]
    with pytest.raises(ValueError, match=key):
        shelf.read(DecisionRecord, line)


@pytest.mark.parametrize(
    "record",
    [
        entry(),
        entry(attempts=(paid(code="unreadable"), paid()), round=0),
        entry(source="bot", attempts=(), parse=None, round=3),
        entry(source="fallback", fallback_reason="timeout", survey=SurveyPlace(1, 2), parse=None),
    ],
    ids=["model", "asked again", "bot", "survey"],
)
def test_a_record_writes_what_reads_back_as_it(record: DecisionRecord) -> None:
    shelf = Shelf()
    written = record.json_line(shelf.store)
    assert shelf.read(DecisionRecord, json.loads(written)) == record
    assert written == json_line(Shelf().written(record)), "as pydantic writes it, in its order"
    of_history = record.json_line(shelf.store, JOURNAL_ONLY_FIELDS)
    assert b"latency_s" not in of_history
    assert (of_history is written) == (not record.attempts), "a record without attempts is encoded once"
