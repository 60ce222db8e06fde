"""Plugin: a game or an artifact of another distribution, named by an entry point."""

from __future__ import annotations

from typing import Any

from agentsim.errors import ScenarioError


def load_plugin(entry: Any) -> Any:
    """Load the object of an entry point (`importlib.metadata.EntryPoint`, found by the caller).

    Raises `ScenarioError`, which names the distribution, if that fails.
    """
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # a plugin's code may raise anything, and must not end the program
        said = str(error)
        if isinstance(error, SyntaxError):  # whose text has the file's name without its folder
            said = f"{error.msg} ({error.filename}, line {error.lineno})"
        problem = " ".join(f"{type(error).__name__}: {said}".split())
        raise ScenarioError(f"{plugin_name(entry)} cannot be loaded: {problem}") from error


def plugin_name(entry: Any) -> str:
    """Return an entry point's name with its distribution and module, for an error."""
    of = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    return f"{entry.name}{of} ({entry.value})"
