"""Items: what is for sale, and the list of it that a scenario's file holds. Drawing such a list is `drawing`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agentsim.engine.prompt import quoted

__all__ = ["REQUIRED", "Item", "listed"]

REQUIRED = (
    "The Visionary Compass",
    "The Interconnected Cognition Matrix",
    "The Resilience Gyroscope",
    "The Catalyst Ignition Spark",
    "The Automated Evolution Engine",
    "The Cross-Domain Harmonizer",
    "The Legacy De-Tangler",
    "The Predictive Insight Array",
    "The Consensus Catalyst",
    "The Strategic Blueprint Stabilizer",
)
"""The ten components of the Principal Blaster."""


@dataclass(frozen=True, slots=True)
class Item:
    """One lot; quality 1 to 100; a required one belongs to the set."""

    name: str
    quality: int
    required: bool

    def to_json(self) -> dict[str, Any]:
        """As items files and prompts spell it."""
        return {"Name": self.name, "Quality": self.quality, "IsRequired": self.required}


def listed(items: Iterable[Item]) -> str:
    """The items as a JSON list, one on a line, fit for a prompt."""
    return "[\n" + ",\n".join(quoted(**item.to_json()) for item in items) + "\n]"
