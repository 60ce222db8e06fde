"""The JSON Schema for editors, and any key that no schema knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsim.errors import ScenarioError
from agentsim.games import find, names
from agentsim.scenario import json_schema, load
from agentsim.scenario.toml_tables import PlayerTable, ScenarioTable
from tests.scenario.parlour import SEATS, Parlour, written

SCHEMA = json_schema([Parlour()])


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(child)


def test_every_reference_leads_somewhere() -> None:
    references = {node["$ref"] for node in nodes(SCHEMA) if isinstance(node.get("$ref"), str)}
    assert references == {f"#/$defs/{name}" for name in SCHEMA["$defs"]} & references
    assert "#/$defs/parlour.Guest" in references


def test_the_config_follows_the_game() -> None:
    assert SCHEMA["properties"]["game"]["enum"] == ["parlour"]
    (condition,) = SCHEMA["allOf"]
    assert condition["if"]["properties"]["game"] == {"const": "parlour"}
    assert condition["then"]["properties"]["game_config"] == {"$ref": "#/$defs/parlour.game_config"}
    assert "rounds" in SCHEMA["$defs"]["parlour.game_config"]["properties"]


def test_it_is_json_of_the_dialect_and_knows_no_null() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "null" not in json.dumps(SCHEMA)


def test_every_key_is_there_accepted_names_too() -> None:
    assert set(SCHEMA["properties"]) == set(ScenarioTable.model_fields)
    assert set(SCHEMA["$defs"]["PlayerTable"]["properties"]) == set(PlayerTable.model_fields)
    assert {"player_id", "character_prompt"} <= set(PlayerTable.model_fields)
    assert SCHEMA["$defs"]["PlayerTable"]["additionalProperties"] is False


def test_every_installed_game_is_in_it() -> None:
    assert set(names()) <= {name.partition(".")[0] for name in json_schema([find(name) for name in names()])["$defs"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(key=st.from_regex(r"[a-z_]{1,20}", fullmatch=True).filter(lambda key: key not in PlayerTable.model_fields))
def test_an_unknown_key_is_named_and_never_ignored(folder: Path, key: str) -> None:
    path = written(folder, f"{SEATS}{key} = 1\n")
    with pytest.raises(ScenarioError) as raised:
        load(path)
    if "keys come from the environment" not in str(raised.value):
        assert str(raised.value).startswith(f"{path}: players.1.{key}: unknown key (")
