"""Events come back from a history as the rules told them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Event, Everyone, LoggedEvent, Nobody
from agentsim.engine.game import Outcome
from agentsim.engine.simulate import simulate
from agentsim.errors import UsageError
from agentsim.games.agent_island.speeches import Pitched
from agentsim.records.events import told_events
from agentsim.records.history import History, PlayerRecord, build_history

GAME = games.find("agent_island")
PLAYERS = ["A", "B", "C", "D"]


def kept(log: list[LoggedEvent], rounds: list[str], outcome: Outcome | None = None) -> History:
    return build_history(
        game=GAME.name,
        rules_version=1,
        seed=1,
        status="completed",
        scenario={},
        players=[PlayerRecord(id=player, model="bot/random") for player in PLAYERS],
        rounds=rounds,
        log=log,
        decisions=[],
        outcome=outcome,
        volatile={},
    )


def test_the_log_of_a_game_comes_back_whole() -> None:
    phases = ["sidebars", "pitches", "quips", "votes"]
    played = simulate(GAME, {"memory": "summary", "phases": phases}, PLAYERS, bot="grudge")
    rounds = ["Set-up", *(f"Round {number}" for number in range(1, len(PLAYERS)))]
    log = list(played.log)
    again = told_events(kept(log, rounds, played.outcome), GAME)
    assert [(one.event, one.round, one.by, one.decision) for one in again] == [
        (one.event, one.round, one.by, one.decision) for one in log
    ]
    assert [repr(one.to) for one in again] == [repr(one.to) for one in log]
    assert GAME.panels(again, PLAYERS) == GAME.panels(log, PLAYERS)


@pytest.mark.parametrize("by", [None, "A", "@moderator"])
def test_whose_doing_it_was_comes_back(by: str | None) -> None:
    told = LoggedEvent(Pitched("A", 1, "Hello."), Everyone, 0, by, None if by is None else 3)
    assert told_events(kept([told], ["Set-up"]), GAME) == [told]


@pytest.mark.parametrize("to", [Everyone, Nobody, ("A",), ("B", "A")], ids=repr)
def test_the_audience_comes_back(to: Any) -> None:
    (again,) = told_events(kept([LoggedEvent(Pitched("A", 1, "Hello."), to, 0)], ["Set-up"]), GAME)
    assert again.to == to


@pytest.mark.parametrize(
    "change",
    [{"kind": "sold"}, {"data": {}}, {"data": {"player": "A", "position": "first"}}, {"data": {"tip": 1}}],
    ids=["kind", "no data", "wrong data", "other data"],
)
def test_an_event_of_no_such_game_is_named(change: dict[str, Any]) -> None:
    event: Event = Pitched("A", 1, "Hello.")
    history = kept([LoggedEvent(event, Everyone, 0)], ["Set-up"])
    record = replace(history.rounds[0].events[0], **change)
    part = history.rounds[0].model_copy(update={"events": [record]})
    with pytest.raises(UsageError, match=r"event 1 \(.*\) is none of agent_island, rules version 1"):
        told_events(history.model_copy(update={"rounds": [part]}), GAME)
