"""Survey: questions to players at the end of a round, off the record: no rule and no later prompt has the answers.

The kernel asks them, for all games. An `Interview` of the scenario schedules them; `records.tables` and `report` show
the answers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from agentsim.engine.chance import Stream
from agentsim.engine.codec import StrictTable
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, Heard, NamedPlayer, PlayerId
from agentsim.engine.memory import Lines
from agentsim.engine.options import Choice, Number, Option, Options, PerKey, Probabilities, Text
from agentsim.engine.probabilities import Stated, normalized
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.table import Requests, Table
from agentsim.engine.wording import Prompt, counted, cut
from agentsim.lazy import dataclass

NEWS_CHARS = 4_000
"""The maximum number of characters of a player's news since its latest decision in a survey's prompt."""
_NAME = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"
_OMIT_UNSET = Field(exclude_if=lambda value: value is None)
_INTRODUCED = (
    "An interviewer asks you some questions, off the record. No other player learns your answers, you are not shown "
    "them again, and they change nothing in the game. Answer for yourself, as things stand now."
)


Answer: TypeAlias = int | str | dict[str, Stated]
"""An answer: a number, a choice or words, or the number that was stated for each member of a set."""
MOST_OPTIONS = 50


class SurveyQuestion(StrictTable):
    """`[[interviews.questions]]`, and those of `[people]`: closed with `options`, `among` or `least` and `most`."""

    name: Annotated[str, Field(pattern=_NAME)]
    """Its name in tables, different for each question"""
    ask: Annotated[str, Field(min_length=1, max_length=2_000)]
    """The question in words; {player} is the player of `about`"""
    options: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=MOST_OPTIONS)
    ] = ()
    """Answers to choose from, in the order of charts"""
    among: Literal["players", "others"] | None = None
    """Instead of options: all players, or all but the one that is asked"""
    probabilities: bool = False
    """The answer is a probability for each of the options or players"""
    about: Literal["players", "others", "self"] | None = None
    """It is asked once about each of these; self: the player that is asked"""
    truth: Annotated[str, Field(pattern=_NAME)] | None = None
    """The fact of the game that the probabilities are scored against"""
    least: int | None = None
    """Least whole number"""
    most: int | None = None
    """Greatest whole number"""
    chars: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Most characters of an open answer; the rest is cut"""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        number, closed = self.least is not None or self.most is not None, bool(self.options or self.among)
        if number and (self.least is None or self.most is None or self.least >= self.most):
            raise ValueError("a number's question needs least and most, and least below most")
        if self.options and (number or len(set(self.options)) != len(self.options) or len(self.options) < 2):
            raise ValueError("options are two or more different answers, and stand without least and most")
        if self.among and (number or self.options):
            raise ValueError("among stands without options, least and most")
        if self.probabilities and not closed:
            raise ValueError("probabilities are of options, or among players")
        if self.truth and not self.probabilities:
            raise ValueError("truth is of questions with probabilities")
        if "chars" in self.model_fields_set and (number or closed):
            raise ValueError("chars is of open questions")
        return self

    @property
    def option(self) -> Option | Probabilities:
        """The legal answers."""
        if self.options:
            return Probabilities(self.options) if self.probabilities else Choice(self.options)
        if self.least is not None:
            return Number(self.least, self.most)
        return Text(self.chars, "your answer")

    @property
    def is_open(self) -> bool:
        """True if it is answered in words."""
        return not self.options and self.among is None and self.least is None

    def posed_to(self, player: PlayerId, players: Mapping[PlayerId, str]) -> Iterator[PosedQuestion]:
        """Yield what this player is asked: once, or about each player; `players` are all, with their names."""
        sets = {"players": [*players], "others": [each for each in players if each != player]}
        options = tuple(players[each] for each in sets[self.among]) if self.among else self.options
        for about in [None] if self.about is None else sets.get(self.about, [player]):
            name, ask = self.name, self.ask
            if about is not None:
                name = name if self.about == "self" else f"{name}_{players[about]}"
                ask = ask.replace("{player}", players[about])
            asked = self.model_copy(update={"name": name, "ask": ask, "options": options, "among": None, "about": None})
            yield PosedQuestion(self, asked, about)

    def kept(self, answer: Any) -> Answer | None:
        """Return the answer for tables and pages, or None if there is none."""
        return cut(answer, self.chars) if isinstance(answer, str) and self.is_open else answer


