"""The artifacts: one file each, and the folder is the registration.

Other distributions add artifacts through the entry point group `agentsim.artifacts` (name = "package.module:Class").
A scenario names artifacts and never a module: a TOML file from a stranger must not choose what code is run.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points
from types import ModuleType
from typing import cast

from agentsim.engine.game import plugged
from agentsim.engine.wording import near
from agentsim.games.market.artifact import Artifact

__all__ = ["find", "modules", "names"]

_GROUP = "agentsim.artifacts"


def names() -> list[str]:
    """Every artifact that can be used here, sorted."""
    return sorted(_own() | {entry.name for entry in entry_points(group=_GROUP)})


def modules() -> list[ModuleType]:
    """The modules of the artifacts that come with agentsim, by name."""
    return [importlib.import_module(f"{__name__}.{name}") for name in sorted(_own())]


def find(name: str) -> type[Artifact]:
    """The artifact of that name; `ValueError` where there is none, `ScenarioError` where its plugin cannot be used."""
    if name in _own():
        module = importlib.import_module(f"{__name__}.{name}")
        return cast("type[Artifact]", module.ARTIFACT)
    for entry in entry_points(group=_GROUP):
        if entry.name == name:
            return cast("type[Artifact]", plugged(entry, Artifact))
    known = names()
    raise ValueError(f"there is no artifact {name[:40]!r}{near(name, known)}; there are {', '.join(known)}")


def _own() -> set[str]:
    return {module.name for module in pkgutil.iter_modules(__path__)}
