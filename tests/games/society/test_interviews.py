"""The answers of bots in surveys: rules over their stocks and memories, without chance."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

from agentsim.engine import Stream
from agentsim.engine.simulate import Simulation, simulate
from agentsim.engine.survey import Answer, Interview, Survey, SurveyAnswers
from agentsim.games.society import GAME
from agentsim.games.society.bots import ATTITUDES, interviewed
from agentsim.games.society.requests import Act, Said, Spoken

PLAYERS = ["p1", "p2", "p3", "p4"]
PERCENT = [{"name": name, "ask": f"How is your {name}?", "least": 0, "most": 100} for name in ATTITUDES]


def asked(bot: Any, config: dict[str, Any], questions: list[dict[str, Any]] = PERCENT, **when: Any) -> Simulation:
    table = {**(when or {"at_end": True}), "questions": questions}
    interview = Interview.model_validate(table, strict=False)
    return simulate(GAME, config, PLAYERS, {}, bot=bot, seed=3, interviews=[interview])


def answers(played: Simulation, round_: int | None = None) -> dict[str, dict[str, Answer]]:
    """Return the answers by player, of the last survey or of that of a round."""
    found: dict[str, dict[str, Answer]] = {}
    for wave, decisions in played.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            if isinstance(ask.request, Survey) and round_ in {None, ask.request.round}:
                assert isinstance(decision, SurveyAnswers)
                found[ask.request.player] = decision.answers
    return found


def scripted(first: dict[str, dict[str, Any]]) -> Any:
    """Return a policy that does one thing in the first turn and then idles."""

    def bot(request: Act, rng: Stream) -> Spoken:
        begins = (request.world.day, request.world.tick) == (1, 1)
        return Said.model_validate(
            {"action": first.get(request.player, {"action": "idle"}) if begins else {"action": "idle"}}
        ).action

    return interviewed(bot)


def test_security_is_the_days_for_which_the_scarcer_need_lasts_of_ten() -> None:
    """The stock is the one that the agent was last shown, before its last evening."""
    found = answers(asked(scripted({}), {"days": 4, "start_food": 7, "start_energy": 9, "pool_food": 0}))
    assert {own["security"] for own in found.values()} == {40}, "seven less three evenings of one"
    rich = answers(asked(scripted({}), {"days": 1, "start_food": 50, "start_energy": 50}))
    assert {own["security"] for own in rich.values()} == {100}


def test_trust_is_how_often_help_came_that_was_called_for_by_the_rule_of_succession() -> None:
    call = {"action": "forum_post", "content": "I am short of food. Can anyone spare some for me?"}
    gift = {"action": "trade", "recipient_agent_id": 1, "resource_type": "food", "amount": 1}
    found = answers(asked(scripted({"p1": call, "p2": gift, "p3": call}), {"days": 2}))
    assert {player: own["trust"] for player, own in found.items()} == {"p1": 67, "p2": 50, "p3": 33, "p4": 50}


def test_sharing_is_wanted_the_more_the_less_one_holds_beside_the_middle_agent() -> None:
    gift = {"action": "trade", "recipient_agent_id": 1, "resource_type": "materials", "amount": 5}
    found = answers(asked(scripted({"p2": gift}), {"days": 2}))
    shares = {player: int(str(own["sharing"])) for player, own in found.items()}
    assert shares["p1"] < 50 < shares["p2"]
    assert shares["p3"] == shares["p4"] == 50, "they are the middle"


def test_answers_go_from_the_first_option_to_the_last_and_into_words() -> None:
    options = ["not at all", "a little", "fully"]
    closed = {"name": "security", "ask": "How safe?", "options": options}
    for stock, answer in ((1, options[0]), (5, options[1]), (30, options[2])):
        config = {"days": 1, "start_food": stock, "start_energy": stock}
        assert {own["security"] for own in answers(asked(scripted({}), config, [closed])).values()} == {answer}
    open_ = {"name": "trust", "ask": "Whom do you trust?"}
    assert {own["trust"] for own in answers(asked(scripted({}), {"days": 1}, [open_])).values()} == {"trust: 50%"}


def test_questions_of_other_names_are_answered_at_random_and_bot_random_answers_all_so() -> None:
    strange = [{"name": "mood", "ask": "How are you?", "least": 0, "most": 1000}]
    assert len({own["mood"] for own in answers(asked(GAME.bots["citizen"], {"days": 1}, strange)).values()}) > 1
    drawn = answers(asked(GAME.bots["random"], {"days": 1}, PERCENT))
    assert len({own["security"] for own in drawn.values()}) > 1, "all hold the same"


@pytest.mark.parametrize("name", sorted({*GAME.bots} - {"random"}))
def test_every_other_bot_answers_by_its_state(name: str) -> None:
    """A shock that takes their food changes their answers, and the game is the same without the survey."""
    storm = {"day": 3, "what": "held", "resource": "food", "percent": 80, "title": "Storm"}
    calm = asked(GAME.bots[name], {"days": 4}, every=1)
    struck = asked(GAME.bots[name], {"days": 4, "shocks": [storm]}, every=1)

    def security(played: Simulation, day: int) -> float:
        return fmean(float(str(own["security"])) for own in answers(played, day).values())

    assert security(calm, 2) == security(struck, 2), "nothing has happened yet"
    assert security(struck, 3) < security(calm, 3)
