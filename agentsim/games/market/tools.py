"""Tools: what an agent may use while it gathers information: a calculator and a notebook. They spend no turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from agentsim.engine import Text
from agentsim.engine.calculator import calculate
from agentsim.engine.capability import Capability, Refused
from agentsim.engine.wording import cut
from agentsim.games.market.artifact import Answer

Tool: TypeAlias = Literal["calculator", "notebook"]

MOST_CHARS = 200
MOST_NOTES = 20
NOTE_CHARS = 300

TOOLS: Mapping[Tool, tuple[Capability, ...]] = {
    "calculator": (
        Capability(
            "calculator",
            "works out an expression of numbers, + - * / // % ** and brackets, min, max, abs and round",
            {"expression": Text(MOST_CHARS, "what to work out")},
        ),
    ),
    "notebook": (
        Capability(
            "write_note",
            f"keeps a note under a key of your own ({MOST_NOTES} notes at most; an empty text removes one)",
            {"key": Text(40, "where it is kept"), "text": Text(NOTE_CHARS, "what to keep")},
            optional=("text",),
        ),
        Capability("read_notes", "shows your notes, the latest first"),
    ),
}


def use(name: str, given: Mapping[str, Any], notebook: dict[str, str]) -> Answer:
    """What a tool answers; `Refused` where it cannot."""
    capability = next(each for tools in TOOLS.values() for each in tools if each.name == name)
    values = capability.read(given)
    if name == "calculator":
        return {"result": calculate(values["expression"])}
    if name == "read_notes":
        return {"notes": dict(reversed(notebook.items()))}  # of too many the oldest are left out
    key, text = values["key"], cut(values.get("text", ""), NOTE_CHARS)
    if not text:
        notebook.pop(key, None)
        return {"notes": len(notebook)}
    if key not in notebook and len(notebook) >= MOST_NOTES:
        raise Refused(f"the notebook is full: {MOST_NOTES} notes")
    notebook.pop(key, None)
    notebook[key] = text
    return {"notes": len(notebook)}
