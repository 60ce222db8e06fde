"""View: what one player may know, built up from what it heard and from the public state.

Never the state with pieces taken out. How it is worded for a model is in `prompts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.prompt import NARRATOR
from agentsim.engine.table import Table
from agentsim.games.agent_island.events import Pitched, Quipped, RoundBegan, Summarized, Voted, Whispered
from agentsim.games.agent_island.state import Island, Tally


@dataclass(frozen=True)
class Line:
    """One thing heard: who it is from (a player, or NARRATOR), its kind, and the words."""

    round: int
    sender: str
    kind: str
    text: str
    to: str = ""
    """For private words: who else hears them."""


@dataclass(frozen=True)
class View:
    """What a player knows when it is asked.

    `transcript` is all it heard, oldest first; where it wrote a summary of a round, the summary stands in
    for what it had heard of that round. `tallies` are the public results, restated from the state; `rules` are the
    rules in words; `jury` says whether the last round is a final.
    """

    players: tuple[str, ...]
    round: int
    rounds: int
    active: tuple[str, ...]
    eliminated: tuple[str, ...]
    tallies: tuple[Tally, ...]
    transcript: tuple[Line, ...]
    jury: bool = True
    rules: str = ""

    @property
    def final(self) -> bool:
        """Whether the jury names the winner in the present round."""
        return self.jury and self.round == self.rounds

    def pitches(self) -> dict[str, int]:
        """Words each player has been heard to say in pitches, in characters."""
        spoken = dict.fromkeys(self.players, 0)
        for line in self.transcript:
            if line.kind == "pitch" and line.sender in spoken:
                spoken[line.sender] += len(line.text)
        return spoken


def view(table: Table, island: Island, player: PlayerId, rules: str) -> View:
    """What `player` may know now."""
    return View(
        players=island.players,
        round=island.round,
        rounds=island.rounds,
        active=tuple(island.active),
        eliminated=tuple(island.eliminated),
        tallies=tuple(island.tallies),
        transcript=tuple(_transcript(table.heard(player), player)),
        jury=island.jury,
        rules=rules,
    )


def _transcript(heard: Sequence[LogEntry], player: PlayerId) -> Iterator[Line]:
    told = list(heard)
    noted = {
        entry.round: place
        for place, entry in enumerate(told)
        if isinstance(entry.event, Summarized) and entry.event.player == player and entry.event.text
    }
    for place, entry in enumerate(told):
        event = entry.event
        if place < noted.get(entry.round, 0):
            continue
        if isinstance(event, Summarized):
            if event.text:
                yield Line(event.round, f"memory of {player}", "summary", event.text)
        else:
            yield from _lines(entry)


def _lines(entry: LogEntry) -> Iterator[Line]:
    event, index = entry.event, entry.round
    match event:
        case Pitched():
            yield _said(index, event.player, "pitch", event.text)
        case Quipped():
            yield _said(index, event.player, f"quip about {event.about}", event.text)
        case Whispered():
            yield _said(index, event.speaker, "private", event.text, to=event.listener)
        case Voted():
            yield Line(index, event.voter, "vote", f"{event.heading}. {event.explanation}".strip(), to="nobody else")
        case RoundBegan():
            yield Line(index, NARRATOR, event.kind, f"{event.heading}. {event.content}")
        case _:
            yield Line(index, NARRATOR, event.kind, event.content)


def _said(index: int, player: PlayerId, kind: str, text: str, to: str = "") -> Line:
    """A player's words; that there are none are the narrator's."""
    return Line(index, player, kind, text, to) if text else Line(index, NARRATOR, kind, f"{player} says nothing.", to)
