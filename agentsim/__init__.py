"""Multi-agent games played by language models. Nothing may be imported here but on use: every command passes by."""

from __future__ import annotations

TYPE_CHECKING = False  # checkers know it by its name; `typing` is a tenth of the time in which Ctrl-C is Python's own
if TYPE_CHECKING:
    import os

    from agentsim.history.frames import Run, Runs

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(source: str | os.PathLike[str], *, logs_dir: str | os.PathLike[str] | None = None) -> Run | Runs:
    """A run, or all runs of a folder, with `.tables` of pandas DataFrames (extra `data`).

    `source` is the name of a run in `logs_dir` (`AGENTSIM_LOGS_DIR`, or `logs`), the path of a history, or a
    folder of runs. Raises `agentsim.errors.UsageError` in one line where there is no such thing.
    """
    from agentsim.history.frames import load as load_frames

    return load_frames(source, logs_dir=logs_dir)
