"""Stream: the HTML fragments that are sent to a page while it is open, rendered by the templates of the page itself.

A fragment is a round's section with its new events, or a part that replaces the element with the same id. Each channel
is built for one audience, from the events that this audience may see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from markupsafe import Markup

from agentsim.lazy import dataclass
from agentsim.records.history import History
from agentsim.report import markup
from agentsim.report.page import PageOptions, Served, shown
from agentsim.report.player_view import as_seen_by
from agentsim.report.timeline import Timeline
from agentsim.runs.follower import Follower
from agentsim.server.changes import ChangeSignal
from agentsim.server.seat_panels import seat_panels
from agentsim.server.site import PAGE_SCRIPT, STREAM_SCRIPT, STYLE

MOST_MESSAGES: Final = 8
"""How many messages a channel caches for pages at the same position: most pages lack only the latest events."""


@dataclass(frozen=True)
class PageAudience:
    """The viewer of a page: one who may see all, or the person in one seat, who sees only what that seat may.

    `prompts` includes the prompts. The page of a viewer who is `seated`, and so plays, has events and the game's panels
    only.
    """

    player: str | None = None
    prompts: bool = False
    seated: bool = False

    @property
    def options(self) -> PageOptions:
        """The options of this audience's page."""
        shown = not self.seated
        return PageOptions(self.prompts, include_reasoning=shown, include_usage=shown, as_seen_by=self.player)


def served_run(address: str, audience: PageAudience) -> Served:
    """Return the scripts and links of a run's served page. Only a viewer of the whole run gets a link to steer it."""
    scripts = (PAGE_SCRIPT, STREAM_SCRIPT)
    if audience.player is not None or not address:
        return Served(STYLE, scripts)
    return Served(STYLE, scripts, links=((f"{address}/steer", "Steer"),))


class Position(NamedTuple):
    """The part of its stream that a page has: the number of pieces of the transcript, and the version of its parts."""

    epoch: str = ""
    pieces: int = 0
    version: int = 0

    @classmethod
    def read(cls, text: str) -> Position:
        """Parse the text of `str(position)`. Any other text is the beginning of the stream."""
        match text.split("."):
            case [epoch, pieces, version] if pieces.isdecimal() and version.isdecimal() and len(text) < 60:
                return cls(epoch, int(pieces), int(version))
        return cls()

    def __str__(self) -> str:
        return f"{self.epoch}.{self.pieces}.{self.version}"


class Rendering(NamedTuple):
    """The rendered parts of a page, and the whole page if it was asked for.

    `upon` is the channel's position before the rendering.
    """

    upon: Position
    parts: Mapping[str, Markup]
    page: str = ""


class Channel(ChangeSignal):
    """The fragments for one audience of a run. `pieces` and `parts` grow or are replaced, and versions count up.

    Only `drawn` may run concurrently with the other methods.
    """

    def __init__(self, follower: Follower, audience: PageAudience) -> None:
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
        """The position of a page that has all fragments."""
        return Position(self._epoch, len(self._pieces), self._version)

    def tell(self) -> None:
        """Render the new events of the follower as pieces of the transcript."""
        follower = self._follower
        if self._epoch != follower.epoch:
            self._begin()
        if (follower.told, follower.rounds) == (self._told, self._rounds):
            return
        history = follower.since(self._told)
        if self.audience.player is not None:
            history = as_seen_by(history, self.audience.player)
        options = self.audience.options
        run = follower.files.name if self.audience.player is None else None
        timeline = Timeline(history, prompts=options.include_prompts, reasoning=options.include_reasoning, run=run)
        tones = {record.id: markup.tone(index) for index, record in enumerate(history.players)}
        macros = markup.environment().get_template("timeline.html.j2").module
        for index, part in enumerate(timeline.rounds()):
            if part.entries or index >= self._rounds:
                self._pieces.append(macros.round(part, tones))  # type: ignore[attr-defined] # a macro of the template
                self._messages = {}
        self._told, self._rounds = follower.told, follower.rounds

    def drawn(self, history: History, upon: Position, *, whole: bool = False, address: str = "") -> Rendering:
        """Render the parts from a history, and the `whole` page, with the stream at `address`, if asked for.

        `upon` is the position of the channel when rendering began.
        """
        if self.audience.seated and self.audience.player is not None:
            return Rendering(upon, seat_panels(history, self.audience.player))
        follower = self._follower
        joint = "&" if "?" in address else "?"
        stream = f"{address}{joint}from={upon._replace(version=upon.version + 1)}" if whole else ""
        served = served_run(address.partition("/stream")[0], self.audience)
        served.stream, served.playing, served.whole = stream, follower.playing, whole
        text = shown(history, self.audience.options, name=follower.files.name, served=served)
        return Rendering(upon, served.parts, text)

    def put(self, drawing: Rendering) -> None:
        """Publish rendered parts, unless another rendering was published since this one began."""
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
        """The HTML of all rounds so far."""
        return Markup("").join(self._pieces)

    def part(self, name: str) -> Markup:
        """Return the latest HTML of a part, or no text if it was never rendered."""
        return self._parts[name][1] if name in self._parts else Markup("")

    def message(self, position: Position) -> tuple[Position, bytes]:
        """Return the new position and the stream event that brings a page at `position` up to date.

        Pages at the same position share the event. Events that `tell` adds while it is made may be sent twice.
        """
        here, kept = self.position, self._messages  # read both first, since `tell` may run concurrently
        if (found := kept.get((position, here))) is None:
            while len(kept) >= MOST_MESSAGES:  # a dropped one is made again from the page's position
                del kept[next(iter(kept))]
            found = kept[position, here] = message(str(here), self.since(position))
        return here, found

    def since(self, position: Position) -> str:
        """Return the HTML that a page at this position lacks, or no text if it has all."""
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
    """Encode HTML as one server-sent event, one `data` line per line of HTML. Returns no bytes for no HTML."""
    if not html:
        return b""
    lines = html.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join((f"id: {position}\n", *(f"data: {line}\n" for line in lines), "\n")).encode()


def _figures(parts: Mapping[str, object]) -> list[str]:
    """Return the names of the parts that lie within the part `panels`."""
    return [name for name in parts if name.startswith("figure-")]
