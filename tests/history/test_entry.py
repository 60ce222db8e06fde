"""Entries survive their JSON, whatever is in them; what cannot have been written is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from agentsim.history.entry import Entry, entry_from_json, entry_to_json, try_from_json, try_to_json
from agentsim.history.texts import text_id
from agentsim.players.base import Try
from tests.history.sample import entries, entry, paid, tries


class Shelf:
    """Keeps texts by id, as the journal does."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def store(self, texts: Sequence[str]) -> list[str]:
        self.texts |= {text_id(text): text for text in texts}
        return [text_id(text) for text in texts]


@given(entries)
def test_an_entry_survives_its_json(original: Entry) -> None:
    shelf = Shelf()
    line = json.dumps(entry_to_json(original, shelf.store), allow_nan=False)
    assert entry_from_json(json.loads(line), shelf.texts) == original


@given(tries)
def test_a_try_survives_its_json(original: Try) -> None:
    shelf = Shelf()
    line = json.dumps(try_to_json(original, shelf.store), allow_nan=False)
    assert try_from_json(json.loads(line), shelf.texts) == original


def test_texts_are_put_away_and_only_their_ids_stand_in_the_line() -> None:
    shelf = Shelf()
    line = json.dumps(entry_to_json(entry(), shelf.store))
    assert sorted(shelf.texts.values()) == sorted(
        ["These are the rules.", "You are player A.", "Heard.", "Speak!", '{"text": "Hello."}', "thinking"]
    )
    assert "These are the rules." not in line
    assert all(name in line for name in shelf.texts)


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
        _bad("tries", value=5),
        _bad("tries", value=[5]),
        _bad("parse", value=5),
        _bad("parse", "candidates", value="many"),
        _bad("fallback_reason", value=5),
        _bad("tries", 0, "code", value=[]),
        _bad("tries", 0, "error", value=1),
        _bad("tries", 0, "latency_s", value="long"),
        _bad("tries", 0, "messages", value=[["system"]]),
        _bad("tries", 0, "messages", value=[["system", ["nosuchtext"]]]),
        _bad("tries", 0, "completion", "text", value="nosuchtext"),
        _bad("tries", 0, "completion", "model", value={}),
        _bad("tries", 0, "completion", "usage", value={}),
        _bad("tries", 0, "completion", "usage", "prompt_tokens", value="many"),
        _bad("tries", 0, "completion", "usage", "prompt_tokens", value=-1),
        _bad("tries", 0, "completion", "usage", "cost_usd", value="cheap"),
        _bad("tries", 0, "completion", "usage", "cost_usd", value=-0.5),
        _bad("tries", 0, "completion", "usage", "cost_usd", value=True),
        _bad("tries", 0, "completion", "usage", "tips", value=1),
    ],
)
def test_a_line_that_nobody_wrote_is_refused(change: Any) -> None:
    shelf = Shelf()
    line = json.loads(json.dumps(entry_to_json(entry(attempts=(paid(),)), shelf.store)))
    entry_from_json(line, shelf.texts)
    change(line)
    with pytest.raises((KeyError, TypeError, ValueError)):
        entry_from_json(line, shelf.texts)


@pytest.mark.parametrize("key", sorted(entry_to_json(entry(), list)))
def test_every_key_is_needed(key: str) -> None:
    shelf = Shelf()
    line = entry_to_json(entry(), shelf.store)
    del line[key]
    if key == "record":  # whose line it is was read before
        assert entry_from_json(line, shelf.texts) == entry()
    else:
        with pytest.raises(KeyError):
            entry_from_json(line, shelf.texts)
