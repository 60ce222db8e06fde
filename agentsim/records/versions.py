"""Versions: the formats that this version writes, and the refusal of files that another version wrote.

Journals, histories, bundles, pools and manifests are checked here before anything else in them is used.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from pydantic_core import from_json

from agentsim import __version__, games
from agentsim.engine.codec import value_at
from agentsim.engine.reading import READER_VERSION
from agentsim.engine.wording import cleaned
from agentsim.errors import OtherVersion, ScenarioError

JOURNAL_FORMAT = "agentsim-journal/2"
HISTORY_FORMAT = "agentsim-history/3"


@cache  # a lookup reads a file
def package_versions() -> dict[str, str]:
    """Return the versions of agentsim, Python and the packages that a game depends on, for the head of a file."""
    names = ("openai", "pydantic", "tenacity")
    return {"agentsim": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}


def require_version(file: str, head: Any, *, written_as: str) -> None:
    """Raise `OtherVersion` if a file has another format, or other versions of the rules or the reader.

    `head` is a JSON value, or the bytes of the whole file. If it is not the head of such a file, nothing is raised: the
    file's reader reports the error.
    """
    if isinstance(head, bytes):
        try:
            head = from_json(head)
        except ValueError:
            return
    if isinstance(head, Mapping) and (differences := ", ".join(_differences(head, written_as))):
        number = value_at(head, ("versions", "agentsim")) or value_at(head, ("volatile", "versions", "agentsim"))
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
