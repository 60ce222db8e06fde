"""codec: conversion of records to JSON values and back, JSON lines, paths within JSON values, and texts by index.

Also `computed_once`, for values that follow from a record.

File formats are defined elsewhere.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import zip_longest
from json.encoder import encode_basestring_ascii
from typing import Any, Generic, Self, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import to_json

T = TypeVar("T")
_CANONICAL = json.JSONEncoder(ensure_ascii=True, sort_keys=True)
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


class StrictTable(BaseModel):
    """The base of all tables in files that people write: closed to unknown keys, strict about types, finite.

    Strings below fields describe them in the table's schema. They are read from the source when a schema is made,
    because pydantic would read them for every class at import, a seventh of the time that a command takes before its
    work.
    """

    # A validator is built only for tables that are used in this process by themselves.
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
def _described(table: type[StrictTable]) -> Mapping[str, str]:
    """Return the strings below the fields of a table and of its bases; parsing its source is slow."""
    found: dict[str, str] = {}
    for each in (each for each in reversed(table.__mro__) if issubclass(each, StrictTable) and each is not StrictTable):
        try:
            source = inspect.getsource(each)
        except OSError:  # classes of an interactive session have no source
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


class computed_once(Generic[T]):  # noqa: N801 - a decorator like `property`
    """A property of a record that is computed at the first read and stored in the record.

    Like `functools.cached_property`, which locks in Python 3.11: requests are made and read by one thread.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, record: object, owner: type[Any]) -> T: ...
    def __get__(self, record: object | None, owner: type[Any]) -> Self | T:
        if record is None:
            return self
        value = record.__dict__[self._name] = self._compute(record)
        return value


def adapter(cls: type[Any]) -> TypeAdapter[Any]:
    """Return the adapter between instances of `cls` and JSON values, built once per class."""
    found = _ADAPTERS.get(cls)
    if found is None:
        found = _ADAPTERS[cls] = TypeAdapter(cls)
    return found


def json_fields(record: Any) -> dict[str, Any]:
    """Return a record's fields as JSON values."""
    out: dict[str, Any] = adapter(type(record)).serializer.to_python(record, mode="json")
    return out


_LEAVES: frozenset[type[Any]] = frozenset({str, int, bool, float, type(None), tuple, dict})
"""Types of values that are no records, which takes long to find out."""


def values_by_path(record: BaseModel) -> dict[str, Any]:
    """Return a record's values by path: its fields (`bid`), and the fields of those (`action.bid`)."""
    found = dict(record.__dict__)
    for name, value in record.__dict__.items():
        if type(value) not in _LEAVES and isinstance(value, BaseModel):
            for path, inner in values_by_path(value).items():
                found[f"{name}.{path}"] = inner
    return found


_CANONICAL_LEAF: Mapping[type[Any], Callable[[Any], str]] = {str: encode_basestring_ascii, int: str}


