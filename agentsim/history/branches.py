"""Branches of a folder, told by the first lines of their journals; what a history says of a branch is `record`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from agentsim.history.run_files import RunFiles
from agentsim.scenario.scenario import Branch


def branches_in(directory: Path) -> Iterator[tuple[RunFiles, Branch]]:
    """Every branch with a journal in the folder, finished or not, by name; what cannot be read is passed over."""
    for path in sorted(directory.glob("*.jsonl")):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            first = file.readline()
        if b'"fork"' not in first:
            continue  # most runs of a large folder are no branches
        try:
            branch = Branch.restore(json.loads(first)["fork"])
        except (KeyError, TypeError, ValueError, RecursionError):
            continue  # a table, or not readable
        yield RunFiles(directory, path.stem), branch
