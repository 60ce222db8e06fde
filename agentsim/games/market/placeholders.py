"""Placeholders: the marks in a system prompt that stand for what a market knows, `#!name!#` or `!#name!#`.

What they are filled with is `prompts`. A value is never looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentsim.engine.wording import near

NAMES = (
    "n_agents",
    "max_steps",
    "num_artifacts",
    "artifact_descriptions",
    "tool_descriptions",
    "action_restrictions",
    "inventory",
    "agent_name",
    "goal",
)
_PERSONAL = frozenset(("action_restrictions", "inventory", "agent_name", "goal"))
_MARK = re.compile(r"#!(?P<one>[^!#\n]+)!#|!#(?P<other>[^!#\n]+)!#")


def _name(mark: re.Match[str]) -> str:
    return mark["one"] or mark["other"]


def problem(text: str) -> str:
    """What is wrong with a text's placeholders; nothing where all are known."""
    for mark in _MARK.finditer(text):
        name = _name(mark)
        if name not in NAMES:
            return f"unknown placeholder {name[:40]}{near(name, NAMES)}; there are {', '.join(NAMES)}"
    return ""


def used(text: str) -> set[str]:
    """The names of a text's placeholders."""
    return {_name(mark) for mark in _MARK.finditer(text)}


def of_one_agent(line: str) -> bool:
    """Whether a line holds what differs between agents."""
    return not used(line).isdisjoint(_PERSONAL)


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with every placeholder's value in its place, once."""
    return _MARK.sub(lambda mark: values[_name(mark)], text)
