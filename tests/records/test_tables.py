"""A history as tables: the columns that are promised, what is not known stays None, and a game's own tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Everyone, LoggedEvent, Nobody
from agentsim.engine.game import Outcome, Standing
from agentsim.engine.panel import Cell, Frame
from agentsim.errors import ScenarioError, UsageError
from agentsim.games.agent_island.speeches import Pitched
from agentsim.games.agent_island.votes import Tallied, Voted
from agentsim.records.formats import kinds
from agentsim.records.history import History, PlayerRecord, build_history, dump_history
from agentsim.records.tables import BASE, LEADING, decided_in, run_tables
from agentsim.results import run_in
from tests.amounts import each_row
from tests.cli.command_line import ROOT
from tests.contract.harness import tiny
from tests.playing import play_scenario
from tests.records.sample import entry, failed, paid

GAME = games.find("agent_island")
LOG = [
    LoggedEvent(Pitched("A", 1, "Hello, and\n=1+1"), Everyone, 0, "A", 1),
    LoggedEvent(Voted("A", "B", ("B",), "why not"), ("A",), 1, "A", 2),
    LoggedEvent(Voted("B", None, ("A",), ""), Nobody, 1, "B", 3),
    LoggedEvent(Tallied(1, True, {"A": 0, "B": 1}, 1, (), False), Everyone, 1),
]
ENTRIES = [
    entry(1, attempts=(failed(), paid(cost=0.25, prompt_tokens=812, cached_tokens=640))),
    entry(2, kind="vote", decision={"vote": "B"}, attempts=(paid(code="illegal", cost=None), paid())),
    entry(3, "B", (), kind="vote", decision={"vote": None}, source="bot", parse=None),
    entry(4, "@judge", (failed(), failed()), source="fallback", fallback_reason="timeout", parse=None),
]
PLAYERS = [
    PlayerRecord(id="A", model="lab/m-1", temperature=0.7),
    PlayerRecord(id="B", model="bot/random"),
    PlayerRecord(id="@judge", model="lab/m-2", temperature=0.0),
]
OUTCOME = Outcome("the jury", (Standing("A", 1, {"votes": 2}), Standing("B", 2, {"votes": 0, "luck": 0.5})))


def history(**changes: Any) -> History:
    values: dict[str, Any] = {
        "game": GAME.name,
        "rules_version": 1,
        "seed": 7,
        "status": "completed",
        "scenario": {},
        "players": PLAYERS,
        "rounds": ["Set-up", "Round 1"],
        "log": LOG,
        "decisions": ENTRIES,
        "outcome": OUTCOME,
        "volatile": {},
    }
    return History.model_validate_json(dump_history(build_history(**{**values, **changes})))


def rows(frame: Frame) -> list[dict[str, Cell]]:
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]


def test_a_run_has_seven_tables_and_its_games_own_behind_them() -> None:
    assert list(run_tables(history())) == [
        "events",
        "decisions",
        "standings",
        "usage",
        "pairs",
        "survey",
        "beliefs",
        "votes",
        "tallies",
    ]


def test_events_are_one_a_row_in_the_order_of_the_log() -> None:
    first, second, third, last = rows(run_tables(history())["events"])
    told = ("Player A's pitch", "player A", "Hello, and\n=1+1", "all", 1, '{"player": "A", "position": 1}')
    assert tuple(first.values()) == (0, "Set-up", 1, "pitch", *told)
    assert " ".join(first) == "round round_title seq kind heading role content visibility decision data"
    assert [row["seq"] for row in (first, second, third, last)] == [1, 2, 3, 4]
    assert [row["visibility"] for row in (second, third, last)] == ['["A"]', "[]", "all"]
    assert (last["round"], last["round_title"], last["decision"]) == (1, "Round 1", None)


def test_decisions_say_what_led_to_them_and_what_they_cost() -> None:
    paid_for, asked_again, bot, fallback = rows(run_tables(history())["decisions"])
    assert tuple(paid_for.values()) == (
        *(1, 0, 1, "A", "pitch", '{"text": "Hello."}', "model", None, None, "json", 1, False, 2, "lab/m-1", "host"),
        *(812, 640, 10, None, 0.25, False, "m-1"),
    )
    assert " ".join(paid_for) == (
        "index round wave player kind decision source fallback_reason cause stage candidates repaired attempts model "
        "provider prompt_tokens cached_tokens completion_tokens reasoning_tokens cost_usd inherited reply_model"
    )
    assert (asked_again["attempts"], asked_again["prompt_tokens"], asked_again["cost_usd"]) == (2, 200, None)
    known = ["index", "round", "wave", "player", "kind", "decision", "source", "attempts", "model", "inherited"]
    assert {name for name, cell in bot.items() if cell is not None} == set(known)
    assert (bot["decision"], bot["attempts"]) == ('{"vote": null}', 0)
    assert (fallback["player"], fallback["fallback_reason"], fallback["attempts"]) == ("@judge", "timeout", 2)
    assert fallback["cause"] == "host"


def test_standings_have_a_column_for_each_score() -> None:
    table = run_tables(history())["standings"]
    assert table.columns == ("player", "model", "temperature", "rank", "winner", "score_votes", "score_luck")
    assert table.rows == (("A", "lab/m-1", 0.7, 1, True, 2, None), ("B", "bot/random", None, 2, False, 0, 0.5))


def test_a_shared_first_place_has_no_winner() -> None:
    shared = Outcome("a draw", (Standing("A", 1), Standing("B", 1)))
    assert [row["winner"] for row in rows(run_tables(history(outcome=shared))["standings"])] == [False, False]


def test_a_game_without_an_end_has_standings_without_rows() -> None:
    columns = ("player", "model", "temperature", "rank", "winner")
    assert run_tables(history(outcome=None))["standings"] == Frame(columns, ())


def test_usage_is_one_row_a_player_and_a_role_of_staff() -> None:
    table = run_tables(history())["usage"]
    assert table.columns == (
        *("player", "model", "calls", "failed_calls", "reasks", "fallbacks"),
        *("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost_usd", "unpriced_calls"),
    )
    assert table.rows == (
        ("A", "lab/m-1", 4, 1, 1, 0, 1012, 640, 30, 0, None, 1),
        ("B", "bot/random", 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0),
        ("@judge", "lab/m-2", 2, 2, 0, 1, 0, 0, 0, 0, 0.0, 0),
    )


def test_a_games_own_tables_are_of_its_seats_and_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def tables(_game: object, log: Any, players: Any) -> Mapping[str, Frame]:
        given.extend((list(log), list(players)))
        return {}

    assert rows(run_tables(history())["votes"])[1] == {
        "round": 1,
        "final": True,
        "voter": "B",
        "choice": None,
        "explanation": "",
        "ballot": '["A"]',
        "position": None,
        "voter_model": "bot/random",
        "choice_model": None,
    }
    monkeypatch.setattr(type(GAME), "tables", tables)
    run_tables(history())
    assert given == [LOG, ["A", "B"]]


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        ({"usage": Frame(("Player",), ())}, r"tables \['usage'\] exist in every run"),
        ({"days": Frame(("Day", "status"), ())}, "columns of days that are reserved for agentsim"),
        ({"days": Frame(("record",), ())}, "columns of days that are reserved for agentsim"),
    ],
    ids=["a table of ours", "a leading column", "the mark of a journal"],
)
def test_a_game_that_takes_our_names_is_its_authors_mistake(
    own: Mapping[str, Frame], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(GAME), "tables", lambda *_: own)
    with pytest.raises(AssertionError, match=problem):
        run_tables(history())


def edited(**changes: Any) -> History:
    """The history with its first event changed, as a file from anywhere may be."""
    loaded = json.loads(history().model_dump_json())
    loaded["rounds"][0]["events"][0] |= changes
    return History.model_validate_json(json.dumps(loaded))


@pytest.mark.parametrize("game", games.names())
def test_every_decision_has_the_round_in_which_it_was_asked(game: str, tmp_path: Path) -> None:
    """Also those that no event tells. A decision has the round of its events."""
    result = play_scenario(tiny(game, 'defaults.model="bot/random"'), tmp_path, env={}, stem="run")
    found = run_in(result.files).typed_history
    rounds = [row["round"] for row in rows(run_tables(found)["decisions"])]
    assert None not in rounds
    told = decided_in(found)
    assert all(told[record.wave] in {None, at} for record, at in zip(found.decisions, rounds, strict=True))


def test_without_a_round_of_its_own_a_decision_has_that_of_its_events_or_none() -> None:
    def told(*rounds: int | None) -> list[int | None]:
        """The rounds of as many waves, each of one decision, with an event in that round or without one."""
        decisions = [SimpleNamespace(index=at, wave=at) for at in range(1, len(rounds) + 1)]
        events: list[list[Any]] = [[] for _ in range(4)]
        for at, place in enumerate(rounds, start=1):
            if place is not None:
                events[place].append(SimpleNamespace(metadata={"decision": at}))
        parts = [SimpleNamespace(index=at, events=own) for at, own in enumerate(events)]
        found: Any = SimpleNamespace(decisions=decisions, rounds=parts)
        return list(decided_in(found).values())

    assert told(1, 1, 2, 3) == [1, 1, 2, 3]
    assert told(1, None, 1, None, 2) == [1, 1, 1, None, 2], "the fourth is of round 1 or of round 2"
    assert told(None, 1, 3, None) == [None, 1, 3, 3], "round 3 is the last"


def test_foreign_metadata_is_no_number_of_a_decision() -> None:
    for foreign in (None, {"index": 1}, "1", [1]):
        assert rows(run_tables(edited(metadata={"decision": foreign}))["events"])[0]["decision"] is None


def test_a_number_that_json_has_not_is_named() -> None:
    bad = history()
    bad.decisions[1].decision["vote"] = float("nan")
    with pytest.raises(UsageError, match=r"^decision 2 holds a number that JSON cannot express$"):
        run_tables(bad)


def test_an_event_of_no_such_game_and_a_game_that_is_not_here_are_errors_of_one_line() -> None:
    with pytest.raises(UsageError, match=r"event 1 \(sold\) is none of agent_island"):
        run_tables(edited(kind="sold"))
    with pytest.raises(ScenarioError, match="there is no game 'chess'"):
        run_tables(history(game="chess"))


# --------------------------------------------------------------------------- what columns hold

OF_CELLS: dict[str, tuple[list[Cell], str]] = {
    "nothing": ([], "text"),
    "nothing known": ([None, None], "text"),
    "words": (["a", None], "text"),
    "whole": ([1, None, -2], "whole"),
    "numbers": ([1, 0.5], "number"),
    "yes and no": ([True, False, None], "flag"),
    "yes and a number": ([True, 1], "mixed"),
    "words and numbers": (["a", 1], "mixed"),
    "the largest that fits": ([2**63 - 1, -(2**63) + 1], "whole"),
    "too large for anybody": ([2**63], "mixed"),
    "a large number is no large whole": ([1e300], "number"),
}


@each_row("cells, kind", OF_CELLS.values())
def test_a_games_column_holds_what_its_cells_are(cells: list[Cell], kind: str) -> None:
    assert kinds("own", Frame(("Column",), tuple((cell,) for cell in cells))) == [kind]


def test_our_columns_say_what_they_hold_where_they_are_empty_but_do_not_lie_where_they_are_not() -> None:
    names = ("player", "cost_usd", "prompt_tokens", "repaired", "decision")
    assert kinds("decisions", Frame(names, ())) == ["text", "number", "whole", "flag", "json"]
    assert kinds("decisions", Frame(names, (("A", 1, 2**70, True, "{}"),))) == [
        *("text", "number", "mixed", "flag", "json")
    ]
    assert kinds("own", Frame(("run", "seed", "decision"), ((None, None, None),))) == ["text", "whole", "text"]


def test_the_page_on_tables_names_every_column() -> None:
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    for table, columns in {**BASE, "leading": LEADING}.items():
        row = page if table == "leading" else page.partition(f"| `{table}` |")[2].partition("\n")[0]
        assert [name for name in columns if f"`{name}`" not in row] == []
