"""Site: what every part of the server shares: the folder of runs, its address, and the runs that are followed now."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web
from jinja2 import ChoiceLoader, Environment, PackageLoader

from agentsim.errors import UsageError
from agentsim.history.run_files import MANIFEST, RunFiles, check_name, find_run
from agentsim.report import markup
from agentsim.server.guard import Guard

if TYPE_CHECKING:
    from agentsim.server.followed import Followed
    from agentsim.server.hosting import HostedRun
    from agentsim.server.people import Seat

STYLE = "/static/logs.css"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@dataclass
class Site:
    """One server's state. `base_url` is where it is reached, without a slash at its end."""

    logs_dir: Path
    base_url: str = ""
    guard: Guard = field(default_factory=Guard)
    followers: dict[Path, Followed] = field(default_factory=dict)
    hosted: dict[Path, HostedRun] = field(default_factory=dict)
    """The runs that this process plays, by journal: two batches may have runs of one name."""
    seats: dict[str, Seat] = field(default_factory=dict)
    """The seats of people, by the digest of their link's secret part."""

    def folder(self, batch: str | None) -> Path:
        """The folder itself, or that of one of its batches; 404 where there is none of that name."""
        if batch is None:
            return self.logs_dir
        try:
            check_name(batch)
        except UsageError:
            raise web.HTTPNotFound(text="There is no such batch.") from None
        directory = self.logs_dir / batch
        if directory.is_symlink() or not (directory / MANIFEST).is_file():
            raise web.HTTPNotFound(text="There is no such batch.")
        return directory

    def run(self, request: web.Request) -> RunFiles:
        """The run that a request's path names (`name`, and `batch` where it has one); 404 where there is none."""
        directory = self.folder(request.match_info.get("batch"))
        try:
            return find_run(directory, request.match_info["name"])
        except UsageError:
            raise web.HTTPNotFound(text="There is no such run.") from None


@cache
def environment() -> Environment:
    """The Jinja environment of the served pages: the run pages' own, with the templates of the server beside theirs."""
    loader = ChoiceLoader([PackageLoader("agentsim.server"), PackageLoader("agentsim.report")])
    return markup.environment().overlay(loader=loader)


def page(template: str, values: Mapping[str, Any], *, status: int = 200) -> web.Response:
    """A page of the server's own, from its template."""
    text = environment().get_template(template).render(**values)
    return web.Response(text=text, content_type="text/html", status=status)


def own_file(package: str, *parts: str) -> str:
    """The text of a file of the package."""
    return files(package).joinpath(*parts).read_text("utf-8")


def style(site: Site) -> str:
    """The style sheet of the folder, followed by the server's own rules."""
    return markup.find_css(site.logs_dir) + own_file("agentsim.server", "templates", "serve.css")


def naming(text: str) -> str:
    """What names a text in the address of a style sheet or script: a browser asks once for that, and keeps it.

    A page that has come while the server is killed has its script all the same, and goes on once the server is back.
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def script(package: str, name: str) -> str:
    """The address of a script, which names its text."""
    return f"/static/{name}?{naming(own_file(package, 'templates', name))}"


PAGE_SCRIPT, STREAM_SCRIPT = script("agentsim.report", "page.js"), script("agentsim.server", "serve.js")
