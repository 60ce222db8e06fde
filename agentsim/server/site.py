"""Site: the state that all parts of the server share: the folder, its address, and the runs followed or played now."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web
from jinja2 import ChoiceLoader, Environment, PackageLoader

from agentsim.errors import UsageError
from agentsim.lazy import dataclass
from agentsim.records.run_files import MANIFEST, RunFiles, check_name, find_run
from agentsim.report import markup
from agentsim.server.guard import Guard

if TYPE_CHECKING:
    from agentsim.server.followed import Followed
    from agentsim.server.hosting import HostedRun
    from agentsim.server.people import PersonSeat

STYLE = "/static/logs.css"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@dataclass
class Site:
    """The state of one server. `base_url` is its address without a trailing slash."""

    logs_dir: Path
    base_url: str = ""
    guard: Guard = field(default_factory=Guard)
    followers: dict[Path, Followed] = field(default_factory=dict)
    hosted: dict[Path, HostedRun] = field(default_factory=dict)
    """The runs that this process plays, by the path of their journal, since two batches may have runs of one name."""
    seats: dict[str, PersonSeat] = field(default_factory=dict)
    """The seats of people, by the digest of the secret token of their link."""

    def folder(self, batch: str | None) -> Path:
        """Return the folder of runs, or the folder of one of its batches. Raises HTTP 404 if there is no such batch."""
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
        """Return the files of the run that a request's path names by `name` and, for a run of a batch, `batch`.

        Raises HTTP 404 if there is no such run.
        """
        directory = self.folder(request.match_info.get("batch"))
        try:
            return find_run(directory, request.match_info["name"])
        except UsageError:
            raise web.HTTPNotFound(text="There is no such run.") from None


@cache
def environment() -> Environment:
    """Return the Jinja environment of served pages: that of run pages, with the server's templates before theirs."""
    loader = ChoiceLoader([PackageLoader("agentsim.server"), PackageLoader("agentsim.report")])
    return markup.environment().overlay(loader=loader)


def page(template: str, values: Mapping[str, Any], *, status: int = 200) -> web.Response:
    """Render a template of the server as an HTML response."""
    text = environment().get_template(template).render(**values)
    return web.Response(text=text, content_type="text/html", status=status)


def own_file(package: str, *parts: str) -> str:
    """Return the text of a file of a package."""
    return files(package).joinpath(*parts).read_text("utf-8")


def style(site: Site) -> str:
    """Return the style sheet of the folder, followed by the server's own rules."""
    return markup.find_css(site.logs_dir) + own_file("agentsim.server", "templates", "serve.css")


def naming(text: str) -> str:
    """Return a digest of a text for the query of its address, so that browsers may cache it without asking again.

    A page that is loaded while the server restarts then has its script from the cache, and continues once the server is
    back.
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def script(package: str, name: str) -> str:
    """Return the address of a script, with the digest of its text."""
    return f"/static/{name}?{naming(own_file(package, 'templates', name))}"


PAGE_SCRIPT, STREAM_SCRIPT = script("agentsim.report", "page.js"), script("agentsim.server", "serve.js")
