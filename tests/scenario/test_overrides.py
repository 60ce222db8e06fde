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
from agentsim.scenario.seating import seat_ids
from agentsim.scenario.toml_tables import PlayerTable
from agentsim.scenario.validation import dotted
from tests.amounts import each_row
from tests.scenario.parlour import SEATS, ParlourConfig, refused, written

DOCUMENT: dict[str, Any] = {"seed": 1, "players": [{"id": "A"}, {"id": "B"}], "game_config": {"moods": ["calm"]}}


@each_row(
    "override, path, value",
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


@each_row(
    "override, line",
    [
        ("players.2.id=C", "--set players.2.id: there is no such player (valid: 0 to 1, or A, B)"),
        ("players.-1.id=C", "--set players.-1.id: there is no such player (valid: 0 to 1, or A, B)"),
        ("players.C.id=C", "--set players.C.id: there is no such player (valid: 0 to 1, or A, B)"),
        (
            "game_config.moods.9=x",
            "--set game_config.moods.9: game_config.moods has 1 entry, counted from 0 "
            "(valid: game_config.moods.0 to game_config.moods.0)",
        ),
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


@each_row("override", ["seed", "=3", "a..b=1", "prices.openrouter/x.input=1", "a b=1", '"a=1', ""])
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


CROWD: dict[str, Any] = {
    "players": [{"id": "crowd", "count": 3, "model": "bot/bold"}, {"id": "B"}, {"id": "crowd", "count": 2}]
}


@each_row(
    "override, ids",
    [
        ("players.1.model=human", ["crowd2"]),
        ("players.crowd2.model=human", ["crowd2"]),
        ("players.3.model=human", ["B"]),
        ("players.B.model=human", ["B"]),
        ("players.5.model=human", ["crowd5"]),
        ("players.crowd.model=human", ["crowd1", "crowd2", "crowd3"]),
    ],
)
def test_a_player_is_named_by_its_seat_or_its_id_wherever_its_table_stands(override: str, ids: list[str]) -> None:
    """As a fork names them, whose players are one table each."""
    given_ids = seat_ids([(PlayerTable(**table), ("players", 0)) for table in CROWD["players"]])
    changed = overridden(CROWD, [override])["players"]
    names = seat_ids([(PlayerTable(**{"model": "bot/bold", **table}), ("players", 0)) for table in changed])
    assert [name for part in names for name in part] == [name for part in given_ids for name in part]
    assert [
        name for part, table in zip(names, changed, strict=True) for name in part if table.get("model") == "human"
    ] == ids


def test_how_many_a_population_has_is_no_member_s_to_say() -> None:
    assert overridden(CROWD, ["players.crowd.count=9"])["players"][0]["count"] == 9
    with pytest.raises(
        ScenarioError, match=r"^--set players.1.count: is of a whole .* \(valid: players.crowd.count\)$"
    ):
        overridden(CROWD, ["players.1.count=9"])


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


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("players.B.modle=x", "players.B.modle: unknown key (did you mean model?)"),
        ("players.1.modle=x", "players.1.modle: unknown key (did you mean model?)"),
        (
            "players.B.temperature=9",
            'players.B.temperature: must be a number from 0 to 2 or "default", found 9',
        ),
        (
            "players.B.model=bot/nix",
            'players.B.model: parlour has no "bot/nix" (valid: bot/bold, bot/careful, bot/random)',
        ),
    ],
)
def test_an_error_names_a_player_as_the_override_does(override: str, line: str, tmp_path: Path) -> None:
    assert refused(written(tmp_path, SEATS), overrides=[override]) == line
