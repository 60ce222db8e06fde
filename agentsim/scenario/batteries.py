"""Batteries: sets of questions that come with agentsim, for `[[interviews]]` and `agentsim interview`.

A battery is a TOML file in the folder `batteries`: its questions, and under the name of a game those that this game has
besides or, of the same name, instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agentsim.errors import ScenarioError
from agentsim.scenario.validation import dotted, nearest

_FOLDER = Path(__file__).with_name("batteries")


@cache
def batteries() -> Mapping[str, Mapping[str, Any]]:
    """Return every battery by name, as its file has it."""
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.toml"))}


def battery_names(game: str | None = None) -> list[str]:
    """Return the names of the batteries, or of those that a game can use."""
    return [name for name, each in batteries().items() if game is None or game in each.get("games", [game])]


def battery_questions(name: str, game: str, *, key: str = "battery") -> list[dict[str, Any]]:
    """Return the questions of a battery for a game. Raises `ScenarioError` with the key if there is no such battery."""
    known = battery_names(game)
    if name not in known:
        hint, valid = nearest(name, known)
        other = " of this game" if name in batteries() else ""
        raise ScenarioError(f"there is no battery {name[:40]}{other}{hint}", key=key, valid=valid)
    battery = batteries()[name]
    questions = {each["name"]: each for each in battery["questions"]}
    questions |= {each["name"]: each for each in battery.get(game, {}).get("questions", ())}
    return list(questions.values())


def with_batteries(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario's document with the questions of its interviews' batteries, before their own."""
    interviews, game = document.get("interviews"), document.get("game")
    if not isinstance(interviews, list) or not isinstance(game, str):
        return dict(document)
    found: list[Any] = []
    for index, each in enumerate(interviews):
        asked = each.get("battery") if isinstance(each, dict) else None
        own = each.get("questions", []) if isinstance(each, dict) else []
        names = [asked] if isinstance(asked, str) else asked
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not isinstance(own, list):
            found.append(each)  # its table is refused, with a line about what is wrong
            continue
        at = dotted(("interviews", index, "battery"))
        questions = [question for name in names for question in battery_questions(name, game, key=at)]
        rest = {key: value for key, value in each.items() if key != "battery"}
        found.append({**rest, "questions": [*questions, *own]})
    return {**document, "interviews": found}
