"""A history: made of a log and its decisions, texts once, totals right, numbers finite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.engine.event import Everyone, LoggedEvent, Nobody
from agentsim.engine.game import Outcome, ranked
from agentsim.errors import UsageError
from agentsim.games.agent_island.speeches import Pitched
from agentsim.games.agent_island.view import GameBegan
from agentsim.games.agent_island.votes import Eliminated, Voted
from agentsim.models.base import Adjustments, Attempt, Completion, Usage
from agentsim.records.history import KEYS, History, PlayerRecord, build_history, dump_history
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.records.load import load_history
from tests.amounts import each_row
from tests.records.sample import entry, failed, paid

LOG = [
    LoggedEvent(GameBegan(("A", "B"), 1), Everyone, 0),
    LoggedEvent(Pitched("A", 1, "Hello."), Everyone, 1, "A", 1),
    LoggedEvent(Voted("B", "A", ("A",), "Because."), ("B",), 1, "B", 2),
    LoggedEvent(Eliminated("A", 1, 1, False), Nobody, 1),
    LoggedEvent(Pitched("A", 1, "Order!"), Everyone, 1, "@moderator", 3),
]


def fold_of(entries: list[DecisionRecord] | None = None, **changes: Any) -> History:
    values: dict[str, Any] = {
        "game": "agent_island",
        "rules_version": 1,
        "seed": 7,
        "status": "completed",
        "scenario": {"game": "agent_island"},
        "players": [PlayerRecord(id=name, model="lab/m") for name in ("A", "B", "@moderator")],
        "rounds": ["Set-up", "Round 1"],
        "log": LOG,
        "decisions": [entry(1), entry(2, "B"), entry(3, "@moderator")] if entries is None else entries,
        "outcome": Outcome("jury vote", ranked([("B", 2, {"votes": 2}), ("A", 1, {"votes": 1})])),
        "volatile": {"name": "run"},
    }
    return build_history(**{**values, **changes})


def folded(entries: list[DecisionRecord] | None = None, **changes: Any) -> dict[str, Any]:
    """The history as in its file."""
    found: dict[str, Any] = json.loads(dump_history(fold_of(entries, **changes)))
    return found


def test_a_history_fits_its_format_in_its_order_of_keys() -> None:
    history = folded()
    absent = {"warnings", "fork", "asides"}
    assert list(history) == [key for key in KEYS if key not in absent], "it is no fork, was not steered, and well"
    History.model_validate(history)


def test_the_order_in_which_decisions_came_leaves_no_trace() -> None:
    entries = [entry(1), entry(2, "B", wave=2), entry(3, "@moderator", wave=2, place=1)]
    assert dump_history(fold_of(entries)) == dump_history(fold_of(entries[::-1]))


def test_texts_stand_once_in_the_order_of_their_first_use_and_prompts_are_their_segments() -> None:
    again = paid("bad", code="unreadable")
    history = folded([entry(1), entry(2, "B", (again, paid())), entry(3, "@moderator", (failed(), paid("last")))])
    assert history["texts"] == [
        "These are the rules.",
        "You are player A.",
        "Heard.",
        "Speak!",
        "thinking",
        '{"text": "Hello."}',
        "bad",
        "last",
    ]
    first, second, third = history["decisions"]
    (only,) = first["attempts"]
    assert (only["messages"], only["code"], only["error"]) == ([["system", [[0, 1]]], ["user", [[2, 3]]]], None, None)
    assert (only["completion"]["text"], only["completion"]["reasoning"]) == (5, 4)
    assert [attempt["completion"]["text"] for attempt in second["attempts"]] == [6, 5]
    assert (second["attempts"][0]["code"], second["attempts"][0]["error"]) == ("unreadable", "It was unreadable.")
    assert third["attempts"][0]["completion"] is None
    assert (third["attempts"][0]["code"], third["attempts"][0]["error"]) == ("timeout", "no answer")
    pitch = history["rounds"][1]["events"][0]
    assert (pitch["prompt"], pitch["reasoning"]) == ([[0, 3]], 4)


def test_events_stand_in_their_rounds_with_audience_and_speaker() -> None:
    history = folded()
    assert [(part["index"], part["title"], len(part["events"])) for part in history["rounds"]] == [
        (0, "Set-up", 1),
        (1, "Round 1", 4),
    ]
    events = [event for part in history["rounds"] for event in part["events"]]
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    assert [event["role"] for event in events] == ["narrator", "player A", "player B", "narrator", "moderator"]
    assert [event["visibility"] for event in events] == ["all", "all", ["B"], [], "all"]
    assert [event["metadata"] for event in events] == [{}, {"decision": 1}, {"decision": 2}, {}, {"decision": 3}]
    assert events[1]["content"] == "Hello."
    assert events[1]["data"] == {"player": "A", "position": 1}
    assert events[0]["prompt"] is None


def test_an_event_of_a_decision_that_is_not_kept_has_no_prompt() -> None:
    events = folded([])["rounds"][1]["events"]
    assert [event["prompt"] for event in events] == [None] * 4


def test_an_unfinished_game_has_no_outcome_and_its_empty_rounds() -> None:
    history = folded([], outcome=None, log=[], status="interrupted")
    assert history["outcome"] is None
    assert [part["events"] for part in history["rounds"]] == [[], []]
    History.model_validate(history)


@pytest.mark.parametrize(
    ("scores", "winner", "ranks"),
    [([("A", 2), ("B", 1)], "A", [1, 2]), ([("A", 2), ("B", 2), ("C", 1)], None, [1, 1, 3])],
    ids=["one winner", "a shared first place"],
)
def test_the_outcome_names_a_winner_only_where_one_stands_alone(
    scores: list[tuple[str, int]], winner: str | None, ranks: list[int]
) -> None:
    outcome = folded(outcome=Outcome("end", ranked([(name, key, {"votes": key}) for name, key in scores])))["outcome"]
    assert outcome["winner"] == winner
    assert [place["rank"] for place in outcome["standings"]] == ranks


def test_latency_is_volatile_and_nothing_else_holds_it() -> None:
    history = folded([entry(1, attempts=(failed(), paid())), entry(2, "B", ())])
    assert history["volatile"] == {"name": "run", "latency_s": {"1": 1.5}}
    assert "latency" not in json.dumps({key: value for key, value in history.items() if key != "volatile"})


def test_what_an_execution_alone_knows_of_an_attempt_stays_in_the_journal() -> None:
    late = Attempt(
        (), "timeout", "no answer", 3.5, 2.0, fault="transport", final=True, exceeds_patience=True, retry_after=9.0
    )
    known = Completion("x", adjustments=Adjustments(structured="prompt"))
    one, other = (
        json.loads(dump_history(fold_of([entry(1, attempts=attempts), entry(2, "B"), entry(3, "@moderator")])))
        for attempts in (
            (late, Attempt((), completion=known)),
            (Attempt((), "timeout", "no answer", fault="transport"), Attempt((), completion=Completion("x"))),
        )
    )
    assert one["decisions"] == other["decisions"]


def test_a_file_that_names_the_same_texts_over_and_over_is_refused(tmp_path: Path) -> None:
    document = folded()
    document["texts"] += ["x"] * 1_000
    document["rounds"][1]["events"][0]["prompt"] = [[0, 1_000]] * 2_000
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match="names the same texts too often"):
        load_history(path)


def test_a_history_is_one_line_an_event_a_decision_and_a_text() -> None:
    text = dump_history(fold_of())
    history = json.loads(text)
    assert dump_history(History.model_validate_json(text)) == text
    lines = [line.removesuffix(",") for line in text.splitlines()]
    assert sum(line.startswith('{"seq":') for line in lines) == len(LOG)
    assert sum(line.startswith('{"index":') and '"wave":' in line for line in lines) == len(history["decisions"])
    start = lines.index('"texts":[')
    texts = lines[start + 1 : lines.index("]", start)]
    assert [json.loads(line) for line in texts] == history["texts"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_never_written(number: float) -> None:
    for history in (
        fold_of(volatile={"wall_s": number}),
        fold_of([entry(1, decision={"bid": number}), entry(2, "B"), entry(3, "@moderator")]),
        fold_of([entry(1, attempts=(paid(cost=number),)), entry(2, "B"), entry(3, "@moderator")]),
    ):
        with pytest.raises(ValueError, match="JSON compliant"):
            dump_history(history)


COUNTS = ("calls", "failed_calls", "reasks", "fallbacks", "unpriced_calls")


@pytest.mark.parametrize(
    ("one", "counts", "cost"),
    [
        pytest.param(entry(), (1, 0, 0, 0, 0), 0.25, id="one call"),
        pytest.param(entry(attempts=(), source="bot"), (0, 0, 0, 0, 0), 0.0, id="a bot"),
        pytest.param(entry(source="human"), (0, 0, 0, 0, 0), 0.0, id="a person"),
        pytest.param(
            entry(attempts=(paid("?", code="unreadable"), paid()), source="human"),
            (0, 0, 1, 0, 0),
            0.0,
            id="asked twice",
        ),
        pytest.param(entry(attempts=(failed(), paid())), (2, 1, 0, 0, 0), 0.25, id="a retry"),
        pytest.param(entry(attempts=(paid("?", code="illegal"), paid())), (2, 0, 1, 0, 0), 0.5, id="a re-ask"),
        pytest.param(
            entry(attempts=(paid("?", code="illegal"), paid("?", code="illegal")), source="fallback"),
            (2, 0, 1, 1, 0),
            0.5,
            id="a re-ask in vain",
        ),
        pytest.param(
            entry(attempts=(paid("?", code="illegal"),), source="fallback"), (1, 0, 0, 1, 0), 0.25, id="never re-asked"
        ),
        pytest.param(entry(attempts=(failed(), failed()), source="fallback"), (2, 2, 0, 1, 0), 0.0, id="no answer"),
        pytest.param(
            entry(attempts=(paid("?", code="illegal"), failed()), source="fallback"),
            (2, 1, 1, 1, 0),
            0.25,
            id="no answer to the re-ask",
        ),
        pytest.param(entry(attempts=(paid(cost=None),)), (1, 0, 0, 0, 1), None, id="an unknown price"),
        pytest.param(
            entry(attempts=(paid("?", code="illegal"), paid(cost=None))), (2, 0, 1, 0, 1), None, id="one of two unknown"
        ),
        pytest.param(entry(attempts=(paid(cost=0.0),)), (1, 0, 0, 0, 0), 0.0, id="free"),
    ],
)
def test_totals_count_every_call_and_never_take_unknown_for_free(
    one: DecisionRecord, counts: tuple[int, ...], cost: float | None
) -> None:
    summed = Totals.zero()
    summed.add(one)
    found = summed.model_dump()
    assert tuple(found[name] for name in COUNTS) == counts
    assert found["cost_usd"] == cost
    calls = counts[0] - counts[1]
    assert (found["prompt_tokens"], found["completion_tokens"]) == (100 * calls, 10 * calls)


def test_totals_are_summed_in_all_and_by_player_staff_and_silent_players_too() -> None:
    entries = [entry(1, "A"), entry(2, "A"), entry(3, "@moderator", (paid(cost=None),))]
    found = Totals.of(entries, ["A", "B", "@moderator"]).model_dump()
    assert (found["calls"], found["cost_usd"], found["unpriced_calls"]) == (3, None, 1)
    by_player = found["by_player"]
    assert list(by_player) == ["A", "B", "@moderator"]
    assert [by_player[name]["calls"] for name in by_player] == [2, 0, 1]
    assert [by_player[name]["cost_usd"] for name in by_player] == [0.5, 0.0, None]


@each_row("key", ["calls", "failed_calls", "fallbacks", "prompt_tokens", "cost_usd", "known_usd"])
def test_a_usage_that_lacks_a_count_is_no_usage_rather_than_zero(key: str) -> None:
    whole = Totals.of([entry(1, "A")], ["A"]).model_dump()
    assert Totals.model_validate(whole).calls == 1
    with pytest.raises(ValidationError, match=key):
        Totals.model_validate({name: value for name, value in whole.items() if name != key})


def test_costs_are_summed_without_the_dust_of_binary_fractions() -> None:
    found = Totals.of([entry(n, attempts=(paid(cost=0.1),)) for n in range(1, 4)], ["A"]).model_dump()
    assert found["cost_usd"] == 0.3
    usage = entry(attempts=(paid(cost=0.1), paid(cost=0.2))).usage
    assert usage is not None
    assert usage.cost_usd == 0.3


def test_a_decision_s_usage_sums_its_calls_and_keeps_unknown_apart_from_none() -> None:
    one = entry(attempts=(paid(cached_tokens=5), failed(), paid(cached_tokens=None, reasoning_tokens=None)))
    usage = one.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_tokens, usage.reasoning_tokens) == (200, 5, None)
    unpriced = entry(attempts=(paid(), paid(cost=None))).usage
    assert unpriced is not None
    assert unpriced.cost_usd is None


@pytest.mark.parametrize(
    ("one", "known"),
    [(entry(), True), (entry(source="human"), False), (entry(attempts=(failed(),), source="fallback"), False)],
    ids=["model", "human", "no answer"],
)
def test_usage_stands_where_a_model_answered(one: DecisionRecord, known: bool) -> None:
    assert (one.usage is not None) == known


def used(prompt: int | None, cached: int | None) -> Usage:
    return Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=1)


SHARES: dict[str, tuple[list[Usage | None], float | None]] = {
    "nothing": ([], None),
    "no provider says": ([used(100, None), None], None),
    "none was cached": ([used(100, 0)], 0.0),
    "half": ([used(100, 100), used(100, 0)], 0.5),
    "long prompts weigh more": ([used(900, 900), used(100, 0)], 0.9),
    "no word is not none": ([used(100, 80), used(10_000, None)], 0.8),
    "a prompt that nobody counted": ([used(None, 50), used(0, 0)], None),
    "more than there was": ([used(10, 50)], 1.0),
}


@each_row("usages, share", SHARES.values())
def test_the_cached_share_is_of_those_who_say(usages: list[Usage | None], share: float | None) -> None:
    totals = Totals.zero()
    for usage in usages:
        totals.add_call(Attempt((), completion=Completion("x", usage=usage or Usage())))
    assert totals.cached_share == share


def test_before_any_call_no_provider_has_said() -> None:
    assert Totals.zero().cached_share is None


def test_a_run_counts_its_share_call_by_call() -> None:
    totals = Totals.zero()
    for usage in (used(100, None), used(300, 100), used(100, 100)):
        totals.add_call(Attempt((), completion=Completion("x", usage=usage)))
    totals.add_call(Attempt((), "timeout", "too late"))
    assert totals.cached_share == 0.5
    assert (totals.prompt_tokens, totals.cached_tokens, totals.calls) == (500, 200, 4)
