"""A history as one player could have kept it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.errors import UsageError
from agentsim.records.history import History, dump_history
from agentsim.report.player_view import as_seen_by
from tests.report.sample import MODELS, PERSONAS, REASONING, VOTES, document, sample


def dumped(history: History) -> str:
    return dump_history(history)


@pytest.mark.parametrize("player", MODELS)
def test_only_what_the_player_heard_remains(player: str) -> None:
    before = [e for r in sample().rounds for e in r.events]
    after = [e for r in as_seen_by(sample(), player).rounds for e in r.events]
    heard = [e.seq for e in before if e.visibility == "all" or player in e.visibility]
    assert [e.seq for e in after] == heard
    assert 0 < len(after) < len(before)


@pytest.mark.parametrize("player", MODELS)
def test_nothing_secret_of_the_others_remains(player: str) -> None:
    text = dumped(as_seen_by(sample(), player))
    for other in set(MODELS) - {player}:
        assert PERSONAS[other] not in text
        assert MODELS[other] not in text
        assert f"Player {other}, your" not in text
        for votes in VOTES.values():
            _, why = votes.get(other, (None, ""))
            assert not why or why not in text
    for (_, thinker), thought in REASONING.items():
        assert (thought in text) == (thinker == player)
    for staff in ("@summarizer", "gpt-5-nano", "You are terse", "concurrency", "agent_island.toml", '"memory"'):
        assert staff not in text


def test_own_prompts_reasoning_and_persona_stay() -> None:
    seen = as_seen_by(sample(), "D")
    assert [decision.player for decision in seen.decisions] == ["D", "D", "D"]
    vote = seen.decisions[1]
    assert [attempt.code for attempt in vote.attempts] == ["illegal", None]
    words = [text for message in vote.attempts[0].messages for text in message.segments]
    assert f"Persona of D: {PERSONAS['D']}" in words
    assert vote.attempts[0].reasoning == REASONING[(1, "D")]
    event = next(e for r in seen.rounds for e in r.events if e.kind == "vote")
    assert event.prompt == tuple(words)
    assert seen.scenario["players"] == [
        {"id": "D", "model": "ollama/llama3.2", "temperature": 0.7, "prompt": PERSONAS["D"]}
    ]


def test_no_unused_text_remains_and_each_stays_once() -> None:
    seen = as_seen_by(sample(), "B")
    used: set[str] = set()
    for decision in seen.decisions:
        for attempt in decision.attempts:
            used |= {text for message in attempt.messages for text in message.segments}
            used |= {text for text in (attempt.reply, attempt.reasoning) if text}
    used |= {text for part in seen.rounds for event in part.events for text in event.prompt or ()}
    assert sorted(json.loads(dumped(seen))["texts"]) == sorted(used)


def test_others_public_events_lose_prompt_reasoning_and_metadata() -> None:
    for r in as_seen_by(sample(), "A").rounds:
        for e in r.events:
            if e.role == "player B":
                assert (e.prompt, e.reasoning, e.metadata) == (None, None, {})


def test_usage_is_the_players_own() -> None:
    seen, whole = as_seen_by(sample(), "A"), sample().usage
    assert whole.by_player is not None
    assert seen.usage.by_player == {"A": whole.by_player["A"]}
    assert seen.usage.model_copy(update={"by_player": None}) == whole.by_player["A"]


def test_a_player_for_whom_nothing_was_called_used_nothing() -> None:
    doc = document()
    del doc["usage"]["by_player"]["A"]
    usage = as_seen_by(History.model_validate(doc), "A").usage
    assert (usage.calls, usage.cost_usd) == (0, 0.0)


def test_ranks_are_known_and_others_scores_are_not() -> None:
    secret = History.model_validate({**document(), "game": "of_secret_scores"})
    outcome = as_seen_by(secret, "A").outcome
    assert outcome is not None
    assert outcome.winner == "C"
    assert [(s.player, s.rank) for s in outcome.standings] == [("C", 1), ("A", 2), ("B", 3), ("D", 4)]
    assert [bool(s.score) for s in outcome.standings] == [False, True, False, False]


def test_scores_that_all_hear_are_known_of_all() -> None:
    assert as_seen_by(sample(), "A").outcome == sample().outcome


def test_changing_what_others_keep_to_themselves_changes_nothing() -> None:
    """Noninterference: every private value of the others replaced, the same bytes."""
    doc: dict[str, Any] = document()
    doc["scenario"]["players"][1]["prompt"] = "CHANGED"
    doc["scenario"]["game_config"]["secret"] = "CHANGED"
    doc["players"][1]["model"] = "CHANGED"
    doc["outcome"]["standings"][2]["score"] = {"hidden": 99}
    for decision in doc["decisions"]:
        if decision["player"] != "A":
            decision["decision"] = {"CHANGED": True}
            decision["attempts"][0] = dict(decision["attempts"][0], code="illegal", error="CHANGED")
    for r in doc["rounds"]:
        for e in r["events"]:
            if e["visibility"] != "all" and "A" not in e["visibility"]:
                e["content"] = e["heading"] = "CHANGED"
                e["data"] = {"changed": 1}
    secret = {**document(), "game": "of_secret_scores"}
    changed = History.model_validate({**doc, "game": "of_secret_scores"})
    assert dumped(as_seen_by(changed, "A")) == dumped(as_seen_by(History.model_validate(secret), "A"))


def test_seeing_twice_is_seeing_once_and_changes_no_history() -> None:
    history = sample()
    once = as_seen_by(history, "C")
    assert as_seen_by(once, "C") == once
    assert history == sample()


@pytest.mark.parametrize("player", ["Z", "", "a", "@summarizer"])
def test_an_unknown_player_is_refused_with_the_known(player: str) -> None:
    with pytest.raises(UsageError, match=r"\(valid: A, B, C, D\)$"):
        as_seen_by(sample(), player)


def test_of_very_many_players_the_error_names_some() -> None:
    doc = document()
    doc["players"] = [{"id": f"agent{i}", "model": "bot/careful"} for i in range(1, 101)]
    doc |= {"decisions": [], "outcome": None}
    with pytest.raises(UsageError, match="agent20 and 80 more"):
        as_seen_by(History.model_validate(doc), "agent101")
