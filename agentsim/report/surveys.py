"""Surveys on a page: the share of each closed answer over time, and open answers as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from agentsim.engine.panel import Chart, DataTable, Panel, Series
from agentsim.engine.survey import Question
from agentsim.history.record import History
from agentsim.history.surveys import SurveyAnswer, interviews_in, survey_answers


def survey_panels(history: History) -> Iterator[Panel]:
    """A panel for each question that was asked; none where the history has no interviews, as one player saw it."""
    if not history.scenario.get("interviews"):
        return
    every = list(survey_answers(history))
    for question in (question for interview in interviews_in(history) for question in interview.questions):
        if answers := [each for each in every if each.question == question]:
            yield _table(history, question, answers) if _open(question) else _chart(history, question, answers)


def _open(question: Question) -> bool:
    return not question.options and question.least is None


def _chart(history: History, question: Question, answers: Sequence[SurveyAnswer]) -> Chart:
    rounds = sorted({each.place.round for each in answers})
    given = [[e.answer for e in answers if e.place.round == number and e.answer is not None] for number in rounds]
    if question.options:
        share = [
            [100 * said.count(option) / len(said) if said else None for said in given] for option in question.options
        ]
        series = [Series(option, tuple(shares)) for option, shares in zip(question.options, share, strict=True)]
        label = "share of answers, %"
    else:
        numbers = [[answer for answer in said if isinstance(answer, int)] for said in given]
        series = [
            Series(name, tuple(of(said) if said else None for said in numbers))
            for name, of in (("mean", fmean), ("lowest", min), ("highest", max))
        ]
        label = "answer"
    titles = tuple(history.rounds[number].title for number in rounds)
    return Chart(_title(question), "line", titles, tuple(series), "at the end of", label, _note(answers))


def _table(history: History, question: Question, answers: Sequence[SurveyAnswer]) -> DataTable:
    said = [each for each in answers if each.answer is not None]
    rows = tuple((history.rounds[each.place.round].title, each.decision.player, each.answer) for each in said)
    return DataTable(_title(question), ("at the end of", "player", "answer"), rows, _note(answers))


def _title(question: Question) -> str:
    return f"Survey, {question.name}: {question.ask}"


def _note(answers: Sequence[SurveyAnswer]) -> str:
    without = sum(each.answer is None for each in answers)
    missing = f" {without} of {len(answers)} brought no usable answer, and are left out." if without else ""
    return f"Asked off the record: no rule and no later prompt knows the answers.{missing}"
