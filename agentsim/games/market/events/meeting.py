"""Events of the market: what agents do with each other beside trading, and what artifacts of others report."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from agentsim.engine.event import Deed, Event
from agentsim.engine.template import By


class Messaged(
    Event,
    heading=("{sender} to ", By("to", {None: "all"}, "{to}")),
    words="text",
    deeds=(Deed("sender", "to", "wrote to"),),
):
    """`to` is None where a message goes to all."""

    sender: str
    to: tuple[str, ...] | None
    text: str


class Moved(Event, heading="{agent} stands at {column}, {row}", content="Of {columns} columns and {rows} rows."):
    """Where an agent stands now; columns and rows count from 0, at the top left."""

    agent: str
    column: int
    row: int
    columns: int
    rows: int


class Reported(Event, heading="From {artifact}", words="text"):
    """What an artifact has to tell that has no event of its own."""

    artifact: str
    text: str
    details: dict[str, Any] = field(default_factory=dict)
