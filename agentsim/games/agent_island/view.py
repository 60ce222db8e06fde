"""View: what one player may know, how it stands in a prompt, and what all questions share.

Never the state with pieces taken out. Where the lines come from is `memory`. Each question stands in its chapter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from agentsim.engine.event import Event
from agentsim.engine.prompt import Prompt, Quoted, quoted
from agentsim.engine.reading import Decision
from agentsim.engine.request import Options, Request, Text
from agentsim.engine.wording import listed
from agentsim.games.agent_island.state import Tally


class Told(Event, base=True):
    """Base of this game's events: how each stands in the transcript of those who hear it."""

    @property
    def label(self) -> str:
        """What kind of line it is."""
        return self.kind

    @property
    def line(self) -> str:
        """Its text."""
        return self.content

    @property
    def hearer(self) -> str:
        """Of private words: who else hears them."""
        return ""


@dataclass(frozen=True)
class Line:
    """One thing heard: who it is from (a player, or NARRATOR), its kind, and the words."""

    round: int
    sender: str
    kind: str
    text: str
    to: str = ""
    """For private words: who else hears them."""

    def quoted(self) -> Quoted:
        """The line in a prompt."""
        to = {"to": self.to} if self.to else {}
        return quoted(**{"round": self.round, "from": self.sender, "kind": self.kind, "text": self.text, **to})


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

    def state(self, player: str) -> tuple[str, ...]:
        """The present state in words, as this player reads it."""
        name = "the final round" if self.final else f"round {self.round} of {self.rounds}"
        place = "still in the game" if player in self.active else "eliminated, a member of the jury"
        gone = [f"Eliminated, in this order: {', '.join(self.eliminated)}."] if self.eliminated else []
        return (
            f"Now: {name}. You are {player}, {place}.",
            f"Still in the game: {listed(self.active)}.",
            *gone,
            *(_result(tally) for tally in self.tallies),
        )


def _result(tally: Tally) -> str:
    """A past vote as a fact: `Round 1: B 2, A 1, C 0. B left.`"""
    votes = ", ".join(f"{player} {count}" for player, count in tally.votes)
    lot = f", by lot between {listed(tally.tied)}" if tally.tied else ""
    end = f"{tally.chosen} {'won' if tally.final else 'left'}" if tally.chosen else "No player left: it was a poll"
    return f"Round {tally.round}: {votes}. {end}{lot}."


D = TypeVar("D", bound=Decision)


class Speech(Decision):
    """Words; empty where a player says nothing."""

    text: str


class IslandRequest(Request[D]):
    """A question to a player with this view: the rules, what it heard, the state, and what it is asked."""

    unshown: ClassVar[Mapping[str, str]] = {
        "view.players": "the rules, which are a text by then, name them",
        "view.jury": "the rules say whether a jury votes",
        "view.tallies.#.abstentions": "told in the event of the tally",
    }

    view: View

    def question(self) -> str:
        """The last paragraph of the prompt, without the shape of the answer."""
        raise NotImplementedError

    def prompt(self) -> Prompt:
        return Prompt(
            rules=(self.view.rules, f"You are player {self.player}."),
            history=("What you have heard so far:", *(line.quoted() for line in self.view.transcript)),
            state=("\n".join(self.view.state(self.player)),),
            question=(f"{self.question()} {self.answer_line}",),
        )


class SpeechRequest(IslandRequest[Speech]):
    """A question that is answered in words: JSON, or plain prose, which cannot be misunderstood here."""

    about: ClassVar[str]
    limit: int

    def options(self) -> Options:
        return {"text": Text(self.limit, self.about, empty=False)}

    def in_words(self, words: str) -> Speech:
        return self.decision_of({"text": words})

    def fallback(self) -> Speech:
        return Speech(text="")
