"""Placeholders of a system text, the text that ships, tools, and what a config refuses."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentsim.engine.menu import LARGEST, ActionRefused, calculate, use_tool
from agentsim.engine.simulate import simulate
from agentsim.errors import ScenarioError
from agentsim.games.market import GAME
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.rules_text import NAMES, SYSTEM_TEXT, used
from agentsim.games.market.turn import Act
from agentsim.scenario.load import load
from tests.amounts import each_row
from tests.cli.command_line import ROOT
from tests.games.market.market import SKIPS, SMITH, play

SEED = (
    *("n_agents", "max_steps", "num_artifacts", "artifact_descriptions", "tool_descriptions"),
    *("action_restrictions", "inventory", "agent_name"),
)


def test_the_text_that_holds_where_none_is_named_ships_as_a_file_with_the_placeholders_of_the_seed(
    tmp_path: Path,
) -> None:
    path = ROOT / "prompts" / "market" / "system.txt"
    assert path.read_text(encoding="utf-8") == SYSTEM_TEXT, "the file is a copy for authors: write it again"
    assert sorted(used(SYSTEM_TEXT)) == sorted(NAMES)
    assert set(SEED) < set(NAMES)
    assert "!#agent_name!#" in SYSTEM_TEXT, "in the seed's spelling"
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    seats = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/idle"\n' for player in "AB")
    table = '[game_config]\nsystem_prompt = "../prompts/market/system.txt"\n'
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "x.toml").write_text(f'game = "market"\n{table}{seats}', encoding="utf-8")
    config: Any = load(tmp_path / "configs" / "x.toml").config
    tables: list[dict[str, Any]] = [{"system_prompt": config.system_prompt.model_dump()}, {}]
    named, usual = (simulate(GAME, each, ["A", "B"], bot="idle") for each in tables)
    prompts = [[ask.request.prompt() for ask in played.asks()] for played in (named, usual)]
    assert prompts[0] == prompts[1]


@pytest.mark.parametrize(
    ("config", "goal"),
    [
        ({}, "maximize your capital at the end. You can do this by selling goods, which do not count at the end."),
        ({"standings": "wealth"}, "maximize your capital at the end, with goods counted at their last price."),
        ({"agents": [{"ids": ["A"], "goal": "sell nothing."}]}, "sell nothing."),
    ],
)
def test_the_goal_is_capital_from_selling_goods_unless_the_scenario_says_otherwise(config: Any, goal: str) -> None:
    played = play({"A": [SKIPS], "B": []}, **config)
    assert f"Goal: {goal}\n" in played.asks("A")[0].request.prompt().text()


def test_working_memory_is_asked_for_the_reason_of_the_action() -> None:
    act = next(ask.request for ask in play({"A": [SKIPS], "B": []}).asks("A") if isinstance(ask.request, Act))
    assert '"working_memory": "<why you choose this action, and what to remember, at most' in act.prompt().question[0]


def written(text: str, **config: Any) -> list[str]:
    """What A and B are told at the beginning of their first action."""
    played = play({"A": [SKIPS], "B": []}, system_prompt={"text": text}, tools=["notebook"], queries={}, **config)
    first = [next(ask.request for ask in played.asks(p) if isinstance(ask.request, Act)) for p in ("A", "B")]
    return ["\n".join(request.prompt().rules) for request in first]


@pytest.mark.parametrize("mark", ["#!{}!#", "!#{}!#"])
def test_a_prompt_written_for_the_other_project_works_in_either_spelling_of_its_marks(mark: str) -> None:
    text = "\n".join(f"{name}={mark.format(name)}" for name in SEED)
    for_a, for_b = written(text, restrictions=["one_unit"], rounds=7, artifacts=["bank", "dialogue"])
    assert "n_agents=1\n" in for_a, "the other agents are counted"
    assert "max_steps=7\n" in for_a
    assert "num_artifacts=2\n" in for_a
    assert "artifact_descriptions=bank: keeps deposits" in for_a
    assert "tool_descriptions=- write_note" in for_a
    assert "action_restrictions=- An order is for one unit at a time.\n" in for_a
    assert 'inventory={"capital": 100, "wheat": 10}\n' in for_a
    assert for_a.endswith("agent_name=A")
    assert for_b.endswith("agent_name=B")


def test_what_is_the_same_for_all_agents_comes_first_and_values_are_not_looked_at_again() -> None:
    goal = {"ids": ["A"], "goal": "#!inventory!#"}
    for_a, for_b = written("Same.\n#!n_agents!#\n#!goal!#\nLast #!max_steps!#.", agents=[goal], rounds=3)
    assert for_a == "Same.\n1\n#!inventory!#\nLast 3."
    assert for_b.startswith("Same.\n1\n")


def test_an_unknown_placeholder_is_an_error_with_the_nearest_known_one() -> None:
    with pytest.raises(ValidationError, match=r"unknown placeholder inventry \(did you mean inventory\?\)"):
        GAME.config.from_toml({"system_prompt": {"text": "You have #!inventry!#."}})
    with pytest.raises(ValidationError, match="unknown placeholder x"):
        GAME.config.from_toml({"system_prompt": {"text": "!#x!#"}})
    for name in ("n_agents ", "two words", "x" * 41):
        with pytest.raises(ValidationError, match=f"unknown placeholder {name[:40]}"):
            GAME.config.from_toml({"system_prompt": {"text": f"#!{name}!#"}})


@each_row(
    "expression, value",
    [
        ("2 + 3 * 4", 14),
        ("-(7 // 2)", -3),
        ("2 ** 10", 1024),
        ("max(3, 9) - abs(-4)", 5),
        ("7 % 4 + +1", 4),
        ("1 / 4", 0.25),
    ],
)
def test_the_calculator_works_out_arithmetic(expression: str, value: float) -> None:
    assert calculate(expression) == value


@each_row(
    "expression",
    [
        "__import__('os')",
        "open('x')",
        "(1).__class__",
        "[1][0]",
        "'a' * 9",
        "9 ** 9 ** 9",
        "10 ** 99",
        "1 if 1 else 2",
        "lambda: 1",
        "max(*[1, 2])",
        "max(1, key=2)",
        "True + 1",
        "1 / 0",
        "(-8) ** 0.5",
        "0 ** -1",
        "",
        "1 +",
        "+".join("1" * 40),
        "max()",
        "1e308 * 10",
        "2 < 3",
        "x",
        "round(1, 2, 3)",
        "round(1, -10**15)",
    ],
)
def test_the_calculator_refuses_everything_else(expression: str) -> None:
    with pytest.raises(ActionRefused):
        calculate(expression)


@given(st.text("0123456789+-*/%(). minabsxround,e_'[]", max_size=40))
def test_whatever_is_typed_the_calculator_answers_with_a_number_or_refuses(text: str) -> None:
    try:
        value = calculate(text)
    except ActionRefused:
        return
    assert abs(value) <= LARGEST
    assert not isinstance(value, bool)


def test_the_calculator_does_not_evaluate() -> None:
    import agentsim.engine.menu as module

    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called.isdisjoint({"eval", "exec", "compile"})


def test_the_notebook_keeps_a_bounded_number_of_notes() -> None:
    notes: dict[str, str] = {}
    assert use_tool("write_note", {"key": "a", "text": "one"}, notes) == {"notes": 1}
    assert use_tool("read_notes", {}, notes) == {"notes": {"a": "one"}}
    assert use_tool("write_note", {"key": "a"}, notes) == {"notes": 0}
    for number in range(20):
        use_tool("write_note", {"key": str(number), "text": "x"}, notes)
    with pytest.raises(ActionRefused, match="full"):
        use_tool("write_note", {"key": "more", "text": "x"}, notes)


EXPERIMENT = {"kind": "smith_1962", **SMITH}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a good called capital": ({"goods": ["capital"]}, "none is called capital"),
    "two tables for an agent": ({"agents": [{"ids": ["A"]}, {"ids": ["A"], "capital": 5}]}, "agents: A stands there"),
    "an agent asked twice": (
        {"moderator": [{"round": 1, "agents": ["A", "A"], "question": "?"}]},
        "moderator: A stands there twice",
    ),
    "restrictions that nobody is told of": (
        {"system_prompt": {"text": "Trade."}, "restrictions": ["one_unit"]},
        r"without #!action_restrictions!# agents are not told of restrictions",
    ),
    "a goal that nobody is told of": (
        {"system_prompt": {"text": "Trade."}, "agents": [{"ids": ["A"], "goal": "win"}]},
        r"without #!goal!# agents are not told of agents\.goal",
    ),
    "a trait that nobody is told of": (
        {"system_prompt": {"text": "Trade."}, "traits": [{"name": "shy", "text": "You say little."}]},
        r"without #!traits!# agents are not told of traits",
    ),
    "a trait twice for an agent": (
        {"traits": [{"name": "shy", "text": "You say little.", "agents": ["A", "A"]}]},
        "traits: A stands there twice",
    ),
    "an artifact that a trait brings and all have": (
        {"traits": [{"name": "m", "text": "t", "artifacts": ["marketplace"]}]},
        "traits: m brings marketplace, which all agents have by artifacts",
    ),
    "a tool that a trait brings and all have": (
        {"tools": ["notebook"], "traits": [{"name": "m", "text": "t", "tools": ["notebook"]}]},
        "traits: m brings notebook, which all agents have by tools",
    ),
    "a tool of a trait without a query stage": (
        {"queries": False, "traits": [{"name": "m", "text": "t", "tools": ["notebook"]}]},
        "tools: they are used in the query stage",
    ),
    "no such artifact in a trait": (
        {"traits": [{"name": "m", "text": "t", "artifacts": ["casino"]}]},
        "there is no artifact 'casino'",
    ),
    "redemption in a trait": (
        {"traits": [{"name": "m", "text": "t", "artifacts": ["redemption"]}]},
        "redemption is there by itself",
    ),
    "settings of a trait's artifact": (
        {"traits": [{"name": "m", "text": "t", "artifacts": ["bank"]}], "settings": {"bank": {"rate": 3}}},
        r"settings\.bank\.rate",
    ),
    "a good twice": ({"goods": ["tin", "tin"]}, "each once"),
    "stock of no good": ({"stock": {"tin": 1}}, "tin is not among the goods: wheat"),
    "a value of no good": ({"agents": [{"ids": ["A"], "values": {"tin": 1}}]}, "tin is not among the goods"),
    "no such artifact": ({"artifacts": ["casino"]}, "there is no artifact 'casino'"),
    "an artifact twice": ({"artifacts": ["bank", "bank"]}, "artifacts: each once"),
    "settings of another": ({"settings": {"bank": {}}}, r"settings\.bank: there is no such artifact"),
    "a setting it has not": ({"settings": {"marketplace": {"dept": 3}}}, r"settings\.marketplace\.dept"),
    "a limit missing": ({"restrictions": [{"rule": "most_price"}]}, "most_price takes a limit"),
    "a limit too many": ({"restrictions": [{"rule": "one_unit", "limit": 3}]}, "one_unit takes no limit"),
    "an unknown restriction": ({"restrictions": ["no_fun"]}, "restrictions"),
    "surplus without values": ({"standings": "surplus"}, "surplus is for experiments"),
    "capital that is taken back": (
        {"experiment": EXPERIMENT, "standings": "capital"},
        "standings: capital is taken back after every period",
    ),
    "wealth that is taken back": (
        {"experiment": EXPERIMENT, "standings": "wealth"},
        "standings: wealth is taken back after every period",
    ),
    "rounds of an experiment": ({"experiment": EXPERIMENT, "rounds": 3}, "has periods instead"),
    "capital of an experiment": ({"experiment": EXPERIMENT, "capital": 3}, "endows its traders itself"),
    "two goods in an experiment": ({"experiment": EXPERIMENT, "goods": ["a", "b"]}, "with one good"),
    "many units at once": (
        {"experiment": EXPERIMENT, "settings": {"marketplace": {"single_unit": False}}},
        "one unit at a time",
    ),
    "values that rise": ({"experiment": {**EXPERIMENT, "buyers": [[1, 2]]}}, "units of buyers 1 must fall"),
    "costs that fall": ({"experiment": {**EXPERIMENT, "sellers": [[2, 1]]}}, "units of sellers 1 must rise"),
    "a cost above all prices": ({"experiment": {**EXPERIMENT, "price_max": 300}}, "must not be above price_max, 300"),
}


@each_row("config, problem", REFUSED.values())
def test_a_config_that_means_nothing_is_refused(config: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        GAME.config.from_toml(config)


def test_a_config_is_the_same_when_it_comes_back_from_a_journal() -> None:
    config: Any = GAME.config.from_toml(
        {
            "restrictions": ["one_unit", {"rule": "most_price", "limit": 4}],
            "system_prompt": {"name": "s", "text": "#!goal!# #!action_restrictions!#"},
        }
    )
    assert GAME.config.model_validate_json(config.model_dump_json()) == config


def test_an_agent_of_a_trait_must_be_there() -> None:
    config: Any = GAME.config.from_toml({"traits": [{"name": "shy", "text": "You say little.", "agents": ["C"]}]})
    with pytest.raises(ScenarioError, match="no agent is called C"):
        GAME.admit(config, ["A", "B"])


@pytest.mark.parametrize("name", ["everyone", "everybody", "nobody"])
def test_no_agent_has_a_name_that_means_all_or_none(name: str) -> None:
    with pytest.raises(ScenarioError, match=f"no player can be called {name}"):
        GAME.admit(MarketConfig(), ["A", name])


def test_a_market_of_one_is_refused_in_the_words_of_all_games() -> None:
    with pytest.raises(ScenarioError, match="is for 2 or more players, found 1"):
        GAME.admit(MarketConfig(), ["A"])


def test_an_experiment_of_one_period_may_rank_by_capital() -> None:
    GAME.config.from_toml({"experiment": {**EXPERIMENT, "periods": 1}, "standings": "capital"})
