"""Plugin: a game or an artifact of another distribution, which an entry point names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agentsim.errors import ScenarioError


def plugged(entry: Any, kind: type, unsaid: Collection[str] = ()) -> Any:
    """What an entry point (`importlib.metadata`) of another distribution leads to, found by the caller.

    Raises `ScenarioError`, which names the distribution, where that fails or is no such `kind` of thing of that name.
    What is `unsaid`, it need not have: the defaults of `kind` are read in its place.
    """
    of = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    where = f"{entry.name}{of} ({entry.value})"
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # its author's code may raise anything, and must not end the program
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ScenarioError(f"{where} cannot be loaded: {problem}") from error
    parts = dict.fromkeys(part for part in (*kind.__annotations__, *vars(kind)) if not part.startswith("_"))
    lacking = [part for part in parts if not hasattr(found, part)]
    if missing := [part for part in lacking if part not in unsaid]:
        raise ScenarioError(f"{where} is no {kind.__name__.lower()}: it has no {', '.join(missing)}")
    if found.name != entry.name:
        raise ScenarioError(f"{where} calls itself {str(found.name)[:40]!r}")
    return _Completed(found, {part: getattr(kind, part) for part in lacking}) if lacking else found


class _Completed:
    """A thing with the defaults of what it does not say."""

    def __init__(self, own: Any, defaults: Mapping[str, Any]) -> None:
        self._own, self._defaults = own, defaults

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of this object itself, which is copied before it has any
            raise AttributeError(name)
        return self._defaults[name] if name in self._defaults else getattr(self._own, name)
