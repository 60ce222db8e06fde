"""Altered histories of the golden games, as a liar or a faulty program could write them.

An alteration is a function of its number.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["GAMES", "altered", "golden"]

GOLDEN = Path(__file__).parents[1] / "golden"
GAMES = ("agent_island", "auction", "market", "monopoly", "society", "werewolf")
_FOREIGN: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10**6, -(2**63), 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf")),
    *("", "x", "A", "p1", "all", "@staff", "\ud800", "\0\x1b[31m", "=1+1", "x" * 5000, "narrator", "player A", "1"),
    *([], {}, [0], [[]], ["A"], {"x": 1}, {"": None}, [None], [10**6], [-1], ["\ud800"], [1.5]),
)
_BOTTOMLESS = 2_000


@cache
def golden(game: str) -> str:
    """Return the history of a golden game, as in its file."""
    return (GOLDEN / f"{game}.json").read_text(encoding="utf-8")


@cache
def _decoded(game: str) -> Any:
    return json.loads(golden(game))


def altered(number: int) -> tuple[str, str]:
    """Return the name of a golden game and its history with one to three alterations, which may be no valid JSON."""
    rng = Random(number)
    game = GAMES[number % len(GAMES)]
    history = copy.deepcopy(_decoded(game))
    ways = [rng.randrange(5) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    for way in sorted(ways):  # alterations that may break the format come last
        (_mistold, _mistold, _misnumbered, _alter, _alter)[way](history, rng)
    text = json.dumps(history)
    if rng.random() < 0.02:
        deep = "[" * _BOTTOMLESS + "]" * _BOTTOMLESS
        text = text.replace(rng.choice(("{}", "null", "[]")), deep, 1)
    return game, text


def _place(value: Any, rng: Random, further: float = 0.85) -> tuple[Any, Any]:
    """Return a random place below a value, as its container and key; every part of a record is equally likely."""
    holder, key = value, rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    while isinstance(inner := holder[key], dict | list) and inner and rng.random() < further:
        holder, key = inner, rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
    return holder, key


def _alter(history: Any, rng: Random) -> None:
    """Replace, delete or duplicate the value at a random place."""
    holder, key = _place(history, rng)
    value = holder[key]
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(value))
        case 1:
            holder[rng.choice((*holder, "x", ""))] = copy.deepcopy(value)
        case 2:
            _swap(holder, key, rng)
        case 3:
            other, there = _place(history, rng)
            holder[key] = copy.deepcopy(other[there])
        case 4:
            holder[key] = _near(value, history, rng)
        case _:
            holder[key] = copy.deepcopy(rng.choice(_FOREIGN))


def _mistold(history: Any, rng: Random) -> None:
    """Falsify an event: its participants, its numbers or its time."""
    told = _events(history)
    event = rng.choice(told)
    match rng.randrange(6):
        case 0:
            other = rng.choice(told)
            event["data"], other["data"] = other["data"], event["data"]
        case 1:
            events = rng.choice([part["events"] for part in history["rounds"] if part["events"]])
            _swap(events, rng.randrange(len(events)), rng)
        case 2:
            event["role"] = rng.choice(("narrator", "player Z", "player ", "moderator", _seat(history, rng)))
        case _ if event["data"]:
            holder, key = _place(event["data"], rng, 0.95)
            holder[key] = _near(holder[key], history, rng)


def _misnumbered(history: Any, rng: Random) -> None:
    """Change an index or an id to another one, which may not exist."""
    holder = rng.choice((*history["decisions"], *history["players"], *history["rounds"], *_events(history)))
    key = rng.choice([key for key in holder if key in _POINTING])
    if isinstance(holder[key], dict | list) and holder[key]:
        holder, key = _place(holder[key], rng, 0.95)
    holder[key] = _near(holder[key], history, rng)


_POINTING = {
    "index",
    "wave",
    "player",
    "attempts",
    "id",
    "seq",
    "visibility",
    "prompt",
    "reasoning",
    "metadata",
    "model",
}


def _near(value: Any, history: Any, rng: Random) -> Any:
    """Return another value of the same type, which a schema may accept."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + rng.choice((-(10**6), -1000, -2, -1, 1, 2, 7, 1000, 10**9))
        case str():
            shapes = (value + "x", value[:-1], value.upper(), value[::-1], "", "Z", _seat(history, rng))
            return rng.choice(shapes)
        case list():
            return rng.choice(([], value * 2, value[1:], value[::-1], [_near(each, history, rng) for each in value]))
        case dict():
            return rng.choice(({}, dict(list(value.items())[1:]), {**value, "Z": next(iter(value.values()), None)}))
        case _:
            return rng.choice((0, 1, _seat(history, rng)))


def _events(history: Any) -> list[Any]:
    return [event for part in history["rounds"] for event in part["events"]]


def _seat(history: Any, rng: Random) -> str:
    players = [each for each in history.get("players") or () if isinstance(each, dict)]  # some may be gone by now
    return str(rng.choice(players or [{}]).get("id"))


def _swap(holder: Any, key: Any, rng: Random) -> None:
    other = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]
