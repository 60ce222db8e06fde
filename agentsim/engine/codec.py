"""codec: records as JSON values and back, JSON values as one line, the places within them, and texts by place.

No format of any file belongs here.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import to_json

_CANONICAL = json.JSONEncoder(ensure_ascii=True, sort_keys=True)
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


class ClosedTable(BaseModel):
    """Base of every table of a file that people write: closed to unknown keys, strict about types, finite.

    Words below a field describe it in the table's schema. They are read from the source when a schema is made: pydantic
    would read them for every class at its import, which was a seventh of what a command took before its work.
    """

    # No validator is built for a table of which there is none in this process, nor for one that another table includes.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        fields = handler.resolve_ref_schema(schema)["properties"]
        for name, words in _described(cls).items() if fields else ():
            if name in fields:
                fields[name].setdefault("description", words)
        return schema


@cache
def _described(table: type[ClosedTable]) -> Mapping[str, str]:
    """Return the words below the fields of a table and of those that it extends; reading its source takes long."""
    found: dict[str, str] = {}
    for each in (each for each in reversed(table.__mro__) if issubclass(each, ClosedTable) and each is not ClosedTable):
        try:
            source = inspect.getsource(each)
        except OSError:  # a class of an interactive session has none
            continue
        tree = ast.parse(f"if True:\n{source}" if source[0].isspace() else source)
        (body, *_) = (node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        for pair in zip_longest(body, body[1:]):
            match pair:
                case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                    found[name] = inspect.cleandoc(words)
                case ast.AnnAssign(ast.Name(name)), _:
                    found.pop(name, None)
    return found


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


def values_at(record: BaseModel) -> dict[str, Any]:
    """A record's values by path: its fields (`bid`), and the fields of those (`action.bid`)."""
    found = dict(record.__dict__)
    for name, value in record.__dict__.items():
        if isinstance(value, BaseModel):
            for path, inner in values_at(value).items():
                found[f"{name}.{path}"] = inner
    return found


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


_MISSING = "refers to a text that is not there"


@dataclass
class Texts:
    """Texts by their places, from 0 on in the order in which they came.

    Records that name more than `most` places in all are refused: a few bytes name a run of any length.
    """

    in_order: list[str] = field(default_factory=list)
    most: float = math.inf
    named: int = 0

    def add(self, text: Any) -> None:
        """The next text; `ValueError` where it is none."""
        if not isinstance(text, str):
            raise ValueError("a text is no text")
        text.encode()  # or it holds an incomplete character
        self.in_order.append(text)

    def __getitem__(self, place: Any) -> str:
        """Return the text at a place. Raises `ValueError` if there is none."""
        if place not in self:
            raise ValueError(_MISSING)
        return str(self.in_order[place])

    def __contains__(self, place: Any) -> bool:
        return type(place) is int and 0 <= place < len(self.in_order)

    def several(self, places: Any) -> list[str]:
        """Return the texts of places and of runs of places, which are a list of the first and the last.

        Raises `ValueError` for anything else.
        """
        if not isinstance(places, list):
            raise ValueError("is no list of places of texts")
        found: list[str] = []
        for place in places:
            if type(place) is int and 0 <= place < len(self.in_order):
                found.append(self.in_order[place])
                continue
            first, last = place if isinstance(place, list) and len(place) == 2 else (place, place)
            if first not in self or last not in self:
                raise ValueError(_MISSING)
            if self.named + len(found) + last - first > self.most:
                raise ValueError("names the same texts too often")
            found += self.in_order[first : last + 1]
        self.named += len(found)
        return found


class NewTexts:
    """Puts texts away behind those that are there. Those of `new` are to be written before what names them."""

    def __init__(self, texts: Texts) -> None:
        self.new: list[str] = []
        self._texts = texts
        self._places = {text: place for place, text in enumerate(texts.in_order)}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """The places of texts, as `runs`."""
        return runs(map(self._place, texts))

    def _place(self, text: str) -> int:
        if (place := self._places.get(text)) is None:
            place = self._places[text] = len(self._texts.in_order)
            self._texts.in_order.append(text)
            self.new.append(text)
        return place


def runs(places: Iterable[int]) -> list[Any]:
    """Places, those that follow one another as the first and the last of them."""
    found: list[list[int]] = []
    for place in places:
        if found and found[-1][1] == place - 1:
            found[-1][1] = place
        else:
            found.append([place, place])
    return [first if first == last else [first, last] for first, last in found]


Path: TypeAlias = tuple[str | int, ...]
"""Names of fields, and places in lists: `("action", "offer", "properties", 0)`."""


def paths_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every single value within JSON values, with its path, in order."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from paths_in(part, (*path, key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from paths_in(part, (*path, place))
    else:
        yield path, value


def value_at(value: Any, path: Path) -> Any:
    """What stands at a path; None where nothing does."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
    return value


def with_value(value: Any, path: Path, new: Any) -> Any:
    """A copy of JSON values in which this stands at a path that they have."""
    if not path:
        return new
    key, *rest = path
    copy = dict(value) if isinstance(value, Mapping) else list(value)
    copy[key] = with_value(copy[key], tuple(rest), new)  # type: ignore[index] # the path is one of it
    return copy


def nodes_at(schema: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
    """What a schema says of a path, once for each kind of record that has it."""
    if "anyOf" in schema:
        for kind in schema["anyOf"]:
            yield from nodes_at(kind, path)
    elif not path:
        yield schema
    elif isinstance(path[0], str) and path[0] in schema.get("properties", {}):
        yield from nodes_at(schema["properties"][path[0]], path[1:])


def knows(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether the objects in a value have no keys but those of the schema."""
    if "anyOf" in schema:
        return any(knows(branch, value) for branch in schema["anyOf"])
    if isinstance(value, list):
        return all(knows(schema.get("items", {}), each) for each in value)
    fields = schema.get("properties")
    if fields is None or not isinstance(value, dict):
        return True
    return value.keys() <= fields.keys() and all(knows(fields[name], part) for name, part in value.items())
