"""Leaves: a request holds no value that its player cannot read, since bots would know it and models would not."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

from agentsim.engine.request import Request
from agentsim.engine.wording import counted
from agentsim.testing.case import Case, excused, named
from agentsim.testing.check import Check, Findings

_MOST = 8
"""The most questions of a kind that are examined, and the most values from other requests that are tried at a path."""
_DECIDES = "Show it in the prompt: what is legal, or the fallback, depends on it."
_IDLE = "Leave it out of the request."
Path: TypeAlias = tuple[str | int, ...]


@Check
def leaves_shown(case: Case) -> Findings:
    """Every value of a request changes what its player reads, or the schema of its answer."""
    if case.partial:
        return "nothing: what is shown in one of a game's scenarios is shown"
    looked = [leaf for each in (case, *case.others) for leaf in _looked_at(each)]
    values: defaultdict[str, list[Any]] = defaultdict(list)
    for name, _, _, _, value in looked:
        if value not in values[name][:_MOST]:
            values[name].append(value)
    read: dict[str, bool] = {}
    decides: set[str] = set()
    for name, request, data, path, value in looked:
        for other in (*_changes(value), *values[name][:_MOST]):
            if not read.get(name) and (now := _reads(request, data, path, other)) is not None:
                read[name] = now
                if not now and _decides(request, data, path, other):
                    decides.add(name)
    for name in sorted(name for name, shown in read.items() if not shown):
        yield name, "no prompt and no schema changes with it", _DECIDES if name in decides else _IDLE
    return counted(len(read), "value of requests", "values of requests")


def _looked_at(case: Case) -> Iterator[tuple[str, Request[Any], str, Path, Any]]:
    """Yield every leaf of some requests: its name, the request and its data, and the leaf's path and value."""
    taken: Counter[str] = Counter()
    for played in case.games:
        for asked in reversed(played.asked):  # the last question of a kind shows the most
            request = asked.ask.request
            taken[request.kind] += 1
            for path, value in _leaves(json.loads(asked.data)) if taken[request.kind] <= _MOST else ():
                name = named(path, case.players)
                if name != "player" and not excused(name, request.unshown):
                    yield f"{request.kind}.{name}", request, asked.data, path, value


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if parts is None:
        yield path, value
    for key, part in parts or ():
        yield from _leaves(part, (*path, key))


def _changes(value: Any) -> tuple[Any, ...]:
    match value:
        case bool():
            return (not value,)
        case int() | float():
            return (value + 1, value - 1, value + 1000)
        case str():
            return (f"{value}Zq",)
    return ()


def _reads(request: Request[Any], data: str, path: Path, value: Any) -> bool | None:
    """Return whether this value at the path changes what the player reads, or None if no valid prompt results."""
    try:
        other = _with(request, data, path, value)
        return None if other is None else _read(other) != _read(request)
    except Exception:  # noqa: BLE001 - the game may refuse in any way to make a prompt of what cannot be
        return None


def _decides(request: Request[Any], data: str, path: Path, value: Any) -> bool:
    """Return whether this value at the path changes the fallback, or whether the present one is legal."""
    other, decision = _with(request, data, path, value), request.fallback()
    assert other is not None, "`_reads` found it different"
    try:
        other.check(decision)
        return bool(other.fallback() != decision)
    except Exception:  # noqa: BLE001 - as above, and a decision that is not legal
        return True


def _with(request: Request[Any], data: str, path: Path, value: Any) -> Request[Any] | None:
    """Return the request with this value at the path, or None if it has it already."""
    inside = changed = json.loads(data)
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    return None if changed == json.loads(data) else type(request).restore(changed)


def _read(request: Request[Any]) -> tuple[str, str]:
    return request.prompt().text(), json.dumps(request.schema())
