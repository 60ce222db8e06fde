"""The cost of reading foreign text grows with its length: answers of providers, files, names, screens and pages.

`tests/engine/test_reading_grows.py` has the measure, and the same tests for replies to every kind of request.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from agentsim.cli import terminal_output
from agentsim.engine import decision, wording
from agentsim.engine.panel import Frame
from agentsim.engine.reading.speech import split
from agentsim.engine.wording import Naming
from agentsim.errors import AgentsimError
from agentsim.games.society.names import misnomer
from agentsim.models import keys
from agentsim.models.faults import ErrorFactory, retry_after
from agentsim.models.profiles import BUILT_IN
from agentsim.models.remote import completion_in, decoded
from agentsim.models.wire import WIRES
from agentsim.players import rendering, terminal
from agentsim.records import formats
from agentsim.records.journal import read_journal
from agentsim.report import markup
from agentsim.scenario import document, seating, source_files
from agentsim.scenario.validation import screen as screened
from tests.engine.test_reading_grows import MOST, UNITS, growth

SECRET = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcd"
FAULTS = ErrorFactory(BUILT_IN["openai"], "gpt-5-mini", (SECRET,))
NAMES = Naming([(name, name) for name in ("A", "I", "B", "player B", "agent1")])
SHAPES = {
    **{name: UNITS[name] for name in ("opening braces", "half objects", "empty objects", "fences", "quotes", "tabs")},
    **{name: UNITS[name] for name in ("thoughts that never end", "digits", "blanks", "marks", "votes", "comments")},
    "lines": ("", "a = 1\n", ""),
    "tables": ("", "[a]\n", ""),
    "placeholders": ("", "${", "}"),
    "escapes": ("", "\\u0073", ""),
    "entities": ("", "&#115;", ""),
    "the beginnings of a key": ("", "sk-proj-", ""),
    "names": ("", "agent 1 ", ""),
    "commands": ("", "\x1b[", "m"),
    "unseen": ("a", "\u200b", "b"),
    "accents": ("a", "\u0301", "b"),
}


def _answer(**message: object) -> Callable[[str], object]:
    def read(text: str) -> object:
        said = {key: text if value is ... else value for key, value in message.items()}
        body = {"choices": [{"message": said, "finish_reason": text}], "model": text, "usage": {}}
        return completion_in(WIRES["chat"], body, FAULTS)

    return read


def _file(read: Callable[[Path], object], folder: Path) -> Callable[[str], object]:
    def written(text: str) -> object:
        path = folder / "foreign"
        path.write_text(text, encoding="utf-8")
        return read(path)

    return written


def _status(text: str) -> object:
    return FAULTS.status(429, {"retry-after": text}, json.dumps({"error": {"message": text, "code": text}}).encode())


READERS: dict[str, Callable[[str], object]] = {
    "cleaning": wording.cleaned,
    "quoting": lambda text: wording.quoted(text=text),
    "thinking": split,
    "numbers": decision.whole,
    "an answer's text": _answer(content=...),
    "an answer's reasoning": _answer(content="a", reasoning=...),
    "an answer that is none": lambda text: completion_in(
        WIRES["chat"], decoded(text.encode(), "application/json", FAULTS), FAULTS
    ),
    "an error": _status,
    "a header": lambda text: retry_after({"retry-after": text, "x-ratelimit-reset": text, "date": text}),
    "keys": lambda text: keys.redact_reply(text, (SECRET,)),
    "a terminal": terminal_output.safe,
    "a terminal's rows": lambda text: terminal.rows(text, 80, "  "),
    "a person's question": rendering.split_question,
    "a person's news": rendering.news,
    "an outline": rendering.outlined,
    "a page": markup.foreign,
    "a table": lambda text: formats.FORMATS["csv"]("t", Frame(("a",), ((text,),))),
    "a name": lambda text: misnomer(text, 1, 100, {}),
    "names in a text": lambda text: list(NAMES.named(text)),
    "a persona": lambda text: seating.expanded(text, {"name": "B"}),
    "an override": lambda text: document.overridden({}, [f"a={text}"]),
    "secrets of a scenario": lambda text: screened({"a": text}),
}
FILES: dict[str, Callable[[Path], Any]] = {
    "a scenario": source_files.read_toml,
    "a prompt": source_files.read_prompt,
    "a journal": read_journal,
}


class _Reader:
    """A function that reads text, in the place of a request."""

    def __init__(self, read: Callable[[str], object]) -> None:
        self._read = read

    def parse(self, text: str) -> None:
        with suppress(AgentsimError, PydanticCustomError, ValueError, TypeError):
            self._read(text)


@pytest.mark.parametrize("name", [*READERS, *FILES])
def test_what_foreign_text_costs_grows_with_its_length_and_not_faster(name: str, tmp_path: Path) -> None:
    reader: Any = _Reader(READERS[name] if name in READERS else _file(FILES[name], tmp_path))
    reader.parse("Hm.")  # compiles patterns before the measurement
    faster = {shape: round(times, 1) for shape, unit in SHAPES.items() if (times := growth(reader, unit)) > MOST}
    assert not faster, f"four times the text, and so many times the cost: {faster}"
