"""The corpus: replies of the kinds that models give, each with its author's meaning, as TOML beside this module.

The module loads and checks the files, and compares outcomes with meanings. `asked` has the questions; README.md says
how to add a reply.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.replies.asked import ASKED

__all__ = [
    "DOUBT",
    "FOLDER",
    "CorpusError",
    "Meaning",
    "Outcome",
    "Reply",
    "Verdict",
    "judged",
    "replies",
    "shown",
    "value_at",
]

FOLDER = Path(__file__).parent

DOUBT: Mapping[str, frozenset[str]] = {
    "ambiguous": frozenset({"ambiguous"}),
    "unreadable": frozenset({"unreadable"}),
    "unclear": frozenset({"ambiguous", "unreadable"}),
    "illegal": frozenset({"ambiguous", "unreadable", "illegal"}),
    "rejected": frozenset({"ambiguous", "unreadable", "illegal"}),
}
"""The words for a reply without a decision, and the codes of their errors.

`illegal` is any reply without a legal decision; `rejected` is for Society, where an action may also say so.
"""

Meaning: TypeAlias = str | Mapping[str, Any]
Outcome: TypeAlias = Mapping[str, Any] | str
"""The outcome of a reply: the values of its decision, or the code of its error."""
Verdict: TypeAlias = Literal["right", "lost", "misread", "misnamed", "words lost"]

_KEYS = {"id", "asked", "prose", "text", "means", "finish", "thought", "unheard"}
_FINISHES = ("stop", "length")


class CorpusError(ValueError):
    """An entry of the corpus does not follow the README."""


@dataclass(frozen=True)
class Reply:
    """A reply and its possible meanings: fields with values, or a word of `DOUBT`.

    `prose` says that the decision is in a sentence or among words, so it is asked again. `thought` are texts that must
    be kept as reasoning and heard by no other player, `unheard` texts that must not be heard.
    """

    id: str
    asked: tuple[str, ...]
    text: str
    means: tuple[Meaning, ...]
    finish: str = "stop"
    thought: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    prose: bool = False

    @property
    def meant(self) -> bool:
        """Whether every meaning is a decision."""
        return all(isinstance(meaning, Mapping) for meaning in self.means)

    @property
    def formal(self) -> bool:
        """Whether the reply has one decision as JSON, a tag, a label or a value, or is the text asked for."""
        return self.meant and not self.prose

    @property
    def doubtful(self) -> bool:
        """Whether no meaning is a decision."""
        return all(isinstance(meaning, str) for meaning in self.means)


@cache
def replies(folder: Path = FOLDER) -> tuple[Reply, ...]:
    """Load all replies of a folder once. Raises `CorpusError` that names the file and the entry if one is wrong."""
    found: dict[str, Reply] = {}
    for path in sorted(folder.glob("*.toml")):
        for index, entry in enumerate(_entries(path), start=1):
            where = f"{path.name}: reply {index} ({entry.get('id', 'without an id')})"
            reply = _reply(entry, where)
            if reply.id in found:
                raise CorpusError(f"{where}: that id is taken")
            found[reply.id] = reply
    return tuple(found.values())


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CorpusError(f"{path.name}: {error}") from None
    if set(document) != {"reply"} or not isinstance(document["reply"], list):
        raise CorpusError(f"{path.name}: must hold [[reply]] tables and nothing else")
    return document["reply"]


def _reply(entry: Mapping[str, Any], where: str) -> Reply:
    if unknown := set(entry) - _KEYS:
        raise CorpusError(f"{where}: unknown key {min(unknown)!r} (valid: {', '.join(sorted(_KEYS))})")
    for key in ("id", "asked", "text", "means"):
        if key not in entry:
            raise CorpusError(f"{where}: {key!r} is missing")
    for key in ("id", "text", "finish"):
        if not isinstance(entry.get(key, ""), str):
            raise CorpusError(f"{where}: {key!r} must be a text")
    for key in ("asked", "thought", "unheard"):
        if not _is_texts(entry.get(key, [])):
            raise CorpusError(f"{where}: {key!r} must be a list of texts")
    if not isinstance(entry.get("prose", False), bool):
        raise CorpusError(f"{where}: 'prose' must be true or false")
    if not entry["asked"]:
        raise CorpusError(f"{where}: 'asked' must name a question")
    for name in entry["asked"]:
        if name not in ASKED:
            raise CorpusError(f"{where}: there is no question {name!r} (valid: {', '.join(ASKED)})")
    if (finish := entry.get("finish", "stop")) not in _FINISHES:
        raise CorpusError(f"{where}: there is no finish {finish!r} (valid: {', '.join(_FINISHES)})")
    for part in (*entry.get("thought", ()), *entry.get("unheard", ())):
        if part not in entry["text"]:
            raise CorpusError(f"{where}: {part!r} does not stand in the text")
    means = entry["means"] if isinstance(entry["means"], list) else [entry["means"]]
    if not means:
        raise CorpusError(f"{where}: 'means' must say something")
    for meaning in means:
        if not (isinstance(meaning, dict) and meaning) and not (isinstance(meaning, str) and meaning in DOUBT):
            raise CorpusError(f"{where}: 'means' must be fields with their values, or one of {', '.join(DOUBT)}")
    lists = {key: tuple(entry.get(key, ())) for key in ("asked", "thought", "unheard")}
    return Reply(
        id=entry["id"], text=entry["text"], means=tuple(means), finish=finish, prose=entry.get("prose", False), **lists
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) and part for part in value)


# -- judging


def judged(reply: Reply, name: str, outcome: Outcome) -> Verdict:
    """Compare an outcome with the meanings of a reply to the question `name`, and return the best verdict.

    `misread` is a decision that was not meant, `lost` a meant decision that is missing, `words lost` the meant decision
    without its secret texts, `misnamed` the wrong kind of doubt.
    """
    order: Sequence[Verdict] = ("right", "words lost", "misnamed", "lost", "misread")
    return min((_of_one(meaning, name, outcome) for meaning in reply.means), key=order.index)


def _of_one(meaning: Meaning, name: str, outcome: Outcome) -> Verdict:
    if isinstance(meaning, str):
        if isinstance(outcome, str):
            return "right" if outcome in DOUBT[meaning] else "misnamed"
        return "right" if _is_nothing(meaning, name, outcome) else "misread"
    if isinstance(outcome, str) or _is_nothing("rejected", name, outcome):
        return "lost"
    wrong = [field for field, value in meaning.items() if not _same(value, value_at(outcome, _field(field, name)))]
    if not wrong:
        return "right"
    secret = set(ASKED[name].secret) - {ASKED[name].decides}
    return "words lost" if set(wrong) <= secret else "misread"


def _is_nothing(meaning: str, name: str, outcome: Mapping[str, Any]) -> bool:
    """Return whether a decision stands for no decision, as some games have it."""
    if meaning not in {"illegal", "rejected"}:
        return False
    decided = value_at(outcome, ASKED[name].decides)
    return decided is None or (name == "society/act" and decided == "rejected")


def _field(field: str, name: str) -> str:
    return ASKED[name].decides if field == "decides" else field


def _same(meant: Any, found: Any) -> bool:
    if isinstance(meant, str) and isinstance(found, str):
        return meant.strip() == found.strip()
    return type(meant) is type(found) and bool(meant == found)


def value_at(decision: Mapping[str, Any], field: str) -> Any:
    """Return the field whose path ends so (`bid`, `offer.cash`). Raises `CorpusError` if there is not exactly one."""
    found = [(path, value) for path, value in _paths(decision, "") if path == field or path.endswith(f".{field}")]
    leaves = [value for _, value in found if not isinstance(value, Mapping)]
    if len(leaves) == 1:
        return leaves[0]
    if len(found) != 1:
        known = ", ".join(path for path, value in _paths(decision, "") if not isinstance(value, Mapping))
        raise CorpusError(f"a decision has no one field {field!r} (it has: {known})")
    return found[0][1]


def _paths(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        inner = f"{path}.{name}" if path else str(name)
        yield inner, part
        if isinstance(part, Mapping):
            yield from _paths(part, inner)


def shown(reply: Reply, name: str, outcome: Outcome) -> str:
    """Return a description of a failure: the reply, the question, its meanings and the outcome."""
    text, found = (json.dumps(each, ensure_ascii=False) for each in (reply.text, outcome))
    means = " or ".join(json.dumps(meaning, ensure_ascii=False) for meaning in reply.means)
    return f"{reply.id} @ {name}: {text[:160]}\n    means {means[:200]}\n    found {found[:240]}"
