"""Stream: what a page is sent while it stands open: fragments of HTML, made by the templates of the page itself.

A fragment is a round's section with its new events, or a part of the page that is to take the place of the one with
its id. Each channel is built for its audience from what that audience may see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from markupsafe import Markup

from agentsim.history.record import History
from agentsim.report import markup
from agentsim.report.page import PageOptions, Served, shown
from agentsim.report.player_view import as_seen_by
from agentsim.report.timeline import Timeline
from agentsim.runner.follower import Follower
from agentsim.server.news import News
from agentsim.server.seat_panels import seat_panels
from agentsim.server.site import PAGE_SCRIPT, STREAM_SCRIPT, STYLE

MOST_MESSAGES: Final = 8
"""Of one channel that are kept for pages at the same place: most pages have all but the latest news."""


@dataclass(frozen=True)
class Audience:
    """Who looks: everyone who may see all, or the person in one seat, who sees what that seat may.

    `prompts` asks for the prompts as well. Who is `seated` plays: such a page has events and the game's panels.
    """

    player: str | None = None
    prompts: bool = False
    seated: bool = False

    @property
    def options(self) -> PageOptions:
        """What the page of this audience holds."""
        shown = not self.seated
        return PageOptions(self.prompts, include_reasoning=shown, include_usage=shown, as_seen_by=self.player)


def served_run(address: str, audience: Audience) -> Served:
    """What the served page of a run has beside the run; a viewer of all of it may go on to steer it."""
    scripts = (PAGE_SCRIPT, STREAM_SCRIPT)
    if audience.player is not None or not address:
        return Served(STYLE, scripts)
    return Served(STYLE, scripts, links=((f"{address}/steer", "Steer"),))


class Position(NamedTuple):
    """How much a page has of its stream: so many pieces of the transcript, and parts up to a version."""

    epoch: str = ""
    pieces: int = 0
    version: int = 0

    @classmethod
    def read(cls, text: str) -> Position:
        """As `str` writes it; the beginning for anything else."""
        match text.split("."):
            case [epoch, pieces, version] if pieces.isdecimal() and version.isdecimal() and len(text) < 60:
                return cls(epoch, int(pieces), int(version))
        return cls()

    def __str__(self) -> str:
        return f"{self.epoch}.{self.pieces}.{self.version}"


class Drawing(NamedTuple):
    """The parts of a page, and the `whole` page where that was wanted; `upon` is where its channel stood before."""

    upon: Position
    parts: Mapping[str, Markup]
    page: str = ""


class Channel(News):
    """What one audience of a run is sent. `pieces` and `parts` only grow or are replaced, and versions count up.

    `drawn` alone may run beside the other methods.
    """

    def __init__(self, follower: Follower, audience: Audience) -> None:
        super().__init__()
        self.audience = audience
        self.page = ""
        self._follower = follower
        self._begin()

    def _begin(self) -> None:
        self._epoch = self._follower.epoch
        self._pieces: list[Markup] = []
        self._parts: dict[str, tuple[int, Markup]] = {}
        self._messages: dict[tuple[Position, Position], bytes] = {}
        self._told = self._rounds = self._version = self._figures_since = 0

    @property
    def position(self) -> Position:
        """That of a page which has everything."""
        return Position(self._epoch, len(self._pieces), self._version)

    def tell(self) -> None:
        """Take in the events that are new."""
        follower = self._follower
        if self._epoch != follower.epoch:
            self._begin()
        if (follower.told, follower.rounds) == (self._told, self._rounds):
            return
        history = follower.since(self._told)
        if self.audience.player is not None:
            history = as_seen_by(history, self.audience.player)
        options = self.audience.options
        timeline = Timeline(history, prompts=options.include_prompts, reasoning=options.include_reasoning)
        tones = {record.id: markup.tone(place) for place, record in enumerate(history.players)}
        macros = markup.environment().get_template("timeline.html.j2").module
        for place, part in enumerate(timeline.rounds()):
            if part.entries or place >= self._rounds:
                self._pieces.append(macros.round(part, tones))  # type: ignore[attr-defined] # a macro of the template
                self._messages = {}
        self._told, self._rounds = follower.told, follower.rounds

    def drawn(self, history: History, upon: Position, *, whole: bool = False, address: str = "") -> Drawing:
        """Make the parts anew, and the `whole` page where that is wanted, whose stream has this address."""
        if self.audience.seated and self.audience.player is not None:
            return Drawing(upon, seat_panels(history, self.audience.player))
        follower = self._follower
        joint = "&" if "?" in address else "?"
        stream = f"{address}{joint}from={upon._replace(version=upon.version + 1)}" if whole else ""
        served = served_run(address.partition("/stream")[0], self.audience)
        served.stream, served.playing, served.whole = stream, follower.playing, whole
        text = shown(history, self.audience.options, name=follower.files.name, served=served)
        return Drawing(upon, served.parts, text)

    def put(self, drawing: Drawing) -> None:
        """Take in what was drawn, unless another drawing, which is as new, came in meanwhile."""
        if (drawing.upon.epoch, drawing.upon.version) != (self._epoch, self._version) or not drawing.parts:
            return
        version, parts = self._version + 1, {}
        for name, html in drawing.parts.items():
            known = self._parts.get(name)
            parts[name] = known if known is not None and known[1] == html else (version, html)
        if _figures(parts) != _figures(self._parts):
            self._figures_since = version
        self._parts, self._version, self._messages = parts, version, {}

    @property
    def transcript(self) -> Markup:
        """All rounds so far."""
        return Markup("").join(self._pieces)

    def part(self, name: str) -> Markup:
        """A part as it was drawn last; nothing for one that was not."""
        return self._parts[name][1] if name in self._parts else Markup("")

    def message(self, position: Position) -> tuple[Position, bytes]:
        """The event of a stream that brings a page at this position up to date, and the position it has then.

        All pages there have the same one. What is told while it is made may come again with the next one.
        """
        here, kept = self.position, self._messages  # taken first: `tell` may run beside this
        if (found := kept.get((position, here))) is None:
            while len(kept) >= MOST_MESSAGES:  # a page says itself where it stands
                del kept[next(iter(kept))]
            found = kept[position, here] = message(str(here), self.since(position))
        return here, found

    def since(self, position: Position) -> str:
        """What a page at this position lacks; empty where it has all."""
        if position.epoch != self._epoch or position > self.position:
            position = Position(self._epoch)
        one_by_one = self._figures_since <= position.version
        changed = [
            html
            for name, (version, html) in self._parts.items()
            if version > position.version and name not in (("panels",) if one_by_one else _figures(self._parts))
        ]
        return Markup("").join([*self._pieces[position.pieces :], *changed])


def message(position: str, html: str) -> bytes:
    """One event of a stream; a line of it is a line of the HTML. Empty where there is none."""
    if not html:
        return b""
    lines = html.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join((f"id: {position}\n", *(f"data: {line}\n" for line in lines), "\n")).encode()


def _figures(parts: Mapping[str, object]) -> list[str]:
    """The parts that stand inside the part `panels`."""
    return [name for name in parts if name.startswith("figure-")]
