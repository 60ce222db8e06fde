"""`--set KEY=VALUE`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from agentsim.errors import ScenarioError
from agentsim.scenario import load
from agentsim.scenario.document import overridden
from agentsim.scenario.validation import dotted
from tests.scenario.parlour import SEATS, ParlourConfig, refused, written

DOCUMENT: dict[str, Any] = {"seed": 1, "players": [{"id": "A"}, {"id": "B"}], "game_config": {"moods": ["calm"]}}


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("seed=3", ["seed"], 3),
        (" seed = 3 ", ["seed"], 3),
        ("players.1.temperature=0.2", ["players", 1, "temperature"], 0.2),
        ("players . 1 . id = C", ["players", 1, "id"], "C"),
        ("limits.max_calls=5", ["limits", "max_calls"], 5),
        ('prices."openrouter/x".input=1', ["prices", "openrouter/x", "input"], 1),
        ("prices.'a=b'.input=1", ["prices", "a=b", "input"], 1),
        ('prices."a\\"b".input=1', ["prices", 'a"b', "input"], 1),
        ("game_config.moods.0=wild", ["game_config", "moods", 0], "wild"),
        ('game_config.moods=["wild", "calm"]', ["game_config", "moods"], ["wild", "calm"]),
        ("staff={moderator={model='human'}}", ["staff", "moderator", "model"], "human"),
        ("defaults.model=openrouter/openai/gpt-5-mini", ["defaults", "model"], "openrouter/openai/gpt-5-mini"),
        ("defaults.prompt=You are = one\nof = us", ["defaults", "prompt"], "You are = one\nof = us"),
        ("defaults.prompt=1\nx = 2", ["defaults", "prompt"], "1\nx = 2"),
        ("game_config.quiet=true", ["game_config", "quiet"], True),
        ("game_config.quiet='true'", ["game_config", "quiet"], "true"),
        ("name=", ["name"], ""),
    ],
)
def test_a_value_lands_where_its_key_says(override: str, path: list[str | int], value: object) -> None:
    here: Any = overridden(DOCUMENT, [override])
    for part in path:
        here = here[part]
    assert here == value
    assert type(here) is type(value)


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("players.2.id=C", "--set players.2.id: players has 2 entries, counted from 0 (valid: players.0 to players.1)"),
        (
            "players.-1.id=C",
            "--set players.-1.id: players has 2 entries, counted from 0 (valid: players.0 to players.1)",
        ),
        ("players.A.id=C", "--set players.A.id: players has 2 entries, counted from 0 (valid: players.0 to players.1)"),
        ("seed.x=1", "--set seed.x: seed is 1, not a table"),
        ("game_config.moods.0.x=1", '--set game_config.moods.0.x: game_config.moods.0 is "calm", not a table'),
        ("seed=[1", "--set seed: the value is not TOML"),
        ('name="x', "--set name: the value is not TOML"),
        ("seed=" + "[" * 50_000, "--set seed: the value is not TOML"),
        ("seed=" + "1" * 70_000, "--set seed: is too long"),
        ("=".join([".".join("a" * 100), "1"]), f"--set {'a.' * 38}a...: is too long"),
    ],
)
def test_a_key_that_leads_nowhere(override: str, line: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        overridden(DOCUMENT, [override])
    assert str(raised.value) == line


@pytest.mark.parametrize("override", ["seed", "=3", "a..b=1", "prices.openrouter/x.input=1", "a b=1", '"a=1', ""])
def test_what_is_not_key_and_value(override: str) -> None:
    with pytest.raises(ScenarioError, match="must be KEY=VALUE"):
        overridden(DOCUMENT, [override])


def test_overrides_leave_the_document_alone_and_come_in_order() -> None:
    before = repr(DOCUMENT)
    assert overridden(DOCUMENT, ["players.0.id=C", "players.0.id=D"])["players"][0] == {"id": "D"}
    assert repr(DOCUMENT) == before


def test_a_typo_on_the_command_line_is_a_typo(tmp_path: Path) -> None:
    path = written(tmp_path, SEATS)
    assert (
        refused(path, overrides=["players.0.temprature=1"])
        == "players.0.temprature: unknown key (did you mean temperature?)"
    )


def test_a_secret_on_the_command_line_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="keys come from the environment") as raised:
        load(written(tmp_path, SEATS), overrides=["providers.lab.key=sk-live-123"])
    assert "sk-live" not in str(raised.value)


def test_overrides_reach_the_game(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, SEATS), overrides=["game_config.rounds=3", "players.1.model=human"])
    assert isinstance(scenario.config, ParlourConfig)
    assert (scenario.config.rounds, scenario.players[1].model) == (3, "human")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KEYS = st.lists(TEXT.filter(lambda key: dotted([key]) in (key, f'"{key}"')), min_size=1, max_size=5)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT, st.lists, max_leaves=5
)


@given(KEYS, VALUES)
def test_any_key_takes_any_toml_value(keys: list[str], value: object) -> None:
    written_value = tomli_w.dumps({"v": value}).removeprefix("v = ")
    here: Any = overridden({}, [f"{dotted(keys)}={written_value}"])
    for key in keys:
        here = here[key]
    assert here == tomllib.loads(f"v = {written_value}")["v"] == value
