"""Steering: an experimenter's actions between two waves of a game: the narrator announces, or players are asked.

Each action comes before a wave and is on record, so that a game that is played again takes the same course. A game
says in `Game.announcements` whether it allows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.memory import line_of
from agentsim.engine.request import Request
from agentsim.engine.survey import NEWS_CHARS, Survey, SurveyQuestion, posed
from agentsim.engine.wording import counted

ANNOUNCED_SINCE = "Since then the narrator has announced to all:"
ANNOUNCED_SO_FAR = "The narrator has announced to all:"
_Words = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[^\n\r]+$")]


class Announced(
    Event, kind="narrator_announced", label="announcement", heading="The narrator announces", content="{said}"
):
    """The announcement of the narrator, who is the experimenter, to all."""

    said: str


class _Steer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Announcement(_Steer):
    """The action of telling all something as the narrator, before the wave is decided."""

    said: _Words


class Aside(_Steer):
    """The action of asking players something in private, in a wave of its own before the wave is decided.

    An aside is off the record: no event tells it, and no later prompt of the game, not even to who answered.
    """

    players: Annotated[tuple[str, ...], Field(min_length=1)]
    questions: Annotated[tuple[SurveyQuestion, ...], Field(min_length=1, max_length=30)]


Steer: TypeAlias = Announcement | Aside
STEER: type[Any] = Announcement | Aside  # type: ignore[assignment] # what `codec.adapter` takes


def survey(
    questions: Sequence[SurveyQuestion],
    number: int,
    about: Request[Any],
    since: Sequence[LoggedEvent],
    rounds: Sequence[str],
    *,
    players: Mapping[PlayerId, str],
    events: int,
) -> Survey:
    """Return the survey with these questions for the player of `about`, its latest question.

    `since` are the events told after that, `number` is the index of the interview that the survey counts as.
    `events` is the number of all events told by then, `players` are all players with their names.
    """
    player = about.player
    heard = [entry for entry in since if entry.heard_by(player) and entry.event.in_prompt]
    return Survey(
        player=player,
        about=about,
        news=_newest([line_of(entry, rounds) for entry in heard]),
        questions=posed(questions, player, players),
        interview=number,
        round=len(rounds) - 1,
        events=events,
    )


def _newest(lines: Sequence[str]) -> tuple[str, ...]:
    kept, room = list[str](), NEWS_CHARS
    for left, line in zip(range(len(lines), 0, -1), reversed(lines), strict=True):
        room -= len(line)
        if room < 0:
            kept.append(f"({counted(left, 'earlier event')} left out)")
            break
        kept.append(line)
    return tuple(reversed(kept))


LatestRequests: TypeAlias = dict[PlayerId, tuple[Request[Any], int]]
"""The latest question to each player, and the number of events told before it."""
