"""Every fault of the table in two games, through the command line: no crash, and every fault is reported.

Each run plays one fault of each kind on each wire; the slow tests play the others, each in two games by chat and in one
of them on each other wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentsim.models.profiles import WireName
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.amounts import one_in
from tests.cli.command_line import agentsim
from tests.fakes.faults import FaultyServer
from tests.matrix.play import ENV, GAMES, checked, events, play, server_for, stable
from tests.matrix.rows import ROWS, Row


def _first_of_each_kind() -> set[str]:
    """Return the identifier of the first row of each kind, F01 to F41."""
    kinds: dict[str, str] = {}
    for row in ROWS:
        kinds.setdefault(row.id[:3], row.id)
    return set(kinds.values())


DEFAULT = _first_of_each_kind()
WIRES: tuple[WireName, ...] = ("responses", "messages")
Whole = Callable[[str, str, WireName], dict[str, Any]]


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Return a function from game, persona and wire to the game without a fault, played once."""

    @cache
    def played(game: str, persona: str, wire: WireName) -> dict[str, Any]:
        row = Row(id="none", fault="ok", persona=persona)
        with FaultyServer().in_thread() as server:
            server.rebuilt = True
            history = play(game, row, server.url(), tmp_path_factory.mktemp("whole"), wire).history
        usage = history["usage"]
        assert history["status"] == "completed"
        assert (usage["failed_calls"], usage["reasks"], usage["fallbacks"]) == (0, 0, 0)
        assert "warnings" not in history
        return history

    return played


def _marked(row: Row, game: str) -> Any:
    """Return the parameters of a fault on chat completions, which is slow unless it is the first of its kind."""
    quick = row.id in DEFAULT and game == "auction"  # the other wires play Agent Island
    return pytest.param(row, game, marks=() if quick else pytest.mark.slow, id=f"{row.id}-{game}")


@pytest.mark.parametrize(("row", "game"), [_marked(row, game) for row in ROWS for game in GAMES])
def test_fault(row: Row, game: str, tmp_path: Path, undisturbed: Whole) -> None:
    struck(row, game, "chat", tmp_path, undisturbed)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("row", [row for row in ROWS if row.id in DEFAULT], ids=lambda row: row.id)
@one_in(3)
def test_fault_of_each_kind_on_the_other_wires(row: Row, wire: WireName, tmp_path: Path, undisturbed: Whole) -> None:
    struck(row.on(wire), "agent_island", wire, tmp_path, undisturbed)


def _in_turns() -> Iterator[Any]:
    """Yield every row with each wire, in one game: Auction if Agent Island is played above, or else they take turns."""
    games = list(GAMES)
    for number, row in enumerate(ROWS):
        for at, wire in enumerate(WIRES):
            game = "auction" if row.id in DEFAULT else games[(number + at) % len(games)]
            yield pytest.param(row, game, wire, id=f"{row.id}-{game}-{wire}")


@pytest.mark.slow
@pytest.mark.parametrize(("row", "game", "wire"), list(_in_turns()))
def test_fault_on_the_other_wires(row: Row, game: str, wire: WireName, tmp_path: Path, undisturbed: Whole) -> None:
    struck(row.on(wire), game, wire, tmp_path, undisturbed)


def struck(row: Row, game: str, wire: WireName, directory: Path, undisturbed: Whole) -> None:
    """Play a game with a fault, and compare the result with the row and the undisturbed game."""
    whole = undisturbed(game, row.persona, wire)
    with server_for(row) as server:
        played = play(game, row, server.url(), directory, wire)
        history = played.history
        assert (played.said.code, history["status"]) == (row.code, row.status), played.said.err
        if row.says:
            assert row.says in played.said.err
        assert {found["code"] for found in history.get("warnings", ())} == set(row.warns)
        _counted(row, history)
        if row.code:
            server.rebuilt = True
            again = agentsim("resume", "run", "--display", "plain", *row.resume, cwd=directory, env=ENV)
            assert again.code == 0, again.err
            compared = events if "F41-cost" in row.id else stable  # the undisturbed game has no prices
            assert compared(checked(again, directory).history) == compared(whole)
        elif row.same:
            assert events(history) == events(whole)
    assert prove(RunFiles(played.logs, "run")).complete
    for received in server.received:
        assert "canary" not in str(received.headers | {"authorization": ""})


def _counted(row: Row, history: dict[str, Any]) -> None:
    """Check that the decisions hit have the fields of the row, and that no other decision has any."""
    struck = [decision for decision in history["decisions"] if decision["player"] == "B"]
    struck = [] if row.code else struck[row.first - 1 : 1 if row.last < 10**9 else None]
    usage = history["usage"]
    asked_again = 0
    for decision in history["decisions"]:
        hit = decision in struck
        reason = row.reason_for(decision["kind"]) if hit else None
        errors = [attempt["code"] for attempt in decision["attempts"] if attempt["code"] is not None]
        failed = sum(attempt["completion"] is None for attempt in decision["attempts"])
        assert decision["fallback_reason"] == reason, errors
        assert failed == (row.failed if hit else 0), errors
        if reason is None:
            assert len(errors) == failed, errors
        else:
            assert set(errors) == {reason}
            asked_again += row.reasks
    fallbacks = sum(decision["source"] == "fallback" for decision in history["decisions"])
    assert usage["fallbacks"] == fallbacks
    assert bool(fallbacks) == (row.reason is not None)
    assert usage["failed_calls"] == row.failed * len(struck) + (row.code == 3)
    assert usage["reasks"] == asked_again
