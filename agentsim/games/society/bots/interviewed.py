"""The answers of bots in surveys: rules over their stocks and memories, by the name of the question.

Each answer is a number from 0 to 1, mapped to the range from the least answer to the most, or from the first option to
the last.
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
    """Return the days for which the scarcer of food and energy lasts, divided by ten."""
    return scarcer(about)[1] / STORE_DAYS


def _trust(about: Act) -> float:
    """Return the estimated probability that others help, by the rule of succession (Laplace 1814).

    The trials are the calls for help that the agent remembers, the successes the gifts that it remembers.
    """
    told = about.you.memory.told()
    gifts = sum(each.kind == Traded.kind and not each.own and each.other > 0 for each in told)
    own = {each.about: each.line for each in told if each.kind == Posted.kind and each.own}
    # memory shows these in brief
    own |= {post.id: post.text for post in about.world.posts if post.author == about.you.agent}
    calls = sum(asks_for(words) is not None for words in own.values())
    return (1 + gifts) / (2 + max(gifts, calls))


def _sharing(about: Act) -> float:
    """Return the support for redistribution: higher if the agent holds less than the mean of all living agents.

    After Meltzer and Richard (1981). It is a half if the agent holds as much.
    """
    world, own = about.world, sum(about.you.stock.values())
    held = sum(total - world.pool[resource] for resource, total in world.totals.items())
    mean = held / (world.active + world.dormant)
    return mean / (own + mean) if own + mean else 0.5


ATTITUDES: Mapping[str, Callable[[Act], float]] = {"security": _security, "trust": _trust, "sharing": _sharing}
"""The rules by name of the question; other questions are answered at random."""


def interviewed(acts: Callable[[Act, Stream], Spoken]) -> Bot:
    """Return a bot that acts by this policy and answers surveys by the rules of `ATTITUDES`."""

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
    """Return the answer at this share of the range, or a text with the percentage if the question is open."""
    part = min(1.0, max(0.0, share))
    if question.options:
        return question.options[round(part * (len(question.options) - 1))]
    if question.least is not None and question.most is not None:
        return question.least + round(part * (question.most - question.least))
    return f"{question.name}: {part:.0%}"[: question.chars]
