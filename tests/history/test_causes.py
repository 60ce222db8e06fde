"""Every reason of a fallback has one cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import agentsim
from agentsim.errors import DecisionError
from agentsim.history.causes import CAUSES, cause_of
from agentsim.history.journal import TICK_DEADLINE
from agentsim.history.shares import Share, shares
from agentsim.players.web import NO_ANSWER, WITHDRAWN


def reasons_in_the_source() -> set[str]:
    """Every constant that a module of models gives as the code of an error."""
    found: set[str] = set()
    for path in (Path(agentsim.__file__).parent / "models").rglob("*.py"):
        text = path.read_text("utf-8")
        found |= set(re.findall(r"\b(?:code|refusal)=\"([a-z_]+)\"|", text)) | set(
            re.findall(r"_rejected\(\"([a-z_]+)\"", text)
        )
    return found - {""}


def test_no_reason_lacks_a_cause() -> None:
    known = frozenset[str]().union(*CAUSES.values())
    assert {"timeout", "bad_key", "content_filter"} <= (found := reasons_in_the_source())
    assert found <= known
    assert {error.code for error in DecisionError.__subclasses__()} <= CAUSES["model"]


def test_a_reason_has_one_cause() -> None:
    assert sum(map(len, CAUSES.values())) == len(frozenset().union(*CAUSES.values()))


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        *(("http_503", "host"), ("context", "host"), ("illegal", "model"), ("empty_reasoning", "model")),
        *((NO_ANSWER, "person"), (WITHDRAWN, "person"), (TICK_DEADLINE, "deadline"), ("of_a_plugin", "host")),
    ],
)
def test_the_cause_of_a_reason(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause


def test_lost_decisions_are_counted_by_cause() -> None:
    made = [(1, "A", "model"), (2, "A", "fallback"), (3, "B", "fallback"), (4, "B", "bot")]
    found = shares(made, reasons={2: "http_500", 3: "illegal"})
    assert found.by_player == {"A": Share(2, 1, host=1), "B": Share(1, 1, model=1)}
    assert found.in_words.startswith("2 of 3 (67%); by cause: host 1, model 1; by player")
    assert found.to_json()["causes"] == {"host": 1, "model": 1, "person": 0, "deadline": 0}
