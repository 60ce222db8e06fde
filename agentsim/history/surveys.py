"""Surveys: the answers to a run's interviews, as its history has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from agentsim.engine.survey import Interview, Question, SurveyPlace
from agentsim.errors import UsageError
from agentsim.history.record import DecisionRecord, History

_INTERVIEWS = TypeAdapter(tuple[Interview, ...])


class SurveyAnswer(NamedTuple):
    """One player's answer to one question; None where no usable reply came."""

    place: SurveyPlace
    question: Question
    answer: int | str | None
    decision: DecisionRecord


def interviews_in(history: History) -> tuple[Interview, ...]:
    """The interviews of a run's scenario; `UsageError` where they are none, or decisions answer others."""
    try:
        found = _INTERVIEWS.validate_python(history.scenario.get("interviews", ()), strict=False)
    except ValidationError:
        raise UsageError("its scenario's interviews are not valid") from None
    places = [each.survey for each in history.decisions if each.survey is not None]
    if any(not (0 <= each.interview < len(found) and 0 <= each.round < len(history.rounds)) for each in places):
        raise UsageError("a decision answers an interview that its scenario does not have")
    return found


def survey_answers(history: History) -> Iterator[SurveyAnswer]:
    """Every answer, in the order in which they were given."""
    interviews = interviews_in(history)
    for decision in history.decisions:
        if decision.survey is not None:
            given = decision.decision.get("answers")
            said = given if isinstance(given, dict) else {}
            for question in interviews[decision.survey.interview].questions:
                yield SurveyAnswer(decision.survey, question, question.kept(said.get(question.name)), decision)


def survey_rows(history: History, models: Mapping[str, str]) -> Iterator[tuple[int | str | None, ...]]:
    """A row of the table `survey` for each question that each player was asked; without an answer where none came."""
    for place, question, answer, decision in survey_answers(history):
        where = (place.round, history.rounds[place.round].title, decision.player, models.get(decision.player))
        yield (*where, question.name, answer, decision.source, decision.index)
