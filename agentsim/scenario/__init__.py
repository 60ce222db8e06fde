"""Scenarios: from a TOML file to a `Scenario` that can be played, or to one clear error.

`runs` plays it; the game defines the meaning of its own table.
"""

from agentsim.scenario.load import load
from agentsim.scenario.player_plan import ModelName, ModelSettings, PlayerPlan
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.toml_tables import Limits, json_schema

__all__ = ["Limits", "ModelName", "ModelSettings", "PlayerPlan", "Scenario", "json_schema", "load"]
