"""The voices in an answer: words of other roles and of steps before the answer are not the player's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import TransportFailed
from agentsim.models.base import Completion
from agentsim.models.faults import ErrorFactory
from agentsim.models.profiles import BUILT_IN, WireName
from agentsim.models.wire import WIRES
from agentsim.models.wire.common import Function
from tests.amounts import each_row
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import play

HOST = ErrorFactory(BUILT_IN["openai"], "echo")
SECRET, WORDS = "I betray all of you.", "Keep me and I keep you."
ALL: tuple[WireName, ...] = ("chat", "responses", "messages")
VOTE = {"type": "object", "properties": {"vote": {"enum": ["B", "C"]}, "explanation": {"type": "string"}}}
PITCH = {"type": "object", "properties": {"text": {"type": "string"}}}


def answer(wire: WireName, *content: Any, ended: str | None = None, **message: Any) -> dict[str, Any]:
    """Return an answer with these parts of content; `message` is merged into its message."""
    if wire == "chat":
        said = {"role": "assistant", "content": list(content), **message}
        return {"choices": [{"message": said, "finish_reason": ended or "stop"}]}
    if wire == "responses":
        said = {"type": "message", "role": "assistant", "content": list(content), **message}
        return {"status": ended or "completed", "output": [said]}
    said = {"type": "message", "role": "assistant", "content": list(content), **message}
    return {**said, "stop_reason": ended or "end_turn"}


def read(wire: WireName, said: dict[str, Any], function: Function | None = None) -> Completion:
    return WIRES[wire].completion(said, HOST, function)


def part(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


THINKING: tuple[dict[str, Any], ...] = (
    part(SECRET, phase="commentary"),
    part(SECRET, phase="analysis"),
    part(SECRET, channel="analysis"),
    part(SECRET, channel="commentary"),
    part(SECRET, phase="Thinking"),
    {"text": SECRET, "phase": "commentary"},
    {"role": "assistant", "channel": "analysis", "content": SECRET},
    {"type": "commentary", "text": SECRET},
    {"type": "preamble", "text": SECRET},
    {"type": "reasoning_text", "text": SECRET},
    part(SECRET, hidden=True),
    part(SECRET, is_reasoning=True),
    part(SECRET, thinking=True),
    part(SECRET, subtype="thinking"),
    part(SECRET, name="thoughts"),
    {"kind": "thinking", "text": SECRET},
    {"thinking": SECRET},
    {"thinking": SECRET, "signature": "x"},
    {"reasoningContent": {"reasoningText": {"text": SECRET}}},
)
OTHERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"type": "input_text", "text": SECRET}, "input_text"),
    ({"type": "inputText", "text": SECRET}, "inputText"),
    ({"type": "user_message", "text": SECRET}, "user_message"),
    ({"type": "tool_text", "text": SECRET}, "tool_text"),
    (part(SECRET, role="user"), "role: user"),
    (part(SECRET, role="TOOL"), "role: tool"),
    (part(SECRET, author={"role": "system"}), "role: system"),
    ({"role": "user", "content": SECRET}, "role: user"),
    ({"role": "narrator", "content": [part(SECRET)]}, "role: narrator"),
    (part(SECRET, channel="backstage"), "channel: backstage"),
)


@each_row("wire", ALL)
@each_row("thought", THINKING)
def test_commentary_and_analysis_are_thinking(wire: WireName, thought: dict[str, Any]) -> None:
    beside, alone = read(wire, answer(wire, thought, part(WORDS))), read(wire, answer(wire, thought))
    assert (beside.text, beside.reasoning, beside.unknown) == (WORDS, SECRET, None)
    assert (alone.text, alone.reasoning) == ("", SECRET)


@each_row("wire", ALL)
@each_row("other, name", OTHERS)
def test_a_part_of_another_role_is_left_out_and_named(wire: WireName, other: dict[str, Any], name: str) -> None:
    beside, alone = read(wire, answer(wire, other, part(WORDS))), read(wire, answer(wire, other))
    assert (beside.text, beside.reasoning, beside.unknown) == (WORDS, None, name)
    assert (alone.text, alone.unknown) == ("", name)


@each_row("wire", ALL)
@each_row("said", [{"phase": "final_answer"}, {"channel": "final"}, {"role": "Assistant"}, {"phase": ""}])
def test_the_final_channel_is_the_answer(wire: WireName, said: dict[str, Any]) -> None:
    for read_back in (read(wire, answer(wire, part(WORDS, **said))), read(wire, answer(wire, part(WORDS), **said))):
        assert (read_back.text, read_back.reasoning, read_back.unknown) == (WORDS, None, None)


MESSAGES = [{"role": "tool", "content": SECRET}, {"role": "assistant", "content": WORDS}]
ANALYSIS = {"role": "assistant", "channel": "analysis", "content": SECRET}
CHOICES: dict[str, list[dict[str, Any]]] = {
    "a list of messages": [{"message": MESSAGES}],
    "messages": [{"messages": MESSAGES}],
    "one message in a list": [{"message": MESSAGES[1:]}],
    "another role first": [{"message": {"role": "user", "content": SECRET}}, {"message": MESSAGES[1]}],
    "thinking first": [{"message": ANALYSIS}, {"message": MESSAGES[1]}],
    "nothing first": [{"message": {"content": ""}}, {"message": MESSAGES[1]}],
    "by index": [{"index": 1, "message": {"content": SECRET}}, {"index": 0, "message": MESSAGES[1]}],
    "parts": [{"message": {"role": "model", "parts": [{"text": SECRET, "thought": True}, {"text": WORDS}]}}],
}


@each_row("name", CHOICES)
def test_the_text_is_that_of_the_first_choice_with_words_of_the_model(name: str) -> None:
    assert read("chat", {"choices": CHOICES[name]}).text == WORDS


@pytest.mark.parametrize(
    "envelope",
    [
        {"output": [{"type": "output_text", "text": WORDS}]},
        {"output": [{"type": "assistant_message", "content": [part(WORDS)]}]},
        {"output": [{"type": "input_message", "content": [part(SECRET)]}, {"type": "message", "content": WORDS}]},
        {"output": {"type": "message", "content": WORDS}},
        {"output": [], "output_text": WORDS},
    ],
    ids=str,
)
def test_a_response_is_read_wherever_its_words_stand(envelope: dict[str, Any]) -> None:
    assert read("responses", {"status": "completed", **envelope}).text == WORDS


@pytest.mark.parametrize("wire", ALL)
def test_a_message_of_another_role_or_channel_has_no_words_of_the_player(wire: WireName) -> None:
    for role in ("user", "system", "tool"):
        made = read(wire, answer(wire, part(SECRET), role=role))
        assert (made.text, made.unknown) == ("", f"role: {role}")
    for step in ({"channel": "analysis"}, {"phase": "commentary"}, {"thought": True}):
        made = read(wire, answer(wire, part(SECRET), **step))
        assert (made.text, made.reasoning, made.unknown) == ("", SECRET, None)


def test_items_of_other_roles_are_left_out_of_an_output() -> None:
    others = [{"type": "message", "role": role, "content": [part(SECRET)]} for role in ("user", "system", "tool")]
    thought = {"type": "message", "role": "assistant", "channel": "analysis", "content": [part("Hm.")]}
    said = answer("responses", part(WORDS))
    made = read("responses", {**said, "output": [*others, thought, *said["output"]]})
    assert (made.text, made.reasoning, made.unknown) == (WORDS, "Hm.", "role: user")


@pytest.mark.parametrize("field", ["role", "phase", "channel"])
def test_a_field_of_a_decision_is_no_voice(field: str) -> None:
    decision = {"text": WORDS, field: "seer"}
    assert json.loads(read("chat", {"choices": [{"message": {"content": decision}}]}).text) == decision


@pytest.mark.parametrize("wire", ALL)
def test_what_its_host_marks_as_incomplete_is_cut(wire: WireName) -> None:
    assert read(wire, answer(wire, part("Half", status="incomplete"))).ended_early
    assert not read(wire, answer(wire, part("Whole", status="completed"))).ended_early


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_a_message_that_its_host_marks_as_incomplete_is_cut(wire: WireName) -> None:
    assert read(wire, answer(wire, part("Half"), status="incomplete")).ended_early


def test_the_most_telling_of_several_finish_reasons_counts() -> None:
    choice = {"message": {"content": "Half"}, "finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}
    assert read("chat", {"choices": [choice]}).finish_reason == "MAX_TOKENS"


def test_a_response_that_is_still_in_progress_is_no_answer() -> None:
    with pytest.raises(TransportFailed):
        read("responses", answer("responses", part("Half"), ended="in_progress"))


# -------------------------------------------------------------------------------------------------- calls


def calling(wire: WireName, *calls: tuple[str, Any], text: str = "") -> dict[str, Any]:
    """Return an answer with these calls (name and arguments), behind a text."""
    if wire == "chat":
        made = [
            {"type": "function", "function": {"name": name, "arguments": json.dumps(given)}} for name, given in calls
        ]
        return {"choices": [{"message": {"content": text, "tool_calls": made}, "finish_reason": "tool_calls"}]}
    words = [part(text)] if text else []
    if wire == "responses":
        made = [{"type": "function_call", "name": name, "arguments": json.dumps(given)} for name, given in calls]
        return {"status": "completed", "output": [{"type": "message", "content": words}, *made]}
    made = [{"type": "tool_use", "name": name, "input": given} for name, given in calls]
    return {"type": "message", "role": "assistant", "content": [*words, *made], "stop_reason": "tool_use"}


VOTES_C, CODE = {"vote": "C", "explanation": "So."}, {"code": "print('B')"}
CALLS: dict[str, tuple[tuple[str, Any], ...]] = {
    "another tool first": (("python", CODE), ("vote", VOTES_C)),
    "with a prefix": (("python", CODE), ("functions.vote", VOTES_C)),
    "with a channel": (("python", CODE), ("vote<|channel|>commentary", VOTES_C)),
    "with a number": (("functions.python:0", CODE), ("functions.Vote:1", VOTES_C)),
    "thinking first": (("think", {"vote": "B"}), ("vote", VOTES_C)),
    "thinking first, another name": (("think", {"vote": "B"}), ("submit", VOTES_C)),
    "by its fields": (("python", CODE), ("submit_decision", VOTES_C)),
    "by its name before its fields": (("guess", {"vote": "B"}), ("vote", VOTES_C)),
    "thinking behind": (("vote", VOTES_C), ("sequentialthinking", {"vote": "B"})),
    "alone, another name": (("speak", VOTES_C),),
}


@each_row("wire", ALL)
@each_row("forced", [True, False])
@each_row("name", CALLS)
def test_of_several_calls_the_one_that_was_asked_for_counts(wire: WireName, forced: bool, name: str) -> None:
    made = read(wire, calling(wire, *CALLS[name]), Function("vote", forced, VOTE))
    assert (json.loads(made.text), made.unusable) == (VOTES_C, None)


@each_row("wire", ALL)
@each_row("forced", [True, False])
@each_row("tool", ["think", "Reasoning", "record_thoughts", "analysis"])
def test_a_call_of_a_thinking_tool_is_thinking(wire: WireName, forced: bool, tool: str) -> None:
    function = Function("pitch", forced, PITCH)
    alone = read(wire, calling(wire, (f"functions.{tool}:0", {"text": SECRET})), function)
    assert SECRET not in alone.text
    assert SECRET in str(alone.reasoning)
    both = read(wire, calling(wire, (tool, {"text": SECRET}), ("pitch", {"text": WORDS})), function)
    assert json.loads(both.text) == {"text": WORDS}
    named = read(wire, calling(wire, (tool, {"text": WORDS})), Function(tool, forced, PITCH))
    assert json.loads(named.text) == {"text": WORDS}, "the function that was asked for is the answer, whatever its name"


PRIVATE_TOOLS = ("note_to_self", "save_memory", "remember", "scratch", "functions.Memory:0", "private_note", "log")


@each_row("wire", ALL)
@each_row("forced", [True, False])
@each_row("tool", PRIVATE_TOOLS)
def test_a_call_by_which_a_model_notes_something_is_no_speech(wire: WireName, forced: bool, tool: str) -> None:
    function = Function("pitch", forced, PITCH)
    alone = read(wire, calling(wire, (tool, {"text": SECRET})), function)
    assert SECRET not in alone.text
    both = read(wire, calling(wire, (tool, {"text": SECRET}), ("pitch", {"text": WORDS})), function)
    assert json.loads(both.text) == {"text": WORDS}


@each_row("wire", ALL)
@each_row(
    "tool, forced",
    [
        *(("python", True), ("python", False), ("web_search", True), ("archive", False), ("oracle", False)),
        *(("decide_strategy", False), ("send_dm", False), ("sendMessage", False), ("whisper", False)),
    ],
)
def test_a_call_of_another_tool_is_asked_again(wire: WireName, tool: str, forced: bool) -> None:
    for text in ("", "I look it up."):
        made = read(wire, calling(wire, (tool, {"text": SECRET}), text=text), Function("pitch", forced, PITCH))
        assert SECRET not in made.text
        assert made.unusable is not None


ENDED: dict[WireName, tuple[str, tuple[str | None, ...]]] = {
    "chat": ("finish_reason", ("stop", "tool_calls", "", None)),
    "responses": ("status", ("completed", None)),
    "messages": ("stop_reason", ("end_turn", "tool_use", None)),
}


@each_row("function", [None, Function("pitch", False, PITCH)])
@each_row("wire, ended", [(wire, word) for wire, (_, words) in ENDED.items() for word in words])
def test_words_beside_a_made_up_call_are_asked_again_however_the_answer_ended(
    wire: WireName, ended: str | None, function: Function | None
) -> None:
    """No tool was offered. Hosts that parse calls out of a text leave its finish reason as it is."""
    for arguments in ({"query": "x"}, {}, "to B: I lie"):
        envelope = calling(wire, ("get_state", arguments), text=SECRET)
        (envelope["choices"][0] if wire == "chat" else envelope)[ENDED[wire][0]] = ended
        made = read(wire, envelope, function)
        assert (made.text, made.unusable is not None) == (SECRET, True)


def test_words_before_a_tool_that_the_host_runs_are_a_preamble() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    made = read("messages", answer("messages", part(SECRET), search, result, part(WORDS)))
    assert (made.text, made.reasoning) == (WORDS, SECRET)
    alone = read("messages", answer("messages", part(WORDS), search, result))
    assert (alone.text, alone.reasoning) == (WORDS, None)


@pytest.mark.parametrize("wire", ALL)
def test_a_call_that_a_host_leaves_empty_takes_nothing_from_the_words_beside_it(wire: WireName) -> None:
    for tool in ("", " "):
        made = read(wire, calling(wire, (tool, {}), text=WORDS), Function("pitch", False, PITCH))
        assert (made.text, made.unusable) == (WORDS, None)


@pytest.mark.parametrize("wire", ALL)
def test_two_calls_that_contradict_are_put_to_the_reader(wire: WireName) -> None:
    function = Function("vote", False, VOTE)
    made = read(wire, calling(wire, ("vote", {"vote": "C"}), ("vote", {"vote": "B"})), function)
    assert json.loads(made.text) == [{"vote": "C"}, {"vote": "B"}]
    twice = read(wire, calling(wire, ("vote", VOTES_C), ("vote", VOTES_C)), function)
    assert json.loads(twice.text) == VOTES_C


@pytest.mark.parametrize("ended", ["stop", None, "tool_calls"])
def test_the_text_beside_a_call_is_a_preamble_however_the_answer_ended(ended: str | None) -> None:
    envelope = calling("chat", ("pitch", {"text": WORDS}), text=SECRET)
    envelope["choices"][0]["finish_reason"] = ended
    assert json.loads(read("chat", envelope, Function("pitch", False, PITCH)).text) == {"text": WORDS}


@pytest.mark.parametrize("wire", ALL)
def test_the_text_beside_a_call_is_a_preamble_on_every_wire(wire: WireName) -> None:
    made = read(wire, calling(wire, ("pitch", {"text": WORDS}), text=SECRET), Function("pitch", False, PITCH))
    assert json.loads(made.text) == {"text": WORDS}


def test_words_before_more_thinking_are_a_preamble() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    for wire in ("chat", "messages"):
        made = read(wire, answer(wire, part(SECRET), thought, part(WORDS)))
        assert (made.text, made.reasoning) == (WORDS, f"{SECRET}Hm.")
        behind = read(wire, answer(wire, part(WORDS), thought))
        assert (behind.text, behind.reasoning) == (WORDS, "Hm.")


@pytest.mark.parametrize(
    "hidden", [{"type": "redacted_thinking", "data": "c2VjcmV0"}, {"type": "thinking", "thinking": ""}]
)
@pytest.mark.parametrize("wire", ["chat", "messages"])
def test_words_before_thinking_without_a_text_are_a_preamble(wire: WireName, hidden: dict[str, Any]) -> None:
    made = read(wire, answer(wire, part(SECRET), hidden, part(WORDS)))
    assert (made.text, made.reasoning) == (WORDS, SECRET)
    assert read(wire, answer(wire, part(WORDS), hidden)).text == WORDS


REFUSED = {"type": "refusal", "refusal": "I cannot go on."}


@pytest.mark.parametrize("wire", ALL)
def test_words_before_a_refusal_are_no_answer(wire: WireName) -> None:
    made = read(wire, answer(wire, part(SECRET), REFUSED))
    assert (made.text, made.refusal, made.reasoning) == ("I cannot go on.", "refusal", SECRET)
    made = read(wire, answer(wire, part(SECRET), REFUSED, part(WORDS)))
    assert (made.text, made.refusal) == (WORDS, None)


def test_words_before_a_message_that_refuses_are_no_answer() -> None:
    said, refused = (answer("responses", each)["output"] for each in (part(SECRET), REFUSED))
    made = read("responses", {"status": "completed", "output": [*said, *refused]})
    assert (made.text, made.refusal) == ("I cannot go on.", "refusal")


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
@pytest.mark.parametrize("ended", ["pause_turn", "end_turn"])
def test_words_before_a_tool_of_the_host_without_a_result_are_no_answer(kind: str, ended: str) -> None:
    search = {"type": kind, "id": "s", "name": "web_search", "input": {"query": "x"}}
    made = read("messages", answer("messages", part(SECRET), search, ended=ended))
    assert (made.text, made.reasoning) == ("", SECRET)


def test_a_call_by_another_role_is_none_on_the_other_wires() -> None:
    use = {"type": "tool_use", "name": "vote", "input": VOTES_C}
    called = {"type": "function_call", "name": "vote", "arguments": json.dumps(VOTES_C)}
    for role, counts in (("user", False), ("assistant", True)):
        given: dict[WireName, dict[str, Any]] = {
            "messages": answer("messages", use, ended="tool_use", role=role),
            "responses": {"status": "completed", "output": [{**called, "role": role}]},
        }
        for wire, said in given.items():
            made = read(wire, said, Function("vote", True, VOTE))
            assert (made.unusable is None, "vote" in made.text) == (counts, counts)


def test_of_several_messages_of_a_response_the_last_is_the_answer() -> None:
    first = {"type": "message", "role": "assistant", "content": [part(SECRET)]}
    said = answer("responses", part(WORDS))
    for between in ([], [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}]):
        made = read("responses", {**said, "output": [first, *between, *said["output"]]})
        assert made.text == WORDS
        assert SECRET in str(made.reasoning)


def test_a_message_by_another_author_has_no_words_of_the_player() -> None:
    said = answer("responses", part(WORDS))
    other = {"type": "agent_message", "author": "B", "content": [part(SECRET)]}
    made = read("responses", {**said, "output": [*said["output"], other]})
    assert (made.text, made.unknown) == (WORDS, "author: b")


def test_the_transcript_of_a_spoken_answer_is_its_text() -> None:
    spoken = {"role": "assistant", "content": None, "audio": {"id": "x", "data": "UklG", "transcript": WORDS}}
    assert read("chat", {"choices": [{"message": spoken}]}).text == WORDS


ARGUMENTS: dict[str, Any] = {
    "in a fence": [{"name": "vote", "arguments": f"```json\n{json.dumps(VOTES_C)}\n```"}],
    "parallel": [
        {
            "name": "multi_tool_use.parallel",
            "arguments": json.dumps(
                {
                    "tool_uses": [
                        {"recipient_name": "functions.think", "parameters": {"vote": "B"}},
                        {"recipient_name": "functions.vote", "parameters": VOTES_C},
                    ]
                }
            ),
        }
    ],
    "by number": {"0": {"name": "vote", "arguments": VOTES_C}},
}


@each_row("name", ARGUMENTS)
@each_row("forced", [True, False])
def test_the_object_in_the_arguments_is_the_text(name: str, forced: bool) -> None:
    message = {"content": None, "tool_calls": ARGUMENTS[name]}
    made = read("chat", {"choices": [{"message": message}]}, Function("vote", forced, VOTE))
    assert json.dumps(VOTES_C) in made.text
    assert (made.text.count("vote"), made.unusable) == (1, None)


def test_a_message_to_a_function_is_a_call() -> None:
    to = {"role": "assistant", "channel": "commentary", "recipient": "functions.vote", "content": json.dumps(VOTES_C)}
    thought = {"role": "assistant", "channel": "analysis", "content": SECRET}
    for content in ([thought, to], [to]):
        made = read("chat", {"choices": [{"message": {"content": content}}]}, Function("vote", True, VOTE))
        assert json.loads(made.text) == VOTES_C
    assert json.loads(read("chat", {"choices": [{"message": to}]}, Function("vote", True, VOTE)).text) == VOTES_C


# -------------------------------------------------------------------------------------------------- whole games

SHAPES: tuple[Any, ...] = (
    lambda text, name: {"content": [{"type": "text", "text": SECRET, "phase": "commentary"}, part(text)]},
    lambda text, name: {"content": [{"role": "user", "content": SECRET}, {"role": "assistant", "content": text}]},
    lambda text, name: {"content": [{"type": "input_text", "text": SECRET}, part(text)]},
    lambda text, name: {"content": [part(SECRET, channel="analysis"), part(text, channel="final")]},
    lambda text, name: calls(("think", json.dumps({"text": SECRET})), (name, text)),
    lambda text, name: calls(("python", json.dumps({"code": SECRET})), (f"functions.{name}", text)),
    lambda text, name: calls(("note_to_self", json.dumps({"text": SECRET})), (name, text)),
    lambda text, name: {**calls((name, text)), "content": SECRET},
)


def calls(*made: tuple[str, str]) -> dict[str, Any]:
    functions = [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in made]
    return {"content": None, "tool_calls": functions}


@pytest.mark.parametrize("game", GAMES)
def test_what_is_not_the_player_s_is_heard_by_none(game: str, tmp_path: Path) -> None:
    asked: list[str] = []

    def reply(body: dict[str, Any]) -> Raw:
        asked.append(json.dumps(body["messages"]))
        shape, name = SHAPES[len(asked) % len(SHAPES)], body["response_format"]["json_schema"]["name"]
        return Raw(200, envelope(None, message=shape(varied_by_schema(body), name)))

    with FakeServer(reply).in_thread() as server:
        result = on_server(game, server.url(), tmp_path, "limits.concurrency=1")
    assert result.error is None
    codes = {attempt.code for each in result.typed_history.decisions for attempt in each.attempts}
    # a reply drawn by the schema alone may be no way out of a debt, or an action that the rules of acts refuse
    assert codes <= ({None, "illegal"} if game in {"monopoly", "society"} else {None}), "every reply is read"
    assert SECRET not in "".join(asked) + json.dumps(result.history["rounds"])


CALLS_IN_TEXT = {
    "Hermes": '<tool_call>{{"name": "{name}", "arguments": {text}}}</tool_call>',
    "Mistral": '[TOOL_CALLS][{{"name": "{name}", "arguments": {text}}}]',
    "OpenAI": '{{"name": "{name}", "arguments": {text}}}',
    "an object": "{text}",
    "prose before it": "I answer now.\n{text}",
}


@pytest.mark.parametrize("form", CALLS_IN_TEXT)
def test_a_call_that_a_server_leaves_in_the_text_is_read(form: str, tmp_path: Path) -> None:
    """A server without a parser for tool calls returns them as the model wrote them."""

    def reply(body: dict[str, Any]) -> Raw:
        function = body["tools"][0]["function"]
        text = varied_by_schema({"response_format": {"json_schema": {"schema": function["parameters"]}}})
        return Raw(200, envelope(CALLS_IN_TEXT[form].format(name=function["name"], text=text)))

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, 'providers.fake.structured="tool"')
    usage = result.history["usage"]
    assert (result.status, usage["reasks"], usage["fallbacks"]) == ("completed", 0, 0)


def test_a_call_by_tags_is_read_from_the_text(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Raw:
        function = body["tools"][0]["function"]
        schema = {"response_format": {"json_schema": {"schema": function["parameters"]}}}
        values = json.loads(varied_by_schema(schema)).items()
        given = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values)
        return Raw(200, envelope(f"<tool_call>\n<function={function['name']}>\n{given}</function>\n</tool_call>"))

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path, 'providers.fake.structured="tool"')
    assert (result.status, result.history["usage"]["reasks"]) == ("completed", 0)


@pytest.mark.parametrize("wire", ALL)
def test_arguments_that_a_host_has_parsed_and_closed_are_as_open_as_the_answer_was(wire: WireName) -> None:
    made = calling(wire, ("pitch", {"text": "Keep me. And I prom"}))
    if wire == "chat":
        made["choices"][0]["finish_reason"] = "length"
        made["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = {"text": "Keep me. And I prom"}
    elif wire == "responses":
        made |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        made["output"][-1]["arguments"] = {"text": "Keep me. And I prom"}
    else:
        made["stop_reason"] = "max_tokens"
    assert read(wire, made, Function("pitch", forced=True, schema=PITCH)).text == '{"text": "Keep me. And I prom'
