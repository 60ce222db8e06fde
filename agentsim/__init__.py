"""Multi-agent games played by language models, from Python: `docs/python.md`.

`run`, `resume`, `fork` and `batch` are coroutines; `run_sync` plays without an event loop. Errors are those of
`agentsim.errors`. Names are imported on first use, since every command passes by here.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # checkers know it by its name; `typing` is a tenth of the time in which Ctrl-C is Python's own
if TYPE_CHECKING:
    from agentsim.api import batch, fork, replay, resume, run, run_sync
    from agentsim.models.base import Call, Completion, Sampling, Usage
    from agentsim.results import Run, Runs, load
    from agentsim.scenario.schema import ScenarioTable as Scenario

__version__ = "0.1.0"
__all__ = [
    "Call",
    "Completion",
    "Run",
    "Runs",
    "Sampling",
    "Scenario",
    "Usage",
    "__version__",
    "batch",
    "fork",
    "load",
    "replay",
    "resume",
    "run",
    "run_sync",
]

_HOMES = {
    **dict.fromkeys(("batch", "fork", "replay", "resume", "run", "run_sync"), "api"),
    **dict.fromkeys(("Call", "Completion", "Sampling", "Usage"), "models.base"),
    **dict.fromkeys(("Run", "Runs", "load"), "results"),
}


def __getattr__(name: str) -> object:
    if name == "Scenario":
        scenario: object = import_module("agentsim.scenario.schema").ScenarioTable
        return scenario
    if name not in _HOMES:
        raise AttributeError(f"module 'agentsim' has no attribute {name!r}")
    value: object = getattr(import_module(f"agentsim.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
