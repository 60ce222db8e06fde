"""Listing: the runs and batches of a folder, with status, game, players and cost.

The summary of a run that is not running is cached until one of its files changes.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from aiohttp import web

from agentsim.errors import AgentsimError, needed_by
from agentsim.records.load import BatchSummary, RunSummary, list_batches, run_names, summarized
from agentsim.records.run_files import RunFiles
from agentsim.report.page import Served, game_title
from agentsim.server.site import STYLE, Site, page

_ANALYSIS = find_spec("scipy") is not None
"""True if the extra `analysis` is installed, which the report of a batch needs."""
_MOST_COUNTED = 200
"""The most games of a batch whose winners the list counts: each history is read for it once."""
_Stamp = tuple[tuple[int, int], ...]


class Listing:
    """The summaries of a folder's runs, each cached until one of its files changes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Stamp, RunSummary]] = {}

    def runs(self, directory: Path) -> list[RunSummary]:
        """Return the summaries of all runs of a folder, newest first."""
        found = [self._run(RunFiles(directory, name)) for name in run_names(directory)]
        return sorted(found, key=lambda run: (run.started_at, run.name), reverse=True)

    def wins(self, directory: Path, batches: Iterable[BatchSummary]) -> dict[str, str]:
        """Return the wins of each model in words, by batch. Large batches and batches without a winner are left out."""
        found = {}
        for batch in batches:
            if batch.done <= _MOST_COUNTED:
                counts = Counter(run.winner_model for run in self.runs(directory / batch.batch) if run.winner_model)
                if counts:
                    found[batch.batch] = ", ".join(f"{model} {wins}" for model, wins in counts.most_common())
        return found

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


def routes(site: Site) -> Iterable[web.RouteDef]:
    """Return the routes of the list of the folder, the list of each batch, and the report of each batch."""
    known = Listing()

    async def listed(request: web.Request) -> web.Response:
        batch = request.match_info.get("batch")
        directory = site.folder(batch)
        runs = await asyncio.to_thread(known.runs, directory)
        inside = [] if batch else await asyncio.to_thread(list_batches, directory)
        wins = await asyncio.to_thread(known.wins, directory, inside)
        base = f"/batches/{batch}" if batch else ""
        report = batch is not None and _ANALYSIS
        served = Served(STYLE, (), home="/" if batch else "")
        return page("listing.html.j2", {
            "served": served, "title": batch or "Runs", "runs": runs, "batches": inside, "base": base, "wins": wins,
            "title_of": game_title,
            "analysis": _ANALYSIS, "experimenter": site.guard.role(request) == "experimenter", "report": report,
            "running": [run for run in runs if run.status == "running"],
        })  # fmt: skip

    async def report(request: web.Request) -> web.Response:
        directory = site.folder(request.match_info["batch"])
        runs = await asyncio.to_thread(known.runs, directory)
        try:
            text = await asyncio.to_thread(_report, directory, runs)
        except AgentsimError as error:
            raise web.HTTPConflict(text=f"{directory.name} has no report: {error}") from None
        return web.Response(text=text, content_type="text/html")

    return [
        web.get("/", listed),
        web.get("/batches/{batch}", listed),
        web.get("/batches/{batch}/report", report),
    ]


def _report(directory: Path, runs: Sequence[RunSummary]) -> str:
    """Return the page that `agentsim report --html` writes, with links to the served pages of the games."""
    with needed_by("the report of a batch"):
        from agentsim.studies.folder_report import compared, folder_page

    found = compared([directory])
    base = f"/batches/{directory.name}"
    pages = {run.name: f"{base}/runs/{run.name}" for run in runs if run.status != "unreadable"}
    return folder_page(directory, found, runs, pages, served=Served(STYLE, (), home=base))
