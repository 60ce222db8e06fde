"""Requests of Agent Island: what a player can be asked, what is legal, and what happens without an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Options, Request, Text
from agentsim.engine.schema import closed_object
from agentsim.errors import UnreadableReply
from agentsim.games.agent_island.prompts import composed, tally_words
from agentsim.games.agent_island.view import View

NOBODY = "nobody"
D = TypeVar("D", bound=Decision)


class Speech(Decision):
    """Words; empty where a player says nothing."""

    text: str


class QuipsMade(Decision):
    """One line about each other active player, by id."""

    quips: dict[str, str]


class VoteCast(Decision):
    """For whom, and why; `vote` None is an abstention, which only the fallback gives."""

    explanation: str = ""
    vote: str | None = None


class ApproachMade(Decision):
    """Whom to approach for a private exchange, or `nobody`."""

    partner: str


class Answer(Decision):
    """Whether to accept an approach."""

    accept: bool


class IslandRequest(Request[D]):
    """What all requests of this game share: the view, and the facts of it that every prompt restates."""

    view: View

    def question(self) -> str:
        """The last paragraph of the prompt, without the shape of the answer."""
        raise NotImplementedError

    def prompt(self) -> Prompt:
        return composed(self.view, self.player, f"{self.question()} {self.answer_line}")

    def facts(self) -> tuple[str, ...]:
        tallies = (tally_words(tally) for tally in self.view.tallies)
        where = "final round" if self.view.final else f"round {self.view.round} of {self.view.rounds}"
        return (where, *self.view.active, *self.view.eliminated, *tallies, *self.options_in_words())

    def options_in_words(self) -> tuple[str, ...]:
        """The values of every closed choice."""
        closed = (option.values for option in self.options().values() if isinstance(option, Choice))
        return tuple(str(value) for values in closed for value in values)


class SpeechRequest(IslandRequest[Speech]):
    """A question that is answered in words: JSON, or plain prose, which cannot be misunderstood here."""

    about: ClassVar[str]
    limit: int

    def options(self) -> Options:
        return {"text": Text(self.limit, self.about)}

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**legal, "minLength": 1}  # an empty one is asked for again

    def fallback(self) -> Speech:
        return Speech(text="")

    def in_words(self, words: str) -> Speech:
        return self.decision_of({"text": words})

    def decision_of(self, said: Mapping[str, Any]) -> Speech:
        speech = super().decision_of(said)
        if not speech.text.strip():
            raise UnreadableReply("The reply says nothing.")
        return Speech(text=speech.text.strip())


class Pitch(SpeechRequest):
    """Why should you go on (in the final: win)?"""

    about: ClassVar[str] = "your pitch"

    def question(self) -> str:
        if self.view.final:
            aim = "Make your pitch to the jury: why should you win the game?"
        else:
            aim = "Make your pitch: why should the others keep you in the game and eliminate somebody else?"
        return f"{aim} Everyone hears it."


class Whisper(SpeechRequest):
    """What do you say to your partner in private?"""

    about: ClassVar[str] = "your message"

    partner: str
    turn: int
    turns: int

    def question(self) -> str:
        return (
            f"You are alone with {self.partner}; nobody else hears you. This is message {self.turn} of {self.turns} "
            "between you."
        )

    def facts(self) -> tuple[str, ...]:
        return (*super().facts(), self.partner, f"message {self.turn} of {self.turns}")


class Summarize(SpeechRequest, kind="summary"):
    """What will you remember of this round?"""

    about: ClassVar[str] = "your note"

    def question(self) -> str:
        return (
            f"Round {self.view.round} is over. Write down what you want to remember of it: from now on your note "
            "takes the place of everything you heard in this round. Nobody else sees it."
        )


class Vote(IslandRequest[VoteCast]):
    """Whom do you vote for? `ballot` is the order in which this voter reads the candidates."""

    ballot: tuple[str, ...]
    limit: int

    def options(self) -> Options:
        return {"explanation": Text(self.limit, "one or two sentences"), "vote": Choice(self.ballot)}

    def question(self) -> str:
        aim = "You are on the jury: vote for the player who should win" if self.view.final else "Vote for the player"
        end = "." if self.view.final else " who should be eliminated."
        return f"{aim}{end} Your vote and your explanation stay secret."

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**legal, "default": ""} if name == "explanation" else legal

    @property
    def against(self) -> bool:
        return not self.view.final

    def check(self, decision: VoteCast) -> None:
        if decision.vote is not None:  # an abstention is what no readable vote comes to
            super().check(decision)

    def fallback(self) -> VoteCast:
        return VoteCast()


class Approach(IslandRequest[ApproachMade]):
    """Whom do you take aside?"""

    free: tuple[str, ...]
    may_decline: bool = True
    """Where those who are approached may not decline, who approaches may not stay alone either."""

    def options(self) -> Options:
        return {"partner": Choice((*self.free, NOBODY) if self.may_decline else self.free, nothing=NOBODY)}

    def check(self, decision: ApproachMade) -> None:
        if decision != self.fallback():  # which names no partner, and is legal where one must be named
            super().check(decision)

    def question(self) -> str:
        if not self.may_decline:
            return f"Whom do you take aside for a private exchange? Choose one of: {', '.join(self.free)}."
        return "Whom do you take aside for a private exchange? They may decline."

    def fallback(self) -> ApproachMade:
        return ApproachMade(partner=NOBODY)


class AnswerApproach(IslandRequest[Answer]):
    """Do you accept?"""

    by: str

    def options(self) -> Options:
        return {}

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"by": self.by}

    def question(self) -> str:
        return f"{self.by} asks you for a private exchange. Do you accept?"

    def facts(self) -> tuple[str, ...]:
        return (*super().facts(), f"{self.by} asks you")

    def fallback(self) -> Answer:
        return Answer(accept=False)


class Quips(IslandRequest[QuipsMade]):
    """What is your one public line about every other player?"""

    about: tuple[str, ...]
    limit: int

    def options(self) -> Options:
        return {}

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"about": self.about, "limit": self.limit}

    def question(self) -> str:
        return "Say one public line about every other player."

    def facts(self) -> tuple[str, ...]:
        return (*super().facts(), *self.about)

    def schema(self) -> dict[str, Any]:
        line = {"type": "string", "maxLength": self.limit}
        return closed_object({player: dict(line) for player in self.about})

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**legal, "minLength": 1}  # a line that is missing is asked for, with all others

    def decision_of(self, said: Mapping[str, Any]) -> QuipsMade:
        lines = {about: line.strip() for about in self.about if isinstance(line := said.get(about), str)}
        missing = [about for about in self.about if not lines.get(about)]
        if missing:
            raise UnreadableReply(f"There is no line about: {', '.join(missing)}.")
        return QuipsMade(quips=lines)

    def fallback(self) -> QuipsMade:
        return QuipsMade(quips={})


REQUESTS: tuple[type[Request[Any]], ...] = (Pitch, Vote, Approach, AnswerApproach, Whisper, Quips, Summarize)
