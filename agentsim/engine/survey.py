"""Survey: questions to players at the end of a round, off the record: no rule and no later prompt has the answers.

The kernel asks them, for all games. An `Interview` of the scenario schedules them; `records.tables` and `report` show
the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeAlias

from pydantic import Field, model_validator

from agentsim.engine.chance import Stream
from agentsim.engine.codec import StrictTable
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, Heard, NamedPlayer, PlayerId
from agentsim.engine.memory import Lines
from agentsim.engine.options import Choice, Number, Option, Options, PerKey, Text
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.table import Requests, Table
from agentsim.engine.wording import Prompt, counted, cut

NEWS_CHARS = 4_000
"""The maximum number of characters of a player's news since its latest decision in a survey's prompt."""
_NAME = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"
_INTRODUCED = (
    "An interviewer asks you some questions, off the record. No other player learns your answers, you are not shown "
    "them again, and they change nothing in the game. Answer for yourself, as things stand now."
)


class SurveyQuestion(StrictTable):
    """`[[interviews.questions]]`, and those of `[people]`: closed with `options` or `least` and `most`, else open."""

    name: Annotated[str, Field(pattern=_NAME)]
    """Its name in tables, different for each question"""
    ask: Annotated[str, Field(min_length=1, max_length=2_000)]
    """The question in words"""
    options: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=50)] = ()
    """Answers to choose from, in the order of charts"""
    least: int | None = None
    """Least whole number"""
    most: int | None = None
    """Greatest whole number"""
    chars: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Most characters of an open answer; the rest is cut"""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        number = self.least is not None or self.most is not None
        if number and (self.least is None or self.most is None or self.least >= self.most):
            raise ValueError("a number's question needs least and most, and least below most")
        if self.options and (number or len(set(self.options)) != len(self.options) or len(self.options) < 2):
            raise ValueError("options are two or more different answers, and stand without least and most")
        if "chars" in self.model_fields_set and (number or self.options):
            raise ValueError("chars is of open questions")
        return self

    @property
    def option(self) -> Option:
        """The legal answers."""
        if self.options:
            return Choice(self.options)
        if self.least is not None:
            return Number(self.least, self.most)
        return Text(self.chars, "your answer")

    def kept(self, answer: Any) -> int | str | None:
        """Return the answer for tables and pages, or None if there is none."""
        return cut(answer, self.chars) if isinstance(answer, str) and not self.options else answer


class Interview(StrictTable):
    """`[[interviews]]`: questions that are asked together, at the end of rounds.

    A round is what the game calls so: an island round, an auction item, a Monopoly turn, a society day, a market round.
    """

    questions: Annotated[tuple[SurveyQuestion, ...], Field(min_length=1, max_length=30)]
    """What is asked, in one call"""
    rounds: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Rounds, from 1, at whose end it is held"""
    every: Annotated[int, Field(ge=1)] | None = None
    """It is held every N rounds"""
    at_end: bool = False
    """It is held when the game is over"""
    players: tuple[NamedPlayer, ...] = ()
    """Ids of those asked; absent: all"""
    sample: Annotated[int, Field(ge=1)] | None = None
    """How many of them are asked, drawn once by the seed"""

    @model_validator(mode="after")
    def _some_time(self) -> Self:
        if not (self.rounds or self.every or self.at_end):
            raise ValueError("says not when it is held: rounds, every or at_end")
        return self

    def is_due(self, ended: int, *, last: bool) -> bool:
        """Return whether it is held at the end of this round, which may be the game's `last`."""
        regular = ended > 0 and (ended in self.rounds or (self.every is not None and ended % self.every == 0))
        return regular or (last and self.at_end)


class SurveyAnswers(Decision):
    """The answers by question; empty if no usable reply came."""

    answers: dict[str, int | str] = Field(default_factory=dict)