def canonical(value: Any) -> str:
    """Return the ASCII JSON text that fingerprints hash: keys sorted, a space after `,` and `:`."""
    # an encoder of objects is made at each call, which takes longer than the few small fields of most questions
    kind = type(value)
    if (text_of := _CANONICAL_LEAF.get(kind)) is not None:
        return text_of(value)
    if kind is list or kind is tuple:
        return str([*value]) if {int}.issuperset(map(type, value)) else f"[{', '.join(map(canonical, value))}]"
    if kind is dict:
        text_of_kind = _CANONICAL_LEAF.get
        parts = []
        for key in sorted(value):
            if type(key) is not str:
                return _CANONICAL.encode(value)
            each = value[key]
            parts.append(f"{encode_basestring_ascii(key)}: {text_of_kind(type(each), canonical)(each)}")
        return f"{{{', '.join(parts)}}}"
    return _CANONICAL.encode(value)


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises `ValueError` if it is not JSON, or has a number that is not finite."""
    return _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8", "surrogatepass"))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


# Made once: `json.loads` with arguments makes a decoder per call, which takes longer than reading a journal's line.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def json_line(value: Any) -> bytes:
    """Return a JSON value as one compact line of UTF-8, without line end.

    Raises `ValueError` for numbers that are not finite.

    `value` consists of dicts with string keys, lists, tuples, strings, numbers, booleans and None; other types are not
    checked for. A run writes some thousand lines per second, and this takes a quarter of the time of `json.dumps`.
    """
    line = to_json(value)
    if b"NaN" in line or b"Infinity" in line:  # in a text, or as a number that JSON lacks
        line = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return line


@lru_cache(maxsize=1024)  # the lines of a wave's prompts are the same for all players
def text_id(text: str) -> str:
    """Return 32 hex digits that identify a text by its content."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def bytes_id(pieces: Iterable[bytes]) -> str:
    """Return the `text_id` of a text whose UTF-8 comes in pieces."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]


_MISSING = "refers to a text that is not there"


@dataclass
class Texts:
    """Texts by index, from 0 on, in the order of their arrival.

    Records that refer to more than `most` texts in all are refused, because a few bytes can name a range of any length.
    """

    in_order: list[str] = field(default_factory=list)
    most: float = math.inf
    named: int = 0

    def add(self, text: Any) -> None:
        """Append a text. Raises `ValueError` if it is not a valid string."""
        if not isinstance(text, str):
            raise ValueError("a text is no text")
        text.encode()  # raises for lone surrogates
        self.in_order.append(text)

    def __getitem__(self, index: Any) -> str:
        """Return the text at an index. Raises `ValueError` if there is none."""
        if index not in self:
            raise ValueError(_MISSING)
        return str(self.in_order[index])

    def __contains__(self, index: Any) -> bool:
        return type(index) is int and 0 <= index < len(self.in_order)

    def several(self, indices: Any) -> list[str]:
        """Return the texts at a list of indexes and ranges, which are lists of the first and the last index.

        Raises `ValueError` for anything else.
        """
        if not isinstance(indices, list):
            raise ValueError("is no list of indices of texts")
        found: list[str] = []
        for index in indices:
            if type(index) is int and 0 <= index < len(self.in_order):
                found.append(self.in_order[index])
                continue
            first, last = index if isinstance(index, list) and len(index) == 2 else (index, index)
            if first not in self or last not in self:
                raise ValueError(_MISSING)
            if self.named + len(found) + last - first > self.most:
                raise ValueError("names the same texts too often")
            found += self.in_order[first : last + 1]
        self.named += len(found)
        return found


class NewTexts:
    """A writer that adds new texts to a collection; write those of `new` before the records that refer to them."""

    def __init__(self, texts: Texts) -> None:
        self.new: list[str] = []
        self._texts = texts
        self._indices = {text: index for index, text in enumerate(texts.in_order)}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """Return the indexes of texts, as `runs`."""
        return runs(map(self._index_of, texts))

    def _index_of(self, text: str) -> int:
        if (index := self._indices.get(text)) is None:
            index = self._indices[text] = len(self._texts.in_order)
            self._texts.in_order.append(text)
            self.new.append(text)
        return index


def runs(indices: Iterable[int]) -> list[Any]:
    """Return indexes with each consecutive run as a list of its first and last."""
    found: list[list[int]] = []
    for index in indices:
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return [first if first == last else [first, last] for first, last in found]


Path: TypeAlias = tuple[str | int, ...]
"""Names of fields, and indexes in lists: `("action", "offer", "properties", 0)`."""


def paths_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every leaf of a JSON value, with its path, in order."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from paths_in(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from paths_in(part, (*path, index))
    else:
        yield path, value


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, or None if there is none."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
    return value


def with_value(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of a JSON value with a new value at an existing path."""
    if not path:
        return new
    key, *rest = path
    copy = dict(value) if isinstance(value, Mapping) else list(value)
    copy[key] = with_value(copy[key], tuple(rest), new)  # type: ignore[index] # the path is one of it
    return copy


def nodes_at(schema: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the subschemas at a path of a schema, one for each kind of record that has it."""
    if "anyOf" in schema:
        for kind in schema["anyOf"]:
            yield from nodes_at(kind, path)
    elif not path:
        yield schema
    elif isinstance(path[0], str) and path[0] in schema.get("properties", {}):
        yield from nodes_at(schema["properties"][path[0]], path[1:])
