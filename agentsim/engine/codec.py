"""codec: records as JSON values and back, and JSON values as one line. No format of any file belongs here."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

_CANONICAL = json.JSONEncoder(ensure_ascii=True, sort_keys=True)
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def adapter(cls: type[Any]) -> TypeAdapter[Any]:
    """The adapter that takes instances of `cls` to JSON values and back, built once per class."""
    found = _ADAPTERS.get(cls)
    if found is None:
        found = _ADAPTERS[cls] = TypeAdapter(cls)
    return found


def values(record: Any) -> dict[str, Any]:
    """A record's fields as JSON values."""
    out: dict[str, Any] = adapter(type(record)).serializer.to_python(record, mode="json")
    return out


def canonical(value: Any) -> str:
    """JSON values as the one ASCII text that fingerprints are made of: keys sorted, a space behind `,` and `:`."""
    return _CANONICAL.encode(value)


def parse_json(text: str | bytes) -> Any:
    """The value of JSON; `ValueError` where it is none, or holds a number that no float is."""
    return _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8", "surrogatepass"))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


# Made once: `json.loads` makes one at every call, which for a journal's line takes longer than to read it.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def json_line(value: Any) -> bytes:
    """JSON values as one compact line of UTF-8, without its end; `ValueError` for numbers that are none.

    `value` is made of dicts with text keys, lists, tuples, texts, numbers, booleans and None: what else pydantic can
    write is not looked for. A run writes some thousand lines a second: this takes a quarter of `json.dumps`' time.
    """
    line = to_json(value)
    if b"NaN" in line or b"Infinity" in line:  # in a text, or as a number, which JSON has not
        line = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return line


@lru_cache(maxsize=1024)  # the lines of a wave's prompts are the same for all who are asked
def text_id(text: str) -> str:
    """32 hex digits that name a text by its content."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def bytes_id(pieces: Iterable[bytes]) -> str:
    """The same of a text whose UTF-8 comes in pieces."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]
