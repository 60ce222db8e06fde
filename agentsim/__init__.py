"""Multi-agent games played by language models, from Python: `docs/python.md`.

`run`, `resume`, `fork`, `fork_arm`, `batch`, `influence`, `code` and `rate` are coroutines; `run_sync` plays without an
event loop. Errors are in `agentsim.errors`. Each name is imported on first use (PEP 562), since every command imports
this package.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers know this name; importing `typing` would delay the handling of Ctrl-C
if TYPE_CHECKING:
    from agentsim.api import (
        batch,
        code,
        compare,
        fork,
        fork_arm,
        influence,
        plan,
        rate,
        replay,
        report,
        resume,
        run,
        run_sync,
    )
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
    "code",
    "compare",
    "fork",
    "fork_arm",
    "influence",
    "load",
    "plan",
    "rate",
    "replay",
    "report",
    "resume",
    "run",
    "run_sync",
]


_HOMES = {
    **dict.fromkeys(("batch", "code", "compare", "fork", "fork_arm"), "agentsim.api"),
    **dict.fromkeys(("influence", "plan", "rate"), "agentsim.api"),
    **dict.fromkeys(("replay", "resume", "run", "run_sync"), "agentsim.api"),
    **dict.fromkeys(("Call", "Completion", "Sampling", "Usage"), "agentsim.models.base"),
    **dict.fromkeys(("RecordedRun", "RecordedRuns", "load"), "agentsim.results"),
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # hidden from type checkers, which would accept any attribute

    def __getattr__(name: str) -> object:
        if name == "Scenario":
            from agentsim.scenario.toml_tables import ScenarioTable

            return ScenarioTable
        if name == "report":  # the package of that name, which can be called
            return import_module("agentsim.report")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)
