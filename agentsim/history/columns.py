"""columns: what the columns of a table hold. How rows are made (`tables`) or written (`formats`) is not here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from agentsim.engine.panel import Cell, Frame

__all__ = ["BASE", "LEADING", "RESERVED", "Kind", "column", "kinds"]

Kind: TypeAlias = Literal["text", "whole", "number", "flag", "json", "mixed"]
"""`json` is text that begins with `[` or `{` where it is JSON, and stands for itself where it does not."""

LEADING: Mapping[str, Kind] = {"run": "text", "game": "text", "seed": "whole", "status": "text"}
"""What stands before a table's own columns when it holds more than one run."""

BASE: Mapping[str, Mapping[str, Kind]] = {
    "events": {
        "round": "whole",
        "round_title": "text",
        "seq": "whole",
        "kind": "text",
        "heading": "text",
        "role": "text",
        "content": "text",
        "visibility": "json",
        "decision": "whole",
        "data": "json",
    },
    "decisions": {
        "index": "whole",
        "wave": "whole",
        "player": "text",
        "kind": "text",
        "decision": "json",
        "source": "text",
        "fallback_reason": "text",
        "stage": "text",
        "candidates": "whole",
        "repaired": "flag",
        "tries": "whole",
        "model": "text",
        "provider": "text",
        "prompt_tokens": "whole",
        "cached_tokens": "whole",
        "completion_tokens": "whole",
        "reasoning_tokens": "whole",
        "cost_usd": "number",
        "inherited": "flag",
    },
    "standings": {"player": "text", "model": "text", "temperature": "number", "rank": "whole", "winner": "flag"},
    "usage": {
        "player": "text",
        "model": "text",
        "calls": "whole",
        "failed_calls": "whole",
        "reasks": "whole",
        "fallbacks": "whole",
        "prompt_tokens": "whole",
        "cached_tokens": "whole",
        "completion_tokens": "whole",
        "reasoning_tokens": "whole",
        "cost_usd": "number",
        "unpriced_calls": "whole",
    },
    "pairs": {
        "round": "whole",
        "round_title": "text",
        "who": "text",
        "whom": "text",
        "deed": "text",
        "sign": "whole",
        "times": "whole",
        "after_naming": "whole",
        "amount": "number",
        "turned": "whole",
    },
}
"""The tables of every run, whatever its game."""

RESERVED = frozenset({*LEADING, "record"})
"""No table may have these: they lead a folder's tables, and `record` is how a journal's lines are told from rows."""

_LARGEST = 2**63 - 1  # what pandas and Parquet can hold as a whole number


def kinds(table: str, frame: Frame) -> list[Kind]:
    """What each column holds; where the table does not say, its cells do."""
    said = {**LEADING, **BASE.get(table, {})}
    return [_kind(column(frame, place), said.get(name)) for place, name in enumerate(frame.columns)]


def column(frame: Frame, place: int) -> list[Cell]:
    """The cells of one column."""
    return [row[place] for row in frame.rows]


def _kind(cells: Sequence[Cell], said: Kind | None) -> Kind:
    """What is said is believed of empty columns only: histories are foreign data, and games' columns say nothing."""
    present = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in present}
    if said == "json" or not types:
        return said or "text"
    if types == {str}:
        return "text"
    if types == {bool}:
        return "flag"
    if types <= {int, float} and all(abs(cell) <= _LARGEST for cell in present if isinstance(cell, int)):
        return "number" if float in types or said == "number" else "whole"
    return "mixed"
