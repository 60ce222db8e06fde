"""Streams: answers that come as server-sent events, from hosts that stream though no request asks for it.

`joined` puts the events together to the answer that the wire expects whole. Sources:
https://html.spec.whatwg.org/multipage/server-sent-events.html,
https://platform.openai.com/docs/api-reference/chat-streaming, https://platform.openai.com/docs/api-reference/responses-streaming,
https://docs.anthropic.com/en/docs/build-with-claude/streaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agentsim.models.wire.common import at, count, says_nothing

_FIRST_WORDS: Final = ("data:", "event:", "id:", "retry:", ":")
_DONE: Final = "[DONE]"
_WHOLE_RESPONSES: Final = frozenset(("response.completed", "response.incomplete", "response.failed", "response.done"))
# Fields of a delta that are told whole, even if they come again. All other texts are told in pieces.
_TOLD_WHOLE: Final = frozenset(
    ("role", "type", "id", "name", "index", "status", "format", "phase", "channel", "recipient", "signature")
)


class BrokenOff(ValueError):
    """A stream that ends before its answer does."""


def is_stream(text: str) -> bool:
    """Return whether the body of an answer is a stream of events."""
    return text.lstrip().startswith(_FIRST_WORDS)


def joined(text: str) -> object:
    """Return the answer that a stream of events tells piece by piece, in the form of an answer that comes whole.

    An event that reports an error is the answer. Raises `BrokenOff` if the stream ends before the answer.
    """
    events, done = [], False
    for data in _events(text):
        done = done or data == _DONE
        events += [data] if isinstance(data, Mapping) else []
    for event in events:
        if not says_nothing(event.get("error")):
            return event
        if "error" in (event.get("type"), event.get("object")):  # of the Responses wire and vLLM, with its fields here
            return {"error": event}
    if len(events) == 1 and not _is_piece(events[0]):
        return events[0]
    kinds = {str(event.get("type")) for event in events}
    if any(kind.startswith("response.") for kind in kinds):
        return _response(events)
    return _message(events) if "message_start" in kinds else _completion(events, done=done)


def _events(text: str) -> Iterator[object]:
    """Yield the JSON of each event, or `[DONE]`. Some hosts leave out the blank line between events.

    An event that is named `error` has a field `error`. JSON on a line of its own is an event, too: some hosts report so
    that they broke down.
    """
    lines: list[str] = []
    name = ""
    # `splitlines` would also cut at characters that JSON may hold
    for line in (*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").strip())
            continue
        if lines and (not line or line.startswith("event:")):
            whole = _parsed("\n".join(lines))
            found = list(map(_parsed, lines)) if whole is None else [whole]
            yield from [_error(each, " ".join(lines)) for each in found] if name == "error" else found
            lines, name = [], ""
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("{"):
            yield _parsed(line)


def _error(data: object, words: str) -> object:
    """Return the data of an event that is named `error` as an object with the field `error`."""
    if isinstance(data, Mapping):
        return data if "error" in data else {"error": data}
    return {"error": words}


def _parsed(data: str) -> object:
    try:
        return _DONE if data == _DONE else json.loads(data)
    except ValueError:
        return None


def _is_piece(event: Mapping[str, Any]) -> bool:
    choices = event.get("choices")
    of_choices = isinstance(choices, list) and any(isinstance(at(choice, "delta"), Mapping) for choice in choices)
    return of_choices or str(event.get("type")).startswith(("response.", "message_", "content_block_"))


def _completion(events: Iterable[Mapping[str, Any]], *, done: bool) -> dict[str, Any]:
    """Return the chat completion in its chunks."""
    made: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        made |= {key: value for key, value in event.items() if key not in {"choices", "object"} and value is not None}
        said = event.get("choices")
        for choice in said if isinstance(said, list) else ():
            if isinstance(choice, Mapping):
                index = count(choice.get("index")) or 0
                _add_choice(choices.setdefault(index, {"index": index, "message": {}}), choice)
    if not done and not (choices and choices[min(choices)].get("finish_reason")):
        raise BrokenOff
    return {**made, "choices": [_whole(choices[index]) for index in sorted(choices)]}


def _add_choice(into: dict[str, Any], choice: Mapping[str, Any]) -> None:
    """Add a choice of one chunk to that of the answer."""
    for key, value in choice.items():
        if key == "delta" and isinstance(value, Mapping):
            _grow(into["message"], value)
        elif key == "message" and isinstance(value, Mapping):  # the whole message, at the end
            into["message"] = dict(value)
        elif key == "text" and isinstance(value, str):
            _grow(into["message"], {"content": value})
        elif key == "logprobs" and isinstance(value, Mapping):
            _grow(into.setdefault(key, {}), value)
        elif key not in {"index", "message", "delta", "logprobs"} and value is not None:
            into[key] = value


def _message(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the message in the events of the messages wire."""
    made: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    stopped = False
    for event in events:
        kind, index = event.get("type"), count(event.get("index")) or 0
        delta = event.get("delta")
        if kind == "message_start" and isinstance(event.get("message"), Mapping):
            made = dict(event["message"])
        elif kind == "content_block_start" and isinstance(event.get("content_block"), Mapping):
            _grow(blocks.setdefault(index, {}), event["content_block"])
        elif kind == "content_block_delta" and isinstance(delta, Mapping):
            told = {key: value for key, value in delta.items() if key in {"text", "thinking", "partial_json"}}
            _grow(blocks.setdefault(index, {}), told)
        elif kind == "message_delta":
            told = dict(delta) if isinstance(delta, Mapping) else {}
            used = [each for each in (made.get("usage"), event.get("usage")) if isinstance(each, Mapping)]
            made |= {**told, "usage": {key: value for each in used for key, value in each.items()}}
        stopped = stopped or kind == "message_stop" or bool(made.get("stop_reason"))
    if not stopped:
        raise BrokenOff
    content = []
    for index in sorted(blocks):
        block = _whole(blocks[index])
        if written := block.pop("partial_json", None):
            given = _parsed(written)
            block["input"] = written if given is None else given
        content.append(block)
    return {**made, "content": content}