@dataclass(frozen=True, slots=True)
class PosedQuestion:
    """A `question` as one player is `asked` it, with its set of answers, about one player or about none."""

    question: SurveyQuestion
    asked: SurveyQuestion
    about: PlayerId | None

    def answer(self, answers: Mapping[str, Any]) -> Answer | None:
        """Return its answer among those of a survey, or None."""
        return self.asked.kept(answers.get(self.asked.name))


def probabilities_of(answer: Any) -> dict[str, float] | None:
    """Return the distribution that an answer states, or None if it is none."""
    try:
        return normalized(answer) if isinstance(answer, Mapping) else None
    except (TypeError, ValueError):
        return None


Moment: TypeAlias = Literal["before", "after"]
"""A moment of an interview beside the end of a round: before or after a decision."""


class Interview(StrictTable):
    """`[[interviews]]`: questions that are asked together, at the end of rounds, or before or after a kind of decision.

    A round is what the game calls so: an island round, an auction item, a Monopoly turn, a society day, a market round.
    """

    questions: Annotated[tuple[SurveyQuestion, ...], Field(max_length=30)] = ()
    """What is asked, in one call"""
    battery: str | tuple[str, ...] | None = None
    """Names of sets of questions that come with agentsim, which are asked first"""
    rounds: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Rounds, from 1, at whose end it is held"""
    every: Annotated[int, Field(ge=1)] | None = None
    """It is held every N rounds"""
    at_end: bool = False
    """It is held when the game is over"""
    before: str | None = None
    """It is held before each decision of this kind, of those who decide; `rounds` and `every` then limit the rounds"""
    after: str | None = None
    """It is held after each decision of this kind, of those who decided"""
    players: tuple[NamedPlayer, ...] = ()
    """Ids of those asked; absent: all"""
    sample: Annotated[int, Field(ge=1)] | None = None
    """How many of them are asked, drawn once by the seed"""

    @model_validator(mode="after")
    def _some_time(self) -> Self:
        if not (self.rounds or self.every or self.at_end or self.before or self.after):
            raise ValueError("says not when it is held: rounds, every, at_end, before or after")
        if not self.questions and not self.battery:
            raise ValueError("asks nothing: it needs questions or a battery")
        return self

    def is_due(self, ended: int, *, last: bool) -> bool:
        """Return whether it is held at the end of this round, which may be the game's `last`."""
        by_kind = self.before is not None or self.after is not None
        return (not by_kind and self._in_rounds(ended)) or (last and self.at_end)

    def is_due_at(self, moment: Moment, kind: str, asked_in: int) -> bool:
        """Return whether it is held before or after a decision of this kind in this round."""
        return kind == (self.before if moment == "before" else self.after) and (
            not (self.rounds or self.every) or self._in_rounds(asked_in)
        )

    def _in_rounds(self, number: int) -> bool:
        return number > 0 and (number in self.rounds or (self.every is not None and number % self.every == 0))


class SurveyAnswers(Decision):
    """The answers by question; empty if no usable reply came."""

    answers: dict[str, Answer] = Field(default_factory=dict)


class Survey(Request[SurveyAnswers]):
    """What do you answer? Its player knows what it knew at `about`, its latest question, and the `news` since.

    `events` is the number of events told by then, and `moment` names a decision before or after which it is asked.
    """

    about: Request[Any]
    news: tuple[str, ...]
    questions: tuple[SurveyQuestion, ...]
    interview: int
    round: int
    events: int = 0
    moment: str | None = None

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
    """The place of a survey in a game.

    `interview` is its index in the scenario, from 0, or of an aside behind those. `events` is the number of events
    told by then, or None in older journals. `moment` is `before vote`, `after vote` or the like, or None at the end of
    the round.
    """

    interview: int
    round: int
    events: Annotated[int | None, _OMIT_UNSET] = None
    moment: Annotated[str | None, _OMIT_UNSET] = None

    @classmethod
    def of(cls, survey: Survey) -> SurveyPlace:
        return cls(survey.interview, survey.round, survey.events, survey.moment)


