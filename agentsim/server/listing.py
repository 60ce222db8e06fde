"""Listing: the runs and batches of a folder, with status, game, players and cost.

A finished run is read once; what changes on the disk is read again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from aiohttp import web

from agentsim.history.load import RunSummary, run_names, summarized
from agentsim.history.run_files import MANIFEST, RunFiles
from agentsim.report.page import Served
from agentsim.server.site import STYLE, Site, page

_Stamp = tuple[tuple[int, int], ...]


class Listing:
    """The summaries of a folder's runs, each kept until one of its files is another."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Stamp, RunSummary]] = {}

    def runs(self, directory: Path) -> list[RunSummary]:
        """Every run of the folder, the newest first."""
        found = [self._run(RunFiles(directory, name)) for name in run_names(directory)]
        return sorted(found, key=lambda run: (run.started_at, run.name), reverse=True)

    def _run(self, files: RunFiles) -> RunSummary:
        stamp = tuple((s.st_mtime_ns, s.st_size) for path in (files.journal, files.history) if (s := _stat(path)))
        known = self._known.get(files.journal)
        if known is not None and known[0] == stamp and known[1].status != "running":
            return known[1]
        found = summarized(files)
        self._known[files.journal] = stamp, found
        return found


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def batches(directory: Path) -> list[str]:
    """The names of the folder's batches: folders with a plan in them."""
    if not directory.is_dir():
        return []
    return sorted(path.parent.name for path in directory.glob(f"*/{MANIFEST}") if not path.parent.is_symlink())


def routes(site: Site) -> Iterable[web.RouteDef]:
    """The list of the folder, and that of each batch."""
    known = Listing()

    async def listed(request: web.Request) -> web.Response:
        batch = request.match_info.get("batch")
        directory = site.folder(batch)
        runs = await asyncio.to_thread(known.runs, directory)
        inside = [] if batch else batches(directory)
        base = f"/batches/{batch}" if batch else ""
        report = batch is not None and (directory / "index.html").is_file()
        served = Served(STYLE, (), home="/")
        return page("listing.html.j2", {
            "served": served, "title": batch or "Runs", "runs": runs, "batches": inside, "base": base,
            "report": report, "running": [run for run in runs if run.status == "running"],
        })  # fmt: skip

    return [web.get("/", listed), web.get("/batches/{batch}", listed)]