def _response(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the response in the events of the Responses wire: the last event holds it, or only its items do."""
    items: dict[int, Any] = {}
    made: dict[str, Any] | None = None
    for event in events:
        if event.get("type") == "response.output_item.done":
            items[count(event.get("output_index")) or 0] = event.get("item")
        elif event.get("type") in _WHOLE_RESPONSES and isinstance(event.get("response"), Mapping):
            made = dict(event["response"])
    if made is None:
        raise BrokenOff
    return made if made.get("output") or not items else {**made, "output": [items[index] for index in sorted(items)]}


class _Pieces(list[str]):
    """The pieces of a text."""


class _Parts(list[Any]):
    """A list that grows. A part with an index is added to that of its index."""

    def __init__(self, parts: Iterable[Any] = ()) -> None:
        super().__init__(parts)
        self._by_index: dict[int, dict[str, Any]] = {}

    def grow(self, parts: Iterable[Any]) -> None:
        """Add these parts."""
        for part in parts:
            index = count(part.get("index")) if isinstance(part, Mapping) else None
            grown = None if index is None else self._by_index.get(index)
            if grown is None:
                grown = {}
                self.append(grown if isinstance(part, Mapping) else part)
            if index is not None:
                self._by_index[index] = grown
            if isinstance(part, Mapping):
                _grow(grown, part)


def _grow(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a delta to an object: texts grow, objects and objects of one index are merged, other values replace."""
    for key, value in delta.items():
        there = into.get(key)
        if value is None or (there is not None and value in ("", {}, [])):
            into.setdefault(key, value)
        elif isinstance(value, str) and key not in _TOLD_WHOLE:
            if isinstance(there, _Parts):
                there.append({"type": "text", "text": _Pieces([value])})
            else:
                into[key] = there if isinstance(there, _Pieces) else _Pieces()
                into[key].append(value)
        elif isinstance(value, list):
            if isinstance(there, _Pieces):
                into[key] = _Parts([{"type": "text", "text": there}] if any(there) else [])
            elif not isinstance(there, _Parts):
                into[key] = _Parts()
            into[key].grow(value)
        elif isinstance(value, Mapping):
            into[key] = there if isinstance(there, dict) else {}
            _grow(into[key], value)
        else:
            into[key] = value


def _whole(value: Any) -> Any:
    """Return a value with the pieces of each text joined."""
    if isinstance(value, _Pieces):
        return "".join(value)
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value
