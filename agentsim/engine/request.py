"""Request: one question to one player, with everything needed to answer, judge and re-ask it.

A request is plain frozen data built from what its player may know. Who answers it (a model, a bot, a
person, a journal) is none of its business, nor is anything that happens after the decision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from agentsim.engine.answering import unanswerable
from agentsim.engine.codec import adapter, canonical, values
from agentsim.engine.event import PlayerId
from agentsim.engine.keeping import kept
from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Decision, Pick, Reading, read
from agentsim.errors import IllegalDecision

__all__ = ["ABSENT", "Choice", "Options", "Range", "Request", "Text", "closed_object", "schema_of", "value_at"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of these values."""

    values: tuple[str | int | None, ...]

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from other options, as JSON values."""
        return ("Choice", self.values)


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number in low..high, both included; no upper end where `high` is None."""

    low: int
    high: int | None

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from other options, as JSON values."""
        return ("Range", self.low, self.high)

    def holds(self, value: Any) -> bool:
        """Whether `value` is a whole number in the range; True and False are none."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.low <= value and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Text:
    """Free words; more than `limit` characters are cut by the rules, visibly."""

    limit: int

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from other options, as JSON values."""
        return ("Text", self.limit)


Options: TypeAlias = Mapping[str, Choice | Range | Text]
"""The legal values of a decision, by field (`action.bid` is a field of a field); others are as free as their type.

