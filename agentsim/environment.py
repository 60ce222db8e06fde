"""environment: the variables keys are taken from: the process's own, then `--env-file`, then `./.env`."""

from __future__ import annotations

import os
from pathlib import Path

from agentsim.errors import UsageError

__all__ = ["environment"]


def environment(env_file: Path | None) -> dict[str, str]:
    """Variables by name; no parent directory is searched, since a stranger's file could redirect a key."""
    from dotenv import dotenv_values

    if env_file is not None and not env_file.is_file():
        raise UsageError(f"--env-file {env_file}: there is no such file")
    merged: dict[str, str] = {}
    for path in (Path(".env"), env_file):
        if path is not None and path.is_file():
            try:
                values = dotenv_values(path, interpolate=False, encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                raise UsageError(f"{path}: cannot be read as UTF-8 text") from None
            merged |= {name: value for name, value in values.items() if value is not None}
    return {**merged, **os.environ}
