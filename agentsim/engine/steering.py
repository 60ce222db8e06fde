"""Steering: what an experimenter does to a game between two moments of it: the narrator speaks, or players are asked.

Each stands before a wave and is on record, so that a game that is played again takes the same course. A game allows
announcements by `announcements`: `True` where what its players hear is in every later prompt of theirs, `"restated"`
where its prompts are made from its state alone; then every later prompt ends its state with all that was announced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.memory import line_of
from agentsim.engine.request import Request
from agentsim.engine.survey import NEWS_CHARS, Question, Survey
from agentsim.engine.wording import counted

HEARD = "Since then the narrator has announced to all:"
RESTATED = "The narrator has announced to all:"
_Words = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[^\n\r]+$")]


class Announced(Event, kind="narrator_announced", heading="The narrator announces", content="{said}"):
    """The narrator, who is the experimenter, has said something to all."""

    said: str


class _Steer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Announcement(_Steer):
    """The narrator says something to all before the wave is decided."""

    said: _Words


class Aside(_Steer):
    """Players are asked something off the record before the wave is decided, in a wave of its own."""

    players: Annotated[tuple[str, ...], Field(min_length=1)]
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=30)]


Steer: TypeAlias = Announcement | Aside
STEER: type[Any] = Announcement | Aside  # type: ignore[assignment] # what `codec.adapter` takes


def allows_announcements(game: object) -> bool:
    """Whether players of this game hear what a narrator from outside says."""
    return bool(getattr(game, "announcements", False))


def restates(game: object) -> bool:
    """Whether every later prompt of this game is given all announcements, since its own words would not hold them."""
    return getattr(game, "announcements", False) == "restated"


def survey(
    aside: Aside, number: int, about: Request[Any], since: Sequence[LoggedEvent], rounds: Sequence[str]
) -> Survey:
    """The question to the player of its latest question; `since` is what was told after that, `number` the aside's."""
    player = about.player
    heard = [entry for entry in since if entry.heard_by(player) and entry.event.in_prompt]
    return Survey(
        player=player,
        about=about,
        news=_newest([line_of(entry, rounds) for entry in heard]),
        questions=aside.questions,
        interview=number,
        round=len(rounds) - 1,
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


Latest: TypeAlias = dict[PlayerId, tuple[Request[Any], int]]
"""By player, its latest question, and how many events had been told by then."""