class Survey(Request[SurveyAnswers]):
    """What do you answer? Its player knows what it knew at `about`, its latest question, and the `news` since."""

    about: Request[Any]
    news: tuple[str, ...]
    questions: tuple[SurveyQuestion, ...]
    interview: int
    round: int

    def options(self) -> Options:
        return {"answers": PerKey({question.name: question.option for question in self.questions})}

    def prompt(self) -> Prompt:
        before = self.about.prompt()
        news = ("What you have heard since your latest decision:", *self.news) if self.news else ()
        asked = (f"{question.name}: {question.ask}" for question in self.questions)
        return Prompt(before.rules, before.history, (*before.state, *news), (_INTRODUCED, *asked, self.answer_line))

    def fallback(self) -> SurveyAnswers:
        return SurveyAnswers()

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"interview": self.interview, "round": self.round}


_Policy: TypeAlias = Callable[[Request[Any], Stream], Decision]


@dataclass(frozen=True, slots=True)
class SurveyBot:
    """A policy that answers a `Survey` itself; for other bots the answers are drawn at random."""

    policy: _Policy

    def __call__(self, request: Request[Any], rng: Stream) -> Decision:
        return self.policy(request, rng)


def decided_by(bot: _Policy, request: Request[Any], rng: Stream) -> Decision:
    """Return a bot's decision, or random answers to a survey if the bot does not answer surveys."""
    known = not isinstance(request, Survey) or isinstance(bot, SurveyBot)
    return bot(request, rng) if known else random_decision(request, rng)


@dataclass(frozen=True, slots=True)
class SurveyPlace:
    """The index of the interview in the scenario, from 0, or of an aside behind those, and the round."""

    interview: int
    round: int


class Surveys:
    """The interviews of one game, and each player's knowledge at its latest decision.

    Events of the kinds `not_news` are not news, because every prompt of the game states them separately.
    """

    def __init__(self, interviews: Sequence[Interview], table: Table, not_news: tuple[type[Event], ...] = ()) -> None:
        self._interviews, self._table, self._not_news = interviews, table, not_news
        self._latest: dict[PlayerId, tuple[Request[Any], Heard]] = {}
        self._lines = Lines(table.rounds, NEWS_CHARS)
        self._asked = [_asked(each, place, table) for place, each in enumerate(interviews)]
        self._upto = 0  # the game's round at the last call of `due`

    def remember_asked(self, requests: Requests) -> None:
        """Remember what the players of these requests know now: surveys tell them the news since."""
        for each in requests:
            self._latest[each.player] = each, self._table.heard(each.player)

    def due(self, *, over: bool) -> Iterator[Requests]:
        """Yield a wave for each interview at the end of the rounds that have ended since the last call."""
        now = len(self._table.rounds) - 1
        ended, self._upto = range(self._upto, now + over), now
        for number in ended:
            for place, each in enumerate(self._interviews):
                if each.is_due(number, last=over and number == now):
                    wave = tuple(self._requests(place, number))
                    if wave:
                        yield wave

    def _requests(self, place: int, ended: int) -> Iterable[Survey]:
        for player in self._asked[place]:
            if player in self._latest:
                about, heard = self._latest[player]
                yield Survey(
                    player=player,
                    about=about,
                    news=self._news(player, len(heard), ended),
                    questions=self._interviews[place].questions,
                    interview=place,
                    round=ended,
                )

    def _news(self, player: PlayerId, known: int, ended: int) -> tuple[str, ...]:
        """Return the newest lines of a player's news from rounds up to this one, and a line that counts the rest."""
        heard = self._table.heard(player)
        lines: list[str] = []
        room = NEWS_CHARS
        left = len(heard) - known
        for entry in reversed(heard) if left else ():
            left -= 1
            if entry.round <= ended and entry.event.in_prompt and not isinstance(entry.event, self._not_news):
                line = self._lines.of(entry)
                room -= len(line)
                if room < 0:
                    lines.append(f"({counted(left + 1, 'earlier event')} left out)")
                    break
                lines.append(line)
            if not left:
                break
        return tuple(reversed(lines))


def _asked(interview: Interview, place: int, table: Table) -> Sequence[PlayerId]:
    """Return the players asked, in the order of the seats; a sample is drawn from a stream of its own."""
    among = [player for player in table.players if not interview.players or player in interview.players]
    if interview.sample is None or interview.sample >= len(among):
        return among
    drawn = set(table.chance.once(f"survey/{place}").shuffled(among)[: interview.sample])
    return [player for player in among if player in drawn]
