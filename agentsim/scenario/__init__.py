"""Scenario: a TOML file, as an author writes it, made into something that can be played, or into one clear error.

Playing it is the runner's; what a game's own table means is the game's.
"""

from agentsim.scenario.load import load
from agentsim.scenario.plan import PlayerPlan
from agentsim.scenario.player_tables import ModelName, ModelSettings
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.schema import Limits, json_schema

__all__ = ["Limits", "ModelName", "ModelSettings", "PlayerPlan", "Scenario", "json_schema", "load"]
