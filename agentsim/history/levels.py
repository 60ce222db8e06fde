"""Conditions: what differs between the scenarios of games, other than seed, name, prices, and who sits where."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine.panel import Cell

Levels: TypeAlias = Mapping[str, Cell]
"""The settings of a game that vary, by key as in a scenario; None where the game has no such key."""

_APART = frozenset({"game", "seed", "name", "players", "prices"})
_LONGEST = 60
"""A level in words, in characters."""


def levels(scenarios: Sequence[Mapping[str, Any]], *, models: bool = False) -> list[Levels]:
    """Of each scenario the keys that are not the same in all, with what stands there.

    Settings of players are those of the whole table: one level where all players have it, else how many have which
    (`2 x 0.7, 1 x 1.2`), so that players who change places, and models that rotate through seats, make no condition.
    Models themselves count with `models` alone. `players.count` is how many sit down. Tables whose players differ only
    in which settings go together have `players.together`, by number.
    """
    found = [dict(_settings(scenario, models)) for scenario in scenarios]
    keys = dict.fromkeys(key for each in found for key in each)
    varying = [key for key in keys if len({json.dumps(each.get(key)) for each in found}) > 1]
    out = [{key: each.get(key) for key in varying} for each in found]
    together = [_together(scenario, models) for scenario in scenarios]
    same: dict[str, set[str]] = {}
    for own, text in zip(out, together, strict=True):
        same.setdefault(json.dumps(own), set()).add(text)
    if any(len(texts) > 1 for texts in same.values()):
        numbers = {text: number for number, text in enumerate(dict.fromkeys(together), start=1)}
        for own, text in zip(out, together, strict=True):
            own["players.together"] = numbers[text]
    return list(out)


def named(found: Levels, among: Sequence[Levels] = ()) -> str:
    """The levels in words, `key=level, key=level`; long ones are cut, and numbered where that would make two alike."""
    words = []
    for key, level in found.items():
        text = _word(level)
        others = {_word(each[key]): each[key] for each in among if key in each}
        if len(text) > _LONGEST:
            alike = [each for each in others if each[:_LONGEST] == text[:_LONGEST]]
            text = f"{text[: _LONGEST - 1]}…" + (f" #{alike.index(text) + 1}" if len(alike) > 1 else "")
        words.append(f"{key}={text}")
    return ", ".join(words)


def _word(level: Cell) -> str:
    return level if isinstance(level, str) else json.dumps(level)


def _settings(scenario: Mapping[str, Any], models: bool) -> Iterator[tuple[str, Cell]]:
    for key, value in scenario.items():
        if key not in _APART:
            yield from _flat(key, value)
    players = _players(scenario, models)
    yield "players.count", len(players)
    for key in dict.fromkeys(key for player in players for key in player):
        counts = Counter(json.dumps(player.get(key)) for player in players)
        if len(counts) == 1:
            yield f"players.{key}", players[0].get(key)
        else:
            yield f"players.{key}", ", ".join(f"{many} x {level}" for level, many in sorted(counts.items()))


def _flat(key: str, value: Any) -> Iterator[tuple[str, Cell]]:
    """Tables by dotted keys; a list is one level, as JSON."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    elif value is None or isinstance(value, str | int | float | bool):
        yield key, value
    else:
        yield key, json.dumps(value, ensure_ascii=False, sort_keys=True)


def _players(scenario: Mapping[str, Any], models: bool) -> list[dict[str, Cell]]:
    entries = scenario.get("players")
    apart = {"id"} if models else {"id", "model"}
    return [
        {key: level for name, value in entry.items() if name not in apart for key, level in _flat(name, value)}
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping)
    ]


def _together(scenario: Mapping[str, Any], models: bool) -> str:
    return json.dumps(sorted(json.dumps(player, sort_keys=True) for player in _players(scenario, models)))