class Surveys:
    """The interviews of one game, and each player's knowledge at its latest decision.

    Events of the kinds `not_news` are not news, because every prompt of the game states them separately.
    """

    def __init__(self, interviews: Sequence[Interview], table: Table, not_news: tuple[type[Event], ...] = ()) -> None:
        self._interviews, self._table, self._not_news = interviews, table, not_news
        self._latest: dict[PlayerId, tuple[Request[Any], Heard]] = {}
        self._lines = Lines(table.rounds, NEWS_CHARS)
        self._asked = [_asked(each, index, table) for index, each in enumerate(interviews)]
        self._names = names_of(table.players, table.names)
        self._upto = 0  # the game's round at the last call of `due`

    def remember_asked(self, requests: Requests) -> None:
        """Remember what the players of these requests know now: surveys tell them the news since."""
        for each in requests:
            self._latest[each.player] = each, self._table.heard(each.player)

    def due(self, decided: Requests, next_asked: Requests, *, over: bool) -> Iterator[Requests]:
        """Yield the waves of interviews between two waves of the rules.

        First come those after the decisions `decided`, then those at the end of the rounds that have ended since the
        last call, then those before the decisions `next_asked`. Without requests a wave is left out.
        """
        now, came_from = len(self._table.rounds) - 1, self._upto
        ended, self._upto = range(came_from, now + over), now
        yield from self._at("after", decided, came_from)
        for number in ended:
            for index, each in enumerate(self._interviews):
                if each.is_due(number, last=over and number == now) and (
                    wave := tuple(self._requests(index, number, self._latest))
                ):
                    yield wave
        yield from self._at("before", next_asked, now)

    def _at(self, moment: Moment, requests: Requests, asked_in: int) -> Iterator[Requests]:
        """Yield a wave for each interview that is held before or after these requests, by their kinds."""
        for index, each in enumerate(self._interviews):
            about = {one.player: one for one in requests if each.is_due_at(moment, one.kind, asked_in)}
            if not about:
                continue
            known = self._latest
            if moment == "before":  # a request that is to be decided has all that its player knows
                known = {player: (one, self._table.heard(player)) for player, one in about.items()}
            named = f"{moment} {next(iter(about.values())).kind}"
            known = {player: one for player, one in known.items() if player in about}
            if wave := tuple(self._requests(index, asked_in, known, named)):
                yield wave

    def _requests(
        self,
        index: int,
        asked_in: int,
        known: Mapping[PlayerId, tuple[Request[Any], Heard]],
        moment: str | None = None,
    ) -> Iterable[Survey]:
        told = bisect_right(self._table.log, asked_in, key=lambda entry: entry.round)
        for player in self._asked[index]:
            if player in known:
                about, heard = known[player]
                yield Survey(
                    player=player,
                    about=about,
                    news=self._news(player, len(heard), asked_in),
                    questions=posed(self._interviews[index].questions, player, self._names),
                    interview=index,
                    round=asked_in,
                    events=told,
                    moment=moment,
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


def names_of(players: Iterable[PlayerId], names: Mapping[PlayerId, str]) -> dict[PlayerId, str]:
    """Return the players with the names that prompts call them."""
    return {player: names.get(player, player) for player in players}


def posed(
    questions: Iterable[SurveyQuestion], player: PlayerId, players: Mapping[PlayerId, str]
) -> tuple[SurveyQuestion, ...]:
    """Return the questions as this player is asked them."""
    return tuple(each.asked for question in questions for each in question.posed_to(player, players))


def _asked(interview: Interview, index: int, table: Table) -> Sequence[PlayerId]:
    """Return the players asked, in the order of the seats; a sample is drawn from a stream of its own."""
    among = [player for player in table.players if not interview.players or player in interview.players]
    if interview.sample is None or interview.sample >= len(among):
        return among
    drawn = set(table.chance.once(f"survey/{index}").shuffled(among)[: interview.sample])
    return [player for player in among if player in drawn]
