"""Hosts that stream their answers though no request asks for it: the events are read as one answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.errors import RateLimited, TransportFailed
from agentsim.models.base import Completion
from agentsim.models.profiles import WireName
from tests.fakes.server import Raw
from tests.models.test_wires import ANSWER, KEY, ask, lab

WORDS = json.dumps(ANSWER)
SPLIT = [WORDS[:7], WORDS[7:11], WORDS[11:]]


def stream(*events: Any, end: str = "\n\n", named: bool = False) -> str:
    """Return a stream of these events; a text is sent as it is."""
    names = [f"event: {event['type']}\n" if named and isinstance(event, dict) else "" for event in events]
    told = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "".join(f"{name}data: {each}{end}" for name, each in zip(names, told, strict=True))


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "x", "object": "chat.completion.chunk", "model": "some/model", "choices": choices, **more}


def call(arguments: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **more, "function": {"name": "vote", "arguments": arguments}}]}


USED = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
CHUNKS = (
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "Hm"}),
    chunk({"reasoning_content": "m."}),
    *(chunk({"content": each}) for each in SPLIT),
    chunk({}, "stop"),
    chunk(usage=USED),
    "[DONE]",
)
CALLS = (
    chunk({"role": "assistant", "content": None}),
    chunk({"reasoning": "Hmm."}),
    *(chunk(call(each, id="call_1", type="function")) for each in SPLIT),
    chunk({}, "tool_calls", usage=USED),
)
BEGUN: dict[str, Any] = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "content": [],
    "model": "some/model",
    "stop_reason": None,
}
BLOCKS = (
    {"type": "message_start", "message": BEGUN | {"usage": {"input_tokens": 7, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "m."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_stop", "index": 0},
)
STOPPED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
TEXT = (
    *BLOCKS,
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    *({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": each}} for each in SPLIT),
    STOPPED,
    {"type": "message_stop"},
)
USE = {"type": "tool_use", "id": "t", "name": "vote", "input": {}}
USED_TOOL = (
    *BLOCKS,
    {"type": "content_block_start", "index": 1, "content_block": USE},
    *(
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": each}}
        for each in SPLIT
    ),
    STOPPED,
)
ITEMS = (
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hmm."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]},
)
RESPONSE: dict[str, Any] = {
    "id": "r",
    "object": "response",
    "model": "some/model",
    "status": "completed",
    "output": [*ITEMS],
}
RESPONSE["usage"] = {"input_tokens": 7, "output_tokens": 3}
DELTAS = (
    {"type": "response.created", "response": RESPONSE | {"status": "in_progress", "output": []}},
    *({"type": "response.output_text.delta", "output_index": 1, "delta": each} for each in SPLIT),
    *({"type": "response.output_item.done", "output_index": place, "item": item} for place, item in enumerate(ITEMS)),
)
COMPLETED = {"type": "response.completed", "response": RESPONSE}
EMPTIED = {"type": "response.completed", "response": RESPONSE | {"output": []}}
WHOLE = {
    "model": "some/model",
    "choices": [{"finish_reason": "stop", "message": {"content": WORDS, "reasoning": "Hmm."}}],
    "usage": USED,
}
READ: dict[str, tuple[WireName, str]] = {
    "chunks": ("chat", stream(*CHUNKS)),
    "chunks with comments, other line ends and a byte order mark": (
        "chat",
        "\ufeff: PROCESSING\r\n\r\n" + stream(*CHUNKS, end="\r\n\r\n"),
    ),
    "chunks without blank lines": ("chat", stream(*CHUNKS, end="\n")),
    "chunks and the whole message at the end": (
        "chat",
        stream(*CHUNKS[:-3], chunk({}, "stop") | {"choices": WHOLE["choices"]}, chunk(usage=USED)),
    ),
    "calls": ("chat", stream(*CALLS)),
    "a whole completion": ("chat", stream(WHOLE)),
    "messages": ("messages", stream(*TEXT, named=True)),
    "messages with a tool": ("messages", stream(*USED_TOOL, named=True)),
    "responses": ("responses", stream(*DELTAS, COMPLETED, named=True)),
    "responses whose end is empty": ("responses", stream(*DELTAS, EMPTIED, named=True)),
    "a whole response": ("responses", stream(RESPONSE)),
}


@pytest.mark.parametrize(("wire", "body"), READ.values(), ids=list(READ))
def test_a_stream_is_read_as_the_answer_that_it_tells(wire: WireName, body: str) -> None:
    read, _ = ask(lab(wire, structured="tool"), Raw(200, body, content_type="text/event-stream"))
    assert isinstance(read, Completion), read
    assert json.loads(read.text) == ANSWER
    assert (read.reasoning, read.model) == ("Hmm.", "some/model")
    assert (read.usage.prompt_tokens, read.usage.completion_tokens) == (7, 3)


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("chat", stream(*CHUNKS[:-3])),
        ("chat", "data: hello\n\n"),
        ("chat", ": PROCESSING\n\n"),
        ("messages", stream(*TEXT[:-2], named=True)),
        ("responses", stream(*DELTAS, named=True)),
    ],
)
def test_a_stream_that_breaks_off_is_a_fault_and_no_shorter_answer(wire: WireName, body: str) -> None:
    fault, _ = ask(lab(wire), Raw(200, body, content_type="text/event-stream"))
    assert isinstance(fault, TransportFailed), fault
    assert fault.code == "bad_envelope"
    assert "a stream that ends before the answer" in str(fault)


@pytest.mark.parametrize(
    ("wire", "events"),
    [
        ("chat", (*CHUNKS[:4], {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})),
        ("messages", (*TEXT[:4], {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}})),
        ("responses", (*DELTAS[:2], {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"})),
        ("chat", (*CHUNKS[:4], {"object": "error", "message": "slow down", "code": 429}, "[DONE]")),
    ],
)
def test_an_error_in_a_stream_is_judged_as_one_in_an_answer(wire: WireName, events: tuple[Any, ...]) -> None:
    fault, _ = ask(lab(wire), Raw(200, stream(*events), content_type="text/event-stream"))
    assert isinstance(fault, RateLimited), fault


HALF = stream(chunk({"content": "Keep me and I"}))


@pytest.mark.parametrize(
    "told",
    [
        'event: error\ndata: {"message": "slow down", "code": "rate_limit_exceeded"}\n\n',
        'event: error\ndata: {"message": "slow down", "code": "rate_limit_exceeded"}\nevent: end\n',
        "event: error\ndata: rate limit reached\n\n",
        'event: error\ndata: {"message": "slow down", "type": "rate_limit_error"}\n\n',
        '{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}\n\n',
        '{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}\n',
    ],
)
def test_an_error_is_one_whether_its_event_or_its_line_says_so(told: str) -> None:
    fault, _ = ask(lab("chat", structured="prompt"), Raw(200, HALF + told + "data: [DONE]\n\n"))
    assert isinstance(fault, RateLimited), fault


def test_an_event_of_another_name_behind_words_is_no_error() -> None:
    body = "event: error_rate\n" + stream(chunk({"content": "Hello"}, "stop")) + "event: error\n\n"
    said, _ = ask(lab("chat", structured="prompt"), Raw(200, body))
    assert getattr(said, "text", said) == "Hello"


def test_of_two_choices_the_first_must_have_ended() -> None:
    other = [chunk({"content": "Hello"}, "stop") | {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}]
    fault, _ = ask(lab("chat", structured="prompt"), Raw(200, HALF + stream(*other)))
    assert isinstance(fault, TransportFailed), fault


def test_a_character_that_ends_lines_elsewhere_stays_in_its_event() -> None:
    words = "one\u2028two\x85three"
    body = "".join(f"data: {json.dumps(each, ensure_ascii=False)}\n\n" for each in (chunk({"content": words}, "stop"),))
    read, _ = ask(lab("chat", structured="prompt"), Raw(200, body))
    assert isinstance(read, Completion), read
    assert read.text.split() == ["one", "two", "three"]


@pytest.mark.parametrize("broken", [False, True])
def test_a_key_in_pieces_is_in_no_reply_and_no_error(broken: bool) -> None:
    events = [chunk({"content": each}) for each in (KEY[:9], KEY[9:])]
    said, _ = ask(lab("chat", structured="prompt"), Raw(200, stream(*events, *(() if broken else ("[DONE]",)))))
    assert isinstance(said, TransportFailed if broken else Completion)
    assert KEY[:9] not in str(said)
    assert KEY[9:] not in str(said)
