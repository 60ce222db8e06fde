"""Fields: what an answer is made of, by the question's schema, and what each field may be called and mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from agentsim.engine.reading.folding import folded
from agentsim.engine.reading.values import UNSAID, amount, chosen, yes_or_no
from agentsim.engine.reading.vocabulary import GENERIC, LABELS, REASON_FIELDS, REASONS, SPEECH

__all__ = ["Field", "Kind", "Schema", "Synonyms", "fields_of", "kind_of", "labels_of"]

Schema: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["choice", "number", "yes_no", "words", "record", "variant", "other"]
Synonyms: TypeAlias = Mapping[str, tuple[str, ...]]
"""Other words for choices, by value."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an answer: its path (`action.bid`), its kind, its values if they are few, and what nothing means."""

    path: str
    kind: Kind
    values: tuple[Any, ...] = ()
    nothing: Any = UNSAID
    synonyms: Synonyms | None = None
    known: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What texts of this reply mean: many stand in it more than once."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def decides(self) -> bool:
        """Whether it is a decision of its own, rather than words or a part of something larger."""
        return self.kind in {"choice", "number", "yes_no"}

    def read(self, given: Any) -> Any:
        """The value that is meant, or `UNSAID`."""
        if not isinstance(given, str):
            return self._read(given)
        if given not in self.known:
            self.known[given] = self._read(given)
        return self.known[given]

    def _read(self, given: Any) -> Any:
        if self.kind == "choice":
            return chosen(given, self.values, self.nothing, self.synonyms or {})
        if self.kind == "number":
            return amount(given, self.nothing)
        return yes_or_no(given) if self.kind == "yes_no" else UNSAID


def kind_of(node: Schema) -> Kind:
    """What a part of a schema asks for."""
    if "enum" in node:
        return "choice"
    branches = node.get("anyOf", ())
    if branches and all("properties" in branch for branch in branches):
        return "variant"
    kinds: dict[Any, Kind] = {"integer": "number", "boolean": "yes_no", "string": "words"}
    if node.get("type") == "object":
        return "record" if "properties" in node else "other"
    found = node.get("type")
    names = [each for each in found if each != "null"] if isinstance(found, list) else [found]
    return kinds.get(names[0], "other") if len(names) == 1 else "other"


def fields_of(schema: Schema, nothing: Mapping[str, Any], synonyms: Synonyms, path: str = "") -> Iterator[Field]:
    """Every field, those of records after them; none of a list or of one of several kinds of record."""
    for name, node in schema.get("properties", {}).items():
        place = f"{path}{name}"
        kind = kind_of(node)
        yield Field(place, kind, tuple(node.get("enum", ())), nothing.get(place, UNSAID), synonyms)
        if kind == "record":
            yield from fields_of(node, nothing, synonyms, f"{place}.")


def labels_of(field: Field, fields: Sequence[Field], kind: str) -> tuple[str, ...]:
    """Folded names of a field in this question, its own first."""
    return _labels(field.path, tuple((each.path, each.kind) for each in fields), kind)


@lru_cache(1024)
def _labels(path: str, kinds: tuple[tuple[str, Kind], ...], kind: str) -> tuple[str, ...]:
    fields = [Field(*each) for each in kinds]
    field = next(each for each in fields if each.path == path)
    own = folded(field.name).replace("_", " ")
    names = [own, *LABELS.get(own, ())]
    words = [each for each in fields if each.kind == "words"]
    deciding = [each for each in fields if each.decides]
    if field.decides and deciding == [field]:
        names += [*GENERIC, *(folded(part).replace("_", " ") for part in field.path.split(".")[:-1])]
    if field.kind == "words":
        if own in REASON_FIELDS:
            names += REASONS
        elif words == [field] and not deciding:
            names += [kind.replace("_", " "), *LABELS.get(kind, ()), *SPEECH]
    taken = {folded(each.name).replace("_", " ") for each in fields if each != field and each.kind != "record"}
    return tuple(dict.fromkeys(folded(name) for name in names if name not in taken))
