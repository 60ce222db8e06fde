"""prepare: a batch's folder, made ready with the manifest of the games that are wanted. Playing is `run_batch`."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentsim.errors import UsageError
from agentsim.history.files import MANIFEST
from agentsim.runner.batch.lock import locked
from agentsim.runner.batch.manifest import Manifest, planned, plays_alone, read_manifest, require_manifest
from agentsim.runner.session import MAX_DRAWN_SEED

__all__ = ["DRAWN", "at_once", "folder_of", "prepared"]

DRAWN = -1
"""In the place of a seed that was not given; no seed is negative."""
_CALLERS = 8
"""Games with models that are played at once, unless another number is given; each waits for its own replies."""


def prepared(wanted: Manifest, out: Path | None, logs_dir: Path) -> tuple[Path, Manifest]:
    """The batch's folder with its manifest in it, the one that was there if it means the same games.

    One that means the first of these games gets the others too. The seed `DRAWN` is drawn, unless the folder knows it.
    `UsageError` where the folder holds another batch, or this one with more games.
    """
    scenario = wanted.casts[0]
    directory = out if out is not None else logs_dir / f"batch_{scenario.name or scenario.game}_{wanted.digest()}"
    there = read_manifest(directory)
    drawn = wanted.design.seed == DRAWN
    if drawn:
        seed = secrets.randbelow(MAX_DRAWN_SEED) if there is None else there.design.seed
        wanted = planned(replace(wanted.design, seed=seed), wanted.casts)
    if there is None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            names = [path.name for path in directory.iterdir()]
            if MANIFEST not in names and any(name.endswith((".json", ".jsonl")) for name in names):
                raise UsageError(f"{directory}: holds other runs; a batch needs a folder of its own")
            wanted.write(directory)
        except FileExistsError:
            if (there := read_manifest(directory)) is None:  # not the manifest's: the folder's name is a file's
                raise UsageError(f"{directory}: is not a directory") from None
            if drawn:
                wanted = planned(replace(wanted.design, seed=there.design.seed), wanted.casts)
        except OSError as error:
            raise UsageError(f"{directory}: cannot write there: {error.strerror or error}") from None
    if there is not None:
        wanted = _joined(there, wanted, directory)
        if len(wanted.games) > len(there.games):
            with locked(directory):
                wanted = _joined(require_manifest(directory), wanted, directory)  # it may have grown since
                wanted.write(directory, instead=True)
    return directory, wanted


def _joined(there: Manifest, wanted: Manifest, directory: Path) -> Manifest:
    """What is wanted, under the names that its games have in the folder; `UsageError` where that is something else."""
    if not there.same_batch(wanted):
        raise UsageError(f"{directory}: holds another batch ({_difference(there, wanted)}); give it another --out")
    if len(there.games) > len(wanted.games):
        more = f"{len(there.games)} games of this batch, and not {len(wanted.games)}"
        raise UsageError(f"{directory}: holds {more}; ask for as many or more, or give it another --out")
    return wanted.following(there)


def folder_of(name: str, logs_dir: Path) -> Path | None:
    """The folder of the batch of that name or path; None where there is none."""
    return next((path for path in (Path(name), logs_dir / name) if (path / MANIFEST).is_file()), None)


def at_once(manifest: Manifest) -> int:
    """How many games are played at once on this machine, unless another number is given.

    Of games with an embedded model one, since each would start a server of its own.
    """
    if plays_alone(manifest):
        return os.cpu_count() or 1
    seats = (plan for cast in manifest.casts for plan in cast.seats)
    return 1 if any(each.name.kind == "local" for plan in seats for each in plan.models) else _CALLERS


def _difference(there: Manifest, wanted: Manifest) -> str:
    for name in ("seed", "models", "rotate", "paired"):
        one, other = getattr(there.design, name), getattr(wanted.design, name)
        if one != other:
            return f"{name}: {_said(one)} there, {_said(other)} here"[:300]
    return "its scenario is not this one"


def _said(value: Any) -> str:
    return ",".join(value) or "none" if isinstance(value, tuple) else str(value).lower()
