"""The rules of reading, reply by reply: the action of each reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentsim.games.society.requests import ACTIONS
from agentsim.games.society.turn import InvalidAction, Rejected
from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.load import load_history
from agentsim.scenario.load import load
from tests.amounts import each_row
from tests.fakes.server import FakeServer
from tests.games.society.society import acted, idles, law, play, request, told
from tests.playing import play_scenario

ASKED = request(play(agents=100), 1)
ALL = request(play(agents=100), 1)
STRICT = request(play(agents=100, strict_actions=True), 1)
POST = '{"action": "forum_post", "content": "hello"}'
IDLE = '{"action": "idle", "reasoning": "tired"}'
POSTED = {"action": "forum_post", "content": "hello"}
IDLED = {"action": "idle", "reasoning": "tired"}
UNPARSED = "Failed to parse action"

READ: dict[str, tuple[str, dict[str, Any]]] = {
    "an object": (POST, POSTED),
    "an object in a fence": (f"```json\n{POST}\n```", POSTED),
    "an object in prose": (f"I will post.\n{POST}", POSTED),
    "the last valid one": (f'{POST}\n{{"action": "dance"}}', POSTED),
    "an example and the answer": (f'For example {{"key": "value"}}. So: {POST}', POSTED),
    "a nested brace": ('{"action": "forum_post", "content": "hello", "why": {"deep": {"er": 1}}}', POSTED),
    "braces in a string": (
        '{"action": "forum_post", "content": "use {curly} and } and {"}',
        {"action": "forum_post", "content": "use {curly} and } and {"},
    ),
    "JSON in a string": (
        json.dumps({"action": "forum_post", "content": '{"action": "idle"}'}),
        {"action": "forum_post", "content": '{"action": "idle"}'},
    ),
    "an escaped quote": (
        '{"action": "forum_post", "content": "say \\"hi\\" {"}',
        {"action": "forum_post", "content": 'say "hi" {'},
    ),
    "wrapped in another": (f'{{"response": {POST}}}', POSTED),
    "wrapped as the schema has it": (f'{{"action": {POST}}}', POSTED),
    "braces doubled": (f"{{{POST}}}", POSTED),
    "a lone brace before": (f"Well :{{ here it is: {POST}", POSTED),
    "a broken object before": (f'{{"action": "forum_post", "content": }} {IDLE}', IDLED),
    "thought first": (f"<think>{IDLE}</think>{POST}", POSTED),
    "unknown keys": ('{"action": "forum_post", "content": "hello", "mood": "fine"}', POSTED),
    "idle without reasons": ('{"action": "idle"}', {"action": "idle", "reasoning": ""}),
    "idle for no reason": ('{"action": "idle", "reasoning": null}', {"action": "idle", "reasoning": ""}),
    "a number in quotes": (
        '{"action": "work", "work_type": "farm", "hours": "3"}',
        {"action": "work", "work_type": "farm", "hours": 3},
    ),
    "a whole float": (
        '{"action": "work", "work_type": "farm", "hours": 3.0}',
        {"action": "work", "work_type": "farm", "hours": 3},
    ),
    "a decimal amount": (
        '{"action": "trade", "recipient_agent_id": 0, "resource_type": "food", "amount": 0.1}',
        {"action": "trade", "recipient_agent_id": 0, "resource_type": "food", "amount": 0.1},
    ),
    "words alone": ("I greet you all.", {"action": "forum_post", "content": "I greet you all."}),
    "words beyond the limit": ("x" * 3000, {"action": "forum_post", "content": "x" * 2000}),
    "words behind a thought": ("<think>hm {</think>Hello.", {"action": "forum_post", "content": "Hello."}),
    "an array of words": ('["idle"]', {"action": "forum_post", "content": '["idle"]'}),
    "single quotes": ("{'action': 'idle'}", {"action": "idle", "reasoning": ""}),
    "a trailing comma": ('{"action": "idle",}', {"action": "idle", "reasoning": ""}),
    "another case": ('{"action": "IDLE"}', {"action": "idle", "reasoning": ""}),
}

REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", UNPARSED),
    "blanks": (" \n ", UNPARSED),
    "braces without JSON": ("I {really} like this", UNPARSED),
    "not a number": ('{"action": "work", "work_type": "farm", "hours": NaN}', UNPARSED),
    "a key twice": ('{"action": "idle", "action": "work"}', UNPARSED),
    "no action": ('{"vote": "yes"}', "Unknown action: None"),
    "an empty object": ("{}", "Unknown action: None"),
    "an unknown action": ('{"action": "dance"}', "Unknown action: dance"),
    "an action that no reply can take": ('{"action": "rejected", "reason": "x"}', "Unknown action: rejected"),
    "a number for an action": ('{"action": 7}', "Unknown action: 7"),
    "a field missing": ('{"action": "forum_post"}', "Invalid action data: content: "),
    "no words": ('{"action": "forum_post", "content": "  "}', "Invalid action data: content must not be empty."),
    "too many words": (
        json.dumps({"action": "forum_post", "content": "x" * 2001}),
        "Invalid action data: content must be at most 2000 characters, and has 2001.",
    ),
    "a long title": (json.dumps(law("x" * 201)), "Invalid action data: title must be at most 200"),
    "a long name": (
        json.dumps({"action": "set_name", "display_name": "x" * 51}),
        "Invalid action data: display_name must be at most 50",
    ),
    "no hours": ('{"action": "work", "work_type": "farm", "hours": 0}', "Invalid action data: hours: "),
    "nine hours": ('{"action": "work", "work_type": "farm", "hours": 9}', "Invalid action data: hours must be"),
    "half an hour": ('{"action": "work", "work_type": "farm", "hours": 0.5}', "Invalid action data: hours: "),
    "true hours": ('{"action": "work", "work_type": "farm", "hours": true}', "Invalid action data: hours: "),
    "other work": ('{"action": "work", "work_type": "sing", "hours": 1}', "Invalid action data: work_type: "),
    "another vote": ('{"action": "vote", "proposal_id": 1, "vote": "maybe"}', "Invalid action data: vote: "),
    "agent 101": (
        '{"action": "direct_message", "recipient_agent_id": 101, "content": "x"}',
        "Invalid action data: recipient_agent_id must be",
    ),
    "a message to nobody": (
        '{"action": "direct_message", "recipient_agent_id": 0, "content": "x"}',
        "Invalid action data: recipient_agent_id: ",
    ),
    "a gift of nothing": (
        '{"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": 0}',
        "Invalid action data: amount: ",
    ),
    "a theft": (
        '{"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": -1}',
        "Invalid action data: amount: ",
    ),
    "a gift of land": (
        '{"action": "trade", "recipient_agent_id": 2, "resource_type": "land", "amount": 1}',
        "Invalid action data: resource_type: ",
    ),
    "three decimals": (
        '{"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": 0.125}',
        "Invalid action data: amount: ",
    ),
    "unknown terms": (
        json.dumps(law("L", {"kind": "magic"})),
        "Invalid action data: terms.0: ",
    ),
    "a tax of 101": (
        json.dumps(law("L", {"kind": "tax", "resource": "food", "percent": 101})),
        "Invalid action data: terms.0.tax.percent: ",
    ),
    "words behind an action": (f"{POST} That is all.", f"{UNPARSED}: The reply names a decision among"),
    "two actions": (f"{IDLE}\n{POST}", f"{UNPARSED}: The reply says "),
    "an object that never closes": ('So: {"action": "idle"', UNPARSED),
    "words cut off in an object": ('{"action": "direct_message", "recipient_agent_id": 2, "content": "Psst', UNPARSED),
}


@each_row("reply, action", READ.values())
def test_a_reply_is_this_action(reply: str, action: dict[str, Any]) -> None:
    assert ASKED.parse(reply).decision == acted(action)


@each_row("reply, reason", REFUSED.values())
def test_a_reply_is_rejected_for_this_reason(reply: str, reason: str) -> None:
    action = ASKED.parse(reply).decision.action
    assert isinstance(action, Rejected)
    assert action.reason.startswith(reason)


@each_row("name", ACTIONS)
def test_every_action_is_read_back_as_it_is_written(name: str) -> None:
    given = {
        "forum_post": "post hello",
        "forum_reply": "forum_reply 1 hello",
        "direct_message": "direct_message 2 hello there",
        "create_proposal": law("L", {"kind": "dividend", "resource": "food", "amount": 0.25, "to": "dormant"}),
        "vote": "vote 1 yes because",
        "work": "work farm 8",
        "trade": "trade 2 energy 12.34",
        "contribute": "contribute 1 0.05",
        "set_name": "set_name Ada the First",
        "idle": "idle no reason",
    }[name]
    decision = acted(given)  # type: ignore[arg-type] # both forms
    assert ALL.parse(decision.model_dump_json()).decision == decision
    assert ALL.parse(decision.action.model_dump_json()).decision == decision


def test_strict_actions_take_no_words_for_a_post() -> None:
    action = STRICT.parse("I greet you all.").decision.action
    assert action == Rejected(reason=UNPARSED)
    assert STRICT.parse(POST).decision == acted(POSTED)


def test_what_was_rejected_is_recorded_and_told_to_its_author_alone() -> None:
    rejected = ASKED.parse('{"action": "dance", "with": 7}').decision
    played = play({}, agents=2, bot=lambda asked, rng: rejected if asked.player == "agent1" else idles(asked, rng))
    (entry,) = told(played, InvalidAction)
    assert entry.to == ("agent1",)
    assert entry.event.content == "Action rejected: Unknown action: dance"
    assert entry.event.data() == {
        "day": 1,
        "agent": 1,
        "action": '{"action": "dance", "with": 7}',
        "reason": "Unknown action: dance",
    }


def test_many_braces_are_no_burden() -> None:
    reply = "{" * 60_000
    assert ASKED.parse(reply).decision.action == Rejected(reason=UNPARSED)


KNOWN = {
    *("type", "properties", "required", "additionalProperties", "anyOf", "enum", "items"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
}


def keywords(node: Any) -> set[str]:
    if isinstance(node, list):
        return {word for part in node for word in keywords(part)}
    if not isinstance(node, dict):
        return set()
    inner = [*node.get("properties", {}).values(), *node.get("anyOf", ()), node.get("items")]
    return {*node, *(word for part in inner for word in keywords(part))}


def test_the_schema_has_only_keywords_that_providers_know() -> None:
    assert keywords(ASKED.schema()) <= KNOWN


def test_the_schema_names_the_actions_that_the_rules_allow_with_their_ranges() -> None:
    branches = {
        branch["properties"]["action"]["enum"][0]: branch["properties"]
        for branch in ASKED.schema()["properties"]["action"]["anyOf"]
    }
    assert list(branches) == list(ACTIONS)
    assert branches["trade"]["recipient_agent_id"] == {"type": "integer", "minimum": 0, "maximum": 100}
    assert branches["direct_message"]["recipient_agent_id"] == {"type": "integer", "minimum": 1, "maximum": 100}
    assert branches["work"]["hours"] == {"type": "integer", "minimum": 1, "maximum": 8}
    assert branches["forum_post"]["content"] == {"type": "string", "maxLength": 2000}


@pytest.mark.parametrize("depth", [2, 900])
def test_an_action_deep_inside_another_object_is_none(depth: int) -> None:
    assert isinstance(ASKED.parse('{"a":' * depth + POST + "}" * depth).decision.action, Rejected)


@pytest.mark.parametrize(("reasks", "calls", "said"), [(0, 2, "rejected"), (1, 4, "json")])
def test_an_invalid_action_is_asked_again_as_often_as_the_scenario_says(
    reasks: int, calls: int, said: str, tmp_path: Path
) -> None:
    def reply(body: Mapping[str, Any]) -> str:
        return '{"action": "idle"}' if "Unknown action: dance" in json.dumps(body) else '{"action": "dance"}'

    with FakeServer(reply).in_thread() as server:
        (tmp_path / "society.toml").write_text(
            'game = "society"\n[game_config]\ndays = 1\nactions_per_day = 1\n'
            f'[defaults]\nmodel = "lab/any"\nreasks = {reasks}\n[limits]\nconcurrency = 1\nmax_fallback_rate = 1.0\n'
            f'[providers.lab]\nbase_url = "{server.url()}"\n[[players]]\nid = "agent"\ncount = 2\n'
        )
        result = play_scenario(load(tmp_path / "society.toml"), tmp_path)
        assert result.status == "completed", result.error
        assert len(server.received) == calls
    stages = [record.parse.stage for record in load_history(result.files.history).decisions if record.parse]
    assert stages == [said] * 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I {really} like this", "unreadable"),
        (f"{IDLE}\n{POST}", "ambiguous"),
        ('{"action": "dance"}', "illegal"),
        ("", "empty"),
    ],
)
def test_an_act_that_is_lost_is_a_fallback_for_which_its_model_is_the_cause(
    reply: str, reason: str, tmp_path: Path
) -> None:
    with FakeServer(lambda _body: reply).in_thread() as server:
        (tmp_path / "society.toml").write_text(
            'game = "society"\n[game_config]\ndays = 1\nactions_per_day = 1\n'
            '[defaults]\nmodel = "lab/any"\nreasks = 0\n[limits]\nconcurrency = 1\nmax_fallback_rate = 1.0\n'
            f'[providers.lab]\nbase_url = "{server.url()}"\n[[players]]\nid = "agent"\ncount = 2\n'
        )
        result = play_scenario(load(tmp_path / "society.toml"), tmp_path)
    assert result.status == "completed", result.error
    history = load_history(result.files.history)
    lost = [(each.source, each.fallback_reason, each.cause) for each in history.decisions]
    assert lost == [("fallback", reason, "model")] * 2
    assert [each.decision["action"]["action"] for each in history.decisions] == ["rejected"] * 2
    rates = fallback_rates_in(history)
    assert (rates.whole.fallbacks, rates.whole.causes, rates.whole.turned_away) == (2, {"model": 2}, 0)
