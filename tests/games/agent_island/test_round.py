"""`RoundContext` and the phases, built by hand from the seed's eight parameters and its votes."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Coroutine
from typing import Any

import pytest

from agentsim.engine.chance import Chance
from agentsim.engine.decision import Decision
from agentsim.engine.table import Table
from agentsim.games.agent_island.game import Round, RoundContext
from agentsim.games.agent_island.sidebars import Whispered, phase_sidebars
from agentsim.games.agent_island.speeches import Pitched, Quipped, phase_pitches, phase_quips
from agentsim.games.agent_island.view import IslandRequest, phase_summaries
from agentsim.games.agent_island.votes import Eliminated, Tallied, Vote, Voted, Won, phase_votes
from tests.games.agent_island.island import plain

SEED = (
    *("round_index", "final_round", "players", "active_player_ids", "eliminated_player_ids"),
    *("logger", "history", "rules_prompt", "votes"),
)


def context(active: str = "ABC", gone: str = "", **changed: Any) -> RoundContext:
    """A round of a hand-made game, by the seed's names alone."""
    given: dict[str, Any] = {
        "round_index": 1 + len(gone),
        "final_round": False,
        "players": sorted(active + gone),
        "active_player_ids": list(active),
        "eliminated_player_ids": list(gone),
        "logger": logging.getLogger("island"),
        "history": Table(sorted(active + gone), Chance(1)),
        "rules_prompt": "Be the last.",
    }
    return RoundContext(**given | changed)


def done(phase: Coroutine[Any, Any, None]) -> list[IslandRequest[Any]]:
    """Play it to its end on plain answers; every request."""
    asked: list[IslandRequest[Any]] = []
    decisions: list[Decision] | None = None
    while True:
        try:
            wave = phase.send(decisions)
        except StopIteration:
            return asked
        asked += wave
        decisions = [plain(request, Chance(1).stream("luck")) for request in wave]


def told(played: RoundContext, kind: type[Any]) -> list[Any]:
    return [entry.event for entry in played.history.log if isinstance(entry.event, kind)]


def test_it_takes_the_seeds_parameters_by_their_names_and_votes_may_be_left_out() -> None:
    parameters = inspect.signature(RoundContext).parameters
    assert tuple(parameters)[:9] == SEED
    required = [name for name, each in parameters.items() if each.default is inspect.Parameter.empty]
    assert tuple(required) == SEED[:8]
    assert context().votes == {}
    assert context(votes={"selected_player": "B"}).votes == {"selected_player": "B"}


def test_pitches_are_made_by_the_active_players_who_read_the_rules_given() -> None:
    played = context("AB", "C")
    asked = done(phase_pitches(played))
    assert sorted(event.player for event in told(played, Pitched)) == ["A", "B"]
    assert all(request.prompt().rules[0] == "Be the last." for request in asked)


def test_a_vote_fills_the_votes_and_moves_the_player_between_the_lists() -> None:
    played = context()
    done(phase_votes(played))
    chosen = told(played, Eliminated)[0].player
    assert played.votes["selected_player"] == chosen
    assert played.votes["vote_tally"] == told(played, Tallied)[0].votes
    assert (chosen in played.active_player_ids, played.eliminated_player_ids) == (False, [chosen])
    assert played.state.check() == []


def test_in_the_final_round_the_eliminated_vote_for_the_winner() -> None:
    played = context("AB", "C", final_round=True)
    asked = done(phase_votes(played))
    assert [(request.player, isinstance(request, Vote) and request.view.final) for request in asked] == [("C", True)]
    assert [event.voter for event in told(played, Voted)] == ["C"]
    assert told(played, Won)[0].player == played.votes["selected_player"]
    assert played.active_player_ids == ["A", "B"]


@pytest.mark.parametrize(
    ("phase", "kind"), [(phase_sidebars, Whispered), (phase_quips, Quipped)], ids=["sidebars", "quips"]
)
def test_the_other_phases_work_with_it_too(phase: Any, kind: type[Any]) -> None:
    played = context()
    done(phase(played))
    assert told(played, kind)


def test_a_round_plays_the_usual_phases_and_full_memory_asks_for_no_summary() -> None:
    played = context()
    asked = done(Round(played).play())
    assert [request.kind for request in asked] == ["pitch"] * 3 + ["vote"] * 3
    assert done(phase_summaries(played)) == []


def test_a_logger_gets_a_line_for_every_event_and_none_is_needed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="island"):
        played = context()
        done(phase_votes(played))
    assert caplog.messages == [f"round 1: {entry.event.heading}" for entry in played.history.log]
    silent = context(logger=None)
    done(phase_votes(silent))
    assert list(silent.history.log) == list(played.history.log)
