"""The default world is the seed's: what its agents are told, what they may do, and what no prompt says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agentsim.engine.simulate import Simulation, simulate
from agentsim.engine.survey import Interview
from agentsim.games.society import GAME
from agentsim.games.society.config import PERSONALITIES, Personality, SocietyConfig, rules_of
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.requests import possible
from agentsim.games.society.rules_text import BASE, VALUES, rules_lines
from agentsim.games.society.voting import LawEnacted, LawRepealed, ProposalResolved
from agentsim.scenario.load import load
from tests.amounts import each_row
from tests.cli.command_line import ROOT
from tests.games.society.town import Town, giving, law, naming, post, propose, repeal, rule, tax, vote

SHIPPED = ("society.toml", "society_seed.toml")
DAYS = 17
MEASURES = re.compile(
    r"gini|richest|poorest|idlest|busiest|median|minimum of|middle one|inequal|idle hours", re.IGNORECASE
)


def lived(**config: Any) -> Simulation:
    """Play a society of citizens with an interview of all on the last evening."""
    interview = {"at_end": True, "questions": [{"name": "trust", "ask": "Whom do you trust?"}]}
    config = {"days": DAYS, "actions_per_day": 2, **config}
    players = [f"agent{number}" for number in range(1, 11)]
    return simulate(
        GAME, config, players, bot="citizen", interviews=[Interview.model_validate(interview, strict=False)]
    )


def prompts(played: Simulation) -> Iterator[str]:
    """Yield every prompt of a game, interviews too."""
    yield from (ask.request.prompt().text() for ask in played.asks())


def config_of(name: str) -> SocietyConfig:
    config = load(ROOT / "configs" / name).config
    assert isinstance(config, SocietyConfig)
    return config


# what agents are told


def test_the_base_text_states_the_facts_of_the_seed() -> None:
    for fact in (
        *("one of {agents} autonomous agents", "limited food, energy, materials and land"),
        *("No rules about how to organize are predefined", "form groups", "create governments", "stay independent"),
        *("make and enforce rules or to have none", "The values of other agents may differ"),
    ):
        assert fact in BASE
    first = Town(*["9 9 9"] * 3).asked[1].prompt().rules[0]
    assert first == BASE.replace("{agents}", "3")


@each_row("name", ["base", *PERSONALITIES])
def test_the_files_have_the_words_that_stand_in_for_them(name: str) -> None:
    path = ROOT / "prompts" / "society" / f"{name}.txt"
    said = " ".join(path.read_text(encoding="utf-8").split()) if path.exists() else ""
    assert said == (BASE if name == "base" else VALUES[name])  # type: ignore[index] # one of them


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_societies_are_the_seed_s_world(name: str) -> None:
    config = config_of(name)
    seed = SocietyConfig.from_toml({})
    assert (config.preset, config.constitution, config.threshold) == ("classic", "open", 50)
    assert (config.quorum, config.quorum_percent, config.laws, config.shocks) == (0, 0, (), ())
    assert (config.tell_days, config.skill_spread, config.commons_capacity) == (False, 0, 0)
    words = {"base", *PERSONALITIES, "note_chars", "memory_chars"}
    assert config.model_dump(exclude=words) == seed.model_dump(exclude=words)


def test_no_word_or_number_of_an_example_is_an_anchor() -> None:
    """Values in the examples of actions and terms are placeholders, and numbers are limits."""
    rules = rules_of(SocietyConfig.from_toml({}), 100)
    lines = [line for line in rules_lines(rules, possible(rules)) if line.startswith("{")]
    assert len(lines) == 7 + 10
    for line in lines:
        example = line[: line.rindex("}") + 1]
        filled = re.sub(r'"(?:kind|action)": "\w+"', "", example)
        assert re.findall(r': (?!"?<|"\.\.\."|\[<)', filled) == [], line
        assert re.findall(r"\d", re.sub(r"<(?:1 to 100|50 to 99|agent, or 0 for the pool)>", "", example)) == [], line


def test_the_number_of_days_is_told_only_if_the_scenario_says_so() -> None:
    silent, told = lived(), lived(tell_days=True)
    assert not any(re.search(rf"\b{DAYS} days\b|\bof {DAYS}\b", text) for text in prompts(silent))
    assert all(f"There are {DAYS} days." in text for text in prompts(told) if "Actions:" in text)
    (began,), (begun,) = silent.events(SocietyBegan), told.events(SocietyBegan)
    assert (began.days, begun.days) == (None, DAYS)
    assert "days" not in began.content
    assert f"There are {DAYS} days." in begun.content


def test_a_goal_is_told_without_the_number_of_days() -> None:
    text = Town(until="first_law").asked[1].prompt().text()
    assert "The society ends on the evening of the day on which the first law is passed." in text


def test_no_prompt_measures_inequality_or_idleness() -> None:
    for text in prompts(lived(preset="scarcity", days=25)):
        assert MEASURES.search(text) is None


def test_a_law_in_a_prompt_is_brief() -> None:
    long = {**law(tax(10)), "description": "d" * 400}
    assert f'"description": "{"d" * 294} [cut]"' in Town(laws=[long]).asked[1].prompt().text()


# what they may do


@pytest.mark.parametrize("proposed", [tax(100), rule(99, 0), rule(50, 3)], ids=str)
def test_any_law_passes_by_simple_majority(proposed: dict[str, Any]) -> None:
    town = Town(*["9 9 9"] * 5, voting_days=1, actions_per_day=2)
    town.day({1: propose("law", proposed)}, {1: vote(1), 2: vote(1), 3: vote(1, "no")})
    assert [event.result for event in town.events(ProposalResolved)] == ["passed"]
    assert list(town.state.assembly.laws) == [1]


def test_a_repeal_is_no_law_and_leaves_the_window_of_laws_alone() -> None:
    town = Town(laws=[law(tax(1)), law(tax(2))], shown_laws=1, voting_days=1).decree(propose("law", repeal(1)))
    assert (town.events(LawEnacted), len(town.events(LawRepealed))) == ([], 1)
    assert [each.id for each in town.asked[1].world.laws] == [2]
    assert town.asked[1].world.more_laws == 0
    town.decree(propose("rule", repeal(2), tax(3)))
    assert [each.id for each in town.asked[1].world.laws] == [3], "with a tax it is a law"


def test_nothing_is_asked_again_by_default() -> None:
    assert SocietyConfig.reasks == 0
    assert all(plan.reasks == 0 for name in SHIPPED for plan in load(ROOT / "configs" / name).players)


def test_twenty_whole_posts_and_twenty_whole_proposals_stand_in_every_prompt() -> None:
    words = "w" * 1_500
    turns = [{"action": "forum_post", "content": words}, propose(description=words)]
    agents = 25
    town = Town(*["9 9 9"] * agents, actions_per_day=2, voting_days=3)
    town.day(*(dict.fromkeys(range(1, agents + 1), said) for said in turns))
    for asked in town.asked.values():
        shown = "\n".join(asked.prompt().state)
        assert shown.count(f'"text": "{words}"') == 20
        assert shown.count(f'"description": "{words}"') == 20 + (asked.you.agent <= 5), "and one's own"
        assert "Open proposals (20, and 5 older):" in shown


def test_the_personality_is_in_the_system_message_alone() -> None:
    for asked in Town(*["9 9 9"] * 5).asked.values():
        prompt, values = asked.prompt(), VALUES[asked.you.personality]
        assert (values in prompt.rules) is (asked.you.personality != "neutral")
        assert not values or values not in "\n".join((*prompt.state, *prompt.question))


SAID = {
    "efficiency": "efficient decisions resources debate hierarchy role coordinated production waste sooner",
    "equality": "fairly alike evenly equally access distrust power wealth exploitation heard",
    "freedom": "liberty autonomy constraints choose interfere distrust rules regulation allowed needed tyranny",
    "stability": "order predictable works gradually careful procedures radical unsettle consequences safer",
}
"""The words of each personality that stand for the claims and questions of the seed."""


@pytest.mark.parametrize("name", SAID)
def test_a_personality_says_what_the_seed_says(name: Personality) -> None:
    words = re.findall(r"\w+", VALUES[name].lower())
    assert [word for word in SAID[name].split() if word not in words] == []
    assert VALUES[name].count("?") == 3, "three questions, as in the seed"
    assert VALUES[name].count(".") == 3, "three claims"
    for more in ("gladly", "command", "plates", "hours", "tyrant", "never", "always", "must"):
        assert more not in words, "the seed does not say that"


def test_a_prompt_has_every_part_of_the_seed_s_context() -> None:
    town = Town("7 8 9", "9 9 9", "0 0 0 dormant", laws=[law(tax(10))], actions_per_day=9)
    town.tick({1: naming("Ada"), 2: post("Hello #1")}).tick({1: propose(title="Bread")}).tick({2: giving(1, "food", 2)})
    text = town.asked[1].prompt().text()
    for part in (
        *("Day 1, turn 4 of 9. What does agent #1 do?", "You are agent #1", 'Your name: {"name": "Ada"}'),
        *("You are active and hold 9 food, 8 energy, 9 materials.", '{"post": 1, "day": 1, "from": "#2"'),
        *('{"proposal": 1, "type": "law", "from": "#1", "name": "Ada", "title": "Bread"', '"votes": {"yes": 0,'),
        *('"closes": "evening of day 2"', '"event": "Agent #2 gives 2 food to agent #1"', "Laws in force (1):"),
        *("2 active, 1 dormant", "food 2016 in all, 2000 of it in the common pool", "energy 1017 in all, 1000 of it"),
        *("materials 518 in all, 500 of it in the common pool", "Dormant: #3 (lacked food)"),
    ):
        assert part in text


# the calls of the seed


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_societies_have_a_hundred_agents(name: str) -> None:
    assert len(load(ROOT / "configs" / name).players) == 100


def test_the_seed_s_calls_are_those_of_its_config() -> None:
    for plan in load(ROOT / "configs" / "society_seed.toml").players:
        assert (plan.temperature, plan.max_tokens, plan.max_attempts, plan.retries) == (0.7, 500, 3, 2)
        assert (plan.rate_limit_wait_s, plan.rate_limit_jitter_s, plan.retry_wait_s) == ((1, 2, 4), 1, (1,))
