"""Multi-agent games played by language models, from Python: `docs/python.md`.

`run`, `resume`, `fork`, `batch` and `rate` are coroutines; `run_sync` plays without an event loop. Errors are those of
`agentsim.errors`. Each name is imported on first use (PEP 562), since every command imports this package.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # type checkers know the name; importing `typing` would delay the handling of Ctrl-C
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentsim.api import batch, compare, fork, fork_arm, influence, rate, replay, resume, run, run_sync
    from agentsim.models.base import Call, Completion, Sampling, Usage
    from agentsim.results import RecordedRun, RecordedRuns, load
    from agentsim.scenario.toml_tables import ScenarioTable as Scenario

__version__ = "0.2.0.dev0"
__all__ = [
    "Call",
    "Completion",
    "RecordedRun",
    "RecordedRuns",
    "Sampling",
    "Scenario",
    "Usage",
    "__version__",
    "batch",
    "compare",
    "fork",
    "fork_arm",
    "influence",
    "load",
    "rate",
    "replay",
    "resume",
    "run",
    "run_sync",
]


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__` (PEP 562), importing each name on first use from `submodule` or `submodule:name`."""

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = homes[name].partition(":")
        value: object = getattr(import_module(f"{package}.{module}"), attribute or name)
        setattr(sys.modules[package], name, value)  # found there from now on
        return value

    return load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # hidden from type checkers, which would take it for every name
    __getattr__ = lazy_exports(
        __name__,
        {
            **dict.fromkeys(("batch", "compare", "fork", "fork_arm", "influence", "rate"), "api"),
            **dict.fromkeys(("replay", "resume", "run", "run_sync"), "api"),
            **dict.fromkeys(("Call", "Completion", "Sampling", "Usage"), "models.base"),
            **dict.fromkeys(("RecordedRun", "RecordedRuns", "load"), "results"),
            "Scenario": "scenario.toml_tables:ScenarioTable",
        },
    )
