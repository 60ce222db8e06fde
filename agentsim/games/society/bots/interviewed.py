"""Interviewed: what bots answer in interviews, by the names of questions: rules over what they hold and remember.

Each answer is a share from 0 to 1 of the way from the least answer to the most, or from the first option to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentsim.engine import Bot, Decision, Request, Stream
from agentsim.engine.random_policy import random_decision
from agentsim.engine.survey import Question, Survey, SurveyAnswers, answers_surveys
from agentsim.games.society.actions import Spoken
from agentsim.games.society.bots.needs import STORE_DAYS, scarcer
from agentsim.games.society.bots.words import asks_for
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.talk import Posted
from agentsim.games.society.work import Traded


def _security(about: Act) -> float:
    """The days for which the scarcer of food and energy lasts, of ten."""
    return scarcer(about)[1] / STORE_DAYS


def _trust(about: Act) -> float:
    """How likely it is that others help, by the rule of succession (Laplace 1814): of its calls for help that it
    remembers, so many were answered as it remembers gifts.
    """
    told = about.you.memory.told()
    gifts = sum(each.kind == Traded.kind and not each.own and each.other > 0 for each in told)
    own = {each.about: each.line for each in told if each.kind == Posted.kind and each.own}
    # memory names these in brief
    own |= {post.id: post.text for post in about.world.posts if post.author == about.you.agent}
    calls = sum(asks_for(words) is not None for words in own.values())
    return (1 + gifts) / (2 + max(gifts, calls))


def _sharing(about: Act) -> float:
    """Whether those who have more should give: the more, the less it holds beside the middle agent of last evening
    (Meltzer and Richard 1981); a half where it holds as much, or does not know.
    """
    day, own = about.world.yesterday, sum(about.you.stock.values())
    middle = own if day is None else day.wealth[1]
    return middle / (own + middle) if own + middle else 0.5


ATTITUDES: Mapping[str, Callable[[Act], float]] = {"security": _security, "trust": _trust, "sharing": _sharing}
"""By the name of a question; those of other names are answered at random."""


def interviewed(acts: Callable[[Act, Stream], Spoken]) -> Bot:
    """The bot that acts so, and in interviews answers for itself."""

    @answers_surveys
    def policy(request: Request[Any], rng: Stream) -> Decision:
        if isinstance(request, Survey):
            return _answers(request, rng)
        assert isinstance(request, Act), f"no policy for {request.kind}"
        return Acted(action=acts(request, rng))

    return policy


def _answers(survey: Survey, rng: Stream) -> SurveyAnswers:
    drawn = random_decision(survey, rng)
    assert isinstance(drawn, SurveyAnswers), "a survey is answered"
    assert isinstance(survey.about, Act), f"no policy for {survey.about.kind}"
    known = [question for question in survey.questions if question.name in ATTITUDES]
    own = {each.name: _placed(each, ATTITUDES[each.name](survey.about)) for each in known}
    return SurveyAnswers(answers={**drawn.answers, **own})


def _placed(question: Question, share: float) -> int | str:
    """The answer at this part of the way; words that say it where the question is open."""
    part = min(1.0, max(0.0, share))
    if question.options:
        return question.options[round(part * (len(question.options) - 1))]
    if question.least is not None and question.most is not None:
        return question.least + round(part * (question.most - question.least))
    return f"{question.name}: {part:.0%}"[: question.chars]