Where a field may be one of several kinds of record, those without a field of a field are not concerned by its options.
"""

D = TypeVar("D", bound=Decision)
ABSENT = object()
"""What `value_at` gives where a decision has no such field."""


@dataclass(frozen=True, kw_only=True)
class Request(Generic[D]):
    """Base of a game's requests: frozen dataclasses named by their question.

    A subclass sets `kind` and `answer`, adds the fields of its view, and implements `options`, `prompt`,
    `facts` and `fallback`; `check` where legality is more than the options say; `parse` where its field has
    more ways of saying the same decision than JSON.
    """

    kind: ClassVar[str]
    answer: ClassVar[type[Decision]]
    pick: ClassVar[Pick] = "last"
    function: ClassVar[str | None] = None
    """What a provider is told that the decision is called, as a schema or a function; the kind where it is None."""
    on_call: ClassVar[bool] = False
    """Whether a person is asked only after having rung for it (Ctrl-C), and is taken to answer the fallback else."""

    player: PlayerId

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if (record := cls.__dict__.get("answer")) is not None and (problem := unanswerable(record)):
            raise TypeError(f"{cls.__name__}: {problem}")

    def options(self) -> Options:
        """The legal values, by field."""
        raise NotImplementedError

    @kept
    def legal(self) -> Options:
        """The `options` of this request, made once."""
        return self.options()

    def prompt(self) -> Prompt:
        """The question in words, without the player's persona."""
        raise NotImplementedError

    def facts(self) -> tuple[str, ...]:
        """Every value that decides a legal action's outcome, as it must stand in the prompt."""
        raise NotImplementedError

    def fallback(self) -> D:
        """What happens when no usable reply comes: always legal, a pure function of the request."""
        raise NotImplementedError

    def check(self, decision: D) -> None:
        """Raise `IllegalDecision` with a reason fit for the model, where the decision is not allowed here."""
        for name, legal in self.legal.items():
            if isinstance(legal, Text):
                continue
            value = value_at(decision, name)
            if value is ABSENT:
                continue
            if isinstance(legal, Choice) and value not in legal.values:
                allowed = ", ".join(str(option) for option in legal.values)
                raise IllegalDecision(f"{name} must be one of: {allowed}.")
            if isinstance(legal, Range) and not legal.holds(value):
                raise IllegalDecision(f"{name} must be {legal}.")

    def objection(self, decision: D) -> str:
        """Why an allowed decision will come to nothing: for a person, who may think again; nobody else can."""
        return ""

    def parse(self, text: str) -> Reading[D]:
        """The decision in a reply's text; `UnreadableReply`, `AmbiguousReply` or `IllegalDecision` else."""
        reading: Reading[Any] = read(text, self.answer, self.pick)
        return reading

    def named_numbers(self) -> Mapping[str, int]:
        """Names by which a person may give the numbers in this question's lists, such as deeds for positions."""
        return {}

    def narrowed(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of a field for a person who has answered those before it: what matters no more can be left out.

        Of a field of a field (`action.bid`), `answered` are those beside it.

        Only here a field may have a `description`, which takes the place of its range on the screen, and a `default`,
        which an empty line stands for (`answering.said`); with a `const` it is not asked for at all.
        """
        return legal

    def particulars(self) -> Mapping[str, Any]:
        """What tells this question from others of its kind where the options do not: JSON values, no wording."""
        return {}

    def schema(self) -> dict[str, Any]:
        """A JSON Schema of the decision: one object, every field required, closed choices as `enum`."""
        return schema_of(self.answer, self.legal)

    def fingerprint(self) -> str:
        """16 hex digits that name kind, player, legal options and particulars, and no wording; made once."""
        known: str | None = self.__dict__.get("_fingerprint")
        if known is None:
            known = self.__dict__["_fingerprint"] = self._named()
        return known

    def _named(self) -> str:
        legal = {name: option.identity for name, option in self.legal.items()}
        # a question without particulars keeps the fingerprint that older journals hold
        particulars = self.particulars()
        parts = [self.kind, self.player, legal, *([dict(particulars)] if particulars else [])]
        return hashlib.sha256(canonical(parts).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The request as JSON values; `restore` gives an equal request back."""
        return values(self)

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> Request[D]:
        """The request that `to_json` came from."""
        request: Request[D] = adapter(cls).validate_python(dict(data))
        return request


@cache
def _properties(answer: type[Decision]) -> Mapping[str, Any]:
    """The schema of each field, shared by all requests."""
    base = answer.model_json_schema()
    return {name: _portable(part, base.get("$defs", {})) for name, part in base["properties"].items()}


def value_at(decision: Decision, path: str) -> Any:
    """The value of a field (`bid`), or of a field of a field (`action.bid`); `ABSENT` where there is no such field."""
    value: Any = decision
    for name in path.split("."):
        # not `getattr` with a default: pydantic makes an error, with its words, for every field that is not there
        value = value.__dict__.get(name, ABSENT) if isinstance(value, BaseModel) else ABSENT
    return value


def schema_of(answer: type[Decision], options: Options) -> dict[str, Any]:
    """The JSON Schema of `answer` within these options, as `Request.schema` promises it."""
    schema = closed_object(dict(_properties(answer)))
    for path, legal in options.items():
        schema = _narrowed(schema, path.split("."), legal)
    return schema


def _narrowed(node: Any, path: list[str], legal: Choice | Range | Text) -> Any:
    """A copy of the schema in which the field at the end of the path has its legal values."""
    if not path:
        match legal:
            case Choice(values):
                # what stands for a kind of record is one of these values already
                return node if _is_tag(node) else {"type": _type_of(values), "enum": list(values)}
            case Range():
                upto = {} if legal.high is None else {"maximum": legal.high}
                return {"type": "integer", "minimum": max(legal.low, node.get("minimum", legal.low)), **upto}
            case Text(limit):
                return {"type": "string", "maxLength": limit}
    if "anyOf" in node:
        return {**node, "anyOf": [_narrowed(branch, path, legal) for branch in node["anyOf"]]}
    name, *rest = path
    parts = node.get("properties", {})
    if name not in parts:
        return node
    return {**node, "properties": {**parts, name: _narrowed(parts[name], rest, legal)}}


def _is_tag(node: Any) -> bool:
    return isinstance(node, dict) and len(node.get("enum", ())) == 1


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys, every one, and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _type_of(values: tuple[str | int | None, ...]) -> str | list[str]:
    """The JSON type of a choice; a list where its values have several, such as a name or null."""
    names = {str: "string", int: "integer", type(None): "null"}
    kinds = set(map(type, values))
    found = [name for kind, name in names.items() if kind in kinds]
    return found[0] if len(found) == 1 else found


def _portable(part: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema without `$ref`, `oneOf`, `const`, titles and defaults, which some providers refuse."""
    if isinstance(part, list):
        return [_portable(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _portable(definitions[part["$ref"].rsplit("/", 1)[1]], definitions)
    if part.get("type") == "object" and "properties" in part:  # a part of a decision: as whole and as closed as it
        return closed_object({name: _portable(inner, definitions) for name, inner in part["properties"].items()})
    if "oneOf" in part:  # of several kinds of record, told apart by a field with one value
        return {"anyOf": [_portable(branch, definitions) for branch in part["oneOf"]]}
    if "const" in part:
        return {"type": part["type"], "enum": [part["const"]]}
    return {
        key: _portable(value, definitions)
        for key, value in part.items()
        if key not in {"title", "default", "description"}
    }
