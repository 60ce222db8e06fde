"""The valid and invalid values of `[game_config]`, and the defaults that its schema names."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentsim import games
from agentsim.games.society.config import SocietyConfig
from agentsim.scenario.toml_tables import json_schema
from tests.amounts import each_row

SETTINGS = json_schema([games.find("society")])["$defs"]["society.game_config"]["properties"]


@each_row("name", [name for name in SETTINGS if "default" in SETTINGS[name]])
def test_the_default_that_the_schema_names_is_the_default(name: str) -> None:
    given = SocietyConfig.from_toml({name: SETTINGS[name]["default"]})
    assert getattr(given, name) == getattr(SocietyConfig.from_toml({}), name)


def test_the_defaults_are_those_of_the_definition_in_hundredths() -> None:
    config = SocietyConfig.from_toml({})
    assert config.stock() == {"food": 1000, "energy": 1000, "materials": 500}
    assert config.pool(100) == {"food": 200_000, "energy": 100_000, "materials": 50_000, "land": 100_000}
    assert config.pool(12)["food"] == 24_000
    assert config.efficiency_by_hours == (100, 95, 90, 85, 80, 75, 72, 70)


def test_a_config_survives_json() -> None:
    given: dict[str, Any] = {
        "start_food": 2.25,
        "base": {"name": "base", "text": " Hello.\n"},
        "laws": [{"title": "T", "terms": [{"kind": "dividend", "resource": "food", "amount": 0.1, "to": "all"}]}],
    }
    config = SocietyConfig.from_toml(given)
    assert SocietyConfig.from_toml(config.model_dump(mode="json")) == config
    assert config.base is not None
    assert config.base.text == "Hello."


@each_row(
    "given, says",
    [
        ({"start_food": -1}, "2 decimals"),
        ({"farm_rate": 0.125}, "2 decimals"),
        ({"wake_food": 0.5}, "at least daily_food"),
        ({"until": "first_death"}, "without permadeath"),
        ({"until": "first_kiss"}, "first_law"),
        ({"personalities": []}, "at least 1"),
        ({"personalities": ["greed"]}, "neutral"),
        ({"threshold": 49}, "50"),
        ({"laws": [{"title": "T", "terms": [{"kind": "build", "what": "farm"}]}]}, "cannot have the term build"),
        ({"laws": [{"title": "T", "terms": [{"kind": "work_minimum", "hours": 9}]}]}, "more than 8 hours"),
        ({"hours": 8}, "Extra"),
    ],
)
def test_what_cannot_be_played_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        SocietyConfig.from_toml(given)
