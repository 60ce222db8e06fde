"""Versions: the formats that this version writes, and the refusal of files that another version wrote.

A journal, a history, a bundle, a pool or a batch's manifest is asked about here, before anything else of it is used.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from agentsim import __version__, games
from agentsim.engine.prompt import cleaned
from agentsim.engine.reading import READER_VERSION
from agentsim.errors import OtherVersion, ScenarioError

JOURNAL_FORMAT = "agentsim-journal/2"
HISTORY_FORMAT = "agentsim-history/3"


@cache  # looking one up reads a file
def package_versions() -> dict[str, str]:
    """Return the versions of agentsim, Python and the packages that a game depends on, for the head of a file."""
    names = ("openai", "pydantic", "tenacity")
    return {"agentsim": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}


def require_version(file: str, head: Any, *, written_as: str, versions: Any = None) -> None:
    """Raise `OtherVersion` if the file with this head was written in another format, or for other rules or reader.

    `head` is any JSON value. Where it is no head of this kind of file, nothing is raised: its reader says what is
    wrong. `versions` are the `package_versions` that wrote the file, if the head does not hold them as `versions`.
    """
    if isinstance(head, Mapping) and (differences := ", ".join(_differences(head, written_as))):
        found = versions or head.get("versions")
        number = found.get("agentsim") if isinstance(found, Mapping) else None
        writer = f"agentsim {cleaned(str(number))[:40]}" if number else "another version of agentsim"
        here = f"this is agentsim {__version__}"
        raise OtherVersion(f"{file}: was written by {writer}, and that version plays it; {here} ({differences})")


def _differences(head: Mapping[str, Any], written_as: str) -> Iterator[str]:
    kind = written_as.partition("/")[0]
    found = head.get("format")
    if isinstance(found, str) and found != written_as and found.partition("/")[0] == kind:
        yield f"{cleaned(found)[:40]} there, {written_as} here"
        return
    game, rules, reader = head.get("game"), head.get("rules_version"), head.get("reader")
    if isinstance(game, str) and isinstance(rules, int) and rules != (ours := _rules_version(game, rules)):
        yield f"rules version {rules} of {game} there, {ours} here"
    if isinstance(reader, int) and reader != READER_VERSION:
        yield f"reader version {reader} there, {READER_VERSION} here"


def _rules_version(game: str, unknown: int) -> int:
    """Return the rules version of a game, or `unknown` if the game is not installed."""
    try:
        return games.find(game).rules_version
    except ScenarioError:
        return unknown
