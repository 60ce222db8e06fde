"""View: what one player may know, how it stands in a prompt, and what all questions share.

Never the state with pieces taken out. Where the lines come from is `memory`. Each question stands in its chapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from agentsim.engine.event import Event
from agentsim.engine.prompt import Prompt, in_quotes, joined
from agentsim.engine.reading import Decision
from agentsim.engine.request import Options, Request, Text
from agentsim.engine.wording import Template, listed
from agentsim.games.agent_island.state import Tally


class Told(Event, base=True):
    said: ClassVar[Template] = "{kind}"
    """What its words are to those who hear them: `pitch`, `quip about B`."""


@dataclass(frozen=True)
class Line:
    """One thing heard: the words of a player and what kind of words they are, or a fact, which is from no sender.

    Of a count of votes it is the place alone, since `tallies` have it.
    """

    round: int
    sender: str
    kind: str
    text: str

    def shown(self, reader: str) -> str:
        """The line in this reader's prompt: words stand in quotation marks, `R1 A pitch: "Keep me."`, facts do not.

        What the reader itself said is marked, so that it can be told from what others say that it said.
        """
        if not self.sender:
            return f"R{self.round} {self.text}"
        head = f"R{self.round} {self.sender}{' (you)' * (self.sender == reader)} {self.kind}"
        return joined(f"{head}: ", in_quotes(self.text)) if self.text else f"{head}, without a word"


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
    tallies: tuple[Tally, ...]
    transcript: tuple[Line, ...]
    jury: bool = True
    rules: str = ""

    @property
    def final(self) -> bool:
        """Whether the jury names the winner in the present round."""
        return self.jury and self.round == self.rounds

    @property
    def eliminated(self) -> tuple[str, ...]:
        """Who has left the game, in the order of the seats."""
        return tuple(player for player in self.players if player not in self.active)

    def pitches(self) -> dict[str, int]:
        """Words each player has been heard to say in pitches, in characters."""
        spoken = dict.fromkeys(self.players, 0)
        for line in self.transcript:
            if line.kind == "pitch":
                spoken[line.sender] += len(line.text)
        return spoken

    def record(self, player: str) -> Iterator[str]:
        """What was heard, line by line, as this player reads it."""
        results = {tally.round: tally for tally in self.tallies}
        for line in self.transcript:
            yield _result(results[line.round]) if line.kind == "tally" else line.shown(player)

    def state(self, player: str) -> Iterator[str]:
        """The present state in words, as this player reads it."""
        out = "on the jury" if self.jury else "out of the game"
        gone = f" {out.capitalize()}: {listed(self.eliminated)}." if self.eliminated else ""
        yield f"Now: round {self.round} of {self.rounds}{', the final' * self.final}."
        yield f"Still in the game: {listed(self.active)}.{gone}"
        if player in self.eliminated:
            yield f"You are {out}."


def _result(tally: Tally) -> str:
    """A past vote as a fact: `R1 votes: B 2, A 1, C 0; 1 abstained. Voted out: B.`"""
    votes = ", ".join(f"{player} {count}" for player, count in tally.votes)
    silent = f"; {tally.abstentions} abstained" if tally.abstentions else ""
    lot = f", by lot between {listed(tally.tied)}" if tally.tied else ""
    end = (
        f"{'Winner' if tally.final else 'Voted out'}: {tally.chosen}{lot}" if tally.chosen else "A poll: no player left"
    )
    return f"R{tally.round} votes: {votes}{silent}. {end}."


D = TypeVar("D", bound=Decision)


class Speech(Decision):
    """Words; empty where a player says nothing."""

    text: str


class IslandRequest(Request[D]):
    """A question to a player with this view: the rules, what it heard, the state, and what it is asked."""

    unshown: ClassVar[Mapping[str, str]] = {"view.jury": "the rules say whether a jury votes"}

    view: View

    def question(self) -> str:
        """The last paragraph of the prompt, without the shape of the answer."""
        raise NotImplementedError

    def prompt(self) -> Prompt:
        view, player = self.view, self.player
        return Prompt(
            rules=(view.rules, f"You are player {player}."),
            history=("The record:", *view.record(player)),
            state=("\n".join(view.state(player)),),
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
