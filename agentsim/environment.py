"""The environment variables that keys come from: the process's own, then `--env-file`, then `./.env`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.models.keys import Variables


def environment(env_file: Path | None, allow_key: Collection[str] | None = None) -> Variables:
    """The variables; those of `allow_key` may be sent to any address.

    Parent directories are not searched, since a file that another user put there could redirect a key.
    """
    from dotenv import dotenv_values

    from agentsim.models.keys import Variables

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
    return Variables({**merged, **os.environ}, allow_key or ())
