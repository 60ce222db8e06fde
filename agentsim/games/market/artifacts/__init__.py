"""The artifacts: one file each, and a file in this folder needs no other registration.

Other distributions add artifacts through the entry point group `agentsim.artifacts` (name = "package.module:Class"). A
scenario names artifacts and never a module: a TOML file from a stranger must not choose what code is run.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points

from agentsim.engine.plugin import load_plugin, plugin_name
from agentsim.engine.wording import near
from agentsim.errors import ScenarioError
from agentsim.games.market.artifact import Artifact

__all__ = ["all_own", "find", "names"]

_GROUP = "agentsim.artifacts"


def names() -> list[str]:
    """Return the name of every artifact that can be used here, sorted."""
    return sorted(_own() | {entry.name for entry in entry_points(group=_GROUP)})


def all_own() -> list[type[Artifact]]:
    """Return the artifacts that come with agentsim, by name."""
    return [find(name) for name in sorted(_own())]


def find(name: str) -> type[Artifact]:
    """Return the artifact of that name. Raises `ValueError` if there is none, `ScenarioError` if its plugin is bad."""
    if name in _own():
        found = vars(importlib.import_module(f"{__name__}.{name}")).values()
        return next(each for each in found if isinstance(each, type) and getattr(each, "name", "") == name)
    for entry in entry_points(group=_GROUP):
        if entry.name == name:
            found = load_plugin(entry)
            if not (isinstance(found, type) and issubclass(found, Artifact)):
                raise ScenarioError(f"{plugin_name(entry)} is no artifact: it does not inherit Artifact")
            if found.name != name:
                raise ScenarioError(f"{plugin_name(entry)} calls itself {str(found.name)[:40]!r}")
            return found
    known = names()
    raise ValueError(f"there is no artifact {name[:40]!r}{near(name, known)}; there are {', '.join(known)}")


def _own() -> set[str]:
    return {module.name for module in pkgutil.iter_modules(__path__)}
